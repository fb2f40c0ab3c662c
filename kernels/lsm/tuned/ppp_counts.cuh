#pragma once
// Counting by the binary matrix units.
#include <cstdint>

#include "kernels/lsm/tuned/ppp/ppp_device.cuh"

namespace vicinity::lsm::perceptron {

/// counts += ones of row & column, for 16 rows and 8 columns of 32 * 4 or 32 * 8 bits: lane 4i + k holds words k and k + 4 of rows i and
/// i + 8 and of column i, and gets the counts of rows i and i + 8 with columns 2k and 2k + 1.
template <int Words>
__device__ __forceinline__ void count_ones(std::int32_t (&counts)[4], const std::uint32_t (&a)[Words / 2],
                                           const std::uint32_t (&b)[Words / 4]) {
#if __CUDA_ARCH__ >= 800
  if constexpr (Words == 4)
    asm("mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
        : "+r"(counts[0]), "+r"(counts[1]), "+r"(counts[2]), "+r"(counts[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]));
  else
    asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+r"(counts[0]), "+r"(counts[1]), "+r"(counts[2]), "+r"(counts[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
#pragma unroll
  for (int k = 0; k < Words; ++k)
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const std::uint32_t column = __shfl_sync(~0u, b[k / 4], (2 * (lane() % 4) + c) * 4 + k % 4);
#pragma unroll
      for (int half = 0; half < 2; ++half)
        counts[2 * half + c] += __popc(column & __shfl_sync(~0u, a[2 * (k / 4) + half], lane() / 4 * 4 + k % 4));
    }
#endif
}

}  // namespace vicinity::lsm::perceptron
