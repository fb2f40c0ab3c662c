// Implementation `gpu`: Algorithm 2 of the paper, everything in global memory.
#include "kernels/lsm/implementations.hpp"
#include "kernels/lsm/published/search.cuh"

namespace vicinity::lsm {

std::unique_ptr<Run> prepare_published(const Case& c, const Instance& instance) {
  return prepare_gpu<FixedGridSearch, GlobalPath>(c, instance);
}

}  // namespace vicinity::lsm
