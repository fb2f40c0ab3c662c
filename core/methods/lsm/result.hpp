#pragma once
// What a local search found, and its judgement.
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/api/run.hpp"
#include "core/methods/lsm/search.hpp"
#include "core/util/digest.hpp"

namespace vicinity::local_search {

/// A neighbourhood of a problem (core/problems/).
///
///   moves()                          M
///   start(seed)                      where a search starts
///   value(solution)                  a whole number; less is better
///   apply(solution, seed, t, move)   takes move `move` in iteration t of the search with this seed
///   complaint(solution, value)       what the oracle finds wrong with a solution or its claimed value; empty when nothing
///   objective(solution)              by the oracle, as Outcome has it
///   encoded(solution), decoded(s)    to and from the encoding of Outcome
///   fewest_operations(), ceiling     32-bit ones without which no design finds the best of all moves once, 0 where none are known, for the
///                                    speed of light; and which ceiling of a GPU they meet: Ceiling::integer, or Ceiling::issue where most
///                                    of them are not on integers
template <class N>
concept SearchNeighborhood = std::copyable<N> &&
    requires(const N n, typename N::Solution& solution, const typename N::Solution& given, const vicinity::Solution& words,
             std::uint64_t seed, std::int64_t t, std::int64_t move) {
  { n.moves() } -> std::same_as<std::int64_t>;
  { n.start(seed) } -> std::same_as<typename N::Solution>;
  { n.value(given) } -> std::same_as<std::int64_t>;
  n.apply(solution, seed, t, move);
  { n.complaint(given, move) } -> std::same_as<std::string>;
  { n.objective(given) } -> std::same_as<std::int64_t>;
  { n.encoded(given) } -> std::same_as<vicinity::Solution>;
  { n.decoded(words) } -> std::same_as<typename N::Solution>;
  { n.fewest_operations() } -> std::same_as<double>;
  { N::ceiling } -> std::convertible_to<Ceiling>;
};

template <class Solution>
struct SearchResult : SearchProgress {
  Solution current, best;
};

/// Where a search is.
[[nodiscard]] inline TracePoint progress_of(const SearchProgress& search) {
  return {.iterations = search.iterations, .objective = search.best_value, .digest = search.digest.value()};
}

/// What the oracle finds wrong with a search; empty when nothing. `whole`: it must have come to its end.
template <SearchNeighborhood Neighborhood>
[[nodiscard]] std::string complaint(const Neighborhood& neighborhood, const Task& task,
                                    const SearchResult<typename Neighborhood::Solution>& search, bool whole) {
  if (std::string what = neighborhood.complaint(search.current, search.value); !what.empty()) return what;
  const bool same = search.best_value == search.value && search.best == search.current;  // the oracle takes its time
  if (std::string what = same ? "" : neighborhood.complaint(search.best, search.best_value); !what.empty()) return what;
  if (search.best_value > search.value) return "the best is worse than the last";
  if (search.iterations > task.limit()) return "too many iterations";
  if (whole && search.iterations < task.limit() && !search.at_optimum) return "stopped before its end";
  return "";
}

/// The outcome of a case: objective and solution of its best restart (the first of equals). Unfinished searches pass unless `whole`.
template <SearchNeighborhood Neighborhood>
[[nodiscard]] Outcome judge(const Neighborhood& neighborhood, const Task& task,
                            const std::vector<SearchResult<typename Neighborhood::Solution>>& searches, bool whole = true) {
  Outcome outcome;
  Digest digest;
  std::int64_t optima = 0;
  if (searches.empty() || (whole && static_cast<std::int64_t>(searches.size()) != task.restarts))
    outcome.complaint = std::to_string(searches.size()) + " searches, not " + std::to_string(task.restarts);
  for (std::size_t k = 0; k < searches.size() && outcome.complaint.empty(); ++k) {
    const auto& search = searches[k];
    if (const std::string what = complaint(neighborhood, task, search, whole); !what.empty())
      outcome.complaint = "restart " + std::to_string(k) + ": " + what;
    const std::int64_t words[]{search.iterations,
                               search.neighborhood_evaluations,
                               static_cast<std::int64_t>(search.digest.value()),
                               search.value,
                               search.best_value,
                               search.best_iteration,
                               search.at_optimum ? 1 : 0};
    for (const std::int64_t word : words) digest.add(static_cast<std::uint64_t>(word));
    digest.add(neighborhood.encoded(search.current));
    digest.add(neighborhood.encoded(search.best));
    outcome.iterations += search.iterations;
    outcome.evaluations += search.neighborhood_evaluations * neighborhood.moves();
    optima += search.at_optimum ? 1 : 0;
  }
  outcome.feasible = outcome.complaint.empty();
  outcome.digest = digest.value();
  if (!outcome.feasible) return outcome;
  const auto& best =
      *std::min_element(searches.begin(), searches.end(), [](const auto& x, const auto& y) { return x.best_value < y.best_value; });
  outcome.objective = neighborhood.objective(best.best);
  outcome.solution = neighborhood.encoded(best.best);
  outcome.counters = {{"best_iteration", best.best_iteration}, {"local_optima", optima}};
  return outcome;
}

/// The least that searches may take, under the ceiling of a GPU that they meet; empty where that is not known.
template <SearchNeighborhood Neighborhood>
[[nodiscard]] Work work_of(const Neighborhood& neighborhood, const std::vector<SearchResult<typename Neighborhood::Solution>>& searches) {
  std::int64_t neighborhood_evaluations = 0;
  for (const auto& search : searches) neighborhood_evaluations += search.neighborhood_evaluations;
  const double operations = neighborhood.fewest_operations() * static_cast<double>(neighborhood_evaluations);
  return operations > 0 ? Work{{Neighborhood::ceiling, operations}} : Work{};
}

}  // namespace vicinity::local_search
