#include "core/methods/lsm/tour_search.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace vicinity::tour_search {
namespace {

/// 100 cities, 100 kicks a round: n kicks are a round. The mean edge is 8.
Cooling cooling() { return {Task{.walkers = 2, .kicks = 50}, 100, 800}; }

TEST(Cooling, CyclesDouble) {
  Cooling one = cooling();
  std::vector<std::int64_t> starts;
  for (std::int64_t round = 0; round < 310; ++round) {
    if (round < 10) {
      EXPECT_EQ(one.temperature(), 0) << round;
    }
    if (one.advance()) starts.push_back(round + 1);
  }
  EXPECT_EQ(starts, (std::vector<std::int64_t>{10, 30, 70, 150, 310}));
}

TEST(Cooling, FallsTowardsZero) {
  Cooling one = cooling();
  for (int round = 0; round < 10; ++round) static_cast<void>(one.advance());
  EXPECT_FLOAT_EQ(one.temperature(), 2);
  for (int round = 0; round < 10; ++round) EXPECT_FALSE(one.advance());
  EXPECT_FLOAT_EQ(one.temperature(), 1);
  for (int round = 0; round < 9; ++round) EXPECT_FALSE(one.advance());
  EXPECT_FLOAT_EQ(one.temperature(), 0.1f);
  EXPECT_TRUE(one.advance());
}

TEST(Cooling, BeginsNearerToTheMeanEdgeWithEachCycle) {
  Cooling one = cooling();
  std::vector<float> starts;
  for (int round = 0; round < 310; ++round)
    if (one.advance()) starts.push_back(one.temperature());
  EXPECT_EQ(starts, (std::vector<float>{2, 3.5f, 4.625f, 5.46875f, 6.1015625f}));
}

TEST(Cooling, ARoundMayHaveMoreKicksThanACycle) {
  Cooling one(Task{.walkers = 1, .kicks = 1000}, 5, 50);
  EXPECT_EQ(one.temperature(), 0);
  EXPECT_TRUE(one.advance());
  EXPECT_FLOAT_EQ(one.temperature(), 2.5f);
}

TEST(Keeps, WhatIsShorterAlwaysAndWhatIsAsLongNever) {
  for (const float temperature : {0.0f, 1.0f, 1e9f})
    for (std::int32_t kick = 0; kick < 100; ++kick) {
      EXPECT_TRUE(keeps(temperature, -1, 1, 2, 3, kick));
      EXPECT_FALSE(keeps(temperature, 0, 1, 2, 3, kick));
    }
}

/// Of 10,000 kicks, within five standard deviations.
TEST(Keeps, WhatIsLongerByMetropolis) {
  for (const std::int64_t loss : {1, 5, 20, 60}) {
    int kept = 0, kept_cold = 0;
    for (std::int32_t kick = 0; kick < 10'000; ++kick) {
      kept += keeps(20, loss, 1, 2, 3, kick) ? 1 : 0;
      kept_cold += keeps(0, loss, 1, 2, 3, kick) ? 1 : 0;
    }
    const double expected = std::exp(-static_cast<double>(loss) / 20);
    EXPECT_NEAR(kept, 10'000 * expected, 5 * std::sqrt(10'000 * expected * (1 - expected))) << loss;
    EXPECT_EQ(kept_cold, 0);
  }
}

}  // namespace
}  // namespace vicinity::tour_search
