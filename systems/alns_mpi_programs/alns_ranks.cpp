// The ranks of the hybrid search for vehicle routing.
#include "core/api/device.hpp"
#include "cpu_ref/alns/hybrid/implementations.hpp"
#include "cpu_ref/run/mpi_programs/rank_loop.hpp"
#include "kernels/alns/ranks.hpp"
#include "kernels/cuda/runtime/take_device.hpp"

int main(int argc, char** argv) {
  using namespace vicinity;
  std::vector<RankPart> parts{{.implementation = "mpi-islands", .prepare = alns::prepare_islands_of_rank}};
  if constexpr (device::with_cuda)
    parts.push_back({.implementation = "mpi-gpu-islands", .prepare = alns::prepare_gpu_islands_of_rank, .take_device = device::take});
  return serve_as_rank(argc, argv, "alns-ranks", parts);
}
