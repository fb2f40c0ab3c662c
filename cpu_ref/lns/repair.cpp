// cpu-lns: neighbourhoods repaired by propagation, dealt to all cores (contract: core/methods/lns/repair.hpp; rounds: rounds.hpp there).
//
// Data: a CP search (store, trail, queues) a thread. Synchronisation: one barrier a round. Cost: of a neighbourhood, propagation of what it
// keeps and of some tens of failures; copies of the incumbent beside it.
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/methods/lns/rounds.hpp"
#include "cpu_ref/lns/implementations.hpp"
#include "cpu_ref/run/search_run.hpp"

namespace vicinity::lns {
namespace {

/// Threads, which take neighbourhoods and other work in turns.
class ThreadSearchers final : public repair::Searchers {
 public:
  explicit ThreadSearchers(int threads) : threads_(threads) {}

  void set_up(const cp::Problem& problem, const cp::CompiledModel& compiled) override {
    cost_ = repair::cost_of(problem, compiled);
    searches_.clear();
    for (int k = 0; k < threads_; ++k) searches_.push_back(repair::searcher(problem, compiled));
  }
  void search(const repair::Round& round, const Interruption& interruption) override {
    const auto neighborhoods = static_cast<std::int64_t>(round.found.size());
    std::atomic<std::size_t> next = 0;  // each thread takes a search of its own
    std::vector<std::atomic<bool>> taken(searches_.size());
    for_each_in_parallel(neighborhoods + round.others, threads_, [&](std::int64_t k) {
      if (k == 0) return round.other(0);
      if (k > neighborhoods) return round.other(k - neighborhoods);
      std::size_t mine = next++ % searches_.size();
      while (taken[mine].exchange(true)) mine = (mine + 1) % searches_.size();
      round.found[static_cast<std::size_t>(k - 1)] =
          repair::search_neighborhood(*searches_[mine], round.draw(k - 1), round.incumbent, cost_, interruption);
      taken[mine] = false;
    });
  }

 private:
  int threads_;
  repair::CostOf cost_{};
  std::vector<std::unique_ptr<CpSearch>> searches_;  ///< [thread]
};

/// The one search of a case, for SearchRun.
class RepairSearch {
 public:
  struct Method {
    int threads;
  };
  struct State {
    State(const cp::Problem& problem, const Task& task, const Start& start, int threads)
        : searchers(threads), rounds(problem, task, start, searchers) {}
    ThreadSearchers searchers;
    repair::Rounds rounds;
  };
  using Result = repair::Result;

  RepairSearch(const cp::Problem& problem, const Task& task) : problem_(&problem), task_(task) {}

  [[nodiscard]] static std::int64_t count() { return 1; }
  [[nodiscard]] std::unique_ptr<State> begin(Method& method, const Start& start, std::int64_t) const {
    check_start(*problem_, start);
    return std::make_unique<State>(*problem_, task_, start, method.threads);
  }
  static void set_up(Method&, State& state, const Interruption& interruption) { state.rounds.set_up(interruption); }
  static void step(Method&, State& state, const StepLimit& limit) {
    if (!done(state) && state.rounds.steps() < limit.iterations) state.rounds.step(limit.interruption);
  }
  [[nodiscard]] static bool done(const State& state) { return state.rounds.done(); }
  [[nodiscard]] static TracePoint progress(const State& state) { return state.rounds.progress(); }
  [[nodiscard]] static Result result(const State& state) { return state.rounds.result(); }
  [[nodiscard]] Outcome judge(const std::vector<Result>& results, bool) const { return repair::judge(*problem_, results); }
  [[nodiscard]] static Policy policy(const Method& method, std::size_t) { return {{"threads", method.threads}}; }
  [[nodiscard]] static Work work(const Method&, const std::vector<Result>&, std::size_t) { return {}; }

 private:
  const cp::Problem* problem_;
  Task task_;
};

std::unique_ptr<Run> prepare(const Case& c, const Instance& instance) {
  const auto& problem = dynamic_cast<const cp::Problem&>(instance);
  Task task = task_of(c, problem);
  if (!c.values.contains("subsets")) task.subsets = repair::round_neighborhoods;
  return search_by_repair(problem, task);
}

}  // namespace

std::unique_ptr<Run> search_by_repair(const cp::Problem& problem, const Task& task) {
  const std::int64_t wanted = task.threads > 0 ? task.threads : omp_get_max_threads();
  std::vector<std::unique_ptr<RepairSearch::Method>> methods;
  methods.push_back(std::make_unique<RepairSearch::Method>(static_cast<int>(std::min(wanted, task.subsets + 1))));
  return std::make_unique<SearchRun<RepairSearch>>(RepairSearch(problem, task), std::move(methods));
}

std::vector<Implementation> cpu_repair_implementations() {
  return {{.name = "cpu-lns",
           .backend = Backend::cpu,
           .summary = "all cores: ours, adaptive neighbourhoods repaired by propagation, beside a complete search that may prove the best",
           .limit = "latency of caches: propagation of few constraints at a time",
           .prepare = prepare,
           .reference = "cpu-lns"}};
}

}  // namespace vicinity::lns
