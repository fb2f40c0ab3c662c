// Local searches on the GPU: every implementation gives what the reference gives, whole or in slices.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "core/api/device.hpp"
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

TEST_F(LsmGpu, TheReferenceIsTheSystemsOwn) { EXPECT_EQ(reference().name, systems::lsm().reference); }

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
      trial("tsp", {{"size", whole(800)}, {"iterations", whole(5)}, {"tenure", whole(3)}}),
  };
  for (const std::int64_t neighbors : {255, 256, 257, 511, 512, 513})
    trials.push_back(trial("weierstrass", {{"dimension", whole(2)}, {"neighbors", whole(neighbors)}, {"iterations", whole(10)}}));
  for (const std::int64_t n : {255, 256, 257})
    trials.push_back(trial("ppp", {{"m", whole(20)}, {"n", whole(n)}, {"neighborhood", text("hamming1")}, {"iterations", whole(300)}}));
  expect_gpu_twins(trials);
}

/// gpu-tuned goes from one block to a cluster, to the whole grid, and from shared to device memory, in slices as well.
TEST_F(LsmGpu, WaysOfTheTunedSearch) {
  std::vector<Trial> trials;
  for (const char* matrix : {"symmetric", "asymmetric"}) {
    for (const std::int64_t size : {85, 120, 140, 154, 158, 256, 318, 322, 400})
      trials.push_back(trial("qap", {{"size", whole(size)}, {"matrix", text(matrix)}, {"iterations", whole(300)}}));
    for (const std::int64_t size : {60, 100, 110})
      trials.push_back(
          trial("qap", {{"size", whole(size)}, {"matrix", text(matrix)}, {"range", whole(30000)}, {"iterations", whole(300)}}));
  }
  for (const std::int64_t size : {307, 333, 334, 440, 700, 1300, 2400, 6000, 21000})
    trials.push_back(trial("tsp", {{"size", whole(size)}, {"iterations", whole(60)}, {"tenure", whole(20)}}));
  trials.push_back(trial("tsp", {{"size", whole(1300)}, {"extent", whole(100000)}, {"iterations", whole(60)}}));
  trials.push_back(trial("tsp", {{"size", whole(9500)}, {"extent", whole(100000)}, {"iterations", whole(20)}}));  // beyond shared memory
  for (const std::int64_t tenure : {0, 7})  // past the first local optimum, where many swaps are tabu
    trials.push_back(trial("tsp", {{"size", whole(340)}, {"iterations", whole(3000)}, {"tenure", whole(tenure)}}));
  for (const auto& [m, n] : {std::pair(401, 417), std::pair(1301, 1317), std::pair(5000, 100), std::pair(100, 3000)})
    for (const char* neighborhood : {"hamming1", "hamming2"})
      trials.push_back(trial("ppp", {{"m", whole(m)}, {"n", whole(n)}, {"neighborhood", text(neighborhood)}, {"iterations", whole(5)}}));
  for (const char* precision : {"float", "double"})
    trials.push_back(trial(
        "weierstrass", {{"dimension", whole(64)}, {"neighbors", whole(20011)}, {"precision", text(precision)}, {"iterations", whole(3)}}));
  const std::vector<Implementation> tuned{named(gpu_implementations(), "gpu-tuned")};
  const Implementation openmp = named(cpu_implementations(), "cpu-openmp");  // the reference would take minutes
  expect_twins(openmp, tuned, trials);
  expect_twins(openmp, tuned, {trials.begin(), trials.begin() + 28}, in_slices);
}

/// gpu-tuned evaluates few of the moves of these: as many as usual, all that are tabu, those of a climb, and with columns beyond shared
/// memory.
TEST_F(LsmGpu, FewMovesByBounds) {
  std::vector<Trial> trials{
      trial("ppp", {{"m", whole(1301)}, {"n", whole(1317)}, {"iterations", whole(900)}}),
      trial("ppp", {{"m", whole(1302)}, {"n", whole(1100)}, {"iterations", whole(800)}}),
      trial("ppp", {{"m", whole(1500)}, {"n", whole(1439)}, {"iterations", whole(300)}}),
      trial("ppp", {{"m", whole(1025)}, {"n", whole(200)}, {"method", text("hill")}}),
      trial("ppp", {{"m", whole(1024)}, {"n", whole(1400)}, {"iterations", whole(300)}}),
      trial("ppp", {{"m", whole(601)}, {"n", whole(617)}, {"iterations", whole(900)}}),
      trial("ppp", {{"m", whole(513)}, {"n", whole(769)}, {"iterations", whole(300)}}),
      trial("ppp", {{"m", whole(1000)}, {"n", whole(1504)}, {"iterations", whole(100)}}),
      // tabu moves, of which in 10,000 iterations a few are the best all the same, become free again
      trial("ppp", {{"m", whole(201)}, {"n", whole(217)}, {"restarts", whole(30)}, {"iterations", whole(10000)}}),
      trial("ppp", {{"m", whole(200)}, {"n", whole(218)}, {"tenure", whole(40)}, {"restarts", whole(30)}, {"iterations", whole(3000)}}),
      trial("ppp", {{"m", whole(401)}, {"n", whole(417)}, {"tenure", whole(500)}, {"restarts", whole(4)}, {"iterations", whole(3000)}}),
  };
  for (const std::int64_t m : {513, 1100})
    for (const std::int64_t n : {95, 96})
      for (const std::int64_t tenure : {3, 90, 200})
        trials.push_back(trial("ppp", {{"m", whole(m)}, {"n", whole(n)}, {"tenure", whole(tenure)}, {"iterations", whole(600)}}));
  const std::vector<Implementation> tuned{named(gpu_implementations(), "gpu-tuned")};
  const Implementation openmp = named(cpu_implementations(), "cpu-openmp");
  expect_twins(openmp, tuned, trials);
  expect_twins(openmp, tuned, trials, in_slices);
}

/// gpu-tuned has bounds from the rows near zero for so many pairs: several tiles a block, more rows near zero than one product takes, odd
/// and even sizes, tabu moves, climbs, restarts.
TEST_F(LsmGpu, ManyPairs) {
  const auto many = [](std::int64_t m, std::int64_t n, std::int64_t iterations) {
    return trial("ppp", {{"m", whole(m)}, {"n", whole(n)}, {"neighborhood", text("hamming2")}, {"iterations", whole(iterations)}});
  };
  std::vector<Trial> trials{many(1000, 1500, 1500), many(301, 1501, 700), many(33, 2049, 300), many(6000, 800, 60),
                            many(2501, 2517, 40),   many(4201, 4217, 8),  many(100, 10017, 6)};
  for (const std::int64_t tenure : {1, 400}) {
    trials.push_back(many(200, 1450, 900));
    trials.back().c.values["tenure"] = whole(tenure);
  }
  trials.push_back(many(97, 1472, 300));
  trials.back().c.values["restarts"] = whole(3);
  trials.push_back(trial("ppp", {{"m", whole(90)}, {"n", whole(1600)}, {"neighborhood", text("hamming2")}, {"method", text("hill")}}));
  const std::vector<Implementation> tuned{named(gpu_implementations(), "gpu-tuned")};
  const Implementation openmp = named(cpu_implementations(), "cpu-openmp");
  expect_twins(openmp, tuned, trials);
  expect_twins(openmp, tuned, {trials.begin(), trials.begin() + 4}, in_slices);
}

/// gpu-tuned has another way for so few cities, unless the number of blocks is given.
TEST_F(LsmGpu, FewCitiesByRows) {
  std::vector<Trial> trials;
  for (const auto& some : {edge_trials(), random_trials(200)})
    std::copy_if(some.begin(), some.end(), std::back_inserter(trials), [](const Trial& one) { return one.c.problem == "tsp"; });
  for (const std::int64_t tenure : {1, 3, 8})
    trials.push_back(trial("tsp", {{"size", whole(6)}, {"tenure", whole(tenure)}, {"iterations", whole(300)}}));
  const std::vector<Implementation> tuned{named(gpu_implementations(), "gpu-tuned")};
  for (const int blocks : {1, 4, 40}) {
    if (blocks == 4 && device::info()->compute_capability < 90) continue;
    for (Trial& one : trials) one.c.values["blocks"] = whole(blocks);
    expect_twins(reference(), tuned, trials);
    expect_twins(reference(), tuned, trials, in_slices);
  }
}

/// More restarts than blocks that live at a time.
TEST_F(LsmGpu, ManyChains) {
  expect_twins(reference(), {named(gpu_implementations(), "gpu-chains")},
               {trial("qap", {{"size", whole(12)}, {"restarts", whole(700)}, {"iterations", whole(5)}}),
                trial("ppp", {{"m", whole(20)}, {"n", whole(21)}, {"restarts", whole(700)}, {"iterations", whole(3)}}),
                trial("tsp", {{"size", whole(20)}, {"restarts", whole(700)}, {"method", text("hill")}})});
}

/// Distances from the coordinates, since the matrix would be too large. So would all neighbours be, each as a whole.
TEST_F(LsmGpu, ManyCities) {
  std::vector<Implementation> implementations = gpu_implementations();
  std::erase_if(implementations, [](const Implementation& one) { return one.name == "gpu-host-neighborhood"; });
  expect_twins(reference(), implementations, {trial("tsp", {{"size", whole(16400)}, {"iterations", whole(1)}})});
}

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

TEST_F(LsmGpu, PrefixesAreTheSame) {
  std::vector<Implementation> all{cpu_implementations().front()};
  for (const Implementation& implementation : gpu_implementations()) all.push_back(implementation);
  expect_prefix_twins(all, random_trials(40));
}

}  // namespace
}  // namespace vicinity::lsm
