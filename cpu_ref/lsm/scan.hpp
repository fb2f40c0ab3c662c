#pragma once
// The honest opponent: the neighbourhood comes in rows of keys that vectors fill; tabu moves are struck out of them afterwards, since they
// are few; rows are shared among threads, and the order of (key, number) makes the result the same however they are.
#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/methods/lsm/search.hpp"
#include "core/util/math.hpp"
#include "cpu_ref/lsm/run.hpp"

namespace vicinity::lsm {

/// Recency memory by row: which of its columns are tabu, until when.
class TabuRows {
 public:
  explicit TabuRows(std::int64_t rows) : rows_(static_cast<std::size_t>(rows)) {}

  void clear() {
    for (auto& row : rows_) row.clear();
  }
  void add(std::int64_t row, std::int32_t column, std::int32_t until) {
    auto& entries = rows_[static_cast<std::size_t>(row)];
    const auto known = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.column == column; });
    if (known != entries.end())
      known->until = until;
    else
      entries.push_back({column, until});
  }
  /// Calls strike(column) for what is tabu in iteration t, and forgets what no longer is.
  template <class Strike>
  void visit(std::int64_t row, std::int64_t t, const Strike& strike) {
    auto& entries = rows_[static_cast<std::size_t>(row)];
    for (std::size_t k = 0; k < entries.size();) {
      if (entries[k].until <= t) {
        entries[k] = entries.back();
        entries.pop_back();
      } else {
        strike(entries[k++].column);
      }
    }
  }

 private:
  struct Entry {
    std::int32_t column, until;
  };
  std::vector<std::vector<Entry>> rows_;
};

/// The best of the rows a thread has seen.
template <class Key>
struct Found {
  static constexpr Key nothing = std::numeric_limits<Key>::max();  ///< no key is as large

  Key key = nothing;
  std::int64_t row = std::numeric_limits<std::int64_t>::max();
  std::int32_t column = 0;

  [[nodiscard]] bool before(const Found& other) const { return key < other.key || (key == other.key && row < other.row); }
};

/// The least of `length` keys.
template <class Key>
[[nodiscard]] Key least_of(const Key* keys, std::int32_t length) {
  Key least = Found<Key>::nothing;
#pragma omp simd reduction(min : least)
  for (std::int32_t c = 0; c < length; ++c) least = keys[c] < least ? keys[c] : least;
  return least;
}
/// The first of `length` keys that is `key`, which is among them.
template <class Key>
[[nodiscard]] std::int32_t place_of(Key key, const Key* keys, std::int32_t length) {
  return static_cast<std::int32_t>(std::find(keys, keys + length, key) - keys);
}

/// `Rows` is made from a neighbourhood, Rows::Neighborhood, and has
///   Key, Scratch                          what a key is, what a thread needs of its own; a Scratch is made from the Rows
///   rows(), first(row), length(row)       row `row` holds moves first(row) .. first(row) + length(row) - 1
///   block()                               rows that are best done one after the other
///   operations()                          about how many a scan takes, vectors counted as one
///   begin(state), moved(state, choice)      the solution is new; a move was taken
///   base(state)                            value = base + key
///   scan(state, first, last, scratch, sink)  calls sink(row, keys) for these rows in order; the sink may spoil the keys
///   bits()                                width of the arithmetic
template <class Rows>
class Scan {
 public:
  using Neighborhood = typename Rows::Neighborhood;
  using Key = typename Rows::Key;

  Scan(const Neighborhood& neighborhood, const local_search::Task&, int threads)
      : neighborhood_(neighborhood), rows_(neighborhood), tabu_(rows_.rows()), threads_(useful(threads)) {
    for (int k = 0; k < threads_; ++k) scratch_.emplace_back(rows_);
  }

  void begin(const SearchState<Neighborhood>& state) {
    tabu_.clear();
    rows_.begin(state);
  }
  [[nodiscard]] local_search::Choice choose(const SearchState<Neighborhood>& state) {
    const std::int64_t base = rows_.base(state);
    // A tabu move below this key is better than the best.
    const std::int64_t aspiration = state.best_value() - base;
    Found<Key> found = least(state, [&](std::int64_t row, Key* keys) {
      tabu_.visit(row, state.iteration(), [&](std::int32_t column) {
        if (keys[column] >= aspiration) keys[column] = Found<Key>::nothing;
      });
    });
    const bool forbidden = found.key == Found<Key>::nothing;
    if (forbidden) found = least(state, [](std::int64_t, Key*) {});
    last_ = found;
    return {base + found.key, rows_.first(found.row) + found.column, forbidden};
  }
  void moved(const SearchState<Neighborhood>& state, const local_search::Choice& choice) {
    if (state.is_tabu_search())
      tabu_.add(last_.row, last_.column, static_cast<std::int32_t>(local_search::tabu_until(state.iteration() - 1, state.tenure())));
    rows_.moved(state, choice);
  }
  [[nodiscard]] Policy policy() const { return {{"threads", threads_}, {"element_bits", rows_.bits()}}; }
  [[nodiscard]] Work work(std::int64_t neighborhood_evaluations) const {
    return cpu_work(neighborhood_, neighborhood_evaluations, threads_);
  }

 private:
  [[nodiscard]] int useful(int threads) const {
    const std::int64_t blocks = divide_up(rows_.rows(), rows_.block());
    return useful_threads(rows_.operations(), static_cast<double>(std::min<std::int64_t>(blocks, threads)));
  }

  /// The least (key, row, column) after `strike` went over each row.
  template <class Strike>
  Found<Key> least(const SearchState<Neighborhood>& state, const Strike& strike) {
    const std::int64_t rows = rows_.rows(), block = rows_.block();
    const auto over = [&](std::int64_t first, typename Rows::Scratch& scratch, Found<Key>& best) {
      rows_.scan(state, first, std::min(rows, first + block), scratch, [&](std::int64_t row, Key* keys) {
        strike(row, keys);
        const std::int32_t length = rows_.length(row);
        const Key lowest = least_of(keys, length);
        if (Found<Key> here{lowest, row, 0}; lowest != Found<Key>::nothing && here.before(best)) {
          here.column = place_of(lowest, keys, length);
          best = here;
        }
      });
    };
    Found<Key> best;
    if (threads_ == 1) {
      for (std::int64_t first = 0; first < rows; first += block) over(first, scratch_.front(), best);
      return best;
    }
#pragma omp parallel num_threads(threads_)
    {
      Found<Key> mine;
      auto& scratch = scratch_[static_cast<std::size_t>(omp_get_thread_num())];
#pragma omp for schedule(dynamic, 1) nowait
      for (std::int64_t first = 0; first < rows; first += block) over(first, scratch, mine);
#pragma omp critical
      if (mine.before(best)) best = mine;
    }
    return best;
  }

  const Neighborhood& neighborhood_;
  Rows rows_;
  TabuRows tabu_;
  int threads_;
  std::vector<typename Rows::Scratch> scratch_;
  Found<Key> last_;
};

}  // namespace vicinity::lsm
