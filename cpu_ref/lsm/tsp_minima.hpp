#pragma once
// Swaps of two cities, of which a search keeps the least of each row (the first place) and a bound of the others: a move changes the swaps
// of six places, that is a row each of six and six swaps of every other row, and a row is scanned anew only when its bound is below all
// that is known. What is tabu is kept apart: a list a place, and the difference of each.
#include <omp.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/util/math.hpp"
#include "cpu_ref/lsm/run.hpp"
#include "cpu_ref/lsm/scan.hpp"
#include "cpu_ref/lsm/tabu_swaps.hpp"
#include "cpu_ref/lsm/tsp_rows.hpp"
#include "cpu_ref/run/aligned.hpp"

namespace vicinity::lsm {

template <bool Integral>
class TspMinima {
 public:
  using Neighborhood = local_search::TspSwap;

  TspMinima(const Neighborhood& neighborhood, const local_search::Task&, int threads)
      : neighborhood_(neighborhood),
        rows_(neighborhood),
        n_(neighborhood.instance().size()),
        scan_threads_(useful_threads(rows_.operations(), threads)),
        threads_(useful_threads(operations_a_place * n_, threads)),
        least_(size()),
        column_(size()),
        rest_(size()),
        bound_(static_cast<std::size_t>(divide_up(n_, group))),
        tabu_(size()),
        partial_(static_cast<std::size_t>(threads_)) {
    for (int k = 0; k < scan_threads_; ++k) scratch_.emplace_back(rows_);
    for (auto& delta : delta_) delta.resize(size());
    for (int k = 0; k < threads_; ++k) near_.emplace_back(most_near * (block + 2));
  }

  void begin(const SearchState<Neighborhood>& state) {
    rows_.begin(state);
    tabu_.clear();
    least_.back() = rest_.back() = none;  // the last place has no row
    const std::int64_t rows = rows_.rows(), some = TspRows<Integral>::block();
#pragma omp parallel for schedule(dynamic, 1) num_threads(scan_threads_)
    for (std::int64_t first = 0; first < rows; first += some)
      rows_.scan(first, std::min(rows, first + some), scratch_[static_cast<std::size_t>(omp_get_thread_num())],
                 [&](std::int64_t row, std::int32_t* keys) { take_row(row, keys); });
    for (std::int32_t row = 0; row < n_; row += group) make_bound(row);
  }

  [[nodiscard]] local_search::Choice choose(const SearchState<Neighborhood>& state) {
    tabu_.expire(state.iteration(), [&](std::int32_t i, std::int32_t j, std::int32_t delta) {
      Row row{least_[at(i)], column_[at(i)], rest_[at(i)]};
      row.merge(delta, j);
      set(i, row);
      make_bound(i);
    });
    local_search::Choice best;
    const auto offer = [&](std::int32_t i, std::int32_t j, std::int32_t delta, bool forbidden) {
      const local_search::Choice choice{state.value() + delta, moves::index<2>(n_, {{i, j}}), forbidden};
      if (better(choice, best)) best = choice;
    };
    if (const std::int32_t row = least_row(); row >= 0) offer(row, column_[at(row)], least_[at(row)], false);
    const std::int32_t lowest = tabu_.least();
    const bool aspires = lowest != none && state.value() + lowest < state.best_value();
    if (aspires || (best.move < 0 && lowest != none))
      tabu_.visit_equal(lowest, [&](std::int32_t i, std::int32_t j) { offer(i, j, lowest, !aspires); });
    return best;
  }

  void moved(const SearchState<Neighborhood>& state, const local_search::Choice& choice) {
    const auto move = moves::at<2>(n_, choice.move);
    rows_.moved(state, choice);
    if (state.is_tabu_search()) tabu_.add(move.at[0], move.at[1], local_search::tabu_until(state.iteration() - 1, state.tenure()));
    touch(move.at[0], move.at[1]);
    if (threads_ == 1) {
      update(0, n_, near_.front().data(), partial_.front());
    } else {
#pragma omp parallel for schedule(static, 1) num_threads(threads_)
      for (int k = 0; k < threads_; ++k) {
        const std::int32_t share = divide_up(divide_up(n_, threads_), group) * group, first = std::min(n_, k * share);
        update(first, std::min(n_, first + share), near_[static_cast<std::size_t>(k)].data(), partial_[static_cast<std::size_t>(k)]);
      }
    }
    for (std::size_t k = 0; k < touched_count_; ++k) {
      Row all = partial_.front()[k];
      for (std::size_t thread = 1; thread < partial_.size(); ++thread) {
        const Row& more = partial_[thread][k];
        all.merge(more.least, more.column);
        all.rest = std::min(all.rest, more.rest);
      }
      set(touched_[k], all);
      make_bound(touched_[k]);
    }
  }
  [[nodiscard]] Policy policy() const { return {{"threads", threads_}, {"element_bits", 32}}; }
  [[nodiscard]] Work work(std::int64_t neighborhood_evaluations) const {
    return cpu_work(neighborhood_, neighborhood_evaluations, threads_);
  }

 private:
  static constexpr std::int32_t none = TabuSwaps::none;
  static constexpr std::size_t most_touched = 6, most_near = 10;
  static constexpr std::int32_t group = 64;
  static constexpr std::int32_t block = 512;                        ///< places whose distances stay in the first-level cache
  static constexpr double operations_a_place = Integral ? 16 : 48;  ///< of a move, in those of Scan

  /// The least free swap of a row, if it is at most `rest`, and a bound of all its others; of the same difference, the others have larger
  /// columns. Otherwise the least is not known.
  struct Row {
    std::int32_t least = none, column = none, rest = none;

    void merge(std::int32_t delta, std::int32_t place) {
      const bool better = delta < least || (delta == least && place < column);
      rest = std::min(rest, better ? least : delta);
      if (better) {
        least = delta;
        column = place;
      }
    }
  };

  [[nodiscard]] static std::size_t at(std::int32_t place) { return static_cast<std::size_t>(place); }
  [[nodiscard]] std::size_t size() const { return at(n_); }
  [[nodiscard]] std::int32_t around(std::int32_t place) const { return (place + n_) % n_; }
  void set(std::int32_t place, const Row& row) {
    least_[at(place)] = row.least;
    column_[at(place)] = row.column;
    rest_[at(place)] = row.rest;
  }
  /// The least of `length` differences of places from `first` on, and the next.
  [[nodiscard]] static Row least_two(std::int32_t* deltas, std::int32_t first, std::int32_t length) {
    Row row;
    row.least = least_of(deltas, length);
    if (row.least == none) return row;
    const std::int32_t place = place_of(row.least, deltas, length);
    deltas[place] = none;
    row.rest = least_of(deltas, length);
    deltas[place] = row.least;
    row.column = first + place;
    return row;
  }

  // --- rows --------------------------------------------------------------------------------------------------------------

  void take_row(std::int64_t row, std::int32_t* keys) {
    const auto i = static_cast<std::int32_t>(row);
    tabu_.visit(i, [&](std::int32_t other, std::int32_t) {
      if (other > i) keys[other - i - 1] = none;
    });
    set(i, least_two(keys, i + 1, rows_.length(row)));
  }
  /// The row of the least free swap, scanned anew where it has to be; -1: there is none.
  [[nodiscard]] std::int32_t least_row() {
    while (true) {
      const auto groups = static_cast<std::int32_t>(bound_.size());
      const std::int32_t lowest = least_of(bound_.data(), groups);
      if (lowest == none) return -1;
      std::int32_t row = place_of(lowest, bound_.data(), groups) * group;
      while (std::min(least_[at(row)], rest_[at(row)]) != lowest) ++row;
      if (least_[at(row)] <= rest_[at(row)]) return row;
      rows_.scan(row, row + 1, scratch_.front(), [&](std::int64_t i, std::int32_t* keys) { take_row(i, keys); });
      make_bound(row);
    }
  }
  /// Of the group of rows that `row` is in.
  void make_bound(std::int32_t row) {
    const std::int32_t first = row / group * group, last = std::min(n_, first + group);
    const std::int32_t *least = least_.data(), *rest = rest_.data();
    std::int32_t bound = none;
#pragma omp simd reduction(min : bound)
    for (std::int32_t i = first; i < last; ++i) bound = std::min(bound, std::min(least[i], rest[i]));
    bound_[at(row / group)] = bound;
  }

  /// The places whose swaps a swap of r and s changes, and those whose distances tell.
  void touch(std::int32_t r, std::int32_t s) {
    const auto unique = [&](int reach, auto& to) {
      std::size_t count = 0;
      for (const std::int32_t place : {r, s})
        for (int k = -reach; k <= reach; ++k) to[count++] = around(place + k);
      std::sort(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(count));
      return static_cast<std::size_t>(std::unique(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(count)) - to.begin());
    };
    touched_count_ = unique(1, touched_);
    for (std::size_t k = touched_count_; k < most_touched; ++k) touched_[k] = -1;
    near_count_ = unique(2, near_places_);
  }
  [[nodiscard]] std::size_t near_index(std::int32_t place) const {
    return static_cast<std::size_t>(
        std::lower_bound(near_places_.begin(), near_places_.begin() + static_cast<std::ptrdiff_t>(near_count_), around(place)) -
        near_places_.begin());
  }

  /// Brings the rows of places first .. last - 1 up to date, and finds what the rows of the touched places have there.
  void update(std::int32_t first, std::int32_t last, std::int32_t* near, std::array<Row, most_touched>& found) {
    for (std::int32_t from = first; from < last; from += block) measure(from, std::min(last, from + block), near);
    for (std::size_t k = 0; k < touched_count_; ++k)
      tabu_.visit(touched_[k], [&](std::int32_t other, std::int32_t& tabu_delta) {
        if (other < first || other >= last) return;
        std::int32_t& delta = delta_[k][at(other)];
        const bool twice = std::find(touched_.begin(), touched_.end(), other) != touched_.end();
        if (!twice || touched_[k] < other) tabu_delta = delta;
        delta = none;
      });
    merge(first, last);
    for (std::int32_t row = first; row < last; row += group) make_bound(row);
    for (std::size_t k = 0; k < touched_count_; ++k) {
      const std::int32_t from = std::max(first, touched_[k] + 1);
      found[k] = from < last ? least_two(&delta_[k][at(from)], from, last - from) : Row{};
    }
  }
  /// Differences of the swaps of the touched places with places first .. last - 1.
  void measure(std::int32_t first, std::int32_t last, std::int32_t* near) {
    constexpr std::size_t pitch = block + 2;
    const std::int32_t* edges = rows_.edges();
    for (std::size_t k = 0; k < near_count_; ++k) rows_.distances(near_places_[k], first - 1, last + 1, near + k * pitch);
    for (std::size_t k = 0; k < touched_count_; ++k) {
      const std::int32_t place = touched_[k], own_edges = edges[place], count = last - first;
      const std::int32_t *own = near + near_index(place) * pitch, *before = near + near_index(place - 1) * pitch + 1,
                         *after = near + near_index(place + 1) * pitch + 1, *their_edges = edges + first;
      std::int32_t* __restrict delta = &delta_[k][at(first)];
#pragma omp simd
      for (std::int32_t i = 0; i < count; ++i) delta[i] = own[i] + own[i + 2] + before[i] + after[i] - their_edges[i] - own_edges;
      for (const std::int32_t neighbor : {around(place - 1), around(place + 1)})  // share an edge, which stays
        if (neighbor >= first && neighbor < last) delta[neighbor - first] += 2 * own[neighbor - first + 1];
      if (place >= first && place < last) delta[place - first] = none;
    }
  }
  void merge(std::int32_t first, std::int32_t last) {
    std::int32_t* __restrict least = least_.data(), * __restrict column = column_.data(), * __restrict rest = rest_.data();
    const std::array<std::int32_t, most_touched> touched = touched_;
    std::array<const std::int32_t*, most_touched> delta;
    for (std::size_t k = 0; k < most_touched; ++k) delta[k] = delta_[k].data();
#pragma omp simd
    for (std::int32_t i = first; i < last; ++i) {
      std::int32_t least_here = least[i], column_here = column[i], rest_here = rest[i];
      bool gone = false;
      for (std::size_t k = 0; k < most_touched; ++k) gone |= column_here == touched[k];
      // Of the others, any may have a smaller column than what is the least from now on.
      rest_here -= gone && rest_here != none ? 1 : 0;
      least_here = gone ? none : least_here;
      column_here = gone ? none : column_here;
      for (std::size_t k = 0; k < most_touched; ++k) {
        const std::int32_t here = i < touched[k] ? delta[k][i] : none;
        const bool better = here < least_here || (here == least_here && here != none && touched[k] < column_here);
        rest_here = std::min(rest_here, better ? least_here : here);
        least_here = better ? here : least_here;
        column_here = better ? touched[k] : column_here;
      }
      least[i] = least_here;
      column[i] = column_here;
      rest[i] = rest_here;
    }
  }

  const Neighborhood& neighborhood_;
  TspRows<Integral> rows_;
  std::int32_t n_;
  int scan_threads_, threads_;
  Aligned<std::int32_t> least_, column_, rest_;  ///< [place]: its Row
  Aligned<std::int32_t> bound_;                  ///< [group of places]: the least of all that these have
  TabuSwaps tabu_;
  std::array<std::int32_t, most_touched> touched_{};  ///< ascending; -1 beyond their count
  std::array<std::int32_t, most_near> near_places_{};
  std::size_t touched_count_ = 0, near_count_ = 0;
  std::array<Aligned<std::int32_t>, most_touched> delta_;  ///< [touched place][place]
  std::vector<Aligned<std::int32_t>> near_;                ///< [thread]: [place near][place of a block, and one before and after]
  std::vector<std::array<Row, most_touched>> partial_;     ///< [thread]
  std::vector<typename TspRows<Integral>::Scratch> scratch_;
};

}  // namespace vicinity::lsm
