#pragma once
// A local search under way: the bookkeeping around its choices, which say nothing of how they were found.
#include <cstdint>

#include "core/methods/lsm/result.hpp"
#include "core/methods/lsm/search.hpp"

namespace vicinity::local_search {

/// One search under way: what follows from a choice.
template <class Neighborhood>
class Walk {
 public:
  using Search = local_search::Search<typename Neighborhood::Solution>;

  Walk(const Neighborhood& neighborhood, const Task& task, std::uint64_t seed)
      : neighborhood_(neighborhood), task_(task), seed_(seed), tenure_(tenure_of(task, neighborhood.moves())) {
    search_.current = search_.best = neighborhood.start(seed);
    search_.value = search_.best_value = neighborhood.value(search_.current);
  }

  [[nodiscard]] const Search& search() const noexcept { return search_; }
  [[nodiscard]] const typename Neighborhood::Solution& solution() const noexcept { return search_.current; }
  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
  [[nodiscard]] std::int64_t value() const noexcept { return search_.value; }
  [[nodiscard]] std::int64_t best_value() const noexcept { return search_.best_value; }
  /// The iteration to come.
  [[nodiscard]] std::int64_t iteration() const noexcept { return search_.iterations; }
  [[nodiscard]] std::int64_t tenure() const noexcept { return tenure_; }
  [[nodiscard]] bool remembers() const noexcept { return task_.method == Method::tabu; }
  [[nodiscard]] bool done() const noexcept { return search_.done(task_.limit()); }

  /// The best of all moves is known. Returns whether it was taken.
  bool take(const Choice& choice) {
    const Ledger::Step step = search_.take(choice, task_.method);
    if (step == Ledger::Step::ended) return false;
    neighborhood_.apply(search_.current, seed_, search_.iterations - 1, choice.move);
    if (step == Ledger::Step::improved) search_.best = search_.current;
    return true;
  }

 private:
  const Neighborhood& neighborhood_;
  const Task& task_;
  std::uint64_t seed_;
  std::int64_t tenure_;
  Search search_;
};

}  // namespace vicinity::local_search
