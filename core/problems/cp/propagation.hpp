#pragma once
// Propagation to the fixpoint on one core: constraints wait in three queues, cheap ones first, and each is called again when what it
// watches has changed. The fixpoint is unique (network.hpp), so that the order matters for time alone.
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/problems/cp/global_rules.hpp"
#include "core/problems/cp/network.hpp"
#include "core/problems/cp/store.hpp"

namespace vicinity::cp {

/// 0: a few words; 1: a pass over the arguments; 2: more.
[[nodiscard]] constexpr int priority_of(Kind kind) {
  if (kind <= Kind::ne) return 0;
  return kind < Kind::element ? 1 : 2;
}

class Propagation {
 public:
  explicit Propagation(const Network& network) : view_(network.view()), waits_(static_cast<std::size_t>(network.constraints()), 0) {}

  /// All constraints, at the root.
  [[nodiscard]] bool all(Store& store) {
    for (std::int32_t c = 0; c < view_.constraints; ++c) enqueue(c);
    return changed(store);
  }
  /// Those that watch what has changed in the store. Where this fails, the queues are empty and failed() tells which constraint did.
  [[nodiscard]] bool changed(Store& store) {
    for (;;) {
      store.changes([this](Var x, std::uint8_t events) { wake(x, events); });
      const std::int32_t c = next();
      if (c < 0) return true;
      ++propagations_;
      if (!rules::propagate(view_.kind[c], scope_of(view_, c), store, work_)) {
        failed_ = c;
        clear();
        store.forget();
        return false;
      }
    }
  }
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
    queues_[static_cast<std::size_t>(priority_of(view_.kind[c]))].constraints.push_back(c);
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
  std::vector<std::uint8_t> waits_;  ///< [constraint] is it in a queue?
  rules::Workspace work_;
  std::int32_t failed_ = -1;
  std::int64_t propagations_ = 0;
};

}  // namespace vicinity::cp
