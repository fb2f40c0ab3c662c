#pragma once
// All swaps of two cities of a tour, from coordinates in the order of the tour. Place i against all j > i takes the distances from places
// i-1, i and i+1 to all others; going from row to row only those from i+1 are new, so that a swap costs one distance, not four.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "core/problems/tsp/swap.hpp"
#include "cpu_ref/lsm/run.hpp"
#include "cpu_ref/run/aligned.hpp"

namespace vicinity::lsm {

/// `Integral`: coordinates are whole and at most 32767 apart, and distances come from single-precision roots that integers correct.
template <bool Integral>
class TspRows {
 public:
  using Neighborhood = local_search::TspSwap;
  struct Scratch {
    explicit Scratch(const TspRows& rows) : before(rows.x_.size()), own(rows.x_.size()), keys(rows.x_.size()) {}
    Aligned<std::int32_t> before, own;  ///< distances from places i-1 and i
    Aligned<std::int32_t> keys;
  };

  explicit TspRows(const Neighborhood& neighborhood)
      : view_(neighborhood.instance().view()), n_(static_cast<std::size_t>(view_.n)), x_(n_ + 2), y_(n_ + 2), edges_(n_) {
    low_x_ = *std::min_element(view_.x, view_.x + n_);
    low_y_ = *std::min_element(view_.y, view_.y + n_);
  }

  [[nodiscard]] std::int64_t rows() const { return view_.n - 1; }
  [[nodiscard]] std::int32_t length(std::int64_t row) const { return view_.n - 1 - static_cast<std::int32_t>(row); }
  [[nodiscard]] static std::int64_t block() { return 32; }
  [[nodiscard]] double operations() const { return static_cast<double>(moves::count<2>(n_)) * (Integral ? 2 : 6); }

  void begin(const SearchState<Neighborhood>& state) {
    const tsp::Tour& tour = state.solution();
    for (std::size_t slot = 0; slot < n_ + 2; ++slot) place(slot, tour[(slot + n_ - 1) % n_]);
    for (std::size_t i = 0; i < n_; ++i) measure(i);
  }
  void moved(const SearchState<Neighborhood>& state, const local_search::Choice& choice) {
    const auto move = moves::at<2>(view_.n, choice.move);
    for (const std::int32_t changed : move.at) {
      const auto i = static_cast<std::size_t>(changed);
      place(i + 1, state.solution()[i]);
      if (i == 0) place(n_ + 1, state.solution()[i]);
      if (i == n_ - 1) place(0, state.solution()[i]);
    }
    for (const std::int32_t changed : move.at)
      for (std::size_t near = n_ - 1; near <= n_ + 1; ++near) measure((static_cast<std::size_t>(changed) + near) % n_);
  }

  /// Calls sink(row, keys) for rows first .. last - 1 in order, with the differences of their swaps; the sink may spoil the keys.
  template <class Sink>
  void scan(std::int64_t first, std::int64_t last, Scratch& scratch, const Sink& sink) const {
    auto i = static_cast<std::size_t>(first);
    std::int32_t *before = scratch.before.data(), *own = scratch.own.data(), *keys = scratch.keys.data();
    const auto place = static_cast<std::int32_t>(first);
    distances(place - 1, place - 1, view_.n + 1, before + i);  // slots are one above places: slot i is place i - 1
    distances(place, place - 1, view_.n + 1, own + i);
    for (; i < static_cast<std::size_t>(last); ++i) {
      // The row of place i + 1 takes the room of that of i - 1.
      const Coordinate x = x_[i + 2], y = y_[i + 2];
      advance(n_ - 1 - i, x, y, &x_[i + 2], &y_[i + 2], edges_[i], &edges_[i + 1], own + (i + 2), before + (i + 2), keys);
      before[n_ + 1] = distance(x - x_[n_ + 1], y - y_[n_ + 1]);
      // Neighbours share an edge, which stays.
      keys[0] += 2 * own[i + 2];
      if (i == 0) keys[n_ - 2] += 2 * own[n_];
      std::swap(before, own);
      sink(static_cast<std::int64_t>(i), keys);
    }
  }

  /// [place]: lengths of its two edges
  [[nodiscard]] const std::int32_t* edges() const { return edges_.data(); }
  /// Distances from a place to places first .. last - 1, of which -1 is the last and n the first.
  void distances(std::int32_t place, std::int32_t first, std::int32_t last, std::int32_t* to) const {
    const auto own = static_cast<std::size_t>(place) + 1, from = static_cast<std::size_t>(first + 1);
    const Coordinate x = x_[own], y = y_[own], *xs = &x_[from], *ys = &y_[from];
    const std::int32_t count = last - first;
#pragma omp simd
    for (std::int32_t k = 0; k < count; ++k) to[k] = distance(x - xs[k], y - ys[k]);
  }

 private:
  using Coordinate = std::conditional_t<Integral, std::int32_t, double>;

  static std::int32_t distance(Coordinate dx, Coordinate dy) {
    if constexpr (Integral) {
      const std::int32_t squared = dx * dx + dy * dy;
      return tsp::rounded_root(squared, std::sqrt(static_cast<float>(squared)));
    } else {
      return tsp::distance(dx, dy);
    }
  }
  void place(std::size_t slot, std::int32_t city) {
    // Differences of whole numbers are exact, wherever they are counted from; others must be those of the coordinates as they are.
    x_[slot] = static_cast<Coordinate>(Integral ? view_.x[city] - low_x_ : view_.x[city]);
    y_[slot] = static_cast<Coordinate>(Integral ? view_.y[city] - low_y_ : view_.y[city]);
  }
  /// Both edges at place i.
  void measure(std::size_t i) {
    edges_[i] = distance(x_[i] - x_[i + 1], y_[i] - y_[i + 1]) + distance(x_[i + 1] - x_[i + 2], y_[i + 1] - y_[i + 2]);
  }
  /// One row: the second places are `count` slots from that of place i + 1 on. `before` becomes the distances from place i + 1, at (x, y).
  [[gnu::noinline]] static void advance(std::size_t count, Coordinate x, Coordinate y, const Coordinate* __restrict xs,
                                        const Coordinate* __restrict ys, std::int32_t edges, const std::int32_t* __restrict their_edges,
                                        const std::int32_t* __restrict own, std::int32_t* __restrict before,
                                        std::int32_t* __restrict keys) {
#pragma omp simd
    for (std::size_t c = 0; c < count; ++c) {
      const std::int32_t after = distance(x - xs[c], y - ys[c]);
      keys[c] = before[c] + after + own[c - 1] + own[c + 1] - edges - their_edges[c];
      before[c] = after;
    }
  }

  tsp::View view_;
  std::size_t n_;
  double low_x_ = 0, low_y_ = 0;
  Aligned<Coordinate> x_, y_;    ///< [slot]: of place slot - 1; the last place comes before the first, the first after the last
  Aligned<std::int32_t> edges_;  ///< [place]: lengths of its two edges
};

}  // namespace vicinity::lsm
