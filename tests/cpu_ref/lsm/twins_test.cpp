#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "cpu_ref/lsm/plain.hpp"
#include "tests/support/lsm_twins.hpp"
#include "tests/support/runs.hpp"

namespace vicinity::lsm {
namespace {

const Implementation& reference() {
  static const std::vector<Implementation> all = cpu_implementations();
  return all.front();
}

TEST(LsmCpu, TheReferenceComesFirst) { EXPECT_EQ(reference().name, system().reference); }

TEST(LsmCpu, RandomTwins) { expect_twins(reference(), cpu_implementations(), random_trials(120)); }

TEST(LsmCpu, EdgeTwins) { expect_twins(reference(), cpu_implementations(), edge_trials()); }

/// Small enough for the oracle to evaluate every neighbour from scratch.
TEST(LsmCpu, TheContractFoundTheNaiveWay) {
  std::vector<Trial> trials;
  for (std::uint64_t seed = 1000; seed < 1400; ++seed) {
    Case c = system().random_case(seed);
    for (const char* axis : {"size", "m", "n", "neighbors"})
      if (c.values.contains(axis)) c.values[axis] = std::min<std::int64_t>(std::get<std::int64_t>(c.values[axis]), 14);
    if (c.values.contains("iterations"))
      c.values["iterations"] = std::min<std::int64_t>(std::get<std::int64_t>(c.values["iterations"]), 40);
    trials.push_back({c, make_instance(c), c.key()});
  }
  for (const Trial& trial : trials) expect_same(outcome_of(reference(), trial, at_once), naive_outcome(trial, 11), trial.name);
}

TEST(LsmCpu, SlicesOfTimeGiveTheSame) {
  expect_twins(reference(), cpu_implementations(),
               {trial("qap", {{"size", whole(30)}, {"iterations", whole(100)}, {"restarts", whole(3)}, {"threads", whole(2)}}),
                trial("ppp", {{"m", whole(30)}, {"n", whole(30)}, {"method", text("hill")}, {"restarts", whole(3)}}),
                trial("tsp", {{"size", whole(60)}, {"iterations", whole(50)}, {"threads", whole(3)}}),
                trial("weierstrass", {{"dimension", whole(4)}, {"neighbors", whole(300)}, {"iterations", whole(30)}})},
               in_slices);
}

/// Large enough that rows are shared.
TEST(LsmCpu, TheThreadsDoNotMatter) {
  std::vector<Trial> trials;
  for (const std::int64_t threads : {2, 5}) {
    trials.push_back(trial("qap", {{"size", whole(480)}, {"iterations", whole(3)}, {"threads", whole(threads)}}));
    trials.push_back(
        trial("qap", {{"size", whole(90)}, {"neighborhood", text("exchange3")}, {"iterations", whole(3)}, {"threads", whole(threads)}}));
    trials.push_back(trial("ppp", {{"m", whole(201)}, {"n", whole(217)}, {"iterations", whole(6)}, {"threads", whole(threads)}}));
    trials.push_back(trial("tsp", {{"size", whole(700)}, {"iterations", whole(20)}, {"tenure", whole(9)}, {"threads", whole(threads)}}));
    trials.push_back(
        trial("weierstrass", {{"dimension", whole(2)}, {"neighbors", whole(3000)}, {"iterations", whole(5)}, {"threads", whole(threads)}}));
  }
  expect_twins(reference(), {cpu_implementations().back()}, trials);
}

TEST(LsmCpu, OneRunIsAsGoodAsANewOne) {
  for (const Trial& one : {trial("qap", {{"size", whole(30)}, {"iterations", whole(200)}}),
                           trial("ppp", {{"m", whole(40)}, {"n", whole(50)}, {"iterations", whole(50)}}),
                           trial("tsp", {{"size", whole(50)}, {"iterations", whole(100)}}),
                           trial("weierstrass", {{"dimension", whole(3)}, {"iterations", whole(5)}})})
    for (const Implementation& implementation : cpu_implementations()) {
      const auto run = implementation.prepare(one.c, *one.instance);
      const std::uint64_t first = expect_seeds_decide(*run, implementation.name);
      run->reset(1);
      static_cast<void>(run->advance(0));
      EXPECT_TRUE(run->outcome().feasible) << "a search under way has a solution";
      run->execute();
      EXPECT_EQ(first, run->outcome().digest) << implementation.name;
      run->reset(1);
      EXPECT_FALSE(run->outcome().feasible) << implementation.name << ": a run that did nothing passed";
    }
}

TEST(LsmCpu, ARestartIsTheRunWithItsSeed) {
  const std::map<std::string, Value> base{{"m", whole(30)}, {"n", whole(31)}, {"method", text("hill")}};
  for (const Implementation& implementation : cpu_implementations()) {
    std::int64_t best = std::numeric_limits<std::int64_t>::max(), iterations = 0;
    for (std::int64_t k = 0; k < 4; ++k) {
      auto values = base;
      values["seed"] = k;
      const Outcome one = outcome_of(implementation, trial("ppp", values), at_once);
      best = std::min(best, *one.objective);
      iterations += one.iterations;
    }
    auto values = base;
    values["restarts"] = whole(4);
    const Outcome all = outcome_of(implementation, trial("ppp", values), at_once);
    EXPECT_EQ(*all.objective, best) << implementation.name;
    EXPECT_EQ(all.iterations, iterations) << implementation.name;
    EXPECT_EQ(all.counters.at("local_optima"), 4) << implementation.name;
  }
}

TEST(LsmCpu, WorkGrowsWithWhatWasDone) {
  for (const Implementation& implementation : cpu_implementations()) {
    double before = 0;
    for (const std::int64_t iterations : {10, 40}) {
      const Trial one = trial("qap", {{"size", whole(30)}, {"iterations", whole(iterations)}, {"threads", whole(1)}});
      const auto run = implementation.prepare(one.c, *one.instance);
      run->reset(1);
      run->execute();
      EXPECT_GT(run->work().at("cpu_integer_core"), 3 * before) << implementation.name;
      before = run->work().at("cpu_integer_core");
    }
  }
}

/// A slice [first, last) of the moves can be evaluated alone, wherever it begins and ends.
TEST(LsmCpu, SlicesOfMovesGiveTheSame) {
  for (const Trial& one : random_trials(60)) {
    const local_search::Task task = task_of(one.c);
    with_neighborhood(one.c, *one.instance, [&](const auto& neighborhood) {
      using Neighborhood = std::decay_t<decltype(neighborhood)>;
      const Walk<Neighborhood> walk(neighborhood, task, 5);
      Plain<Neighborhood> plain(neighborhood);
      plain.begin(walk.solution());
      const std::int64_t moves = neighborhood.moves();
      std::vector<std::int64_t> whole_values(static_cast<std::size_t>(moves)), sliced(whole_values.size());
      plain.evaluate(walk, 0, moves, whole_values.data());
      for (std::int64_t first = 0, part = 1; first < moves; first += part, part = part * 2 % 97 + 1)
        plain.evaluate(walk, first, std::min(moves, first + part), &sliced[static_cast<std::size_t>(first)]);
      EXPECT_EQ(whole_values, sliced) << one.name;
      return 0;
    });
  }
}

}  // namespace
}  // namespace vicinity::lsm
