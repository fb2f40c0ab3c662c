#include "core/methods/alns/alns.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>

namespace vicinity::alns {
namespace {

TEST(Alns, RemovesAsManyAsPisingerAndRopke) {
  for (const auto& [n, fewest, most] : {std::array{1, 1, 1}, {2, 1, 1}, {5, 1, 2}, {50, 5, 20}, {199, 19, 60}, {1200, 30, 60}}) {
    EXPECT_EQ(fewest_removed(n), fewest) << n;
    EXPECT_EQ(most_removed(n), most) << n;
    EXPECT_EQ(removed_of(0, n), fewest) << n;
    EXPECT_EQ(removed_of(~std::uint64_t{0}, n), most) << n;
  }
}

TEST(Alns, DrawsOfAnIterationAreApart) {
  EXPECT_NE(bits(1, 2, 3, Draw::removed), bits(1, 2, 3, Draw::pair));
  EXPECT_NE(bits(1, 2, 3, Draw::acceptance), bits(1, 2, 3, Draw::request));
  EXPECT_NE(bits(1, 2, 3, Draw::request, 0), bits(1, 2, 3, Draw::request, 1));
  EXPECT_NE(bits(1, 2, 3, Draw::pair), bits(1, 2, 4, Draw::pair));
  EXPECT_EQ(request_of(0, 7), 1);
  EXPECT_EQ(request_of(~std::uint64_t{0}, 7), 7);
}

TEST(Alns, KeysOrderByDeltaThenPosition) {
  EXPECT_LT(insertion_key(-5, 9), insertion_key(-4, 1));
  EXPECT_LT(insertion_key(3, 1), insertion_key(3, 2));
  EXPECT_LT(insertion_key(0x7FFFFFFF, 9), no_insertion);
  for (const std::int32_t delta : {-70'000, -1, 0, 1, 0x7FFFFFFF}) {
    EXPECT_EQ(delta_of(insertion_key(delta, 12'345)), delta);
    EXPECT_EQ(position_of(insertion_key(delta, 12'345)), 12'345);
  }
  EXPECT_EQ(regret_of(insertion_key(-2, 7), insertion_key(5, 1)), 7);
  EXPECT_EQ(regret_of(insertion_key(-2, 7), no_insertion), no_insertion);
}

TEST(Alns, CutsWhatIsLongerThanThreeHalvesOfTheMean) {
  EXPECT_FALSE(cuts(15, 30, 3));
  EXPECT_TRUE(cuts(16, 30, 3));
}

TEST(Alns, HalfOfWhatIsHalfAPercentWorseIsAcceptedAtFirst) {
  const double temperature = first_temperature(1'000'000);
  EXPECT_NEAR(std::exp(-5'000 / temperature), 0.5, 1e-9);
  constexpr std::uint32_t half = 1u << 31;
  EXPECT_TRUE(accepts(4'990, temperature, half));
  EXPECT_FALSE(accepts(5'010, temperature, half));
  EXPECT_TRUE(accepts(0, temperature, ~0u));
  EXPECT_TRUE(accepts(-1, 1e-300, ~0u));
}

TEST(Alns, CoolingStartsAgainAfterItsSchedule) {
  double temperature = 8;
  for (std::int64_t done = 1; done < schedule_iterations; ++done) temperature = next_temperature(temperature, 8, done);
  EXPECT_NEAR(temperature / (8 * std::pow(0.99975, schedule_iterations - 1)), 1, 1e-9);
  EXPECT_EQ(next_temperature(temperature, 8, schedule_iterations), 8);
}

TEST(Alns, WeightsFollowTheMeanPoints) {
  EXPECT_EQ(next_weight(first_weight, 0, 0), first_weight);
  EXPECT_EQ(next_weight(first_weight, 66, 2), first_weight - first_weight / 10 + (33 << 16) / 10);
  EXPECT_EQ(next_weight(least_weight, 0, 5), least_weight);
}

TEST(Alns, PairsAreDrawnByWeight) {
  std::array<std::int32_t, operator_pairs> weights;
  weights.fill(1);
  weights[3] = 11;  // of 20
  std::array<int, operator_pairs> drawn{};
  for (std::uint64_t k = 0; k < 20; ++k) ++drawn[static_cast<std::size_t>(drawn_pair(weights, (2 * k + 1) * (~std::uint64_t{0} / 40)))];
  for (std::size_t pair = 0; pair < operator_pairs; ++pair) EXPECT_EQ(drawn[pair], weights[pair]) << pair;
}

}  // namespace
}  // namespace vicinity::alns
