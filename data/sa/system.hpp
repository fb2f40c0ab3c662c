#pragma once
#include <memory>

#include "core/annealing.hpp"
#include "core/run.hpp"

namespace vicinity::sa {

/// System `sa`: problems and axes, without implementations.
[[nodiscard]] System system();

/// What a case asks of the heuristic. Throws InputError.
[[nodiscard]] annealing::Task task_of(const Case& c);

}  // namespace vicinity::sa
