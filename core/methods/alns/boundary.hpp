#pragma once
// What the host does between two calls (sections 3.1 and 3.5): incumbents, which processes start again, when to stop. The same for all
// twins.
#include <cstdint>
#include <span>
#include <vector>

#include "core/methods/alns/task.hpp"

namespace vicinity::alns {

/// A process starts again when its incumbent has not changed for converged_calls ("a certain number"), or when it is worse than the global
/// incumbent by more than a fiftieth ("substantially worse") and has not changed for unpromising_calls. Later restarts, or none, end the
/// search sooner and no better (docs/errata.md).
inline constexpr std::int64_t converged_calls = 60, unpromising_calls = 20;
[[nodiscard]] constexpr bool substantially_worse(std::int64_t cost, std::int64_t global) { return 50 * (cost - global) > global; }

/// Calls without a better global incumbent that end the search, after `calls` of them (section 3.5); never before 126.
[[nodiscard]] constexpr bool stagnates(std::int64_t calls, std::int64_t idle) {
  return (calls > 250 && idle > 10) || (calls > 125 && calls <= 250 && idle > 30);
}
/// The second rule of 3.5: the spread of the incumbents about the global one, over its cost, is below T, and K calls brought none better.
[[nodiscard]] bool converges(std::span<const std::int64_t> incumbents, std::int64_t global, std::int64_t idle);

class Boundary {
 public:
  /// Before the first call: process p begins with start p, of cost `first[p]`.
  Boundary(const Task& task, std::span<const std::int64_t> first);

  /// After a call. `incumbents`: the processes', each since its last start. Start s costs `starts[s]`.
  void end_call(std::span<const std::int64_t> incumbents, std::span<const std::int64_t> starts);

  /// Process p begins again with a solution that is no start.
  void began(std::int32_t p, std::int64_t cost);

  /// [process] the start it begins again with, or -1.
  [[nodiscard]] const std::vector<std::int64_t>& restarts() const noexcept { return restarts_; }
  /// The process whose incumbent became the global one at the last boundary, or -1.
  [[nodiscard]] std::int32_t improved_by() const noexcept { return improved_by_; }
  [[nodiscard]] std::int64_t global() const noexcept { return global_; }
  [[nodiscard]] std::int64_t calls() const noexcept { return calls_; }
  [[nodiscard]] std::int64_t restarts_made() const noexcept { return restarts_made_; }
  [[nodiscard]] bool stop() const noexcept { return stop_; }

 private:
  void take_best(std::span<const std::int64_t> incumbents);

  std::int64_t most_calls_;
  std::int64_t calls_ = 0;
  std::int64_t global_;
  std::int32_t improved_by_ = -1;
  std::int64_t idle_ = 0;                   ///< calls since the global incumbent changed
  std::vector<std::int64_t> incumbents_;    ///< [process] as of the last boundary
  std::vector<std::int64_t> process_idle_;  ///< [process] calls since its incumbent changed
  std::vector<std::int64_t> restarts_;
  std::int64_t next_start_;
  std::int64_t restarts_made_ = 0;
  bool stop_ = false;
};

}  // namespace vicinity::alns
