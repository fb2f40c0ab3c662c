// gpu-lns on a device: runs what cpu-lns finds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/api/device.hpp"
#include "kernels/lns/implementations.hpp"
#include "tests/core/problems/cp/random_models.hpp"
#include "tests/support/lns_models.hpp"
#include "tests/support/lns_walkers.hpp"

namespace vicinity::lns::repair {
namespace {

class LnsRepairGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!device::info()) GTEST_SKIP() << device::absence();
  }
};

const Implementation& twin() {
  static const std::vector<Implementation> all = cpu_repair_implementations();
  return all.front();
}

Trial rounds(const std::string& text, std::int64_t steps, std::int64_t subsets) {
  return trial(text, {{"steps", steps}, {"subsets", subsets}});
}
std::vector<Trial> larger_models(std::int64_t steps, std::int64_t subsets) {
  std::vector<Trial> all;
  for (const std::string& text :
       {assignment(12), assignment(40), long_sums(70), long_sums(200), sums(3), differences(8), permutation(), chain()})
    all.push_back(rounds(text, steps, subsets));
  return all;
}

TEST_F(LnsRepairGpu, RandomTwins) {
  std::vector<Trial> trials = random_trials(systems::lns(), 100);
  for (Trial& one : trials) one.c.values["steps"] = std::int64_t{4};
  expect_twins(twin(), gpu_repair_implementations(), trials);
}

TEST_F(LnsRepairGpu, TwinsOnTwoHundredModels) {
  for (std::int64_t k = 0; k < 200; ++k) {
    const auto text = random_model(2 + k % 19, 1 + k % 24, 2 + k % 16, static_cast<std::uint64_t>(1000 + k));
    expect_twins(twin(), gpu_repair_implementations(), {rounds(text, 4, 1 + k % 20)});
  }
}

TEST_F(LnsRepairGpu, TwinsWithEachPredicate) {
  for (const auto& predicate : cp::predicates())
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      Trial one = rounds(chain(), 3, 12);
      one.instance = std::make_shared<cp::Problem>(model_with(predicate, seed));
      const Outcome expected = outcome_of(twin(), one, at_once);
      if (!expected.feasible) continue;
      expect_same(outcome_of(gpu_repair_implementations().front(), one, at_once), expected, predicate.first);
    }
}

TEST_F(LnsRepairGpu, TwinsOnLargerModels) { expect_twins(twin(), gpu_repair_implementations(), larger_models(40, 20)); }

TEST_F(LnsRepairGpu, SlicesGiveTheSame) {
  const std::vector<Trial> trials = larger_models(9, 5);
  expect_twins(twin(), gpu_repair_implementations(), trials, in_slices);
  expect_prefix_twins({twin(), gpu_repair_implementations().front()}, trials);
}

TEST_F(LnsRepairGpu, LargeModelsInDeviceMemory) {
  std::string text, names, ones;
  for (int k = 0; k < 2'000; ++k) {  // 136 bytes of domain each
    text += fmt::format("var 0..1000: x{};\n", k);
    names += fmt::format("{}x{}", k == 0 ? "" : ",", k);
    ones += fmt::format("{},", 1 + k % 7);
  }
  text += "var 0..99999999: z :: is_defined_var;\n";
  text += "constraint int_lin_eq([" + ones + "-1],[" + names + ",z],0) :: defines_var(z);\n";
  text += "solve :: int_search([" + names + "],input_order,indomain_min,complete) maximize z;\n";
  const Trial one = rounds(text, 3, 6);
  EXPECT_EQ(gpu_repair_implementations().front().prepare(one.c, *one.instance)->policy().at("shared_bytes"), 0);
  expect_twins(twin(), gpu_repair_implementations(), {one});
}

TEST_F(LnsRepairGpu, OneRunIsAsGoodAsANewOne) {
  expect_a_run_is_as_good_as_new(gpu_repair_implementations(), rounds(assignment(20), 30, 8));
}

TEST_F(LnsRepairGpu, AnInterruptionKeepsWhatWasFound) {
  const Trial one = rounds(assignment(40), 1'000'000, 16);
  const auto run = gpu_repair_implementations().front().prepare(one.c, *one.instance);
  run->reset(1);
  static_cast<void>(run->execute({.iterations = 30}));
  const Objective before = run->trace().back().objective;
  std::atomic<bool> stop = false;
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    stop = true;
  });
  EXPECT_TRUE(run->execute({.stop = &stop}));
  const Outcome outcome = run->outcome();
  EXPECT_TRUE(outcome.feasible) << outcome.complaint;
  EXPECT_FALSE(before.better_than(run->trace().back().objective));
  run->reset(1);
  static_cast<void>(run->execute({.iterations = 30}));
  EXPECT_EQ(run->trace().back().objective, before);
}

TEST_F(LnsRepairGpu, ModelsWithoutChoiceOrSolution) {
  const Trial none = rounds("var 1..9: x;\nconstraint int_ne(x,x);\nsolve minimize x;\n", 5, 4);
  EXPECT_EQ(outcome_of(gpu_repair_implementations().front(), none, at_once).complaint, "the model has no solution");
  const Trial fixed =
      rounds("var 3..3: x;\nvar 1..9: z :: is_defined_var;\nconstraint int_times(x,x,z) :: defines_var(z);\nsolve minimize z;\n", 5, 4);
  const Trial any = rounds("var 1..9: x;\nvar 1..9: y;\nconstraint int_ne(x,y);\nsolve satisfy;\n", 5, 4);
  expect_twins(twin(), gpu_repair_implementations(), {fixed, any});
}

}  // namespace
}  // namespace vicinity::lns::repair
