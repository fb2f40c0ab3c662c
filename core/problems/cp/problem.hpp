#pragma once
// A model ready for local search: with its network for propagation, its evaluation for whole assignments, and its free variables, the
// variables that a search gives values (the paper's FD variables, Campeotto et al., section 3). Everything else follows from them.
#include <cstdint>
#include <span>
#include <vector>

#include "core/api/objective.hpp"
#include "core/problems/cp/compile.hpp"
#include "core/problems/cp/evaluation.hpp"
#include "core/problems/cp/model.hpp"
#include "core/util/hd.hpp"

namespace vicinity::cp {

/// A variable that nothing defines and that has at least two values after propagation at the root.
struct FreeVariable {
  std::int32_t slot;   ///< of the evaluation: the variable of the model
  std::int32_t least;  ///< of its values
  std::int64_t size;   ///< number of its values
  std::int64_t begin;  ///< where they stand among the values of all free variables; -1: they are least, least + 1, ...
};

/// For kernels.
struct FreeVariablesView {
  const FreeVariable* variables;  ///< [k], in the order of the model
  const std::int32_t* values;     ///< ascending within a free variable
  std::int32_t count;

  /// Value number j of free variable k.
  [[nodiscard]] VICINITY_HD std::int32_t value(std::int32_t k, std::int64_t j) const {
    const FreeVariable& d = variables[k];
    return d.begin < 0 ? static_cast<std::int32_t>(d.least + j) : values[d.begin + j];
  }
  /// The number of one of its values.
  [[nodiscard]] VICINITY_HD std::int64_t number_of(std::int32_t k, std::int32_t value) const {
    const FreeVariable& d = variables[k];
    if (d.begin < 0) return std::int64_t{value} - d.least;
    std::int64_t low = 0, high = d.size - 1;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (values[d.begin + middle] < value)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
};

/// Immutable.
class Problem final : public Instance {
 public:
  /// Throws InputError as compile() does.
  explicit Problem(Model model);

  [[nodiscard]] std::uint64_t hash() const override;
  [[nodiscard]] const Model& model() const noexcept { return model_; }
  [[nodiscard]] const CompiledModel& compiled() const noexcept { return compiled_; }
  [[nodiscard]] const Evaluation& evaluation() const noexcept { return evaluation_; }
  [[nodiscard]] FreeVariablesView free_variables() const noexcept {
    return {free_.data(), values_.data(), static_cast<std::int32_t>(free_.size())};
  }
  [[nodiscard]] Sense sense() const noexcept { return model_.goal == Goal::maximise ? Sense::maximise : Sense::minimise; }
  /// Of values of all variables, by the oracle; 0 where the model has no goal.
  [[nodiscard]] Objective objective(std::span<const std::int32_t> values) const;

 private:
  Model model_;
  CompiledModel compiled_;
  Evaluation evaluation_;
  std::vector<FreeVariable> free_;
  std::vector<std::int32_t> values_;
};

/// Domains at the fixpoint of the root, however long that takes.
struct RootDomains {
  bool failed = false;
  std::vector<std::int32_t> lower, upper;  ///< [variable]
  std::vector<std::uint64_t> mask;         ///< as the network's, bit 0 still its lower bound
};
[[nodiscard]] RootDomains root_domains(const Network& network);

}  // namespace vicinity::cp
