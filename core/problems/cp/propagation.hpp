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
  explicit Propagation(const Network& network) : view_(network.view()), waits_(static_cast<std::size_t>(network.constraints()), 0) {
    for (std::int32_t c = 0; c < view_.constraints; ++c)
      priorities_.push_back(priority_of(view_.kind[c], scope_of(view_, c).arguments.size()));
  }

  /// Propagation that has made so many calls, or sees `stop`, ends where it is: cut_short().
  void limit(std::int64_t calls, const std::atomic<bool>* stop) {
    most_ = calls;
    stop_ = stop;
  }
  /// All constraints, at the root.
  [[nodiscard]] bool all(Store& store) {
    for (std::int32_t c = 0; c < view_.constraints; ++c) enqueue(c);
    return changed(store);
  }
  /// Those that watch what has changed in the store. Where this fails, the queues are empty and failed() tells which constraint did. True,
  /// too, where it was cut short.
  [[nodiscard]] bool changed(Store& store) {
    for (;;) {
      store.changes([this](Var x, std::uint8_t events) { wake(x, events); });
      const std::int32_t c = next();
      if (c < 0) return true;
      if (++propagations_ > most_ || (propagations_ % 256 == 0 && stop_ != nullptr && *stop_)) {
        cut_short_ = true;
        clear();
        store.forget();
        return true;
      }
      if (!rules::propagate(view_.kind[c], scope_of(view_, c), store, work_)) {
        failed_ = c;
        clear();
        store.forget();
        return false;
      }
    }
  }
  /// Then the store may be above the fixpoint, and nothing wakes what was left.
  [[nodiscard]] bool cut_short() const noexcept { return cut_short_; }
  [[nodiscard]] std::int32_t failed() const noexcept { return failed_; }
  [[nodiscard]] std::int64_t propagations() const noexcept { return propagations_; }

 private:
  struct Queue {
    std::vector<std::int32_t> constraints;
    std::size_t first = 0;
  };

  void wake(Var x, std::uint8_t events) {
    const auto end = view_.watch_begin[x + 1];
    for (auto w = view_.watch_begin[x]; w < end; ++w)
      if ((view_.watches[w] & events) != 0) enqueue(static_cast<std::int32_t>(view_.watches[w] >> 4));
  }
  void enqueue(std::int32_t c) {
    std::uint8_t& waits = waits_[static_cast<std::size_t>(c)];
    if (waits != 0) return;
    waits = 1;
    queues_[priorities_[static_cast<std::size_t>(c)]].constraints.push_back(c);
  }
  [[nodiscard]] std::int32_t next() {
    for (Queue& queue : queues_) {
      if (queue.first < queue.constraints.size()) {
        const std::int32_t c = queue.constraints[queue.first++];
        waits_[static_cast<std::size_t>(c)] = 0;
        return c;
      }
      queue.constraints.clear();
      queue.first = 0;
    }
    return -1;
  }
  void clear() {
    for (Queue& queue : queues_) {
      for (std::size_t k = queue.first; k < queue.constraints.size(); ++k) waits_[static_cast<std::size_t>(queue.constraints[k])] = 0;
      queue.constraints.clear();
      queue.first = 0;
    }
  }

  NetworkView view_;
  std::array<Queue, 3> queues_;
  std::vector<std::uint8_t> waits_, priorities_;  ///< [constraint] is it in a queue? in which?
  rules::Workspace work_;
  std::int32_t failed_ = -1;
  std::int64_t propagations_ = 0, most_ = std::numeric_limits<std::int64_t>::max();
  const std::atomic<bool>* stop_ = nullptr;
  bool cut_short_ = false;
};

}  // namespace vicinity::cp
