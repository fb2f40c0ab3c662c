#pragma once
// Local search in permutations: two variables of one all-different constraint exchange their values, and the evaluation of the model
// follows.
//
// Acceptance is late (Burke and Bykov, European Journal of Operational Research 258, 2017): an exchange is made where it is not worse than
// the present cost, or than that of some number of exchanges before. The list of these costs begins above the present cost, so a descent
// begins as a random walk and freezes. Then the next begins, from the best solution known, with a list that is longer. Draws are numbered,
// whole numbers alone decide: the same seed goes the same way everywhere. Cost of an exchange: in models whose cost is a sum over pairs
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
  /// About how many exchanges take as long as one that is evaluated: more than one where costs are those of pairs (pair_costs.hpp).
  [[nodiscard]] std::int64_t pace() const;
  /// Goes on for so many exchanges. `best`: values of all variables of the model, where it would begin anew. Better values; empty: none.
  [[nodiscard]] std::vector<std::int32_t> search(std::int64_t exchanges, std::span<const std::int32_t> best,
                                                 const Interruption& interruption);

 private:
  class Search;
  std::unique_ptr<Search> search_;
};

}  // namespace vicinity::lns
