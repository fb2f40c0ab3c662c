#include "harness/cli/interrupt.hpp"

#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <initializer_list>

#include "harness/cli/options.hpp"

namespace vicinity {
namespace {

// Only what a signal handler may touch.
volatile std::sig_atomic_t child_process = 0;
volatile std::sig_atomic_t was_interrupted = 0;
volatile std::sig_atomic_t deferred = 0;
volatile std::sig_atomic_t signalled = 0;
std::atomic<bool> stop_wanted = false;
std::atomic<std::int64_t> stop_time{0};  // of the first deferred signal, ms
const char* volatile first_words = "";
const char* volatile last_words = "";
const char* volatile words_of_deadline = "";

/// An interrupt ends the process at once, or when a line is written: it may reach any thread.
enum class Ending { none, held, due, now };
std::atomic<Ending> end_state{Ending::none};

static_assert(std::atomic<std::int64_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free &&
              std::atomic<Ending>::is_always_lock_free);

void say(const char* words) { [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, words, std::strlen(words)); }

std::int64_t milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

/// timeout(1) signals the process and then its group: the same wish twice.
bool is_echo() {
  constexpr std::int64_t echo = 300;
  return milliseconds() - stop_time < echo;
}

[[noreturn]] void end_interrupted() {
  say(last_words);
  _exit(exit_interrupted);
}

extern "C" void on_interrupt(int signal) {
  if (child_process != 0) {
    was_interrupted = 1;
    kill(child_process, child_process < 0 ? SIGINT : signal);
    return;
  }
  if (deferred != 0 && signalled == 0) {
    signalled = 1;
    stop_wanted = true;
    stop_time = milliseconds();
    say(first_words);
    return;
  }
  if (deferred != 0 && is_echo()) return;
  Ending before = end_state;
  const auto after = [&] { return before == Ending::none ? Ending::now : before == Ending::held ? Ending::due : before; };
  while (!end_state.compare_exchange_weak(before, after())) {
  }
  if (before == Ending::none) end_interrupted();
}

extern "C" void on_deadline(int) {
  if (deferred != 0) {
    stop_wanted = true;
    return;
  }
  say(words_of_deadline);
  _exit(exit_input);
}

void install(void (*handler)(int), std::initializer_list<int> signals) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;  // whoever goes on must not see half a write
  sigemptyset(&action.sa_mask);
  for (const int signal : signals) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    const bool callers = (signal == SIGHUP || signal == SIGINT) && before.sa_handler == SIG_IGN;  // nohup(1), trap "" INT
    if (!callers) sigaction(signal, &action, nullptr);
  }
}

}  // namespace

void handle_interrupts(const char* note) {
  last_words = note;
  install(on_interrupt, {SIGINT, SIGTERM, SIGHUP});
  install(SIG_IGN, {SIGXFSZ});
}

void defer_interrupts(const char* note) {
  first_words = note;
  deferred = 1;
  install(on_interrupt, {SIGINT, SIGTERM, SIGHUP});
  install(SIG_IGN, {SIGPIPE});  // who reads the progress may go
  install(on_deadline, {SIGALRM});
}

void set_deadline(double seconds, const char* note) {
  constexpr double least = 1e-6, most = 1e9;  // 0 would be never
  words_of_deadline = note;
  install(on_deadline, {SIGALRM});
  const double left = std::clamp(seconds, least, most), whole = std::floor(left);
  const itimerval timer{.it_interval = {}, .it_value = {static_cast<time_t>(whole), static_cast<suseconds_t>((left - whole) * 1e6)}};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

const std::atomic<bool>& stop_requested() { return stop_wanted; }

bool signal_came() { return signalled != 0; }

void set_interrupted_child(pid_t child) { child_process = child; }

bool interrupted() { return was_interrupted != 0; }

InterruptsHeld::InterruptsHeld() {
  Ending before = Ending::none;
  if (!end_state.compare_exchange_strong(before, Ending::held))
    while (true) pause();  // another thread is at the end
}

InterruptsHeld::~InterruptsHeld() {
  Ending before = Ending::held;
  if (!end_state.compare_exchange_strong(before, Ending::none)) end_interrupted();
}

}  // namespace vicinity
