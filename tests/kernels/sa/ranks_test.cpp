// Annealing over several processes with a GPU each, or one that they share: the result of the reference, for any number of ranks.
#include <string>

#include "core/api/device.hpp"
#include "tests/support/rank_twins.hpp"
#include "tests/support/sa_twins.hpp"

namespace vicinity::sa {
namespace {

class SaGpuRanks : public testing::Test {
 protected:
  void SetUp() override {
    if (!device::info()) GTEST_SKIP() << device::absence();
    if (const std::string absence = absence_of(gpu_rank_implementations()); !absence.empty()) GTEST_SKIP() << absence;
  }
};

Implementation reference() { return cpu_annealing_implementations().front(); }
Implementation chains() { return gpu_rank_implementations().front(); }

/// Fewer chains than ranks, as many, more than they can share evenly.
TEST_F(SaGpuRanks, ChainsAreTwins) { expect_rank_twins(reference(), chains(), rank_trials()); }
TEST_F(SaGpuRanks, ChainsAreTwinsInSlicesOfTime) { expect_rank_twins(reference(), chains(), rank_trials(), in_slices); }
TEST_F(SaGpuRanks, RunsAreAsGoodAsNew) { expect_rank_runs(reference(), chains(), trial(30, 9000, {{"chains", std::int64_t{3}}})); }

}  // namespace
}  // namespace vicinity::sa
