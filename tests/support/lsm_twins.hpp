#pragma once
// What the tests of every local search implementation ask: twins over random and edge cases, whole and in slices; and a search that knows
// nothing but the oracle and the text of the contract.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/digest.hpp"
#include "core/search_result.hpp"
#include "core/systems.hpp"
#include "data/lsm/system.hpp"

namespace vicinity::lsm {

/// A case and its instance, which need not be one that cases can name.
struct Trial {
  Case c;
  std::shared_ptr<const Instance> instance;
  std::string name;
};

inline Trial trial(const std::string& problem, std::map<std::string, Value> values) {
  const Case c{problem, "", std::move(values)};
  return {c, make_instance(c), c.key()};
}

inline Value whole(std::int64_t value) { return value; }
inline Value text(const std::string& value) { return value; }

/// Sizes around vectors and words of bits, the smallest neighbourhoods, all moves tabu, one move, climbs, restarts.
inline std::vector<Trial> edge_trials() {
  std::vector<Trial> trials;
  const auto add = [&](const std::string& problem, std::map<std::string, Value> values) {
    values.try_emplace("iterations", whole(60));
    values.try_emplace("threads", whole(1));
    trials.push_back(trial(problem, values));
    values["method"] = text("hill");
    values.erase("iterations");
    trials.push_back(trial(problem, values));
  };
  for (const char* matrix : {"symmetric", "asymmetric"}) {
    for (const std::int64_t size : {2, 3, 4, 15, 16, 17, 31, 33, 64, 65, 100})
      add("qap", {{"size", whole(size)}, {"matrix", text(matrix)}});
    for (const std::int64_t size : {3, 4, 5, 16, 17, 18, 33})
      add("qap", {{"size", whole(size)}, {"matrix", text(matrix)}, {"neighborhood", text("exchange3")}});
    for (const std::int64_t range : {1, 2, 1000, 1 << 15, 1 << 20, 1 << 25})  // nothing to choose between; 32 bits and more
      for (const char* neighborhood : {"swap", "exchange3"})
        add("qap", {{"size", whole(12)}, {"matrix", text(matrix)}, {"range", whole(range)}, {"neighborhood", text(neighborhood)}});
  }
  for (const auto& [m, n] : {std::pair(1, 3), std::pair(3, 4), std::pair(31, 33), std::pair(32, 32), std::pair(33, 31), std::pair(64, 65),
                             std::pair(200, 20), std::pair(20, 130), std::pair(101, 117), std::pair(9, 70)})
    for (const char* neighborhood : {"hamming1", "hamming2", "hamming3"})
      if (n < 80 || neighborhood != std::string("hamming3"))
        add("ppp", {{"m", whole(m)}, {"n", whole(n)}, {"neighborhood", text(neighborhood)}, {"iterations", whole(n < 60 ? 60 : 8)}});
  for (const std::int64_t size : {3, 4, 5, 15, 16, 17, 18, 33, 34, 65, 300})
    for (const std::int64_t extent : {1, 30, 20000, 100000}) add("tsp", {{"size", whole(size)}, {"extent", whole(extent)}});
  for (const char* precision : {"float", "double"})
    for (const std::int64_t dimension : {1, 2, 3, 5, 10})
      for (const std::int64_t neighbors : {1, 63, 64, 65, 200})
        add("weierstrass", {{"dimension", whole(dimension)}, {"neighbors", whole(neighbors)}, {"precision", text(precision)}});
  for (const std::int64_t tenure : {1, 6, 7, 1000, 1000000000}) {  // from some on all moves are tabu
    add("qap", {{"size", whole(4)}, {"tenure", whole(tenure)}});
    add("ppp", {{"m", whole(7)}, {"n", whole(7)}, {"neighborhood", text("hamming1")}, {"tenure", whole(tenure)}});
    add("tsp", {{"size", whole(4)}, {"tenure", whole(tenure)}});
    add("weierstrass", {{"dimension", whole(2)}, {"neighbors", whole(6)}, {"tenure", whole(tenure)}});
  }
  for (const std::int64_t threads : {1, 3}) {
    const std::map<std::string, Value> many{{"restarts", whole(5)}, {"threads", whole(threads)}};
    for (auto [problem, values] : {std::pair(std::string("qap"), std::map<std::string, Value>{{"size", whole(20)}}),
                                   {"ppp", {{"m", whole(40)}, {"n", whole(40)}}},
                                   {"tsp", {{"size", whole(50)}}},
                                   {"weierstrass", {{"dimension", whole(3)}, {"neighbors", whole(100)}}}}) {
      values.insert(many.begin(), many.end());
      add(problem, values);
    }
  }
  return trials;
}

inline std::vector<Trial> random_trials(int count) {
  const System lsm = system();
  std::vector<Trial> trials;
  for (int i = 0; i < count; ++i) {
    Case c = lsm.random_case(static_cast<std::uint64_t>(i));
    c.values["threads"] = std::int64_t{1 + i % 3};
    trials.push_back({c, make_instance(c), c.key()});
  }
  return trials;
}

/// Solutions whose values the oracle knows exactly; neighbours by applying their moves to copies. No delta, no order of scanning.
template <class Neighborhood>
local_search::Search<typename Neighborhood::Solution> naive_search(const Neighborhood& neighborhood, const local_search::Task& task,
                                                                   std::uint64_t seed) {
  local_search::Search<typename Neighborhood::Solution> search;
  search.current = search.best = neighborhood.start(seed);
  search.value = search.best_value = neighborhood.value(search.current);
  const std::int64_t moves = neighborhood.moves(), tenure = task.tenure > 0 ? task.tenure : moves / 8 > 0 ? moves / 8 : 1;
  std::map<std::int64_t, std::int64_t> taken;  // when last
  Digest digest;
  while (search.iterations < task.limit() && !search.at_optimum) {
    ++search.looks;
    std::int64_t best_move = -1, best_value = 0;
    bool best_forbidden = true;
    for (std::int64_t move = 0; move < moves; ++move) {
      auto neighbor = search.current;
      neighborhood.apply(neighbor, seed, search.iterations, move);
      const std::int64_t value = neighborhood.value(neighbor);
      const bool tabu = taken.contains(move) && search.iterations - taken[move] <= tenure, forbidden = tabu && value >= search.best_value;
      if (best_move >= 0 && (forbidden > best_forbidden || (forbidden == best_forbidden && value >= best_value))) continue;
      best_move = move;
      best_value = value;
      best_forbidden = forbidden;
    }
    if (task.method == local_search::Method::hill && best_value >= search.value) {
      search.at_optimum = true;
      break;
    }
    neighborhood.apply(search.current, seed, search.iterations, best_move);
    search.value = best_value;
    if (task.method == local_search::Method::tabu) taken[best_move] = search.iterations;
    digest.add(static_cast<std::uint64_t>(best_move));
    ++search.iterations;
    if (search.value >= search.best_value) continue;
    search.best = search.current;
    search.best_value = search.value;
    search.best_iteration = search.iterations;
  }
  search.digest = digest.value();
  return search;
}

/// What the contract asks for, found the naive way.
inline Outcome naive_outcome(const Trial& trial, std::uint64_t seed) {
  const local_search::Task task = task_of(trial.c);
  return with_neighborhood(trial.c, *trial.instance, [&](const auto& neighborhood) {
    std::vector<local_search::Search<typename std::decay_t<decltype(neighborhood)>::Solution>> searches;
    for (std::int64_t k = 0; k < task.restarts; ++k)
      searches.push_back(naive_search(neighborhood, task, seed + static_cast<std::uint64_t>(task.seed_offset + k)));
    return local_search::judge(neighborhood, task, searches);
  });
}

/// The outcome of a run, which `go` takes from its reset() to its end.
inline Outcome outcome_of(const Implementation& implementation, const Trial& trial, const std::function<void(Run&)>& go) {
  const auto run = implementation.prepare(trial.c, *trial.instance);
  run->reset(11);
  go(*run);
  return run->outcome();
}
inline void at_once(Run& run) { run.execute(); }
inline void in_slices(Run& run) {
  while (run.advance(0)) {
  }
}

inline void expect_same(const Outcome& outcome, const Outcome& expected, const std::string& name) {
  EXPECT_TRUE(outcome.feasible) << name << ": " << outcome.complaint;
  EXPECT_EQ(outcome.digest, expected.digest) << name;
  EXPECT_EQ(outcome.objective, expected.objective) << name;
  EXPECT_EQ(outcome.counters, expected.counters) << name;
  EXPECT_EQ(outcome.evaluations, expected.evaluations) << name;
  EXPECT_EQ(outcome.iterations, expected.iterations) << name;
}

/// Every implementation gives what the reference gives, and the oracle accepts it.
inline void expect_twins(const Implementation& reference, const std::vector<Implementation>& implementations,
                         const std::vector<Trial>& trials, const std::function<void(Run&)>& go = at_once) {
  for (const Trial& trial : trials) {
    const Outcome expected = outcome_of(reference, trial, at_once);
    EXPECT_TRUE(expected.feasible) << trial.name << ": " << expected.complaint;
    for (const Implementation& implementation : implementations)
      expect_same(outcome_of(implementation, trial, go), expected, trial.name + " " + implementation.name);
  }
}

}  // namespace vicinity::lsm
