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

/// Searches 0 .. count()-1, shared among crews: one search at a time each, on a thread of its own when there are several crews.
/// A Problem has the types Method (of one crew), Walk (a search under way) and Result, and
///   count()                      how many searches the case has
///   begin(method, seed, k)       a new walk, of search k of the run with this seed
///   go_on(method, walk, deadline)  goes on until the walk is done or the deadline past; at least one step
///   done(walk), result(walk)
///   judge(results, begun, whole) the outcome; `begun`: any search was, `whole`: all have come to their end
///   policy(method, crews), work(method, results, crews)
template <class Problem>
class Crews final : public Run {
 public:
  using Method = typename Problem::Method;

  Crews(Problem problem, std::vector<std::unique_ptr<Method>> methods) : problem_(std::move(problem)) {
    for (auto& method : methods) crews_.push_back({std::move(method), nullptr, 0});
    reset(0);
  }

  void reset(std::uint64_t seed) override {
    seed_ = seed;
    next_ = 0;
    finished_.assign(static_cast<std::size_t>(problem_.count()), std::nullopt);
    for (Crew& crew : crews_) crew.walk.reset();
  }
  void execute() override {
    reset(seed_);
    const auto start = std::chrono::steady_clock::now();
    go_on({});
    times_ = {{"kernel", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()}};
  }
  [[nodiscard]] bool advance(double seconds) override {
    go_on(Deadline(seconds));
    return next_ < problem_.count() || std::any_of(crews_.begin(), crews_.end(), [](const Crew& crew) { return crew.walk != nullptr; });
  }
  [[nodiscard]] Times times() const override { return times_; }
  [[nodiscard]] Outcome outcome() override {
    const bool whole = std::all_of(finished_.begin(), finished_.end(), [](const auto& one) { return one.has_value(); });
    return problem_.judge(begun(), next_ > 0, whole);
  }
  [[nodiscard]] Policy policy() const override { return problem_.policy(*crews_.front().method, crews_.size()); }
  [[nodiscard]] Work work() const override { return problem_.work(*crews_.front().method, begun(), crews_.size()); }

 private:
  struct Crew {
    std::unique_ptr<Method> method;
    std::unique_ptr<typename Problem::Walk> walk;
    std::int64_t search;
  };

  void go_on(const Deadline& deadline) {
    if (crews_.size() == 1) return go_on(crews_.front(), deadline);
#pragma omp parallel for num_threads(static_cast <int>(crews_.size())) schedule(static, 1)
    for (Crew& crew : crews_) go_on(crew, deadline);
  }
  /// Goes on with this crew's search, and the next ones.
  void go_on(Crew& crew, const Deadline& deadline) {
    do {
      if (!crew.walk) {
        crew.search = next_++;
        if (crew.search >= problem_.count()) return;
        crew.walk = problem_.begin(*crew.method, seed_, crew.search);
      }
      problem_.go_on(*crew.method, *crew.walk, deadline);
      if (!problem_.done(*crew.walk)) return;
      finished_[static_cast<std::size_t>(crew.search)] = problem_.result(*crew.walk);
      crew.walk.reset();
    } while (!deadline.past());
  }
  /// The searches finished and under way, in order.
  [[nodiscard]] std::vector<typename Problem::Result> begun() const {
    std::vector<typename Problem::Result> results;
    for (std::int64_t k = 0; k < problem_.count(); ++k) {
      const auto under_way = std::find_if(crews_.begin(), crews_.end(), [&](const Crew& crew) { return crew.walk && crew.search == k; });
      if (under_way != crews_.end())
        results.push_back(problem_.result(*under_way->walk));
      else if (finished_[static_cast<std::size_t>(k)])
        results.push_back(*finished_[static_cast<std::size_t>(k)]);
    }
    return results;
  }

  Problem problem_;
  std::vector<Crew> crews_;
  std::uint64_t seed_ = 0;
  std::atomic<std::int64_t> next_ = 0;  ///< the first that no crew has taken
  std::vector<std::optional<typename Problem::Result>> finished_;
  Times times_;
};

}  // namespace vicinity
