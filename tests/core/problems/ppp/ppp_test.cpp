#include "core/problems/ppp/ppp.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "core/problems/ppp/flip.hpp"
#include "core/util/error.hpp"

namespace vicinity::ppp {
namespace {

TEST(Ppp, CostIsTheDefinition) {
  // A V = (1, -3, 3) for V = (1, 1, -1); the target asks for 1, 1, 3.
  const Ppp ppp("tiny", 3, 3, {1, -1, 1, 1, -1, 1, 1, 1, -1}, {0, 2, 0, 1});
  const Signs v{1, 1, -1};
  EXPECT_EQ(products(ppp, v), (std::vector<std::int32_t>{1, -3, 3}));
  EXPECT_EQ(cost(ppp, v), 30 * (3 + 3) + 1);
}

/// Every neighbour's value is that of the neighbour, and the room for the histogram is left as it was found.
template <int K>
void expect_delta_law(const Ppp& ppp, std::uint64_t seed) {
  const local_search::PppFlip<K> neighborhood(ppp);
  const Signs v = neighborhood.start(seed);
  const std::vector<std::int32_t> s = products(ppp, v);
  std::vector<std::int32_t> histogram(static_cast<std::size_t>(ppp.columns()) + 1);
  for (std::int64_t f = 0; f < neighborhood.moves(); ++f) {
    Signs after = v;
    neighborhood.apply(after, 0, 0, f);
    ASSERT_EQ(cost_of_products(ppp, products(ppp, after)), cost(ppp, after));
    ASSERT_EQ(flipped_cost(ppp.view(), s, v, moves::at<K>(ppp.columns(), f), histogram), cost(ppp, after)) << K << " " << f;
  }
  EXPECT_EQ(histogram, std::vector<std::int32_t>(histogram.size()));
}

TEST(Ppp, DeltaLaw) {
  for (const auto& [m, n] : {std::pair(1, 3), std::pair(5, 4), std::pair(12, 9), std::pair(30, 13), std::pair(7, 20)})
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      const Ppp ppp = planted("", m, n, seed);
      expect_delta_law<1>(ppp, seed);
      expect_delta_law<2>(ppp, seed);
      expect_delta_law<3>(ppp, seed);
    }
}

/// Of a planted instance's 2^n vectors at least one costs nothing.
TEST(Ppp, PlantedInstancesHaveASolution) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Ppp ppp = planted("", 9, 8, seed);
    std::int64_t least = 1'000'000;
    for (unsigned bits = 0; bits < 256; ++bits) {
      Signs v;
      for (unsigned i = 0; i < 8; ++i) v.push_back((bits >> i & 1) != 0 ? std::int8_t{1} : std::int8_t{-1});
      least = std::min(least, cost(ppp, v));
    }
    EXPECT_EQ(least, 0) << seed;
  }
}

TEST(Ppp, InstancesFollowTheirSeed) {
  EXPECT_EQ(planted("", 73, 73, 5).hash(), planted("other name", 73, 73, 5).hash());
  EXPECT_NE(planted("", 73, 73, 5).hash(), planted("", 73, 73, 6).hash());
}

TEST(Ppp, RejectsWhatIsNoInstance) {
  EXPECT_THROW(Ppp("", 0, 3, {}, {0, 0, 0, 0}), InputError);
  EXPECT_THROW(Ppp("", 1, 2, {1, 1, 1}, {0, 0, 0}), InputError);
  EXPECT_THROW(Ppp("", 1, 2, {1, 0}, {0, 0, 0}), InputError);
  EXPECT_THROW(Ppp("", 1, 2, {1, 1}, {0, 0}), InputError);
  EXPECT_THROW(Ppp("", 1, 2, {1, 1}, {0, 1, 1}), InputError);
  EXPECT_THROW(Ppp("", 1, 2, {1, 1}, {0, -1, 1}), InputError);
  EXPECT_THROW(static_cast<void>(planted("", 20000, 20000, 1)), InputError);
  EXPECT_NO_THROW(Ppp("", 1, 2, {1, 1}, {9, 0, 1}));
}

TEST(Ppp, SaysWhatIsWrongWithASolution) {
  const Ppp ppp = planted("", 3, 3, 1);
  EXPECT_EQ(complaint(ppp, Signs{1, -1, 1}), "");
  EXPECT_EQ(complaint(ppp, Signs{1, -1}), "2 signs for 3 columns");
  EXPECT_EQ(complaint(ppp, Signs{1, 0, 1}), "a sign is neither 1 nor -1");
  EXPECT_THROW(static_cast<void>(cost(ppp, Signs{1})), InputError);
}

}  // namespace
}  // namespace vicinity::ppp
