#include "harness/cli/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "core/api/budget.hpp"
#include "harness/cli/interrupt.hpp"
#include "harness/measure/threads.hpp"
#include "harness/record/recorder.hpp"

namespace vicinity {

namespace {

constexpr int not_started = 127;

/// Forks. In the child `body` replaces the program; it must not return. A child does not outlive this process.
template <class Body>
pid_t start_child(const std::string& what, Body body) {
  std::fflush(nullptr);
  const pid_t parent = getpid(), child = fork();
  if (child < 0) throw EnvironmentError(fmt::format("cannot start a process for {}: {}", what, std::strerror(errno)));
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGINT);  // nobody would wait for it, and it would keep its file locked
    if (getppid() != parent) _exit(exit_interrupted);
    unbind();
    body();
    _exit(not_started);
  }
  set_interrupted_child(child);
  return child;
}

/// Waits for the child. Returns what waitpid() says.
int status_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  set_interrupted_child(0);
  return status;
}

bool has_exit_code(int status) { return WIFEXITED(status) && WEXITSTATUS(status) != not_started; }

/// How a child ended that has no exit code of its own.
std::string end_of(int status) {
  return WIFSIGNALED(status) ? fmt::format("was ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
                             : "could not be started";
}

std::vector<char*> pointers_to(std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Hands over whole lines of what is read from `pipe`, until its other end is closed or the time is over. Was it closed?
bool read_lines(int pipe, double seconds, const std::function<void(const std::string&)>& line) {
  const Stopwatch watch;
  std::string text;
  std::array<char, 4096> block{};
  while (true) {
    const double left = seconds - watch.seconds();
    if (left <= 0) return false;
    pollfd waiting{.fd = pipe, .events = POLLIN, .revents = 0};
    if (poll(&waiting, 1, static_cast<int>(std::min(left, 1e6) * 1e3) + 1) <= 0) continue;  // a signal, or the time
    const ssize_t count = read(pipe, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(block.data(), static_cast<std::size_t>(count));
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) line(text.substr(begin, end - begin));
    text.erase(0, begin);
  }
  if (!text.empty()) line(text);
  return true;
}

}  // namespace

int run_again(const std::vector<std::string>& arguments, const std::string& what) {
  std::vector<std::string> all{"/proc/self/exe"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const std::vector<char*> pointers = pointers_to(all);
  const int status = status_of(start_child(what, [&] { execv(pointers[0], pointers.data()); }));
  if (has_exit_code(status)) return WEXITSTATUS(status);
  fmt::print(stderr, "vicinity: error: {}: its process {}; recorded results are kept\n", what, end_of(status));
  return 3;
}

std::string run_command_line(const std::string& command, const std::vector<std::string>& arguments, double seconds,
                             const std::function<void(const std::string&)>& line) {
  std::vector<std::string> all{"/bin/sh", "-c", "exec " + command + " \"$@\"", command};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const std::vector<char*> pointers = pointers_to(all);
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw EnvironmentError(fmt::format("no pipe for {}: {}", command, std::strerror(errno)));
  const pid_t child = start_child(command, [&] {
    dup2(ends[1], STDOUT_FILENO);
    execv(pointers[0], pointers.data());
  });
  close(ends[1]);
  const bool ended = read_lines(ends[0], seconds, line);
  close(ends[0]);
  if (!ended) kill(child, SIGKILL);
  const int status = status_of(child);
  if (!ended) return fmt::format("did not end within {} s", seconds);
  if (!has_exit_code(status)) return end_of(status);
  return WEXITSTATUS(status) == 0 ? "" : fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

}  // namespace vicinity
