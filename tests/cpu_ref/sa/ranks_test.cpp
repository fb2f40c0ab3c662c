// Annealing over several processes on the cores of this host: the result of the reference, for any number of ranks.
#include <vector>

#include "tests/support/rank_twins.hpp"
#include "tests/support/sa_twins.hpp"

namespace vicinity::sa {
namespace {

class SaRanks : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string absence = absence_of(cpu_rank_implementations()); !absence.empty()) GTEST_SKIP() << absence;
  }
};

Implementation reference() { return cpu_annealing_implementations().front(); }
Implementation chains() { return cpu_rank_implementations().front(); }

/// Fewer chains than ranks, as many, more than they can share evenly; one and two threads a rank.
TEST_F(SaRanks, ChainsAreTwins) { expect_rank_twins(reference(), chains(), rank_trials()); }
TEST_F(SaRanks, ChainsAreTwinsInSlicesOfTime) { expect_rank_twins(reference(), chains(), rank_trials(), in_slices); }
TEST_F(SaRanks, EdgeTwins) { expect_twins(reference(), {chains()}, edge_trials()); }
TEST_F(SaRanks, RunsAreAsGoodAsNew) {
  expect_rank_runs(reference(), chains(), trial(30, 9000, {{"chains", std::int64_t{3}}, {"threads", std::int64_t{1}}}));
}

TEST_F(SaRanks, AStartThatIsNoPermutationIsSaid) {
  expect_a_bad_start_is_said(reference(), chains(), trial(12, 500, {{"chains", std::int64_t{2}}, {"ranks", std::int64_t{3}}}),
                             Solution(12, 0));
}

}  // namespace
}  // namespace vicinity::sa
