#include "harness/cli/process.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "harness/cli/interrupt.hpp"
#include "harness/measure/threads.hpp"
#include "harness/record/recorder.hpp"

namespace vicinity {

int run_again(const std::vector<std::string>& arguments, const std::string& what) {
  std::string self = "/proc/self/exe";
  std::vector<char*> pointers{self.data()};
  std::vector<std::string> copies = arguments;
  for (std::string& argument : copies) pointers.push_back(argument.data());
  pointers.push_back(nullptr);

  std::fflush(nullptr);
  const pid_t parent = getpid(), child = fork();
  if (child < 0) throw EnvironmentError(fmt::format("cannot start a process for {}: {}", what, std::strerror(errno)));
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGINT);  // nobody would wait for it, and it would keep its file locked
    if (getppid() != parent) _exit(exit_interrupted);
    unbind();
    execv(self.c_str(), pointers.data());
    _exit(127);
  }
  set_interrupted_child(child);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  set_interrupted_child(0);
  if (WIFEXITED(status) && WEXITSTATUS(status) != 127) return WEXITSTATUS(status);
  const std::string how = WIFSIGNALED(status) ? fmt::format("was ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
                                              : "could not be started";
  fmt::print(stderr, "vicinity: error: {}: its process {}; recorded results are kept\n", what, how);
  return 3;
}

}  // namespace vicinity
