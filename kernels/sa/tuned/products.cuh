#pragma once
// The inner products all deltas are made of, from scratch, at the start of a launch.
#include "kernels/sa/device.cuh"

namespace vicinity::sa {

/// h[i][j] = H[i][p[j]] (cpu_ref/sa/inner_products.hpp): sum over sides and k of a(k, i) b(p[k], p[j]). `permuted` as permute_kernel left
/// it. Mapping: blockIdx.z the chain, a block 32 x 32 sums, a thread four of a column; both factors pass through shared memory eight
/// 16-byte chunks at a time.
template <class Types>
__global__ void __launch_bounds__(256)
    products_kernel(DeviceQap<typename Types::Entry> qap, const typename Types::Entry* permuted, typename Types::Delta* h) {
  constexpr std::int32_t tile = 32, depth = 8, each = 4;
  __shared__ uint4 a[tile][depth + 1], b[tile][depth + 1];
  const std::int32_t n = qap.n, i0 = blockIdx.y * tile, j0 = blockIdx.x * tile, tx = threadIdx.x % tile, ty = threadIdx.x / tile;
  typename Types::Delta sum[each] = {};
  for (int side = 0; side < Types::sides; ++side)
    for (std::int32_t first = 0; first < qap.chunks(); first += depth) {
      const std::int32_t row = threadIdx.x / depth, at = threadIdx.x % depth, i = i0 + row, j = j0 + row;
      const bool in = first + at < qap.chunks();
      const auto* from = permuted + ((std::size_t(blockIdx.z) * Types::sides + side) * n + j) * qap.pitch;
      a[row][at] = in && i < n ? chunk(qap.a_row(side, i), first + at) : uint4{};
      b[row][at] = in && j < n ? reinterpret_cast<const uint4*>(from)[first + at] : uint4{};
      __syncthreads();
#pragma unroll
      for (std::int32_t k = 0; k < depth; ++k)
#pragma unroll
        for (std::int32_t q = 0; q < each; ++q) sum[q] = dot<typename Types::Entry>(a[ty + q * 8][k], b[tx][k], sum[q]);
      __syncthreads();
    }
  for (std::int32_t q = 0; q < each; ++q) {
    const std::int32_t i = i0 + ty + q * 8, j = j0 + tx;
    if (i < n && j < n) h[(std::size_t(blockIdx.z) * n + i) * n + j] = sum[q];
  }
}

}  // namespace vicinity::sa
