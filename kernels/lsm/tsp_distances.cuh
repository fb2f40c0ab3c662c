#pragma once
// Distances between the cities of a travelling salesman problem on the device: a matrix while it fits 1 GiB, else the coordinates.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/problems/tsp/swap.hpp"
#include "core/util/math.hpp"
#include "kernels/cuda/runtime/stream.cuh"

namespace vicinity::lsm {

/// Entries of the matrix for n cities; 0: it is too large.
[[nodiscard]] inline std::size_t distance_entries(std::size_t n) {
  constexpr std::size_t most = 16384;
  return n > most ? 0 : n * n;
}

[[nodiscard]] inline std::vector<double2> coordinates(const tsp::View& tsp) {
  std::vector<double2> at;
  for (std::int32_t city = 0; city < tsp.n; ++city) at.push_back({tsp.x[city], tsp.y[city]});
  return at;
}

[[nodiscard]] __device__ __forceinline__ std::int32_t distance(double2 a, double2 b) {
  return tsp::distance(plus(a.x, -b.x), plus(a.y, -b.y));
}

/// Mapping: a thread an entry of the matrix of distances. Cost: a root an entry, once an instance.
template <class = void>
__global__ void __launch_bounds__(256) distances_kernel(const double2* at, std::int64_t n, std::int32_t* matrix) {
  const std::int64_t entry = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (entry < n * n) matrix[entry] = distance(at[entry / n], at[entry % n]);
}

/// Writes the n x n distances of cities `at`, asynchronously. Both lie in device memory.
inline void fill_distances(const double2* at, std::size_t n, std::int32_t* matrix, const cuda::Stream& stream) {
  const auto blocks = static_cast<unsigned>(divide_up(n * n, std::size_t{256}));
  distances_kernel<><<<blocks, 256, 0, stream.get()>>>(at, static_cast<std::int64_t>(n), matrix);
  VICINITY_CUDA_CHECK(cudaGetLastError());
}

}  // namespace vicinity::lsm
