// The table of the local searches' CUDA implementations.
#include "kernels/lsm/implementations.hpp"

#include "core/systems.hpp"

namespace vicinity::lsm {

std::vector<Implementation> gpu_implementations() {
  return {
      {"gpu", Backend::gpu, "the paper's Algorithm 2: a thread a neighbour, all fitnesses back to the host, which chooses",
       "a host round trip an iteration; copying and scanning 8 bytes a neighbour", prepare_published},
      {"gpu-reduction", Backend::gpu, "the same evaluation, the choice made on the device as well (section 6.7): only the move comes back",
       "a host round trip and two launches an iteration, or the evaluation of large neighbourhoods", prepare_reduction},
  };
}

}  // namespace vicinity::lsm
