#include "core/api/device.hpp"

#include <cstdint>
#include "core/util/error.hpp"
#include "tests/support/fang_twins.hpp"

namespace vicinity::fang {
namespace {

class FangGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!device::info()) GTEST_SKIP() << device::absence();
  }
};

TEST_F(FangGpu, RandomTwins) { expect_twins(cpu_implementations().front(), gpu_implementations(), random_cases(200)); }

TEST_F(FangGpu, EdgeTwins) { expect_twins(cpu_implementations().front(), gpu_implementations(), edge_cases()); }

TEST_F(FangGpu, ChoicesFollowWeights) {
  for (const Implementation& implementation : gpu_implementations())
    for (const std::int64_t possibilities : {5, 70}) expect_choices_follow_weights(implementation, possibilities, 20000);
}

TEST_F(FangGpu, ABatchGivesTheSameResultAndResetPoisons) {
  const Case c{
      "grid-path",
      "",
      {{"states", std::int64_t{5}}, {"variables", std::int64_t{4}}, {"possibilities", std::int64_t{80}}, {"load", std::int64_t{1}}}};
  const auto instance = make_instance(c);
  for (const Implementation& implementation : gpu_implementations()) {
    const std::uint64_t expected = outcome_of(implementation, c, 3).digest;
    const auto run = implementation.prepare(c, *instance);
    ASSERT_TRUE(run->set_batch(7));
    run->reset(3);
    EXPECT_FALSE(run->outcome().feasible) << implementation.name << ": a run that did nothing passed";
    run->execute();
    EXPECT_EQ(run->outcome().digest, expected) << implementation.name;
  }
}

TEST_F(FangGpu, EquationOneIsCheckedBeforeAllocation) {
  const Case c{"grid-path",
               "",
               {{"states", std::int64_t{1 << 20}},
                {"variables", std::int64_t{1}},
                {"possibilities", std::int64_t{98304}},
                {"load", std::int64_t{1}}}};
  const auto instance = make_instance(c);
  try {
    static_cast<void>(gpu_implementations().front().prepare(c, *instance));
    FAIL() << "1.2 TB fit this device?";
  } catch (const DoesNotFit& error) {
    EXPECT_NE(std::string(error.what()).find("equation 1: 98304 possibilities x 1048576 states x 12 bytes"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace vicinity::fang
