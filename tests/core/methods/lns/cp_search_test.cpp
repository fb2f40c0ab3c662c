#include "core/methods/lns/cp_search.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "core/problems/cp/oracle.hpp"
#include "data/formats/flatzinc.hpp"

namespace vicinity::lns {
namespace {

struct Found {
  std::vector<std::vector<std::int32_t>> solutions;  ///< of the model's variables
  CpSearch::Status status = CpSearch::Status::limit;
  SearchStatistics statistics;
};

Found search(const std::string& text, bool free = false, std::uint64_t seed = 1, SearchLimits limits = {}) {
  const cp::Model model = read_flatzinc(text, "m.fzn");
  const cp::CompiledModel compiled = cp::compile(model);
  CpSearch search(model, compiled, strategy_of(model, compiled), seed, free);
  Found found;
  while ((found.status = search.next(limits)) == CpSearch::Status::solution) {
    std::vector<std::int32_t> values;
    for (const cp::Var x : compiled.variable_of) values.push_back(search.values()[static_cast<std::size_t>(x)]);
    EXPECT_EQ(cp::complaint(model, values), "");
    found.solutions.push_back(values);
  }
  found.statistics = search.statistics();
  return found;
}

/// n queens; `search`: annotations.
std::string queens(int n, const std::string& search) {
  std::string text, all, up, down;
  for (int k = 1; k <= n; ++k) {
    const std::string q = fmt::format("q{}", k), range = std::to_string(n);
    text += "var 1.." + range + ": " + q + ";\nvar int: u" + q + " :: var_is_introduced;\nvar int: d" + q + " :: var_is_introduced;\n";
    all += (k > 1 ? "," : "") + q;
    up += (k > 1 ? ",u" : "u") + q;
    down += (k > 1 ? ",d" : "d") + q;
  }
  for (int k = 1; k <= n; ++k) {
    const std::string q = fmt::format("q{}", k);
    text += "constraint int_lin_eq([1,-1],[" + q + ",u" + q + "]," + std::to_string(k) + ");\n";
    text += "constraint int_lin_eq([1,-1],[" + q + ",d" + q + "],-" + std::to_string(k) + ");\n";
  }
  for (const std::string& array : {all, up, down}) text += "constraint fzn_all_different_int([" + array + "]);\n";
  return text + "array [1.." + std::to_string(n) + "] of var int: q = [" + all + "];\nsolve " + search + " satisfy;\n";
}

TEST(CpSearch, AllSolutionsWhateverTheBranching) {
  for (const char* variable :
       {"input_order", "first_fail", "anti_first_fail", "smallest", "largest", "occurrence", "most_constrained", "max_regret", "dom_w_deg"})
    for (const char* value : {"indomain_min", "indomain_max", "indomain_median", "indomain_middle", "indomain_random", "indomain_split",
                              "indomain_reverse_split", "indomain_split_random", "indomain_interval", "outdomain_min", "outdomain_max"}) {
      const Found found = search(queens(6, std::string(":: int_search(q,") + variable + "," + value + ",complete)"));
      EXPECT_EQ(found.status, CpSearch::Status::exhausted);
      EXPECT_EQ((std::set<std::vector<std::int32_t>>(found.solutions.begin(), found.solutions.end()).size()), 4u)
          << variable << " " << value;
      EXPECT_EQ(found.solutions.size(), 4u);
    }
  EXPECT_EQ(search(queens(8, "")).solutions.size(), 92u);
  EXPECT_EQ(search(queens(8, ""), true).solutions.size(), 92u);
  EXPECT_EQ(search(queens(3, "")).status, CpSearch::Status::exhausted);
  EXPECT_TRUE(search(queens(3, "")).solutions.empty());
}

TEST(CpSearch, ValuesInTheirOrder) {
  const auto order = [](const std::string& value) {
    std::vector<std::int32_t> values;
    for (const auto& one : search("var {1,2,3,7,9}: x;\nsolve :: int_search([x],input_order," + value + ",complete) satisfy;\n").solutions)
      values.push_back(one[0]);
    return values;
  };
  EXPECT_EQ(order("indomain_min"), (std::vector<std::int32_t>{1, 2, 3, 7, 9}));
  EXPECT_EQ(order("indomain_max"), (std::vector<std::int32_t>{9, 7, 3, 2, 1}));
  EXPECT_EQ(order("indomain_median"), (std::vector<std::int32_t>{3, 2, 7, 1, 9}));
  EXPECT_EQ(order("indomain_middle")[0], 3);
  EXPECT_EQ(order("outdomain_min"), (std::vector<std::int32_t>{9, 7, 3, 2, 1}));
  EXPECT_EQ(order("indomain_interval"), (std::vector<std::int32_t>{1, 2, 3, 7, 9}));
  EXPECT_EQ(order("indomain_reverse_split")[0], 9);
}

const std::string knapsack =
    "array [1..6] of int: weights = [5,4,3,7,6,2];\narray [1..7] of int: profits = [8,6,4,11,9,3,-1];\n"
    "var 0..2: a;\nvar 0..2: b;\nvar 0..2: c;\nvar 0..2: d;\nvar 0..2: e;\nvar 0..2: f;\nvar int: p;\n"
    "constraint int_lin_le(weights,[a,b,c,d,e,f],20);\nconstraint int_lin_eq(profits,[a,b,c,d,e,f,p],0);\n";

TEST(CpSearch, ProvesOptima) {
  for (const std::string annotation :
       {"", ":: int_search([a,b,c,d,e,f],first_fail,indomain_max,complete)", ":: restart_luby(20)", ":: restart_geometric(1.5,10)",
        ":: int_search([a,b,c,d,e,f],input_order,indomain_random,complete) :: restart_linear(5)", ":: warm_start([a,b],[1,1])"})
    for (const bool free : {false, true}) {
      const Found found = search(knapsack + "solve " + annotation + " maximize p;\n", free);
      EXPECT_EQ(found.status, CpSearch::Status::exhausted) << annotation;
      ASSERT_FALSE(found.solutions.empty());
      EXPECT_EQ(found.solutions.back()[6], 31) << annotation;  // by enumeration
      for (std::size_t k = 1; k < found.solutions.size(); ++k) EXPECT_GT(found.solutions[k][6], found.solutions[k - 1][6]);
    }
}

TEST(CpSearch, NeighborhoodsProveNothing) {
  SearchLimits limits;
  limits.nodes = 20000;
  const Found found = search(knapsack +
                                 "solve :: int_search([a,b,c,d,e,f],input_order,indomain_min,complete) :: "
                                 "relax_and_reconstruct([a,b,c,d,e,f],50) :: restart_constant(3) maximize p;\n",
                             false, 5, limits);
  ASSERT_FALSE(found.solutions.empty());
  EXPECT_EQ(found.solutions.back()[6], 31);
  EXPECT_GT(found.statistics.restarts, 0);
}

TEST(CpSearch, LimitsEndItAndItGoesOn) {
  const std::string text = queens(8, ":: int_search(q,input_order,indomain_min,complete)");
  const cp::Model model = read_flatzinc(text, "m.fzn");
  const cp::CompiledModel compiled = cp::compile(model);
  CpSearch search(model, compiled, strategy_of(model, compiled), 1, false);
  std::int64_t solutions = 0, pauses = 0;
  for (SearchLimits limits{.nodes = 3, .failures = 1 << 30, .deadline = {}, .stop = nullptr};;) {
    const auto status = search.next(limits);
    if (status == CpSearch::Status::exhausted) break;
    if (status == CpSearch::Status::solution) ++solutions;
    if (status == CpSearch::Status::limit) {
      ++pauses;
      limits.nodes += 3;
    }
  }
  EXPECT_EQ(solutions, 92);
  EXPECT_GT(pauses, 10);
  std::atomic<bool> stop = true;
  SearchLimits stopped;
  stopped.stop = &stop;
  EXPECT_EQ(vicinity::lns::search(queens(20, ""), false, 1, stopped).status, CpSearch::Status::limit);
}

TEST(CpSearch, IntroducedVariablesMakeNoOtherSolution) {
  // b may be either where x >= 2.
  const std::string text = "var 1..3: x;\nvar bool: b :: var_is_introduced;\nconstraint int_le_imp(2,x,b);\nsolve satisfy;\n";
  EXPECT_EQ(search(text).solutions.size(), 3u);
  EXPECT_EQ(search("var 1..3: x;\nvar bool: b :: var_is_introduced :: output_var;\nconstraint int_le_imp(2,x,b);\nsolve satisfy;\n")
                .solutions.size(),
            5u);
}

TEST(CpSearch, SameSeedSameSearch) {
  const std::string text = queens(10, ":: int_search(q,dom_w_deg,indomain_random,complete)");
  const Found a = search(text, false, 3), b = search(text, false, 3), c = search(text, false, 4);
  EXPECT_EQ(a.solutions, b.solutions);
  EXPECT_EQ(a.statistics.nodes, b.statistics.nodes);
  EXPECT_NE(a.solutions, c.solutions);
  EXPECT_EQ(a.solutions.size(), c.solutions.size());
}

TEST(Restarts, Cutoffs) {
  const auto first = [](Restarts restarts) {
    std::vector<std::int64_t> all;
    for (std::int64_t k = 0; k < 8; ++k) all.push_back(restarts.cutoff(k));
    return all;
  };
  EXPECT_EQ(first({Restarts::Kind::luby, 1, 3}), (std::vector<std::int64_t>{3, 3, 6, 3, 3, 6, 12, 3}));
  EXPECT_EQ(first({Restarts::Kind::constant, 1, 3}), (std::vector<std::int64_t>(8, 3)));
  EXPECT_EQ(first({Restarts::Kind::linear, 1, 3})[3], 12);
  EXPECT_EQ(first({Restarts::Kind::geometric, 2, 3})[3], 24);
  EXPECT_GT((Restarts{Restarts::Kind::geometric, 2, 3}.cutoff(1000)), 1'000'000);
}

/// Rows k, k mod 7, k / 150 for k from 1 on, in another order: the key has more values than a mask.
std::string keyed_table(int rows, const std::string& rest) {
  std::string table;
  for (int r = 0; r < rows; ++r) {
    const int k = 1 + r * 37 % rows;
    table += fmt::format("{}{},{},{}", r > 0 ? "," : "", k % 7, k, k / 150);
  }
  return fmt::format(
             "var 0..9: a :: output_var;\nvar 1..9999: k :: output_var;\nvar 0..99: b :: output_var;\n"
             "constraint fzn_table_int([a,k,b],[{}]);\n",
             table) +
         rest + "solve satisfy;\n";
}

TEST(CpSearch, TablesWithAKeyOfManyValues) {
  EXPECT_EQ(search(keyed_table(2000, "")).solutions.size(), 2000u);
  EXPECT_EQ(search(keyed_table(2000, "constraint int_eq(k,1234);\n")).solutions, (std::vector<std::vector<std::int32_t>>{{2, 1234, 8}}));
  std::set<std::vector<std::int32_t>> expected;
  for (int k = 600; k < 750; ++k)
    if (k % 7 == 3) expected.insert({3, k, 4});
  const Found found = search(keyed_table(2000, "constraint int_eq(a,3);\nconstraint int_eq(b,4);\n"));
  EXPECT_EQ(std::set<std::vector<std::int32_t>>(found.solutions.begin(), found.solutions.end()), expected);
  EXPECT_TRUE(search(keyed_table(2000, "constraint int_eq(b,14);\n")).solutions.empty());
}

TEST(CpSearch, TablesWithAKeyAndOtherColumnsOfManyValues) {
  std::string table;
  for (int k = 1; k <= 1500; ++k) table += fmt::format("{}{},{},{}", k > 1 ? "," : "", k, 7 * k, k * k % 1499);
  const std::string text = "var 1..1500: k;\nvar 0..99999: a;\nvar 0..99999: b;\nconstraint fzn_table_int([k,a,b],[" + table + "]);\n";
  EXPECT_EQ(search(text + "solve satisfy;\n").solutions.size(), 1500u);
  EXPECT_EQ(search(text + "constraint int_eq(a,777);\nsolve satisfy;\n").solutions,
            (std::vector<std::vector<std::int32_t>>{{111, 777, 111 * 111 % 1499}}));
}

TEST(CpSearch, ElementsAtOneIndexOfManyValuesKnowOfEachOther) {
  std::string first, second;
  for (int k = 1; k <= 3000; ++k) {
    first += fmt::format("{}{}", k > 1 ? "," : "", k * 7 % 11);
    second += fmt::format("{}{}", k > 1 ? "," : "", (k * 7 + 3) % 11);
  }
  const std::string text = fmt::format(
      "var 1..3000: i;\nvar 0..99: a;\nvar 0..99: b;\nconstraint array_int_element(i,[{}],a);\nconstraint array_int_element(i,[{}],b);\n",
      first, second);
  EXPECT_EQ(search(text + "solve satisfy;\n").solutions.size(), 3000u);
  const Found none = search(text + "constraint int_eq(a,b);\nsolve satisfy;\n");
  EXPECT_TRUE(none.solutions.empty());
  const Found few = search(text + "constraint int_lin_eq([1,-1],[b,a],-8);\nconstraint int_le(i,50);\nsolve satisfy;\n");
  EXPECT_EQ(few.solutions.size(), 14u);  // a from 8 on
  EXPECT_EQ(few.statistics.failures, 0);
}

}  // namespace
}  // namespace vicinity::lns
