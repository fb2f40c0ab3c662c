#pragma once
// All flips of K signs of a permuted perceptron by counting. Rows of A are grouped by their product; of a group with product v, a row in
// which j of the K flipped entries are positive (entry times sign) goes to v + 2K - 4j. So the new histogram, and with it z, follows from
// how many rows of each group have which j, and that from counts of ones in columns of bits, one bit a row, in words that hold
// rows of one group only: K = 2 takes one `and` and one count of ones a word and pair.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#if defined(__AVX512VPOPCNTDQ__)
#include <immintrin.h>
#endif

#include "core/neighborhoods/ppp.hpp"
#include "cpu_ref/aligned.hpp"
#include "cpu_ref/lsm/run.hpp"

#pragma GCC diagnostic ignored "-Wpsabi"  // everything here is inlined: no vector crosses a call

namespace vicinity::lsm {

/// Sixteen columns: GCC's vectors, which become whatever the processor has.
using Columns = std::int32_t __attribute__((vector_size(64)));

VICINITY_HD Columns load_columns(const std::int32_t* from) {
  Columns value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
/// Ones of each column's bits.
VICINITY_HD Columns ones_of(const Columns& bits) {
#if defined(__AVX512VPOPCNTDQ__)
  return reinterpret_cast<Columns>(_mm512_popcnt_epi32(reinterpret_cast<__m512i>(bits)));
#else
  Columns count;
  for (int lane = 0; lane < 16; ++lane) count[lane] = std::popcount(static_cast<std::uint32_t>(bits[lane]));
  return count;
#endif
}

template <int K>
class PppRows {
 public:
  using Neighborhood = local_search::PppFlip<K>;
  using Key = std::int32_t;
  /// Columns evaluated together: two vectors, which hide each other's latencies.
  static constexpr std::size_t vectors = 2, lanes = 16 * vectors;
  using Block = std::array<Columns, vectors>;
  /// What the fixed columns of a row of moves have in each word and group.
  struct Fixed {
    std::array<std::vector<std::int32_t>, 2> words;  ///< [word]: bits of the first and the second fixed column
    std::vector<std::int32_t> positives;             ///< [group]: positive entries of both
    std::vector<std::int32_t> common;                ///< [group]: rows positive in both, K = 3
  };
  struct Scratch {
    explicit Scratch(const PppRows& rows)
        : fixed(static_cast<std::size_t>(block())), keys(static_cast<std::size_t>(block()) * rows.pitch_) {}
    std::vector<Fixed> fixed;    ///< [row of a block]
    Aligned<std::int32_t> keys;  ///< [row of a block][column]
    Aligned<Block> surplus;      ///< [place]: new products of that size, less the target
  };

  explicit PppRows(const Neighborhood& neighborhood)
      : ppp_(neighborhood.instance()),
        m_(static_cast<std::size_t>(ppp_.rows())),
        n_(static_cast<std::size_t>(ppp_.columns())),
        pitch_((n_ + lanes - 1) / lanes * lanes),
        positive_(m_ * pitch_) {
    for (std::int32_t v = 1; v <= ppp_.columns(); ++v) whole_target_ += ppp_.view().target[v];
  }

  /// K = 1: one row; K = 2: the first column; K = 3: the first two.
  [[nodiscard]] std::int64_t rows() const { return K == 1 ? 1 : K == 2 ? size() - 1 : moves::count<2>(size() - 1); }
  [[nodiscard]] std::int64_t first(std::int64_t row) const {
    if constexpr (K == 1) return 0;
    if constexpr (K == 2) {
      const auto a = static_cast<std::int32_t>(row);
      return moves::index<2>(size(), {{a, a + 1}});
    }
    const auto [a, b] = fixed(row);
    return moves::index<3>(size(), {{a, b, b + 1}});
  }
  [[nodiscard]] std::int32_t length(std::int64_t row) const { return size() - start(row); }
  [[nodiscard]] static std::int64_t block() { return K == 2 ? 8 : 16; }
  [[nodiscard]] double operations() const {
    return static_cast<double>(moves::count<K>(size())) * static_cast<double>(std::min(m_, 2 * n_)) * (K == 1 ? 1 : 2) / 16;
  }
  [[nodiscard]] static std::int64_t bits() { return 32; }
  /// Keys are values of z.
  [[nodiscard]] static std::int64_t base(const Walk<Neighborhood>&) { return 0; }

  void begin(const Walk<Neighborhood>& walk) {
    const ppp::View view = ppp_.view();
    for (std::size_t c = 0; c < n_; ++c)
      for (std::size_t r = 0; r < m_; ++r) positive_[r * pitch_ + c] = view.a[c * m_ + r] == walk.solution()[c] ? 1 : 0;
    products_ = ppp::products(ppp_, walk.solution());
    group();
  }
  void moved(const Walk<Neighborhood>&, const local_search::Choice& choice) {
    for (const std::int32_t column : moves::at<K>(size(), choice.move).at)
      for (std::size_t r = 0; r < m_; ++r) {
        std::uint8_t& bit = positive_[r * pitch_ + static_cast<std::size_t>(column)];
        products_[r] += bit != 0 ? -2 : 2;
        bit ^= 1;
      }
    group();
  }

  template <class Sink>
  void scan(const Walk<Neighborhood>&, std::int64_t first, std::int64_t last, Scratch& scratch, const Sink& sink) const {
    const auto rows = static_cast<std::size_t>(last - first);
    const auto start_of = [&](std::size_t r) { return static_cast<std::size_t>(start(first + static_cast<std::int64_t>(r))); };
    std::size_t least = n_;
    for (std::size_t r = 0; r < rows; ++r) {
      prepare(fixed(first + static_cast<std::int64_t>(r)), scratch.fixed[r]);
      least = std::min(least, start_of(r));
    }
    scratch.surplus.resize(target_.size());
    for (std::size_t c = least / lanes * lanes; c < n_; c += lanes)
      for (std::size_t r = 0; r < rows; ++r)
        if (c + lanes > start_of(r)) evaluate(scratch.fixed[r], c / lanes, scratch.surplus.data(), &scratch.keys[r * pitch_ + c]);
    for (std::size_t r = 0; r < rows; ++r) {
      const std::int64_t row = first + static_cast<std::int64_t>(r);
      sink(row, &scratch.keys[r * pitch_ + start_of(r)]);
    }
  }

 private:
  /// The rows of A with one product.
  struct Group {
    std::int32_t product, rows;
    std::size_t place;  ///< of the product among all that any row may get, in steps of 2
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
  /// First column of the last place of the row's moves.
  [[nodiscard]] std::int32_t start(std::int64_t row) const { return K == 1 ? 0 : fixed(row)[1] + 1; }
  [[nodiscard]] std::int32_t target(std::int32_t product) const {
    return product < 1 || product > size() ? 0 : ppp_.view().target[product];
  }

  /// Element of words_ or positives_ that belongs to word or group `k` and column `c`.
  [[nodiscard]] static std::size_t element(std::size_t count, std::size_t k, std::size_t c) {
    return (c / lanes * count + k) * lanes + c % lanes;
  }

  /// Groups of rows, their words of bits and their counts of positive entries. Products have the parity of n, and so have the new ones.
  void group() {
    const auto [low, high] = std::minmax_element(products_.begin(), products_.end());
    const std::int32_t least = *low - 2 * K, most = *high + 2 * K;
    target_.clear();
    unreachable_target_ = whole_target_;
    for (std::int32_t v = least; v <= most; v += 2) {
      target_.push_back(target(v));
      unreachable_target_ -= target_.back();
    }
    first_counted_ = least < 1 ? static_cast<std::size_t>((2 - least) / 2) : 0;
    std::vector<std::vector<std::size_t>> members(target_.size());
    for (std::size_t r = 0; r < m_; ++r) members[static_cast<std::size_t>((products_[r] - least) / 2)].push_back(r);
    groups_.clear();
    word_count_ = 0;
    for (std::size_t place = 0; place < members.size(); ++place) {
      if (members[place].empty()) continue;
      const std::size_t taken = K == 1 ? 0 : (members[place].size() + 31) / 32;
      groups_.push_back({least + 2 * static_cast<std::int32_t>(place), static_cast<std::int32_t>(members[place].size()), place, word_count_,
                         word_count_ + taken});
      word_count_ += taken;
    }
    words_.assign(word_count_ * pitch_, 0);
    positives_.assign(groups_.size() * pitch_, 0);
    for (std::size_t g = 0; g < groups_.size(); ++g) fill(g, members[groups_[g].place]);
  }
  void fill(std::size_t g, const std::vector<std::size_t>& members) {
    for (std::size_t k = 0; k < members.size(); ++k) {
      const std::uint8_t* bits = &positive_[members[k] * pitch_];
      for (std::size_t c = 0; c < n_; c += lanes) {
        std::int32_t* positives = &positives_[element(groups_.size(), g, c)];
        for (std::size_t lane = 0; lane < lanes; ++lane) positives[lane] += bits[c + lane];
        if constexpr (K > 1) {
          std::int32_t* word = &words_[element(word_count_, groups_[g].first_word + k / 32, c)];
          for (std::size_t lane = 0; lane < lanes; ++lane)
            word[lane] |= static_cast<std::int32_t>(std::uint32_t{bits[c + lane]} << (k % 32));
        }
      }
    }
  }

  void prepare(const std::array<std::int32_t, 2>& columns, Fixed& fixed) const {
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

  /// z of the moves that flip the fixed columns and one column of a block.
  [[gnu::noinline]] void evaluate(const Fixed& fixed, std::size_t block, Block* surplus, std::int32_t* keys) const {
    for (std::size_t place = 0; place < target_.size(); ++place) surplus[place].fill(Columns{} - target_[place]);
    Block cost;
    cost.fill(Columns{} + unreachable_target_);
    const std::int32_t* words = words_.data() + block * lanes * word_count_;
    const std::int32_t* positives = positives_.data() + block * lanes * groups_.size();
    for (std::size_t g = 0; g < groups_.size(); ++g, positives += lanes) {
      const Group& group = groups_[g];
      const std::array<Block, K + 1> counts = count(group, fixed, g, words, positives);
      for (std::size_t j = 0; j <= K; ++j)  // a row with j positive entries moves K - 2j places up
        for (std::size_t v = 0; v < vectors; ++v) surplus[group.place + K - 2 * j][v] += counts[j][v];
      if (group.product >= 2 * K) continue;  // none becomes negative
      for (std::size_t j = 0; j <= K; ++j)
        for (std::size_t v = 0; v < vectors; ++v)
          cost[v] += ppp::sign_cost(group.product + 2 * K - 4 * static_cast<std::int32_t>(j)) * counts[j][v];
    }
    for (std::size_t place = first_counted_; place < target_.size(); ++place)
      for (std::size_t v = 0; v < vectors; ++v) cost[v] += surplus[place][v] < 0 ? -surplus[place][v] : surplus[place][v];
    std::memcpy(keys, &cost, sizeof cost);
  }

  /// [j]: rows of a group with j positive entries among the fixed columns and one of a block.
  VICINITY_HD std::array<Block, K + 1> count(const Group& group, const Fixed& fixed, std::size_t g, const std::int32_t* words,
                                             const std::int32_t* positives) const {
    Block all{}, pairs{};  // rows positive in all K; in one of the fixed and the other, K = 3
    for (std::size_t w = group.first_word; w < group.last_word; ++w)
      for (std::size_t v = 0; v < vectors; ++v) {
        const Columns last = load_columns(words + w * lanes + 16 * v), one = Columns{} + fixed.words[0][w];
        if constexpr (K == 2) all[v] += ones_of(one & last);
        if constexpr (K == 3) {
          const Columns two = Columns{} + fixed.words[1][w];
          all[v] += ones_of(one & two & last);
          pairs[v] += ones_of(one & last) + ones_of(two & last);
        }
      }
    std::array<Block, K + 1> counts;
    for (std::size_t v = 0; v < vectors; ++v) {
      const Columns last = load_columns(positives + 16 * v);
      if constexpr (K == 1) {
        counts[1][v] = last;
        counts[0][v] = group.rows - last;
      } else if constexpr (K == 2) {
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
  Aligned<std::uint8_t> positive_;      ///< [row][column]: is entry times sign positive?
  std::vector<std::int32_t> products_;  ///< [row]: A V
  std::vector<Group> groups_;           ///< by ascending product
  std::vector<std::int32_t> target_;    ///< [place]: of products from K places below the least to K above the largest
  std::size_t first_counted_ = 0;       ///< the place of the least positive product
  std::size_t word_count_ = 0;
  Aligned<std::int32_t> words_;          ///< [block of columns][word][column]: bits of rows of one group
  Aligned<std::int32_t> positives_;      ///< [block of columns][group][column]: positive entries
  std::int32_t whole_target_ = 0;        ///< sum of the target's counts
  std::int32_t unreachable_target_ = 0;  ///< of those no neighbour can meet
};

}  // namespace vicinity::lsm
