#pragma once
// The parts of `vicinity ceilings` that run on the GPU. Each adds its ceilings to `all`, in base units.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/api/device.hpp"
#include "kernels/cuda/runtime/stream.cuh"

namespace vicinity::cuda {

/// Keeps the GPU busy until its clock has risen: some tenths of a second.
void warm_up_clocks(const device::Info& info);
/// copy_bandwidth, shared_bandwidth
void bandwidth_ceilings(const device::Info& info, std::map<std::string, double>& all);
/// integer, multiply_add, popcount, special_function, issue
void arithmetic_ceilings(const device::Info& info, std::map<std::string, double>& all);
/// launch, grid_barrier, cluster_barrier (from sm_90), block_barrier
void latency_ceilings(const device::Info& info, std::map<std::string, double>& all);

enum class Best { least, median };

/// Seconds that what `launch` puts on the stream takes: one call to warm up, then the least or the median of `repetitions`.
template <class Launch>
[[nodiscard]] double seconds_of(const Stream& stream, Best best, int repetitions, const Launch& launch) {
  std::vector<double> seconds;
  Event start, stop;
  launch();
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    start.record(stream);
    launch();
    stop.record(stream);
    VICINITY_CUDA_CHECK(cudaGetLastError());
    stream.synchronize();
    seconds.push_back(stop.seconds_since(start));
  }
  std::sort(seconds.begin(), seconds.end());
  return best == Best::least ? seconds.front() : seconds[seconds.size() / 2];
}

}  // namespace vicinity::cuda
