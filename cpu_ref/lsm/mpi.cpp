// The implementations over several processes, the side that asks. Their ranks are of the program lsm-ranks
// (systems/lsm_mpi_programs/), how they are started says cpu_ref/run/ranks.hpp.
#include "core/methods/lsm/task.hpp"
#include "cpu_ref/lsm/implementations.hpp"
#include "cpu_ref/run/ranks.hpp"

namespace vicinity::lsm {
namespace {

Implementation on_ranks(Backend backend, const char* name, const char* summary, const char* limit) {
  return over_ranks("lsm-ranks", name, backend, summary, limit, [](const Case& c) { static_cast<void>(task_of(c)); });
}

}  // namespace

std::vector<Implementation> cpu_rank_implementations() {
  return {on_ranks(Backend::cpu, "mpi-openmp",
                   "processes under MPI, each with cpu-openmp's evaluation of a slice; the best of all by an all-reduce each iteration",
                   "integer throughput of all cores; the all-reduce, for small neighbourhoods"),
          on_ranks(Backend::cpu, "mpi-chains", "processes under MPI, each with cpu-openmp's search from some of the restarts",
                   "integer throughput of all cores")};
}

std::vector<Implementation> gpu_rank_implementations() {
  return {
      on_ranks(Backend::gpu, "mpi-gpu",
               "processes under MPI with a GPU each: gpu-tuned's evaluation of a slice; the best of all by words in each other's memory",
               "an exchange of messages between GPUs an iteration, or the evaluation of large neighbourhoods"),
      on_ranks(Backend::gpu, "mpi-gpu-chains", "processes under MPI with a GPU each, which has some of the restarts as gpu-chains",
               "as gpu-chains, of all GPUs")};
}

}  // namespace vicinity::lsm
