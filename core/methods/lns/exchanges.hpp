#pragma once
// Local search in permutations: two variables of one all-different constraint exchange their values, and the evaluation of the model
// follows.
//
// Acceptance is the Metropolis test, along legs of falling temperatures (simulated annealing). The temperatures are found by a probe that
// cools down quickly: a leg begins at a third of where an exchange in five is accepted though it is worse, and ends where one in 500 is.
// Each leg is twice as long as the one before; every other one begins with the best solution known. Draws are numbered, and floating point
// is multiplications and roots: the same seed goes the same way everywhere. Cost of an exchange: in models whose cost is a sum over pairs
// (pair_costs.hpp) lookups; in others what depends on two variables, evaluated once, and what is taken back is restored.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/problems/cp/problem.hpp"
#include "core/util/interruption.hpp"

namespace vicinity::lns {

class Exchanges {
 public:
  /// The caller keeps the problem alive.
  Exchanges(const cp::Problem& problem, std::uint64_t seed);
  ~Exchanges();
  Exchanges(const Exchanges&) = delete;
  Exchanges& operator=(const Exchanges&) = delete;

  /// Free variables that are all different, two or more?
  [[nodiscard]] static bool possible(const cp::Problem& problem);
  /// Has an eighth of the exchanges kept all constraints? If not, this is the wrong search for the model.
  [[nodiscard]] bool fruitful() const;
  /// How many exchanges take about as long as so many that evaluate `usual_operations` each: more where costs are those of pairs
  /// (pair_costs.hpp), fewer where more follows from two variables.
  [[nodiscard]] std::int64_t as_long_as(std::int64_t usual) const;
  /// Goes on for so many exchanges. `best`: values of all variables of the model, where it would begin anew. Better values; empty: none.
  [[nodiscard]] std::vector<std::int32_t> search(std::int64_t exchanges, std::span<const std::int32_t> best,
                                                 const Interruption& interruption);

 private:
  class Search;
  std::unique_ptr<Search> search_;
};

}  // namespace vicinity::lns
