#include "core/methods/sa/portfolio.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/util/error.hpp"
#include "tests/support/complaint.hpp"

namespace vicinity::portfolio {
namespace {

qap::Qap some_qap(std::int32_t n) {
  const auto entries = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  std::vector<std::int32_t> a(entries), b(entries);
  for (std::size_t k = 0; k < entries; ++k) {
    a[k] = static_cast<std::int32_t>(k * 7 % 11);
    b[k] = static_cast<std::int32_t>(k * 5 % 13);
  }
  return {"some", n, a, b};
}

Elite elite(const qap::Qap& qap, const qap::Permutation& p) { return {qap::cost(qap, p), p}; }

/// Ends a round.
void next(Population& population, std::vector<Elite> handed) {
  population.make_next([](std::size_t count, const auto& make) {
    for (std::size_t b = 0; b < count; ++b) make(b);
  });
  population.merge(std::move(handed));
}

TEST(Portfolio, AChildIsAPermutationAndKeepsWhatItsParentsShare) {
  for (const std::int32_t n : {2, 3, 17, 100})
    for (std::int32_t k = 0; k < 50; ++k) {
      Draws draws(7, k, 0);
      const qap::Permutation x = random_permutation(n, draws);
      qap::Permutation y = x;
      for (std::int32_t swaps = 0; swaps < k % 10; ++swaps)
        std::swap(y[static_cast<std::size_t>(draws.below(y.size()))], y[static_cast<std::size_t>(draws.below(y.size()))]);
      const qap::Permutation child = crossover(x, y, draws);
      ASSERT_EQ(qap::complaint(n, child), "");
      for (std::size_t i = 0; i < child.size(); ++i) ASSERT_TRUE(x[i] != y[i] || child[i] == x[i]);
    }
}

TEST(Portfolio, TenuresAreOfTheirRangeAndReachBothEnds) {
  std::set<std::int32_t> seen;
  for (std::int32_t t = 1; t < 2000; ++t) {
    const Tenures drawn = tenures(3, 5, 2, t, 100);
    seen.insert({drawn.of_r, drawn.of_s});
  }
  EXPECT_EQ(*seen.begin(), 90);
  EXPECT_EQ(*seen.rbegin(), 110);
  for (const std::int32_t n : {2, 3}) EXPECT_GE(tenures(3, 5, 2, 1, n).of_r, 1);
}

TEST(Portfolio, ElitesAreSortedFarApartAndNotMoreThanMay) {
  const qap::Qap qap = some_qap(9);
  Population population(qap, {.swaps = 1, .searches = 4}, Start(1));
  std::int64_t least = population.best().cost;
  for (std::int32_t round = 0; round < 40; ++round) {
    std::vector<Elite> handed;
    for (std::int32_t b = 0; b < 4; ++b) handed.push_back(elite(qap, population.start_of(b)));
    for (const Elite& one : handed) least = std::min(least, one.cost);
    next(population, handed);
    ASSERT_LE(population.elites().size(), static_cast<std::size_t>(least_elites));
    for (const Elite& one : population.elites())
      for (const Elite& other : population.elites()) ASSERT_TRUE(&one == &other || distance(one.p, other.p) >= least_distance(9));
    ASSERT_TRUE(std::is_sorted(population.elites().begin(), population.elites().end(),
                               [](const Elite& x, const Elite& y) { return x.cost < y.cost; }));
    ASSERT_EQ(population.best().cost, least);
  }
}

TEST(Portfolio, AChildTakesThePlaceOfWorseElitesThatAreNear) {
  const qap::Qap qap = some_qap(9);
  Population population(qap, {.swaps = 1, .searches = 3}, Start(1));
  const Elite far = elite(qap, {8, 7, 6, 5, 4, 3, 2, 1, 0});
  Elite first = elite(qap, {0, 1, 2, 3, 4, 5, 6, 7, 8}), second = elite(qap, {1, 0, 2, 3, 4, 5, 6, 7, 8});
  ASSERT_LT(distance(first.p, second.p), least_distance(9));
  ASSERT_NE(first.cost, second.cost);
  if (first.cost < second.cost) std::swap(first, second);
  const auto holds = [&](const Elite& one) {
    return std::any_of(population.elites().begin(), population.elites().end(), [&](const Elite& other) { return other.p == one.p; });
  };
  next(population, {first, far, first});
  next(population, {second, far, second});  // the worse one was in it
  next(population, {first, far, first});
  next(population, {first, far, first});  // which is no better
  EXPECT_TRUE(holds(second));
  EXPECT_TRUE(holds(far));
  EXPECT_FALSE(holds(first));
  EXPECT_EQ(population.elites().size(), 2u);
}

TEST(Portfolio, APopulationThatStagnatesBeginsAnewAndKeepsTheBest) {
  const qap::Qap qap = some_qap(9);
  Population population(qap, {.swaps = 1, .searches = 8}, Start(1));
  const Elite same = elite(qap, population.start_of(3));
  while (population.restarts() == 0) {
    ASSERT_LT(population.rounds(), 1000);
    next(population, std::vector<Elite>(8, same));
  }
  EXPECT_TRUE(population.elites().empty());
  next(population, std::vector<Elite>(8, same));  // what these searches began with, was of the elites that are no more
  EXPECT_TRUE(population.elites().empty());
  next(population, std::vector<Elite>(8, same));
  EXPECT_EQ(population.elites().size(), 1u);
  for (std::int32_t round = 0; round < 3; ++round) {  // so many random ones fill it
    std::vector<Elite> handed;
    for (std::int32_t b = 0; b < 8; ++b) handed.push_back(elite(qap, population.start_of(b)));
    next(population, handed);
  }
  next(population, std::vector<Elite>(8, same));
  EXPECT_GT(population.elites().size(), static_cast<std::size_t>(least_elites / 2));
  EXPECT_LE(population.best().cost, same.cost);
}

TEST(Portfolio, TheGivenStartIsOneOfTheFirst) {
  const qap::Qap qap = some_qap(5);
  const qap::Permutation given{4, 2, 0, 1, 3};
  const Population population(qap, {.swaps = 1, .searches = 2}, Start(1, given));
  EXPECT_EQ(population.start_of(0), given);
  EXPECT_EQ(population.best().cost, qap::cost(qap, given));
  EXPECT_THROW(Population(qap, Task{.swaps = 1, .searches = 2}, Start(1, Solution{0, 0, 1, 2, 3})), InputError);
}

TEST(Portfolio, WhatIsOfAnnealingIsRefused) {
  const auto told = [](const std::string& axis, const Value& value) {
    const Case c{"qap", "", {{"iterations", std::int64_t{100}}, {"chains", std::int64_t{2}}, {"leg", std::int64_t{7}}, {axis, value}}};
    return complaint<DoesNotFit>([&] { EXPECT_EQ(task_of(c, 9).steps, 7); });
  };
  EXPECT_EQ(told("threads", std::int64_t{1}), "");
  EXPECT_EQ(told("schedule", std::string("acceptance")), "has no schedule: that is of annealing");
  EXPECT_EQ(told("t0", 5.0), "has no t0: that is of annealing");
  EXPECT_EQ(told("tf", 5.0), "has no tf: that is of annealing");
  EXPECT_EQ(told("samples", std::int64_t{10}), "has no samples: that is of annealing");
}

TEST(Portfolio, TheOracleFindsAWrongCost) {
  const qap::Qap qap = some_qap(5);
  Result result{.best = elite(qap, {0, 1, 2, 3, 4})};
  EXPECT_TRUE(judge(qap, {result}).feasible);
  ++result.best.cost;
  EXPECT_FALSE(judge(qap, {result}).feasible);
  result.best = {0, {0, 0, 1, 2, 3}};
  EXPECT_FALSE(judge(qap, {result}).feasible);
  EXPECT_FALSE(judge(qap, {}).feasible);
}

}  // namespace
}  // namespace vicinity::portfolio
