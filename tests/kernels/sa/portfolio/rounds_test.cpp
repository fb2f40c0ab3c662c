// gpu-portfolio gives what cpu-portfolio gives, whole, in slices, and after an interruption.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/api/device.hpp"
#include "core/methods/sa/portfolio.hpp"
#include "core/util/error.hpp"
#include "tests/support/sa_twins.hpp"

namespace vicinity::sa {
namespace {

class PortfolioGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!device::info()) GTEST_SKIP() << device::absence();
  }
};

Implementation cpu() { return cpu_portfolio_implementations().front(); }
std::vector<Implementation> gpu() { return gpu_portfolio_implementations(); }
void expect_portfolio_twins(const std::vector<Trial>& trials, const std::function<void(Run&)>& go = at_once) {
  expect_twins(cpu(), gpu(), trials, go);
}

/// Rounds enough for children and, of small populations, for a population that begins anew.
std::vector<Trial> some_trials() {
  std::vector<Trial> trials;
  for (const std::int64_t size : {2, 3, 4, 5, 8, 9, 12, 16, 17, 31, 32, 33, 49, 64, 65, 66, 99, 100, 102, 103, 127, 128, 129})
    for (const char* matrix : {"symmetric", "asymmetric"})
      for (const std::int64_t range : {1, 2, 100, 250, 30000, 1 << 20}) {
        const std::int64_t chains = 5 + size % 7, steps = 10 + size % 50;
        trials.push_back(
            trial(size, chains * steps * 12, {{"chains", chains}, {"leg", steps}, {"matrix", std::string(matrix)}, {"range", range}}));
      }
  return trials;
}

TEST_F(PortfolioGpu, EdgeTwins) { expect_portfolio_twins(some_trials()); }
TEST_F(PortfolioGpu, EdgeTwinsInSlices) { expect_portfolio_twins(some_trials(), in_slices); }

TEST_F(PortfolioGpu, RandomTwins) {
  std::vector<Trial> trials;
  for (Trial& one : random_trials(100)) {
    if (one.c.integer("size", 1, 10'000) > 259) continue;
    one.c.values["chains"] = std::int64_t{7};
    for (const char* axis : {"leg", "schedule", "t0", "tf", "samples"}) one.c.values.erase(axis);  // of annealing, but for leg
    trials.push_back(std::move(one));
  }
  EXPECT_GT(trials.size(), 60u);
  expect_portfolio_twins(trials);
}

/// Matrices and tabu times in device memory from some size on.
TEST_F(PortfolioGpu, LargeTwins) {
  std::vector<Trial> trials;
  for (const std::int64_t size : {150, 200, 234, 240, 241, 256, 259})
    for (const char* matrix : {"symmetric", "asymmetric"})
      for (const std::int64_t range : {100, 250, 1 << 20})
        trials.push_back(
            trial(size, 3 * 4 * 400,
                  {{"chains", std::int64_t{4}}, {"leg", std::int64_t{400}}, {"matrix", std::string(matrix)}, {"range", range}}));
  expect_portfolio_twins(trials);
}

TEST_F(PortfolioGpu, SearchesAsLongAsTabuTimesHold) {
  expect_portfolio_twins({trial(40, 1, {{"chains", std::int64_t{3}}, {"leg", std::int64_t{portfolio::most_steps}}})});
}

TEST_F(PortfolioGpu, MorePopulationsThanOne) {
  const Trial small = trial(9, 200'000, {{"chains", std::int64_t{8}}});
  EXPECT_GT(outcome_of(cpu(), small, at_once).counters.at("restarts"), 2);
  expect_portfolio_twins({small});
}

TEST_F(PortfolioGpu, GoesOnFromAGivenSolution) {
  Trial one = trial(33, 1, {{"chains", std::int64_t{3}}});
  one.start.emplace();
  for (std::int32_t i = 0; i < 33; ++i) one.start->push_back((7 * i + 3) % 33);
  expect_portfolio_twins({one});
}

TEST_F(PortfolioGpu, TooLargeOnesAreToldSo) {
  const Trial large = trial(400, 1);
  EXPECT_THROW(static_cast<void>(gpu().front().prepare(large.c, *large.instance)), DoesNotFit);
}

TEST_F(PortfolioGpu, AnInterruptionChangesNothingOfWhatFollows) {
  const Trial one = trial(60, 3'000'000, {{"chains", std::int64_t{300}}, {"leg", std::int64_t{5'000}}});
  const std::uint64_t whole = outcome_of(cpu(), one, at_once).digest;
  const auto run = gpu().front().prepare(one.c, *one.instance);
  run->reset(11);
  for (int interruption = 1; interruption < 6; ++interruption) {
    std::atomic<bool> stop = false;
    std::jthread raises([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(interruption));
      stop = true;
    });
    static_cast<void>(run->execute({.stop = &stop}));
    raises.join();
    const Outcome so_far = run->outcome();
    EXPECT_TRUE(so_far.feasible) << so_far.complaint;
  }
  run->execute();
  EXPECT_EQ(run->outcome().digest, whole);
}

TEST_F(PortfolioGpu, PrefixesAreTheSame) { expect_prefix_twins_in_rounds({cpu(), gpu().front()}); }

TEST_F(PortfolioGpu, ARunThatDidNothingDoesNotPass) {
  const Trial some = trial(30, 100);
  const auto run = gpu().front().prepare(some.c, *some.instance);
  run->reset(11);
  EXPECT_FALSE(run->outcome().feasible);
}

}  // namespace
}  // namespace vicinity::sa
