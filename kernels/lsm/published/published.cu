// Implementation `gpu`: Algorithm 2 of the paper, everything in global memory.
#include "kernels/lsm/published/published.cuh"

#include "kernels/lsm/implementations.hpp"

namespace vicinity::lsm {

std::unique_ptr<Run> prepare_published(const Case& c, const Instance& instance) { return prepare_gpu<Placed, InGlobal>(c, instance); }

}  // namespace vicinity::lsm
