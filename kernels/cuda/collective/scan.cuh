#pragma once
// Sums before a thread, and of all threads. In a warp it is CUB's scan. Over a block each warp's sum goes through shared memory, and every
// warp scans those for itself: one block barrier. cub::BlockScan needs a block size known when it is compiled; where that is so
// it is used. tests/kernels/collective/bench.cu (collective_bench) measures both.
#include <cub/warp/warp_scan.cuh>
#include <type_traits>

namespace vicinity::cuda {

/// The sum over this lane and those below it. By a whole warp.
template <class Sum>
[[nodiscard]] __device__ __forceinline__ Sum warp_inclusive_sum(Sum own) {
  typename cub::WarpScan<Sum>::TempStorage unused;
  Sum inclusive;
  cub::WarpScan<Sum>(unused).InclusiveSum(own, inclusive);
  return inclusive;
}
/// The sum over the lanes below this one.
template <class Sum>
[[nodiscard]] __device__ __forceinline__ Sum warp_exclusive_sum(Sum own) {
  return warp_inclusive_sum(own) - own;
}

/// What a thread knows of a scan over its block.
template <class Sum>
struct BlockSums {
  Sum inclusive;  ///< over this lane and those below it
  Sum before;     ///< over the warps before this one
  Sum total;      ///< over the block

  /// Over all threads before this one.
  [[nodiscard]] __device__ __forceinline__ Sum exclusive(Sum own) const { return before + (inclusive - own); }
};

/// By a block of whole warps. `warp_sums`: one a warp, free again after the next barrier. Synchronisation: a block barrier, none for a
/// single warp.
template <class Sum>
[[nodiscard]] __device__ __forceinline__ BlockSums<Sum> block_sums(Sum own, Sum* warp_sums) {
  constexpr unsigned all = 0xFFFFFFFFu;
  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32), warps = static_cast<int>(blockDim.x / 32);
  const Sum inclusive = warp_inclusive_sum(own);
  if (warps == 1) return {inclusive, 0, __shfl_sync(all, inclusive, 31)};
  if (lane == 31) warp_sums[warp] = inclusive;
  __syncthreads();
  const Sum sum = lane < warps ? warp_sums[lane] : Sum{0}, through = warp_inclusive_sum(sum);
  const Sum total = __shfl_sync(all, through, 31);
  return {inclusive, __shfl_sync(all, through - sum, warp), total};
}

}  // namespace vicinity::cuda
