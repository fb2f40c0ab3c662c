#pragma once
// What the CPU implementations share around their scans: searches that stop and go on, the judgement.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/local_search.hpp"
#include "core/search_result.hpp"
#include "core/search_walk.hpp"

namespace vicinity::lsm {

using local_search::Walk;

/// A Method is made from (neighborhood, task, threads), and has begin(walk), which prepares it for a walk that was just made; choose(walk),
/// the best of all moves; moved(walk, choice), called after the walk took it; policy(); work(looks), the least all looks take. One method
/// serves one restart at a time; `crews` methods serve as many restarts at a time, each on a thread of its own.
template <class Neighborhood, class Method>
class CpuRun final : public Run {
 public:
  CpuRun(Neighborhood neighborhood, const local_search::Task& task, int threads)
      : neighborhood_(std::move(neighborhood)),
        task_(task),
        crews_(static_cast<std::size_t>(std::min<std::int64_t>(threads, task.restarts))) {
    for (Crew& crew : crews_) crew.method = std::make_unique<Method>(neighborhood_, task_, crews_.size() > 1 ? 1 : threads);
    reset(0);
  }

  void reset(std::uint64_t seed) override {
    seed_ = seed;
    next_restart_ = 0;
    finished_.assign(static_cast<std::size_t>(task_.restarts), std::nullopt);
    for (Crew& crew : crews_) crew.walk.reset();
  }
  void execute() override {
    reset(seed_);
    const auto start = Clock::now();
    static_cast<void>(advance(std::numeric_limits<double>::infinity()));
    times_ = {{"kernel", std::chrono::duration<double>(Clock::now() - start).count()}};
  }
  [[nodiscard]] bool advance(double seconds) override {
    const auto start = Clock::now();
    if (crews_.size() == 1) {
      advance(crews_.front(), start, seconds);
    } else {
#pragma omp parallel for num_threads(static_cast <int>(crews_.size())) schedule(static, 1)
      for (Crew& crew : crews_) advance(crew, start, seconds);
    }
    return next_restart_ < task_.restarts ||
           std::any_of(crews_.begin(), crews_.end(), [](const Crew& crew) { return crew.walk != nullptr; });
  }
  [[nodiscard]] Times times() const override { return times_; }
  [[nodiscard]] Outcome outcome() override {
    const bool whole =
        next_restart_ == 0 || std::all_of(finished_.begin(), finished_.end(), [](const auto& one) { return one.has_value(); });
    return local_search::judge(neighborhood_, task_, begun(), whole);
  }
  [[nodiscard]] Policy policy() const override {
    Policy policy = crews_.front().method->policy();
    if (task_.restarts > 1) policy["restarts_at_a_time"] = static_cast<std::int64_t>(crews_.size());
    return policy;
  }
  [[nodiscard]] Work work() const override {
    if (crews_.size() > 1) return {};  // of some cores
    std::int64_t looks = 0;
    for (const auto& search : begun()) looks += search.looks;
    return crews_.front().method->work(looks);
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Search = typename Walk<Neighborhood>::Search;

  struct Crew {
    std::unique_ptr<Method> method;
    std::unique_ptr<Walk<Neighborhood>> walk;
    std::int64_t restart = 0;
  };

  /// Goes on with this crew's search, and the next ones, until `seconds` after `start`. At least one move is taken.
  void advance(Crew& crew, Clock::time_point start, double seconds) {
    do {
      if (!crew.walk) {
        crew.restart = next_restart_++;
        if (crew.restart >= task_.restarts) return;
        crew.walk = std::make_unique<Walk<Neighborhood>>(neighborhood_, task_, task_.seed(seed_, crew.restart));
        crew.method->begin(*crew.walk);
      }
      const local_search::Choice choice = crew.method->choose(*crew.walk);
      if (crew.walk->take(choice)) crew.method->moved(*crew.walk, choice);
      if (!crew.walk->done()) continue;
      finished_[static_cast<std::size_t>(crew.restart)] = crew.walk->search();
      crew.walk.reset();
    } while (std::chrono::duration<double>(Clock::now() - start).count() <= seconds);
  }
  /// The searches finished and under way, in order.
  [[nodiscard]] std::vector<Search> begun() const {
    std::vector<Search> searches;
    for (std::int64_t k = 0; k < task_.restarts; ++k) {
      const auto under_way = std::find_if(crews_.begin(), crews_.end(), [&](const Crew& crew) { return crew.walk && crew.restart == k; });
      if (under_way != crews_.end())
        searches.push_back(under_way->walk->search());
      else if (finished_[static_cast<std::size_t>(k)])
        searches.push_back(*finished_[static_cast<std::size_t>(k)]);
    }
    return searches;
  }

  const Neighborhood neighborhood_;
  const local_search::Task task_;
  std::vector<Crew> crews_;
  std::uint64_t seed_ = 0;
  std::atomic<std::int64_t> next_restart_ = 0;  ///< the first that no crew has taken
  std::vector<std::optional<Search>> finished_;
  Times times_;
};

}  // namespace vicinity::lsm
