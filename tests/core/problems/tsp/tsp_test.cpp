#include "core/problems/tsp/tsp.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/util/error.hpp"
#include "core/util/permutation.hpp"
#include "core/util/rng.hpp"

namespace vicinity::tsp {
namespace {

TEST(Tsp, LengthIsTheDefinition) {
  const Tsp tsp("square", {0, 3, 3, 0}, {0, 0, 4, 4});
  EXPECT_EQ(length(tsp, Tour{0, 1, 2, 3}), 3 + 4 + 3 + 4);
  EXPECT_EQ(length(tsp, Tour{0, 2, 1, 3}), 5 + 4 + 5 + 4);
  EXPECT_EQ(length(Tsp("halves", {0, 0.5, 0}, {0, 0, 1.49}), Tour{0, 1, 2}), 1 + 2 + 1);
}

Tsp fractional(std::int32_t n, std::uint64_t seed) {
  std::vector<double> x, y;
  for (std::int32_t i = 0; i < n; ++i) {
    x.push_back(static_cast<double>(scale_to(random_bits(seed, static_cast<std::uint64_t>(i), 0, 7), 20001)) / 10 - 1000);
    y.push_back(static_cast<double>(scale_to(random_bits(seed, static_cast<std::uint64_t>(i), 1, 7), 20001)) / 10 - 1000);
  }
  return {"fractional", std::move(x), std::move(y)};
}

TEST(Tsp, DeltaLaw) {
  for (std::int32_t n = 3; n < 24; ++n)
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const Tsp tsp = seed % 2 == 0 ? uniform("", n, seed == 0 ? 5 : 1000, seed) : fractional(n, seed);
      const Tour tour = shuffled(n, seed, 3);
      const std::int64_t before = length(tsp, tour);
      for (std::int32_t i = 0; i < n; ++i)
        for (std::int32_t j = i + 1; j < n; ++j) {
          Tour after = tour;
          std::swap(after[static_cast<std::size_t>(i)], after[static_cast<std::size_t>(j)]);
          ASSERT_EQ(swap_delta(n, tour, i, j, Distance{tsp.view()}), length(tsp, after) - before) << n << " " << i << " " << j;
        }
    }
}

/// Around every boundary k(k+1) of the rounding, and anywhere.
TEST(Tsp, RoundedRootsAreEuc2d) {
  const auto check = [](std::int64_t squared) {
    const auto exact = static_cast<std::int32_t>(std::sqrt(static_cast<double>(squared)) + 0.5);
    const auto whole = static_cast<std::int32_t>(squared);
    ASSERT_EQ(rounded_root(whole, std::sqrt(static_cast<float>(whole))), exact) << squared;
  };
  constexpr std::int64_t most = 2 * std::int64_t{32767} * 32767;
  for (std::int64_t k = 0; k <= 46340; ++k)
    for (std::int64_t near = -2; near <= 2; ++near)
      if (const std::int64_t squared = k * (k + 1) + near; squared >= 0 && squared <= most) check(squared);
  for (std::int64_t squared = 0; squared <= most; squared += 9973) check(squared);
  for (std::int64_t squared = 0; squared < 100000; ++squared) check(squared);
  check(most);
}

TEST(Tsp, KnowsWholeCoordinates) {
  EXPECT_TRUE(uniform("", 10, 20000, 1).integral());
  EXPECT_TRUE(Tsp("", {-16000, 16767, 0}, {5, 6, 7}).integral());
  EXPECT_FALSE(Tsp("", {0, 32768, 0}, {5, 6, 7}).integral());
  EXPECT_FALSE(Tsp("", {0, 0.5, 1}, {0, 0, 0}).integral());
}

TEST(Tsp, RejectsWhatIsNoInstance) {
  EXPECT_THROW(Tsp("", {0, 1}, {0, 1}), InputError);
  EXPECT_THROW(Tsp("", {0, 1, 2}, {0, 1}), InputError);
  EXPECT_THROW(Tsp("", {0, 1, std::nan("")}, {0, 1, 2}), InputError);
  EXPECT_THROW(Tsp("", {0, 1, 3e8}, {0, 1, 2}), InputError);
  EXPECT_NO_THROW(Tsp("", {0, 1, 2e8}, {0, 1, 2}));
}

TEST(Tsp, SaysWhatIsWrongWithATour) {
  const Tsp tsp = uniform("", 3, 10, 1);
  EXPECT_EQ(complaint(tsp, Tour{2, 0, 1}), "");
  EXPECT_EQ(complaint(tsp, Tour{2, 0}), "2 places for 3 of city");
  EXPECT_EQ(complaint(tsp, Tour{2, 0, 3}), "city 3 is outside 0..2");
  EXPECT_EQ(complaint(tsp, Tour{2, 0, 2}), "city 2 twice");
  EXPECT_THROW(static_cast<void>(length(tsp, Tour{0, 0, 0})), InputError);
}

/// ulysses16: coordinates in degrees and minutes, the length of its shortest tour, and some entries of its matrix as published.
TEST(TspMetrics, Geo) {
  const Tsp ulysses(
      "ulysses16", {38.24, 39.57, 40.56, 36.26, 33.48, 37.56, 38.42, 37.52, 41.23, 41.17, 36.08, 38.47, 38.15, 37.51, 35.49, 39.36},
      {20.42, 26.15, 25.32, 23.12, 10.54, 12.19, 13.11, 20.44, 9.10, 13.05, -5.21, 15.13, 15.35, 15.17, 14.32, 19.56}, Metric::geo);
  EXPECT_EQ(length(ulysses, Tour{0, 13, 12, 11, 6, 5, 14, 4, 10, 8, 9, 15, 2, 1, 3, 7}), 6859);
  EXPECT_EQ(distance_of(ulysses, 0, 1), 509);
  EXPECT_EQ(distance_of(ulysses, 0, 10), 2314);
  EXPECT_EQ(distance_of(ulysses, 14, 15), 636);
}

/// The root of a tenth of the square, rounded up, and the root rounded up; worked out by hand.
TEST(TspMetrics, AttAndCeil) {
  const std::vector<double> x{0, 10, 0, 3}, y{0, 0, 1, 4};
  const Tsp att("a", x, y, Metric::att), up("c", x, y, Metric::ceil_2d);
  EXPECT_EQ(distance_of(att, 0, 1), 4);  // 3.16
  EXPECT_EQ(distance_of(att, 0, 2), 1);  // 0.32
  EXPECT_EQ(distance_of(att, 0, 3), 2);  // 1.58
  EXPECT_EQ(distance_of(att, 0, 0), 0);
  EXPECT_EQ(distance_of(up, 0, 1), 10);
  EXPECT_EQ(distance_of(up, 1, 2), 11);  // 10.05
  EXPECT_EQ(distance_of(up, 0, 3), 5);
}

/// What searches read is what the definition says.
TEST(TspMetrics, FunctorsAgreeWithTheDefinition) {
  const Tsp plane = uniform("u", 60, 90, 4);
  const std::vector<double> x(plane.view().x, plane.view().x + 60), y(plane.view().y, plane.view().y + 60);
  const Tsp euc("e", x, y), up("c", x, y, Metric::ceil_2d), att("a", x, y, Metric::att), geo("g", x, y, Metric::geo);
  std::vector<double> latitude, longitude;
  for (std::size_t i = 0; i < 60; ++i) {
    latitude.push_back(geo_radians(x[i]));
    longitude.push_back(geo_radians(y[i]));
  }
  for (std::int32_t a = 0; a < 60; ++a)
    for (std::int32_t b = 0; b < 60; ++b) {
      EXPECT_EQ(Distance{euc.view()}(a, b), distance_of(euc, a, b));
      EXPECT_EQ(CeilDistance{up.view()}(a, b), distance_of(up, a, b));
      EXPECT_EQ(AttDistance{att.view()}(a, b), distance_of(att, a, b));
      EXPECT_EQ((GeoDistance{{latitude.data(), longitude.data(), 60}}(a, b)), distance_of(geo, a, b));
    }
  EXPECT_NE(euc.hash(), up.hash());
  EXPECT_NE(up.hash(), att.hash());
}

}  // namespace
}  // namespace vicinity::tsp
