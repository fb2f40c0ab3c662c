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
#include "harness/cli/text.hpp"
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
    prctl(PR_SET_PDEATHSIG, SIGTERM);  // nobody would wait for it, and it would keep its file locked
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

/// Without waiting, and without a word to waitpid(): until then no other process gets its number.
bool has_ended(pid_t child) {
  siginfo_t found{};
  return waitid(P_PID, static_cast<id_t>(child), &found, WEXITED | WNOHANG | WNOWAIT) != 0 || found.si_pid == child;
}

/// Hands over whole lines of what is read from `pipe`, until the child ends, whoever else may hold the other end, or the time is over; an
/// interrupt leaves it a moment. Did it end?
bool read_lines(pid_t child, int pipe, double seconds, const std::function<void(const std::string&)>& line) {
  constexpr double moment = 2;
  constexpr int slice = 50;  // ms
  const Stopwatch watch;
  std::string text;
  std::array<char, 4096> block{};
  pollfd source{.fd = pipe, .events = POLLIN, .revents = 0};  // a negative one is waited for in vain
  bool ended = false;
  while (watch.seconds() < seconds) {
    if (interrupted()) seconds = std::min(seconds, watch.seconds() + moment);
    ended = has_ended(child);  // before the look at what it said
    if (poll(&source, 1, ended ? 0 : slice) <= 0) {
      if (ended) break;
      continue;
    }
    const ssize_t count = read(pipe, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) source.fd = -1;
    text.append(block.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) line(text.substr(begin, end - begin));
    text.erase(0, begin);
  }
  if (ended && !text.empty()) line(text);
  return ended;
}

}  // namespace

int run_again(const std::vector<std::string>& arguments, const std::string& what) {
  std::vector<std::string> all{"/proc/self/exe"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const std::vector<char*> pointers = pointers_to(all);
  const int status = status_of(start_child(what, [&] { execv(pointers[0], pointers.data()); }));
  if (has_exit_code(status)) return WEXITSTATUS(status);
  print_stderr("vicinity: error: {}: its process {}; recorded results are kept\n", what, end_of(status));
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
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGINT);  // by which it ends its own processes
    forget_thread_settings();
    dup2(ends[1], STDOUT_FILENO);
    execv(pointers[0], pointers.data());
  });
  setpgid(child, child);  // whoever of the two comes first
  set_interrupted_child(-child);
  close(ends[1]);
  const bool ended = read_lines(child, ends[0], seconds, line);
  close(ends[0]);
  kill(-child, SIGKILL);
  const int status = status_of(child);
  if (!ended) return fmt::format("did not end within {} s", seconds);
  if (!has_exit_code(status)) return end_of(status);
  return WEXITSTATUS(status) == 0 ? "" : fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

}  // namespace vicinity
