#pragma once
// cpu-openmp on the PPP: all flips of K signs of a permuted perceptron by counting.
//
// The rows of A are grouped by their product with the signs. In a group with product v, a row in which j of the K flipped entries are
// positive (entry times sign) gets the product v + 2K - 4j. So the new histogram, and with it z, follows from how many rows of each group
// have which j:
//   K = 1: a column's count adds up the group's rows, a byte a column and a masked addition a row and vector;
//   K > 1: from counts of ones in columns of bits, one bit a row of A, in words that hold rows of one group only. K = 2 takes one `and` and
//          one count of ones a word and pair; K = 3 follows by inclusion and exclusion.
//
// Data layout: words and counts by blocks of `lanes` columns, so that a block stays in the first-level cache while several rows of moves
// are evaluated. Rows of moves: K = 1 a run of columns, K = 2 the first column, K = 3 the first two.
//
// Phases: begin() and moved() update the products and group the rows again, and for K > 1 make the words in O(m n) on one thread; scan()
// evaluates.
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

/// Adds the bits of `value` to the columns whose bit in `which` is set.
VICINITY_HD void or_where(std::uint64_t which, std::int32_t value, Columns& word) {
#if defined(__AVX512BW__)
  const auto before = reinterpret_cast<__m512i>(word);
  word = reinterpret_cast<Columns>(_mm512_mask_or_epi32(before, static_cast<__mmask16>(which), before, _mm512_set1_epi32(value)));
#else
  const auto bits = []<std::size_t... I>(std::index_sequence<I...>) { return Columns{(1 << I)...}; }
  (std::make_index_sequence<columns_per_vector>{});
  word |= (((Columns{} + static_cast<std::int32_t>(which)) & bits) != 0) & value;
#endif
}

/// Adds 1 to the columns whose bit in `which` is set.
VICINITY_HD void add_where(std::uint64_t which, Bytes& counts) {
#if defined(__AVX512BW__)
  const auto before = reinterpret_cast<__m512i>(counts);
  counts = reinterpret_cast<Bytes>(_mm512_mask_sub_epi8(before, which, before, _mm512_set1_epi8(-1)));
#else
  using Words = std::uint64_t __attribute__((vector_size(vector_bytes)));
  const auto words = reinterpret_cast<Bytes>(Words{} + which);
  counts -= [&]<std::size_t... I>(std::index_sequence<I...>) {  // every byte takes the one with its bit, from its own 128 bits
    const Bytes own = __builtin_shufflevector(words, words, (I / 16 * 16 + I / 8 % 8)...), bits{static_cast<std::uint8_t>(1 << I % 8)...};
    return reinterpret_cast<Bytes>((own & bits) != 0);
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

template <int K>
class PppRows {
 public:
  using Neighborhood = local_search::PppFlip<K>;
  using Key = std::int32_t;
  /// Columns evaluated together: as many as a vector has bytes, or two vectors, which hide each other's latencies.
  static constexpr std::size_t vectors = K == 1 ? 4 : 2, lanes = columns_per_vector * vectors;
  using Block = std::array<Columns, vectors>;
  /// Of the first K - 1 columns of the moves of a row, which are the same for all of them.
  struct Fixed {
    std::array<std::vector<std::int32_t>, 2> words;  ///< [word]: bits of the first and the second
    std::vector<std::int32_t> positives;             ///< [group]: positive entries of both
    std::vector<std::int32_t> common;                ///< [group]: rows positive in both, K = 3
  };
  struct Scratch {
    explicit Scratch(const PppRows& rows)
        : fixed(static_cast<std::size_t>(block())), keys(static_cast<std::size_t>(block()) * rows.pitch_) {}
    std::vector<Fixed> fixed;    ///< [row of a block]
    Aligned<std::int32_t> keys;  ///< [row of a block][column]
    Aligned<Block> surplus;      ///< [bin]: rows with that product after the move, less the target
  };

  explicit PppRows(const Neighborhood& neighborhood)
      : ppp_(neighborhood.instance()),
        m_(static_cast<std::size_t>(ppp_.rows())),
        n_(static_cast<std::size_t>(ppp_.columns())),
        pitch_(divide_up(n_, lanes) * lanes),
        ones_(m_ * divide_up(n_, 64)),
        negative_(pitch_),
        order_(m_) {
    for (std::size_t c = 0; c < n_; ++c)
      for (std::size_t r = 0; r < m_; ++r) ones_[c / 64 * m_ + r] |= std::uint64_t{ppp_.view().a[c * m_ + r] > 0} << c % 64;
    for (std::int32_t v = 1; v <= ppp_.columns(); ++v) target_sum_ += ppp_.view().target[v];
  }

  [[nodiscard]] std::int64_t rows() const {
    return K == 1 ? divide_up(size(), columns_per_row) : K == 2 ? size() - 1 : moves::count<2>(size() - 1);
  }
  [[nodiscard]] std::int64_t first(std::int64_t row) const {
    if constexpr (K == 1) return start(row);
    if constexpr (K == 2) {
      const auto a = static_cast<std::int32_t>(row);
      return moves::index<2>(size(), {{a, a + 1}});
    }
    const auto [a, b] = fixed(row);
    return moves::index<3>(size(), {{a, b, b + 1}});
  }
  [[nodiscard]] std::int32_t length(std::int64_t row) const {
    return K == 1 ? std::min(columns_per_row, size() - start(row)) : size() - start(row);
  }
  [[nodiscard]] static std::int64_t block() { return K == 1 ? 1 : K == 2 ? 8 : 16; }
  [[nodiscard]] double operations() const {
    return static_cast<double>(moves::count<K>(size())) * static_cast<double>(K == 1 ? m_ : 2 * std::min(m_, 2 * n_)) / (K == 1 ? 32 : 16);
  }
  [[nodiscard]] static std::int64_t bits() { return 32; }
  /// Keys are values of z.
  [[nodiscard]] static std::int64_t base(const SearchState<Neighborhood>&) { return 0; }

  void begin(const SearchState<Neighborhood>& state, const Interruption&) {
    for (std::size_t c = 0; c < n_; ++c) negative_[c] = state.solution()[c] < 0 ? -1 : 0;
    products_ = ppp::products(ppp_, state.solution());
    group_rows();
  }
  void moved(const SearchState<Neighborhood>& state, const local_search::Choice& choice) {
    for (const std::int32_t column : moves::at<K>(size(), choice.move).at) {
      const auto c = static_cast<std::size_t>(column);
      const std::int8_t* a = ppp_.view().a + c * m_;
      const std::int32_t twice = 2 * state.solution()[c];
      negative_[c] = ~negative_[c];
      for (std::size_t r = 0; r < m_; ++r) products_[r] += twice * a[r];
    }
    group_rows();
  }

  template <class Visit>
  void scan(const SearchState<Neighborhood>&, std::int64_t first, std::int64_t last, Scratch& scratch, const Visit& visit) const {
    const auto rows = static_cast<std::size_t>(last - first);
    const auto start_of = [&](std::size_t r) { return static_cast<std::size_t>(start(first + static_cast<std::int64_t>(r))); };
    std::size_t least = n_;
    for (std::size_t r = 0; r < rows; ++r) {
      set_fixed(fixed(first + static_cast<std::int64_t>(r)), scratch.fixed[r]);
      least = std::min(least, start_of(r));
    }
    scratch.surplus.resize(target_.size());
    for (std::size_t c = least / lanes * lanes; c < n_; c += lanes)
      for (std::size_t r = 0; r < rows; ++r)
        if (const std::size_t start = start_of(r);
            c + lanes > start && c < start + static_cast<std::size_t>(length(first + static_cast<std::int64_t>(r))))
          evaluate(scratch.fixed[r], c, scratch.surplus.data(), &scratch.keys[r * pitch_ + c]);
    for (std::size_t r = 0; r < rows; ++r) {
      const std::int64_t row = first + static_cast<std::int64_t>(r);
      visit(row, &scratch.keys[r * pitch_ + start_of(r)]);
    }
  }

 private:
  static constexpr std::int32_t columns_per_row = 128;  ///< K = 1

  /// The rows of A with one product.
  struct Group {
    std::int32_t product, rows;
    std::size_t bin;        ///< of the product in target_
    std::size_t first_row;  ///< in order_
    std::size_t first_word, last_word;
  };

  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(n_); }
  [[nodiscard]] std::array<std::int32_t, 2> fixed(std::int64_t row) const {
    if constexpr (K == 3) {
      const auto pair = moves::at<2>(size() - 1, row);
      return {pair.at[0], pair.at[1]};
    }
    return {static_cast<std::int32_t>(row), static_cast<std::int32_t>(row)};
  }
  /// The least last column of the row's moves.
  [[nodiscard]] std::int32_t start(std::int64_t row) const {
    return K == 1 ? static_cast<std::int32_t>(row) * columns_per_row : fixed(row)[1] + 1;
  }
  [[nodiscard]] std::int32_t target(std::int32_t product) const {
    return product < 1 || product > size() ? 0 : ppp_.view().target[product];
  }

  /// Element of words_ or positives_ that belongs to word or group `k` and column `c`.
  [[nodiscard]] static std::size_t element(std::size_t count, std::size_t k, std::size_t c) {
    return (c / lanes * count + k) * lanes + c % lanes;
  }

  /// Sets the groups, and for K > 1 their words and counts. Products have the parity of n, before and after a move.
  void group_rows() {
    const auto [low, high] = std::minmax_element(products_.begin(), products_.end());
    const std::int32_t least = *low - 2 * K, most = *high + 2 * K;
    target_.clear();
    unreachable_sum_ = target_sum_;
    for (std::int32_t v = least; v <= most; v += 2) {
      target_.push_back(target(v));
      unreachable_sum_ -= target_.back();
    }
    first_counted_ = least < 1 ? static_cast<std::size_t>((2 - least) / 2) : 0;
    std::vector<std::size_t> ends(target_.size() + 1);  // of the bins before, then of the bin itself
    for (const std::int32_t product : products_) ++ends[static_cast<std::size_t>((product - least) / 2) + 1];
    for (std::size_t bin = 1; bin < ends.size(); ++bin) ends[bin] += ends[bin - 1];
    groups_.clear();
    word_count_ = 0;
    for (std::size_t bin = 0; bin + 1 < ends.size(); ++bin) {
      const std::size_t members = ends[bin + 1] - ends[bin], words = K == 1 ? 0 : divide_up(members, 32);
      if (members == 0) continue;
      groups_.push_back({least + 2 * static_cast<std::int32_t>(bin), static_cast<std::int32_t>(members), bin, ends[bin], word_count_,
                         word_count_ + words});
      word_count_ += words;
    }
    for (std::size_t r = 0; r < m_; ++r) order_[ends[static_cast<std::size_t>((products_[r] - least) / 2)]++] = r;
    if constexpr (K == 1) return;
    words_.resize(word_count_ * pitch_);
    positives_.resize(groups_.size() * pitch_);
    for (std::size_t c = 0; c < n_; c += lanes)
      for (std::size_t g = 0; g < groups_.size(); ++g) set_words(g, c);
  }
  /// Words and counts of a group's positive entries in the block of columns from c on.
  void set_words(std::size_t g, std::size_t c) {
    const Group& group = groups_[g];
    Block count{};
    for (std::size_t w = group.first_word; w < group.last_word; ++w) {
      const std::size_t first = 32 * (w - group.first_word),
                        members = std::min<std::size_t>(32, static_cast<std::size_t>(group.rows) - first);
      Block word{};
      for (std::size_t k = 0; k < members; ++k) {
        const std::uint64_t bits = ones_[c / 64 * m_ + order_[group.first_row + first + k]] >> c % 64;
        for (std::size_t v = 0; v < vectors; ++v) or_where(bits >> columns_per_vector * v, static_cast<std::int32_t>(1u << k), word[v]);
      }
      for (std::size_t v = 0; v < vectors; ++v) {
        word[v] ^= load_columns(&negative_[c + columns_per_vector * v]) & static_cast<std::int32_t>(~0u >> (32 - members));
        count[v] += ones_of(word[v]);
      }
      std::memcpy(&words_[element(word_count_, w, c)], &word, sizeof word);
    }
    std::memcpy(&positives_[element(groups_.size(), g, c)], &count, sizeof count);
  }

  void set_fixed(const std::array<std::int32_t, 2>& columns, Fixed& fixed) const {
    if constexpr (K == 1) return;
    for (std::size_t t = 0; t < K - 1; ++t) {
      fixed.words[t].resize(word_count_);
      for (std::size_t w = 0; w < word_count_; ++w)
        fixed.words[t][w] = words_[element(word_count_, w, static_cast<std::size_t>(columns[t]))];
    }
    fixed.positives.assign(groups_.size(), 0);
    fixed.common.assign(groups_.size(), 0);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      for (std::size_t t = 0; t < K - 1; ++t)
        fixed.positives[g] += positives_[element(groups_.size(), g, static_cast<std::size_t>(columns[t]))];
      if constexpr (K == 3)
        for (std::size_t w = groups_[g].first_word; w < groups_[g].last_word; ++w)
          fixed.common[g] += std::popcount(static_cast<std::uint32_t>(fixed.words[0][w] & fixed.words[1][w]));
    }
  }

  /// z of the moves that flip the fixed columns and one column of the block from c on.
  [[gnu::noinline]] void evaluate(const Fixed& fixed, std::size_t c, Block* surplus, std::int32_t* keys) const {
    for (std::size_t bin = 0; bin < target_.size(); ++bin) surplus[bin].fill(Columns{} - target_[bin]);
    Block cost;
    cost.fill(Columns{} + unreachable_sum_);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const Group& group = groups_[g];
      const std::array<Block, K + 1> counts = count(fixed, g, c);
      for (std::size_t j = 0; j <= K; ++j)  // a row with j positive entries moves K - 2j bins up
        for (std::size_t v = 0; v < vectors; ++v) surplus[group.bin + K - 2 * j][v] += counts[j][v];
      if (group.product >= 2 * K) continue;  // none becomes negative
      for (std::size_t j = 0; j <= K; ++j)
        for (std::size_t v = 0; v < vectors; ++v)
          cost[v] += ppp::sign_cost(group.product + 2 * K - 4 * static_cast<std::int32_t>(j)) * counts[j][v];
    }
    for (std::size_t bin = first_counted_; bin < target_.size(); ++bin)
      for (std::size_t v = 0; v < vectors; ++v) cost[v] += surplus[bin][v] < 0 ? -surplus[bin][v] : surplus[bin][v];
    std::memcpy(keys, &cost, sizeof cost);
  }

  /// Positive entries of a group's rows in each column of the block from c on.
  VICINITY_HD Block positive_entries(const Group& group, std::size_t c) const {
    constexpr std::size_t most = 255;  // that a byte holds
    std::array<std::int32_t, lanes> counts{};
    const auto last = group.first_row + static_cast<std::size_t>(group.rows);
    for (std::size_t first = group.first_row; first < last; first += most) {
      Bytes bytes{};
      for (std::size_t k = first; k < std::min(last, first + most); ++k) add_where(ones_[c / 64 * m_ + order_[k]] >> c % 64, bytes);
      std::array<std::uint8_t, lanes> few;
      std::memcpy(few.data(), &bytes, sizeof bytes);
#pragma omp simd
      for (std::size_t lane = 0; lane < lanes; ++lane) counts[lane] += few[lane];
    }
    Block sum;
    for (std::size_t v = 0; v < vectors; ++v) {  // where the sign is -1, the others are positive
      const Columns negative = load_columns(&negative_[c + columns_per_vector * v]);
      sum[v] = (load_columns(&counts[columns_per_vector * v]) ^ negative) - negative + (negative & group.rows);
    }
    return sum;
  }
  /// [j]: rows of a group with j positive entries among the fixed columns and one of the block from c on.
  VICINITY_HD std::array<Block, K + 1> count([[maybe_unused]] const Fixed& fixed, std::size_t g, std::size_t c) const {
    const Group& group = groups_[g];
    if constexpr (K == 1) {
      std::array<Block, 2> counts;
      counts[1] = positive_entries(group, c);
      for (std::size_t v = 0; v < vectors; ++v) counts[0][v] = group.rows - counts[1][v];
      return counts;
    }
    const std::int32_t *words = &words_[element(word_count_, 0, c)], *positives = &positives_[element(groups_.size(), g, c)];
    Block all{}, pairs{};  // rows positive in all K; for K = 3, in one of the fixed columns and the last, summed
    for (std::size_t w = group.first_word; w < group.last_word; ++w)
      for (std::size_t v = 0; v < vectors; ++v) {
        const Columns last = load_columns(words + w * lanes + columns_per_vector * v), one = Columns{} + fixed.words[0][w];
        if constexpr (K == 2) all[v] += ones_of(one & last);
        if constexpr (K == 3) {
          const Columns two = Columns{} + fixed.words[1][w];
          all[v] += ones_of(one & two & last);
          pairs[v] += ones_of(one & last) + ones_of(two & last);
        }
      }
    std::array<Block, K + 1> counts;
    for (std::size_t v = 0; v < vectors; ++v) {
      const Columns last = load_columns(positives + columns_per_vector * v);
      if constexpr (K == 2) {
        counts[2][v] = all[v];
        counts[1][v] = last + fixed.positives[g] - 2 * all[v];
        counts[0][v] = group.rows - all[v] - counts[1][v];
      } else {  // inclusion and exclusion
        const Columns twos = pairs[v] + fixed.common[g];
        counts[3][v] = all[v];
        counts[2][v] = twos - 3 * all[v];
        counts[1][v] = last + fixed.positives[g] - 2 * twos + 3 * all[v];
        counts[0][v] = group.rows - counts[1][v] - counts[2][v] - all[v];
      }
    }
    return counts;
  }

  const ppp::Ppp& ppp_;
  std::size_t m_, n_, pitch_;
  std::vector<std::uint64_t> ones_;     ///< [64 columns][row]: bits of the entries that are 1
  Aligned<std::int32_t> negative_;      ///< [column]: -1 where the sign is, else 0
  std::vector<std::int32_t> products_;  ///< [row]: A V
  std::vector<std::size_t> order_;      ///< rows, group by group
  std::vector<Group> groups_;           ///< by ascending product
  std::vector<std::int32_t> target_;    ///< [bin]: of products from 2K below the least to 2K above the largest, in steps of 2
  std::size_t first_counted_ = 0;       ///< the bin of the least positive product: only those count
  std::size_t word_count_ = 0;
  Aligned<std::int32_t> words_;       ///< [block of columns][word][column]: bits of rows of one group
  Aligned<std::int32_t> positives_;   ///< [block of columns][group][column]: positive entries
  std::int32_t target_sum_ = 0;       ///< of all counts of the target
  std::int32_t unreachable_sum_ = 0;  ///< of the counts of products that no neighbour has
};

}  // namespace vicinity::lsm
