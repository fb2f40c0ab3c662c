// The CPU implementations of the hybrid genetic search, cpu-hybrid, and those over ranks of the program alns-ranks, mpi-islands and
// mpi-gpu-islands.
#include "cpu_ref/alns/hybrid/implementations.hpp"

#include <omp.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "core/methods/alns/task.hpp"
#include "cpu_ref/alns/hybrid/search.hpp"
#include "cpu_ref/run/ranks.hpp"
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

  /// `team`: of GeneticSearch.
  HybridSearch(const vrp::Vrp& vrp, const Task& task, Team* team) : vrp_(&vrp), task_(task), team_(team) {}

  [[nodiscard]] static std::int64_t count() { return 1; }
  [[nodiscard]] std::unique_ptr<State> begin(Method& method, const Start& start, std::int64_t) const {
    check_start(*vrp_, start);
    return std::make_unique<State>(*vrp_, task_, start, method.threads, team_);
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
  Team* team_;
};

Implementation on_ranks(Backend backend, const char* name, const char* summary, const char* limit) {
  Implementation islands =
      over_ranks("alns-ranks", name, backend, summary, limit, [](const Case& c) { static_cast<void>(hybrid::task_of(c)); });
  islands.reference = "cpu-hybrid";
  return islands;
}

std::unique_ptr<Run> prepare(const Case& c, const Instance& instance, int cores, Team* team) {
  const Task task = hybrid::task_of(c);
  const auto threads = static_cast<int>(std::min<std::int64_t>(task.threads > 0 ? task.threads : cores, task.processes));
  std::vector<std::unique_ptr<HybridSearch::Method>> methods;
  methods.push_back(std::make_unique<HybridSearch::Method>(threads));
  return std::make_unique<SearchRun<HybridSearch>>(HybridSearch(dynamic_cast<const vrp::Vrp&>(instance), task, team), std::move(methods));
}

}  // namespace

std::unique_ptr<Run> prepare_islands_of_rank(const Case& c, const Instance& instance, Team& team) {
  return prepare(c, instance, team.cores(), &team);
}

std::vector<Implementation> cpu_hybrid_implementations() {
  return {{.name = "cpu-hybrid",
           .backend = Backend::cpu,
           .summary = "all cores: ours, a hybrid genetic search: lines of annealing by string removal, crossover, local search",
           .limit = "integer throughput and first-level caches of all cores",
           .prepare = [](const Case& c, const Instance& instance) { return prepare(c, instance, omp_get_max_threads(), nullptr); },
           .reference = "cpu-hybrid"}};
}

std::vector<Implementation> cpu_hybrid_rank_implementations() {
  return {on_ranks(Backend::cpu, "mpi-islands",
                   "processes under MPI share the lines of cpu-hybrid; what lines hand back is exchanged each generation",
                   "integer throughput of all cores; the slowest rank of a generation")};
}

std::vector<Implementation> gpu_hybrid_rank_implementations() {
  return {on_ranks(Backend::gpu, "mpi-gpu-islands",
                   "processes under MPI with a GPU each share the lines of gpu-hybrid; what lines hand back is exchanged each generation",
                   "as gpu-hybrid; the slowest rank of a generation")};
}

}  // namespace vicinity::alns
