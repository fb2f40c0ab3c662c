#include "core/problems/weierstrass/weierstrass.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <set>
#include <vector>

#include "core/problems/weierstrass/crowns.hpp"
#include "core/util/error.hpp"

namespace vicinity::weierstrass {
namespace {

/// Numbers of all magnitudes in [-1, 1], and both ends.
std::vector<double> probes() {
  std::vector<double> x{0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 0x1p-20, 0x1p-24, 0x1p-53, 1e-30, 1e-60, 1e-300, 5e-324};
  for (std::uint64_t k = 0; k < 30000; ++k) {
    const double unit = static_cast<double>(static_cast<std::int64_t>(random_bits(9, k, 0, 0))) * 0x1p-63;
    x.push_back(k % 3 == 0 ? std::ldexp(unit, -static_cast<int>(k % 150)) : unit);
  }
  return x;
}

TEST(Weierstrass, StaysWithinItsToleranceOfTheOracle) {
  double worst_float = 0, worst_double = 0;
  for (const double x : probes()) {
    const auto narrow = static_cast<float>(x);
    const std::vector<double> wide{x}, rounded{static_cast<double>(narrow)};
    worst_double = std::max(worst_double, std::abs(of_coordinate(x) - value(wide)));
    worst_float = std::max(worst_float, std::abs(static_cast<double>(of_coordinate(narrow)) - value(rounded)));
  }
  EXPECT_LT(worst_float, tolerance<float>);
  EXPECT_LT(worst_double, tolerance<double>);
}

TEST(Weierstrass, SeriesAreTwiceSinesAndCosines) {
  for (std::uint64_t k = 0; k <= 200000; ++k) {
    const double z = 1e-5 * static_cast<double>(k) - 1, angle = std::numbers::pi / 2 * z;
    const auto narrow = static_cast<float>(z);
    const double narrow_angle = std::numbers::pi / 2 * static_cast<double>(narrow);
    ASSERT_NEAR(sine_series(narrow * narrow) * narrow, 2 * std::sin(narrow_angle), 3e-7);
    ASSERT_NEAR(cosine_series(narrow * narrow), 2 * std::cos(narrow_angle), 3e-7);
    ASSERT_NEAR(sine_series(z * z) * z, 2 * std::sin(angle), 8e-16);
    ASSERT_NEAR(cosine_series(z * z), 2 * std::cos(angle), 8e-16);
  }
}

/// Of every machine and compiler: whatever fuses or rounds otherwise fails here.
TEST(Weierstrass, KnownAnswers) {
  EXPECT_EQ(multiply_add(0x1.000002p0f, 0x1.000002p0f, -1.0f), 0x1.000001p-22f) << "rounded once";
  EXPECT_EQ(multiply_add(0x1.0000001p0, 0x1.0000001p0, -0x1.0000002p0), 0x1p-56) << "rounded once";
  struct Answer {
    double x;
    float narrow;
    double wide;
  };
  for (const auto& [x, narrow, wide] : {Answer{1.0, 0x1.fda35p-1f, 0x1.fda33a6291955p-1},
                                        {-1.0, -0x1.fda35p-1f, -0x1.fda33a6291955p-1},
                                        {0.5, 0x1.8b6b54p+0f, 0x1.8b6b53dca0f5cp+0},
                                        {0.1, 0x1.03067ep+1f, 0x1.ff7067f665749p+0},
                                        {-0.7071067811865476, -0x1.307842p-3f, -0x1.163177e35debdp-3},
                                        {0x1p-20, 0x1.a32a18p-4f, 0x1.a32a1c7a18fb7p-4},
                                        {3e-8, 0x1.9a6614p-5f, 0x1.a0a90e558eaf2p-5},
                                        {0x1p-130, 0.0f, 0x1.3bbcc24b8767ep-54}}) {
    EXPECT_EQ(of_coordinate(static_cast<float>(x)), narrow) << x;
    EXPECT_EQ(of_coordinate(x), wide) << x;
  }
}

TEST(Weierstrass, OrderIsThatOfTheNumbers) {
  std::vector<double> x = probes();
  x.insert(x.end(), {1e30, -1e30, 5.0, -5.0});
  for (std::size_t k = 1; k < x.size(); ++k) {
    const double a = x[k - 1] + 0.0, b = x[k] + 0.0;
    ASSERT_EQ(ordered(a) < ordered(b), a < b);
    ASSERT_EQ(from_ordered<double>(ordered(a)), a);
    const auto c = static_cast<float>(a), d = static_cast<float>(b);
    if (std::isfinite(c) && c != 0 && d != 0) {
      ASSERT_EQ(ordered(c) < ordered(d), c < d);
      ASSERT_EQ(from_ordered<float>(ordered(c)), c);
    }
  }
}

/// The largest displacement is in the crown, no coordinate leaves the domain, and both sides of all coordinates are met.
template <class Real>
void expect_crowns() {
  constexpr std::int32_t n = 3;
  constexpr std::int64_t moves = 50;
  const Weierstrass function(n, moves);
  const local_search::WeierstrassCrowns<Real> neighborhood(function);
  const std::vector<Real> inner(3, Real{0}), border{Real{1}, Real{-1}, static_cast<Real>(0.9)};
  std::set<int> faces;
  for (std::int64_t t = 0; t < 40; ++t)
    for (std::int64_t f = 0; f < moves; ++f) {
      auto x = inner;
      neighborhood.apply(x, 77, t, f);
      Real largest = 0;
      int at = 0;
      for (int k = 0; k < n; ++k)
        if (std::abs(x[static_cast<std::size_t>(k)]) > largest) {
          largest = std::abs(x[static_cast<std::size_t>(k)]);
          at = x[static_cast<std::size_t>(k)] < 0 ? -k - 1 : k + 1;
        }
      faces.insert(at);
      const double radius = static_cast<double>(largest) * moves * n;
      ASSERT_GE(radius, static_cast<double>(f) - 1e-4);
      ASSERT_LE(radius, static_cast<double>(f) + 1 + 1e-4);
      auto outer = border;
      neighborhood.apply(outer, 77, t, f);
      for (const Real coordinate : outer) ASSERT_LE(std::abs(coordinate), Real{1});
      const std::int64_t claimed = ordered(neighbor_value<Real>(border, n, 77, t, f, neighborhood.width()));
      ASSERT_EQ(claimed, neighborhood.value(outer)) << "the value of a neighbour is that of the point the move leads to";
      ASSERT_EQ(neighborhood.complaint(outer, claimed), "");
    }
  EXPECT_EQ(faces.size(), 6u);
}

TEST(Weierstrass, NeighboursLieInTheirCrownsInSinglePrecision) { expect_crowns<float>(); }
TEST(Weierstrass, NeighboursLieInTheirCrownsInDoublePrecision) { expect_crowns<double>(); }

TEST(Weierstrass, TheOracleObjects) {
  const Weierstrass function(2, 10);
  const local_search::WeierstrassCrowns<double> neighborhood(function);
  const std::vector<double> x{0.25, -0.5};
  EXPECT_EQ(neighborhood.complaint(x, neighborhood.value(x)), "");
  EXPECT_NE(neighborhood.complaint(x, ordered(value(x) + 1e-12)), "");
  EXPECT_NE(neighborhood.complaint({0.25, -1.5}, neighborhood.value(x)), "");
  EXPECT_NE(neighborhood.complaint({0.25}, neighborhood.value(x)), "");
}

TEST(Weierstrass, RejectsOtherSizes) {
  EXPECT_THROW(Weierstrass(0, 10), InputError);
  EXPECT_THROW(Weierstrass(65, 10), InputError);
  EXPECT_THROW(Weierstrass(1, 0), InputError);
  EXPECT_THROW(Weierstrass(1, (1 << 24) + 1), InputError);
}

}  // namespace
}  // namespace vicinity::weierstrass
