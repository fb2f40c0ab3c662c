// Implementation `gpu-chains`: the algorithmic-level model of the paper (section 2.3): the restarts of a case side by side, a block each.
// Restart k is the single search with seed + k.
#include "core/methods/lsm/task.hpp"
#include "kernels/lsm/implementations.hpp"
#include "kernels/lsm/tuned/ppp/evaluator.cuh"
#include "kernels/lsm/tuned/qap/evaluator.cuh"
#include "kernels/lsm/tuned/tsp/evaluator.cuh"
#include "kernels/lsm/tuned/weierstrass/evaluator.cuh"

namespace vicinity::lsm {

std::unique_ptr<Run> prepare_chains(const Case& c, const Instance& instance) {
  return with_neighborhood(c, instance,
                           [task = task_of(c)](const auto& neighborhood) { return generic_run<Group::block>(neighborhood, task); });
}

}  // namespace vicinity::lsm
