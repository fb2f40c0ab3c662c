// Local searches over several processes with a GPU each, or one that they share: the result of the reference, for any number of ranks.
#include <string>
#include <vector>

#include "core/api/device.hpp"
#include "core/util/error.hpp"
#include "tests/support/lsm_twins.hpp"
#include "tests/support/rank_twins.hpp"

namespace vicinity::lsm {
namespace {

class LsmGpuRanks : public testing::Test {
 protected:
  void SetUp() override {
    if (!device::info()) GTEST_SKIP() << device::absence();
    if (const std::string absence = absence_of(gpu_rank_implementations()); !absence.empty()) GTEST_SKIP() << absence;
  }
};

Implementation reference() { return cpu_implementations().front(); }
Implementation slices() { return named(gpu_rank_implementations(), "mpi-gpu"); }
Implementation chains() { return named(gpu_rank_implementations(), "mpi-gpu-chains"); }

/// Uneven slices, more ranks than moves, climbs, several restarts.
TEST_F(LsmGpuRanks, SlicesAreTwins) { expect_rank_twins(reference(), slices(), rank_trials()); }
TEST_F(LsmGpuRanks, SlicesAreTwinsInSlicesOfTime) {
  const std::vector<Trial> all = rank_trials();
  expect_rank_twins(reference(), slices(), {all.begin(), all.begin() + 12}, in_slices);
}
/// Slices of several blocks; tabu times end in each.
TEST_F(LsmGpuRanks, LargeSlicesAreTwins) {
  expect_rank_twins(reference(), slices(),
                    {trial("qap", {{"size", whole(150)}, {"iterations", whole(60)}, {"tenure", whole(5)}}),
                     trial("ppp", {{"m", whole(101)}, {"n", whole(117)}, {"iterations", whole(60)}}),
                     trial("tsp", {{"size", whole(400)}, {"iterations", whole(60)}, {"tenure", whole(7)}}),
                     trial("weierstrass", {{"dimension", whole(10)}, {"neighbors", whole(10000)}, {"iterations", whole(20)}})});
}
/// The perceptron by tiles of each shape, by masks and by sorted rows, in windows and in device memory; more ranks than tiles.
TEST_F(LsmGpuRanks, SlicesOfPerceptronsAreTwins) {
  const auto ppp = [](std::int64_t m, std::int64_t n, const char* neighborhood, std::int64_t iterations) {
    return trial("ppp", {{"m", whole(m)}, {"n", whole(n)}, {"neighborhood", text(neighborhood)}, {"iterations", whole(iterations)}});
  };
  expect_rank_twins(
      reference(), slices(),
      {ppp(401, 417, "hamming1", 300), ppp(1700, 300, "hamming1", 60), ppp(200, 2100, "hamming1", 60), ppp(9, 1500, "hamming1", 60),
       ppp(33, 31, "hamming2", 100), ppp(201, 217, "hamming2", 100), ppp(401, 417, "hamming2", 60), ppp(1301, 317, "hamming2", 20),
       ppp(9, 500, "hamming2", 20), ppp(40, 47, "hamming3", 20), ppp(101, 117, "hamming3", 3)});
}
/// All that gpu-tuned is asked, by one rank and by two.
TEST_F(LsmGpuRanks, EdgesAreTwins) {
  for (const std::int64_t ranks : {1, 2})
    for (Trial one : edge_trials()) {
      one.c.values["ranks"] = ranks;
      expect_twins(reference(), {slices()}, {one});
      if (HasFailure()) return;
    }
}
/// Searches of several launches, which pauses end.
TEST_F(LsmGpuRanks, LongSlicesAreTwinsInSlicesOfTime) {
  expect_rank_twins(reference(), slices(),
                    {trial("qap", {{"size", whole(40)}, {"iterations", whole(1500)}, {"tenure", whole(30)}}),
                     trial("ppp", {{"m", whole(73)}, {"n", whole(73)}, {"iterations", whole(1500)}}),
                     trial("ppp", {{"m", whole(73)}, {"n", whole(73)}, {"neighborhood", text("hamming1")}, {"iterations", whole(1500)}}),
                     trial("tsp", {{"size", whole(60)}, {"iterations", whole(1500)}, {"restarts", whole(2)}})},
                    in_slices);
}
/// Fewer restarts than ranks as well.
TEST_F(LsmGpuRanks, RestartsAreTwins) { expect_rank_twins(reference(), chains(), restart_trials()); }
TEST_F(LsmGpuRanks, RestartsAreTwinsInSlicesOfTime) {
  const std::vector<Trial> all = restart_trials();
  expect_rank_twins(reference(), chains(), {all.begin() + 4, all.begin() + 12}, in_slices);
}

TEST_F(LsmGpuRanks, RunsAreAsGoodAsNew) {
  const Trial one = trial("tsp", {{"size", whole(60)}, {"iterations", whole(90)}, {"restarts", whole(3)}});
  for (const Implementation& implementation : gpu_rank_implementations()) expect_rank_runs(reference(), implementation, one);
}

TEST_F(LsmGpuRanks, ATargetMayBeReachedByAnyRank) {
  const Trial one = trial("tsp", {{"size", whole(60)}, {"method", text("hill")}, {"restarts", whole(8)}, {"ranks", whole(3)}});
  for (const Implementation& implementation : gpu_rank_implementations()) expect_a_target_ends_it(implementation, one);
}

TEST_F(LsmGpuRanks, AStartThatIsNoSolutionIsSaid) {
  const Trial one = trial("qap", {{"size", whole(12)}, {"iterations", whole(5)}, {"restarts", whole(2)}, {"ranks", whole(3)}});
  for (const Implementation& implementation : gpu_rank_implementations())
    expect_a_bad_start_is_said(reference(), implementation, one, Solution(12, 0));
}

/// As many devices as the ranks of this host use: they share one where there are fewer.
TEST_F(LsmGpuRanks, ThePolicySaysHowManyDevicesThereAre) {
  for (const std::int64_t ranks : {1, 3}) {
    const Trial one = trial("qap", {{"size", whole(12)}, {"iterations", whole(5)}, {"ranks", whole(ranks)}});
    const Policy policy = slices().prepare(one.c, *one.instance)->policy();
    EXPECT_EQ(policy.at("ranks"), ranks);
    EXPECT_GE(policy.at("devices"), 1);
    EXPECT_LE(policy.at("devices"), ranks);
  }
}

/// By polled words where each rank has a GPU of its own, and one rank always; else why not.
TEST_F(LsmGpuRanks, ThePolicySaysHowRanksExchangeMoves) {
  for (const std::int64_t ranks : {1, 2, 9}) {
    const Trial one = trial("ppp", {{"m", whole(40)}, {"n", whole(40)}, {"iterations", whole(5)}, {"ranks", whole(ranks)}});
    const Policy policy = slices().prepare(one.c, *one.instance)->policy();
    const bool polled = policy.at("polled_words") == 1, shared = policy.at("devices") < ranks;
    EXPECT_EQ(policy.contains("ranks_share_a_gpu"), shared) << ranks;
    EXPECT_TRUE(polled || ranks > 1) << ranks;
    EXPECT_EQ(polled, !shared && !policy.contains("no_peer_access") && !policy.contains("gpus_differ_in_kind")) << ranks;
  }
}

/// Where every rank is to have a GPU of its own, too few do not fit; the ranks serve the next run.
TEST_F(LsmGpuRanks, TooFewDevicesDoNotFit) {
  Trial one = trial("qap", {{"size", whole(12)}, {"iterations", whole(5)}, {"ranks", whole(9)}});
  if (slices().prepare(one.c, *one.instance)->policy().at("devices") == 9) GTEST_SKIP() << "a GPU for each rank";
  one.c.values["gpus"] = text("own");
  EXPECT_THROW(static_cast<void>(slices().prepare(one.c, *one.instance)), DoesNotFit);
  one.c.values["gpus"] = text("shared");
  expect_twins(reference(), {slices()}, {one});
}

TEST_F(LsmGpuRanks, ThePolicyOfTheLastLaunchIsSaid) {
  const Trial one = trial("qap", {{"size", whole(12)}, {"iterations", whole(5)}, {"ranks", whole(2)}});
  const auto run = slices().prepare(one.c, *one.instance);
  run->reset(1);
  run->execute();
  static_cast<void>(run->outcome());
  EXPECT_GE(run->policy().at("blocks"), 1);
}

}  // namespace
}  // namespace vicinity::lsm
