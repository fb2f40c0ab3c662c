#include "core/methods/lns/pair_costs.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "core/methods/lns/task.hpp"
#include "data/formats/flatzinc.hpp"
#include "data/generators/models.hpp"
#include "tests/support/lns_twins.hpp"

namespace vicinity::lns {
namespace {

/// n different numbers from 1 on, and more text behind.
std::string different(int n, const std::string& variables, const std::string& constraints, const std::string& goal) {
  std::string text, all;
  for (int k = 1; k <= n; ++k) {
    text.append("var 1..").append(std::to_string(n)).append(": x").append(std::to_string(k)).append(";\n");
    all.append(k > 1 ? "," : "").append("x").append(std::to_string(k));
  }
  return text + variables + "constraint fzn_all_different_int([" + all + "]);\n" + constraints + "solve " + goal + ";\n";
}

/// The cost of an assignment of the free variables, by the evaluation of the model.
std::int64_t evaluated(const cp::Problem& problem, const std::vector<std::int32_t>& free) {
  std::vector<std::int32_t> slots = problem.evaluation().slots();
  for (std::size_t d = 0; d < free.size(); ++d) slots[static_cast<std::size_t>(problem.free_variables().variables[d].slot)] = free[d];
  return problem.evaluation().evaluate(slots) == 0 ? cost_of(problem.model(), slots) : inconsistent;
}

/// All exchanges of a walk that accepts what is consistent.
void walk(const std::string& text) {
  const cp::Problem problem(read_flatzinc(text, "m.fzn"));
  const auto n = static_cast<std::size_t>(problem.free_variables().count);
  std::vector<std::int32_t> group(n), values(n);
  std::iota(group.begin(), group.end(), 0);
  std::iota(values.begin(), values.end(), 1);
  const std::vector<std::vector<std::int32_t>> groups{group};
  std::optional<PairCosts> pairs = PairCosts::of(problem, groups);
  ASSERT_TRUE(pairs);
  std::vector<std::int32_t> model(problem.model().variables.size(), 0);
  for (std::size_t d = 0; d < n; ++d) model[static_cast<std::size_t>(problem.free_variables().variables[d].slot)] = values[d];
  std::int64_t cost = evaluated(problem, values), consistent = 0;
  ASSERT_NE(cost, inconsistent);
  pairs->load(model, cost);
  for (std::size_t k = 0; k < 400; ++k) {
    const std::size_t x = k * 7 % n, y = (x + 1 + k * 5 % (n - 1)) % n;
    const auto a = static_cast<std::int32_t>(x), b = static_cast<std::int32_t>(y);
    if (!pairs->possible(a, b)) continue;
    std::swap(values[x], values[y]);
    const std::int64_t after = evaluated(problem, values);
    ASSERT_EQ(pairs->cost_after(a, b), after) << k;
    if (after == inconsistent) {
      std::swap(values[x], values[y]);
      continue;
    }
    ++consistent;
    cost = after;
    pairs->exchange(a, b, cost);
    EXPECT_EQ(pairs->values(), values);
  }
  EXPECT_GT(consistent, 0);
}

TEST(LnsPairCosts, AreThoseOfTheEvaluation) {
  // Sums of sums, distances, elements; the greatest cost that the domain of the objective has.
  walk(different(6,
                 "var -5..5: d :: is_defined_var;\nvar 0..5: e :: is_defined_var;\nvar 1..9: f :: is_defined_var;\nvar -99..99: s :: "
                 "is_defined_var;\nvar -99..80: z :: is_defined_var;\n",
                 "constraint int_lin_eq([1,-1,-1],[x1,x2,d],0) :: defines_var(d);\nconstraint int_abs(d,e) :: defines_var(e);\n"
                 "constraint array_int_element(x3,[4,1,9,2,7,3],f) :: defines_var(f);\n"
                 "constraint int_lin_eq([2,1,3,-1],[e,f,x4,s],-4) :: defines_var(s);\n"
                 "constraint int_lin_eq([2,-1,5,-1],[s,e,x5,z],0) :: defines_var(z);\n",
                 "minimize z"));
}

TEST(LnsPairCosts, HaveConstraintsOfTwoVariables) {
  walk(different(5, "var -99..99: z :: is_defined_var;\n",
                 "constraint int_lt(x1,x2);\nconstraint int_lin_le([1,-1],[x3,x4],2);\n"
                 "constraint int_lin_eq([3,-2,1,-1],[x1,x3,x5,z],0) :: defines_var(z);\n",
                 "maximize z"));
}

TEST(LnsPairCosts, OfAnotherForm) {
  const auto possible = [](const std::string& constraint) {
    const cp::Problem problem(
        read_flatzinc(different(4, "var -99..99: z :: is_defined_var;\n",
                                "constraint int_lin_eq([3,-2,1,-1],[x1,x3,x4,z],0) :: defines_var(z);\n" + constraint, "minimize z"),
                      "m.fzn"));
    const std::vector<std::vector<std::int32_t>> groups{{0, 1, 2, 3}};
    return PairCosts::of(problem, groups).has_value();
  };
  EXPECT_TRUE(possible(""));
  EXPECT_FALSE(possible("constraint int_lin_le([1,1,1],[x1,x2,x3],8);\n")) << "a constraint of three";
  EXPECT_FALSE(possible("constraint vicinity_circuit(1,[x1,x2,x3,x4]);\n"));
  EXPECT_FALSE(possible("var 1..4: y;\nconstraint fzn_all_different_int([x1,x2,y]);\n")) << "others come in by exchanges";
}

}  // namespace
}  // namespace vicinity::lns
