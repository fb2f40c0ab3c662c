#include "core/methods/lns/softening.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/methods/lns/branching.hpp"
#include "core/methods/lns/cp_search.hpp"
#include "core/problems/cp/oracle.hpp"
#include "core/util/rng.hpp"
#include "data/formats/flatzinc.hpp"

namespace vicinity::lns {
namespace {

/// The least sum of deviations, by complete search.
std::int64_t least_deviation(const std::string& text) {
  const std::optional<cp::Model> soft = softened(read_flatzinc(text, "m.fzn"));
  EXPECT_TRUE(soft);
  const cp::CompiledModel compiled = cp::compile(*soft);
  CpSearch search(*soft, compiled, strategy_of(*soft, compiled), 1, false);
  while (search.next({}) == CpSearch::Status::solution) {
  }
  EXPECT_TRUE(search.found());
  return search.values()[static_cast<std::size_t>(compiled.objective)];
}

TEST(Softening, MinimisesWhatEquationsMiss) {
  const std::string variables = "var 0..3: x;\nvar 0..3: y;\n";
  EXPECT_EQ(least_deviation(variables + "constraint int_lin_eq([2,4],[x,y],5);\nsolve satisfy;\n"), 1);
  EXPECT_EQ(least_deviation(variables + "constraint int_lin_eq([2,4],[x,y],6);\nsolve maximize x;\n"), 0);
  EXPECT_EQ(least_deviation(variables + "constraint int_lin_eq([1,1],[x,y],-2);\nconstraint int_lin_eq([1,1],[x,y],7);\nsolve satisfy;\n"),
            9);
  EXPECT_EQ(least_deviation(variables + "constraint int_ne(x,y);\nconstraint int_lin_eq([1,-1],[x,y],0);\nsolve satisfy;\n"), 1)
      << "what is no equation has to hold";
}

TEST(Softening, LeavesDefinitions) {
  const std::string variables = "var 0..3: x;\nvar 0..9: y :: is_defined_var;\n";
  EXPECT_FALSE(
      softened(read_flatzinc(variables + "constraint int_lin_eq([3,-1],[x,y],0) :: defines_var(y);\nsolve maximize y;\n", "m.fzn")));
  EXPECT_FALSE(softened(read_flatzinc(variables + "constraint int_lin_le([3,-1],[x,y],0);\nsolve maximize y;\n", "m.fzn")));
}

/// Weights and profits drawn, limits of half the weight, and as profit what a selection within the limits has.
std::string knapsack_of_given_profit(int items, int limits, std::uint64_t seed) {
  std::uint32_t draws = 0;
  const auto drawn = [&] { return static_cast<std::int64_t>(1 + scale_to(random_bits(seed, 0, 0, draws++), 100)); };
  std::string text, names, profits;
  std::vector<std::vector<std::int64_t>> weights(static_cast<std::size_t>(limits));
  std::vector<std::int64_t> left(weights.size(), 25 * items);
  std::int64_t profit = 0;
  for (int k = 0; k < items; ++k) {
    text += "var 0..1: x" + std::to_string(k) + ";\n";
    names += (k > 0 ? ",x" : "x") + std::to_string(k);
    const std::int64_t value = drawn();
    profits += (k > 0 ? "," : "") + std::to_string(value);
    bool fits = true;
    for (std::size_t j = 0; j < weights.size(); ++j) {
      weights[j].push_back(drawn());
      fits &= weights[j].back() <= left[j];
    }
    if (!fits) continue;
    profit += value;
    for (std::size_t j = 0; j < weights.size(); ++j) left[j] -= weights[j].back();
  }
  for (const auto& row : weights) {
    std::string numbers;
    for (const std::int64_t a : row) numbers += (numbers.empty() ? "" : ",") + std::to_string(a);
    text += "constraint int_lin_le([" + numbers + "],[" + names + "]," + std::to_string(25 * items) + ");\n";
  }
  return text + "constraint int_lin_eq([" + profits + "],[" + names + "]," + std::to_string(profit) + ");\nsolve satisfy;\n";
}

TEST(Softening, FindsSolutionsOfItsModel) {
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    const cp::Model model = read_flatzinc(knapsack_of_given_profit(40, 4, seed), "m.fzn");
    Softening softening(model, seed), again(model, seed);
    for (int steps = 0; steps < 500 && !softening.done(); ++steps) {
      (void)softening.step(Interruption());
      (void)again.step(Interruption());
    }
    const std::vector<std::int32_t> values = softening.values();
    ASSERT_EQ(values.size(), model.variables.size()) << seed;
    EXPECT_EQ(cp::complaint(model, values), "");
    EXPECT_EQ(again.values(), values) << "the same seed finds the same";
  }
}

TEST(Softening, EndsWhereThereIsNothing) {
  Softening nothing(read_flatzinc("var 0..3: x;\nsolve satisfy;\n", "m.fzn"), 1);
  EXPECT_TRUE(nothing.done());
  EXPECT_FALSE(nothing.step(Interruption()));
  EXPECT_TRUE(nothing.values().empty());
  Softening odd(read_flatzinc("var 0..3: x;\nvar 0..3: y;\nconstraint int_lin_eq([2,2],[x,y],7);\nsolve satisfy;\n", "m.fzn"), 1);
  for (int steps = 0; steps < 100 && !odd.done(); ++steps) (void)odd.step(Interruption());
  EXPECT_TRUE(odd.done()) << "the deviation is proved";
  EXPECT_TRUE(odd.values().empty());
}

TEST(Softening, IsInterrupted) {
  const std::atomic<bool> stop = true;
  Softening softening(read_flatzinc(knapsack_of_given_profit(40, 4, 1), "m.fzn"), 1);
  EXPECT_THROW((void)softening.step(Interruption(&stop)), Interrupted);
}

}  // namespace
}  // namespace vicinity::lns
