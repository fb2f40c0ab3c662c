#include "core/methods/alns/boundary.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace vicinity::alns {
namespace {

using Costs = std::vector<std::int64_t>;

TEST(AlnsBoundary, StagnationHasThePapersThresholds) {
  EXPECT_FALSE(stagnates(125, 125));
  EXPECT_FALSE(stagnates(126, 30));
  EXPECT_TRUE(stagnates(126, 31));
  EXPECT_FALSE(stagnates(250, 30));
  EXPECT_TRUE(stagnates(250, 31));
  EXPECT_FALSE(stagnates(251, 10));
  EXPECT_TRUE(stagnates(251, 11));
}

TEST(AlnsBoundary, ConvergenceHasThePapersCombinations) {
  const auto of = [](std::int64_t each, std::int64_t idle) { return converges(Costs{10'000, 10'000 + each, 10'000 + each}, 10'000, idle); };
  // The factor is sqrt(2/3) * each / 10000: 0.00082, 0.00163, 0.0033, 0.0057. A third of the incumbents equal the global one.
  EXPECT_TRUE(of(10, 5));
  EXPECT_FALSE(of(10, 4));
  EXPECT_FALSE(of(20, 9));
  EXPECT_TRUE(of(20, 10));
  EXPECT_FALSE(of(40, 19));
  EXPECT_TRUE(of(40, 20));
  EXPECT_FALSE(of(70, 1000));
  // The third needs more than 15 %: 1 of 7 is less.
  Costs few(7, 10'015);
  few.front() = 10'000;
  EXPECT_FALSE(converges(few, 10'000, 10));
  EXPECT_TRUE(converges(few, 10'000, 20));
}

TEST(AlnsBoundary, TheGlobalIncumbentIsTheFirstOfTheBest) {
  Boundary boundary({.processes = 3}, Costs{7, 5, 5});
  EXPECT_EQ(boundary.global(), 5);
  EXPECT_EQ(boundary.improved_by(), 1);
  boundary.end_call(Costs{5, 5, 5}, Costs{9});
  EXPECT_EQ(boundary.improved_by(), -1);
  boundary.end_call(Costs{5, 4, 3}, Costs{9});
  EXPECT_EQ(boundary.improved_by(), 2);
  EXPECT_EQ(boundary.global(), 3);
  EXPECT_EQ(boundary.calls(), 2);
}

TEST(AlnsBoundary, ProcessesStartAgainInTurn) {
  const Costs starts{100, 200, 300, 400};
  Boundary boundary({.processes = 2, .calls = 1000}, Costs{100, 100});
  std::int64_t first = 0;
  while (boundary.restarts_made() == 0) {
    boundary.end_call(Costs{100, 90}, starts);
    ++first;
  }
  EXPECT_EQ(first, unpromising_calls) << "100 is more than 2 % above 90";
  EXPECT_EQ(boundary.restarts(), (Costs{2, -1}));
  std::int64_t calls = first;
  for (; boundary.restarts()[1] < 0; ++calls) boundary.end_call(Costs{90, 90}, starts);
  EXPECT_EQ(calls, converged_calls + 1) << "90 came with the first call";
  EXPECT_EQ(boundary.restarts(), (Costs{-1, 3}));
}

TEST(AlnsBoundary, GivenCallsAloneEndTheSearch) {
  Boundary boundary({.processes = 1, .calls = 3}, Costs{5});
  for (int call = 1; call <= 3; ++call) {
    EXPECT_FALSE(boundary.stop());
    boundary.end_call(Costs{5}, Costs{5, 5});
  }
  EXPECT_TRUE(boundary.stop());
}

}  // namespace
}  // namespace vicinity::alns
