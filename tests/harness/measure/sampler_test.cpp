#include "harness/measure/sampler.hpp"

#include <benchmark/benchmark.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace vicinity {
namespace {

TEST(Sampler, AsManyAsAskedForOrUntilItIsEnough) {
  int calls = 0;
  const auto repetition = [&] { return Sample{.wall = 1e-3 * ++calls, .parts = {}}; };
  const std::vector<Sample> all = sample(repetition, 5);
  ASSERT_EQ(all.size(), 5U);
  EXPECT_DOUBLE_EQ(all.back().wall, 5e-3);
  EXPECT_EQ(sample(repetition, 9, [](const std::vector<Sample>& taken) { return taken.size() == 2; }).size(), 2U);
  EXPECT_EQ(calls, 7);
}

TEST(Sampler, ThatNothingWasMeasuredIsNoResult) {
  benchmark::SetBenchmarkFilter("nomatch");
  EXPECT_THROW(static_cast<void>(sample([] { return Sample(); }, 3)), std::runtime_error);
  benchmark::SetBenchmarkFilter("");
}

}  // namespace
}  // namespace vicinity
