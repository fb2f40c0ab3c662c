#pragma once
// What a case asks for, where a search begins, and how its result is judged.
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/api/run.hpp"
#include "core/methods/lns/lns.hpp"

namespace vicinity::lns {

struct Task {
  std::int64_t subsets = 10;  ///< t
  std::int64_t released = 0;  ///< |N|; 0: `percent` of the free variables
  std::int64_t percent = 30;  ///< at least one
  std::int64_t starts = 10;   ///< m
  std::int64_t steps = 10;    ///< h
  std::int64_t restarts = 0;  ///< s
  LocalSearch search = LocalSearch::random_labeling;
  std::int64_t repetitions = 1;  ///< p; sweeps of ICM
  StartingPoint start = StartingPoint::random;
  std::int64_t threads = 0;  ///< of cpu-openmp; 0: all

  [[nodiscard]] std::int64_t walkers() const noexcept { return subsets * starts; }
  [[nodiscard]] std::int64_t whole() const noexcept { return steps * (restarts + 1); }
};

inline constexpr std::int64_t most_walkers = 10'000'000, most_steps = 1'000'000'000, most_repetitions = 100'000;
/// ICM and CE go through all values of a free variable; CE through all combinations of a subset.
inline constexpr std::int64_t most_enumerated = 1 << 16, most_combinations = std::int64_t{1} << 40;

/// `lns(t, percent, strategy, m, h, s, timeout)` of a model, and beside it `start_random`, `start_cp` or `start_current`.
struct Directive {
  Task task;
  std::int64_t seconds = 0;
};
/// Empty without such an annotation. Throws InputError where its arguments are wrong.
[[nodiscard]] std::optional<Directive> directive_of(const cp::Model& model);

/// Axes, where they are silent the model's directive; h and s come both from one of them. Throws InputError.
[[nodiscard]] Task task_of(const Case& c, const cp::Problem& problem);
/// Steps of a whole case that has the axis `steps`.
[[nodiscard]] std::int64_t whole_of(const Case& c);

/// Of a consistent assignment; 0 where the model has no goal.
[[nodiscard]] std::int64_t cost_of(const cp::Model& model, std::span<const std::int32_t> values);

/// |N|.
[[nodiscard]] std::int64_t released_of(const Task& task, const cp::Problem& problem);

/// Where passes begin: values of all variables, the first that CP search by the model's annotations finds (with restarts of its own after
/// too many failures); empty where it gives up. The same at each call, unless `stop` becomes true, which ends it, empty.
[[nodiscard]] std::vector<std::int32_t> first_solution(const cp::Problem& problem, const std::atomic<bool>* stop = nullptr);
/// Throws InputError where the given start is none.
void check_start(const cp::Problem& problem, const Start& start);

/// The result of a search, or where it stands.
struct Search {
  std::int64_t steps = 0;
  std::int64_t evaluations = 0;  ///< assignments evaluated
  std::int64_t started = 0;      ///< walkers with a consistent starting point
  std::uint64_t digest = 0;      ///< of each step: winner, its cost, tally of all
  std::int64_t cost = inconsistent;
  std::int64_t first = 0;          ///< cost of the first solution
  std::vector<std::int32_t> best;  ///< [variable]; empty: no solution
};

/// Judged by the oracle; of the one search, or none before it began.
[[nodiscard]] Outcome judge(const cp::Problem& problem, const std::vector<Search>& searches);

}  // namespace vicinity::lns
