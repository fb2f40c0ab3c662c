// The CPU implementation of the hybrid genetic search.
#include "cpu_ref/alns/hybrid/implementations.hpp"

#include <omp.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "core/methods/alns/task.hpp"
#include "cpu_ref/alns/hybrid/search.hpp"
#include "cpu_ref/run/search_run.hpp"

namespace vicinity::alns {
namespace {

/// The one search of a case, for SearchRun. Its iterations are generations.
class HybridSearch {
 public:
  struct Method {
    int threads;
  };
  using State = hybrid::GeneticSearch;
  using Result = Search;

  HybridSearch(const vrp::Vrp& vrp, const Task& task) : vrp_(&vrp), task_(task) {}

  [[nodiscard]] static std::int64_t count() { return 1; }
  [[nodiscard]] std::unique_ptr<State> begin(Method& method, const Start& start, std::int64_t) const {
    check_start(*vrp_, start);
    return std::make_unique<State>(*vrp_, task_, start, method.threads);
  }
  static void step(Method&, State& state, const StepLimit& limit) {
    if (!state.done() && state.generations() < limit.iterations) state.advance(limit.briefly, limit.interruption);
  }
  [[nodiscard]] static bool done(const State& state) { return state.done(); }
  [[nodiscard]] static TracePoint progress(const State& state) { return state.progress(); }
  [[nodiscard]] static Result result(const State& state) { return state.result(); }
  [[nodiscard]] Outcome judge(const std::vector<Result>& searches, bool) const { return alns::judge(*vrp_, searches); }
  [[nodiscard]] static Policy policy(const Method& method, std::size_t) { return {{"threads", method.threads}}; }
  [[nodiscard]] static Work work(const Method&, const std::vector<Result>&, std::size_t) { return {}; }

 private:
  const vrp::Vrp* vrp_;
  Task task_;
};

std::unique_ptr<Run> prepare(const Case& c, const Instance& instance) {
  const Task task = hybrid::task_of(c);
  const auto threads = static_cast<int>(std::min<std::int64_t>(task.threads > 0 ? task.threads : omp_get_max_threads(), task.processes));
  std::vector<std::unique_ptr<HybridSearch::Method>> methods;
  methods.push_back(std::make_unique<HybridSearch::Method>(threads));
  return std::make_unique<SearchRun<HybridSearch>>(HybridSearch(dynamic_cast<const vrp::Vrp&>(instance), task), std::move(methods));
}

}  // namespace

std::vector<Implementation> cpu_hybrid_implementations() {
  return {{.name = "cpu-hybrid",
           .backend = Backend::cpu,
           .summary = "all cores: ours, a hybrid genetic search: lines of annealing by string removal, crossover, local search",
           .limit = "integer throughput and first-level caches of all cores",
           .prepare = prepare,
           .reference = "cpu-hybrid"}};
}

}  // namespace vicinity::alns
