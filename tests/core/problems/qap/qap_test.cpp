#include "core/problems/qap/qap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "core/util/error.hpp"
#include "core/util/rng.hpp"

namespace vicinity::qap {
namespace {

struct Draws {
  std::uint64_t seed;
  std::uint64_t next = 0;

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(scale_to(random_bits(seed, next++, 0, 0), static_cast<std::uint64_t>(high - low + 1)));
  }
};

std::vector<std::int32_t> matrix(Draws& draws, std::int32_t n, std::int64_t low, std::int64_t high, bool symmetric) {
  const auto size = static_cast<std::size_t>(n);
  std::vector<std::int32_t> entries(size * size);
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < size; ++j)
      entries[i * size + j] = symmetric && j < i ? entries[j * size + i] : static_cast<std::int32_t>(draws.between(low, high));
  return entries;
}

Permutation permutation(Draws& draws, std::int32_t n) {
  Permutation p(static_cast<std::size_t>(n));
  std::iota(p.begin(), p.end(), 0);
  for (std::size_t i = p.size() - 1; i > 0; --i)
    std::swap(p[i], p[static_cast<std::size_t>(draws.between(0, static_cast<std::int64_t>(i)))]);
  return p;
}

Permutation swapped(Permutation p, std::int32_t r, std::int32_t s) {
  std::swap(p[static_cast<std::size_t>(r)], p[static_cast<std::size_t>(s)]);
  return p;
}

/// Small and large entries, negative ones, diagonals; symmetric and not.
template <class Check>
void for_random_instances(Check check) {
  const std::pair<std::int64_t, std::int64_t> ranges[]{{0, 9}, {-100, 100}, {0, 255}, {-(1 << 25), 1 << 25}, {-3, 1 << 24}};
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Draws draws{seed};
    const auto n = static_cast<std::int32_t>(draws.between(2, 11));
    const auto [low_a, high_a] = ranges[draws.between(0, 4)];
    const auto [low_b, high_b] = ranges[draws.between(0, 4)];
    const bool symmetric_a = draws.between(0, 2) > 0, symmetric_b = draws.between(0, 2) > 0;
    const Qap qap("random", n, matrix(draws, n, low_a, high_a, symmetric_a), matrix(draws, n, low_b, high_b, symmetric_b));
    check(qap, permutation(draws, n));
  }
}

TEST(Qap, CostIsTheDefinition) {
  const Qap qap("tiny", 3, {1, 2, 3, 4, 5, 6, 7, 8, 9}, {10, 20, 30, 40, 50, 60, 70, 80, 90});
  // p = (2, 0, 1): B[2][2] B[2][0] B[2][1]  B[0][2] B[0][0] B[0][1]  B[1][2] B[1][0] B[1][1]
  EXPECT_EQ(cost(qap, Permutation{2, 0, 1}), 1 * 90 + 2 * 70 + 3 * 80 + 4 * 30 + 5 * 10 + 6 * 20 + 7 * 60 + 8 * 40 + 9 * 50);
}

TEST(Qap, DeltaLaw) {
  for_random_instances([](const Qap& qap, const Permutation& p) {
    const std::int64_t before = cost(qap, p);
    for (std::int32_t r = 0; r < qap.size(); ++r)
      for (std::int32_t s = 0; s < qap.size(); ++s) {
        if (r == s) continue;
        const std::int64_t change = delta(qap.view(), p, r, s);
        ASSERT_EQ(change, cost(qap, swapped(p, r, s)) - before) << r << " " << s;
        ASSERT_LE(std::abs(change), qap.delta_bound());
      }
  });
}

TEST(Qap, UpdatedDeltaLaw) {
  for_random_instances([](const Qap& qap, const Permutation& p) {
    const std::int32_t n = qap.size();
    for (std::int32_t r = 0; r < n; ++r)
      for (std::int32_t s = r + 1; s < n; ++s) {
        const Permutation after = swapped(p, r, s);
        for (std::int32_t i = 0; i < n; ++i)
          for (std::int32_t j = i + 1; j < n; ++j) {
            if (i == r || i == s || j == r || j == s) continue;
            const std::int64_t before = delta(qap.view(), p, i, j);
            ASSERT_EQ(updated_delta(qap.view(), p, before, i, j, r, s), delta(qap.view(), after, i, j)) << i << j << r << s;
          }
      }
  });
}

template <int K>
void expect_exchange_law() {
  for_random_instances([](const Qap& qap, const Permutation& p) {
    const std::int64_t before = cost(qap, p);
    for (std::int64_t f = 0; f < moves::count<K>(qap.size()); ++f) {
      const auto move = moves::at<K>(qap.size(), f);
      Permutation after = p;
      moves::exchange(after, move);
      ASSERT_EQ(exchange_delta(qap.view(), p, move), cost(qap, after) - before) << K << " " << f;
    }
  });
}

TEST(Qap, ExchangeDeltaLaw) {
  expect_exchange_law<2>();
  expect_exchange_law<3>();
}

TEST(Qap, KnowsItsKind) {
  EXPECT_TRUE(Qap("", 2, {0, 1, 1, 0}, {5, 255, 255, 5}).symmetric());
  EXPECT_FALSE(Qap("", 2, {0, 1, 2, 0}, {5, 255, 255, 5}).symmetric());
  EXPECT_FALSE(Qap("", 2, {0, 1, 1, 0}, {5, 254, 255, 5}).symmetric());
  EXPECT_TRUE(Qap("", 2, {0, 1, 1, 0}, {5, 255, 255, 5}).bytes());
  EXPECT_FALSE(Qap("", 2, {0, 1, 1, 0}, {5, 256, 255, 5}).bytes());
  EXPECT_FALSE(Qap("", 2, {0, 1, -1, 0}, {5, 255, 255, 5}).bytes());
  EXPECT_TRUE(Qap("", 2, {0, 1000, 1000, 0}, {0, 1000, 1000, 0}).narrow());
  EXPECT_FALSE(Qap("", 2, {0, 100000, 100000, 0}, {0, 100000, 100000, 0}).narrow());
}

TEST(Qap, RejectsWhatCouldOverflow) {
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max(), least = std::numeric_limits<std::int32_t>::min();
  const std::vector<std::int32_t> large{0, most, most, 0}, negative{0, least, least, 0}, ones{0, 1, 1, 0};
  EXPECT_THROW(Qap("", 2, large, large), InputError);
  EXPECT_THROW(Qap("", 2, negative, large), InputError);
  EXPECT_NO_THROW(Qap("", 2, large, ones));
  EXPECT_NO_THROW(Qap("", 2, ones, negative));
  const Qap edge("", 2, {0, 1 << 28, 1 << 28, 0}, {0, 1 << 28, 1 << 28, 0});
  EXPECT_EQ(cost(edge, Permutation{0, 1}), std::int64_t{1} << 57);
}

TEST(Qap, RejectsWrongSizes) {
  EXPECT_THROW(Qap("", 1, {0}, {0}), InputError);
  EXPECT_THROW(Qap("", 46341, {}, {}), InputError);
  EXPECT_THROW(Qap("", 2, {0, 1, 1}, {0, 1, 1, 0}), InputError);
  EXPECT_THROW(Qap("", 2, {0, 1, 1, 0}, {0, 1, 1, 0, 0}), InputError);
}

TEST(Qap, SaysWhatIsWrongWithAPermutation) {
  EXPECT_EQ(complaint(3, Permutation{2, 0, 1}), "");
  EXPECT_EQ(complaint(3, Permutation{2, 0}), "2 locations for 3 facilities");
  EXPECT_EQ(complaint(3, Permutation{2, 0, 3}), "location 3 is outside 0..2");
  EXPECT_EQ(complaint(3, Permutation{2, 0, -1}), "location -1 is outside 0..2");
  EXPECT_EQ(complaint(3, Permutation{2, 0, 2}), "location 2 twice");
  EXPECT_THROW(static_cast<void>(cost(Qap("", 2, {0, 1, 1, 0}, {0, 1, 1, 0}), Permutation{1, 1})), InputError);
}

TEST(Qap, HashTellsInstancesApart) {
  const Qap qap("", 2, {0, 1, 1, 0}, {0, 2, 2, 0});
  EXPECT_EQ(qap.hash(), Qap("of another name", 2, {0, 1, 1, 0}, {0, 2, 2, 0}).hash());
  EXPECT_NE(qap.hash(), Qap("", 2, {0, 2, 2, 0}, {0, 1, 1, 0}).hash());
}

}  // namespace
}  // namespace vicinity::qap
