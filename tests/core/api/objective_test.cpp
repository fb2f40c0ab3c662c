#include "core/api/objective.hpp"

#include <gtest/gtest.h>

namespace vicinity {
namespace {

TEST(Objective, SenseDecidesWhatIsBetter) {
  const Objective low(3), high(5), low_profit(3, Sense::maximise), high_profit(5, Sense::maximise);
  EXPECT_TRUE(low.better_than(high));
  EXPECT_FALSE(high.better_than(low));
  EXPECT_FALSE(low.better_than(low));
  EXPECT_TRUE(high_profit.better_than(low_profit));
  EXPECT_FALSE(low_profit.better_than(high_profit));
}

TEST(Objective, AnyValueIsBetterThanNone) {
  for (const Objective& none : {Objective(), Objective::infeasible()}) {
    EXPECT_FALSE(none);
    EXPECT_TRUE(Objective(1'000'000).better_than(none));
    EXPECT_FALSE(none.better_than(Objective(1'000'000)));
    EXPECT_FALSE(none.better_than(none));
    EXPECT_FALSE(none.reaches(1'000'000));
  }
  EXPECT_NE(Objective(), Objective::infeasible());
  EXPECT_FALSE(Objective().is_infeasible());
  EXPECT_TRUE(Objective::infeasible(Sense::maximise).is_infeasible());
  EXPECT_EQ(Objective::infeasible(Sense::maximise).sense(), Sense::maximise);
}

TEST(Objective, ReachesATargetFromItsBetterSide) {
  EXPECT_TRUE(Objective(4).reaches(5));
  EXPECT_TRUE(Objective(5).reaches(5));
  EXPECT_FALSE(Objective(6).reaches(5));
  EXPECT_FALSE(Objective(4, Sense::maximise).reaches(5));
  EXPECT_TRUE(Objective(6, Sense::maximise).reaches(5));
}

}  // namespace
}  // namespace vicinity
