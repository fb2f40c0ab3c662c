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
  EXPECT_FALSE(task_of(annealing_case({})).window);
  const annealing::Task task = task_of(annealing_case({{"t0", 8.0}, {"tf", std::int64_t{2}}}));
  ASSERT_TRUE(task.window);
  const annealing::Cooling cooling = cooling_in(*task.window, task, 5);
  EXPECT_EQ(cooling.first, 0.125);
  EXPECT_EQ(cooling.step, 0.00375);
  EXPECT_TRUE(cooling.freezes());
}

TEST(TaskOf, TheScheduleIsThePapersUnlessAskedFor) {
  EXPECT_EQ(task_of(annealing_case({})).schedule, annealing::Schedule::connolly);
  EXPECT_EQ(task_of(annealing_case({{"schedule", std::string("connolly")}})).schedule, annealing::Schedule::connolly);
  const annealing::Task task =
      task_of(annealing_case({{"schedule", std::string("acceptance")}, {"leg", std::int64_t{7}}, {"t0", 8.0}, {"tf", 8.0}}));
  EXPECT_EQ(task.schedule, annealing::Schedule::acceptance);
  EXPECT_EQ(cooling_in(*task.window, task, 5).leg, 7);
}

TEST(TaskOf, RefusesTemperaturesThatMakeNoSense) {
  const auto told = [](std::map<std::string, Value> more) {
    return complaint<InputError>([&] { (void)task_of(annealing_case(std::move(more))); });
  };
  EXPECT_EQ(told({{"t0", 5.0}}), "qap: t0 and tf come together");
  EXPECT_EQ(told({{"tf", 5.0}}), "qap: t0 and tf come together");
  EXPECT_EQ(told({{"t0", 5.0}, {"tf", 5.5}}), "qap: t0 = 5 is below tf = 5.5");
  EXPECT_EQ(told({{"t0", 5.0}, {"tf", std::int64_t{0}}}), "qap: tf = 0 is not a number above 0");
  EXPECT_EQ(told({{"leg", std::int64_t{5}}}), "qap: leg is of the schedule acceptance");
  EXPECT_EQ(told({{"schedule", std::string("acceptance")}, {"samples", std::int64_t{5}}}), "qap: samples is of the schedule connolly");
  EXPECT_NE(told({{"schedule", std::string("warm")}}), "");
  EXPECT_NE(told({{"schedule", std::string("acceptance")}, {"leg", std::int64_t{0}}}), "");
  EXPECT_EQ(told({{"t0", std::string("hot")}, {"tf", 1.0}}), "qap: t0 = hot is not a number above 0");
}

}  // namespace
}  // namespace vicinity::sa
