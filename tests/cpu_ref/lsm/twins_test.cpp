#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "cpu_ref/lsm/neighbor_evaluator.hpp"
#include "tests/support/lsm_twins.hpp"

namespace vicinity::lsm {
namespace {

const Implementation& reference() {
  static const std::vector<Implementation> all = cpu_implementations();
  return all.front();
}

TEST(LsmCpu, TheReferenceComesFirst) { EXPECT_EQ(reference().name, systems::lsm().reference); }

TEST(LsmCpu, RandomTwins) { expect_twins(reference(), cpu_implementations(), random_trials(120)); }

TEST(LsmCpu, EdgeTwins) { expect_twins(reference(), cpu_implementations(), edge_trials()); }

/// Small enough for the oracle to evaluate every neighbour from scratch.
TEST(LsmCpu, TheContractFoundTheNaiveWay) {
  std::vector<Trial> trials;
  for (std::uint64_t seed = 1000; seed < 1400; ++seed) {
    Case c = systems::lsm().random_case(seed);
    for (const char* axis : {"size", "m", "n", "neighbors"})
      if (c.values.contains(axis)) c.values[axis] = std::min<std::int64_t>(std::get<std::int64_t>(c.values[axis]), 14);
    if (c.values.contains("iterations"))
      c.values["iterations"] = std::min<std::int64_t>(std::get<std::int64_t>(c.values["iterations"]), 40);
    trials.push_back({c, make_instance(c), c.key()});
  }
  for (const Trial& trial : trials) expect_same(outcome_of(reference(), trial, at_once), naive_outcome(trial, 11), trial.name);
}

TEST(LsmCpu, SlicesOfTimeGiveTheSame) { expect_twins(reference(), cpu_implementations(), slice_trials(), in_slices); }

/// Large enough that rows are shared.
TEST(LsmCpu, TheThreadsDoNotMatter) {
  std::vector<Trial> trials;
  for (const std::int64_t threads : {2, 5}) {
    trials.push_back(trial("qap", {{"size", whole(480)}, {"iterations", whole(3)}, {"threads", whole(threads)}}));
    trials.push_back(
        trial("qap", {{"size", whole(90)}, {"neighborhood", text("exchange3")}, {"iterations", whole(3)}, {"threads", whole(threads)}}));
    trials.push_back(trial("ppp", {{"m", whole(201)}, {"n", whole(217)}, {"iterations", whole(6)}, {"threads", whole(threads)}}));
    trials.push_back(trial("ppp", {{"m", whole(1100)},
                                   {"n", whole(1000)},
                                   {"neighborhood", text("hamming1")},
                                   {"iterations", whole(6)},
                                   {"threads", whole(threads)}}));
    for (const auto& [size, extent] : {std::pair(700, 20000), std::pair(3100, 20000), std::pair(1500, 100000)})
      trials.push_back(trial(
          "tsp",
          {{"size", whole(size)}, {"extent", whole(extent)}, {"iterations", whole(8)}, {"tenure", whole(3)}, {"threads", whole(threads)}}));
    trials.push_back(
        trial("weierstrass", {{"dimension", whole(2)}, {"neighbors", whole(3000)}, {"iterations", whole(5)}, {"threads", whole(threads)}}));
  }
  expect_twins(reference(), {cpu_implementations().back()}, trials);
}

/// Swaps become free again, are taken while they are tabu, and run out.
TEST(LsmCpu, LongSearchesOfTours) {
  std::vector<Trial> trials;
  for (const std::int64_t size : {5, 12, 60, 150})
    for (const std::int64_t tenure : {3, 60, 900})
      trials.push_back(
          trial("tsp", {{"size", whole(size)}, {"iterations", whole(3000)}, {"tenure", whole(tenure)}, {"extent", whole(1000)}}));
  expect_twins(reference(), {cpu_implementations().back()}, trials);
}

TEST(LsmCpu, OneRunIsAsGoodAsANewOne) { expect_one_run_is_as_good_as_a_new_one(cpu_implementations()); }

TEST(LsmCpu, ARestartIsTheRunWithItsSeed) { expect_restarts_are_runs_with_their_seeds(cpu_implementations()); }

TEST(LsmCpu, WorkGrowsWithWhatWasDone) {
  for (const Implementation& implementation : cpu_implementations()) {
    double before = 0;
    for (const std::int64_t iterations : {10, 40}) {
      const Trial one = trial("qap", {{"size", whole(30)}, {"iterations", whole(iterations)}, {"threads", whole(1)}});
      const auto run = implementation.prepare(one.c, *one.instance);
      run->reset(1);
      run->execute();
      EXPECT_GT(run->work().at(Ceiling::cpu_integer_core), 3 * before) << implementation.name;
      before = run->work().at(Ceiling::cpu_integer_core);
    }
  }
}

/// A slice [first, last) of the moves can be evaluated alone, wherever it begins and ends.
TEST(LsmCpu, SlicesOfMovesGiveTheSame) {
  for (const Trial& one : random_trials(60)) {
    const local_search::Task task = task_of(one.c);
    with_neighborhood(one.c, *one.instance, [&](const auto& neighborhood) {
      using Neighborhood = std::decay_t<decltype(neighborhood)>;
      const SearchState<Neighborhood> state(neighborhood, task, 5, 0);
      NeighborEvaluator<Neighborhood> evaluator(neighborhood);
      evaluator.begin(state.solution());
      const std::int64_t moves = neighborhood.moves();
      std::vector<std::int64_t> whole_values(static_cast<std::size_t>(moves)), sliced(whole_values.size());
      evaluator.evaluate(state, 0, moves, whole_values.data());
      for (std::int64_t first = 0, part = 1; first < moves; first += part, part = part * 2 % 97 + 1)
        evaluator.evaluate(state, first, std::min(moves, first + part), &sliced[static_cast<std::size_t>(first)]);
      EXPECT_EQ(whole_values, sliced) << one.name;
      return 0;
    });
  }
}

TEST(LsmCpu, PrefixesAreTheSame) { expect_prefix_twins(cpu_implementations(), random_trials(40)); }

TEST(LsmCpu, ATargetMayBeReachedByAnyRestart) {
  const Trial one = trial("tsp", {{"size", whole(60)}, {"method", text("hill")}, {"restarts", whole(8)}, {"threads", whole(1)}});
  for (const Implementation& implementation : cpu_implementations()) {
    const Outcome whole_run = outcome_of(implementation, one, at_once);
    const auto run = implementation.prepare(one.c, *one.instance);
    run->reset(11);
    static_cast<void>(run->execute({.target = *whole_run.objective}));
    EXPECT_TRUE(run->reached_target()) << implementation.name;
    EXPECT_EQ(run->outcome().objective, whole_run.objective) << implementation.name;
    EXPECT_LE(run->outcome().iterations, whole_run.iterations) << implementation.name;
    run->reset(11);
    EXPECT_FALSE(run->execute({.target = *whole_run.objective - 1})) << implementation.name;
    EXPECT_FALSE(run->reached_target()) << implementation.name;
  }
}

}  // namespace
}  // namespace vicinity::lsm
