#include "core/problems/moves.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/methods/sa/annealing.hpp"
#include "core/util/rng.hpp"

namespace vicinity::moves {
namespace {

template <int K>
bool same(const Move<K>& x, const Move<K>& y) {
  for (int t = 0; t < K; ++t)
    if (x.at[t] != y.at[t]) return false;
  return true;
}

/// Walks the whole neighbourhood by next() and asks index() and at() for each move.
template <int K>
void expect_inverse(std::int32_t n) {
  Move<K> move;
  for (int t = 0; t < K; ++t) move.at[t] = t;
  for (std::int64_t f = 0; f < count<K>(n); ++f, move = next(n, move)) {
    ASSERT_EQ(index(n, move), f) << n;
    ASSERT_TRUE(same(at<K>(n, f), move)) << n << " " << f;
    for (int t = 0; t < K; ++t) ASSERT_TRUE(move.at[t] < n && (t == 0 ? move.at[t] >= 0 : move.at[t] > move.at[t - 1]));
  }
}

TEST(Moves, PairsAndNumbersAreInverseUpTo400) {
  for (std::int32_t n = 2; n <= 400; ++n) expect_inverse<2>(n);
}

TEST(Moves, TriplesAndNumbersAreInverse) {
  for (std::int32_t n = 3; n <= 90; ++n) expect_inverse<3>(n);
  for (const std::int32_t n : {127, 128, 200, 400}) expect_inverse<3>(n);
}

TEST(Moves, SinglesAreTheirNumbers) { expect_inverse<1>(1000); }

/// Where single precision fails: the last number of a row and the first of the next.
TEST(Moves, PairsAreExactAtTheEndsOfAllRows) {
  for (const std::int32_t n : {1291, 1317, 2048, 2392, 4461, 4608, 4609, 5915, 10007, 20000, most_elements})
    for (std::int32_t i = 0; i < n - 1; ++i)
      for (const std::int32_t j : {i + 1, n - 1}) {
        const Move<2> move{{i, j}};
        ASSERT_TRUE(same(at<2>(n, index(n, move)), move)) << n << " " << i << " " << j;
      }
}

TEST(Moves, TriplesAreExactAtTheEndsOfRows) {
  for (const std::int32_t n : {1317, 4609, 20000, most_elements})
    for (std::int32_t i = 0; i < n - 2; i += 1 + n / 700)
      for (const std::int32_t j : {i + 1, (i + n) / 2, n - 2})
        for (const std::int32_t k : {j + 1, n - 1}) {
          const Move<3> move{{i, j, k}};
          ASSERT_TRUE(same(at<3>(n, index(n, move)), move)) << n << " " << i << " " << j << " " << k;
        }
}

TEST(Moves, PairsAreNumberedAsInAnnealing) {
  for (const std::int32_t n : {2, 3, 17, 100})
    for (std::int64_t f = 0; f < count<2>(n); ++f) {
      const annealing::Swap swap = annealing::pair_at(n, f);
      ASSERT_EQ(index<2>(n, {{swap.r, swap.s}}), f);
    }
}

TEST(Moves, RootsAreExact) {
  for (std::int64_t root = 1; root < 200000; ++root)
    for (const std::int64_t x : {root * root - 1, root * root, root * root + 1})
      if (x >= 0) {
        ASSERT_EQ(integer_root(x), x < root * root ? root - 1 : root);
      }
  for (const std::int64_t root : {(std::int64_t{1} << 23) + 1, std::int64_t{11863283}}) {
    EXPECT_EQ(integer_root(root * root - 1), root - 1);
    EXPECT_EQ(integer_root(root * root), root);
  }
  for (std::int64_t a = 3; a <= most_elements; ++a) {
    ASSERT_EQ(tetrahedral_root(choose3(a)), a);
    ASSERT_EQ(tetrahedral_root(choose3(a) - 1), a - 1);
  }
}

TEST(Moves, AnExchangeRotatesItsPlaces) {
  std::vector<std::int32_t> p{10, 11, 12, 13, 14};
  moves::exchange(p, Move<2>{{1, 4}});
  EXPECT_EQ(p, (std::vector<std::int32_t>{10, 14, 12, 13, 11}));
  moves::exchange(p, Move<3>{{0, 2, 3}});
  EXPECT_EQ(p, (std::vector<std::int32_t>{12, 14, 13, 10, 11}));
}

}  // namespace
}  // namespace vicinity::moves
