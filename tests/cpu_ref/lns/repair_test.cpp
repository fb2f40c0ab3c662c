#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/methods/lns/branching.hpp"
#include "core/methods/lns/cp_search.hpp"
#include "core/methods/lns/feasibility_jump.hpp"
#include "core/methods/lns/repair.hpp"
#include "core/problems/cp/oracle.hpp"
#include "core/util/error.hpp"
#include "tests/support/complaint.hpp"
#include "tests/support/lns_twins.hpp"

namespace vicinity::lns {
namespace {

const Implementation& repair_search() {
  static const std::vector<Implementation> all = cpu_repair_implementations();
  return all.front();
}

/// What the complete search proves; none: there is no solution.
std::optional<std::int64_t> optimum(const cp::Problem& problem) {
  CpSearch search(problem.model(), problem.compiled(), strategy_of(problem.model(), problem.compiled()), 1, false);
  CpSearch::Status status = CpSearch::Status::solution;
  while (status == CpSearch::Status::solution) status = search.next({});
  EXPECT_EQ(status, CpSearch::Status::exhausted);
  if (!search.found()) return std::nullopt;
  return search.values()[static_cast<std::size_t>(problem.compiled().objective)];
}

const cp::Problem& problem_of(const Trial& one) { return dynamic_cast<const cp::Problem&>(*one.instance); }

/// n queens of different weights, no two in a line: far too many to be proved.
std::string weighted_queens(int n, const std::string& search = "") {
  std::string text, all, up, down, weights;
  for (int k = 1; k <= n; ++k) {
    const std::string number = std::to_string(k), comma = k > 1 ? "," : "";
    text += "var 1.." + std::to_string(n) + ": q" + number + ";\nvar int: u" + number +
            " :: var_is_introduced :: is_defined_var;\nvar int: d" + number + " :: var_is_introduced :: is_defined_var;\n";
    all += comma + "q" + number;
    up += comma + "u" + number;
    down += comma + "d" + number;
    weights += comma + std::to_string(1 + 7 * k % 11);
  }
  text += "var int: z :: is_defined_var :: output_var;\n";
  for (int k = 1; k <= n; ++k) {
    const std::string number = std::to_string(k);
    text += "constraint int_lin_eq([1,-1],[q" + number + ",u" + number + "]," + number + ") :: defines_var(u" + number + ");\n";
    text += "constraint int_lin_eq([1,-1],[q" + number + ",d" + number + "],-" + number + ") :: defines_var(d" + number + ");\n";
  }
  for (const std::string& array : {all, up, down}) text += "constraint fzn_all_different_int([" + array + "]);\n";
  return text + "constraint int_lin_eq([" + weights + ",-1],[" + all + ",z],0) :: defines_var(z);\nsolve " + search + " minimize z;\n";
}

Trial rounds(const std::string& text, std::int64_t steps, std::int64_t threads) {
  return trial(text, {{"steps", steps}, {"threads", threads}});
}

TEST(LnsRepair, AnyNumberOfThreadsFindsTheSame) {
  for (const std::string& text : {weighted_queens(14), weighted_queens(9), permutation(), chain()}) {
    const Outcome expected = outcome_of(repair_search(), rounds(text, 12, 1), at_once);
    EXPECT_TRUE(expected.feasible) << expected.complaint;
    for (const std::int64_t threads : {2, 4}) expect_same(outcome_of(repair_search(), rounds(text, 12, threads), at_once), expected, text);
    expect_same(outcome_of(repair_search(), rounds(text, 12, 3), in_slices), expected, "in slices");
  }
}

TEST(LnsRepair, TwinsOnRandomModels) {
  for (std::int64_t k = 0; k < 60; ++k) {
    const auto text = random_model(2 + k % 9, 1 + k % 14, 2 + k % 6, static_cast<std::uint64_t>(1000 + k));
    const Outcome expected = outcome_of(repair_search(), rounds(text, 4, 1), at_once);
    for (const std::int64_t threads : {2, 4}) expect_same(outcome_of(repair_search(), rounds(text, 4, threads), at_once), expected, text);
  }
}

TEST(LnsRepair, ProvesWhatTheCompleteSearchProves) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Trial one = rounds(random_model(6, 8, 5, seed), 400, 2);
    const Outcome outcome = outcome_of(repair_search(), one, at_once);
    const auto best = optimum(problem_of(one));
    EXPECT_EQ(outcome.counters.at("proved"), 1) << seed;
    EXPECT_EQ(outcome.feasible, best.has_value()) << seed << outcome.complaint;
    if (best) {
      EXPECT_EQ(*outcome.objective, *best) << seed;
    }
  }
  const Trial none = rounds("var 1..9: x;\nconstraint int_ne(x,x);\nsolve minimize x;\n", 5, 1);
  EXPECT_EQ(outcome_of(repair_search(), none, at_once).complaint, "the model has no solution");
}

TEST(LnsRepair, ImprovesWhereTheProofIsFar) {
  const Trial one = rounds(weighted_queens(24), 16, 2);
  const Outcome outcome = outcome_of(repair_search(), one, at_once);
  EXPECT_EQ(outcome.counters.at("proved"), 0);
  EXPECT_EQ(outcome.iterations, 16);
  EXPECT_LT(*outcome.objective, outcome.counters.at("first"));
  EXPECT_NE(outcome_of(repair_search(), one, at_once, 12).digest, outcome.digest) << "seeds decide";
}

/// n by n bits with c of them in each row and column, near the diagonal.
std::string grid(int n, int c) {
  std::string text, all, weights;
  std::vector<std::string> lines(static_cast<std::size_t>(2 * n));
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const std::string x = fmt::format("x{}_{}", i, j);
      text += fmt::format("var 0..1: {};\n", x);
      for (const int line : {i, n + j}) lines[static_cast<std::size_t>(line)] += (line < n ? j : i) > 0 ? "," + x : x;
      all += (all.empty() ? "" : ",") + x;
      weights += fmt::format("{}{}", weights.empty() ? "" : ",", (i - j) * (i - j));
    }
  std::string ones = "1";
  for (int k = 1; k < n; ++k) ones += ",1";
  text += "var 0..1000000: z :: is_defined_var :: output_var;\n";
  for (const std::string& line : lines) text += fmt::format("constraint int_lin_eq([{}],[{}],{});\n", ones, line, c);
  return text + fmt::format("constraint int_lin_eq([{},-1],[{},z],0) :: defines_var(z);\nsolve minimize z;\n", weights, all);
}

TEST(LnsRepair, ProvesWhatItsRelaxationProves) {
  for (const std::int64_t threads : {1, 2}) {
    const Outcome outcome = outcome_of(repair_search(), rounds(grid(12, 5), 10, threads), at_once);
    EXPECT_EQ(outcome.counters.at("proved"), 1) << "far too large for bounds of single rows";
    EXPECT_LE(outcome.iterations, 2);
  }
}

TEST(LnsRepair, KeepsWhatRelaxAndReconstructSays) {
  const std::string text = weighted_queens(20, ":: relax_and_reconstruct([q1,q2,q3],0)");
  const cp::Model model = read_flatzinc(text, "m.fzn");
  const cp::CompiledModel compiled = cp::compile(model);
  const std::vector<std::int32_t> free{0, 3, 6};
  const repair::Neighborhoods neighborhoods(model, compiled, free, {});
  EXPECT_FALSE(neighborhoods.adaptive());
  ASSERT_EQ(neighborhoods.arms().size(), 1u);
  EXPECT_EQ(neighborhoods.size(0), 3);
  EXPECT_EQ(neighborhoods.arms()[0].released, 3);
}

TEST(LnsRepair, GivenStartsAreNeverMadeWorse) {
  Trial one = rounds(weighted_queens(16), 3, 2);
  one.start = outcome_of(repair_search(), rounds(weighted_queens(16), 15, 2), at_once).solution;
  const std::int64_t given = *problem_of(one).objective(*one.start);
  const Outcome outcome = outcome_of(repair_search(), one, at_once);
  EXPECT_EQ(outcome.counters.at("first"), given);
  EXPECT_LE(*outcome.objective, given);
  one.start->front() = -1;
  EXPECT_NE(complaint<InputError>([&] { static_cast<void>(outcome_of(repair_search(), one, at_once)); }), "");
}

TEST(LnsRepair, AnInterruptionKeepsWhatWasFound) {
  const Trial one = rounds(weighted_queens(16), 1'000'000, 2);
  const auto run = repair_search().prepare(one.c, *one.instance);
  run->reset(1);
  static_cast<void>(run->execute({.iterations = 5}));
  const Objective before = run->outcome().objective;
  const std::atomic<bool> stop = true;
  EXPECT_TRUE(run->execute({.stop = &stop}));
  EXPECT_EQ(run->outcome().objective, before);
  EXPECT_TRUE(run->outcome().feasible);
}

TEST(FeasibilityJumps, SolveWhatHasManySolutions) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const cp::Problem problem(read_flatzinc(weighted_queens(12), "m.fzn"));
    FeasibilityJump jumps(problem, seed), again(problem, seed);
    const auto found = jumps.search(20'000, Interruption());
    ASSERT_FALSE(found.empty()) << seed;
    EXPECT_EQ(cp::complaint(problem.model(), found), "");
    EXPECT_EQ(again.search(20'000, Interruption()), found) << "the same seed finds the same";
  }
}

TEST(FeasibilityJumps, FindSumsOfLargeDomains) {
  const cp::Problem problem(
      read_flatzinc("var 0..100000: x;\nvar 0..100000: y;\nvar 0..1: b;\nvar bool: r;\n"
                    "constraint int_lin_eq([7,-5],[x,y],12345);\nconstraint int_lin_le_reif([-1,-1],[x,y],-50000,r);\n"
                    "constraint bool_clause([r],[]);\nconstraint int_lin_ne([1,1],[x,b],0);\nsolve satisfy;\n",
                    "m.fzn"));
  FeasibilityJump jumps(problem, 1);
  const auto found = jumps.search(20'000, Interruption());
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(cp::complaint(problem.model(), found), "");
}

/// Items of which a subset has just this profit within this weight.
std::string given_profit() {
  std::string text, names, weights, profits;
  for (int k = 0; k < 60; ++k) {
    const std::string comma = k > 0 ? "," : "";
    text += fmt::format("var 0..1: x{};\n", k);
    names += fmt::format("{}x{}", comma, k);
    weights += fmt::format("{}{}", comma, 100 + 7919 * k % 883);
    profits += fmt::format("{}{}", comma, 100 + 6007 * k % 991);
  }
  return text + fmt::format("constraint int_lin_le([{0}],[{1}],15000);\nconstraint int_lin_eq([{2}],[{1}],20000);\nsolve satisfy;\n",
                            weights, names, profits);
}

TEST(LnsRepair, AnyNumberOfThreadsFindsTheSameFirstSolution) {
  const std::string search = ":: int_search([q1,q2,q3],first_fail,indomain_max,complete)";
  for (const std::string& text : {given_profit(), weighted_queens(40, search)}) {
    const Outcome expected = outcome_of(repair_search(), rounds(text, 40, 1), at_once);
    EXPECT_TRUE(expected.feasible) << expected.complaint;
    for (const std::int64_t threads : {2, 4}) expect_same(outcome_of(repair_search(), rounds(text, 40, threads), at_once), expected, text);
  }
}

TEST(FeasibilityJumps, TakeTurnsWithASoftenedModel) {
  const cp::Problem problem(read_flatzinc(given_profit(), "m.fzn"));
  FeasibilityJump jumps(problem, 1);
  std::vector<std::int32_t> found;
  for (int slices = 0; slices < 1000 && found.empty(); ++slices) found = jumps.search(1, Interruption());
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(cp::complaint(problem.model(), found), "");
}

TEST(FeasibilityJumps, FindNothingWhereThereIsNothing) {
  const cp::Problem problem(read_flatzinc("var 0..3: x;\nvar 0..3: y;\nconstraint int_lin_eq([2,2],[x,y],7);\nsolve satisfy;\n", "m.fzn"));
  FeasibilityJump jumps(problem, 1);
  EXPECT_TRUE(jumps.search(500, Interruption()).empty());
}

}  // namespace
}  // namespace vicinity::lns
