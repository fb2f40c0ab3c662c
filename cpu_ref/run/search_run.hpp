#pragma once
// A case of many searches on the CPU: who takes which, searches that stop and go on, the clock.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/api/run.hpp"

namespace vicinity {

/// When a search shall pause.
class Deadline {
 public:
  Deadline() = default;  ///< never
  explicit Deadline(double seconds)
      : at_(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(seconds, 1e9)))) {}

  [[nodiscard]] bool never() const { return at_ == Clock::time_point::max(); }
  [[nodiscard]] bool past() const { return !never() && Clock::now() >= at_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point at_ = Clock::time_point::max();
};

/// Searches 0 .. count()-1, shared among workers: one search at a time each, on a thread of its own when there are several workers.
/// A Problem has the types Method (of one worker), State (a search under way) and Result, and
///   count()                      how many searches the case has
///   begin(method, seed, k)       a new state, of search k of the run with this seed
///   go_on(method, state, deadline)  goes on until the state is done or the deadline past; at least one step
///   done(state), result(state)
///   judge(results, begun, whole) the outcome; `begun`: any search was, `whole`: all have come to their end
///   policy(method, workers), work(method, results, workers)
template <class Problem>
class SearchRun final : public Run {
 public:
  using Method = typename Problem::Method;

  SearchRun(Problem problem, std::vector<std::unique_ptr<Method>> methods) : problem_(std::move(problem)) {
    for (auto& method : methods) workers_.push_back({std::move(method), nullptr, 0});
    reset(0);
  }

  void reset(std::uint64_t seed) override {
    seed_ = seed;
    next_ = 0;
    finished_.assign(static_cast<std::size_t>(problem_.count()), std::nullopt);
    for (Worker& worker : workers_) worker.state.reset();
  }
  void execute() override {
    reset(seed_);
    const auto start = std::chrono::steady_clock::now();
    go_on({});
    times_ = {{"kernel", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()}};
  }
  [[nodiscard]] bool advance(double seconds) override {
    go_on(Deadline(seconds));
    return next_ < problem_.count() ||
           std::any_of(workers_.begin(), workers_.end(), [](const Worker& worker) { return worker.state != nullptr; });
  }
  [[nodiscard]] Times times() const override { return times_; }
  [[nodiscard]] Outcome outcome() override {
    const bool whole = std::all_of(finished_.begin(), finished_.end(), [](const auto& one) { return one.has_value(); });
    return problem_.judge(begun(), next_ > 0, whole);
  }
  [[nodiscard]] Policy policy() const override { return problem_.policy(*workers_.front().method, workers_.size()); }
  [[nodiscard]] Work work() const override { return problem_.work(*workers_.front().method, begun(), workers_.size()); }

 private:
  struct Worker {
    std::unique_ptr<Method> method;
    std::unique_ptr<typename Problem::State> state;
    std::int64_t search;
  };

  void go_on(const Deadline& deadline) {
    if (workers_.size() == 1) return go_on(workers_.front(), deadline);
#pragma omp parallel for num_threads(static_cast <int>(workers_.size())) schedule(static, 1)
    for (Worker& worker : workers_) go_on(worker, deadline);
  }
  /// Goes on with this worker's search, and the next ones.
  void go_on(Worker& worker, const Deadline& deadline) {
    do {
      if (!worker.state) {
        worker.search = next_++;
        if (worker.search >= problem_.count()) return;
        worker.state = problem_.begin(*worker.method, seed_, worker.search);
      }
      problem_.go_on(*worker.method, *worker.state, deadline);
      if (!problem_.done(*worker.state)) return;
      finished_[static_cast<std::size_t>(worker.search)] = problem_.result(*worker.state);
      worker.state.reset();
    } while (!deadline.past());
  }
  /// The searches finished and under way, in order.
  [[nodiscard]] std::vector<typename Problem::Result> begun() const {
    std::vector<typename Problem::Result> results;
    for (std::int64_t k = 0; k < problem_.count(); ++k) {
      const auto under_way =
          std::find_if(workers_.begin(), workers_.end(), [&](const Worker& worker) { return worker.state && worker.search == k; });
      if (under_way != workers_.end())
        results.push_back(problem_.result(*under_way->state));
      else if (finished_[static_cast<std::size_t>(k)])
        results.push_back(*finished_[static_cast<std::size_t>(k)]);
    }
    return results;
  }

  Problem problem_;
  std::vector<Worker> workers_;
  std::uint64_t seed_ = 0;
  std::atomic<std::int64_t> next_ = 0;  ///< the first that no worker has taken
  std::vector<std::optional<typename Problem::Result>> finished_;
  Times times_;
};

}  // namespace vicinity
