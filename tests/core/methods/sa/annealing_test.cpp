#include "core/methods/sa/annealing.hpp"

#include "core/util/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace vicinity::annealing {
namespace {

void expect_near_the_logarithm(std::uint32_t word) {
  const double exact = -std::log((static_cast<double>(word) + 0.5) / 4294967296.0);
  ASSERT_NEAR(threshold(word), exact, 4e-7 + 1.2e-7 * exact) << word;
  ASSERT_GE(threshold(word), 0.0f) << word;
  ASSERT_LE(threshold(word), highest_threshold) << word;
}

TEST(Threshold, IsMinusTheLogarithm) {
  for (std::uint32_t w = 0; w < 100000; ++w) {
    expect_near_the_logarithm(w);
    expect_near_the_logarithm(~w);
  }
  for (int bit = 1; bit < 32; ++bit)
    for (std::uint32_t near = 0; near < 2000; ++near) expect_near_the_logarithm((1u << bit) - 1000 + near);
  for (std::uint64_t w = 0; w < (std::uint64_t{1} << 32); w += 4099) expect_near_the_logarithm(static_cast<std::uint32_t>(w));
}

/// Where the range reduction changes its exponent, both formulas must agree.
TEST(Threshold, IsNearTheLogarithmAroundTheRangeReduction) {
  for (int bit = 0; bit < 32; ++bit) {
    const auto middle = static_cast<std::int64_t>(std::ldexp(std::sqrt(0.5), bit + 1));
    for (std::int64_t w = middle - 300; w <= middle + 300; ++w)
      if (w >= 0 && w < (std::int64_t{1} << 32)) expect_near_the_logarithm(static_cast<std::uint32_t>(w));
  }
}

TEST(Pairs, NumbersAndPairsAreInverse) {
  for (std::int32_t n = 2; n <= 60; ++n) {
    std::int64_t index = 0;
    for (std::int32_t r = 0; r < n; ++r)
      for (std::int32_t s = r + 1; s < n; ++s, ++index) {
        ASSERT_EQ(pair_index(n, r, s), index);
        const Swap swap = pair_at(n, index);
        ASSERT_EQ(std::pair(swap.r, swap.s), std::pair(r, s)) << n;
      }
    ASSERT_EQ(pairs(n), index);
  }
}

TEST(Pairs, AreExactAtTheRowEndsOfTheLargestSize) {
  constexpr std::int32_t n = 46340;
  for (std::int32_t r = 0; r < n - 1; ++r)
    for (const std::int32_t s : {r + 1, n - 1}) {
      const Swap swap = pair_at(n, pair_index(n, r, s));
      ASSERT_EQ(std::pair(swap.r, swap.s), std::pair(r, s));
    }
  EXPECT_EQ(pair_index(n, n - 2, n - 1), pairs(n) - 1);
}

TEST(Words, NoTwoPairsShareARandomNumber) {
  std::set<std::pair<std::uint32_t, std::int32_t>> seen;
  for (std::int32_t s = 0; s < 1000; ++s) EXPECT_TRUE(seen.emplace(block_of(s), word_of(s)).second) << s;
  for (const auto& [block, word] : seen) EXPECT_LT(block, start_stream);
  EXPECT_LT(block_of(46339), start_stream);
}

/// Connolly: T <- T / (1 + beta T) a proposal, beta = (T0 - Tf) / (I T0 Tf).
TEST(Cooling, IsTheRecurrence) {
  for (const auto& [hot, cold, iterations] : {std::tuple(100.0, 1.0, std::int64_t{1000}), std::tuple(5000.0, 4.0, std::int64_t{200000}),
                                              std::tuple(7.0, 7.0, std::int64_t{500})}) {
    const double beta = (hot - cold) / (static_cast<double>(iterations) * hot * cold);
    const Cooling cooling = cooling_between(hot, cold, iterations);
    double t = hot;
    for (std::int64_t q = 0; q < iterations; ++q) {
      ASSERT_NEAR(inverse_temperature(cooling, 30, q) * t, 1.0, 2e-6) << q;
      t = t / (1 + beta * t);
    }
    EXPECT_NEAR(t, cold, 1e-6 * cold);
  }
}

TEST(Cooling, FollowsTheSamples) {
  const Cooling sampled = cooling(10, 210, 1000);
  EXPECT_DOUBLE_EQ(1 / sampled.first, 30.0);
  EXPECT_DOUBLE_EQ(1 / (sampled.first + 1000 * sampled.step), 10.0);
  EXPECT_EQ(cooling(0, 0, 1000).first, 1.0);
  EXPECT_EQ(cooling(0, 0, 1000).step, 0.0);
}

TEST(Cooling, StaysWhereTheBestWasOnceFrozen) {
  const Cooling before = cooling_between(300, 2, 5000);
  const Cooling after = frozen(before, 20, 1234);
  for (const std::int64_t q : {std::int64_t{1300}, std::int64_t{4999}, std::int64_t{1} << 40})
    EXPECT_EQ(inverse_temperature(after, 20, q), inverse_temperature(before, 20, 1234));
  EXPECT_EQ(inverse_temperature(frozen(before, 20, -1), 20, 77), static_cast<float>(before.first)) << "no improvement: T0";
}

/// (first + (q mod leg) step)^16, the same on every machine; 1/T of the first and the last proposal of a leg. The second of three is
/// hotter.
TEST(Legs, KnownAnswers) {
  const Cooling cooling = legs_between(100, 0.5, 400, 1000);
  EXPECT_FALSE(cooling.freezes());
  const auto exact = [](double first, std::int64_t q) {
    const double begin = std::pow(1 / first, 1 / 16.0), end = std::pow(2, 1 / 16.0);
    return std::pow(begin + static_cast<double>(q) / 1000 * (end - begin), 16);
  };
  for (std::int64_t leg = 0; leg < 9; ++leg)
    for (const std::int64_t q : {0, 137, 500, 999}) {
      const RowTemperature at = row_temperature(cooling, 1000 * leg + q);
      const double expected = exact(leg == 1 || leg == 4 || leg == 7 ? 400 : 100, q);
      EXPECT_NEAR(at.base, expected, 1e-6 * expected) << leg << " " << q;
      EXPECT_EQ(at.step, 0.0f);
    }
}

/// Temperatures never rise but where a leg ends, and pairs of a row share theirs.
TEST(Legs, TemperaturesFallButAtReheats) {
  for (const auto& [n, leg] : {std::pair(2, std::int64_t{1}), std::pair(3, std::int64_t{7}), std::pair(12, std::int64_t{66}),
                               std::pair(12, std::int64_t{1000}), std::pair(30, std::int64_t{40})}) {
    const Cooling cooling = legs_between(40, 0.03, 90, leg);
    float before = 0;
    std::int64_t began = 0, reheats = 0;
    for (std::int64_t q = 0; q < 5000; ++q) {
      const std::int64_t index = q % pairs(n);
      const Swap swap = pair_at(n, index);
      const std::int64_t row = q - (index - row_start(n, swap.r));
      const float here = inverse_temperature(cooling, n, q);
      ASSERT_EQ(here, row_temperature(cooling, row).base);
      ASSERT_GE(here, row_temperature(cooling, leg).base);
      ASSERT_LE(here, 1 / 0.03f * 1.00001f);
      if (here < before) {
        ASSERT_NE(row / leg, began / leg) << "n " << n << ", leg " << leg << ", proposal " << q;
        ++reheats;
      }
      before = here;
      began = row;
    }
    EXPECT_GT(reheats, 0) << n << " " << leg;
  }
}

TEST(Legs, OneTemperature) {
  const Cooling cooling = legs_between(3, 3, 3, 100);
  for (const std::int64_t q : {0, 1, 99, 100, 12345}) EXPECT_NEAR(row_temperature(cooling, q).base, 1 / 3.0, 1e-6);
}

TEST(Legs, AreAsLongAsTheSizeAsks) {
  const auto leg = [](std::int32_t n, std::int64_t iterations, std::int64_t given = 0) {
    Task task;
    task.iterations = iterations;
    task.leg = given;
    return leg_of(task, n);
  };
  EXPECT_EQ(leg(2, 1), 1);
  EXPECT_EQ(leg(30, 10'000'000), 72'993);
  EXPECT_EQ(leg(100, 100'000'000), 100'000'000);
  EXPECT_EQ(leg(46340, std::int64_t{1'000'000'000'000}), 1'000'000'000'000);
  EXPECT_EQ(leg(100, 10, 3), 3);
  for (const std::int32_t n : {2, 3, 10, 30})
    for (const std::int64_t iterations : {1, 3, 4, 5, 100, 12345, 10'000'000}) {
      const auto own = static_cast<double>(leg(n, iterations)),
                 usual = std::max(std::pow(n, 6) * leg_share, leg_sweeps * static_cast<double>(pairs(n))),
                 all = static_cast<double>(iterations);
      EXPECT_LE(own, std::min(all, 1.5 * usual + 1)) << n << " " << iterations;
      EXPECT_GE(own, std::min(all, usual / 2)) << n << " " << iterations;
    }
}

TEST(LeastInverseTemperature, IsABoundOfEveryRange) {
  constexpr std::int32_t n = 9;
  for (const Cooling& cooling : {cooling_between(50, 2, 3000), cooling_between(2, 2, 10), frozen(cooling_between(50, 2, 3000), n, 700),
                                 legs_between(50, 0.1, 120, 500), legs_between(50, 0.1, 50, 37), legs_between(5, 5, 9, 1)})
    for (std::int64_t sweep = 0; sweep < 20; ++sweep)
      for (std::int32_t row = 0; row < n - 1; ++row)
        for (const std::int64_t length : {1, 8, 36, 100, 600}) {
          const std::int64_t from = sweep * pairs(n) + row_start(n, row);
          const float least = least_inverse_temperature(cooling, from, from + length) * (1 - 1e-6f);
          for (std::int64_t q = from; q < from + length; ++q) ASSERT_LE(least, inverse_temperature(cooling, n, q)) << q;
        }
}

TEST(Samples, ArePairsAndReachAllOfThem) {
  std::set<std::pair<std::int32_t, std::int32_t>> seen;
  for (std::int64_t k = 0; k < 1000; ++k) {
    const Swap swap = sample_swap(3, 7, k);
    ASSERT_TRUE(0 <= swap.r && swap.r < swap.s && swap.s < 7);
    seen.emplace(swap.r, swap.s);
  }
  EXPECT_EQ(static_cast<std::int64_t>(seen.size()), pairs(7));
}

TEST(Start, IsAPermutationOfTheSeedOrTheGivenOne) {
  const qap::Qap qap("zeros", 50, std::vector<std::int32_t>(2500), std::vector<std::int32_t>(2500));
  const Task task;
  EXPECT_EQ(qap::complaint(50, start_of(qap, task, 1, 0)), "");
  EXPECT_EQ(start_of(qap, task, 1, 0), start_of(qap, task, 1, 0));
  EXPECT_NE(start_of(qap, task, 1, 0), start_of(qap, task, 2, 0));
  EXPECT_EQ(start_of(qap, task, 1, 1), start_of(qap, task, 2, 0));  // chain 1 is the run with the next seed
  const qap::Permutation given = start_of(qap, task, 9, 0);
  EXPECT_EQ(start_of(qap, task, {1, given}, 3), given);
  EXPECT_THROW(static_cast<void>(start_of(qap, task, {1, Solution{1, 2}}, 0)), InputError);
}

TEST(FewestOperations, CountProposalsAndUpdates) {
  const qap::Qap symmetric("zeros", 5, std::vector<std::int32_t>(25), std::vector<std::int32_t>(25));
  std::vector<std::int32_t> one(25);
  one[1] = 1;
  const qap::Qap asymmetric("one", 5, one, one);
  EXPECT_EQ(fewest_operations(symmetric, 100, 0), 2600);
  EXPECT_EQ(fewest_operations(symmetric, 100, 3), 2600 + 3 * 10 * 2);
  EXPECT_EQ(fewest_operations(asymmetric, 100, 3), 2600 + 3 * 10 * 4);
  EXPECT_EQ(fewest_operations(symmetric, 100, 3, 16), 2600 + 3 * 10);
  EXPECT_EQ(fewest_operations(symmetric, 100, 3, 64), fewest_operations(symmetric, 100, 3));
}

/// A chain that says the truth about its permutations.
Chain true_chain(const qap::Qap& qap, qap::Permutation current, qap::Permutation best) {
  Chain chain;
  chain.current = std::move(current);
  chain.best = std::move(best);
  chain.cost = qap::cost(qap, chain.current);
  chain.best_cost = qap::cost(qap, chain.best);
  return chain;
}

/// Three facilities; the cost of a permutation is that of facilities 0 and 1.
class Judge : public testing::Test {
 protected:
  [[nodiscard]] std::string complaint_about(const Chain& chain) const {
    const Outcome outcome = judge(qap_, {}, {chain});
    EXPECT_EQ(outcome.feasible, outcome.complaint.empty());
    EXPECT_EQ(outcome.objective.has_value(), outcome.feasible);
    return outcome.complaint;
  }

  const qap::Qap qap_{"three", 3, {0, 1, 0, 0, 0, 0, 0, 0, 0}, {0, 10, 20, 30, 0, 40, 50, 60, 0}};
  const qap::Permutation ten_{0, 1, 2}, twenty_{0, 2, 1};
};

TEST_F(Judge, BelievesWhatIsTrue) {
  EXPECT_EQ(complaint_about(true_chain(qap_, ten_, ten_)), "");
  EXPECT_EQ(complaint_about(true_chain(qap_, twenty_, ten_)), "");
  Task two;
  two.chains = 2;
  const Outcome outcome = judge(qap_, two, {true_chain(qap_, twenty_, twenty_), true_chain(qap_, twenty_, ten_)});
  EXPECT_TRUE(outcome.feasible);
  EXPECT_EQ(outcome.objective, 10);
  EXPECT_EQ(outcome.solution, ten_);
  EXPECT_EQ(judge(qap_, {}, {}).complaint, "0 chains, not 1");
}

TEST_F(Judge, FindsEveryFalseClaim) {
  for (const qap::Permutation& last : {ten_, twenty_}) {  // the best, and another
    Chain chain = true_chain(qap_, last, ten_);
    ++chain.cost;
    EXPECT_NE(complaint_about(chain), "") << "cost";
    chain = true_chain(qap_, last, ten_);
    --chain.best_cost;
    EXPECT_EQ(complaint_about(chain), "chain 0: cost 10, not 9 as claimed");
    chain = true_chain(qap_, last, ten_);
    chain.best = {0, 1, 1};
    EXPECT_EQ(complaint_about(chain), "chain 0: location 1 twice");
    chain = true_chain(qap_, last, ten_);
    chain.current = {0, 1};
    EXPECT_EQ(complaint_about(chain), "chain 0: 2 locations for 3 facilities");
  }
  Chain both = true_chain(qap_, ten_, ten_);
  both.cost = both.best_cost = 9;
  EXPECT_EQ(complaint_about(both), "chain 0: cost 10, not 9 as claimed");
  both = true_chain(qap_, ten_, ten_);
  both.current = both.best = {0, 1, 3};
  EXPECT_EQ(complaint_about(both), "chain 0: location 3 is outside 0..2");
  EXPECT_EQ(complaint_about(true_chain(qap_, ten_, twenty_)), "chain 0: the best is worse than the last");
}

}  // namespace
}  // namespace vicinity::annealing
