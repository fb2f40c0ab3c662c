#include "core/problems/cp/propagation.hpp"

namespace vicinity::cp {
namespace {

constexpr std::size_t most_done = 4096;  ///< that a queue keeps beside those that wait

}  // namespace

bool Propagation::all(Store& store) {
  for (std::int32_t c = 0; c < view_.constraints; ++c) enqueue(c);
  return changed(store);
}

bool Propagation::changed(Store& store) {
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
    if (!rules::propagate(view_.kind[c], scope_of(view_, c), store, work_.view())) {
      failed_ = c;
      clear();
      store.forget();
      return false;
    }
  }
}

void Propagation::wake(Var x, std::uint8_t events) {
  const auto end = view_.watch_begin[x + 1];
  for (auto w = view_.watch_begin[x]; w < end; ++w)
    if ((view_.watches[w] & events) != 0) enqueue(static_cast<std::int32_t>(view_.watches[w] >> 4));
}

void Propagation::enqueue(std::int32_t c) {
  std::uint8_t& waits = waits_[static_cast<std::size_t>(c)];
  if (waits != 0) return;
  waits = 1;
  queues_[priorities_[static_cast<std::size_t>(c)]].constraints.push_back(c);
}

std::int32_t Propagation::next() {
  for (Queue& queue : queues_) {
    if (queue.first < queue.constraints.size()) {
      const std::int32_t c = queue.constraints[queue.first++];
      waits_[static_cast<std::size_t>(c)] = 0;
      if (queue.first >= most_done && 2 * queue.first >= queue.constraints.size()) {  // bounds may creep for long without an empty queue
        queue.constraints.erase(queue.constraints.begin(), queue.constraints.begin() + static_cast<std::ptrdiff_t>(queue.first));
        queue.first = 0;
      }
      return c;
    }
    queue.constraints.clear();
    queue.first = 0;
  }
  return -1;
}

void Propagation::clear() {
  for (Queue& queue : queues_) {
    for (std::size_t k = queue.first; k < queue.constraints.size(); ++k) waits_[static_cast<std::size_t>(queue.constraints[k])] = 0;
    queue.constraints.clear();
    queue.first = 0;
  }
}

}  // namespace vicinity::cp
