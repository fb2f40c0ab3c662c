#include "harness/measure/precision.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "harness/measure/sampler.hpp"

namespace vicinity {
namespace {

std::vector<double> numbers(int count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  std::iota(values.rbegin(), values.rend(), 1.0);  // in any order
  return values;
}

/// Ranks from tables of the sign test: Conover, section 3.2; R's qbinom(0.025, n, 0.5).
TEST(Precision, RanksOfTheMedian) {
  EXPECT_FALSE(median_interval({}));
  EXPECT_FALSE(median_interval(numbers(5)));
  using Pair = std::pair<double, double>;
  EXPECT_EQ(median_interval(numbers(6)), Pair(1, 6));
  EXPECT_EQ(median_interval(numbers(9)), Pair(2, 8));
  EXPECT_EQ(median_interval(numbers(20)), Pair(6, 15));
  EXPECT_EQ(median_interval(numbers(30)), Pair(10, 21));
  EXPECT_EQ(median_interval(numbers(100)), Pair(40, 61));
}

TEST(Precision, OutliersDoNotWidenIt) {
  std::vector<double> values(20, 1.0);
  values[3] = values[11] = 100;
  EXPECT_TRUE(known_within(values, 0.01));
  for (int k = 0; k < 20; ++k) values[static_cast<std::size_t>(k)] = 1 + 0.002 * k;
  EXPECT_FALSE(known_within(values, 0.01));
  EXPECT_TRUE(known_within(values, 0.02));
  EXPECT_FALSE(known_within(std::vector<double>(20, 1.0), 0));
}

TEST(Sampler, EndsWhenItIsEnough) {
  int calls = 0;
  const auto repetition = [&] {
    ++calls;
    return Sample{.wall = 1e-3 * calls, .parts = {}};
  };
  EXPECT_EQ(sample(repetition, 5).size(), 5U);
  calls = 0;
  const auto taken = sample(repetition, 1000, [](const std::vector<Sample>& all) { return all.size() == 7; });
  EXPECT_EQ(taken.size(), 7U);
  EXPECT_EQ(calls, 7);
  EXPECT_DOUBLE_EQ(taken.back().wall, 7e-3);
}

TEST(Sampler, RethrowsAndStops) {
  int calls = 0;
  const auto repetition = [&]() -> Sample {
    if (++calls == 3) throw std::runtime_error("broken");
    return {};
  };
  EXPECT_THROW(static_cast<void>(sample(repetition, 10)), std::runtime_error);
  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace vicinity
