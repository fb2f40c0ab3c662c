#include <fmt/format.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/methods/lns/branching.hpp"
#include "core/methods/lns/cp_search.hpp"
#include "core/problems/cp/oracle.hpp"
#include "core/util/error.hpp"
#include "tests/support/complaint.hpp"
#include "tests/support/lns_twins.hpp"

namespace vicinity::lns {
namespace {

/// The optimum, proved.
std::int64_t optimum(const cp::Problem& problem) {
  CpSearch search(problem.model(), problem.compiled(), strategy_of(problem.model(), problem.compiled()), 1, false);
  CpSearch::Status status = CpSearch::Status::solution;
  while (status == CpSearch::Status::solution) status = search.next({});
  EXPECT_EQ(status, CpSearch::Status::exhausted);
  return search.values()[static_cast<std::size_t>(problem.compiled().objective)];
}

const cp::Problem& problem_of(const Trial& one) { return dynamic_cast<const cp::Problem&>(*one.instance); }

TEST(LnsCpu, TheReferenceIsTheFirst) { EXPECT_EQ(reference().name, systems::lns().reference); }

TEST(LnsCpu, RandomTwins) { expect_twins(reference(), cpu_implementations(), random_trials(systems::lns(), 40)); }

TEST(LnsCpu, TwinsOfAllStrategiesOnTwoHundredModels) {
  for (std::int64_t k = 0; k < 200; ++k) expect_twins(reference(), cpu_implementations(), trials_of_all_strategies(k));
}

TEST(LnsCpu, SlicesGiveTheSame) {
  const std::vector<Trial> trials = trials_of_many_steps();
  expect_twins(reference(), cpu_implementations(), trials, in_slices);
  expect_prefix_twins(cpu_implementations(), trials);
}

TEST(LnsCpu, OneRunIsAsGoodAsANewOne) { expect_a_run_is_as_good_as_new(cpu_implementations(), trial(chain(), {{"strategy", "RL"}})); }

TEST(LnsCpu, StartsAreNeverMadeWorse) {
  Trial one = trial(chain(), {{"strategy", "GS"}, {"steps", std::int64_t{1}}});
  one.start = outcome_of(reference(), trial(chain(), {{"strategy", "ICM"}, {"steps", std::int64_t{20}}}), at_once).solution;
  const std::int64_t given = *problem_of(one).objective(*one.start);
  for (const Implementation& implementation : cpu_implementations()) {
    const Outcome outcome = outcome_of(implementation, one, at_once);
    EXPECT_GE(*outcome.objective, given) << implementation.name;
    EXPECT_EQ(outcome.counters.at("first"), given) << implementation.name;
  }
  one.start->front() = one.start->at(1);
  EXPECT_EQ(complaint<InputError>([&] { static_cast<void>(outcome_of(reference(), one, at_once)); }),
            "the start is no solution: m.fzn:8: int_ne does not hold");
}

TEST(LnsCpu, CompleteExplorationOfAllVariablesFindsTheOptimum) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Trial one = trial(random_model(4, 6, 4, seed), {{"strategy", "CE"},
                                                          {"released", std::int64_t{4}},
                                                          {"subsets", std::int64_t{1}},
                                                          {"starts", static_cast<std::int64_t>(1 + seed % 5)},
                                                          {"steps", std::int64_t{1}}});
    const Outcome outcome = outcome_of(reference(), one, at_once);
    EXPECT_EQ(*outcome.objective, optimum(problem_of(one))) << seed;
  }
}

TEST(LnsCpu, ConditionalModesAreBestInEachVariable) {
  const Trial one =
      trial(chain(), {{"strategy", "ICM"}, {"start", "current"}, {"percent", std::int64_t{100}}, {"steps", std::int64_t{10}}});
  const cp::Problem& problem = problem_of(one);
  const Outcome outcome = outcome_of(reference(), one, at_once);
  for (std::int32_t k = 0; k < problem.free_variables().count; ++k)
    for (std::int64_t j = 0; j < problem.free_variables().variables[k].size; ++j) {
      std::vector<std::int32_t> slots = problem.evaluation().slots();
      std::copy(outcome.solution.begin(), outcome.solution.end(), slots.begin());
      slots[static_cast<std::size_t>(problem.free_variables().variables[k].slot)] = problem.free_variables().value(k, j);
      if (problem.evaluation().evaluate(slots) > 0) continue;
      slots.resize(outcome.solution.size());
      EXPECT_LE(*problem.objective(slots), *outcome.objective);
    }
}

TEST(LnsCpu, PermutationsKeepTheValues) {
  for (const char* strategy : {"RP", "2P"}) {
    const Trial one = trial(
        permutation(), {{"strategy", strategy}, {"percent", std::int64_t{100}}, {"starts", std::int64_t{15}}, {"steps", std::int64_t{20}}});
    const auto first = first_solution(problem_of(one));
    const Outcome outcome = outcome_of(reference(), one, at_once);
    EXPECT_LT(*outcome.objective, outcome.counters.at("first")) << strategy;
    const auto values = [](const std::vector<std::int32_t>& all) { return std::multiset<std::int32_t>(all.begin(), all.begin() + 6); };
    EXPECT_EQ(values(outcome.solution), values(first)) << strategy;
  }
}

/// More pigeons than holes: CP search would go on for minutes.
TEST(LnsCpu, TheFirstSolutionCanBeInterrupted) {
  std::string text;
  for (int k = 0; k < 60; ++k) text += fmt::format("var 1..59: x{} :: output_var;\n", k);
  for (int k = 0; k < 60; ++k)
    for (int j = 0; j < k; ++j) text += fmt::format("constraint int_ne(x{},x{});\n", j, k);
  const Trial one = trial(text + "solve minimize x0;\n", {{"steps", std::int64_t{5}}});
  for (const Implementation& implementation : cpu_implementations()) {
    const auto begin = std::chrono::steady_clock::now();
    const auto run = implementation.prepare(one.c, *one.instance);
    run->reset(1);
    std::atomic<bool> stop = false;
    std::thread later([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      stop = true;
    });
    EXPECT_TRUE(run->execute({.stop = &stop})) << "work is left";
    later.join();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10)) << implementation.name;
    EXPECT_FALSE(run->outcome().feasible);
    EXPECT_EQ(run->outcome().iterations, 0);
  }
}

TEST(LnsCpu, StartingPointsByCpAreConsistent) {
  const auto started = [&](const char* start) {
    const Trial one = trial(
        permutation(), {{"repetitions", std::int64_t{0}}, {"start", start}, {"released", std::int64_t{4}}, {"steps", std::int64_t{50}}});
    const Outcome outcome = outcome_of(reference(), one, at_once);
    EXPECT_EQ(outcome.iterations, 50);
    return std::pair(*outcome.objective, outcome.counters.at("started"));
  };
  EXPECT_EQ(started("cp"), std::pair(std::int64_t{56}, std::int64_t{50 * 100}));
  EXPECT_LT(started("random").second, 50 * 100 / 10);
}

TEST(LnsCpu, PassesBeginWithTheFirstSolution) {
  const auto passes = [](std::int64_t steps, std::int64_t restarts) {
    return trial(chain(),
                 {{"strategy", "RL"}, {"steps", steps}, {"restarts", restarts}, {"subsets", std::int64_t{1}}, {"starts", std::int64_t{1}}});
  };
  // The first pass is the same, whatever follows.
  const Outcome one = outcome_of(reference(), passes(5, 0), at_once), three = outcome_of(reference(), passes(5, 2), at_once);
  EXPECT_EQ(one.iterations, 5);
  EXPECT_EQ(three.iterations, 15);
  EXPECT_GE(*three.objective, *one.objective);
  EXPECT_NE(outcome_of(reference(), passes(15, 0), at_once).digest, three.digest);
  expect_prefix_twins({reference()}, {passes(5, 2)});
}

TEST(LnsCpu, ModelsWithoutChoiceOrSolution) {
  const std::string fixed =
      "var 3..3: x;\nvar 1..9: z :: is_defined_var;\nconstraint int_times(x,x,z) :: defines_var(z);\nsolve minimize z;\n";
  const std::string none = "var 1..9: x;\nconstraint int_ne(x,x);\nsolve minimize x;\n";
  for (const Implementation& implementation : cpu_implementations())
    for (const std::string& strategy : strategies()) {
      EXPECT_EQ(*outcome_of(implementation, trial(fixed, {{"strategy", strategy}}), at_once).objective, 9) << strategy;
      const Outcome outcome = outcome_of(implementation, trial(none, {{"strategy", strategy}}), at_once);
      EXPECT_FALSE(outcome.feasible);
      EXPECT_EQ(outcome.complaint, "CP search finds no first solution");
    }
}

TEST(LnsCpu, ModelsWithoutAGoal) {
  const Outcome outcome =
      outcome_of(reference(), trial(random_csp(20, 40, 4, 3), {{"start", "cp"}, {"repetitions", std::int64_t{0}}}), at_once);
  EXPECT_TRUE(outcome.feasible);
  EXPECT_EQ(*outcome.objective, 0);
  EXPECT_GT(outcome.counters.at("started"), 0);
}

}  // namespace
}  // namespace vicinity::lns
