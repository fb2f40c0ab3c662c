// What the variants of the published search say of themselves: where arrays lie, which shapes were tried, where the time went.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/api/device.hpp"
#include "tests/support/lsm_twins.hpp"

namespace vicinity::lsm {
namespace {

class LsmVariants : public testing::Test {
 protected:
  void SetUp() override {
    if (!device::info()) GTEST_SKIP() << device::absence();
  }
};

/// A run of implementation `name` that was executed once.
std::unique_ptr<Run> executed(const char* name, const Trial& trial) {
  const auto all = gpu_implementations();
  auto run = named(all, name).prepare(trial.c, *trial.instance);
  run->reset(1);
  run->execute();
  EXPECT_TRUE(run->outcome().feasible) << name;
  return run;
}

TEST_F(LsmVariants, SmallInputsAreStagedInSharedMemory) {
  const auto policy = executed("gpu-shared", trial("qap", {{"size", whole(20)}, {"iterations", whole(5)}}))->policy();
  EXPECT_EQ(policy.at("shared_inputs"), 1);
  EXPECT_EQ(policy.at("shared_solution"), 1);
  EXPECT_EQ(policy.at("shared_bytes"), 2 * 400 + 80) << "entries are bytes";
  const std::map<std::string, Value> wide{{"size", whole(20)}, {"range", whole(1 << 20)}, {"iterations", whole(5)}};
  EXPECT_EQ(executed("gpu-shared", trial("qap", wide))->policy().at("shared_bytes"), 8 * 400 + 80) << "entries are not";
}

TEST_F(LsmVariants, LargeInputsStayInGlobalMemory) {
  const auto policy = executed("gpu-shared", trial("tsp", {{"size", whole(500)}, {"iterations", whole(2)}}))->policy();
  EXPECT_EQ(policy.at("shared_inputs"), 0);
  EXPECT_EQ(policy.at("shared_solution"), 1);
  EXPECT_EQ(policy.at("shared_bytes"), 2000);
}

TEST_F(LsmVariants, InputsAreInTextures) {
  const auto policy = executed("gpu-texture", trial("ppp", {{"m", whole(20)}, {"n", whole(30)}, {"iterations", whole(5)}}))->policy();
  EXPECT_EQ(policy.at("texture_inputs"), 1);
  EXPECT_EQ(policy.at("texture_solution"), 1);
}

TEST_F(LsmVariants, NeighboursFromTheHostAreWhole) {
  for (const char* neighborhood : {"hamming1", "hamming2", "hamming3"}) {
    const auto run =
        executed("gpu-host-neighborhood",
                 trial("ppp", {{"m", whole(20)}, {"n", whole(30)}, {"neighborhood", text(neighborhood)}, {"iterations", whole(5)}}));
    EXPECT_EQ(run->policy().at("solutions_by_host"), 1);
    EXPECT_EQ(run->policy().at("texture_inputs"), 1);
  }
}

/// 40000 cities have 8e8 neighbours of 40000 cities each.
TEST_F(LsmVariants, NeighboursThatNoMemoryHoldsAreRefused) {
  const auto all = gpu_implementations();
  const Trial large = trial("tsp", {{"size", whole(40000)}, {"iterations", whole(1)}});
  EXPECT_THROW(static_cast<void>(named(all, "gpu-host-neighborhood").prepare(large.c, *large.instance)), DoesNotFit);
}

/// Of a histogram's counters 256 threads have those that the products of a neighbour can need, and no more than there are products.
TEST_F(LsmVariants, CountersLieInSharedMemory) {
  const auto policy = executed("gpu", trial("ppp", {{"m", whole(101)}, {"n", whole(117)}, {"iterations", whole(5)}}))->policy();
  EXPECT_EQ(policy.at("block"), 256);
  EXPECT_EQ(policy.at("shared_bytes") % (4 * 256), 0);
  EXPECT_GT(policy.at("shared_bytes"), 5 * 4 * 256) << "5 are not read";
  EXPECT_LE(policy.at("shared_bytes"), (5 + 59) * 4 * 256);
}

/// 4950 moves: 128, 256, ... 4096 and 4950 threads in 3, 4, 5, and four times 6 sizes of blocks, 10 iterations each. Blocks of 2048
/// threads fail once, and are not tried again.
TEST_F(LsmVariants, ThreadControlTriesShapesAndSurvivesLaunchesThatFail) {
  const auto run = executed("gpu-thread-control", trial("tsp", {{"size", whole(100)}, {"iterations", whole(360)}}));
  EXPECT_EQ(run->policy().at("shapes_tried"), 36);
  EXPECT_EQ(run->policy().at("launches_failed"), 1);
  EXPECT_EQ(run->policy().at("tuned"), 1);
  run->reset(1);
  EXPECT_EQ(run->policy().at("tuned"), 0) << "a run does not profit from the one before";
}

TEST_F(LsmVariants, PartsAreTheWholeTime) {
  for (const char* name : {"gpu", "gpu-host-neighborhood", "gpu-reduction"}) {
    const auto run = executed(name, trial("ppp", {{"m", whole(101)}, {"n", whole(117)}, {"iterations", whole(50)}}));
    for (const Part part : {Part::kernel, Part::transfer, Part::host})
      EXPECT_GE(run->times()[part].value().seconds, 0) << name << ' ' << name_of(part);
    EXPECT_GT(run->times()[Part::kernel]->seconds, 0) << name;
    EXPECT_GT(run->times()[Part::transfer]->seconds, 0) << name;
    EXPECT_FALSE(run->times()[Part::clone]) << name;
    EXPECT_EQ(run->work().at(Ceiling::grid_barrier), 50) << name;
  }
}

}  // namespace
}  // namespace vicinity::lsm
