#include "harness/interrupt.hpp"

#include <unistd.h>

#include <csignal>
#include <cstring>
#include <initializer_list>

namespace vicinity {
namespace {

// Only what a signal handler may touch.
volatile std::sig_atomic_t child_process = 0;
volatile std::sig_atomic_t was_interrupted = 0;
const char* volatile last_words = "";

extern "C" void on_interrupt(int) {
  if (child_process != 0) {
    was_interrupted = 1;
    kill(child_process, SIGINT);
    return;
  }
  const char* words = last_words;
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, words, std::strlen(words));
  _exit(exit_interrupted);
}

}  // namespace

void handle_interrupts(const char* note) {
  last_words = note;
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
  action.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &action, nullptr);
}

void set_interrupted_child(pid_t child) { child_process = child; }

bool interrupted() { return was_interrupted != 0; }

}  // namespace vicinity
