#pragma once
#include <memory>

#include "core/api/run.hpp"
#include "core/methods/sa/annealing.hpp"

namespace vicinity::sa {

/// gpu-tuned, or gpu-chains (`many`), for one set of types (kernels/sa/device.cuh). Instantiated by tuned_*.cu, since compiling all of them
/// takes minutes.
template <class Types>
[[nodiscard]] std::unique_ptr<Run> tuned_run(const qap::Qap& qap, const annealing::Task& task, bool many);

}  // namespace vicinity::sa
