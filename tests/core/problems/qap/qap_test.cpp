#include "core/problems/qap/qap.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

#include "core/util/error.hpp"
#include "tests/core/problems/qap/random_instances.hpp"

namespace vicinity::qap {
namespace {

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
