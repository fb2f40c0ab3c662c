#include "core/methods/lns/relaxation.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "core/methods/lns/branching.hpp"
#include "core/methods/lns/cp_search.hpp"
#include "core/util/rng.hpp"
#include "data/formats/flatzinc.hpp"

namespace vicinity::lns {
namespace {

/// The best of a model, by complete search; of `compiled` without a solution nothing.
std::optional<std::int64_t> best_of(const cp::Model& model, const cp::CompiledModel& compiled) {
  CpSearch search(model, compiled, strategy_of(model, compiled), 1, false);
  CpSearch::Status status = CpSearch::Status::solution;
  while (status == CpSearch::Status::solution) status = search.next({});
  if (!search.found()) return std::nullopt;
  return search.values()[static_cast<std::size_t>(compiled.objective)];
}

/// Five variables, rows of each kind that the relaxation reads, and a weighted sum to be the best.
std::string random_model(std::uint64_t seed) {
  std::uint32_t draws = 0;
  const auto below = [&](std::uint64_t bound) { return static_cast<int>(scale_to(random_bits(seed, 0, 0, draws++), bound)); };
  const auto some = [&] { return fmt::format("x{}", 1 + below(5)); };
  const auto coefficients = [&] {
    return fmt::format("{},{},{},{},{}", below(9) - 4, below(9) - 4, below(9) - 4, below(9) - 4, below(9) - 4);
  };
  const auto sign = [&] { return below(2) == 0 ? "" : "_reif"; };
  std::string text = "var bool: b1;\nvar bool: b2;\nvar bool: b3;\nvar -9..9: m :: output_var;\nvar -999..999: z :: output_var;\n";
  for (int k = 1; k <= 5; ++k) text += fmt::format("var {}..{}: x{} :: output_var;\n", -below(4), 1 + below(4), k);
  const std::string all = "[x1,x2,x3,x4,x5]";
  for (int k = 0; k < 3; ++k) {
    const std::string reified = sign();
    text += fmt::format("constraint int_lin_le{}([{}],{},{}{});\n", reified, coefficients(), all, below(12), reified.empty() ? "" : ",b1");
  }
  text += fmt::format("constraint int_lin_eq_reif([{}],{},{},b2);\n", coefficients(), all, below(5));
  text += fmt::format("constraint int_le_reif({},{},b3);\n", some(), below(3));
  text += fmt::format("constraint bool_clause([b{},b{}],[b{}]);\n", 1 + below(3), 1 + below(3), 1 + below(3));
  text += fmt::format("constraint array_bool_or([b1,b3],b2);\nconstraint array_int_maximum(m,[{},{}]);\n", some(), some());
  text += fmt::format("constraint int_lin_eq([{},{},{},{},{},{},1,-1],[x1,x2,x3,x4,x5,m,b1,z],0);\n", below(20) - 9, below(20) - 9,
                      below(20) - 9, below(20) - 9, below(20) - 9, below(7) - 3);
  return text + fmt::format("solve {} z;\n", below(2) == 0 ? "minimize" : "maximize");
}

TEST(Relaxation, LeavesTheBestAndBoundsIt) {
  int solved = 0, surrogates = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const cp::Model model = read_flatzinc(random_model(seed), "m.fzn");
    const cp::CompiledModel compiled = cp::compile(model);
    const bool most = model.goal == cp::Goal::maximise;
    const Relaxation relaxation = relax(compiled, most, nullptr);
    const auto best = best_of(model, compiled);
    if (!relaxation.arguments.empty()) {
      ++surrogates;
      EXPECT_EQ(best_of(model, with_surrogate(compiled, relaxation)), best) << seed << "\n" << random_model(seed);
    }
    if (relaxation.values.empty() || !best) continue;
    ++solved;
    const double bound = relaxation.values[static_cast<std::size_t>(compiled.objective)];
    if (compiled.network->view().lower[compiled.objective] == compiled.network->view().upper[compiled.objective]) continue;
    EXPECT_TRUE(most ? bound >= static_cast<double>(*best) - 1e-5 : bound <= static_cast<double>(*best) + 1e-5) << seed;
  }
  EXPECT_GT(solved, 150);
  EXPECT_GT(surrogates, 150);
}

TEST(Relaxation, IsThatOfAKnapsack) {
  // By value for weight: the first two whole and half of the third: 8 + 9 + 4.
  const cp::Model model = read_flatzinc(
      "var 0..1: a;\nvar 0..1: b;\nvar 0..1: c;\nvar 0..1: d;\nvar 0..99: z;\nconstraint int_lin_le([2,3,4,5],[a,b,c,d],7);\n"
      "constraint int_lin_eq([8,9,8,5,-1],[a,b,c,d,z],0);\nsolve maximize z;\n",
      "m.fzn");
  const cp::CompiledModel compiled = cp::compile(model);
  const Relaxation relaxation = relax(compiled, true, nullptr);
  ASSERT_FALSE(relaxation.values.empty());
  EXPECT_NEAR(relaxation.values[static_cast<std::size_t>(compiled.objective)], 21, 1e-6);
  EXPECT_NEAR(relaxation.values[static_cast<std::size_t>(compiled.variable_of[2])], 0.5, 1e-6);
  ASSERT_FALSE(relaxation.arguments.empty());
  const cp::CompiledModel more = with_surrogate(compiled, relaxation);
  EXPECT_EQ(more.network->view().upper[compiled.objective], 21);
  EXPECT_EQ(compiled.network->view().upper[compiled.objective], 30);
}

TEST(Relaxation, StopsWhenItIsTold) {
  const cp::Model model = read_flatzinc(random_model(1), "m.fzn");
  const std::atomic<bool> stop = true;
  const Relaxation relaxation = relax(cp::compile(model), false, &stop);
  EXPECT_TRUE(relaxation.values.empty() && relaxation.arguments.empty());
}

}  // namespace
}  // namespace vicinity::lns
