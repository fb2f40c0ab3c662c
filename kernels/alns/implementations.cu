// The table of the adaptive large neighbourhood search's CUDA implementations.
#include "kernels/alns/implementations.hpp"

namespace vicinity::alns {

std::vector<Implementation> gpu_implementations() {
  return {
      {"gpu", Backend::gpu,
       "the paper's section 3: a process a block of 512 threads, 100 iterations a launch, all insertions again each step",
       "gathers of distances; with few requests, the latency of one repair step", prepare_published},
  };
}

}  // namespace vicinity::alns
