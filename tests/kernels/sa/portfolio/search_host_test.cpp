// The threads of a block one after the other, on the host: the phases of a search take the swaps of the contract.
#include "kernels/sa/portfolio/search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/problems/qap/qap.hpp"
#include "cpu_ref/sa/portfolio.hpp"
#include "tests/support/sa_twins.hpp"

namespace vicinity::sa::tabu {
namespace {

/// What search.cu does, without threads.
template <class N, int Rows>
class BlockOnHost {
 public:
  using K = Keys<typename N::Delta>;
  using Key = typename K::Key;

  explicit BlockOnHost(const qap::Qap& qap) : qap_(qap), n_(qap.size()) {
    const Division division{n_, Rows};
    threads_ = division.threads();
    board_.n = n_;
    board_.width = division.width();
    board_.pitch = Board<N>::pitch_of(n_);
    const auto size = static_cast<std::size_t>(n_) * static_cast<std::size_t>(board_.pitch);
    for (int side = 0; side < N::sides; ++side) {
      board_.a[side] = place(a_[side], size);
      board_.b[side] = place(b_[side], size);
      board_.d[side] = place(d_[side], static_cast<std::size_t>(board_.width));
      board_.e[side] = place(e_[side], static_cast<std::size_t>(board_.width));
    }
    board_.factors = place(factors_, static_cast<std::size_t>(board_.width));
    for (int c = 0; c < 2; ++c) {
      board_.fresh[c] = place(fresh_[c], static_cast<std::size_t>(board_.width));
      board_.expiry[c] = place(expiry_[c], static_cast<std::size_t>(board_.width));
    }
    board_.until = place(until_, static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_));
    board_.p = place(p_, static_cast<std::size_t>(n_));
    board_.best = place(best_, static_cast<std::size_t>(n_));
  }

  portfolio::Elite run(const qap::Permutation& start, std::uint64_t seed, std::int64_t round, std::int32_t b, std::int32_t steps,
                       portfolio::Elite& last) {
    begin(start);
    std::vector<Thread<N, Rows>> threads;
    for (std::int32_t k = 0; k < threads_; ++k) {
      threads.emplace_back(board_, k, threads_);
      threads.back().begin(board_);
    }
    std::int64_t cost = qap::cost(qap_, start), best = cost;
    Swap swap;
    bool improved = true;
    for (std::int32_t t = 1; t <= steps; ++t) {
      const Key aspiration = K::aspiration((best - cost) / N::unit);
      Key least = ~Key{0};
      for (std::int32_t x = 0; x < threads_; ++x)
        least = std::min(least, threads[static_cast<std::size_t>(x)].evaluate(board_, t, swap, products_of(swap, x), aspiration, improved));
      std::uint32_t pair = no_pair;
      for (auto& thread : threads)
        if (thread.has(least)) pair = std::min(pair, thread.find(swap, least, aspiration));
      cost += N::unit * static_cast<std::int64_t>(K::delta(least));
      improved = cost < best;
      best = std::min(best, cost);
      const Swap next = swap_of(pair);
      for (auto& thread : threads) thread.take(board_, t, swap, next, portfolio::tenures(seed, round, b, t, n_));
      swap = next;
    }
    last = {cost, p_};
    return {best, improved ? p_ : best_};
  }

 private:
  template <class T>
  static T* place(std::vector<T>& memory, std::size_t size) {
    memory.assign(size + 4, T{});
    return memory.data();
  }
  RowProducts products_of(const Swap& swap, std::int32_t x) const {
    RowProducts products;
    if constexpr (N::bytes) {
      if (swap.r < 0 || x >= n_) return products;
      for (const int c : {0, 1}) {
        const std::int32_t y = c == 0 ? swap.r : swap.s;
        products.own[c] = row_product(board_, y, y);
        products.with[c] = row_product(board_, x, y) + row_product(board_, y, x);
      }
    }
    return products;
  }
  void begin(const qap::Permutation& start) {
    std::copy(start.begin(), start.end(), p_.begin());
    p_.resize(start.size());
    best_ = p_;
    board_.p = p_.data();
    board_.best = best_.data();
    const auto view = qap_.view();
    for (std::int32_t i = 0; i < n_; ++i)
      for (std::int32_t j = 0; j < n_; ++j)
        for (int side = 0; side < N::sides; ++side) {
          using Entry = typename N::Entry;
          const auto from = side == 0 ? board_.at(i, j) : board_.at(j, i);
          const auto pi = p_[static_cast<std::size_t>(i)], pj = p_[static_cast<std::size_t>(j)];
          a_[side][from] = static_cast<Entry>(view.a_at(i, j));
          b_[side][from] = static_cast<Entry>(view.b_at(pi, pj));
        }
    std::fill(until_.begin(), until_.end(), std::uint16_t{0});
    for (auto* differences : {d_, e_})
      for (int side = 0; side < N::sides; ++side) std::fill(differences[side].begin(), differences[side].end(), typename N::Delta{0});
    std::fill(factors_.begin(), factors_.end(), 0u);
    for (auto& fresh : fresh_) std::fill(fresh.begin(), fresh.end(), K::none);
    for (auto& expiry : expiry_) std::fill(expiry.begin(), expiry.end(), never);
  }

  const qap::Qap& qap_;
  std::int32_t n_, threads_;
  Board<N> board_{};
  std::vector<typename N::Entry> a_[2], b_[2];
  std::vector<typename N::Delta> d_[2], e_[2];
  std::vector<std::uint32_t> factors_;
  std::vector<Key> fresh_[2];
  std::vector<std::int32_t> expiry_[2];
  std::vector<std::uint16_t> until_;
  qap::Permutation p_, best_;
};

template <class N, int Rows>
void expect_twins_of(const qap::Qap& qap, std::int32_t steps) {
  const std::string what = qap.name() + " of " + std::to_string(qap.size()) + ", " + std::to_string(Rows) + " rows";
  ASSERT_LT(qap.delta_bound(), Keys<typename N::Delta>::limit) << what;
  const std::unique_ptr<TabuSearch> reference = make_tabu_search(qap);
  BlockOnHost<N, Rows> block(qap);
  for (std::int32_t b = 0; b < 2; ++b) {
    portfolio::Draws draws(1, b, 0);
    const qap::Permutation start = portfolio::random_permutation(qap.size(), draws);
    portfolio::Elite expected, last;
    reference->run(start, 5, 2, b, steps, expected, Interruption());
    const portfolio::Elite best = block.run(start, 5, 2, b, steps, last);
    ASSERT_EQ(last.cost, reference->current().cost) << what;
    ASSERT_EQ(last.p, reference->current().p) << what;
    ASSERT_EQ(best.cost, expected.cost) << what;
    ASSERT_EQ(best.p, expected.p) << what;
  }
}

using SymmetricBytes = Numbers<std::uint8_t, std::int32_t, 1>;
using PackedBytes = Numbers<std::uint8_t, std::int32_t, 1, true>;

TEST(PortfolioSearch, TakesTheSwapsOfTheContract) {
  for (const std::int32_t n : {2, 3, 4, 5, 8, 9, 12, 16, 17, 31, 32, 33, 40, 49, 64, 65}) {
    const auto seed = static_cast<std::uint64_t>(n);
    const std::int32_t steps = 40 * n;
    for (const std::int64_t most : {1, 3, 255}) {
      const auto bytes = random_qap(seed, n, {0, most, 0, most}, true);
      expect_twins_of<SymmetricBytes, 8>(*bytes, steps);
      expect_twins_of<SymmetricBytes, 16>(*bytes, steps);
      expect_twins_of<Numbers<std::int32_t, std::int32_t, 2>, 8>(*bytes, steps);
    }
    for (const bool symmetric : {true, false}) {
      const auto narrow = random_qap(seed + 1, n, {-99, 400, -7, 300}, symmetric);
      expect_twins_of<Numbers<std::int32_t, std::int32_t, 2>, 8>(*narrow, steps);
      const auto wide = random_qap(seed + 2, n, {-5'000'000, 9'000'000, 0, 1'000'000}, symmetric);
      expect_twins_of<Numbers<std::int32_t, std::int64_t, 2>, 16>(*wide, steps);
    }
    const auto symmetric = random_qap(seed + 3, n, {0, 2000, -40, 30}, true);
    expect_twins_of<Numbers<std::int32_t, std::int32_t, 1>, 16>(*symmetric, steps);
    expect_twins_of<Numbers<std::int32_t, std::int64_t, 1>, 8>(*symmetric, steps);
  }
}

/// Symmetric, of entries from 0 to 127, with no diagonal.
std::shared_ptr<const qap::Qap> packed_qap(std::uint64_t seed, std::int32_t n, std::int64_t most_a, std::int64_t most_b) {
  const auto matrix = [n](std::uint64_t of, std::int64_t most) {
    auto entries = random_matrix(of, n, 0, most, true);
    for (std::size_t i = 0; i < entries.size(); i += static_cast<std::size_t>(n) + 1) entries[i] = 0;
    return entries;
  };
  return std::make_shared<qap::Qap>("packed", n, matrix(2 * seed, most_a), matrix(2 * seed + 1, most_b));
}

TEST(PortfolioSearch, PackedFactorsAreTheProducts) {
  for (std::int32_t d = -127; d <= 127; ++d)
    for (std::int32_t e = -127; e <= 127; ++e) {
      const std::uint32_t row = packed_factors(d, e);
      ASSERT_EQ(static_cast<std::int32_t>(signed_dot(row, own_product, 0)), -d * e);
      const std::uint32_t column = as_column(packed_factors(e, -d));
      ASSERT_EQ(static_cast<std::int32_t>(signed_dot(row, column, 5)), 5 - d * d + e * e - d * e);
    }
}

TEST(PortfolioSearch, PackedOnes) {
  for (const std::int32_t n : {2, 3, 4, 5, 8, 9, 12, 16, 17, 31, 32, 33, 40, 47, 48, 49, 50, 64, 65, 99, 100, 103, 129})
    for (const std::int64_t most : {1, 3, 127}) {
      const auto qap = packed_qap(static_cast<std::uint64_t>(n), n, most, n % 2 == 0 ? most : 127);
      expect_twins_of<PackedBytes, 16>(*qap, 30 * n);
      expect_twins_of<PackedBytes, 48>(*qap, 30 * n);
    }
  expect_twins_of<PackedBytes, 48>(*packed_qap(7, 40, 127, 127), 40'000);
}

TEST(PortfolioSearch, LargeOnes) {
  for (const std::int32_t n : {100, 128, 131}) {
    expect_twins_of<SymmetricBytes, 16>(*random_qap(7, n, {0, 99, 0, 99}, true), 2500);
    expect_twins_of<SymmetricBytes, 32>(*random_qap(8, n, {0, 1, 0, 30}, true), 1000);
  }
  expect_twins_of<SymmetricBytes, 48>(*random_qap(8, 256, {0, 1, 0, 30}, true), 600);
}

}  // namespace
}  // namespace vicinity::sa::tabu
