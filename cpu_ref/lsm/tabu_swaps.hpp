#pragma once
// Which swaps of two places are tabu, until when, and what each would change now.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "cpu_ref/lsm/scan.hpp"

namespace vicinity::lsm {

class TabuSwaps {
 public:
  static constexpr std::int32_t none = std::numeric_limits<std::int32_t>::max();  ///< no difference is as large

  explicit TabuSwaps(std::size_t places) : of_(places) {}

  void clear() {
    swaps_.clear();
    deltas_.clear();
    first_ = 0;
    oldest_ = 0;
    for (auto& swaps : of_) swaps.clear();
  }
  /// i < j; its difference is to be set by visit().
  void add(std::int32_t i, std::int32_t j, std::int64_t until) {
    for (const std::int64_t number : of_[at(i)])
      if (swaps_[index(number)].j == j) {
        drop(number);  // taken again, since it was better than all before
        break;
      }
    const std::int64_t number = oldest_ + static_cast<std::int64_t>(swaps_.size());
    swaps_.push_back({i, j, until});
    deltas_.push_back(none);
    for (const std::int32_t place : {i, j}) of_[at(place)].push_back(number);
  }
  /// Calls free(i, j, difference) for those that are no longer tabu in iteration t, and forgets them. All were added with one tenure, so
  /// they go in the order in which they came.
  template <class Free>
  void expire(std::int64_t t, const Free& free) {
    for (; first_ < swaps_.size() && swaps_[first_].until <= t; ++first_) {
      const Swap swap = swaps_[first_];
      if (swap.until == dropped) continue;
      free(swap.i, swap.j, deltas_[first_]);
      drop(oldest_ + static_cast<std::int64_t>(first_));
    }
    if (first_ * 2 < swaps_.size()) return;
    const auto gone = static_cast<std::ptrdiff_t>(first_);
    swaps_.erase(swaps_.begin(), swaps_.begin() + gone);
    deltas_.erase(deltas_.begin(), deltas_.begin() + gone);
    oldest_ += gone;
    first_ = 0;
  }
  /// Calls f(other place, difference) for those of a place. Other threads may visit at the same time, if they set other differences.
  template <class F>
  void visit(std::int32_t place, const F& f) {
    for (const std::int64_t number : of_[at(place)]) {
      const Swap& swap = swaps_[index(number)];
      f(swap.i == place ? swap.j : swap.i, deltas_[index(number)]);
    }
  }
  /// The least difference of all.
  [[nodiscard]] std::int32_t least() const { return least_of(deltas_.data(), static_cast<std::int32_t>(deltas_.size())); }
  /// Calls f(i, j) for those with this difference.
  template <class F>
  void visit_equal(std::int32_t delta, const F& f) const {
    for (std::size_t k = 0; k < swaps_.size(); ++k)
      if (deltas_[k] == delta) f(swaps_[k].i, swaps_[k].j);
  }

 private:
  static constexpr std::int64_t dropped = 0;
  struct Swap {
    std::int32_t i, j;
    std::int64_t until;
  };

  [[nodiscard]] static std::size_t at(std::int32_t place) { return static_cast<std::size_t>(place); }
  [[nodiscard]] std::size_t index(std::int64_t number) const { return static_cast<std::size_t>(number - oldest_); }
  void drop(std::int64_t number) {
    Swap& swap = swaps_[index(number)];
    for (const std::int32_t place : {swap.i, swap.j}) std::erase(of_[at(place)], number);
    deltas_[index(number)] = none;
    swap.until = dropped;
  }

  std::vector<Swap> swaps_;                    ///< by age
  std::vector<std::int32_t> deltas_;           ///< none: no longer tabu
  std::size_t first_ = 0;                      ///< those before are not
  std::int64_t oldest_ = 0;                    ///< number of swaps_[0]
  std::vector<std::vector<std::int64_t>> of_;  ///< [place]: numbers
};

}  // namespace vicinity::lsm
