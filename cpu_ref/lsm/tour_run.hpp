#pragma once
// What the searches of tours share around their steps: one restart after the other, each on all threads; iterations are rounds.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/methods/lsm/tour_search.hpp"
#include "core/util/memory.hpp"
#include "cpu_ref/run/search_run.hpp"

namespace vicinity::tour_search {

/// A search under way: made from (tsp, task, start, restart, threads), with set_up(interruption), advance(briefly, interruption), done(),
/// progress() and result(). Before it has a tour, a result has none.
template <class Search>
class TourSearches {
 public:
  struct Method {
    int threads;
  };
  using State = Search;
  using Result = tour_search::Result;

  TourSearches(const tsp::Tsp& tsp, const Task& task) : tsp_(&tsp), task_(task) {}

  [[nodiscard]] std::int64_t count() const { return task_.restarts; }
  [[nodiscard]] std::unique_ptr<State> begin(Method& method, const Start& start, std::int64_t k) const {
    return std::make_unique<State>(*tsp_, task_, start, k, method.threads);
  }
  static void set_up(Method&, State& state, const Interruption& interruption) { state.set_up(interruption); }
  static void step(Method&, State& state, const StepLimit& limit) {
    if (!state.done() && state.progress().iterations < limit.iterations) state.advance(limit.briefly, limit.interruption);
  }
  [[nodiscard]] static bool done(const State& state) { return state.done(); }
  [[nodiscard]] static TracePoint progress(const State& state) { return state.progress(); }
  [[nodiscard]] static Result result(const State& state) { return state.result(); }
  [[nodiscard]] Outcome judge(std::vector<Result> searches, bool whole) const {
    std::erase_if(searches, [](const Result& search) { return search.tour.empty(); });
    return tour_search::judge(*tsp_, task_, searches, whole);
  }
  [[nodiscard]] Policy policy(const Method& method, std::size_t) const {
    return {{"threads", method.threads}, {"walkers", task_.walkers}, {"kicks", task_.kicks}};
  }
  [[nodiscard]] static Work work(const Method&, const std::vector<Result>&, std::size_t) { return {}; }

 private:
  const tsp::Tsp* tsp_;
  Task task_;
};

/// A run with as many threads as the case says, else `most`; no more than walkers.
template <class Search>
[[nodiscard]] std::unique_ptr<Run> prepare(const Case& c, const Instance& instance, std::int64_t most) {
  const Task task = task_of(c, instance);
  const auto& tsp = dynamic_cast<const tsp::Tsp&>(instance);
  const auto threads = static_cast<int>(std::min<std::int64_t>(task.threads > 0 ? task.threads : most, task.walkers));
  require_memory(static_cast<double>(tsp.size()) * (200 + 60 * threads), "a search of tours");
  std::vector<std::unique_ptr<typename TourSearches<Search>::Method>> methods;
  methods.push_back(std::make_unique<typename TourSearches<Search>::Method>(threads));
  return std::make_unique<SearchRun<TourSearches<Search>>>(TourSearches<Search>(tsp, task), std::move(methods));
}

}  // namespace vicinity::tour_search
