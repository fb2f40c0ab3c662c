// Large neighbourhood search on the GPU: it gives what the reference gives, whole or in slices.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/api/device.hpp"
#include "core/util/error.hpp"
#include "kernels/lns/implementations.hpp"
#include "tests/support/complaint.hpp"
#include "tests/support/lns_twins.hpp"

namespace vicinity::lns {
namespace {

class LnsGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!device::info()) GTEST_SKIP() << device::absence();
  }
};

/// Global constraints are not propagated on the device.
bool has_globals(const Trial& one) {
  const cp::NetworkView network = dynamic_cast<const cp::Problem&>(*one.instance).compiled().network->view();
  return std::any_of(network.kind, network.kind + network.constraints, [](cp::Kind kind) { return kind > cp::Kind::element_var; });
}
std::vector<Trial> on_the_device(std::vector<Trial> trials) {
  std::erase_if(trials, [](const Trial& one) {
    const auto start = one.c.values.find("start");
    return start != one.c.values.end() && start->second == Value(std::string("cp")) && has_globals(one);
  });
  return trials;
}

TEST_F(LnsGpu, RandomTwins) { expect_twins(reference(), gpu_implementations(), on_the_device(random_trials(systems::lns(), 100))); }

TEST_F(LnsGpu, TwinsOfAllStrategiesOnTwoHundredModels) {
  for (std::int64_t k = 0; k < 200; ++k) expect_twins(reference(), gpu_implementations(), on_the_device(trials_of_all_strategies(k)));
}

TEST_F(LnsGpu, SlicesGiveTheSame) {
  const std::vector<Trial> trials = trials_of_many_steps();
  expect_twins(reference(), gpu_implementations(), trials, in_slices);
  for (const Implementation& one : gpu_implementations()) expect_prefix_twins({reference(), one}, trials);
}

TEST_F(LnsGpu, AnInterruptedStepIsMadeAgain) {
  std::vector<Trial> trials = trials_of_many_steps();
  for (Trial& one : trials) one.c.values["repetitions"] = std::int64_t{2000};
  trials.push_back(trial(differences(9), {{"strategy", "RL"}, {"repetitions", std::int64_t{2000}}, {"steps", std::int64_t{5}}}));
  trials.push_back(trial(differences(9), {{"strategy", "ICM"}, {"repetitions", std::int64_t{100}}, {"steps", std::int64_t{5}}}));
  expect_twins(reference(), gpu_implementations(), trials, interrupted);
}

TEST_F(LnsGpu, LargeModelsInDeviceMemory) {
  // Slots and domains that shared memory has no room for; a sum that a block shares.
  std::string text, names, ones;
  for (int k = 0; k < 24'000; ++k) {
    const std::string name = fmt::format("x{}", k);
    text += "var 0..1: " + name + ";\n";
    names += (k == 0 ? "" : ",") + name;
    ones += "1,";
  }
  text += "var 0..24000: z :: is_defined_var;\nconstraint int_lin_eq([" + ones + "-1],[" + names + ",z],0) :: defines_var(z);\n";
  text += "solve :: int_search([" + names + "],input_order,indomain_min,complete) maximize z;\n";
  std::vector<Trial> trials;
  for (const char* start : {"cp", "random"})
    trials.push_back(
        trial(text, {{"start", start}, {"released", std::int64_t{20}}, {"subsets", std::int64_t{3}}, {"steps", std::int64_t{2}}}));
  for (const Implementation& one : gpu_implementations())
    EXPECT_EQ(one.prepare(trials.front().c, *trials.front().instance)->policy().at("shared_bytes"), 0) << one.name;
  expect_twins(reference(), gpu_implementations(), trials);
}

TEST_F(LnsGpu, OneRunIsAsGoodAsANewOne) { expect_a_run_is_as_good_as_new(gpu_implementations(), trial(chain(), {{"strategy", "RL"}})); }

TEST_F(LnsGpu, BlocksOfEachSize) {
  // Few walkers get large blocks, many small ones; kept sums that share their terms.
  std::vector<std::int64_t> sizes;
  for (const std::int64_t starts : {1, 40, 300, 3000})
    for (const char* strategy : {"RL", "GS", "RP"})
      for (const std::string& text : {differences(16), sums(starts)}) {
        const Trial one = trial(text, {{"strategy", strategy},
                                       {"released", std::int64_t{12}},
                                       {"repetitions", std::int64_t{2}},
                                       {"subsets", std::int64_t{3}},
                                       {"starts", starts},
                                       {"steps", std::int64_t{3}}});
        sizes.push_back(gpu_implementations().back().prepare(one.c, *one.instance)->policy().at("block"));
        expect_twins(reference(), gpu_implementations(), {one});
      }
  EXPECT_GT(*std::max_element(sizes.begin(), sizes.end()), 32);
  EXPECT_EQ(*std::min_element(sizes.begin(), sizes.end()), 32);
}

TEST_F(LnsGpu, AssignmentsSideBySide) {
  std::vector<std::string> texts{differences(16)};
  for (std::uint64_t seed = 0; seed < 40; ++seed) texts.push_back(linear_model(seed, 4 + static_cast<int>(seed % 9), 40, seed % 4 != 0));
  std::size_t side_by_side = 0;
  for (const std::string& text : texts)
    for (const char* strategy : {"RL", "CE", "ICM"})
      for (const std::int64_t starts : {5, 33, 300}) {
        const Trial one = trial(text, {{"strategy", std::string(strategy)},
                                       {"start", std::string(starts == 33 ? "current" : "random")},
                                       {"released", std::int64_t{2}},
                                       {"repetitions", std::int64_t{std::string(strategy) == "CE" ? 1 : 3}},
                                       {"subsets", std::int64_t{3}},
                                       {"starts", starts},
                                       {"steps", std::int64_t{3}}});
        const Implementation tuned = gpu_implementations().back();
        side_by_side += static_cast<std::size_t>(tuned.prepare(one.c, *one.instance)->policy().at("lanes"));
        expect_twins(reference(), {tuned}, {one});
      }
  EXPECT_GT(side_by_side, 3 * texts.size());
}

TEST_F(LnsGpu, SideBySideInGroups) {
  const Trial one = trial(differences(40), {{"released", std::int64_t{30}},
                                            {"subsets", std::int64_t{25'000}},
                                            {"starts", std::int64_t{16}},
                                            {"steps", std::int64_t{1}},
                                            {"threads", std::int64_t{0}}});
  const Policy policy = gpu_implementations().back().prepare(one.c, *one.instance)->policy();
  EXPECT_EQ(policy.at("lanes"), 1);
  EXPECT_LT(policy.at("group"), 25'000);
  expect_twins(cpu_implementations()[1], {gpu_implementations().back()}, {one});
}

TEST_F(LnsGpu, SubsetsInGroups) {
  // Their programs do not fit the memory that they may have all at once.
  const Trial one =
      trial(differences(40),
            {{"released", std::int64_t{30}}, {"subsets", std::int64_t{25'000}}, {"starts", std::int64_t{1}}, {"steps", std::int64_t{2}}});
  EXPECT_LT(gpu_implementations().back().prepare(one.c, *one.instance)->policy().at("group"), 25'000);
  expect_twins(reference(), {gpu_implementations().back()}, {one});
}

TEST_F(LnsGpu, ModelsWithoutChoiceOrSolution) {
  const std::string fixed =
      "var 3..3: x;\nvar 1..9: z :: is_defined_var;\nconstraint int_times(x,x,z) :: defines_var(z);\nsolve minimize z;\n";
  const std::string none = "var 1..9: x;\nconstraint int_ne(x,x);\nsolve minimize x;\n";
  for (const Implementation& gpu : gpu_implementations())
    for (const std::string& strategy : strategies()) {
      for (const char* start : {"random", "cp"})
        EXPECT_EQ(*outcome_of(gpu, trial(fixed, {{"strategy", strategy}, {"start", start}}), at_once).objective, 9) << strategy;
      const Trial without = trial(none, {{"strategy", strategy}});
      EXPECT_EQ(outcome_of(gpu, without, at_once).digest, outcome_of(reference(), without, at_once).digest) << strategy;
    }
}

TEST_F(LnsGpu, WhatTheDeviceCannotPropagateIsSkipped) {
  const Trial one = trial(permutation(), {{"start", "cp"}});
  for (const Implementation& gpu : gpu_implementations())
    EXPECT_EQ(complaint<DoesNotFit>([&] { static_cast<void>(gpu.prepare(one.c, *one.instance)); }),
              "start = cp: global constraints are not propagated on the device");
}

}  // namespace
}  // namespace vicinity::lns
