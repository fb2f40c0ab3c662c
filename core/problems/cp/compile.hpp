#pragma once
// From a model to the network that is solved.
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/problems/cp/model.hpp"
#include "core/problems/cp/network.hpp"

namespace vicinity::cp {

struct CompiledModel {
  std::shared_ptr<const Network> network;
  std::vector<Var> variable_of;  ///< [variable of the model]
  Var objective = true_var;      ///< where there is a goal
  /// A domain was cut to least_value..greatest_value, and solutions may lie beyond, better ones, too (coverage.hpp): what has no solution
  /// here may have one; and a better one.
  bool clipped = false, best_clipped = false;
  std::optional<std::int64_t> best_objective;  ///< there is no better one beyond, where that is known

  /// Does a search of the whole tree prove that there is no solution?
  [[nodiscard]] bool proves_none() const noexcept { return !clipped; }
  /// Or none better than the last one, whose objective it found? Of a model without a goal: no other one.
  [[nodiscard]] bool proves_best(std::int64_t found) const noexcept { return !best_clipped || best_objective == found; }
};

/// Gives each constraint of the model its propagators: FlatZinc's builtins over ints and bools, their reified and half-reified forms, and
/// the global constraints of library/ (names fzn_... and vicinity_...). Throws InputError "file:line: ..." for predicates it does not know,
/// arguments of the wrong type, and numbers that are too large.
[[nodiscard]] CompiledModel compile(const Model& model);

}  // namespace vicinity::cp
