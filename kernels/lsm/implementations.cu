// The table of the local searches' CUDA implementations.
#include "kernels/lsm/implementations.hpp"

namespace vicinity::lsm {

std::vector<Implementation> gpu_implementations() {
  return {
      {"gpu", Backend::gpu, "the paper's Algorithm 2: a thread a neighbour, all fitnesses back to the host, which chooses",
       "a host round trip an iteration; copying and scanning 4 bytes a neighbour", prepare_published},
      {"gpu-readonly", Backend::gpu, "gpu with inputs and solution read through the read-only cache: a placement of ours", "as gpu",
       prepare_readonly},
      {"gpu-texture", Backend::gpu, "gpu with inputs and solution read through textures (section 5.2)", "as gpu", prepare_texture},
      {"gpu-shared", Backend::gpu,
       "gpu with inputs and solution staged in each block's shared memory, as far as they fit: a placement of ours",
       "as gpu; staging, where inputs are large", prepare_shared},
      {"gpu-host-neighborhood", Backend::gpu,
       "gpu-texture with all neighbours written by the host and copied, each as a whole, in each iteration (section 3.1, Table 8)",
       "writing and copying all neighbours", prepare_host_neighborhood},
      {"gpu-thread-control", Backend::gpu, "gpu with the shape of the grid tried out in the first iterations (Algorithm 3, Table 7)",
       "as gpu", prepare_thread_control},
      {"gpu-reduction", Backend::gpu, "the same evaluation, the choice made on the device as well (section 6.7): only the move comes back",
       "a host round trip and two launches an iteration, or the evaluation of large neighbourhoods", prepare_reduction},
      {"gpu-tuned", Backend::gpu, "the whole search on the device, no host in the loop; only what a move changes is made anew",
       "one arg-min over the blocks of a search an iteration, or the evaluation of large neighbourhoods", prepare_tuned},
      {"gpu-chains", Backend::gpu, "the restarts of a case side by side, a block each (section 2.3)",
       "evaluation and selection by one block; issue slots of all multiprocessors where restarts are many", prepare_chains},
  };
}

}  // namespace vicinity::lsm
