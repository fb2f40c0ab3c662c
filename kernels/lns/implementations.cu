// The table of the constraint solver's CUDA implementations.
#include "kernels/lns/implementations.hpp"

namespace vicinity::lns {

std::vector<Implementation> gpu_implementations() {
  return {{"gpu", Backend::gpu,
           "the paper's section 3: a walker a block of 512 threads, all constraints again for every assignment; subsets uploaded meanwhile",
           "latency of one pass over the constraints, level by level", prepare_published},
          {"gpu-tuned", Backend::gpu,
           "the same walkers, evaluated from what has changed: a program a subset, a state a block of one warp or more",
           "latency of a level's chain where one variable changes; issue slots where many do; one thread's chain for starting points by CP",
           prepare_tuned}};
}

std::vector<Implementation> gpu_repair_implementations() {
  return {{.name = "gpu-lns",
           .backend = Backend::gpu,
           .summary =
               "ours, the rounds of cpu-lns: a neighbourhood a block, repaired by propagation; proof and exchanges on the host meanwhile",
           .limit = "latency of shared memory, a chain of passes a node; one thread's chain for global constraints",
           .prepare = prepare_repair,
           .reference = "cpu-lns"}};
}

}  // namespace vicinity::lns
