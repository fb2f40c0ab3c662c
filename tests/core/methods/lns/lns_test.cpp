#include "core/methods/lns/lns.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "core/methods/lns/task.hpp"
#include "core/util/error.hpp"
#include "data/formats/flatzinc.hpp"
#include "tests/support/complaint.hpp"

namespace vicinity::lns {
namespace {

cp::Problem problem(const std::string& search = "") {
  return cp::Problem(
      read_flatzinc("var 1..5: a;\nvar {1,4,9}: b;\nvar 0..99999: c;\nvar 7..7: d;\nvar 0..20: z :: is_defined_var;\n"
                    "constraint int_lin_eq([1,1,-1],[a,b,z],0) :: defines_var(z);\nsolve " +
                        search + " minimize z;\n",
                    "m.fzn"));
}

TEST(Lns, FreeVariablesAreWhatNothingDefines) {
  const cp::Problem of = problem();
  const cp::FreeVariablesView view = of.free_variables();
  ASSERT_EQ(view.count, 3);
  EXPECT_EQ(view.variables[0].size, 5);
  EXPECT_EQ(view.variables[1].size, 3);
  EXPECT_EQ(view.variables[2].size, 100'000);
  EXPECT_EQ(view.value(0, 4), 5);
  EXPECT_EQ(view.value(1, 1), 4);
  for (std::int32_t k = 0; k < 3; ++k)
    for (std::int64_t j = 0; j < 3; ++j) EXPECT_EQ(view.number_of(k, view.value(k, j)), j);
}

TEST(Lns, ReleasedVariablesAreAUniformSubset) {
  std::array<int, 5> often{};
  for (std::int64_t step = 0; step < 4000; ++step) {
    std::vector<std::int32_t> order(5);
    std::iota(order.begin(), order.end(), 0);
    std::int32_t* first = order.data();
    release({1, step, 0}, 5, 2, first);
    EXPECT_NE(order[0], order[1]);
    for (const std::int32_t k : {order[0], order[1]}) ++often[static_cast<std::size_t>(k)];
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, (std::vector<std::int32_t>{0, 1, 2, 3, 4}));
  }
  for (const int count : often) EXPECT_NEAR(count, 1600, 150);
}

TEST(Lns, PairsInTheirOrder) {
  for (std::int64_t n = 0; n < 12; ++n) {
    std::vector<std::pair<std::int64_t, std::int64_t>> found, expected;
    for (std::int64_t j = 0; j < pairs_of(n); ++j) found.emplace_back(pair_of(n, j).first, pair_of(n, j).second);
    for (std::int64_t a = 0; a < n; ++a)
      for (std::int64_t b = a + 1; b < n; ++b) expected.emplace_back(a, b);
    EXPECT_EQ(found, expected);
  }
}

TEST(Lns, GibbsAcceptsByTheRatioOfObjectives) {
  EXPECT_TRUE(accepts(inconsistent, inconsistent, Sense::minimise, 0));
  EXPECT_FALSE(accepts(5, inconsistent, Sense::minimise, 0));
  EXPECT_TRUE(accepts(5, 5, Sense::minimise, ~std::uint64_t{0}));
  EXPECT_FALSE(accepts(0, 1, Sense::minimise, 0));    // no ratio
  EXPECT_FALSE(accepts(-5, -4, Sense::minimise, 0));  // nor here
  EXPECT_FALSE(accepts(-5, 0, Sense::maximise, 0));   // objective 5, then 0
  constexpr std::uint64_t half = std::uint64_t{1} << 63;
  const auto share = [](std::int64_t cost, std::int64_t candidate, Sense sense) {
    int taken = 0;
    for (std::uint64_t k = 0; k < 1000; ++k) taken += accepts(cost, candidate, sense, k * (~std::uint64_t{0} / 1000)) ? 1 : 0;
    return taken;
  };
  EXPECT_NEAR(share(30, 40, Sense::minimise), 750, 30);    // 30 / 40
  EXPECT_NEAR(share(-40, -10, Sense::maximise), 250, 30);  // 10 / 40
  EXPECT_TRUE(accepts(1, 2, Sense::minimise, half - 1));
  EXPECT_FALSE(accepts(1, 2, Sense::minimise, half));
}

TEST(Lns, DrawsOfPartsAreApart) {
  // Starting points, and all repetitions, of the largest kind.
  std::set<std::uint64_t> seen;
  for (std::uint64_t k = 0; k < start_draws(3); ++k) EXPECT_TRUE(seen.insert(k).second);
  for (std::int64_t r = 0; r < 4; ++r)
    for (std::int64_t k = 0; k < 6; ++k) EXPECT_TRUE(seen.insert(search_draw(3, r, 6, k)).second);
}

TEST(Lns, DirectivesOfModels) {
  EXPECT_FALSE(directive_of(problem().model()));
  const auto found = directive_of(problem(":: lns(2,50,gibbs(3),4,10,100,600)").model());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->seconds, 600);
  EXPECT_EQ(found->task.subsets, 2);
  EXPECT_EQ(found->task.percent, 50);
  EXPECT_EQ(found->task.search, LocalSearch::gibbs);
  EXPECT_EQ(found->task.repetitions, 3);
  EXPECT_EQ(found->task.starts, 4);
  EXPECT_EQ(found->task.steps, 10);
  EXPECT_EQ(found->task.restarts, 100);
  EXPECT_EQ(found->task.start, StartingPoint::random);
  EXPECT_EQ(directive_of(problem(":: lns(2,50,rp(1),4,10,0,0)").model())->task.start, StartingPoint::current);
  EXPECT_EQ(directive_of(problem(":: start_cp :: lns(2,50,two_exchange,4,10,0,0)").model())->task.start, StartingPoint::cp);
}

TEST(Lns, WrongDirectivesAreNamed) {
  const auto told = [](const std::string& note) {
    return complaint<InputError>([&] { static_cast<void>(directive_of(problem(":: " + note).model())); });
  };
  EXPECT_EQ(told("lns(2,50,rl(1),4,10,0)"), "m.fzn:7: lns(t, percent, strategy, m, h, s, timeout) has seven arguments");
  EXPECT_EQ(told("lns(0,50,rl(1),4,10,0,0)"), "m.fzn:7: t of lns(...) is a number from 1 to 10000000");
  EXPECT_EQ(told("lns(2,101,rl(1),4,10,0,0)"), "m.fzn:7: percent of lns(...) is a number from 1 to 100");
  EXPECT_EQ(told("lns(2,50,rl,4,10,0,0)"), "m.fzn:7: strategy rl of lns(...) has a number of repetitions");
  EXPECT_EQ(told("lns(2,50,complete(2),4,10,0,0)"), "m.fzn:7: strategy complete of lns(...) has no arguments");
  EXPECT_EQ(told("lns(2,50,rl(-1),4,10,0,0)"), "m.fzn:7: rl of lns(...) repeats 0 to 100000 times");
  EXPECT_EQ(told("lns(2,50,best,4,10,0,0)"),
            "m.fzn:7: the strategy of lns(...) is rl(p), rp(p), two_exchange, gibbs(p), icm(sweeps) or complete");
  EXPECT_EQ(told("lns(2,50,rl(1),4,10,0,0) :: lns(2,50,rl(1),4,10,0,0)"), "m.fzn:7: two annotations lns");
}

TEST(Lns, AxesComeBeforeTheDirective) {
  const cp::Problem of = problem(":: lns(2,50,gibbs(3),4,10,100,600)");
  const auto task = [&](std::map<std::string, Value> values) { return task_of({"flatzinc", "", std::move(values)}, of); };
  EXPECT_EQ(task({}).whole(), 1010);
  EXPECT_EQ(task({{"steps", std::int64_t{7}}}).whole(), 7);
  EXPECT_EQ(task({{"subsets", std::int64_t{9}}}).walkers(), 36);
  EXPECT_EQ(task({{"strategy", "RL"}}).repetitions, 1);
  EXPECT_EQ(task({{"strategy", "RP"}}).start, StartingPoint::current);
  EXPECT_EQ(released_of(task({}), of), 1);
  EXPECT_EQ(released_of(task({{"released", std::int64_t{9}}}), of), 3);
}

TEST(Lns, TasksThatDoNotFitAreRefused) {
  const cp::Problem of = problem();
  const auto told = [&](std::map<std::string, Value> values) {
    return complaint<InputError>([&] { static_cast<void>(task_of({"flatzinc", "", std::move(values)}, of)); });
  };
  EXPECT_EQ(told({{"released", std::int64_t{1}}, {"percent", std::int64_t{5}}}), "flatzinc: released and percent exclude each other");
  EXPECT_EQ(told({{"subsets", std::int64_t{10000}}, {"starts", std::int64_t{10000}}}),
            "flatzinc: 10000 subsets with 10000 starting points each: at most 10000000 together");
  EXPECT_EQ(told({{"strategy", "ICM"}}), "flatzinc: a variable has 100000 values: ICM and CE go through 65536 at most");
  EXPECT_EQ(told({{"strategy", "best"}}), "flatzinc: strategy = best is none of RL, RP, 2P, GS, ICM, CE");
}

}  // namespace
}  // namespace vicinity::lns
