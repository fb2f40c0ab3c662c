#pragma once
// cpu-openmp on the TSP: tabu search over all swaps of two cities, in O(n) an iteration instead of a scan of all n(n-1)/2 swaps. As
// gpu-tuned does it, so that the two differ in the machine and not in the algorithm.
//
// Data layout: row i holds the swaps of position i of the tour with all positions j > i. Of each row the search keeps the least swap that
// is not tabu and a lower bound of the others, of each group of rows a lower bound of all their swaps. Tabu swaps are kept apart with
// their differences, so that aspiration compares the least of these alone.
//
// Phases of an iteration:
//   choose()  1. Swaps that are no longer tabu go back to their rows.
//             2. The least group bound names a row. If the row's bound is below its least swap, the row is scanned anew, and the least
//                group bound taken again.
//             3. The least tabu swap competes if it aspires, or if there is no other.
//   moved()   A swap of r and s changes the swaps of six positions, r, s and their neighbours: six whole rows, and six swaps of every other
//             row. The distances from the ten positions around r and s to all others give all of them.
//
// Synchronisation: one parallel region in moved(), where each thread has a range of positions; the six rows are combined after it.
//
// A slice of the neighbourhood, for mpi-openmp, is a range of rows: it keeps their minima and the tabu swaps in them. The six rows of a
// swap that lie in it it makes anew alone, from the distances to all later positions.
#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/problems/tsp/swap.hpp"
#include "core/util/math.hpp"
#include "cpu_ref/lsm/row_search.hpp"
#include "cpu_ref/lsm/run.hpp"
#include "cpu_ref/run/aligned.hpp"

namespace vicinity::lsm {

// --- the tour ----------------------------------------------------------------------------------------------------------

/// The cities in the order of the tour, and the differences that swaps of two of them make. Row i holds the swaps of position i with all
/// positions j > i. They take the distances from positions i-1, i and i+1 to all others; from row to row only those from i+1 are new, so
/// that a swap costs one distance, not four.
///
/// `Integral`: coordinates are whole and at most 32767 apart. Distances then come from single-precision roots that integers correct
/// (tsp::rounded_root), twice as many a vector.
template <bool Integral>
class TourRows {
 public:
  struct Scratch {
    explicit Scratch(const TourRows& rows) : before(rows.x_.size()), own(rows.x_.size()), deltas(rows.x_.size()) {}
    Aligned<std::int32_t> before, own;  ///< distances from positions i-1 and i
    Aligned<std::int32_t> deltas;
  };

  explicit TourRows(const local_search::TspSwap& neighborhood)
      : view_(neighborhood.instance().view()), n_(static_cast<std::size_t>(view_.n)), x_(n_ + 2), y_(n_ + 2), edges_(n_) {
    low_x_ = *std::min_element(view_.x, view_.x + n_);
    low_y_ = *std::min_element(view_.y, view_.y + n_);
  }

  [[nodiscard]] std::int64_t rows() const { return view_.n - 1; }
  [[nodiscard]] std::int32_t length(std::int64_t row) const { return view_.n - 1 - static_cast<std::int32_t>(row); }
  [[nodiscard]] static std::int64_t block() { return 32; }
  [[nodiscard]] double operations() const { return static_cast<double>(moves::count<2>(n_)) * (Integral ? 2 : 6); }

  void begin(const SearchState<local_search::TspSwap>& state) {
    const tsp::Tour& tour = state.solution();
    for (std::size_t slot = 0; slot < n_ + 2; ++slot) set_city(slot, tour[(slot + n_ - 1) % n_]);
    for (std::size_t i = 0; i < n_; ++i) set_edges(i);
  }
  void moved(const SearchState<local_search::TspSwap>& state, const local_search::Choice& choice) {
    const auto move = moves::at<2>(view_.n, choice.move);
    for (const std::int32_t changed : move.at) {
      const auto i = static_cast<std::size_t>(changed);
      set_city(i + 1, state.solution()[i]);
      if (i == 0) set_city(n_ + 1, state.solution()[i]);
      if (i == n_ - 1) set_city(0, state.solution()[i]);
    }
    for (const std::int32_t changed : move.at)
      for (std::size_t near = n_ - 1; near <= n_ + 1; ++near) set_edges((static_cast<std::size_t>(changed) + near) % n_);
  }

  /// Calls visit(row, deltas) for rows first .. last - 1 in order, with the differences of their swaps; visit may overwrite them.
  template <class Visit>
  void scan(std::int64_t first, std::int64_t last, Scratch& scratch, const Visit& visit) const {
    auto i = static_cast<std::size_t>(first);
    std::int32_t *before = scratch.before.data(), *own = scratch.own.data(), *deltas = scratch.deltas.data();
    const auto position = static_cast<std::int32_t>(first);
    distances(position - 1, position - 1, view_.n + 1, before + i);  // slot i is position i - 1
    distances(position, position - 1, view_.n + 1, own + i);
    for (; i < static_cast<std::size_t>(last); ++i) {
      // The distances from position i + 1 overwrite those from i - 1.
      const Coordinate x = x_[i + 2], y = y_[i + 2];
      next_row(n_ - 1 - i, x, y, &x_[i + 2], &y_[i + 2], edges_[i], &edges_[i + 1], own + (i + 2), before + (i + 2), deltas);
      before[n_ + 1] = distance(x - x_[n_ + 1], y - y_[n_ + 1]);
      // Neighbours share an edge, which stays.
      deltas[0] += 2 * own[i + 2];
      if (i == 0) deltas[n_ - 2] += 2 * own[n_];
      std::swap(before, own);
      visit(static_cast<std::int64_t>(i), deltas);
    }
  }

  /// [position]: length of its two edges
  [[nodiscard]] const std::int32_t* edges() const { return edges_.data(); }
  /// Distances from a position to positions first .. last - 1, of which -1 is the last and n the first.
  void distances(std::int32_t position, std::int32_t first, std::int32_t last, std::int32_t* to) const {
    const auto own = static_cast<std::size_t>(position) + 1, from = static_cast<std::size_t>(first + 1);
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
  void set_city(std::size_t slot, std::int32_t city) {
    // Differences of whole numbers are exact from any origin; others must be those of the coordinates as they are.
    x_[slot] = static_cast<Coordinate>(Integral ? view_.x[city] - low_x_ : view_.x[city]);
    y_[slot] = static_cast<Coordinate>(Integral ? view_.y[city] - low_y_ : view_.y[city]);
  }
  void set_edges(std::size_t i) {
    edges_[i] = distance(x_[i] - x_[i + 1], y_[i] - y_[i + 1]) + distance(x_[i + 1] - x_[i + 2], y_[i + 1] - y_[i + 2]);
  }
  /// The row of a position i: the second positions are the `count` slots from that of i + 1 on, which lies at (x, y). `before` becomes the
  /// distances from i + 1.
  [[gnu::noinline]] static void next_row(std::size_t count, Coordinate x, Coordinate y, const Coordinate* __restrict xs,
                                         const Coordinate* __restrict ys, std::int32_t own_edges,
                                         const std::int32_t* __restrict other_edges, const std::int32_t* __restrict own,
                                         std::int32_t* __restrict before, std::int32_t* __restrict deltas) {
#pragma omp simd
    for (std::size_t c = 0; c < count; ++c) {
      const std::int32_t after = distance(x - xs[c], y - ys[c]);
      deltas[c] = before[c] + after + own[c - 1] + own[c + 1] - own_edges - other_edges[c];
      before[c] = after;
    }
  }

  tsp::View view_;
  std::size_t n_;
  double low_x_ = 0, low_y_ = 0;
  Aligned<Coordinate> x_, y_;    ///< [slot]: of position slot - 1; the last comes before the first, the first after the last
  Aligned<std::int32_t> edges_;  ///< [position]: length of its two edges
};

// --- the tabu list -----------------------------------------------------------------------------------------------------

/// The tabu swaps of two positions, until when, and what each changes now.
class TabuSwaps {
 public:
  static constexpr std::int32_t none = std::numeric_limits<std::int32_t>::max();  ///< no difference is as large

  explicit TabuSwaps(std::size_t positions) : of_(positions) {}

  void clear() {
    swaps_.clear();
    deltas_.clear();
    first_tabu_ = 0;
    oldest_ = 0;
    for (auto& swaps : of_) swaps.clear();
  }
  /// Swap i < j. Its difference is to be set through for_each_of().
  void add(std::int32_t i, std::int32_t j, std::int64_t until) {
    for (const std::int64_t number : of_[at(i)])
      if (swaps_[index(number)].j == j) {
        remove(number);  // taken again, by aspiration
        break;
      }
    const std::int64_t number = oldest_ + static_cast<std::int64_t>(swaps_.size());
    swaps_.push_back({i, j, until});
    deltas_.push_back(none);
    for (const std::int32_t position : {i, j}) of_[at(position)].push_back(number);
  }
  /// Calls f(i, j, difference) for those that are no longer tabu in iteration t, and removes them. All have one tenure, so that they expire
  /// in the order in which they were added.
  template <class F>
  void expire(std::int64_t t, const F& f) {
    for (; first_tabu_ < swaps_.size() && swaps_[first_tabu_].until <= t; ++first_tabu_) {
      const Swap swap = swaps_[first_tabu_];
      if (swap.until == removed) continue;
      f(swap.i, swap.j, deltas_[first_tabu_]);
      remove(oldest_ + static_cast<std::int64_t>(first_tabu_));
    }
    if (first_tabu_ * 2 < swaps_.size()) return;
    const auto expired = static_cast<std::ptrdiff_t>(first_tabu_);
    swaps_.erase(swaps_.begin(), swaps_.begin() + expired);
    deltas_.erase(deltas_.begin(), deltas_.begin() + expired);
    oldest_ += expired;
    first_tabu_ = 0;
  }
  /// Calls f(other position, difference) for the swaps of a position. Several threads may do so at once if they set different differences.
  template <class F>
  void for_each_of(std::int32_t position, const F& f) {
    for (const std::int64_t number : of_[at(position)]) {
      const Swap& swap = swaps_[index(number)];
      f(swap.i == position ? swap.j : swap.i, deltas_[index(number)]);
    }
  }
  [[nodiscard]] std::int32_t least() const { return minimum(deltas_.data(), static_cast<std::int32_t>(deltas_.size())); }
  /// Calls f(i, j) for those with this difference.
  template <class F>
  void for_each_equal(std::int32_t delta, const F& f) const {
    for (std::size_t k = 0; k < swaps_.size(); ++k)
      if (deltas_[k] == delta) f(swaps_[k].i, swaps_[k].j);
  }

 private:
  static constexpr std::int64_t removed = 0;  ///< as `until`
  struct Swap {
    std::int32_t i, j;
    std::int64_t until;
  };

  [[nodiscard]] static std::size_t at(std::int32_t position) { return static_cast<std::size_t>(position); }
  [[nodiscard]] std::size_t index(std::int64_t number) const { return static_cast<std::size_t>(number - oldest_); }
  void remove(std::int64_t number) {
    Swap& swap = swaps_[index(number)];
    for (const std::int32_t position : {swap.i, swap.j}) std::erase(of_[at(position)], number);
    deltas_[index(number)] = none;
    swap.until = removed;
  }

  std::vector<Swap> swaps_;                    ///< by age
  std::vector<std::int32_t> deltas_;           ///< none: removed
  std::size_t first_tabu_ = 0;                 ///< those before have expired
  std::int64_t oldest_ = 0;                    ///< number of swaps_[0]
  std::vector<std::vector<std::int64_t>> of_;  ///< [position]: numbers
};

// --- the search --------------------------------------------------------------------------------------------------------

struct TspPolicy {
  int scan_threads, update_threads;  ///< of the scan of all rows at the start; of the update after a move

  [[nodiscard]] Policy record() const { return {{"threads", update_threads}, {"element_bits", 32}}; }
};
/// As many of `threads` as find enough work in either phase.
template <bool Integral>
[[nodiscard]] TspPolicy tsp_policy(const TourRows<Integral>& tour, int threads, const Slice& slice) {
  constexpr double operations_per_position = Integral ? 16 : 48;  // of an update, vectors counted as one
  return {useful_threads(tour.operations() / slice.count, threads), useful_threads(operations_per_position * (tour.rows() + 1), threads)};
}

template <bool Integral>
class TspSearch {
 public:
  using Neighborhood = local_search::TspSwap;

  TspSearch(const Neighborhood& neighborhood, int threads, const Slice& slice)
      : neighborhood_(neighborhood),
        tour_(neighborhood),
        n_(neighborhood.instance().size()),
        first_row_(static_cast<std::int32_t>(slice.first_of(n_))),
        last_row_(static_cast<std::int32_t>(slice.last_of(n_))),
        policy_(tsp_policy(tour_, threads, slice)),
        least_(size()),
        column_(size()),
        bound_(size()),
        group_bound_(static_cast<std::size_t>(divide_up(n_, group))),
        tabu_(size()),
        partial_(static_cast<std::size_t>(policy_.update_threads)) {
    for (int k = 0; k < policy_.scan_threads; ++k) scratch_.emplace_back(tour_);
    for (auto& delta : delta_) delta.resize(size());
    for (int k = 0; k < policy_.update_threads; ++k) near_distances_.emplace_back(most_near * (block + 2));
  }

  void begin(const SearchState<Neighborhood>& state, const Interruption& interruption) {
    tour_.begin(state);
    tabu_.clear();
    std::fill(least_.begin(), least_.end(), none);  // the last position has no row, and others are not of this slice
    std::fill(bound_.begin(), bound_.end(), none);
    const std::int64_t rows = std::min<std::int64_t>(tour_.rows(), last_row_), block_rows = TourRows<Integral>::block();
#pragma omp parallel for schedule(dynamic, 1) num_threads(policy_.scan_threads)
    for (std::int64_t first = first_row_; first < rows; first += block_rows) {
      if (interruption.wanted()) continue;
      tour_.scan(first, std::min(rows, first + block_rows), scratch_[static_cast<std::size_t>(omp_get_thread_num())],
                 [&](std::int64_t row, std::int32_t* deltas) { set_minimum(row, deltas); });
    }
    interruption.check();
    for (std::int32_t row = 0; row < n_; row += group) set_group_bound(row);
  }

  [[nodiscard]] local_search::Choice choose(const SearchState<Neighborhood>& state, const Interruption& interruption) {
    tabu_.expire(state.iteration(), [&](std::int32_t i, std::int32_t j, std::int32_t delta) {
      RowMinimum row{least_[at(i)], column_[at(i)], bound_[at(i)]};
      row.merge(delta, j);
      set(i, row);
      set_group_bound(i);
    });
    local_search::Choice best;
    const auto offer = [&](std::int32_t i, std::int32_t j, std::int32_t delta, bool forbidden) {
      const local_search::Choice choice{state.value() + delta, moves::index<2>(n_, {{i, j}}), forbidden};
      if (better(choice, best)) best = choice;
    };
    if (const std::int32_t row = row_of_least(interruption); row >= 0) offer(row, column_[at(row)], least_[at(row)], false);
    const std::int32_t least_tabu = tabu_.least();
    const bool aspires = least_tabu != none && state.value() + least_tabu < state.best_value();
    if (aspires || (best.move < 0 && least_tabu != none))
      tabu_.for_each_equal(least_tabu, [&](std::int32_t i, std::int32_t j) { offer(i, j, least_tabu, !aspires); });
    return best;
  }

  void moved(const SearchState<Neighborhood>& state, const local_search::Choice& choice) {
    const auto move = moves::at<2>(n_, choice.move);
    tour_.moved(state, choice);
    if (state.is_tabu_search() && own(move.at[0]))
      tabu_.add(move.at[0], move.at[1], local_search::tabu_until(state.iteration() - 1, state.tenure()));
    set_touched(move.at[0], move.at[1]);
    // A row of this slice that is made anew needs all later positions.
    const bool any = std::any_of(touched_.begin(), touched_.begin() + static_cast<std::ptrdiff_t>(touched_count_),
                                 [&](std::int32_t position) { return own(position); });
    const std::int32_t last = any ? n_ : last_row_;
    if (policy_.update_threads == 1) {
      update(first_row_, last, near_distances_.front().data(), partial_.front());
    } else {
#pragma omp parallel for schedule(static, 1) num_threads(policy_.update_threads)
      for (int k = 0; k < policy_.update_threads; ++k) {
        const std::int32_t share = divide_up(divide_up(n_, policy_.update_threads), group) * group, first = k * share;
        update(std::max(first_row_, std::min(last, first)), std::min(last, first + share),
               near_distances_[static_cast<std::size_t>(k)].data(), partial_[static_cast<std::size_t>(k)]);
      }
    }
    for (std::size_t k = 0; k < touched_count_; ++k) {
      if (!own(touched_[k])) continue;
      RowMinimum all = partial_.front()[k];
      for (std::size_t thread = 1; thread < partial_.size(); ++thread) {
        const RowMinimum& more = partial_[thread][k];
        all.merge(more.least, more.column);
        all.bound = std::min(all.bound, more.bound);
      }
      set(touched_[k], all);
      set_group_bound(touched_[k]);
    }
  }
  [[nodiscard]] Policy policy() const { return policy_.record(); }
  [[nodiscard]] Work work(std::int64_t neighborhood_evaluations) const {
    return cpu_work(neighborhood_, neighborhood_evaluations, policy_.update_threads);
  }

 private:
  static constexpr std::int32_t none = TabuSwaps::none;
  static constexpr std::size_t most_touched = 6, most_near = 10;
  static constexpr std::int32_t group = 64;   ///< rows with one bound
  static constexpr std::int32_t block = 512;  ///< positions whose distances stay in the first-level cache

  /// The least swap of a row that is not tabu, if it is at most `bound`: the others of these swaps are not below `bound`, and have larger
  /// columns where they are equal to it. Otherwise the least swap is not known.
  struct RowMinimum {
    std::int32_t least = none, column = none, bound = none;

    void merge(std::int32_t delta, std::int32_t position) {
      const bool better = delta < least || (delta == least && position < column);
      bound = std::min(bound, better ? least : delta);
      if (better) {
        least = delta;
        column = position;
      }
    }
  };

  [[nodiscard]] static std::size_t at(std::int32_t position) { return static_cast<std::size_t>(position); }
  [[nodiscard]] std::size_t size() const { return at(n_); }
  [[nodiscard]] bool own(std::int32_t row) const { return row >= first_row_ && row < last_row_; }
  [[nodiscard]] std::int32_t around(std::int32_t position) const { return (position + n_) % n_; }
  void set(std::int32_t position, const RowMinimum& row) {
    least_[at(position)] = row.least;
    column_[at(position)] = row.column;
    bound_[at(position)] = row.bound;
  }
  /// The least of `length` differences, of the positions from `first` on, and the next.
  [[nodiscard]] static RowMinimum two_least(std::int32_t* deltas, std::int32_t first, std::int32_t length) {
    RowMinimum row;
    row.least = minimum(deltas, length);
    if (row.least == none) return row;
    const std::int32_t position = index_of(row.least, deltas, length);
    deltas[position] = none;
    row.bound = minimum(deltas, length);
    deltas[position] = row.least;
    row.column = first + position;
    return row;
  }

  void set_minimum(std::int64_t row, std::int32_t* deltas) {
    const auto i = static_cast<std::int32_t>(row);
    tabu_.for_each_of(i, [&](std::int32_t other, std::int32_t) {
      if (other > i) deltas[other - i - 1] = none;
    });
    set(i, two_least(deltas, i + 1, tour_.length(row)));
  }
  /// The row of the least swap that is not tabu, -1 where there is none. Scans rows anew until it is known.
  [[nodiscard]] std::int32_t row_of_least(const Interruption& interruption) {
    while (true) {
      interruption.check();
      const auto groups = static_cast<std::int32_t>(group_bound_.size());
      const std::int32_t lowest = minimum(group_bound_.data(), groups);
      if (lowest == none) return -1;
      std::int32_t row = index_of(lowest, group_bound_.data(), groups) * group;
      while (std::min(least_[at(row)], bound_[at(row)]) != lowest) ++row;
      if (least_[at(row)] <= bound_[at(row)]) return row;
      tour_.scan(row, row + 1, scratch_.front(), [&](std::int64_t i, std::int32_t* deltas) { set_minimum(i, deltas); });
      set_group_bound(row);
    }
  }
  /// Of the group that `row` is in.
  void set_group_bound(std::int32_t row) {
    const std::int32_t first = row / group * group, last = std::min(n_, first + group);
    const std::int32_t *least = least_.data(), *bounds = bound_.data();
    std::int32_t bound = none;
#pragma omp simd reduction(min : bound)
    for (std::int32_t i = first; i < last; ++i) bound = std::min(bound, std::min(least[i], bounds[i]));
    group_bound_[at(row / group)] = bound;
  }

  /// The positions whose swaps a swap of r and s changes, and those whose distances give them.
  void set_touched(std::int32_t r, std::int32_t s) {
    const auto unique = [&](int reach, auto& to) {
      std::size_t count = 0;
      for (const std::int32_t position : {r, s})
        for (int k = -reach; k <= reach; ++k) to[count++] = around(position + k);
      std::sort(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(count));
      return static_cast<std::size_t>(std::unique(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(count)) - to.begin());
    };
    touched_count_ = unique(1, touched_);
    for (std::size_t k = touched_count_; k < most_touched; ++k) touched_[k] = -1;
    near_count_ = unique(2, near_positions_);
  }
  [[nodiscard]] std::size_t near_index(std::int32_t position) const {
    return static_cast<std::size_t>(
        std::lower_bound(near_positions_.begin(), near_positions_.begin() + static_cast<std::ptrdiff_t>(near_count_), around(position)) -
        near_positions_.begin());
  }

  /// Updates the rows of positions first .. last - 1. `partial` becomes the minima of the touched rows over these columns.
  void update(std::int32_t first, std::int32_t last, std::int32_t* near, std::array<RowMinimum, most_touched>& partial) {
    for (std::int32_t from = first; from < last; from += block) set_deltas(from, std::min(last, from + block), near);
    for (std::size_t k = 0; k < touched_count_; ++k)
      tabu_.for_each_of(touched_[k], [&](std::int32_t other, std::int32_t& tabu_delta) {
        if (other < first || other >= last) return;
        std::int32_t& delta = delta_[k][at(other)];
        const bool both = std::find(touched_.begin(), touched_.end(), other) != touched_.end();
        if (!both || touched_[k] < other) tabu_delta = delta;
        delta = none;
      });
    const std::int32_t last_own = std::min(last, last_row_);
    merge(first, last_own);
    for (std::int32_t row = first / group * group; row < last_own; row += group) set_group_bound(row);
    for (std::size_t k = 0; k < touched_count_; ++k) {
      const std::int32_t from = std::max(first, touched_[k] + 1);
      partial[k] = from < last ? two_least(&delta_[k][at(from)], from, last - from) : RowMinimum{};
    }
  }
  /// Differences of the swaps of the touched positions with positions first .. last - 1.
  void set_deltas(std::int32_t first, std::int32_t last, std::int32_t* near) {
    constexpr std::size_t pitch = block + 2;
    const std::int32_t* edges = tour_.edges();
    for (std::size_t k = 0; k < near_count_; ++k) tour_.distances(near_positions_[k], first - 1, last + 1, near + k * pitch);
    for (std::size_t k = 0; k < touched_count_; ++k) {
      const std::int32_t position = touched_[k], own_edges = edges[position], count = last - first;
      const std::int32_t *own = near + near_index(position) * pitch, *before = near + near_index(position - 1) * pitch + 1,
                         *after = near + near_index(position + 1) * pitch + 1, *other_edges = edges + first;
      std::int32_t* __restrict delta = &delta_[k][at(first)];
#pragma omp simd
      for (std::int32_t i = 0; i < count; ++i) delta[i] = own[i] + own[i + 2] + before[i] + after[i] - other_edges[i] - own_edges;
      for (const std::int32_t neighbor : {around(position - 1), around(position + 1)})  // share an edge, which stays
        if (neighbor >= first && neighbor < last) delta[neighbor - first] += 2 * own[neighbor - first + 1];
      if (position >= first && position < last) delta[position - first] = none;
    }
  }
  /// Puts these differences into the rows of positions first .. last - 1, where the swaps with touched positions were before.
  void merge(std::int32_t first, std::int32_t last) {
    std::int32_t* __restrict least = least_.data(), * __restrict column = column_.data(), * __restrict bound = bound_.data();
    const std::array<std::int32_t, most_touched> touched = touched_;
    std::array<const std::int32_t*, most_touched> delta;
    for (std::size_t k = 0; k < most_touched; ++k) delta[k] = delta_[k].data();
#pragma omp simd
    for (std::int32_t i = first; i < last; ++i) {
      std::int32_t least_here = least[i], column_here = column[i], bound_here = bound[i];
      bool invalid = false;
      for (std::size_t k = 0; k < most_touched; ++k) invalid |= column_here == touched[k];
      // The least swap to come may be equal to one of the others and have a larger column: they must not be below it.
      bound_here -= invalid && bound_here != none ? 1 : 0;
      least_here = invalid ? none : least_here;
      column_here = invalid ? none : column_here;
      for (std::size_t k = 0; k < most_touched; ++k) {
        const std::int32_t here = i < touched[k] ? delta[k][i] : none;
        const bool better = here < least_here || (here == least_here && here != none && touched[k] < column_here);
        bound_here = std::min(bound_here, better ? least_here : here);
        least_here = better ? here : least_here;
        column_here = better ? touched[k] : column_here;
      }
      least[i] = least_here;
      column[i] = column_here;
      bound[i] = bound_here;
    }
  }

  const Neighborhood& neighborhood_;
  TourRows<Integral> tour_;
  std::int32_t n_;
  std::int32_t first_row_, last_row_;  ///< of the slice
  TspPolicy policy_;
  Aligned<std::int32_t> least_, column_, bound_;  ///< [position]: its RowMinimum
  Aligned<std::int32_t> group_bound_;             ///< [group of rows]: of all their swaps
  TabuSwaps tabu_;
  std::array<std::int32_t, most_touched> touched_{};  ///< ascending; -1 beyond their count
  std::array<std::int32_t, most_near> near_positions_{};
  std::size_t touched_count_ = 0, near_count_ = 0;
  std::array<Aligned<std::int32_t>, most_touched> delta_;      ///< [touched position][position]: differences
  std::vector<Aligned<std::int32_t>> near_distances_;          ///< [thread][near position][position of a block, one before, one after]
  std::vector<std::array<RowMinimum, most_touched>> partial_;  ///< [thread][touched position]
  std::vector<typename TourRows<Integral>::Scratch> scratch_;  ///< [thread]
};

}  // namespace vicinity::lsm
