#pragma once
#include <sys/types.h>

#include <atomic>

namespace vicinity {

inline constexpr int exit_interrupted = 130;

/// From here on Ctrl-C (and a polite kill) ends the process at once with exit code 130 and one line, `note`; a line being
/// recorded is finished first. While a child runs, the child gets the signal and this process waits for it. A hang-up or Ctrl-C that the
/// caller ignores stays so. Also makes a file-size limit an ordinary write error.
void handle_interrupts(const char* note);

/// From here on the first Ctrl-C (or polite kill) only asks, prints `note` and goes on: a search stops and writes what it has. The second
/// one, unless it follows within a moment, ends the process at once, as above.
void defer_interrupts(const char* note);

/// In so many seconds the process ends at once with exit code 2 and one line, `note`; from defer_interrupts() on it is asked to stop
/// instead.
void set_deadline(double seconds, const char* note);

/// Becomes true when a deferred signal or the deadline comes.
[[nodiscard]] const std::atomic<bool>& stop_requested();

/// Was it a signal?
[[nodiscard]] bool signal_came();

/// The child to pass signals to; negative: a group of processes, which get SIGINT; 0 = none.
void set_interrupted_child(pid_t child);

/// Has a signal been passed on to a child?
[[nodiscard]] bool interrupted();

/// While one lives, an interrupt that would end the process waits, whichever thread it reaches; not more than one at a time.
class InterruptsHeld {
 public:
  InterruptsHeld();
  ~InterruptsHeld();
  InterruptsHeld(const InterruptsHeld&) = delete;
  InterruptsHeld& operator=(const InterruptsHeld&) = delete;
};

}  // namespace vicinity
