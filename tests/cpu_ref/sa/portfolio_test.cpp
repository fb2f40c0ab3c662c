#include "cpu_ref/sa/portfolio.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/util/error.hpp"
#include "cpu_ref/sa/implementations.hpp"
#include "data/qaps.hpp"
#include "tests/support/sa_twins.hpp"

namespace vicinity::sa {
namespace {

/// Entries are of [-range/10, range - range/10).
qap::Qap qap_of_range(std::int32_t n, bool symmetric_a, bool symmetric_b, std::int64_t range, std::uint64_t seed) {
  const std::int64_t low = -(range / 10), high = low + range - 1;
  return *random_qap(seed, n, {low, high, low, high}, symmetric_a, symmetric_b);
}
qap::Qap qap_of_range(std::int32_t n, bool symmetric, std::int64_t range, std::uint64_t seed) {
  return qap_of_range(n, symmetric, symmetric, range, seed);
}

Case case_of(std::int64_t swaps, std::int64_t threads, std::int64_t searches = 6) {
  return {"qap", "", {{"iterations", swaps}, {"threads", threads}, {"chains", searches}}};
}
std::unique_ptr<Run> prepared(const qap::Qap& qap, const Case& c) { return cpu_portfolio_implementations().front().prepare(c, qap); }
Outcome outcome_of(const qap::Qap& qap, const Case& c, std::uint64_t seed = 3) {
  const auto run = prepared(qap, c);
  run->reset(seed);
  run->execute();
  return run->outcome();
}

/// The contract, word by word: every delta from scratch.
portfolio::Elite search_by_definition(const qap::Qap& qap, qap::Permutation p, std::uint64_t seed, std::int64_t round, std::int32_t b,
                                      std::int32_t steps, portfolio::Elite& last) {
  const std::int32_t n = qap.size();
  const auto size = static_cast<std::size_t>(n);
  std::vector<std::int32_t> until(size * size, 0);
  const auto at = [&](std::int32_t i, std::int32_t l) -> std::int32_t& {
    return until[static_cast<std::size_t>(i) * size + static_cast<std::size_t>(l)];
  };
  const auto location = [&](std::int32_t i) -> std::int32_t& { return p[static_cast<std::size_t>(i)]; };
  std::int64_t cost = qap::cost(qap, p);
  portfolio::Elite best{cost, p};
  for (std::int32_t t = 1; t <= steps; ++t) {
    bool found = false, chosen_forbidden = false;
    std::int64_t least = 0;
    std::int32_t r = 0, s = 0;
    for (std::int32_t i = 0; i < n; ++i)
      for (std::int32_t j = i + 1; j < n; ++j) {
        const std::int64_t delta = qap::delta(qap.view(), p, i, j);
        const bool forbidden = std::min(at(i, location(j)), at(j, location(i))) > t && cost + delta >= best.cost;
        if (found && std::pair(forbidden, delta) >= std::pair(chosen_forbidden, least)) continue;
        found = true;
        chosen_forbidden = forbidden;
        least = delta;
        r = i;
        s = j;
      }
    const portfolio::Tenures tenures = portfolio::tenures(seed, round, b, t, n);
    at(r, location(r)) = t + tenures.of_r;
    at(s, location(s)) = t + tenures.of_s;
    std::swap(location(r), location(s));
    cost += least;
    if (cost < best.cost) best = {cost, p};
  }
  last = {cost, p};
  return best;
}

TEST(CpuPortfolio, ASearchTakesTheSwapsOfItsDefinition) {
  for (const std::int32_t n : {2, 3, 4, 12, 16, 17, 33, 40})
    for (const auto& [symmetric_a, symmetric_b] :
         {std::pair(true, true), std::pair(true, false), std::pair(false, true), std::pair(false, false)})
      for (const std::int64_t range :
           {std::int64_t{1}, std::int64_t{3}, std::int64_t{100}, std::int64_t{40'000}, std::int64_t{2'000'000}}) {
        const qap::Qap qap = qap_of_range(n, symmetric_a, symmetric_b, range, static_cast<std::uint64_t>(n));
        portfolio::Draws draws(1, 0, 0);
        const qap::Permutation start = portfolio::random_permutation(n, draws);
        const std::unique_ptr<TabuSearch> search = make_tabu_search(qap);
        for (std::int32_t b = 0; b < 2; ++b) {  // the second after the first in the same memory
          portfolio::Elite best, last;
          search->run(start, 5, 2, b, 200, best, Interruption());
          const portfolio::Elite expected = search_by_definition(qap, start, 5, 2, b, 200, last);
          ASSERT_EQ(best.p, expected.p) << n << ' ' << symmetric_a << symmetric_b << ' ' << range;
          ASSERT_EQ(best.cost, expected.cost);
          ASSERT_EQ(search->current().p, last.p);
          ASSERT_EQ(search->current().cost, last.cost);
          ASSERT_EQ(search->current().cost, qap::cost(qap, search->current().p));
        }
      }
}

TEST(CpuPortfolio, ThreadsDecideNothing) {
  for (const bool symmetric : {true, false}) {
    const qap::Qap qap = qap_of_range(20, symmetric, 100, 4);
    const Outcome one = outcome_of(qap, case_of(60'000, 1));
    EXPECT_TRUE(one.feasible) << one.complaint;
    for (const std::int64_t threads : {2, 5}) EXPECT_EQ(outcome_of(qap, case_of(60'000, threads)).digest, one.digest) << threads;
    EXPECT_NE(outcome_of(qap, case_of(60'000, 1), 4).digest, one.digest);
  }
}

TEST(CpuPortfolio, SlicesGiveTheSame) {
  const qap::Qap qap = qap_of_range(20, true, 100, 4);
  const Outcome whole = outcome_of(qap, case_of(60'000, 1));
  for (const std::int64_t threads : {1, 2, 5}) {
    const auto run = prepared(qap, case_of(60'000, threads));
    run->reset(3);
    std::int64_t limit = 1;
    for (int slice = 0; run->execute(slice % 2 == 0 ? Budget{.seconds = 0} : Budget{.iterations = limit}); ++slice) {
      ASSERT_LT(slice, 10'000);
      if (slice % 2 == 1) limit += 4'000;
    }
    EXPECT_EQ(run->outcome().digest, whole.digest) << threads;
  }
}

TEST(CpuPortfolio, StopsWithTheBestSoFar) {
  const qap::Qap qap = qap_of_range(60, true, 100, 4);
  const auto run = prepared(qap, case_of(1'000'000'000'000, 2));
  run->reset(3);
  EXPECT_TRUE(run->execute({.seconds = 0.02}));
  const std::int64_t before = *run->outcome().objective;
  const std::atomic<bool> stop = true;
  EXPECT_TRUE(run->execute({.stop = &stop}));
  const Outcome outcome = run->outcome();
  EXPECT_TRUE(outcome.feasible) << outcome.complaint;
  EXPECT_LE(*outcome.objective, before);
}

TEST(CpuPortfolio, ASearchLooksAtTheFlagBeforeItsFirstSwap) {
  const qap::Qap qap = qap_of_range(60, true, 100, 4);
  portfolio::Draws draws(1, 0, 0);
  const qap::Permutation start = portfolio::random_permutation(60, draws);
  const std::atomic<bool> stop = true;
  portfolio::Elite best;
  EXPECT_THROW(make_tabu_search(qap)->run(start, 5, 2, 0, 1, best, Interruption(&stop)), Interrupted);
}

TEST(CpuPortfolio, SmallAndFlatInstances) {
  for (const std::int32_t n : {2, 3, 5})
    for (const bool symmetric : {true, false}) {
      const qap::Qap qap = qap_of_range(n, symmetric, 50, static_cast<std::uint64_t>(n));
      qap::Permutation p(static_cast<std::size_t>(n));
      for (std::int32_t i = 0; i < n; ++i) p[static_cast<std::size_t>(i)] = i;
      std::int64_t least = std::numeric_limits<std::int64_t>::max();
      do {
        least = std::min(least, qap::cost(qap, p));
      } while (std::next_permutation(p.begin(), p.end()));
      const Outcome outcome = outcome_of(qap, case_of(2'000, 2));
      EXPECT_TRUE(outcome.feasible) << outcome.complaint;
      EXPECT_EQ(*outcome.objective, least) << n;
    }
  EXPECT_EQ(*outcome_of(qap_of_range(19, true, 1, 1), case_of(5'000, 2)).objective, 0);  // zeros
}

TEST(CpuPortfolio, GoesOnFromAGivenSolution) {
  const qap::Qap qap = qap_of_range(12, true, 100, 4);
  const Outcome found = outcome_of(qap, case_of(50'000, 2));
  const auto run = prepared(qap, case_of(1, 1, 1));
  run->reset(Start(9, found.solution));
  run->execute();
  EXPECT_LE(*run->outcome().objective, *found.objective);
}

TEST(CpuPortfolio, ReachesTheBestKnown) {
  for (const std::string name : {"nug12", "tai10a", "tai12a", "chr15a", "esc16a"}) {
    std::shared_ptr<const qap::Qap> qap;
    try {
      qap = load_qap(name);
    } catch (const MissingInput&) {
      continue;  // not on this machine
    }
    EXPECT_EQ(*outcome_of(*qap, case_of(300'000, 2, 16)).objective, *best_known_of(*qap)) << name;
  }
}

}  // namespace
}  // namespace vicinity::sa
