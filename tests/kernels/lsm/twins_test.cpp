// Local searches on the GPU: every implementation gives what the reference gives, whole or in slices.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/device.hpp"
#include "tests/support/lsm_twins.hpp"
#include "tests/support/runs.hpp"

namespace vicinity::lsm {
namespace {

class LsmGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!device::info()) GTEST_SKIP() << device::absence();
  }
};

const Implementation& reference() {
  static const std::vector<Implementation> all = cpu_implementations();
  return all.front();
}

void expect_gpu_twins(const std::vector<Trial>& trials) { expect_twins(reference(), gpu_implementations(), trials); }

TEST_F(LsmGpu, TheReferenceIsTheSystemsOwn) { EXPECT_EQ(reference().name, system().reference); }

TEST_F(LsmGpu, RandomTwins) { expect_gpu_twins(random_trials(100)); }

TEST_F(LsmGpu, EdgeTwins) { expect_gpu_twins(edge_trials()); }

TEST_F(LsmGpu, RandomTwinsInSlices) { expect_twins(reference(), gpu_implementations(), random_trials(40), in_slices); }

TEST_F(LsmGpu, SlicesOfTimeGiveTheSame) {
  expect_twins(reference(), gpu_implementations(),
               {trial("qap", {{"size", whole(30)}, {"iterations", whole(100)}, {"restarts", whole(3)}}),
                trial("ppp", {{"m", whole(30)}, {"n", whole(30)}, {"method", text("hill")}, {"restarts", whole(3)}}),
                trial("tsp", {{"size", whole(60)}, {"iterations", whole(50)}}),
                trial("weierstrass", {{"dimension", whole(4)}, {"neighbors", whole(300)}, {"iterations", whole(30)}})},
               in_slices);
}

/// More moves than threads that are resident at a time, or that have room for a histogram; numbers of moves around whole blocks.
TEST_F(LsmGpu, ManyMovesAndWholeBlocks) {
  std::vector<Trial> trials{
      trial("qap", {{"size", whole(480)}, {"iterations", whole(3)}}),
      trial("qap", {{"size", whole(130)}, {"neighborhood", text("exchange3")}, {"iterations", whole(3)}}),
      trial("ppp", {{"m", whole(61)}, {"n", whole(150)}, {"neighborhood", text("hamming3")}, {"iterations", whole(3)}}),
      trial("ppp", {{"m", whole(3)}, {"n", whole(1200)}, {"iterations", whole(3)}}),
      trial("tsp", {{"size", whole(2000)}, {"iterations", whole(5)}, {"tenure", whole(3)}}),
  };
  for (const std::int64_t neighbors : {255, 256, 257, 511, 512, 513})
    trials.push_back(trial("weierstrass", {{"dimension", whole(2)}, {"neighbors", whole(neighbors)}, {"iterations", whole(10)}}));
  for (const std::int64_t n : {255, 256, 257})
    trials.push_back(trial("ppp", {{"m", whole(20)}, {"n", whole(n)}, {"neighborhood", text("hamming1")}, {"iterations", whole(300)}}));
  expect_gpu_twins(trials);
}

/// Distances from the coordinates, since the matrix would be too large.
TEST_F(LsmGpu, ManyCities) { expect_gpu_twins({trial("tsp", {{"size", whole(16400)}, {"iterations", whole(1)}})}); }

/// Every move is taken again and again, so that tabu times end, and are renewed.
TEST_F(LsmGpu, TabuTimesEnd) {
  std::vector<Trial> trials;
  for (const std::int64_t tenure : {1, 2, 3, 5, 8}) {
    trials.push_back(trial("qap", {{"size", whole(5)}, {"tenure", whole(tenure)}, {"iterations", whole(300)}}));
    trials.push_back(trial(
        "ppp",
        {{"m", whole(9)}, {"n", whole(9)}, {"neighborhood", text("hamming1")}, {"tenure", whole(tenure)}, {"iterations", whole(300)}}));
    trials.push_back(trial("tsp", {{"size", whole(6)}, {"tenure", whole(tenure)}, {"iterations", whole(300)}}));
  }
  expect_gpu_twins(trials);
}

TEST_F(LsmGpu, OneRunIsAsGoodAsANewOne) {
  for (const Trial& one : {trial("qap", {{"size", whole(30)}, {"iterations", whole(200)}}),
                           trial("ppp", {{"m", whole(40)}, {"n", whole(50)}, {"iterations", whole(50)}}),
                           trial("tsp", {{"size", whole(50)}, {"iterations", whole(100)}}),
                           trial("weierstrass", {{"dimension", whole(3)}, {"iterations", whole(5)}})})
    for (const Implementation& implementation : gpu_implementations()) {
      const auto run = implementation.prepare(one.c, *one.instance);
      const std::uint64_t first = expect_seeds_decide(*run, implementation.name);
      run->reset(1);
      static_cast<void>(run->advance(0));
      EXPECT_TRUE(run->outcome().feasible) << "a search under way has a solution";
      run->execute();
      EXPECT_EQ(first, run->outcome().digest) << implementation.name;
      EXPECT_GT(run->times().at("kernel"), 0) << implementation.name;
      run->reset(1);
      EXPECT_FALSE(run->outcome().feasible) << implementation.name << ": a run that did nothing passed";
    }
}

TEST_F(LsmGpu, ARestartIsTheRunWithItsSeed) {
  const std::map<std::string, Value> base{{"m", whole(30)}, {"n", whole(31)}, {"method", text("hill")}};
  for (const Implementation& implementation : gpu_implementations()) {
    std::int64_t best = std::numeric_limits<std::int64_t>::max(), iterations = 0;
    for (std::int64_t k = 0; k < 4; ++k) {
      auto values = base;
      values["seed"] = k;
      const Outcome one = outcome_of(implementation, trial("ppp", values), at_once);
      best = std::min(best, *one.objective);
      iterations += one.iterations;
    }
    auto values = base;
    values["restarts"] = whole(4);
    const Outcome all = outcome_of(implementation, trial("ppp", values), at_once);
    EXPECT_EQ(*all.objective, best) << implementation.name;
    EXPECT_EQ(all.iterations, iterations) << implementation.name;
    EXPECT_EQ(all.counters.at("local_optima"), 4) << implementation.name;
  }
}

}  // namespace
}  // namespace vicinity::lsm
