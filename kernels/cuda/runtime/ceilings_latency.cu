// Latency ceilings: seconds of one launch and of one barrier of a block, a cluster and the whole grid.
#include <cooperative_groups.h>

#include <chrono>

#include "kernels/cuda/runtime/ceilings.cuh"
#include "kernels/cuda/runtime/launch.cuh"

namespace vicinity::cuda {
namespace {

namespace cg = cooperative_groups;

constexpr int block = 256, cluster = 8, barriers = 2000;

__global__ void do_nothing() {}

// Mapping of the three: all threads of the group meet `count` times and do nothing else. Cost: the barriers.
__global__ void __launch_bounds__(block) meet_in_block(int count) {
  for (int i = 0; i < count; ++i) __syncthreads();
}

__global__ void __launch_bounds__(block) meet_in_cluster([[maybe_unused]] int count) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  for (int i = 0; i < count; ++i) cg::this_cluster().sync();
#endif
}

__global__ void __launch_bounds__(block) meet_in_grid(int count) {
  const cg::grid_group grid = cg::this_grid();
  for (int i = 0; i < count; ++i) grid.sync();
}

/// Launches one after the other, as fast as the host can ask and the GPU can start them.
double launch_seconds(const Stream& stream) {
  constexpr int launches = 2000, repetitions = 7;
  double best = 1;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    stream.synchronize();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < launches; ++i) do_nothing<<<1, 32, 0, stream.get()>>>();
    stream.synchronize();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / launches);
  }
  VICINITY_CUDA_CHECK(cudaGetLastError());
  return best;
}

/// Seconds of one of `barriers` barriers.
double barrier_seconds(const Stream& stream, void (*kernel)(int), const Shape& shape) {
  return seconds_of(stream, Best::least, 10, [&] { VICINITY_CUDA_CHECK(launch(shape, stream, kernel, barriers)); }) / barriers;
}

}  // namespace

void latency_ceilings(const device::Info& info, std::map<std::string, double>& all) {
  const Stream stream;
  all["launch"] = launch_seconds(stream);
  all["block_barrier"] = barrier_seconds(stream, meet_in_block, {.blocks = 1, .threads = block});
  all["grid_barrier"] = barrier_seconds(stream, meet_in_grid, {.blocks = info.multiprocessors, .threads = block, .cooperative = true});
  const Shape one{.blocks = cluster, .threads = block, .cluster = cluster};
  if (clusters_at_a_time(one, meet_in_cluster) > 0) all["cluster_barrier"] = barrier_seconds(stream, meet_in_cluster, one);
}

}  // namespace vicinity::cuda
