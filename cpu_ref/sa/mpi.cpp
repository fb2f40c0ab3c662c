// The implementations over several processes, the side that asks. Their ranks are of the program sa-ranks (systems/sa_mpi_programs/), how
// they are started says cpu_ref/run/ranks.hpp.
#include "core/methods/sa/task.hpp"
#include "cpu_ref/run/ranks.hpp"
#include "cpu_ref/sa/implementations.hpp"

namespace vicinity::sa {
namespace {

Implementation on_ranks(Backend backend, const char* name, const char* summary, const char* limit) {
  return over_ranks("sa-ranks", name, backend, summary, limit, [](const Case& c) { static_cast<void>(task_of(c)); });
}

}  // namespace

std::vector<Implementation> cpu_rank_implementations() {
  return {on_ranks(Backend::cpu, "mpi-chains", "processes under MPI, each with some of the chains, as cpu-openmp runs them",
                   "integer throughput of all cores")};
}

std::vector<Implementation> gpu_rank_implementations() {
  return {on_ranks(Backend::gpu, "mpi-gpu-chains", "processes under MPI with a GPU each, which has some of the chains as gpu-chains",
                   "as gpu-chains, of all GPUs")};
}

}  // namespace vicinity::sa
