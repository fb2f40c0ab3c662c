// cpu-delta-matrix: the paper's non-parallel code (section 2.2). The costs of all swaps are kept in a matrix, and every accepted swap
// brings all of it up to date at once, on one core.
//
// Problem: proposals come in order; the delta of the next one is looked up, and either it is rejected or all deltas change.
//
// Data layout: the deltas of the pairs (i, j), i < j: rows one after the other, each from the vector on that column i + 1 lies in, so that
// loops over columns are aligned. What lies before column i + 1 and after the last one means nothing and is never looked at. A, and B' = B
// as the permutation puts it (equation 3), so that all rows are read in order; their transposes where they are not symmetric. Entries have
// 16 bits where they and their differences fit, deltas 32 bits where they fit (Qap::narrow).
//
// Phases: all deltas from scratch (begin); a row of pairs is searched for the first accepted proposal (first_accepted); B' follows the
// swap (swap_locations), all deltas change by a product (add_products), those of pairs with r or s are made from scratch
// (remake_deltas).
//
// Cost: n^3/2 products a side at the start; a proposal: its delta read, the test and, unless no random number could have it accepted, a
// quarter of a Philox block and a threshold; an accepted swap: n^2/2 products a side for the pairs without r and s, and 2n^2 for the 2n - 3
// with them, n each.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/methods/sa/annealing.hpp"
#include "core/problems/qap/inner_products.hpp"
#include "cpu_ref/run/aligned.hpp"
#include "cpu_ref/sa/implementations.hpp"
#include "cpu_ref/sa/run.hpp"

namespace vicinity::sa {
namespace {

/// Entries, their differences, deltas. A symmetric instance has one side: what rows and columns add to a delta is the same.
template <class E, class F, class D, int Sides>
struct Types {
  using Entry = E;
  using Factor = F;
  using Delta = D;
  using Word = std::make_unsigned_t<D>;  ///< for sums that may wrap around as long as deltas fit
  static constexpr int sides = Sides;
};

/// Do all entries, and the differences of two entries of a matrix, fit so many bits?
bool fit(const qap::Qap& qap, int bits) {
  const std::int64_t most = (std::int64_t{1} << (bits - 1)) - 1;
  const auto entries = static_cast<std::ptrdiff_t>(annealing::pairs(qap.size()) * 2 + qap.size());
  for (const std::int32_t* matrix : {qap.view().a, qap.view().b}) {
    const auto [low, high] = std::minmax_element(matrix, matrix + entries);
    if (*low < -most || *high > most || std::int64_t{*high} - *low > most) return false;
  }
  return true;
}

/// Columns that are tested together, and to which rows are padded: a vector of floats on the widest processors.
constexpr std::int32_t lanes = 16;
constexpr std::int32_t rounded_down(std::int32_t column) { return column / lanes * lanes; }
constexpr std::int32_t rounded_up(std::int32_t column) { return rounded_down(column + lanes - 1); }

template <class T>
class DeltaMatrix {
 public:
  using Entry = typename T::Entry;
  using Factor = typename T::Factor;
  using Delta = typename T::Delta;
  using Word = typename T::Word;

  DeltaMatrix(const qap::Qap& qap, const annealing::Task&) : qap_(qap), n_(qap.size()), width_(rounded_up(n_)) {
    const auto size = static_cast<std::size_t>(n_) * static_cast<std::size_t>(width_);
    for (int side = 0; side < T::sides; ++side) {
      a_[side].resize(size);
      b_[side].resize(size);
      d_[side].resize(static_cast<std::size_t>(width_));
      e_[side].resize(static_cast<std::size_t>(width_));
      for (std::int32_t i = 0; i < n_; ++i)
        for (std::int32_t j = 0; j < n_; ++j)
          row(a_[side], i)[j] = static_cast<Entry>(side == 0 ? entry(qap.view().a, i, j) : entry(qap.view().a, j, i));
    }
    std::ptrdiff_t start = 0;
    for (std::int32_t i = 0; i < n_ - 1; ++i) {
      starts_.push_back(start - rounded_down(i + 1));
      start += width_ - rounded_down(i + 1);
    }
    deltas_.resize(static_cast<std::size_t>(start));
  }

  void begin(const ChainState& state, const Interruption& interruption) {
    const qap::Permutation& p = state.permutation();
    for (int side = 0; side < T::sides; ++side)
      for (std::int32_t i = 0; i < n_; ++i)
        for (std::int32_t j = 0; j < n_; ++j) {
          const std::int32_t pi = p[static_cast<std::size_t>(i)], pj = p[static_cast<std::size_t>(j)];
          row(b_[side], i)[j] = static_cast<Entry>(side == 0 ? entry(qap_.view().b, pi, pj) : entry(qap_.view().b, pj, pi));
        }
    for (std::int32_t i = 0; i < n_ - 1; ++i) {
      interruption.check();
      for (std::int32_t j = i + 1; j < n_; ++j) deltas(i)[j] = from_scratch(i, j);
    }
    made_ = {-1, 0, 0};
  }

  void advance(ChainState& state, std::int64_t limit, const Interruption& interruption) {
    std::int64_t sweep = state.next() / annealing::pairs(n_);
    annealing::Swap at = annealing::pair_at(n_, state.next() % annealing::pairs(n_));
    while (state.next() < limit) {
      interruption.check();
      const std::int64_t first = state.next() - (at.s - at.r - 1);                    // of the row
      const std::int64_t until = std::min(limit - 1, state.freezing_proposal()) + 1;  // the temperature is the same up to there
      const auto to = static_cast<std::int32_t>(std::min<std::int64_t>(n_, at.s + (until - state.next())));
      const std::int32_t s = first_accepted(state.seed(), sweep, at.r, at.s, to, annealing::row_temperature(state.cooling(), first));
      if (s < to) {
        state.accept(first + (s - at.r - 1), {at.r, s}, deltas(at.r)[s]);
        swap_locations(at.r, s);
        add_products(at.r, s);
        remake_deltas(at.r, s);
        at.s = s + 1;
      } else {
        state.reject_until(state.next() + (to - at.s));
        at.s = to;
      }
      if (at.s < n_) continue;
      if (++at.r == n_ - 1) {
        at.r = 0;
        ++sweep;
      }
      at.s = at.r + 1;
    }
  }

  [[nodiscard]] static Policy policy() { return {{"threads", 1}, {"entry_bits", 8 * sizeof(Entry)}, {"delta_bits", 8 * sizeof(Delta)}}; }
  /// Fewest 32-bit operations of this algorithm, not of annealing: a test of a proposal (its temperature and a product, 5); of a term of
  /// an accepted swap's sums two differences, a product and a sum, half as many where entries have 16 bits.
  [[nodiscard]] Work work(std::int64_t proposals, std::int64_t accepted) const {
    const double n = n_, terms = sizeof(Factor) == 2 ? 2 : 4;
    const double update = T::sides * (4 * static_cast<double>(annealing::pairs(n_)) + terms * (2 * n - 3) * n);
    return {{Ceiling::cpu_integer_core, 5 * static_cast<double>(proposals) + update * static_cast<double>(accepted)}};
  }

 private:
  // --- where things lie --------------------------------------------------------------------------------------------------

  [[nodiscard]] std::int32_t entry(const std::int32_t* matrix, std::int32_t i, std::int32_t j) const {
    return matrix[static_cast<std::ptrdiff_t>(i) * n_ + j];
  }
  [[nodiscard]] Entry* row(Aligned<Entry>& matrix, std::int32_t i) const { return matrix.data() + static_cast<std::ptrdiff_t>(i) * width_; }
  [[nodiscard]] const Entry* row(const Aligned<Entry>& matrix, std::int32_t i) const {
    return matrix.data() + static_cast<std::ptrdiff_t>(i) * width_;
  }
  /// deltas(i)[j] is that of (i, j), i < j.
  [[nodiscard]] Delta* deltas(std::int32_t i) { return deltas_.data() + starts_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] Delta& delta(std::int32_t i, std::int32_t j) { return deltas(std::min(i, j))[std::max(i, j)]; }

  // --- the next accepted proposal ----------------------------------------------------------------------------------------

  /// The first of columns from .. to - 1 of row r that is accepted, `to` if none is.
  [[nodiscard]] std::int32_t first_accepted(std::uint64_t seed, std::int64_t sweep, std::int32_t r, std::int32_t from, std::int32_t to,
                                            const annealing::RowTemperature& temperature) {
    for (std::int32_t first = rounded_down(from); first < to; first += lanes) {
      const Delta* const values = deltas(r) + first;
      float tests[lanes];
      int possible = 0, accepted = 0;
#pragma omp simd reduction(| : possible)
      for (std::int32_t c = 0; c < lanes; ++c) {
        const std::int32_t s = first + c;
        const float test = times(static_cast<float>(values[c]), annealing::inverse_temperature(temperature, s - r - 1));
        tests[c] = (s >= from) & (s < to) ? test : std::numeric_limits<float>::infinity();
        possible |= static_cast<int>(tests[c] <= annealing::highest_threshold);
      }
      if (possible == 0) continue;  // whatever the random numbers are
      const float* const thresholds = thresholds_of(seed, sweep, r, first);
#pragma omp simd reduction(| : accepted)
      for (std::int32_t c = 0; c < lanes; ++c) accepted |= static_cast<int>(tests[c] <= thresholds[c]);
      if (accepted == 0) continue;
      std::int32_t c = 0;
      while (tests[c] > thresholds[c]) ++c;
      return first + c;
    }
    return to;
  }
  /// Of sixteen columns of row r. Words come for 64 columns at a time (annealing::block_of), and serve all swaps accepted there.
  [[nodiscard]] const float* thresholds_of(std::uint64_t seed, std::int64_t sweep, std::int32_t r, std::int32_t first) {
    constexpr std::int32_t blocks = lanes, columns = 4 * blocks;
    if (const Made wanted{sweep, r, first / columns}; made_ != wanted) {
      made_ = wanted;
      std::uint32_t words[columns];
#pragma omp simd
      for (std::int32_t c = 0; c < blocks; ++c) {
        const Philox4 block = annealing::words(seed, sweep, r, static_cast<std::uint32_t>(wanted.group * blocks + c));
        words[c] = block.word[0];
        words[blocks + c] = block.word[1];
        words[2 * blocks + c] = block.word[2];
        words[3 * blocks + c] = block.word[3];
      }
#pragma omp simd
      for (std::int32_t c = 0; c < columns; ++c) thresholds_[c] = annealing::threshold(words[c]);
    }
    return thresholds_ + first % columns;
  }

  // --- an accepted swap --------------------------------------------------------------------------------------------------

  /// Rows and columns r and s of B' change places. O(n).
  void swap_locations(std::int32_t r, std::int32_t s) {
    for (auto& b : b_) {
      std::swap_ranges(row(b, r), row(b, r) + n_, row(b, s));
      for (std::int32_t i = 0; i < n_; ++i) std::swap(row(b, i)[r], row(b, i)[s]);
    }
  }

  /// All deltas, after r and s have swapped: right for pairs without r and s (qap::delta_change). Two differences, a product and a sum
  /// an element and side.
  void add_products(std::int32_t r, std::int32_t s) {
    for (int side = 0; side < T::sides; ++side) {
      const Entry *const a_r = row(a_[side], r), *const a_s = row(a_[side], s), *const b_r = row(b_[side], r),
                         *const b_s = row(b_[side], s);
      for (std::int32_t x = 0; x < n_; ++x) {
        d_[side][x] = (static_cast<Word>(a_r[x]) - static_cast<Word>(a_s[x])) * (T::sides == 1 ? 2 : 1);
        e_[side][x] = static_cast<Word>(b_r[x]) - static_cast<Word>(b_s[x]);
      }
    }
    for (std::int32_t i = 0; i < n_ - 1; ++i) {
      if (i == r || i == s) continue;
      Delta* const values = deltas(i);
      for (int side = 0; side < T::sides; ++side) {
        const Word *const d = d_[side].data(), *const e = e_[side].data();
        const Word d_i = d[i], e_i = e[i];
#pragma omp simd aligned(values, d, e : 64)
        for (std::int32_t j = rounded_down(i + 1); j < width_; ++j)
          values[j] = static_cast<Delta>(static_cast<Word>(values[j]) + (d_i - d[j]) * (e[j] - e_i));
      }
    }
  }

  /// The deltas of pairs with r or s, from scratch: O(n) each. That of (r, s) itself leads back.
  void remake_deltas(std::int32_t r, std::int32_t s) {
    const Delta back = -delta(r, s);
    for (std::int32_t j = 0; j < n_; ++j) {
      if (j != r) delta(r, j) = from_scratch(r, j);
      if (j != s) delta(s, j) = from_scratch(s, j);
    }
    delta(r, s) = back;
  }

  /// With v = e_x - e_y the sum of (A v)'(B' v) over the sides, up to its sign, and (v'A v)(v'B' v) for the terms that meet twice.
  [[nodiscard]] Delta from_scratch(std::int32_t x, std::int32_t y) const {
    Delta sum = 0;
    for (int side = 0; side < T::sides; ++side) sum += products(side, x, y);
    const auto factor = [&](const Aligned<Entry>& matrix) {
      const Entry *const row_x = row(matrix, x), *const row_y = row(matrix, y);
      return qap::pair_factor<Delta>(row_x[x], row_y[y], row_x[y], row_y[x]);
    };
    return (T::sides == 1 ? 2 : 1) * sum + factor(a_[0]) * factor(b_[0]);
  }
  /// The sum over k of (A[x][k] - A[y][k]) (B'[y][k] - B'[x][k]). No sum of n products of differences exceeds Qap::delta_bound.
  [[nodiscard]] Delta products(int side, std::int32_t x, std::int32_t y) const {
    const Entry *const a_x = row(a_[side], x), *const a_y = row(a_[side], y), *const b_x = row(b_[side], x), *const b_y = row(b_[side], y);
    Delta sum = 0;
    for (std::int32_t k = 0; k < width_; ++k) {
      const auto of_a = static_cast<Factor>(static_cast<Factor>(a_x[k]) - static_cast<Factor>(a_y[k]));
      const auto of_b = static_cast<Factor>(static_cast<Factor>(b_y[k]) - static_cast<Factor>(b_x[k]));
      sum += static_cast<Delta>(of_a) * of_b;
    }
    return sum;
  }

  /// The 64 columns whose thresholds are there.
  struct Made {
    std::int64_t sweep;
    std::int32_t row, group;
    bool operator==(const Made&) const = default;
  };

  const qap::Qap& qap_;
  std::int32_t n_, width_;
  Aligned<Entry> a_[T::sides], b_[T::sides];  ///< A and B', n rows of `width`, padded with zeros; their transposes
  Aligned<Delta> deltas_;
  std::vector<std::ptrdiff_t> starts_;       ///< of the rows, less their first column
  Aligned<Word> d_[T::sides], e_[T::sides];  ///< A[r][.] - A[s][.], twice that where there is one side; the same of B'
  Made made_{-1, 0, 0};
  alignas(64) float thresholds_[4 * lanes];
};

template <int Sides>
std::unique_ptr<Run> prepare(const qap::Qap& qap, const annealing::Task& task) {
  if (qap.narrow() && fit(qap, 16)) return prepare_cpu<DeltaMatrix<Types<std::int16_t, std::int16_t, std::int32_t, Sides>>>(qap, task);
  if (qap.narrow() && fit(qap, 32)) return prepare_cpu<DeltaMatrix<Types<std::int32_t, std::int32_t, std::int32_t, Sides>>>(qap, task);
  return prepare_cpu<DeltaMatrix<Types<std::int32_t, std::int64_t, std::int64_t, Sides>>>(qap, task);
}

}  // namespace

std::unique_ptr<Run> prepare_delta_matrix(const Case& c, const Instance& instance) {
  const auto& qap = dynamic_cast<const qap::Qap&>(instance);
  return qap.symmetric() ? prepare<1>(qap, task_of(c)) : prepare<2>(qap, task_of(c));
}

}  // namespace vicinity::sa
