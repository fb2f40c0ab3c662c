#pragma once
// Blocks of a cluster: their barrier, and each other's shared memory. Code of a kernel for one block or a cluster is written once, with
// Cluster a template parameter. Before sm_90 there are no clusters, and a block is alone.
#include <cooperative_groups.h>

#include <cstdint>

namespace vicinity::cuda {

/// `pointer` into this block's shared memory, in block `rank` of the cluster.
template <class T>
[[nodiscard]] __device__ __forceinline__ T* in_block(T* pointer, [[maybe_unused]] int rank) {
#if __CUDA_ARCH__ >= 900
  return cooperative_groups::this_cluster().map_shared_rank(pointer, rank);
#else
  return rank == 0 ? pointer : nullptr;
#endif
}
/// The same by the address in shared memory, a register less.
[[nodiscard]] __device__ __forceinline__ std::uint32_t address_in_block(std::uint32_t address, [[maybe_unused]] int rank) {
#if __CUDA_ARCH__ >= 900
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(address), "r"(rank));
#endif
  return address;
}

/// All warps of the block or cluster, wherever each of them is in the code. __syncthreads() is the aligned barrier: all lanes of a warp
/// must come to the same one.
template <bool Cluster>
__device__ __forceinline__ void barrier_of_all() {
#if __CUDA_ARCH__ >= 900
  if constexpr (Cluster) {
    asm volatile("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;" ::: "memory");
    return;
  }
#endif
  asm volatile("barrier.sync 0;" ::: "memory");
}

}  // namespace vicinity::cuda
