// The ranks of the local searches.
#include "core/api/device.hpp"
#include "cpu_ref/lsm/implementations.hpp"
#include "cpu_ref/run/mpi_programs/rank_loop.hpp"
#include "kernels/cuda/runtime/take_device.hpp"
#include "kernels/lsm/ranks.hpp"
#include "kernels/lsm/ranks/ranks.hpp"

int main(int argc, char** argv) {
  using namespace vicinity;
  std::vector<RankPart> parts{{.implementation = "mpi-openmp", .prepare = lsm::prepare_slice_of_rank},
                              {.implementation = "mpi-chains", .prepare = lsm::prepare_openmp_of_rank, .searches = "restarts"}};
  if constexpr (device::with_cuda) {
    parts.push_back({.implementation = "mpi-gpu", .prepare = lsm::prepare_slice_on_device, .take_device = device::take});
    parts.push_back(
        {.implementation = "mpi-gpu-chains", .prepare = lsm::prepare_chains_of_rank, .searches = "restarts", .take_device = device::take});
  }
  return serve_as_rank(argc, argv, "lsm-ranks", parts);
}
