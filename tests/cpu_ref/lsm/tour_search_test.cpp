// cpu-ils takes the path of its reference, on tours of every kind of distance, however many threads there are.
#include "core/methods/lsm/tour_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/util/error.hpp"
#include "core/util/permutation.hpp"
#include "core/util/rng.hpp"
#include "cpu_ref/lsm/implementations.hpp"
#include "tests/support/runs.hpp"

namespace vicinity::lsm {
namespace {

const Implementation& reference() {
  static const std::vector<Implementation> all = cpu_tour_implementations();
  return all.front();
}
std::vector<Implementation> fast() { return {cpu_tour_implementations().back()}; }

std::int64_t drawn(std::uint64_t seed, std::uint32_t draw, std::int64_t bound) {
  return static_cast<std::int64_t>(scale_to(random_bits(seed, 9, 0, draw), static_cast<std::uint64_t>(bound)));
}

/// Cities at whole coordinates below `extent`: where it is small, many at one place and many at equal distances.
tsp::Tsp plane(std::int32_t n, std::int64_t extent, std::uint64_t seed, tsp::Metric metric) {
  const tsp::Tsp uniform = tsp::uniform("t", n, extent, seed);
  const tsp::View view = uniform.view();
  return {"t", {view.x, view.x + n}, {view.y, view.y + n}, metric};
}

/// Distances below `range` that keep no triangle inequality; range 1: all are 0.
tsp::Tsp matrix(std::int32_t n, std::int64_t range, std::uint64_t seed) {
  std::vector<std::int32_t> entries(static_cast<std::size_t>(n * n));
  for (std::int32_t i = 0; i < n; ++i)
    for (std::int32_t j = 0; j < i; ++j)
      entries[static_cast<std::size_t>(i * n + j)] = entries[static_cast<std::size_t>(j * n + i)] =
          static_cast<std::int32_t>(drawn(seed, static_cast<std::uint32_t>(i * n + j), range));
  return {"m", n, std::move(entries)};
}

Trial trial(tsp::Tsp tsp, std::map<std::string, Value> values) {
  values.try_emplace("iterations", std::int64_t{3});
  values.try_emplace("kicks", std::int64_t{20});
  const Case c{"tsp", "", std::move(values)};
  const std::string name = c.key() + " " + tsp::name_of(tsp.metric()) + " " + std::to_string(tsp.size());
  return {c, std::make_shared<tsp::Tsp>(std::move(tsp)), name};
}

std::vector<Trial> trials() {
  std::vector<Trial> trials;
  for (std::uint64_t seed = 0; seed < 90; ++seed) {
    const std::int64_t kind = drawn(seed, 0, 6);
    const auto n = static_cast<std::int32_t>(seed % 2 == 0 ? 3 + drawn(seed, 1, 8) : 3 + drawn(seed, 1, 120));
    const std::int64_t extent = std::vector<std::int64_t>{1, 2, 6, 100, 10'000, 1 << 27}[static_cast<std::size_t>(drawn(seed, 2, 6))];
    const std::map<std::string, Value> values{{"threads", 1 + drawn(seed, 3, 3)}, {"walkers", 1 + drawn(seed, 4, 7)}};
    if (kind == 4) trials.push_back(trial(matrix(n, extent, seed), values));
    if (kind == 5) trials.push_back(trial(plane(n, 80, seed, tsp::Metric::geo), values));
    if (kind < 4)
      trials.push_back(trial(plane(n, extent, seed,
                                   std::vector{tsp::Metric::euc_2d, tsp::Metric::euc_2d, tsp::Metric::ceil_2d,
                                               tsp::Metric::att}[static_cast<std::size_t>(kind)]),
                             values));
    if (seed % 5 == 0) trials.back().start = shuffled(n, seed, 3);
  }
  return trials;
}

TEST(TourSearch, RandomTwins) { expect_twins(reference(), fast(), trials()); }

TEST(TourSearch, SlicesOfTimeGiveTheSame) {
  std::vector<Trial> few = trials();
  few.resize(40);
  expect_twins(reference(), fast(), few, in_slices);
  expect_twins(reference(), {reference()}, few, in_slices);
}

TEST(TourSearch, PrefixesAgree) {
  std::vector<Trial> few = trials();
  std::erase_if(few, [](const Trial& t) { return dynamic_cast<const tsp::Tsp&>(*t.instance).size() < tour_search::fewest_cities; });
  few.resize(20);
  expect_prefix_twins({reference(), fast().front()}, few);
}

/// 300 kicks a round: 10 n kicks are 1 or 2 rounds, so that several cycles come to their end within 20 rounds.
std::vector<Trial> cooled_trials(std::int64_t rounds) {
  std::vector<Trial> trials;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const std::map<std::string, Value> values{
        {"iterations", rounds}, {"kicks", std::int64_t{100}}, {"walkers", std::int64_t{3}}, {"threads", std::int64_t{2}}};
    const auto n = static_cast<std::int32_t>(5 + drawn(seed, 1, 35));
    trials.push_back(seed % 3 == 2 ? trial(matrix(n, 1000, seed), values) : trial(plane(n, 1000, seed, tsp::Metric::euc_2d), values));
  }
  return trials;
}

TEST(TourSearch, TwinsThroughCyclesOfTheCooling) {
  expect_twins(reference(), fast(), cooled_trials(20));
  expect_twins(reference(), fast(), cooled_trials(20), in_slices);
}

TEST(TourSearch, ALongerSearchIsNotWorse) {
  for (std::int64_t rounds = 5; rounds < 40; rounds += 7) {
    const std::vector<Trial> before = cooled_trials(rounds), after = cooled_trials(rounds + 7);
    for (std::size_t i = 0; i < before.size(); ++i)
      EXPECT_LE(outcome_of(fast().front(), after[i], at_once).objective.value(),
                outcome_of(fast().front(), before[i], at_once).objective.value())
          << after[i].name;
  }
}

TEST(TourSearch, TheThreadsDoNotMatter) {
  const Trial one = trial(plane(3000, 20'000, 5, tsp::Metric::euc_2d), {{"threads", std::int64_t{1}}, {"walkers", std::int64_t{12}}});
  const Outcome expected = outcome_of(fast().front(), one, at_once);
  EXPECT_GT(expected.counters.at("kicks_kept"), expected.counters.at("kicks_dropped"));
  for (const std::int64_t threads : {2, 5}) {
    Trial more = one;
    more.c.values["threads"] = threads;
    expect_same(outcome_of(fast().front(), more, at_once), expected, more.name);
  }
}

TEST(TourSearch, ARunIsAsGoodAsANewOne) {
  expect_a_run_is_as_good_as_new(cpu_tour_implementations(), trial(plane(300, 10'000, 5, tsp::Metric::euc_2d), {}));
}

/// Every order of a few cities.
TEST(TourSearch, FindsTheShortestOfFewCities) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto n = static_cast<std::int32_t>(3 + seed % 6);
    const tsp::Tsp tsp = seed % 2 == 0 ? plane(n, 100, seed, tsp::Metric::euc_2d) : matrix(n, 50, seed);
    tsp::Tour tour(static_cast<std::size_t>(n));
    std::iota(tour.begin(), tour.end(), 0);
    std::int64_t shortest = tsp::length(tsp, tour);
    while (std::next_permutation(tour.begin() + 1, tour.end())) shortest = std::min(shortest, tsp::length(tsp, tour));
    const Outcome outcome = outcome_of(fast().front(), trial(tsp, {{"iterations", std::int64_t{20}}}), at_once);
    EXPECT_EQ(outcome.objective, Objective(shortest)) << seed;
  }
}

TEST(TourSearch, AStartIsNotMadeWorse) {
  Trial one = trial(plane(200, 1000, 5, tsp::Metric::euc_2d), {});
  const Outcome before = outcome_of(fast().front(), one, at_once);
  one.start = before.solution;
  const Outcome after = outcome_of(fast().front(), one, at_once);
  EXPECT_FALSE(before.objective.better_than(after.objective));
  one.start->pop_back();
  EXPECT_THROW(outcome_of(fast().front(), one, at_once), InputError);
}

TEST(TourSearch, BeforeTheGreedyTourThereIsNone) {
  const Trial one = trial(plane(9, 100, 1, tsp::Metric::euc_2d), {{"restarts", std::int64_t{2}}});
  const std::atomic<bool> raised = true;
  for (const Implementation& implementation : cpu_tour_implementations()) {
    const auto run = implementation.prepare(one.c, *one.instance);
    run->reset(3);
    EXPECT_TRUE(run->execute({.stop = &raised}));
    EXPECT_FALSE(run->outcome().feasible);
    EXPECT_TRUE(run->outcome().solution.empty());
    EXPECT_FALSE(run->trace().back().objective.has_value());
    run->reset(3);
    run->execute();
    EXPECT_TRUE(run->outcome().feasible) << run->outcome().complaint;
  }
}

/// Many cities at one place know the next place.
TEST(TourSearch, CopiesOfCitiesCostNothing) {
  const tsp::Tsp some = plane(60, 10'000, 3, tsp::Metric::euc_2d);
  std::vector<double> x, y;
  for (int copy = 0; copy < 20; ++copy) {
    x.insert(x.end(), some.view().x, some.view().x + some.size());
    y.insert(y.end(), some.view().y, some.view().y + some.size());
  }
  const std::map<std::string, Value> values{{"iterations", std::int64_t{20}}, {"kicks", std::int64_t{500}}};
  const std::int64_t once = outcome_of(fast().front(), trial(some, values), at_once).objective.value();
  const std::int64_t copied = outcome_of(fast().front(), trial({"c", x, y}, values), at_once).objective.value();
  EXPECT_LE(copied, once + once / 50);
}

TEST(TourSearch, LeavesTheRestToOthers) {
  const Trial one = trial(plane(20, 100, 1, tsp::Metric::euc_2d), {{"tenure", std::int64_t{3}}});
  EXPECT_THROW(static_cast<void>(fast().front().prepare(one.c, *one.instance)), DoesNotFit);
}

}  // namespace
}  // namespace vicinity::lsm
