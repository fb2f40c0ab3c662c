#pragma once
// What the tests of every local search implementation ask: twins over random and edge cases, whole and in slices; and a search that knows
// nothing but the oracle and the text of the contract.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/methods/lsm/result.hpp"
#include "core/methods/lsm/task.hpp"
#include "core/util/digest.hpp"
#include "cpu_ref/lsm/implementations.hpp"
#include "kernels/lsm/implementations.hpp"
#include "systems/list.hpp"
#include "tests/support/runs.hpp"

namespace vicinity::lsm {

inline std::shared_ptr<const Instance> make_instance(const Case& c) { return systems::lsm().instance(c); }

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

/// Solutions whose values the oracle knows exactly; neighbours by applying their moves to copies. No delta, no order of scanning.
template <class Neighborhood>
local_search::SearchResult<typename Neighborhood::Solution> naive_search(const Neighborhood& neighborhood, const local_search::Task& task,
                                                                         std::uint64_t seed) {
  local_search::SearchResult<typename Neighborhood::Solution> search;
  search.current = search.best = neighborhood.start(seed);
  search.value = search.best_value = neighborhood.value(search.current);
  const std::int64_t moves = neighborhood.moves(), tenure = task.tenure > 0 ? task.tenure : moves / 8 > 0 ? moves / 8 : 1;
  std::map<std::int64_t, std::int64_t> taken;  // when last
  Digest digest;
  while (search.iterations < task.limit() && !search.at_optimum) {
    ++search.neighborhood_evaluations;
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
  search.digest = digest;
  return search;
}

/// What the contract asks for, found the naive way.
inline Outcome naive_outcome(const Trial& trial, std::uint64_t seed) {
  const local_search::Task task = task_of(trial.c);
  return with_neighborhood(trial.c, *trial.instance, [&](const auto& neighborhood) {
    std::vector<local_search::SearchResult<typename std::decay_t<decltype(neighborhood)>::Solution>> searches;
    for (std::int64_t k = 0; k < task.restarts; ++k) searches.push_back(naive_search(neighborhood, task, task.seed(seed, k)));
    return local_search::judge(neighborhood, task, searches);
  });
}

inline std::vector<Trial> random_trials(int count) { return vicinity::random_trials(systems::lsm(), count); }

/// Of every problem, for several ranks: neighbourhoods that no number of them divides, of fewer moves than ranks, of one move; climbs.
inline std::vector<Trial> rank_trials() {
  std::vector<Trial> trials;
  const auto add = [&](const std::string& problem, std::map<std::string, Value> values) {
    values["threads"] = whole(1 + static_cast<std::int64_t>(trials.size()) % 2);
    values["iterations"] = whole(40);
    trials.push_back(trial(problem, values));
    values.erase("iterations");
    values["method"] = text("hill");
    values["restarts"] = whole(2);
    trials.push_back(trial(problem, values));
  };
  for (const std::int64_t size : {2, 3, 19}) add("qap", {{"size", whole(size)}, {"matrix", text(size < 4 ? "symmetric" : "asymmetric")}});
  add("qap", {{"size", whole(11)}, {"neighborhood", text("exchange3")}, {"range", whole(1 << 25)}});
  for (const char* neighborhood : {"hamming1", "hamming2", "hamming3"})
    add("ppp", {{"m", whole(23)}, {"n", whole(23)}, {"neighborhood", text(neighborhood)}});
  add("ppp", {{"m", whole(5)}, {"n", whole(5)}, {"neighborhood", text("hamming1")}});
  for (const std::int64_t size : {3, 4, 101}) add("tsp", {{"size", whole(size)}});
  add("tsp", {{"size", whole(30)}, {"extent", whole(100000)}, {"tenure", whole(3)}});
  for (const char* precision : {"float", "double"})
    for (const std::int64_t neighbors : {1, 5, 203})
      add("weierstrass", {{"dimension", whole(3)}, {"neighbors", whole(neighbors)}, {"precision", text(precision)}});
  return trials;
}

/// Of every problem, several restarts, of which ranks have different numbers, or none.
inline std::vector<Trial> restart_trials() {
  std::vector<Trial> trials;
  for (const std::int64_t restarts : {1, 5, 12})
    for (const std::int64_t threads : {1, 2}) {
      const std::map<std::string, Value> shared{{"restarts", whole(restarts)}, {"threads", whole(threads)}};
      for (auto [problem, values] :
           {std::pair(std::string("qap"), std::map<std::string, Value>{{"size", whole(17)}, {"iterations", whole(30)}}),
            {"ppp", {{"m", whole(21)}, {"n", whole(23)}, {"method", text("hill")}}},
            {"tsp", {{"size", whole(30)}, {"method", text("hill")}}},
            {"weierstrass",
             {{"dimension", whole(3)}, {"neighbors", whole(70)}, {"iterations", whole(20)}, {"precision", text("double")}}}}) {
        values.insert(shared.begin(), shared.end());
        trials.push_back(trial(problem, values));
      }
    }
  return trials;
}

/// Searches of every problem that take many slices of time.
inline std::vector<Trial> slice_trials() {
  return {trial("qap", {{"size", whole(30)}, {"iterations", whole(100)}, {"restarts", whole(3)}, {"threads", whole(2)}}),
          trial("ppp", {{"m", whole(30)}, {"n", whole(30)}, {"method", text("hill")}, {"restarts", whole(3)}}),
          trial("tsp", {{"size", whole(60)}, {"iterations", whole(50)}, {"threads", whole(3)}}),
          trial("weierstrass", {{"dimension", whole(4)}, {"neighbors", whole(300)}, {"iterations", whole(30)}})};
}

/// Whatever was done on a run before, a reset leaves nothing of it.
inline void expect_one_run_is_as_good_as_a_new_one(const std::vector<Implementation>& implementations) {
  for (const Trial& one : {trial("qap", {{"size", whole(30)}, {"iterations", whole(200)}}),
                           trial("ppp", {{"m", whole(40)}, {"n", whole(50)}, {"iterations", whole(50)}}),
                           trial("tsp", {{"size", whole(50)}, {"iterations", whole(100)}}),
                           trial("weierstrass", {{"dimension", whole(3)}, {"iterations", whole(5)}})})
    for (const Implementation& implementation : implementations) {
      const auto run = implementation.prepare(one.c, *one.instance);
      const std::uint64_t first = expect_seeds_decide(*run, implementation.name);
      run->reset(1);
      static_cast<void>(run->execute({.seconds = 0}));
      EXPECT_TRUE(run->outcome().feasible) << "a search under way has a solution";
      run->execute();
      EXPECT_EQ(first, run->outcome().digest) << implementation.name;
      EXPECT_GT(run->times()[Part::kernel].value().seconds, 0) << implementation.name;
      run->reset(1);
      EXPECT_FALSE(run->outcome().feasible) << implementation.name << ": a run that did nothing passed";
    }
}

inline void expect_restarts_are_runs_with_their_seeds(const std::vector<Implementation>& implementations) {
  const std::map<std::string, Value> base{{"m", whole(30)}, {"n", whole(31)}, {"method", text("hill")}};
  for (const Implementation& implementation : implementations) {
    std::int64_t best = std::numeric_limits<std::int64_t>::max(), iterations = 0;
    for (std::uint64_t k = 0; k < 4; ++k) {
      const Outcome one = outcome_of(implementation, trial("ppp", base), at_once, 11 + k);
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

}  // namespace vicinity::lsm
