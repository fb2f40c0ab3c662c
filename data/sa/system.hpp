#pragma once
#include <memory>

#include "core/annealing.hpp"
#include "core/run.hpp"

namespace vicinity::sa {

/// System `sa`: problems and axes, without implementations.
[[nodiscard]] System system();

/// The instance of a case: from the catalogue by name, or random by `size`, `instance_seed`, `matrix` and `range`. Throws InputError.
[[nodiscard]] std::shared_ptr<const qap::Qap> make_instance(const Case& c);

/// What a case asks of the heuristic. Throws InputError.
[[nodiscard]] annealing::Task task_of(const Case& c);

}  // namespace vicinity::sa
