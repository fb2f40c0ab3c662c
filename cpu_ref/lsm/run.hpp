#pragma once
// What the CPU implementations share around their scans: states that stop and go on, the judgement.
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/methods/lsm/gathered.hpp"
#include "core/methods/lsm/result.hpp"
#include "core/methods/lsm/search.hpp"
#include "core/methods/lsm/slice.hpp"
#include "core/methods/lsm/state.hpp"
#include "core/util/memory.hpp"
#include "cpu_ref/run/cpu_work.hpp"
#include "cpu_ref/run/search_run.hpp"

namespace vicinity::lsm {

using local_search::SearchState;
using local_search::Slice;

/// The least that so many evaluations of the neighbourhood take; empty where that is not known.
template <local_search::SearchNeighborhood Neighborhood>
[[nodiscard]] Work cpu_work(const Neighborhood& neighborhood, std::int64_t neighborhood_evaluations, int threads) {
  const double operations = neighborhood.fewest_operations() * static_cast<double>(neighborhood_evaluations);
  return operations > 0 ? vicinity::cpu_work(operations, threads) : Work{};
}

/// Threads for so many operations, vectors counted as one. Waking a thread costs some microseconds; it should find a few times that to do.
[[nodiscard]] inline int useful_threads(double operations, double most) {
  constexpr double a_thread = 16'000;
  return static_cast<int>(std::clamp(operations / a_thread, 1.0, std::max(most, 1.0)));
}

/// What finds the best of all moves, for one search at a time.
template <class M>
concept SearchMethod = requires(M& method, const M& fixed, const SearchState<typename M::Neighborhood>& state,
                                const local_search::Choice& choice, std::int64_t evaluations, const Interruption& interruption) {
  method.begin(state, interruption);  // prepares it for a search that was just begun
  { method.choose(state, interruption) } -> std::same_as<local_search::Choice>;
  method.moved(state, choice);  // called after the search took it
  { fixed.policy() } -> std::same_as<Policy>;
  { fixed.work(evaluations) } -> std::same_as<Work>;  // the least that so many evaluations of the neighbourhood take
};

/// The restarts of a case, for SearchRun.
template <SearchMethod M>
class Restarts {
 public:
  using Method = M;
  using Neighborhood = typename Method::Neighborhood;
  using State = SearchState<Neighborhood>;
  using Result = typename State::Result;

  /// `team`: the ranks that share the restarts of a case, of which `task` has this one's; null: none. It outlives the run.
  Restarts(std::shared_ptr<const Neighborhood> neighborhood, const local_search::Task& task, Team* team = nullptr)
      : neighborhood_(std::move(neighborhood)), task_(std::make_shared<const local_search::Task>(task)), team_(team) {}

  [[nodiscard]] std::int64_t count() const { return task_->restarts; }
  [[nodiscard]] std::unique_ptr<State> begin(Method&, const Start& start, std::int64_t k) const {
    return std::make_unique<State>(*neighborhood_, *task_, start, k);
  }
  static void set_up(Method& method, const State& state, const Interruption& interruption) { method.begin(state, interruption); }
  static void step(Method& method, State& state, const StepLimit& limit) {
    if (state.iteration() >= limit.iterations) return;
    const local_search::Choice choice = method.choose(state, limit.interruption);
    if (state.take(choice)) method.moved(state, choice);
  }
  [[nodiscard]] static bool done(const State& state) { return state.done(); }
  [[nodiscard]] static TracePoint progress(const State& state) { return local_search::progress_of(state.result()); }
  [[nodiscard]] static Result result(const State& state) { return state.result(); }
  [[nodiscard]] Outcome judge(const std::vector<Result>& searches, bool whole) const {
    return local_search::judge(team_, *neighborhood_, *task_, searches, whole);
  }
  [[nodiscard]] Policy policy(const Method& method, std::size_t workers) const {
    Policy policy = method.policy();
    if (count() > 1) policy["restarts_at_a_time"] = static_cast<std::int64_t>(workers);
    return policy;
  }
  [[nodiscard]] static Work work(const Method& method, const std::vector<Result>& searches, std::size_t workers) {
    if (workers > 1) return {};  // of some cores
    std::int64_t neighborhood_evaluations = 0;
    for (const Result& search : searches) neighborhood_evaluations += search.neighborhood_evaluations;
    return method.work(neighborhood_evaluations);
  }

 private:
  std::shared_ptr<const Neighborhood> neighborhood_;  ///< states and methods refer to it
  std::shared_ptr<const local_search::Task> task_;
  Team* team_;
};

/// Prepares what make(neighborhood, threads) makes: with several restarts a thread each, else all threads for the one. `team`: of Restarts.
template <class Neighborhood, class Make>
[[nodiscard]] std::unique_ptr<Run> cpu_run(const Neighborhood& neighborhood, const local_search::Task& task, int threads, const Make& make,
                                           Team* team = nullptr) {
  using Method = typename std::invoke_result_t<Make, const Neighborhood&, int>::element_type;
  const auto shared = std::make_shared<const Neighborhood>(neighborhood);
  const auto workers = std::min<std::int64_t>(threads, task.restarts);
  require_memory(sizeof(std::int32_t) * static_cast<double>(neighborhood.moves()) * static_cast<double>(workers), "a search");
  std::vector<std::unique_ptr<Method>> methods;
  for (std::int64_t k = 0; k < workers; ++k) methods.push_back(make(*shared, workers > 1 ? 1 : threads));
  return std::make_unique<SearchRun<Restarts<Method>>>(Restarts<Method>(shared, task, team), std::move(methods));
}

}  // namespace vicinity::lsm
