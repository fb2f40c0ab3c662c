#pragma once
// How long a run goes on.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace vicinity {

/// The first limit that is reached ends a call of Run::execute(); without any, the method ends by its own rule. A run that must be
/// repeatable has no limit in seconds.
struct Budget {
  std::optional<std::int64_t> iterations =
      std::nullopt;                              ///< of the run's first search, counted from its start: it stops at exactly this number
  std::optional<double> seconds = std::nullopt;  ///< wall clock, from the call on
  std::optional<std::int64_t> target = std::nullopt;  ///< an objective as good as this ends the run at the next boundary
  const std::atomic<bool>* stop = nullptr;            ///< true: stop, on a CPU within a step, else at the next boundary; stays true

  bool improvements = false;  ///< the trace has a point at each improvement, too

  [[nodiscard]] bool unlimited() const noexcept { return !iterations && !seconds && !target && stop == nullptr; }
};

/// The clock of one call of execute().
class Stopwatch {
 public:
  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace vicinity
