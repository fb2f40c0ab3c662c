#include "core/methods/lns/exchanges.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <string>
#include <vector>

#include "core/methods/lns/task.hpp"
#include "core/problems/cp/oracle.hpp"
#include "data/formats/flatzinc.hpp"
#include "data/generators/models.hpp"
#include "tests/support/lns_twins.hpp"

namespace vicinity::lns {
namespace {

/// Eight different numbers, the sum of whose products with squares is least where they fall.
const std::string falling = [] {
  std::string text, all, weights;
  for (int k = 1; k <= 8; ++k) {
    const std::string comma = k > 1 ? "," : "";
    text.append("var 1..8: x").append(std::to_string(k)).append(";\n");
    all.append(comma).append("x").append(std::to_string(k));
    weights.append(comma).append(std::to_string(k * k));
  }
  return text + "var int: z :: is_defined_var :: output_var;\nconstraint fzn_all_different_int([" + all + "]);\nconstraint int_lin_eq([" +
         weights + ",-1],[" + all + ",z],0) :: defines_var(z);\n";
}();

std::vector<std::int32_t> rising(const cp::Problem& problem) {
  std::vector<std::int32_t> values = problem.evaluation().slots();
  for (std::int32_t k = 0; k < 8; ++k) values[static_cast<std::size_t>(k)] = k + 1;
  EXPECT_EQ(problem.evaluation().evaluate(values), 0);
  values.resize(problem.model().variables.size());
  return values;
}

TEST(LnsExchanges, SortWhatIsBestSorted) {
  const cp::Problem problem(read_flatzinc(falling + "solve minimize z;\n", "m.fzn"));
  ASSERT_TRUE(Exchanges::possible(problem));
  const std::vector<std::int32_t> start = rising(problem);
  Exchanges exchanges(problem, 1), again(problem, 1);
  const std::vector<std::int32_t> found = exchanges.search(30'000, start, Interruption());
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(cp::complaint(problem.model(), found), "");
  EXPECT_EQ(std::vector<std::int32_t>(found.begin(), found.begin() + 8), (std::vector<std::int32_t>{8, 7, 6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(again.search(30'000, start, Interruption()), found) << "the same seed finds the same";
  EXPECT_TRUE(exchanges.search(30'000, found, Interruption()).empty()) << "nothing is better";
}

TEST(LnsExchanges, BreakNoOtherConstraint) {
  const cp::Problem problem(
      read_flatzinc(falling + "constraint int_le(x1,x2);\nconstraint int_lin_le([1,-1],[x3,x4],0);\nsolve minimize z;\n", "m.fzn"));
  Exchanges exchanges(problem, 1);
  const std::vector<std::int32_t> start = rising(problem), found = exchanges.search(30'000, start, Interruption());
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(cp::complaint(problem.model(), found), "");
  EXPECT_LT(cost_of(problem.model(), found), cost_of(problem.model(), start));
}

TEST(LnsExchanges, NeedVariablesThatAreAllDifferent) {
  const cp::Problem problem(read_flatzinc("var 0..3: x;\nvar 0..3: y;\nconstraint int_ne(x,y);\nsolve minimize x;\n", "m.fzn"));
  EXPECT_FALSE(Exchanges::possible(problem));
}

TEST(LnsExchanges, CanBeInterrupted) {
  const cp::Problem problem(read_flatzinc(falling + "solve minimize z;\n", "m.fzn"));
  Exchanges exchanges(problem, 1);
  const std::atomic<bool> stop = true;
  EXPECT_THROW(static_cast<void>(exchanges.search(1'000'000'000, rising(problem), Interruption(&stop))), Interrupted);
}

}  // namespace
}  // namespace vicinity::lns
