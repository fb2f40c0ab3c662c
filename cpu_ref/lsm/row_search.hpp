#pragma once
// cpu-openmp for the QAP and the Weierstrass function: every iteration scans the whole neighbourhood, vectorised and threaded; or
// a slice of it, the rows with its moves, for mpi-openmp. What MoveRows keep between moves is kept whole by each slice.
//
// Data layout: the moves come in rows of consecutive numbers. A class of the concept MoveRows (qap_rows.hpp,
// weierstrass_rows.hpp) fills a row of keys with vector instructions from what it keeps between moves.
//
// Phases of an iteration:
//   1. Threads scan blocks of rows. In each row the keys of tabu moves that do not aspire are overwritten; they are few. The least key is
//      a vector reduction; its column is searched only where the row improves on the best so far.
//   2. The bests of the threads combine by (key, row, column), whoever scanned what.
//   3. Where no move is left, all are forbidden: the rows are scanned again without the tabu list, and the best move is taken.
//
// Synchronisation: one parallel region an iteration. Cost: MoveRows::operations() an iteration.
#include <omp.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/methods/lsm/search.hpp"
#include "core/util/math.hpp"
#include "cpu_ref/lsm/run.hpp"

namespace vicinity::lsm {

/// Rows of moves: `row` begins with move first(row).
template <class R>
concept FirstMoves = requires(const R& rows, std::int64_t row) {
  { rows.rows() } -> std::same_as<std::int64_t>;
  { rows.first(row) } -> std::same_as<std::int64_t>;
};
/// A neighbourhood in rows. Row `row` holds moves first(row) .. first(row) + length(row) - 1; the value of a move is base(state) + key.
/// begin(state, interruption): the solution is new; moved(state, choice): it took that move. scan(state, first, last, scratch, visit) calls
/// visit(row, keys) for rows first .. last - 1 in order, and visit may overwrite the keys.
template <class R>
concept MoveRows = FirstMoves<R> && requires(R rows, const R& kept, const SearchState<typename R::Neighborhood>& state,
                                             const local_search::Choice& choice, std::int64_t row, typename R::Scratch& scratch,
                                             void (*visit)(std::int64_t, typename R::Key*), const Interruption& interruption) {
  requires std::constructible_from<R, const typename R::Neighborhood&>;
  requires std::constructible_from<typename R::Scratch, const R&>;  // what one thread needs of its own
  { kept.length(row) } -> std::same_as<std::int32_t>;
  { kept.block() } -> std::same_as<std::int64_t>;  // rows that one thread scans in one go
  { kept.operations() } -> std::same_as<double>;   // of a scan of all rows, vectors counted as one
  { kept.bits() } -> std::same_as<std::int64_t>;   // width of the arithmetic
  { kept.base(state) } -> std::same_as<std::int64_t>;
  rows.begin(state, interruption);
  rows.moved(state, choice);
  kept.scan(state, row, row, scratch, visit);
};

/// Recency memory: which columns of each row are tabu, until when.
class TabuColumns {
 public:
  explicit TabuColumns(std::int64_t rows) : rows_(static_cast<std::size_t>(rows)) {}

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
  /// Calls f(column) for those that are tabu in iteration t, and removes those that no longer are.
  template <class F>
  void for_each_tabu(std::int64_t row, std::int64_t t, const F& f) {
    auto& entries = rows_[static_cast<std::size_t>(row)];
    for (std::size_t k = 0; k < entries.size();) {
      if (entries[k].until <= t) {
        entries[k] = entries.back();
        entries.pop_back();
      } else {
        f(entries[k++].column);
      }
    }
  }

 private:
  struct Entry {
    std::int32_t column, until;
  };
  std::vector<std::vector<Entry>> rows_;
};

/// The best move of some rows.
template <class Key>
struct BestMove {
  static constexpr Key none = std::numeric_limits<Key>::max();  ///< no key is as large

  Key key = none;
  std::int64_t row = std::numeric_limits<std::int64_t>::max();
  std::int32_t column = 0;

  [[nodiscard]] bool before(const BestMove& other) const { return key < other.key || (key == other.key && row < other.row); }
};

/// work(k, scratch, best) for k < count, by a thread for each scratch, which takes `chunk` at a time and has a best of its own; the best of
/// these.
template <class Key, class Scratch, class Work>
[[nodiscard]] BestMove<Key> best_of_threads(std::int64_t count, std::int64_t chunk, std::vector<Scratch>& scratch,
                                            const Interruption& interruption, const Work& work) {
  BestMove<Key> best;
  if (scratch.size() == 1 || count == 1) {
    for (std::int64_t k = 0; k < count && !interruption.wanted(); ++k) work(k, scratch.front(), best);
    interruption.check();
    return best;
  }
#pragma omp parallel num_threads(static_cast <int>(scratch.size()))
  {
    BestMove<Key> mine;
    Scratch& own = scratch[static_cast<std::size_t>(omp_get_thread_num())];
#pragma omp for schedule(dynamic, chunk) nowait
    for (std::int64_t k = 0; k < count; ++k)
      if (!interruption.wanted()) work(k, own, mine);
    if (mine.key != BestMove<Key>::none) {
#pragma omp critical
      if (mine.before(best)) best = mine;
    }
  }
  interruption.check();
  return best;
}

template <class Key>
[[nodiscard]] Key minimum(const Key* keys, std::int32_t length) {
  Key least = BestMove<Key>::none;
#pragma omp simd reduction(min : least)
  for (std::int32_t c = 0; c < length; ++c) least = keys[c] < least ? keys[c] : least;
  return least;
}
/// Index of the first of `length` keys that is `key`, which is among them.
template <class Key>
[[nodiscard]] std::int32_t index_of(Key key, const Key* keys, std::int32_t length) {
  return static_cast<std::int32_t>(std::find(keys, keys + length, key) - keys);
}

struct RowSearchPolicy {
  int threads;
  std::int64_t element_bits;

  [[nodiscard]] Policy record() const { return {{"threads", threads}, {"element_bits", element_bits}}; }
};
/// As many of `threads` as find enough rows to scan, in a slice.
template <MoveRows Rows>
[[nodiscard]] RowSearchPolicy row_search_policy(const Rows& rows, int threads, const Slice& slice) {
  const std::int64_t blocks = divide_up(rows.rows(), rows.block());
  return {useful_threads(rows.operations() / slice.count, static_cast<double>(std::min<std::int64_t>(blocks, threads))), rows.bits()};
}
/// The first row that begins with move `move` or a later one.
template <FirstMoves Rows>
[[nodiscard]] std::int64_t row_from(const Rows& rows, std::int64_t move) {
  std::int64_t first = 0;
  for (std::int64_t length = rows.rows(); length > 0;) {
    const std::int64_t half = length / 2;
    const bool below = rows.first(first + half) < move;
    first = below ? first + half + 1 : first;
    length = below ? length - half - 1 : half;
  }
  return first;
}

template <MoveRows Rows>
class RowSearch {
 public:
  using Neighborhood = typename Rows::Neighborhood;
  using Key = typename Rows::Key;

  RowSearch(const Neighborhood& neighborhood, int threads, const Slice& slice)
      : neighborhood_(neighborhood),
        rows_(neighborhood),
        first_row_(row_from(rows_, slice.first_of(neighborhood.moves()))),
        last_row_(row_from(rows_, slice.last_of(neighborhood.moves()))),
        tabu_(rows_.rows()),
        policy_(row_search_policy(rows_, threads, slice)) {
    for (int k = 0; k < policy_.threads; ++k) scratch_.emplace_back(rows_);
  }

  void begin(const SearchState<Neighborhood>& state, const Interruption& interruption) {
    tabu_.clear();
    rows_.begin(state, interruption);
  }
  [[nodiscard]] local_search::Choice choose(const SearchState<Neighborhood>& state, const Interruption& interruption) {
    const std::int64_t base = rows_.base(state);
    const std::int64_t aspiration = state.best_value() - base;  // a tabu move with a key below is better than the best known solution
    BestMove<Key> best = best_move(state, interruption, [&](std::int64_t row, Key* keys) {
      tabu_.for_each_tabu(row, state.iteration(), [&](std::int32_t column) {
        if (keys[column] >= aspiration) keys[column] = BestMove<Key>::none;
      });
    });
    const bool forbidden = best.key == BestMove<Key>::none;
    if (forbidden) best = best_move(state, interruption, [](std::int64_t, Key*) {});
    chosen_ = best;
    if (best.key == BestMove<Key>::none) return {};  // no moves in this slice
    return {base + best.key, rows_.first(best.row) + best.column, forbidden};
  }
  void moved(const SearchState<Neighborhood>& state, const local_search::Choice& choice) {
    const bool own = chosen_.key != BestMove<Key>::none && choice.move == rows_.first(chosen_.row) + chosen_.column;
    if (own && state.is_tabu_search())
      tabu_.add(chosen_.row, chosen_.column, static_cast<std::int32_t>(local_search::tabu_until(state.iteration() - 1, state.tenure())));
    rows_.moved(state, choice);
  }
  [[nodiscard]] Policy policy() const { return policy_.record(); }
  [[nodiscard]] Work work(std::int64_t neighborhood_evaluations) const {
    return cpu_work(neighborhood_, neighborhood_evaluations, policy_.threads);
  }

 private:
  /// The least (key, row, column) after mask(row, keys) has overwritten the keys that do not count.
  template <class Mask>
  BestMove<Key> best_move(const SearchState<Neighborhood>& state, const Interruption& interruption, const Mask& mask) {
    const std::int64_t block = rows_.block(), blocks = divide_up(last_row_ - first_row_, block);
    return best_of_threads<Key>(blocks, 1, scratch_, interruption,
                                [&](std::int64_t k, typename Rows::Scratch& scratch, BestMove<Key>& best) {
                                  const std::int64_t first = first_row_ + k * block;
                                  rows_.scan(state, first, std::min(last_row_, first + block), scratch, [&](std::int64_t row, Key* keys) {
                                    mask(row, keys);
                                    const std::int32_t length = rows_.length(row);
                                    const Key least = minimum(keys, length);
                                    if (BestMove<Key> here{least, row, 0}; least != BestMove<Key>::none && here.before(best)) {
                                      here.column = index_of(least, keys, length);
                                      best = here;
                                    }
                                  });
                                });
  }

  const Neighborhood& neighborhood_;
  Rows rows_;
  std::int64_t first_row_, last_row_;  ///< of the slice
  TabuColumns tabu_;
  RowSearchPolicy policy_;
  std::vector<typename Rows::Scratch> scratch_;  ///< [thread]
  BestMove<Key> chosen_;
};

}  // namespace vicinity::lsm
