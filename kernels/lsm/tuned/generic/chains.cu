// Implementation `gpu-chains`: the algorithmic-level model of the paper (section 2.3): the restarts of a case side by side, a block each.
// Restart k is the single search with seed + k. And the restarts of a rank of mpi-gpu-chains.
#include "core/methods/lsm/task.hpp"
#include "kernels/lsm/implementations.hpp"
#include "kernels/lsm/ranks.hpp"
#include "kernels/lsm/tuned/ppp/evaluator.cuh"
#include "kernels/lsm/tuned/qap/evaluator.cuh"
#include "kernels/lsm/tuned/tsp/evaluator.cuh"
#include "kernels/lsm/tuned/weierstrass/evaluator.cuh"

namespace vicinity::lsm {

namespace {

std::unique_ptr<Run> prepare(const Case& c, const Instance& instance, Team* team) {
  return with_neighborhood(
      c, instance, [task = task_of(c), team](const auto& neighborhood) { return generic_run<Group::block>(neighborhood, task, team); });
}

}  // namespace

std::unique_ptr<Run> prepare_chains(const Case& c, const Instance& instance) { return prepare(c, instance, nullptr); }
std::unique_ptr<Run> prepare_chains_of_rank(const Case& c, const Instance& instance, Team& team) { return prepare(c, instance, &team); }

}  // namespace vicinity::lsm
