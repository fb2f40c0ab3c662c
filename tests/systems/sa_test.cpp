#include "core/methods/sa/task.hpp"
#include "systems/list.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "core/util/error.hpp"
#include "tests/support/complaint.hpp"

namespace vicinity::sa {
namespace {

Case annealing_case(std::map<std::string, Value> more) {
  more["size"] = std::int64_t{5};
  more["iterations"] = std::int64_t{100};
  return {"qap", "", std::move(more)};
}

TEST(TaskOf, TemperaturesAreGivenOrSampled) {
  EXPECT_FALSE(task_of(annealing_case({})).cooling);
  const auto cooling = task_of(annealing_case({{"t0", 8.0}, {"tf", std::int64_t{2}}})).cooling;
  ASSERT_TRUE(cooling);
  EXPECT_EQ(cooling->first, 0.125);
  EXPECT_EQ(cooling->step, 0.00375);
}

TEST(TaskOf, RefusesTemperaturesThatMakeNoSense) {
  const auto told = [](std::map<std::string, Value> more) {
    return complaint<InputError>([&] { (void)task_of(annealing_case(std::move(more))); });
  };
  EXPECT_EQ(told({{"t0", 5.0}}), "qap: t0 and tf come together");
  EXPECT_EQ(told({{"tf", 5.0}}), "qap: t0 and tf come together");
  EXPECT_EQ(told({{"t0", 5.0}, {"tf", 5.5}}), "qap: t0 = 5 is below tf = 5.5");
  EXPECT_EQ(told({{"t0", 5.0}, {"tf", std::int64_t{0}}}), "qap: tf = 0 is not a number above 0");
  EXPECT_EQ(told({{"t0", std::string("hot")}, {"tf", 1.0}}), "qap: t0 = hot is not a number above 0");
}

}  // namespace
}  // namespace vicinity::sa
