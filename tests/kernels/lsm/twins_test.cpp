// Local searches on the GPU: every implementation gives what the reference gives, whole or in slices.
#include <cstdint>
#include <vector>

#include "core/device.hpp"
#include "tests/support/lsm_twins.hpp"

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

TEST_F(LsmGpu, SlicesOfTimeGiveTheSame) { expect_twins(reference(), gpu_implementations(), slice_trials(), in_slices); }

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

TEST_F(LsmGpu, OneRunIsAsGoodAsANewOne) { expect_one_run_is_as_good_as_a_new_one(gpu_implementations()); }

TEST_F(LsmGpu, ARestartIsTheRunWithItsSeed) { expect_restarts_are_runs_with_their_seeds(gpu_implementations()); }

}  // namespace
}  // namespace vicinity::lsm
