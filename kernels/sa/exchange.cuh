#pragma once
// How the blocks of one chain agree on the first accepted proposal: within a block through shared memory, within a cluster through
// distributed shared memory, over the grid through tagged words in device memory (a barrier and a reduction in one round trip).
#include <cooperative_groups.h>

#include <cstdint>

#include "kernels/sa/device.cuh"

namespace vicinity::sa {

enum class Space { block, cluster, grid };

/// The first accepted proposal a thread, a block or everyone knows of. Keys are ordered as proposals are.
template <class Delta>
struct Found {
  static constexpr unsigned none = ~0u;
  unsigned key = none;
  Delta delta = 0;
};

[[nodiscard]] __device__ __forceinline__ unsigned least_of_warp(unsigned key) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(~0u, key);
#else
  for (int offset = 16; offset > 0; offset /= 2) key = min(key, __shfl_xor_sync(~0u, key, offset));
  return key;
#endif
}

/// The found with the least key among the warp's lanes, in all of them. Keys are distinct unless none.
template <class Delta>
[[nodiscard]] __device__ __forceinline__ Found<Delta> first_of_warp(Found<Delta> mine) {
  const unsigned least = least_of_warp(mine.key);
  const int owner = __ffs(static_cast<int>(__ballot_sync(~0u, mine.key == least))) - 1;
  return {least, __shfl_sync(~0u, mine.delta, owner)};
}

inline constexpr int most_blocks = 256;  ///< of a grid
inline constexpr int most_cluster = 16;

/// What a block tells the others: key, and the delta's halves, each beside the number of the exchange, so that a reader knows a fresh word.
struct alignas(32) Message {
  unsigned long long word[4];
};

/// One a chain in device memory, for Space::grid; zeroed before the launch.
struct Board {
  Message message[2][most_blocks];
};

/// Shared memory of a block.
template <class Delta>
struct ExchangeStorage {
  Found<Delta> warps[2][32], heard[2][32];
  Found<Delta> blocks[2][most_cluster];
};

/// All threads of all blocks call these together, equally often.
template <class Delta>
class Exchange {
 public:
  __device__ __forceinline__ Exchange(Space space, int rank, int blocks, ExchangeStorage<Delta>& storage, Board* board)
      : space_(space), rank_(rank), blocks_(blocks), storage_(storage), board_(board) {}

  /// First half: the block's own. Contains a block barrier. What threads wrote before is visible to others after finish().
  __device__ __forceinline__ void publish(Found<Delta> mine) {
    parity_ ^= 1;
    ++count_;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    leave(mine, storage_.warps[parity_][warp]);
    __syncthreads();
    if (space_ == Space::block || warp == 0) own_ = first_of_warp(lane < warps ? storage_.warps[parity_][lane] : Found<Delta>{});
    if (space_ == Space::grid && threadIdx.x == 0) send();
#if __CUDA_ARCH__ >= 900
    if (space_ == Space::cluster) {
      if (warp == 0 && lane < blocks_) *cooperative_groups::this_cluster().map_shared_rank(&storage_.blocks[parity_][rank_], lane) = own_;
      __syncwarp();
      asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    }
#endif
  }

  /// Second half: waits for the others; the first of all blocks.
  [[nodiscard]] __device__ __forceinline__ Found<Delta> finish() {
    if (space_ == Space::block) return own_;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    if (space_ == Space::cluster) {
#if __CUDA_ARCH__ >= 900
      asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
#endif
      return first_of_warp(lane < blocks_ ? storage_.blocks[parity_][lane] : Found<Delta>{});
    }
    Found<Delta> heard;
    if (static_cast<int>(threadIdx.x) < blocks_) heard = receive(threadIdx.x);
    leave(heard, storage_.heard[parity_][warp]);
    __syncthreads();
    return first_of_warp(lane < warps ? storage_.heard[parity_][lane] : Found<Delta>{});
  }

 private:
  static constexpr int words = sizeof(Delta) == 4 ? 2 : 3;

  /// The warp's first, for all to see after a barrier.
  static __device__ __forceinline__ void leave(Found<Delta> mine, Found<Delta>& place) {
    const unsigned least = least_of_warp(mine.key);
    if (mine.key == least && (least != Found<Delta>::none || threadIdx.x % 32 == 0)) place = mine;
  }

  __device__ __forceinline__ void send() {
    unsigned long long* to = board_->message[parity_][rank_].word;
    const auto delta = static_cast<unsigned long long>(own_.delta);
    const unsigned parts[3] = {own_.key, static_cast<unsigned>(delta), static_cast<unsigned>(delta >> 32)};
    __threadfence();
    for (int w = 0; w < words; ++w)
      asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(to + w), "l"(static_cast<unsigned long long>(parts[w]) << 32 | count_) : "memory");
  }
  [[nodiscard]] __device__ __forceinline__ Found<Delta> receive(int from) const {
    const unsigned long long* at = board_->message[parity_][from].word;
    unsigned long long parts[3] = {};
    for (int w = 0; w < words; ++w) do {
        asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(parts[w]) : "l"(at + w) : "memory");
      } while (static_cast<unsigned>(parts[w]) != count_);
    const unsigned long long low = parts[1] >> 32;
    if constexpr (words == 2) return {static_cast<unsigned>(parts[0] >> 32), static_cast<Delta>(static_cast<unsigned>(low))};
    return {static_cast<unsigned>(parts[0] >> 32), static_cast<Delta>(parts[2] >> 32 << 32 | low)};
  }

  Space space_;
  int rank_, blocks_;
  ExchangeStorage<Delta>& storage_;
  Board* board_;
  Found<Delta> own_;
  unsigned parity_ = 0, count_ = 0;
};

}  // namespace vicinity::sa
