// The table of FANG's CUDA implementations.
#include "kernels/fang/implementations.hpp"

namespace vicinity::fang {

std::vector<Implementation> gpu_implementations() {
  return {
      {"gpu", Backend::gpu, "Algorithms 1-4 of the paper: one block a state, ratings and prefix sums in device memory",
       "device memory bandwidth and block-wide scans", prepare_published},
      {"gpu-recompute", Backend::gpu, "the same without rating storage (section 3.2): ratings computed twice", "block-wide scans",
       prepare_recompute},
      {"gpu-tuned", Backend::gpu, "ratings in shared memory, one sum a thread in place of prefix sums, no device memory beyond the states",
       "integer throughput", prepare_tuned},
  };
}

}  // namespace vicinity::fang
