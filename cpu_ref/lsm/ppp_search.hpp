#pragma once
// cpu-openmp on the PPP: flips of K signs by bounds.
//
// No bin of the histogram adds less than zero to z. The sign part, which is left then, varies far more among moves than what the histogram
// adds, so that as a bound it leaves a few moves that may be the best. A row of A whose product is s gets s + 2K - 4j, where j of its K
// flipped entries are positive (entry times sign). Written by Newton's forward differences of f(j) = sign_cost(s + 2K - 4j), the sign part
// of a move is
//   sum f(0) + sum over its columns of D1 + sum over its pairs of columns of D2 + sum over its three columns of D3,
// each over the rows in which all these columns have positive entries. D1 is zero unless a product is below 2K, D2 and D3 unless it is near
// zero. So columns have sums, and the few rows with one D2 or D3 are words of bits a column, whose ones count.
//
// Data layout: words and sums by column, side by side for vectors. Rows of moves: K = 1 a run of columns, K = 2 the first column, K = 3 the
// first two.
//
// Phases of an iteration:
//   1. Threads take rows of moves: the least bound of each row, of all its moves and of those that are not tabu.
//   2. The least of these, what the histogram adds now and a step of the sign part are the limit. Threads take the rows with bounds up to
//      it: these moves are evaluated whole. If the best lies above the limit, it is the next one.
//   3. moved() updates the products; sums and words are made anew, by one thread.
// Synchronisation: two parallel regions an iteration. Cost: some instructions a vector of moves and word; O(m + n) for each move that is
// left, a dozen on instances of 1301 rows; O(n) for each row with a product below 2K.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

#include "core/problems/ppp/flip.hpp"
#include "core/util/hd.hpp"
#include "core/util/math.hpp"
#include "core/util/vector_bytes.hpp"
#include "cpu_ref/lsm/row_search.hpp"
#include "cpu_ref/lsm/run.hpp"
#include "cpu_ref/run/aligned.hpp"

#pragma GCC diagnostic ignored "-Wpsabi"  // everything here is inlined: no vector crosses a call

namespace vicinity::lsm {

/// A 32-bit number a column, or a byte: as wide as the vectors of the processor.
using Columns = std::int32_t __attribute__((vector_size(vector_bytes)));
inline constexpr std::size_t columns_per_vector = vector_bytes / 4;
using Bytes = std::uint8_t __attribute__((vector_size(vector_bytes)));

VICINITY_HD Columns load_columns(const std::int32_t* from) {
  Columns value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// `value` in the columns whose bit in `which` is set, else 0.
VICINITY_HD Columns value_where(std::uint64_t which, std::int32_t value) {
#if defined(__AVX512BW__)
  return reinterpret_cast<Columns>(_mm512_maskz_set1_epi32(static_cast<__mmask16>(which), value));
#else
  const auto bits = []<std::size_t... I>(std::index_sequence<I...>) { return Columns{(1 << I)...}; }
  (std::make_index_sequence<columns_per_vector>{});
  return (((Columns{} + static_cast<std::int32_t>(which)) & bits) != 0) & value;
#endif
}

/// The same of bytes.
VICINITY_HD Bytes byte_where(std::uint64_t which, std::uint8_t value) {
#if defined(__AVX512BW__)
  return reinterpret_cast<Bytes>(_mm512_maskz_set1_epi8(which, static_cast<char>(value)));
#else
  using Words = std::uint64_t __attribute__((vector_size(vector_bytes)));
  const auto words = reinterpret_cast<Bytes>(Words{} + which);
  return [&]<std::size_t... I>(std::index_sequence<I...>) {  // every byte takes the one with its bit, from its own 128 bits
    const Bytes own = __builtin_shufflevector(words, words, (I / 16 * 16 + I / 8 % 8)...), bits{static_cast<std::uint8_t>(1 << I % 8)...};
    return reinterpret_cast<Bytes>((own & bits) != 0) & value;
  }
  (std::make_index_sequence<vector_bytes>{});
#endif
}

/// Ones of each column's bits.
VICINITY_HD Columns ones_of(const Columns& bits) {
#if defined(__AVX512VPOPCNTDQ__) && defined(__AVX512BW__)
  return reinterpret_cast<Columns>(_mm512_popcnt_epi32(reinterpret_cast<__m512i>(bits)));
#else
  using Words = std::uint32_t __attribute__((vector_size(vector_bytes)));
  auto word = reinterpret_cast<Words>(bits);
  word -= word >> 1 & 0x55555555u;
  word = (word & 0x33333333u) + (word >> 2 & 0x33333333u);
  word = (word + (word >> 4)) & 0x0F0F0F0Fu;
  word += word >> 8;
  return reinterpret_cast<Columns>((word + (word >> 16)) & 0x3Fu);
#endif
}

/// The rows of moves of K flips of n signs, in the order of their numbers.
template <int K>
class PppMoveRows {
 public:
  explicit PppMoveRows(std::int32_t n) : n_(n) {}

  /// What all moves of a row flip, which are the first K - 1 of {a, b}, or of K = 2 the same twice; the least last column of its moves, and
  /// their number.
  struct Row {
    std::int32_t a, b, start, length;
  };

  [[nodiscard]] std::int64_t rows() const { return K == 1 ? divide_up(n_, columns_per_row) : K == 2 ? n_ - 1 : moves::count<2>(n_ - 1); }
  [[nodiscard]] Row row(std::int64_t number) const {
    const auto k = static_cast<std::int32_t>(number);
    if constexpr (K == 1) return {0, 0, k * columns_per_row, std::min(columns_per_row, n_ - k * columns_per_row)};
    if constexpr (K == 2) return {k, k, k + 1, n_ - (k + 1)};
    const auto [a, b] = moves::at<2>(n_ - 1, number).at;
    return {a, b, b + 1, n_ - (b + 1)};
  }
  [[nodiscard]] static moves::Move<K> move(const Row& row, std::int32_t last) {
    if constexpr (K == 1) return {{last}};
    if constexpr (K == 2) return {{row.a, last}};
    if constexpr (K == 3) return {{row.a, row.b, last}};
  }
  [[nodiscard]] std::int64_t first(std::int64_t number) const {
    const Row row = this->row(number);
    return moves::index<K>(n_, move(row, row.start));
  }

 private:
  static constexpr std::int32_t columns_per_row = 128;  ///< K = 1

  std::int32_t n_;
};

template <int K>
class PppSearch {
 public:
  using Neighborhood = local_search::PppFlip<K>;
  using State = SearchState<Neighborhood>;

  PppSearch(const Neighborhood& neighborhood, int threads, const Slice& slice)
      : neighborhood_(neighborhood),
        ppp_(neighborhood.instance()),
        m_(static_cast<std::size_t>(ppp_.rows())),
        n_(static_cast<std::size_t>(ppp_.columns())),
        pitch_(divide_up(n_, columns_per_vector) * columns_per_vector),
        rows_(ppp_.columns()),
        first_row_(row_from(rows_, slice.first_of(neighborhood.moves()))),
        last_row_(row_from(rows_, slice.last_of(neighborhood.moves()))),
        tabu_(rows_.rows()),
        policy_{useful_threads(operations() / slice.count, static_cast<double>(threads)), 32},
        ones_(m_ * divide_up(n_, 64)),
        negative_(pitch_),
        column_sums_(pitch_),
        bins_(m_),
        least_(static_cast<std::size_t>(rows_.rows())),
        scratch_(static_cast<std::size_t>(policy_.threads), Scratch{Aligned<std::int32_t>(pitch_), std::vector<std::int32_t>(m_), {}, {}}) {
    for (std::int32_t v = 1; v <= ppp_.columns(); ++v) target_sum_ += ppp_.view().target[v];
    for (std::size_t c = 0; c < n_; ++c)
      for (std::size_t r = 0; r < m_; ++r) ones_[r * divide_up(n_, 64) + c / 64] |= std::uint64_t{ppp_.view().a[c * m_ + r] > 0} << c % 64;
  }

  void begin(const State& state, const Interruption&) {
    tabu_.clear();
    for (std::size_t c = 0; c < n_; ++c) negative_[c] = state.solution()[c] < 0 ? -1 : 0;
    products_ = ppp::products(ppp_, state.solution());
    make_sums();
  }
  [[nodiscard]] local_search::Choice choose(const State& state, const Interruption& interruption) {
    static_cast<void>(for_each(last_row_ - first_row_, interruption, [&](std::int64_t k, Scratch& scratch, Best&) {
      least_[static_cast<std::size_t>(first_row_ + k)] = least_of(state, first_row_ + k, scratch);
    }));
    Least least;
    for (std::int64_t row = first_row_; row < last_row_; ++row) {
      least.free = std::min(least.free, least_[static_cast<std::size_t>(row)].free);
      least.all = std::min(least.all, least_[static_cast<std::size_t>(row)].all);
    }
    if (least.all == Best::none) return {};  // no moves in this slice
    const auto beyond = static_cast<std::int32_t>(state.value()) - sign_part_ + step;
    bool forbidden = false;
    // Without a move that is free, a tabu one may be better than the best known solution, or else the least of them is taken.
    Best best = least.free == Best::none ? best_up_to(static_cast<std::int32_t>(state.best_value()) - 1, state, false, interruption)
                                         : best_within(least.free + beyond, state, false, interruption);
    if (best.key == Best::none) {
      forbidden = true;
      best = best_within(least.all + beyond, state, true, interruption);
    }
    chosen_ = best;
    return {best.key, rows_.first(best.row) + best.column, forbidden};
  }
  void moved(const State& state, const local_search::Choice& choice) {
    const bool own = chosen_.key != Best::none && choice.move == rows_.first(chosen_.row) + chosen_.column;
    if (own && state.is_tabu_search())
      tabu_.add(chosen_.row, chosen_.column, static_cast<std::int32_t>(local_search::tabu_until(state.iteration() - 1, state.tenure())));
    for (const std::int32_t flipped : moves::at<K>(ppp_.columns(), choice.move).at) {
      const auto c = static_cast<std::size_t>(flipped);
      const std::int8_t* a = ppp_.view().a + c * m_;
      const std::int32_t twice = 2 * state.solution()[c];
      negative_[c] = ~negative_[c];
      for (std::size_t r = 0; r < m_; ++r) products_[r] += twice * a[r];
    }
    make_sums();
  }
  [[nodiscard]] Policy policy() const { return policy_.record(); }
  [[nodiscard]] Work work(std::int64_t neighborhood_evaluations) const {
    return cpu_work(neighborhood_, neighborhood_evaluations, policy_.threads);
  }

 private:
  using Best = BestMove<std::int32_t>;
  using Row = typename PppMoveRows<K>::Row;
  /// Of a row of moves: the least bound of all of them, and of those that are not tabu.
  struct Least {
    std::int32_t free = Best::none, all = Best::none;
  };
  static constexpr std::int32_t step = 2 * ppp::sign_weight;  ///< of sign parts
  /// A row of A whose D1 is not zero.
  struct SteepRow {
    std::size_t row;
    std::uint8_t steps;  ///< D1
  };
  /// The rows of A with one D2 or D3: `weight` for each, where `order` columns have positive entries.
  struct Class {
    int order;
    std::int32_t weight;
    std::vector<std::size_t> rows;
    std::size_t first_word, last_word;
  };
  /// Of a thread.
  struct Scratch {
    Aligned<std::int32_t> bounds;      ///< [column]
    std::vector<std::int32_t> bins;    ///< [row]: after a move
    std::vector<std::int32_t> counts;  ///< [copy][bin]
    std::vector<std::int32_t> tabu;    ///< columns of a row
  };

  [[nodiscard]] double operations() const {
    return static_cast<double>(neighborhood_.moves()) / static_cast<double>(columns_per_vector) * (K == 1 ? 1 : K == 2 ? 16 : 64);
  }

  /// The sums and words of the products as they are.
  void make_sums() {
    constant_ = sign_part_ = 0;
    steep_rows_.clear();
    for (Class& c : classes_) c.rows.clear();
    const auto [low, high] = std::minmax_element(products_.begin(), products_.end());
    const std::int32_t least = *low - 2 * K;
    targets_.assign(static_cast<std::size_t>((*high + 2 * K - least) / 2 + 1), 0);
    first_counted_ = least < 1 ? static_cast<std::size_t>((2 - least) / 2) : 0;
    beyond_targets_ = target_sum_;
    for (std::size_t bin = first_counted_; bin < targets_.size(); ++bin) {
      const std::int32_t product = least + 2 * static_cast<std::int32_t>(bin);
      targets_[bin] = product <= ppp_.columns() ? ppp_.view().target[product] : 0;
      beyond_targets_ -= targets_[bin];
    }
    least_product_ = least;
    for (std::size_t r = 0; r < m_; ++r) bins_[r] = (products_[r] - least) / 2;
    for (std::size_t r = 0; r < m_; ++r) {
      const std::int32_t s = products_[r];
      if (s >= 2 * K) continue;
      std::array<std::int32_t, K + 1> f;
      for (int j = 0; j <= K; ++j) f[static_cast<std::size_t>(j)] = ppp::sign_cost(s + 2 * K - 4 * j);
      sign_part_ += ppp::sign_cost(s);
      constant_ += f[0];
      steep_rows_.push_back({r, static_cast<std::uint8_t>((f[1] - f[0]) / step)});
      if constexpr (K > 1) add_to_class(2, f[2] - 2 * f[1] + f[0], r);
      if constexpr (K > 2) add_to_class(3, f[3] - 3 * f[2] + 3 * f[1] - f[0], r);
    }
    for (std::size_t c = 0; c < n_; c += vector_bytes) sum_columns(c);
    std::size_t words = 0;
    for (Class& of_weight : classes_) {
      of_weight.first_word = words;
      of_weight.last_word = words += divide_up(of_weight.rows.size(), 32);
    }
    words_.resize(words * pitch_);
    for (const Class& of_weight : classes_)
      for (std::size_t w = of_weight.first_word; w < of_weight.last_word; ++w) make_word(of_weight, w);
  }
  /// D1 over the rows in which a column has a positive entry, of the columns of a vector of bytes from c on.
  void sum_columns(std::size_t c) {
    constexpr std::size_t most = 63;  // bytes hold the sum of so many: f falls by four steps at most
    std::array<std::int32_t, vector_bytes> sums{};
    std::int32_t all = 0;
    for (std::size_t first = 0; first < steep_rows_.size(); first += most) {
      Bytes few{};
      for (std::size_t k = first; k < std::min(steep_rows_.size(), first + most); ++k) {
        few += byte_where(bits(steep_rows_[k].row, c), steep_rows_[k].steps);
        all += steep_rows_[k].steps;
      }
      std::array<std::uint8_t, vector_bytes> bytes;
      std::memcpy(bytes.data(), &few, sizeof few);
      for (std::size_t lane = 0; lane < vector_bytes; ++lane) sums[lane] += bytes[lane];
    }
    for (std::size_t lane = 0; lane < std::min(vector_bytes, n_ - c); ++lane)  // where the sign is -1, the others are positive
      column_sums_[c + lane] = step * (negative_[c + lane] != 0 ? all - sums[lane] : sums[lane]);
  }
  void add_to_class(int order, std::int32_t weight, std::size_t row) {
    if (weight == 0) return;
    auto of_weight = std::find_if(classes_.begin(), classes_.end(), [&](const Class& c) { return c.order == order && c.weight == weight; });
    if (of_weight == classes_.end()) of_weight = classes_.insert(of_weight, Class{order, weight, {}, 0, 0});
    of_weight->rows.push_back(row);
  }
  void make_word(const Class& of_weight, std::size_t w) {
    const std::size_t first = 32 * (w - of_weight.first_word), size = std::min<std::size_t>(32, of_weight.rows.size() - first);
    for (std::size_t c = 0; c < n_; c += columns_per_vector) {
      Columns word{};
      for (std::size_t k = 0; k < size; ++k) word |= value_where(bits(of_weight.rows[first + k], c), static_cast<std::int32_t>(1u << k));
      store(word ^ (load_columns(&negative_[c]) & static_cast<std::int32_t>(~0u >> (32 - size))), &words_[w * pitch_ + c]);
    }
  }
  /// Where row r has ones, from column c on.
  [[nodiscard]] std::uint64_t bits(std::size_t r, std::size_t c) const { return ones_[r * divide_up(n_, 64) + c / 64] >> c % 64; }
  static void store(const Columns& value, std::int32_t* to) { std::memcpy(to, &value, sizeof value); }

  /// The bounds of a row of moves into scratch.bounds, by their last column; from a whole vector on.
  [[gnu::noinline]] void make_bounds(const Row& row, Scratch& scratch) const {
    const auto a = static_cast<std::size_t>(row.a), b = static_cast<std::size_t>(row.b);
    std::int32_t base = constant_;
    if constexpr (K > 1) base += column_sums_[a];
    if constexpr (K > 2) {
      base += column_sums_[b];
      for (const Class& of_weight : classes_)
        for (std::size_t w = of_weight.first_word; of_weight.order == 2 && w < of_weight.last_word; ++w)
          base += of_weight.weight * std::popcount(static_cast<std::uint32_t>(words_[w * pitch_ + a] & words_[w * pitch_ + b]));
    }
    const auto start = static_cast<std::size_t>(row.start), end = start + static_cast<std::size_t>(row.length);
    for (std::size_t c = start / columns_per_vector * columns_per_vector; c < end; c += columns_per_vector) {
      Columns bound = load_columns(&column_sums_[c]) + base;
      for (const Class& of_weight : classes_) {
        Columns count{};
        for (std::size_t w = of_weight.first_word; w < of_weight.last_word; ++w) {
          const std::int32_t* word = &words_[w * pitch_];
          const Columns last = load_columns(word + c);
          if (K == 3 && of_weight.order == 2)
            count += ones_of(last & word[a]) + ones_of(last & word[b]);
          else
            count += ones_of(last & (word[a] & word[b]));
        }
        bound += count * of_weight.weight;
      }
      store(bound, &scratch.bounds[c]);
    }
  }
  [[nodiscard]] Least least_of(const State& state, std::int64_t number, Scratch& scratch) {
    const Row row = rows_.row(number);
    make_bounds(row, scratch);
    std::int32_t* bounds = &scratch.bounds[static_cast<std::size_t>(row.start)];
    Least least;
    least.free = least.all = minimum(bounds, row.length);
    bool any = false;
    tabu_.for_each_tabu(number, state.iteration(), [&](std::int32_t column) {
      bounds[column] = Best::none;
      any = true;
    });
    if (any) least.free = minimum(bounds, row.length);
    return least;
  }
  /// z after a move. Rows that follow each other are counted in different copies, since many have the same product.
  [[gnu::noinline]] std::int32_t evaluate(const moves::Move<K>& move, const ppp::Signs& signs, Scratch& scratch) const {
    constexpr std::size_t copies = 4;
    std::int32_t* bins = scratch.bins.data();
    std::copy(bins_.begin(), bins_.end(), bins);
    for (const std::int32_t column : move.at) {
      const std::int8_t* a = ppp_.view().a + static_cast<std::size_t>(column) * m_;
      const std::int32_t sign = signs[static_cast<std::size_t>(column)];
#pragma omp simd
      for (std::size_t r = 0; r < m_; ++r) bins[r] -= a[r] * sign;
    }
    const std::size_t size = targets_.size();
    scratch.counts.assign(copies * size, 0);
    std::int32_t* counts = scratch.counts.data();
    std::size_t r = 0;
    for (; r + copies <= m_; r += copies)
      for (std::size_t k = 0; k < copies; ++k) ++counts[k * size + static_cast<std::size_t>(bins[r + k])];
    for (; r < m_; ++r) ++counts[static_cast<std::size_t>(bins[r])];
    std::int32_t z = beyond_targets_;
    const auto count = [&](std::size_t bin) { return counts[bin] + counts[size + bin] + counts[2 * size + bin] + counts[3 * size + bin]; };
    for (std::size_t bin = 0; bin < first_counted_; ++bin)
      z += count(bin) * ppp::sign_cost(least_product_ + 2 * static_cast<std::int32_t>(bin));
#pragma omp simd reduction(+ : z)
    for (std::size_t bin = first_counted_; bin < size; ++bin) z += std::abs(count(bin) - targets_[bin]);
    return z;
  }
  /// The best of the moves with bounds up to `limit`: of all of them (`any`), or of those that are not forbidden.
  [[nodiscard]] Best best_up_to(std::int32_t limit, const State& state, bool any, const Interruption& interruption) {
    chosen_rows_.clear();
    for (std::int64_t row = first_row_; row < last_row_; ++row)
      if (least_[static_cast<std::size_t>(row)].all <= limit) chosen_rows_.push_back(row);
    return for_each(static_cast<std::int64_t>(chosen_rows_.size()), interruption, [&](std::int64_t k, Scratch& scratch, Best& best) {
      const std::int64_t number = chosen_rows_[static_cast<std::size_t>(k)];
      const Row row = rows_.row(number);
      make_bounds(row, scratch);
      scratch.tabu.clear();
      tabu_.for_each_tabu(number, state.iteration(), [&](std::int32_t column) { scratch.tabu.push_back(column); });
      for (std::int32_t column = 0; column < row.length; ++column) {
        if (scratch.bounds[static_cast<std::size_t>(row.start + column)] > limit) continue;
        const std::int32_t z = evaluate(rows_.move(row, row.start + column), state.solution(), scratch);
        const bool tabu = std::find(scratch.tabu.begin(), scratch.tabu.end(), column) != scratch.tabu.end();
        if (!any && tabu && z >= state.best_value()) continue;
        if (const Best here{z, number, column}; here.before(best)) best = here;
      }
    });
  }
  /// The same with as high a limit as the best needs, from `limit` on.
  [[nodiscard]] Best best_within(std::int32_t limit, const State& state, bool any, const Interruption& interruption) {
    while (true) {
      const Best best = best_up_to(limit, state, any, interruption);
      if (best.key <= limit) return best;
      limit = best.key == Best::none ? limit + step : best.key;
    }
  }
  /// By threads, in eight parts each.
  template <class Work>
  [[nodiscard]] Best for_each(std::int64_t count, const Interruption& interruption, const Work& work) {
    return best_of_threads<std::int32_t>(count, std::max<std::int64_t>(1, count / (8 * policy_.threads)), scratch_, interruption, work);
  }

  const Neighborhood& neighborhood_;
  const ppp::Ppp& ppp_;
  std::size_t m_, n_, pitch_;
  PppMoveRows<K> rows_;
  std::int64_t first_row_, last_row_;  ///< of the slice
  TabuColumns tabu_;
  RowSearchPolicy policy_;
  std::vector<std::uint64_t> ones_;     ///< [row][64 columns]: bits of the entries that are 1
  Aligned<std::int32_t> negative_;      ///< [column]: -1 where the sign is, else 0
  Aligned<std::int32_t> column_sums_;   ///< [column]: of D1
  std::vector<std::int32_t> products_;  ///< [row]: A V
  std::int32_t target_sum_ = 0;         ///< of all counts of the target
  std::vector<std::int32_t> bins_;      ///< [row]: of its product, from least_product_ on, by twos; a move may reach all of them
  std::vector<std::int32_t> targets_;   ///< [bin]
  std::int32_t least_product_ = 0;      ///< of bin 0
  std::size_t first_counted_ = 0;       ///< the bin of the least positive product: only those have targets
  std::int32_t beyond_targets_ = 0;     ///< the sum of the targets of products without a bin
  std::vector<SteepRow> steep_rows_;
  std::vector<Class> classes_;
  Aligned<std::int32_t> words_;                ///< [word][column]: positive entries in 32 rows of a class
  std::int32_t constant_ = 0, sign_part_ = 0;  ///< of the sign part: the sum of f(0); as it is without a move
  std::vector<Least> least_;                   ///< [row]
  std::vector<std::int64_t> chosen_rows_;      ///< with bounds up to the limit
  std::vector<Scratch> scratch_;               ///< [thread]
  Best chosen_;                                ///< of the slice
};

}  // namespace vicinity::lsm
