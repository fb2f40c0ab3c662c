// The table of the constraint solver's CUDA implementations.
#include "kernels/lns/implementations.hpp"

namespace vicinity::lns {

std::vector<Implementation> gpu_implementations() {
  return {{"gpu", Backend::gpu,
           "the paper's section 3: a walker a block of 512 threads, all constraints again for every assignment; subsets uploaded meanwhile",
           "latency of one pass over the constraints, level by level", prepare_published}};
}

}  // namespace vicinity::lns
