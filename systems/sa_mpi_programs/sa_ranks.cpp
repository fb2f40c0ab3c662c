// The ranks of simulated annealing.
#include "core/api/device.hpp"
#include "cpu_ref/run/mpi_programs/rank_loop.hpp"
#include "cpu_ref/sa/implementations.hpp"
#include "kernels/cuda/runtime/take_device.hpp"
#include "kernels/sa/ranks.hpp"

int main(int argc, char** argv) {
  using namespace vicinity;
  std::vector<RankPart> parts{{.implementation = "mpi-chains", .prepare = sa::prepare_openmp_of_rank, .searches = "chains"}};
  if constexpr (device::with_cuda)
    parts.push_back(
        {.implementation = "mpi-gpu-chains", .prepare = sa::prepare_chains_of_rank, .searches = "chains", .take_device = device::take});
  return serve_as_rank(argc, argv, "sa-ranks", parts);
}
