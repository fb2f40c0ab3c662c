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
#include <cstdlib>
#include <vector>

#include "core/neighborhoods/ppp.hpp"
#include "cpu_ref/aligned.hpp"
#include "cpu_ref/lsm/run.hpp"

namespace vicinity::lsm {

template <int K>
class PppRows {
 public:
  using Neighborhood = local_search::PppFlip<K>;
  using Key = std::int32_t;
  /// Columns evaluated together.
  static constexpr std::size_t lanes = 32;
  using Block = std::array<std::int32_t, lanes>;
  struct Scratch {
    explicit Scratch(const PppRows& rows) : keys(rows.pitch_ + lanes) {}
    Aligned<std::int32_t> keys;
    Aligned<std::array<Block, K + 1>> counts;     ///< [group + K][j]: rows of it with j positive entries
    std::vector<std::int32_t> ones;               ///< [group]: what the fixed columns have in common
    alignas(64) Block one_three, one_two, three;  ///< partial counts, K = 3
  };

  explicit PppRows(const Neighborhood& neighborhood)
      : ppp_(neighborhood.instance()),
        m_(static_cast<std::size_t>(ppp_.rows())),
        n_(static_cast<std::size_t>(ppp_.columns())),
        pitch_((n_ + 63) / 64 * 64 + 64),
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
    scratch.counts.resize(groups_.size() + 2 * K);
    for (std::size_t q = 0; q < static_cast<std::size_t>(K); ++q) scratch.counts[q] = scratch.counts[groups_.size() + 2 * K - 1 - q] = {};
    scratch.ones.resize(groups_.size());
    for (std::int64_t row = first; row < last; ++row) {
      const std::array<std::size_t, 2> columns = [&] {
        const auto two = fixed(row);
        return std::array{static_cast<std::size_t>(two[0]), static_cast<std::size_t>(two[1])};
      }();
      if constexpr (K == 3) prepare(columns, scratch);
      const auto from = static_cast<std::size_t>(start(row));
      for (std::size_t c = from; c < n_; c += lanes) evaluate(columns, c, scratch, scratch.keys.data() + (c - from));
      sink(row, scratch.keys.data());
    }
  }

 private:
  /// The rows of A whose product is `product`; those between the least and the largest product that no row has are empty groups.
  struct Group {
    std::int32_t product, rows, target;
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

  /// Groups of rows, their words of bits and their counts of positive entries. Products have the parity of n, and so have the new ones.
  void group() {
    const auto [low, high] = std::minmax_element(products_.begin(), products_.end());
    const std::int32_t least = *low, count = (*high - *low) / 2 + 1;
    std::vector<std::vector<std::size_t>> members(static_cast<std::size_t>(count));
    for (std::size_t r = 0; r < m_; ++r) members[static_cast<std::size_t>((products_[r] - least) / 2)].push_back(r);
    groups_.clear();
    std::size_t words = 0;
    unreachable_target_ = whole_target_;
    for (std::int32_t v = least - 2 * K; v <= *high + 2 * K; v += 2) unreachable_target_ -= target(v);
    for (std::size_t q = 0; q < members.size(); ++q) {
      const std::int32_t product = least + 2 * static_cast<std::int32_t>(q);
      const std::size_t taken = K == 1 ? 0 : (members[q].size() + 31) / 32;
      groups_.push_back({product, static_cast<std::int32_t>(members[q].size()), target(product), words, words + taken});
      words += taken;
    }
    words_.assign(words * pitch_, 0);
    positives_.assign(groups_.size() * pitch_, 0);
    for (std::size_t q = 0; q < groups_.size(); ++q) fill(groups_[q], members[q], &positives_[q * pitch_]);
  }
  void fill(const Group& group, const std::vector<std::size_t>& members, std::int32_t* positives) {
    for (std::size_t k = 0; k < members.size(); ++k) {
      const std::uint8_t* bits = &positive_[members[k] * pitch_];
#pragma omp simd
      for (std::size_t c = 0; c < pitch_; ++c) positives[c] += bits[c];
      if constexpr (K > 1) {
        std::uint32_t* word = &words_[(group.first_word + k / 32) * pitch_];
#pragma omp simd
        for (std::size_t c = 0; c < pitch_; ++c) word[c] |= static_cast<std::uint32_t>(bits[c]) << (k % 32);
      }
    }
  }

  /// K = 3: rows of each group that are positive in both fixed columns.
  void prepare(const std::array<std::size_t, 2>& columns, Scratch& scratch) const {
    for (std::size_t q = 0; q < groups_.size(); ++q) {
      std::int32_t& ones = scratch.ones[q] = 0;
      for (std::size_t w = groups_[q].first_word; w < groups_[q].last_word; ++w)
        ones += std::popcount(words_[w * pitch_ + columns[0]] & words_[w * pitch_ + columns[1]]);
    }
  }

  /// z of the moves that flip the fixed columns and column c, c + 1, ...
  void evaluate(const std::array<std::size_t, 2>& columns, std::size_t c, Scratch& scratch, std::int32_t* keys) const {
    alignas(64) Block cost;
    cost.fill(unreachable_target_);
    for (std::size_t q = 0; q < groups_.size(); ++q) {
      const Group& group = groups_[q];
      std::array<Block, K + 1>& counts = scratch.counts[q + K];
      if (group.rows == 0) {
        counts = {};
        continue;
      }
      count(q, columns, c, scratch, counts);
      if (group.product >= 2 * K) continue;  // none becomes negative
      for (int j = 0; j <= K; ++j) {
        const std::int32_t weight = ppp::sign_cost(group.product + 2 * K - 4 * j);
        const Block& rows = counts[static_cast<std::size_t>(j)];
#pragma omp simd
        for (std::size_t lane = 0; lane < lanes; ++lane) cost[lane] += weight * rows[lane];
      }
    }
    // A row with j positive entries moves K - 2j groups up.
    const auto groups = static_cast<std::int32_t>(groups_.size());
    for (std::int32_t to = -K; to < groups + K; ++to) {
      const std::int32_t product = groups_.front().product + 2 * to;
      if (product < 1) continue;
      alignas(64) Block surplus;
      surplus.fill(-(0 <= to && to < groups ? groups_[static_cast<std::size_t>(to)].target : target(product)));
      for (int j = 0; j <= K; ++j) {
        const std::int32_t from = to - (K - 2 * j);
        if (from < -K || from >= groups + K) continue;
        const Block& rows = scratch.counts[static_cast<std::size_t>(from + K)][static_cast<std::size_t>(j)];
#pragma omp simd
        for (std::size_t lane = 0; lane < lanes; ++lane) surplus[lane] += rows[lane];
      }
#pragma omp simd
      for (std::size_t lane = 0; lane < lanes; ++lane) cost[lane] += std::abs(surplus[lane]);
    }
    std::copy(cost.begin(), cost.end(), keys);
  }

  /// Rows of group q with j positive entries among the fixed columns and c + lane.
  void count(std::size_t q, const std::array<std::size_t, 2>& columns, std::size_t c, Scratch& scratch,
             std::array<Block, K + 1>& counts) const {
    const Group& group = groups_[q];
    const std::int32_t* positives = &positives_[q * pitch_];
    const std::int32_t* last = positives + c;
    if constexpr (K == 1) {
#pragma omp simd
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        counts[1][lane] = last[lane];
        counts[0][lane] = group.rows - last[lane];
      }
    } else if constexpr (K == 2) {
      const std::int32_t first = positives[columns[0]];
      Block& both = counts[2];
      both.fill(0);
      for (std::size_t w = group.first_word; w < group.last_word; ++w) {
        const std::uint32_t* word = &words_[w * pitch_];
        const std::uint32_t own = word[columns[0]];
#pragma omp simd
        for (std::size_t lane = 0; lane < lanes; ++lane) both[lane] += std::popcount(own & word[c + lane]);
      }
#pragma omp simd
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        counts[1][lane] = first + last[lane] - 2 * both[lane];
        counts[0][lane] = group.rows - first - last[lane] + both[lane];
      }
    } else {
      const std::int32_t fixed = positives[columns[0]] + positives[columns[1]], common = scratch.ones[q];
      Block &all = counts[3], &pairs = scratch.one_two;
      all.fill(0);
      pairs.fill(common);
      for (std::size_t w = group.first_word; w < group.last_word; ++w) {
        const std::uint32_t* word = &words_[w * pitch_];
        const std::uint32_t one = word[columns[0]], two = word[columns[1]];
#pragma omp simd
        for (std::size_t lane = 0; lane < lanes; ++lane) {
          const std::uint32_t third = word[c + lane];
          all[lane] += std::popcount(one & two & third);
          pairs[lane] += std::popcount(one & third) + std::popcount(two & third);
        }
      }
#pragma omp simd
      for (std::size_t lane = 0; lane < lanes; ++lane) {  // inclusion and exclusion
        const std::int32_t three = all[lane], two = pairs[lane] - 3 * three;
        const std::int32_t one = fixed + last[lane] - 2 * pairs[lane] + 3 * three;
        counts[2][lane] = two;
        counts[1][lane] = one;
        counts[0][lane] = group.rows - one - two - three;
      }
    }
  }

  const ppp::Ppp& ppp_;
  std::size_t m_, n_, pitch_;
  Aligned<std::uint8_t> positive_;       ///< [row][column]: is entry times sign positive?
  std::vector<std::int32_t> products_;   ///< [row]: A V
  std::vector<Group> groups_;            ///< by ascending product, in steps of 2
  Aligned<std::uint32_t> words_;         ///< [word][column]: bits of rows of one group
  Aligned<std::int32_t> positives_;      ///< [group][column]: positive entries
  std::int32_t whole_target_ = 0;        ///< sum of the target's counts
  std::int32_t unreachable_target_ = 0;  ///< of those no neighbour can meet
};

}  // namespace vicinity::lsm
