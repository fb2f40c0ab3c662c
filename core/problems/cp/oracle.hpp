#pragma once
// What the constraints of a model mean, read from the model itself: shares no code with compilation or propagation.
#include <cstdint>
#include <span>
#include <string>

#include "core/problems/cp/model.hpp"

namespace vicinity::cp {

/// What keeps `values`, one for each variable of the model, from being a solution, in one line with file and line of a constraint; empty
/// when nothing does.
[[nodiscard]] std::string complaint(const Model& model, std::span<const std::int32_t> values);

/// The value of the model's objective.
[[nodiscard]] std::int64_t objective_of(const Model& model, std::span<const std::int32_t> values);

}  // namespace vicinity::cp
