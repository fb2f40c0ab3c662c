#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cpu_ref/lsm/neighbor_evaluator.hpp"
#include "cpu_ref/lsm/weierstrass_lanes.hpp"
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
    trials.push_back(trial(
        "ppp",
        {{"m", whole(61)}, {"n", whole(60)}, {"neighborhood", text("hamming3")}, {"iterations", whole(4)}, {"threads", whole(threads)}}));
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

/// The same of signs, with fewer rows than columns and more, and with products of either parity.
TEST(LsmCpu, LongSearchesOfPerceptrons) {
  std::vector<Trial> trials;
  for (const auto& [m, n] : {std::pair(9, 6), std::pair(20, 31), std::pair(70, 24)})
    for (const char* neighborhood : {"hamming1", "hamming2", "hamming3"})
      for (const std::int64_t tenure : {4, 30, 900})
        trials.push_back(trial("ppp", {{"m", whole(m)},
                                       {"n", whole(n)},
                                       {"neighborhood", text(neighborhood)},
                                       {"tenure", whole(tenure)},
                                       {"iterations", whole(neighborhood == std::string("hamming3") ? 300 : 1500)}}));
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

/// Every key of an evaluator is that of the neighbour made by applying the move and evaluated from scratch, at the start and after moves.
template <class Evaluator, class... Options>
void expect_values_of_neighbours(const typename Evaluator::Neighborhood& neighborhood, const local_search::Task& task,
                                 const std::string& name, const Options&... options) {
  SearchState<typename Evaluator::Neighborhood> state(neighborhood, task, 5, 0);
  Evaluator evaluator(neighborhood, options...);
  evaluator.begin(state, Interruption());
  for (int step = 0; step < 4; ++step) {
    std::int64_t move = 0;
    local_search::Choice choice;
    evaluator.each_row(state, [&](const typename Evaluator::Key* keys, std::int32_t length) {
      for (std::int32_t c = 0; c < length; ++c, ++move) {
        auto neighbor = state.solution();
        neighborhood.apply(neighbor, state.seed(), state.iteration(), move);
        const std::int64_t value = Evaluator::base(state) + keys[c];
        ASSERT_EQ(value, neighborhood.value(neighbor)) << name << ", step " << step << ", move " << move;
        if (move % (3 + step) == 1 || move == 0) choice = {value, move, false};
      }
    });
    ASSERT_EQ(move, neighborhood.moves()) << name;
    if (!state.take(choice)) return;
    evaluator.moved(state, choice.move);
  }
}

template <int K>
void expect_values(const local_search::QapExchange<K>& neighborhood, const local_search::Task& task, const std::string& name) {
  expect_values_of_neighbours<QapEvaluator<K, std::int64_t, std::int64_t>>(neighborhood, task, name);
  if ((K - 1) * neighborhood.instance().delta_bound() >= std::numeric_limits<std::int32_t>::max()) return;
  expect_values_of_neighbours<QapEvaluator<K, std::int32_t, std::int32_t>>(neighborhood, task, name);
  if (neighborhood.instance().bytes()) expect_values_of_neighbours<QapEvaluator<K, std::int16_t, std::int32_t>>(neighborhood, task, name);
}
template <int K>
void expect_values(const local_search::PppFlip<K>& neighborhood, const local_search::Task& task, const std::string& name) {
  expect_values_of_neighbours<PppEvaluator<K>>(neighborhood, task, name);
}
void expect_values(const local_search::TspSwap& neighborhood, const local_search::Task& task, const std::string& name) {
  for (const std::size_t most_bytes : {std::size_t{0}, std::size_t{1} << 30}) {
    expect_values_of_neighbours<TspEvaluator<std::int32_t>>(neighborhood, task, name, most_bytes);
    if (neighborhood.instance().integral()) expect_values_of_neighbours<TspEvaluator<std::uint16_t>>(neighborhood, task, name, most_bytes);
  }
}
template <class Real>
void expect_values(const local_search::WeierstrassCrowns<Real>& neighborhood, const local_search::Task& task, const std::string& name) {
  expect_values_of_neighbours<WeierstrassEvaluator<Real>>(neighborhood, task, name);
}

/// Whatever numbers they hold distances and differences in, and with or without a matrix of distances.
TEST(LsmCpu, EvaluatorsKnowTheValueOfEveryNeighbour) {
  std::vector<Trial> trials = random_trials(80);
  for (const char* matrix : {"symmetric", "asymmetric"})
    for (const std::int64_t range : {100, 2, 20000})
      for (const char* neighborhood : {"swap", "exchange3"})
        trials.push_back(trial("qap", {{"size", whole(13)},
                                       {"matrix", text(matrix)},
                                       {"range", whole(range)},
                                       {"iterations", whole(5)},
                                       {"neighborhood", text(neighborhood)}}));
  for (const std::int64_t size : {3, 4, 5, 33})
    trials.push_back(trial("tsp", {{"size", whole(size)}, {"extent", whole(1000)}, {"iterations", whole(5)}}));
  for (Trial& one : trials) {
    for (const char* axis : {"size", "m", "n", "neighbors"})
      if (one.c.values.contains(axis)) one.c.values[axis] = std::min<std::int64_t>(std::get<std::int64_t>(one.c.values[axis]), 40);
    one.c.values["method"] = text("tabu");
    one.c.values["iterations"] = whole(10);
    const auto instance = make_instance(one.c);
    with_neighborhood(one.c, *instance, [&](const auto& neighborhood) {
      expect_values(neighborhood, task_of(one.c), one.name);
      return 0;
    });
  }
}

/// Vectors, whatever the processor has, against one number at a time.
template <class Real>
void expect_lanes() {
  for (std::uint64_t k = 0; k < 300; ++k) {
    WeierstrassLanes<Real> x, total;
    for (std::size_t lane = 0; lane < weierstrass_lanes; ++lane) {
      const auto bits = static_cast<std::int64_t>(random_bits(6, k, static_cast<std::uint32_t>(lane), 0));
      x[lane] = static_cast<Real>(std::ldexp(static_cast<double>(bits), lane % 2 == 0 ? -63 : -63 - static_cast<int>(k)));
      total[lane] = static_cast<Real>(lane);
    }
    WeierstrassLanes<Real> expected = total;
    for (std::size_t lane = 0; lane < weierstrass_lanes; ++lane) expected[lane] += weierstrass::of_coordinate(x[lane]);
    add_coordinates(x, total);
    ASSERT_EQ(total, expected) << k;
  }
}
TEST(LsmCpu, CoordinatesSideBySideInSinglePrecision) { expect_lanes<float>(); }
TEST(LsmCpu, CoordinatesSideBySideInDoublePrecision) { expect_lanes<double>(); }

/// A percentage of a limit that another design could go below would say nothing.
TEST(LsmCpu, OnlyKnownLimitsAreStated) {
  for (const Implementation& implementation : cpu_implementations())
    for (const auto& [problem, known] : {std::pair("qap", true), {"ppp", false}, {"tsp", false}, {"weierstrass", true}}) {
      std::map<std::string, Value> values{{"iterations", whole(3)}, {"threads", whole(1)}};
      values[problem == std::string("ppp") ? "m" : problem == std::string("weierstrass") ? "dimension" : "size"] = whole(20);
      if (problem == std::string("ppp")) values["n"] = whole(20);
      const Trial one = trial(problem, values);
      const auto run = implementation.prepare(one.c, *one.instance);
      run->reset(1);
      run->execute();
      EXPECT_EQ(!run->work().empty(), known) << implementation.name << " on " << problem;
    }
}

TEST(LsmCpu, PrefixesAreTheSame) { expect_prefix_twins(cpu_implementations(), random_trials(40)); }

/// Set-up looks at the request to stop; what it has not written, a later search writes.
TEST(LsmCpu, StoppedWithinSetUpASearchHasItsStart) {
  const Trial one = trial("tsp", {{"size", whole(3000)}, {"iterations", whole(3)}, {"threads", whole(1)}});
  const std::atomic<bool> raised = true;
  const auto fresh = reference().prepare(one.c, *one.instance);
  const std::uint64_t expected = digest_of(*fresh, 1);
  for (const Implementation& implementation : cpu_implementations()) {
    const auto run = implementation.prepare(one.c, *one.instance);
    run->reset(11);
    EXPECT_TRUE(run->execute({.stop = &raised}));
    EXPECT_TRUE(run->outcome().feasible) << run->outcome().complaint;
    EXPECT_EQ(run->outcome().iterations, 0);
    EXPECT_EQ(digest_of(*run, 1), expected) << implementation.name;
  }
}

TEST(LsmCpu, ATargetMayBeReachedByAnyRestart) {
  const Trial one = trial("tsp", {{"size", whole(60)}, {"method", text("hill")}, {"restarts", whole(8)}, {"threads", whole(1)}});
  for (const Implementation& implementation : cpu_implementations()) expect_a_target_ends_it(implementation, one);
}

}  // namespace
}  // namespace vicinity::lsm
