// Local searches over several processes on the cores of this host: the result of the reference, for any number of ranks.
#include <string>
#include <utility>
#include <vector>

#include "tests/support/lsm_twins.hpp"
#include "tests/support/rank_twins.hpp"

namespace vicinity::lsm {
namespace {

class LsmRanks : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string absence = absence_of(cpu_rank_implementations()); !absence.empty()) GTEST_SKIP() << absence;
  }
};

Implementation reference() { return cpu_implementations().front(); }
Implementation openmp() { return named(cpu_rank_implementations(), "mpi-openmp"); }
Implementation chains() { return named(cpu_rank_implementations(), "mpi-chains"); }

/// Uneven slices, more ranks than moves, climbs, several restarts; several threads a rank.
TEST_F(LsmRanks, SlicesAreTwins) { expect_rank_twins(reference(), openmp(), rank_trials()); }
TEST_F(LsmRanks, SlicesAreTwinsInSlicesOfTime) { expect_rank_twins(reference(), openmp(), slice_trials(), in_slices); }
/// Fewer restarts than ranks as well.
TEST_F(LsmRanks, RestartsAreTwins) { expect_rank_twins(reference(), chains(), restart_trials()); }
TEST_F(LsmRanks, RestartsAreTwinsInSlicesOfTime) {
  const std::vector<Trial> all = restart_trials();
  expect_rank_twins(reference(), chains(), {all.begin() + 4, all.begin() + 12}, in_slices);
}
TEST_F(LsmRanks, EdgeTwins) { expect_twins(reference(), cpu_rank_implementations(), edge_trials()); }

TEST_F(LsmRanks, RunsAreAsGoodAsNew) {
  const Trial one = trial("tsp", {{"size", whole(60)}, {"iterations", whole(90)}, {"restarts", whole(3)}});
  for (const Implementation& implementation : cpu_rank_implementations()) expect_rank_runs(reference(), implementation, one);
}

TEST_F(LsmRanks, ARestartIsTheRunWithItsSeed) { expect_restarts_are_runs_with_their_seeds(cpu_rank_implementations()); }

/// A target that one rank reaches ends the run on all.
TEST_F(LsmRanks, ATargetMayBeReachedByAnyRank) {
  const Trial one = trial("tsp", {{"size", whole(60)}, {"method", text("hill")}, {"restarts", whole(8)}, {"ranks", whole(3)}});
  for (const Implementation& implementation : cpu_rank_implementations()) expect_a_target_ends_it(implementation, one);
}

TEST_F(LsmRanks, AStartThatIsNoSolutionIsSaid) {
  const Trial one = trial("qap", {{"size", whole(12)}, {"iterations", whole(5)}, {"restarts", whole(2)}, {"ranks", whole(3)}});
  for (const Implementation& implementation : cpu_rank_implementations())
    expect_a_bad_start_is_said(reference(), implementation, one, Solution(12, 0));
}

TEST_F(LsmRanks, PartsOfTheTime) {
  const Trial one = trial("ppp", {{"m", whole(200)}, {"n", whole(200)}, {"iterations", whole(20)}, {"restarts", whole(2)}});
  for (const Implementation& implementation : cpu_rank_implementations()) {
    const auto run = implementation.prepare(one.c, *one.instance);
    run->reset(1);
    const Stopwatch watch;
    run->execute();
    const double all = watch.seconds(), kernel = run->times()[Part::kernel]->seconds;
    const double communication = run->times()[Part::communication]->seconds;
    EXPECT_GT(kernel, 0) << implementation.name;
    EXPECT_GT(communication, 0) << implementation.name;
    EXPECT_LT(kernel + communication, all) << implementation.name;
  }
}

}  // namespace
}  // namespace vicinity::lsm
