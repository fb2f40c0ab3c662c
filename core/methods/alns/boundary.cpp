#include "core/methods/alns/boundary.hpp"

#include <algorithm>
#include <limits>

#include "core/util/unfused.hpp"

namespace vicinity::alns {

bool converges(std::span<const std::int64_t> incumbents, std::int64_t global, std::int64_t idle) {
  double squares = 0;
  std::int64_t equal = 0;
  for (const std::int64_t cost : incumbents) {
    const double off = to_double(cost - global);
    squares = plus(squares, times(off, off));
    equal += static_cast<std::int64_t>(cost == global);
  }
  const auto count = static_cast<std::int64_t>(incumbents.size());
  const double factor = over(root(over(squares, to_double(count))), to_double(std::max<std::int64_t>(global, 1)));
  return (factor < 0.005 && idle >= 20) || (factor < 0.00125 && idle >= 5) || (100 * equal > 15 * count && factor < 0.002 && idle >= 10);
}

Boundary::Boundary(const Task& task, std::span<const std::int64_t> first)
    : most_calls_(task.calls),
      global_(std::numeric_limits<std::int64_t>::max()),
      incumbents_(first.begin(), first.end()),
      process_idle_(first.size(), 0),
      restarts_(first.size(), -1),
      next_start_(static_cast<std::int64_t>(first.size())) {
  take_best(first);
}

void Boundary::take_best(std::span<const std::int64_t> incumbents) {
  const auto best = std::min_element(incumbents.begin(), incumbents.end());  // the first of equals
  improved_by_ = *best < global_ ? static_cast<std::int32_t>(best - incumbents.begin()) : -1;
  global_ = std::min(global_, *best);
}

void Boundary::end_call(std::span<const std::int64_t> incumbents, std::span<const std::int64_t> starts) {
  ++calls_;
  take_best(incumbents);
  idle_ = improved_by_ >= 0 ? 0 : idle_ + 1;
  stop_ = most_calls_ > 0 ? calls_ >= most_calls_ : stagnates(calls_, idle_) || converges(incumbents, global_, idle_);
  for (std::size_t p = 0; p < incumbents.size(); ++p) {
    process_idle_[p] = incumbents[p] < incumbents_[p] ? 0 : process_idle_[p] + 1;
    incumbents_[p] = incumbents[p];
    const bool again =
        process_idle_[p] >= converged_calls || (process_idle_[p] >= unpromising_calls && substantially_worse(incumbents[p], global_));
    restarts_[p] = -1;
    if (!again || stop_) continue;
    restarts_[p] = next_start_++ % static_cast<std::int64_t>(starts.size());
    ++restarts_made_;
    process_idle_[p] = 0;
    incumbents_[p] = starts[static_cast<std::size_t>(restarts_[p])];
  }
}

void Boundary::began(std::int32_t p, std::int64_t cost) {
  process_idle_[static_cast<std::size_t>(p)] = 0;
  incumbents_[static_cast<std::size_t>(p)] = cost;
}

}  // namespace vicinity::alns
