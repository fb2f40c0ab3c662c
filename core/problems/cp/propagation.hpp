#pragma once
// Propagation to the fixpoint on one core: constraints wait in three queues, cheap ones first, and each is called again when what it
// watches has changed. The fixpoint is unique (network.hpp), so that the order matters for time alone.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/problems/cp/global_rules.hpp"
#include "core/problems/cp/network.hpp"
#include "core/problems/cp/store.hpp"

namespace vicinity::cp {

/// What a call costs: 0: a few words; 1: some tens of them; 2: more.
[[nodiscard]] constexpr std::uint8_t priority_of(Kind kind, std::size_t arguments) {
  constexpr std::size_t few = 4, some = 32;
  if (kind >= Kind::element) return 2;
  return arguments <= few ? 0 : arguments <= some ? 1 : 2;
}

class Propagation {
 public:
  explicit Propagation(const Network& network)
      : view_(network.view()), waits_(static_cast<std::size_t>(network.constraints()), 0), work_(view_) {
    for (std::int32_t c = 0; c < view_.constraints; ++c)
      priorities_.push_back(priority_of(view_.kind[c], scope_of(view_, c).arguments.size()));
  }

  /// Propagation that has made so many calls, or sees `stop`, ends where it is: cut_short().
  void limit(std::int64_t calls, const std::atomic<bool>* stop) {
    most_ = calls;
    stop_ = stop;
  }
  /// All constraints, at the root.
  [[nodiscard]] bool all(Store& store);
  /// Those that watch what has changed in the store. Where this fails, the queues are empty and failed() tells which constraint did. True,
  /// too, where it was cut short.
  [[nodiscard]] bool changed(Store& store);
  /// Then the store may be above the fixpoint, and nothing wakes what was left.
  [[nodiscard]] bool cut_short() const noexcept { return cut_short_; }
  [[nodiscard]] std::int32_t failed() const noexcept { return failed_; }
  [[nodiscard]] std::int64_t propagations() const noexcept { return propagations_; }

 private:
  struct Queue {
    std::vector<std::int32_t> constraints;
    std::size_t first = 0;
  };

  void wake(Var x, std::uint8_t events);
  void enqueue(std::int32_t c);
  [[nodiscard]] std::int32_t next();
  void clear();

  NetworkView view_;
  std::array<Queue, 3> queues_;
  std::vector<std::uint8_t> waits_, priorities_;  ///< [constraint] is it in a queue? in which?
  rules::OwnWorkspace work_;
  std::int32_t failed_ = -1;
  std::int64_t propagations_ = 0, most_ = std::numeric_limits<std::int64_t>::max();
  const std::atomic<bool>* stop_ = nullptr;
  bool cut_short_ = false;
};

}  // namespace vicinity::cp
