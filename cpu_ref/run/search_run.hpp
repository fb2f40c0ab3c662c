#pragma once
// The one driver of searches on the CPU: which worker takes which search, budgets, the clock, the trace, the judgement.
#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/api/run.hpp"
#include "cpu_ref/run/interruption.hpp"

namespace vicinity {

/// How far one call of step() may go: to at most `iterations` of the search, and where `briefly`, for some microseconds. What takes long
/// looks at `interruption`.
struct StepLimit {
  std::int64_t iterations;
  bool briefly;
  Interruption interruption = Interruption();
};

/// The searches of a case. A method belongs to one worker, a state is one search under way. What has to be made before the first step and
/// takes long is left by begin() to set_up(method, state, interruption), where there is one. A state that was interrupted has a result.
template <class S>
concept CpuSearches = requires(const S searches, typename S::Method& method, typename S::State& state, const Start& start, std::int64_t k,
                               const std::vector<typename S::Result>& results, bool whole, std::size_t workers) {
  { searches.count() } -> std::same_as<std::int64_t>;
  { searches.begin(method, start, k) } -> std::same_as<std::unique_ptr<typename S::State>>;  // search k of the run
  searches.step(method, state, StepLimit{});  // at least one iteration, none beyond the limit; never called when done
  { searches.done(state) } -> std::same_as<bool>;
  { searches.progress(state) } -> std::same_as<TracePoint>;  // all but the seconds
  { searches.result(state) } -> std::same_as<typename S::Result>;
  { searches.judge(results, whole) } -> std::same_as<Outcome>;  // of the searches begun; `whole`: all have come to their end
  { searches.policy(method, workers) } -> std::same_as<Policy>;
  { searches.work(method, results, workers) } -> std::same_as<Work>;
};

/// Searches 0 .. count()-1, shared among workers: one search at a time each, on a thread of its own when there are several workers.
template <CpuSearches Searches>
class SearchRun final : public Run {
 public:
  using Method = typename Searches::Method;
  using Result = typename Searches::Result;

  SearchRun(Searches searches, std::vector<std::unique_ptr<Method>> methods) : searches_(std::move(searches)) {
    for (auto& method : methods) workers_.push_back({std::move(method), nullptr, 0});
    reset(0);
  }

  void reset(const Start& start) override {
    start_ = start;
    next_ = 0;
    seconds_ = 0;
    trace_.clear();
    finished_.assign(static_cast<std::size_t>(searches_.count()), std::nullopt);
    for (Worker& worker : workers_) worker.state.reset();
    interrupted_ = false;
  }
  /// Once interrupted within a step it goes no further before a reset().
  bool execute(const Budget& budget) override {
    const Stopwatch watch;
    reached_ = false;
    spent_ = interrupted_.load();
    const auto workers = static_cast<int>(workers_.size());
    if (workers == 1) {
      go_on(workers_.front(), budget, watch);
    } else {
#pragma omp parallel for num_threads(workers) schedule(static, 1)
      for (Worker& worker : workers_) go_on(worker, budget, watch);
    }
    seconds_ += watch.seconds();
    return interrupted_ || next_ < searches_.count() ||
           std::any_of(workers_.begin(), workers_.end(), [](const Worker& worker) { return worker.state != nullptr; });
  }
  [[nodiscard]] bool reached_target() const override { return reached_; }
  [[nodiscard]] Times times() const override { return {{Part::kernel, {seconds_, TimeSource::host}}}; }
  [[nodiscard]] Outcome outcome() override {
    const bool whole = std::all_of(finished_.begin(), finished_.end(), [](const auto& one) { return one.has_value(); });
    return searches_.judge(begun(), whole || next_ == 0);
  }
  [[nodiscard]] Trace trace() const override { return trace_; }
  [[nodiscard]] Policy policy() const override { return searches_.policy(*workers_.front().method, workers_.size()); }
  [[nodiscard]] Work work() const override { return searches_.work(*workers_.front().method, begun(), workers_.size()); }

 private:
  struct Worker {
    std::unique_ptr<Method> method;
    std::unique_ptr<typename Searches::State> state;
    std::int64_t search;
  };

  /// Goes on with this worker's search, and the next ones, until the budget is spent.
  void go_on(Worker& worker, const Budget& budget, const Stopwatch& watch) {
    try {
      while (!spent_ && step(worker, budget, watch)) {
      }
    } catch (const Interrupted&) {
      spent_ = interrupted_ = true;
      if (worker.state && worker.search == 0) note(searches_.progress(*worker.state), watch);
    }
  }
  /// One step, of the next search where none is under way. Was there anything to do?
  bool step(Worker& worker, const Budget& budget, const Stopwatch& watch) {
    const Interruption interruption(budget.stop);
    if (!worker.state) {
      worker.search = next_++;
      if (worker.search >= searches_.count()) return false;
      worker.state = searches_.begin(*worker.method, start_, worker.search);
      if constexpr (requires { searches_.set_up(*worker.method, *worker.state, interruption); })
        searches_.set_up(*worker.method, *worker.state, interruption);
      if (worker.search == 0) note(searches_.progress(*worker.state), watch);
    }
    const bool first = worker.search == 0;
    const std::int64_t limit = first && budget.iterations ? *budget.iterations : std::numeric_limits<std::int64_t>::max();
    searches_.step(*worker.method, *worker.state, {limit, !budget.unlimited(), interruption});
    const bool done = searches_.done(*worker.state);
    if (done || !budget.unlimited() || budget.improvements) check(worker, budget, watch, limit, done);
    if (!done) return true;
    finished_[static_cast<std::size_t>(worker.search)] = searches_.result(*worker.state);
    worker.state.reset();
    return true;
  }
  /// Is the budget spent? What does the trace need?
  void check(const Worker& worker, const Budget& budget, const Stopwatch& watch, std::int64_t limit, bool done) {
    const bool first = worker.search == 0;
    const TracePoint now = searches_.progress(*worker.state);
    if (budget.target && now.objective.reaches(*budget.target)) reached_ = true;
    if ((budget.iterations && first && (done || now.iterations >= limit)) || reached_ || (budget.stop != nullptr && *budget.stop) ||
        (budget.seconds && watch.seconds() >= *budget.seconds))
      spent_ = true;
    if (first && (spent_ || done || (budget.improvements && now.objective.better_than(trace_.back().objective)))) note(now, watch);
  }
  void note(TracePoint now, const Stopwatch& watch) {
    now.seconds = seconds_ + watch.seconds();
    trace_.push_back(now);
  }
  /// The searches finished and under way, in order.
  [[nodiscard]] std::vector<Result> begun() const {
    std::vector<Result> results;
    for (std::int64_t k = 0; k < searches_.count(); ++k) {
      const auto under_way =
          std::find_if(workers_.begin(), workers_.end(), [&](const Worker& worker) { return worker.state && worker.search == k; });
      if (under_way != workers_.end())
        results.push_back(searches_.result(*under_way->state));
      else if (finished_[static_cast<std::size_t>(k)])
        results.push_back(*finished_[static_cast<std::size_t>(k)]);
    }
    return results;
  }

  Searches searches_;
  std::vector<Worker> workers_;
  Start start_ = 0;
  std::atomic<std::int64_t> next_ = 0;     ///< the first search that no worker has taken
  std::atomic<bool> spent_ = false;        ///< the budget of this call
  std::atomic<bool> reached_ = false;      ///< its target
  std::atomic<bool> interrupted_ = false;  ///< within a step, since reset()
  std::vector<std::optional<Result>> finished_;
  Trace trace_;
  double seconds_ = 0;  ///< of all calls since reset()
};

}  // namespace vicinity
