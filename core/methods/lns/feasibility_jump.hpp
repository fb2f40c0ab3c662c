#pragma once
// Search for a first solution driven by violations: feasibility jump (Luteberget and Sartor, Mathematical Programming Computation 15, 2023)
// on the evaluation of a model, whose defined variables follow.
//
// Each operation that does not hold has a violation, how far it is from holding, and a weight. A jump takes one that does not hold, goes
// from it back to some of the free variables it depends on, and gives one of these the value with the least weighted sum of violations of
// all. Where no jump makes the sum less, weights of what does not hold grow, and some jumps are made nevertheless. Draws are numbered by
// the jump, so the same seed gives the same solution.
#include <cstdint>
#include <memory>
#include <vector>

#include "core/problems/cp/problem.hpp"
#include "core/util/interruption.hpp"

namespace vicinity::lns {

class FeasibilityJump {
 public:
  /// The caller keeps the problem alive.
  FeasibilityJump(const cp::Problem& problem, std::uint64_t seed);
  ~FeasibilityJump();
  FeasibilityJump(const FeasibilityJump&) = delete;
  FeasibilityJump& operator=(const FeasibilityJump&) = delete;

  /// Goes on for so many jumps. Values of all variables of the model; empty: none found yet.
  [[nodiscard]] std::vector<std::int32_t> search(std::int64_t jumps, const Interruption& interruption);

 private:
  class Search;
  std::unique_ptr<Search> search_;
};

}  // namespace vicinity::lns
