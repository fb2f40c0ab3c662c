#pragma once
#include <sys/types.h>

#include <atomic>

namespace vicinity {

inline constexpr int exit_interrupted = 130;

/// From here on Ctrl-C (and a polite kill) ends the process at once with exit code 130 and one line, `note`; a line being
/// recorded is finished first. While a child runs, the child gets the signal and this process waits for it.
/// Also makes a file-size limit an ordinary write error.
void handle_interrupts(const char* note);

/// From here on the first Ctrl-C (or polite kill) only asks, prints `note` and goes on: a search stops and writes what it has. The second
/// one, unless it follows within a moment, ends the process at once, as above.
void defer_interrupts(const char* note);

/// Becomes true when a deferred signal comes.
[[nodiscard]] const std::atomic<bool>& stop_requested();

/// The child to pass signals to; 0 = none.
void set_interrupted_child(pid_t child);

/// Has a signal been passed on to a child?
[[nodiscard]] bool interrupted();

}  // namespace vicinity
