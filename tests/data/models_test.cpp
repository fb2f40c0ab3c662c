// Constraint problems of cases: their sizes as the paper has them, their first solutions, best values, solution files.
#include "data/models.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "core/methods/lns/task.hpp"
#include "core/problems/cp/oracle.hpp"
#include "core/util/error.hpp"
#include "data/formats/flatzinc.hpp"
#include "data/generators/models.hpp"
#include "data/search_path.hpp"
#include "tests/support/complaint.hpp"
#include "tests/support/scratch.hpp"

namespace vicinity {
namespace {

Case case_of(const std::string& problem, const std::string& instance, std::map<std::string, Value> values = {}) {
  return {problem, instance, std::move(values)};
}

std::int64_t first_cost(const cp::Problem& problem) { return *problem.objective(lns::first_solution(problem)); }

TEST(Models, ColouringAsInTheTable) {
  const auto problem = make_model(case_of("mkcp", "1-Insertions_4"));
  EXPECT_EQ(problem->free_variables().count, 67);
  EXPECT_EQ(problem->model().variables.size(), 67u + 4423);
  EXPECT_EQ(problem->model().constraints.size(), 4655u);
  EXPECT_EQ(first_cost(*problem), 2098);
  EXPECT_FALSE(best_known_model(case_of("mkcp", "1-Insertions_4")));  // the catalogue's is the number of colours
}

TEST(Models, NumberingHasAllValues) {
  const auto problem = make_model(case_of("mkcp", "1-Insertions_4", {{"model", "permutation"}}));
  EXPECT_EQ(problem->free_variables().count, 67);
  EXPECT_EQ(problem->model().constraints.size(), 2u * 232 + 2);
  EXPECT_GT(first_cost(*problem), 0);
}

TEST(Models, QapCostsAreThoseOfTheProblem) {
  const qap::Qap qap("small", 3, {0, 2, 0, 1, 0, 3, 4, 0, 0}, {0, 5, 7, 6, 0, 1, 2, 3, 0});
  const cp::Problem problem(read_flatzinc(qap_model(qap), "qap"));
  std::vector<std::int32_t> slots = problem.evaluation().slots();
  for (const std::vector<std::int32_t>& p : {std::vector<std::int32_t>{0, 1, 2}, {2, 0, 1}, {1, 0, 2}}) {
    for (std::size_t k = 0; k < 3; ++k) slots[k] = p[k] + 1;
    EXPECT_EQ(problem.evaluation().evaluate(slots), 0);
    EXPECT_EQ(*problem.objective({slots.data(), problem.model().variables.size()}), qap::cost(qap, p));
  }
}

TEST(Models, RandomDisequalities) {
  const auto problem = make_model(case_of("csp", ""));
  EXPECT_EQ(problem->free_variables().count, 70);
  EXPECT_EQ(problem->model().constraints.size(), 200u);
  EXPECT_NE(problem->hash(), make_model(case_of("csp", "", {{"instance_seed", std::int64_t{2}}}))->hash());
  EXPECT_EQ(complaint<InputError>([] {
              (void)make_model(case_of("csp", "", {{"variables", std::int64_t{3}}, {"constraints", std::int64_t{4}}}));
            }),
            "4 disequalities: 3 variables have 3 pairs");
}

TEST(Models, KnapsacksAndTheirOptima) {
  const Knapsack small{{5, 4, 3}, {10, 40, 50}, 7};
  EXPECT_EQ(knapsack_optimum(small), 90);
  const Case c = case_of("knapsack", "", {{"items", std::int64_t{12}}, {"range", std::int64_t{50}}});
  const auto problem = make_model(c);
  EXPECT_EQ(first_cost(*problem), 0);
  const Knapsack knapsack = random_knapsack(12, 50, Correlation::strong, 1);
  std::int64_t best = 0;
  for (std::uint32_t chosen = 0; chosen < 1u << 12; ++chosen) {
    std::int64_t weight = 0, profit = 0;
    for (std::size_t k = 0; k < 12; ++k)
      if ((chosen >> k & 1) != 0) weight += knapsack.weight[k], profit += knapsack.profit[k];
    if (weight <= knapsack.capacity) best = std::max(best, profit);
  }
  EXPECT_EQ(best_known_model(c), best);
}

TEST(Models, TheKnapsackOfTheRepositoryIsDrawn) {
  const auto drawn = make_model(case_of("knapsack", "")), read = make_model(case_of("flatzinc", "knapsack-100"));
  EXPECT_EQ(best_known_model(case_of("knapsack", "")), best_known_model(case_of("flatzinc", "knapsack-100")));
  for (std::size_t chosen = 0; chosen < 100; ++chosen) {
    std::vector<std::int32_t> values(101, 0);
    values[chosen] = 1;
    const auto profit = [&](const cp::Problem& problem) {
      std::vector<std::int32_t> slots = problem.evaluation().slots();
      for (std::size_t k = 0; k < 100; ++k) slots[static_cast<std::size_t>(problem.free_variables().variables[k].slot)] = values[k];
      EXPECT_EQ(problem.evaluation().evaluate(slots), 0);
      return lns::cost_of(problem.model(), slots);
    };
    EXPECT_EQ(profit(*drawn), profit(*read));
  }
}

TEST(Models, ThoseOfTheRepositoryAreThere) {
  for (const auto& [name, count] :
       std::map<std::string, int>{{"transportation", 12}, {"tsp-ulysses16", 480}, {"knapsack-100", 100}, {"coins-grid", 961}}) {
    const auto problem = make_model(case_of("flatzinc", name));
    EXPECT_EQ(problem->free_variables().count, count) << name;
    const Objective best(*best_known_model(case_of("flatzinc", name)), problem->sense());
    EXPECT_EQ(*best, best_known_of(*problem)) << name;
    EXPECT_FALSE(Objective(first_cost(*problem), problem->sense()).better_than(best)) << name;
  }
  EXPECT_EQ(complaint<InputError>([] { (void)make_model(case_of("qap", "coins-grid")); }),
            "instance 'coins-grid' is not for problem qap: its format is flatzinc, not qaplib");
  EXPECT_EQ(complaint<InputError>([] { (void)make_model(case_of("qap", "")); }), "problem qap needs an instance of format qaplib");
}

TEST(Models, FilesOfOnesOwnAreRecognisedByTheirContent) {
  const TemporaryFolder folder;
  const auto copy = folder / "mine.fzn";
  std::filesystem::copy_file(data_folder() / "models" / "transportation.fzn", copy);
  EXPECT_EQ(best_known_of(*read_model(copy.string())), 6600);
  const auto other = folder.write("other.fzn", "var 1..9: x;\nsolve minimize x;\n");
  EXPECT_FALSE(best_known_of(*read_model(other.string())));
}

TEST(Models, WithoutVariablesThereIsNothingToSearch) {
  const TemporaryFolder folder;
  const std::string file = folder.write("empty.fzn", "solve satisfy;\n").string();
  EXPECT_EQ(complaint<InputError>([&] { (void)read_model(file); }), file + ": there are no variables, and nothing to search");
}

TEST(Models, RandomModelsHaveTheirHiddenSolution) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const cp::Problem problem(read_flatzinc(random_model(6, 10, 5, seed), "random"));
    const auto values = lns::first_solution(problem);
    ASSERT_FALSE(values.empty()) << seed;
    EXPECT_EQ(cp::complaint(problem.model(), values), "");
  }
}

TEST(Models, SolutionFiles) {
  const cp::Problem problem(read_flatzinc("var bool: b;\nvar 1..9: x;\nsolve minimize x;\n", "m.fzn"));
  EXPECT_EQ(model_solution_text(problem, {1, 4}), "b = true;\nx = 4;\n");
  const TemporaryFolder folder;
  const auto told = [&](const std::string& text) {
    const std::string file = folder.write("s.sol", text).string();
    const std::string what = complaint<InputError>([&] { EXPECT_EQ(read_model_solution(problem, file), (Solution{1, 4})); });
    return what.substr(std::min(what.size(), file.size()));
  };
  EXPECT_EQ(told("% found\nx = 4;\n b=true ;\n----------\n"), "");
  EXPECT_EQ(told("x = 4;\n"), ": no value of b");
  EXPECT_EQ(told("x = 4;\nx = 4;\n"), ":2: a second value of x");
  EXPECT_EQ(told("x = 4\n"), ":1: expected name = value;");
  EXPECT_EQ(told("y = 4;\n"), ":1: the model has no variable y");
  EXPECT_EQ(told("x = true;\n"), ":1: true is no whole number of 32 bits");
  EXPECT_EQ(told("b = 1;\n"), ":1: 1 is no bool");
  EXPECT_EQ(told("x = 99999999999;\n"), ":1: 99999999999 is no whole number of 32 bits");
}

}  // namespace
}  // namespace vicinity
