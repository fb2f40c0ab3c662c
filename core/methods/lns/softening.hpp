#pragma once
// Search for a first solution by an objective: linear equations that define nothing may be missed, and by how much in all is minimised by
// rounds (rounds.hpp), the first phase of the simplex method for a model. Where equations are what makes a model hard, such as a knapsack
// whose profit is given, or exact covers, neighbourhoods come closer and closer to what complete search meets by chance alone.
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/problems/cp/model.hpp"
#include "core/problems/cp/problem.hpp"
#include "core/util/interruption.hpp"

namespace vicinity::lns {

/// The model with such equations softened: behind its own variables stand those of the deviations, the last of which is their sum and the
/// objective. None: there is nothing to soften, or the model is too large to be compiled twice.
[[nodiscard]] std::optional<cp::Model> softened(const cp::Model& model);

class Softening {
 public:
  Softening(const cp::Model& model, std::uint64_t seed);
  ~Softening();
  Softening(const Softening&) = delete;
  Softening& operator=(const Softening&) = delete;

  /// One step of the rounds: does it come closer?
  [[nodiscard]] bool step(const Interruption& interruption);
  /// Nothing is left to do.
  [[nodiscard]] bool done() const;
  /// Values of all variables of the model; empty: none found yet.
  [[nodiscard]] std::vector<std::int32_t> values() const;

 private:
  class Search;
  std::unique_ptr<Search> search_;
};

}  // namespace vicinity::lns
