#include "cpu_ref/alns/hybrid/search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/util/error.hpp"
#include "cpu_ref/alns/hybrid/implementations.hpp"
#include "cpu_ref/alns/hybrid/split.hpp"
#include "tests/support/alns_twins.hpp"

namespace vicinity::alns::hybrid {
namespace {

const Implementation& reference() {
  static const std::vector<Implementation> all = cpu_hybrid_implementations();
  return all.front();
}

using alns::Kind;
constexpr Kind all_kinds[] = {Kind::plain, Kind::coincident, Kind::full, Kind::one_vehicle, Kind::bound, Kind::limited, Kind::matrix};

Case case_of(std::int64_t lines, std::int64_t generations, std::int64_t threads) {
  return {"vrp", "", {{"processes", lines}, {"calls", generations}, {"threads", threads}}};
}

void whole(Run& run) {
  run.reset(7);
  run.execute();
}

/// A line a thread and step: what a limit in time or a target does.
void in_parts(Run& run) {
  run.reset(7);
  while (run.execute({.seconds = 1e-9})) {
  }
}

TEST(Hybrid, ThreadsChangeNothing) {
  for (const Kind kind : all_kinds)
    for (const std::int32_t n : {1, 3, 40}) {
      const auto instance = std::make_shared<vrp::Vrp>(instance_of(static_cast<std::uint64_t>(n), n, kind));
      const Trial one{case_of(4, 11, 1), instance, ""}, three{case_of(4, 11, 3), instance, ""};
      const Outcome expected = outcome_of(reference(), one, whole);
      EXPECT_EQ(outcome_of(reference(), three, whole).digest, expected.digest) << static_cast<int>(kind) << ' ' << n;
      EXPECT_EQ(outcome_of(reference(), three, in_parts).digest, expected.digest) << static_cast<int>(kind) << ' ' << n;
      EXPECT_EQ(expected.feasible, expected.complaint.empty());
      EXPECT_TRUE(expected.feasible || kind == Kind::limited) << expected.complaint << ' ' << static_cast<int>(kind) << ' ' << n;
      EXPECT_EQ(expected.iterations, 11);
    }
}

/// Two islands, long enough that a cycle ends and that their best ones move on.
TEST(Hybrid, ThreadsChangeNothingOnIslands) {
  const auto instance = std::make_shared<vrp::Vrp>(instance_of(5, 14, Kind::bound));
  Trial one{case_of(lines_of_island + 6, 104, 1), instance, ""}, two{case_of(lines_of_island + 6, 104, 2), instance, ""};
  one.c.values["removals"] = two.c.values["removals"] = std::int64_t{200};
  const Outcome expected = outcome_of(reference(), one, whole);
  EXPECT_EQ(outcome_of(reference(), two, whole).digest, expected.digest);
  EXPECT_EQ(outcome_of(reference(), two, in_parts).digest, expected.digest);
  EXPECT_EQ(expected.counters.at("restarts"), 1);  // cycles
}

TEST(Hybrid, FindsTheBestOfSmallInstances) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const std::int32_t n = 6;
    const vrp::Vrp instance = instance_of(seed, n, seed % 2 == 0 ? Kind::plain : Kind::bound);
    // all orders, each cut in the best way
    std::vector<std::int32_t> order;
    for (std::int32_t c = 1; c <= n; ++c) order.push_back(c);
    const Granular granular(instance);
    std::int64_t best = INT64_MAX;
    do {
      const Individual cut = individual_of(instance.view(), split(instance.view(), granular, {most_penalty, most_penalty}, order));
      if (cut.feasible()) best = std::min(best, cut.distance);
    } while (std::next_permutation(order.begin(), order.end()));
    const Case c = case_of(2, 30, 1);
    const auto run = reference().prepare(c, instance);
    run->reset(seed);
    run->execute();
    EXPECT_EQ(run->outcome().objective, Objective(best)) << seed;
  }
}

TEST(Hybrid, GoesOnFromAGivenSolutionAndNeverLosesIt) {
  const vrp::Vrp instance = instance_of(3, 40, Kind::bound);
  const auto run = reference().prepare(case_of(3, 40, 2), instance);
  run->reset(1);
  run->execute();
  const Outcome found = run->outcome();
  const auto again = reference().prepare(case_of(3, 1, 2), instance);
  again->reset(Start(5, found.solution));
  again->execute();
  EXPECT_FALSE(found.objective.better_than(again->outcome().objective));
  EXPECT_THROW(
      {
        again->reset(Start(5, Solution{1, 2}));
        again->execute();
      },
      InputError);
}

TEST(Hybrid, SeedsDecide) {
  const vrp::Vrp instance = instance_of(3, 70, Kind::plain);
  expect_seeds_decide(*reference().prepare(case_of(3, 3, 2), instance), "cpu-hybrid");
}

TEST(Hybrid, EndsByItself) {
  const vrp::Vrp instance = instance_of(3, 8, Kind::plain);
  const auto run = reference().prepare({"vrp", "", {{"threads", std::int64_t{1}}, {"removals", std::int64_t{200}}}}, instance);
  run->reset(1);
  run->execute();
  EXPECT_TRUE(run->outcome().feasible);
}

/// Strings: every customer stays on one route, capacity and limit may be exceeded on the way, but not by the best.
TEST(HybridStringRemoval, KeepsSolutionsWhole) {
  int exceeded = 0, improved = 0;
  for (std::uint64_t seed = 0; seed < 42; ++seed) {
    const Kind kind = all_kinds[seed % 7];
    const std::int32_t n = 1 + static_cast<std::int32_t>(seed * 3);
    const vrp::Vrp instance = instance_of(seed, n, kind);
    const Granular granular(instance);
    std::vector<std::int32_t> order(static_cast<std::size_t>(n));
    for (std::int32_t c = 1; c <= n; ++c) order[static_cast<std::size_t>(granular.rank[static_cast<std::size_t>(c)])] = c;
    Penalties penalties = Population(instance, granular).penalties();
    const Individual first = individual_of(instance.view(), split(instance.view(), granular, penalties, order));
    StringRemoval strings(instance.view(), granular);
    Routes current = first.routes, best = first.routes;
    std::int64_t distance = first.feasible() ? first.distance : no_distance;
    Stream stream(seed, 0, 0);
    for (int generation = 0; generation < 10; ++generation)
      strings.anneal(current, best, distance, penalties, stream, 100, 0.1 * granular.spread, 0.999);
    exceeded += static_cast<int>(!vrp::complaint(instance, vrp::encoded(current)).empty());
    EXPECT_GT(vrp::cost(instance, vrp::encoded(current)), 0);  // throws unless each customer stands there once
    if (distance == no_distance) continue;
    EXPECT_EQ(vrp::complaint(instance, vrp::encoded(best)), "");
    EXPECT_EQ(vrp::cost(instance, vrp::encoded(best)), distance);
    improved += static_cast<int>(!first.feasible() || distance < first.distance);
  }
  EXPECT_GT(exceeded, 0);
  EXPECT_GT(improved, 20);
}

/// Penalties rise until limits hold, and fall while all hold.
TEST(HybridStringRemoval, PenaltiesFollowFeasibility) {
  EXPECT_GT(adapted_penalty(256, 0, 1000), 256);
  EXPECT_EQ(adapted_penalty(256, 400, 1000), 256);
  EXPECT_LT(adapted_penalty(256, 1000, 1000), 256);
  EXPECT_EQ(adapted_penalty(1, 1000, 1000), 1);
  EXPECT_EQ(adapted_penalty(most_penalty, 0, 1000), most_penalty);
}

}  // namespace
}  // namespace vicinity::alns::hybrid
