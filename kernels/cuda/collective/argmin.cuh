#pragma once
// The least key of all threads of a warp, a block, a cluster or the grid. Who has it is in the key, or in the record it stands in.
//
// A step finds one least key. All take part with whole warps; a thread without a candidate passes no_key. In turn:
//   warp     two-part and plain keys by redux.sync, others by shuffles; in all lanes;
//   block    each warp leaves its key in a slot of shared memory, [block barrier], a warp reduces the slots;
//   cluster  each warp leaves its key in its slot in every block, [cluster barrier], every warp reduces all slots; or a warp of each block
//            sends the block's key (mailbox.cuh), which takes no cluster barrier;
//   grid     a warp of each block sends the block's key, and polls those of all blocks.
// Slots are written again only after the next barrier of all that read them: a second one, or another set of slots for every other step.
//
// Cost of a step: redux.sync twice for every 32 bits of a key's parts, and a block barrier; for clusters and grids the latency of a message
// beside it. A message takes less than a barrier of the cluster or grid: who has read all keys does not wait until others have.
// cub::BlockReduce and cooperative_groups::reduce shuffle keys of several words in a tree; cub's needs a block size known when it is
// compiled. tests/kernels/collective/bench.cu (collective_bench) measures all of them.
#include <concepts>
#include <cstdint>

#include "kernels/cuda/collective/cluster.cuh"
#include "kernels/cuda/collective/key.cuh"
#include "kernels/cuda/collective/mailbox.cuh"
#include "kernels/cuda/collective/warp.cuh"

namespace vicinity::cuda {

// --- block -----------------------------------------------------------------------------------------------------------------

/// In all lanes of warp 0; other warps get no key. `slots`: one a warp, free again after the next block barrier. Synchronisation: a block
/// barrier.
template <OrderedKey K>
[[nodiscard]] __device__ __forceinline__ K block_argmin(const K& mine, K* slots) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const K of_warp = warp_argmin(mine);
  if (lane == 0) slots[warp] = of_warp;
  __syncthreads();
  if (warp != 0) return no_key<K>();
  return warp_argmin(lane < (blockDim.x + 31) / 32 ? slots[lane] : no_key<K>());
}

/// In all threads. `slots`: [2][32]. Synchronisation: a block barrier.
template <OrderedKey K>
[[nodiscard]] __device__ __forceinline__ K block_argmin_for_all(const K& mine, K (&slots)[2][32], unsigned step) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const K of_warp = warp_argmin(mine);
  if (lane == 0) slots[step & 1][warp] = of_warp;
  __syncthreads();
  return warp_argmin(lane < (blockDim.x + 31) / 32 ? slots[step & 1][lane] : no_key<K>());
}

// --- records: a key, and what its owner adds ---------------------------------------------------------------------------------

/// Something that has a key. Keys are distinct unless they are none.
template <class R>
concept Record = OrderedKey<decltype(R::key)> && std::is_trivially_copyable_v<R>;

/// The record of the warp's least key, into `slot`; if no lane has one, lane 0's.
template <Record R>
__device__ __forceinline__ void leave_least(const R& mine, R& slot) {
  using K = std::remove_const_t<decltype(R::key)>;
  const K least = warp_argmin(mine.key);
  if (mine.key == least && (!(least == no_key<K>()) || threadIdx.x % 32 == 0)) slot = mine;
}
/// Which of up to 32 slots has the least key, the first of them; in all lanes.
template <Record R>
[[nodiscard]] __device__ __forceinline__ int least_slot(const R* slots, int count) {
  using K = std::remove_const_t<decltype(R::key)>;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const K mine = lane < count ? slots[lane].key : no_key<K>();
  return __ffs(static_cast<int>(__ballot_sync(~0u, mine == warp_argmin(mine)))) - 1;
}

// --- cluster, by a barrier of all ----------------------------------------------------------------------------------------------

/// The first half of a step: the warp's key to its slot in every block of the cluster. `slots`: [block][warp], at the same place in all
/// blocks, none where there is no such warp.
template <bool Cluster, OrderedKey K>
__device__ __forceinline__ void leave_in_blocks(const K& of_warp, K* slots, std::int32_t blocks, std::int32_t rank) {
  const auto lane = static_cast<std::int32_t>(threadIdx.x % 32);
  K* const slot = slots + 32 * rank + static_cast<std::int32_t>(threadIdx.x / 32);
  if constexpr (Cluster) {
    if (lane < blocks) *in_block(slot, lane) = of_warp;
  } else {
    if (lane < blocks) *slot = of_warp;
  }
}
/// The second half, after barrier_of_all<Cluster>(): the least of this lane's slots, one a block; warp_argmin() makes it that of all.
/// merge(least, other) is lower(), or does more.
template <bool Cluster, OrderedKey K, class Merge>
[[nodiscard]] __device__ __forceinline__ K least_of_lane(const K* slots, std::int32_t blocks, const Merge& merge) {
  K least = slots[threadIdx.x % 32];
  if constexpr (Cluster) {
    for (std::int32_t block = 1; block < blocks; ++block) merge(least, slots[32 * block + static_cast<std::int32_t>(threadIdx.x % 32)]);
  }
  return least;
}
/// In all threads of the cluster. `slots`: [2][blocks][32], no key at first. Synchronisation: a cluster barrier.
template <OrderedKey K>
[[nodiscard]] __device__ __forceinline__ K cluster_argmin(const K& mine, K* slots, std::int32_t blocks, std::int32_t rank, unsigned step) {
  K* const now = slots + (step & 1) * 32 * blocks;
  leave_in_blocks<true>(warp_argmin(mine), now, blocks, rank);
  barrier_of_all<true>();
  return warp_argmin(least_of_lane<true>(now, blocks, [](K& least, const K& other) { lower(least, other); }));
}

// --- cluster and grid, by messages ---------------------------------------------------------------------------------------------

/// In all threads of all blocks. `slots`: one a warp, and one more for the result. `exchange(key)`, by warp 0, makes the block's key that
/// of all blocks: GridMailbox::argmin() or ClusterMailbox::argmin(). Synchronisation: two block barriers, and what `exchange` waits for.
template <OrderedKey K, class Exchange>
[[nodiscard]] __device__ __forceinline__ K argmin_of_blocks(const K& mine, K (&slots)[33], const Exchange& exchange) {
  const K of_block = block_argmin(mine, slots);
  if (threadIdx.x < 32) {
    const K least = exchange(of_block);
    if (threadIdx.x == 0) slots[32] = least;
  }
  __syncthreads();
  return slots[32];
}

}  // namespace vicinity::cuda
