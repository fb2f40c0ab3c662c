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

}  // namespace
}  // namespace vicinity::tsp
