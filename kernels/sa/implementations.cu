// The table of the annealing's CUDA implementations.
#include "kernels/sa/implementations.hpp"

#include "core/systems.hpp"

namespace vicinity::sa {

std::vector<Implementation> gpu_implementations() {
  return {
      {"gpu", Backend::gpu, "the paper's section 3: matrix of deltas in device memory, updated and searched by the whole grid",
       "three grid barriers an accepted swap, one a subset searched", prepare_published},
  };
}

}  // namespace vicinity::sa
