#pragma once
// A local search under way: the bookkeeping around its choices, which say nothing of how they were found.
#include <cstdint>
#include <string>

#include "core/methods/lsm/result.hpp"
#include "core/methods/lsm/search.hpp"
#include "core/util/error.hpp"

namespace vicinity::local_search {

/// One search under way: what follows from a choice.
template <SearchNeighborhood Neighborhood>
class SearchState {
 public:
  using Result = SearchResult<typename Neighborhood::Solution>;

  /// Search `k` of a run. Throws InputError when the given start is no solution.
  SearchState(const Neighborhood& neighborhood, const Task& task, const Start& start, std::int64_t k)
      : neighborhood_(neighborhood), task_(task), seed_(task.seed(start.seed, k)), tenure_(tenure_of(task, neighborhood.moves())) {
    result_.current = start.solution ? neighborhood.decoded(*start.solution) : neighborhood.start(seed_);
    result_.best = result_.current;
    result_.value = result_.best_value = neighborhood.value(result_.current);
    if (!start.solution) return;
    if (const std::string what = neighborhood.complaint(result_.current, result_.value); !what.empty())
      throw InputError("the start is no solution: " + what);
  }

  [[nodiscard]] const Result& result() const noexcept { return result_; }
  [[nodiscard]] const typename Neighborhood::Solution& solution() const noexcept { return result_.current; }
  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
  [[nodiscard]] std::int64_t value() const noexcept { return result_.value; }
  [[nodiscard]] std::int64_t best_value() const noexcept { return result_.best_value; }
  /// The iteration to come.
  [[nodiscard]] std::int64_t iteration() const noexcept { return result_.iterations; }
  [[nodiscard]] std::int64_t tenure() const noexcept { return tenure_; }
  [[nodiscard]] bool is_tabu_search() const noexcept { return task_.method == Method::tabu; }
  [[nodiscard]] bool done() const noexcept { return result_.done(task_.limit()); }

  /// The best of all moves is known. Returns whether it was taken.
  bool take(const Choice& choice) {
    const SearchProgress::Step step = result_.take(choice, task_.method);
    if (step == SearchProgress::Step::ended) return false;
    neighborhood_.apply(result_.current, seed_, result_.iterations - 1, choice.move);
    if (step == SearchProgress::Step::improved) result_.best = result_.current;
    return true;
  }

 private:
  const Neighborhood& neighborhood_;
  const Task& task_;
  std::uint64_t seed_;
  std::int64_t tenure_;
  Result result_;
};

}  // namespace vicinity::local_search
