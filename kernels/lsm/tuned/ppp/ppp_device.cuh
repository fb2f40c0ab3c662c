#pragma once
// What the searches of the permuted perceptron problem share on the device: the matrix as bits, where a block keeps what in its shared
// memory, choices and how the blocks of a search agree on one.
#include <cstdint>

#include "core/methods/lsm/search.hpp"
#include "core/problems/moves.hpp"
#include "core/problems/ppp/ppp.hpp"
#include "kernels/cuda/warp.cuh"
#include "kernels/cuda/words.cuh"

namespace vicinity::lsm::perceptron {

using cuda::warp_min;
using cuda::warp_sum;

/// The instance. A bit is set where the entry is 1; bits and target beyond the end are zero. A unit is 32 columns.
struct Matrix {
  const std::uint32_t* by_row;     ///< [unit][row]: bit c is column 32 unit + c
  const std::uint32_t* by_column;  ///< [column][column_pitch]: bit r of a word is row 32 word + r
  const std::int32_t* target;      ///< [n + 1], [0] is 0
  std::int32_t m, n;
  std::int32_t units;         ///< of columns
  std::int32_t row_words;     ///< of a column
  std::int32_t column_pitch;  ///< row_words, up to a multiple of 4
  std::int32_t whole_target;  ///< the sum of all
};

/// Products of a row are counted at `margin` + the number of its positive entries (entry times sign), which is (product + n) / 2.
inline constexpr std::int32_t margin = 4;
[[nodiscard]] __device__ __forceinline__ std::int32_t product_at(std::int32_t place, std::int32_t n) { return 2 * (place - margin) - n; }

/// Byte offsets into the shared memory of a block.
struct Room {
  std::uint32_t histogram;  ///< [place] 32 bits: rows in the upper half, the first one's place in `order` in the lower
  std::uint32_t target;     ///< [place] 16 bits
  std::uint32_t base;       ///< [row] 16 bits: number of positive entries
  std::uint32_t key;        ///< [row] the same after the outer flip of K = 3
  std::uint32_t rank;       ///< [row] 16 bits: rows of the same product that were counted before
  std::uint32_t order;      ///< [m + 32] 16 bits: rows by product
  std::uint32_t words;      ///< [word] Word
  std::uint32_t places;     ///< [place_count] Place
  std::uint32_t negative;   ///< [unit] 32 bits: the signs that are -1
  std::uint32_t bits;       ///< [unit of the tile][row] of Matrix::by_row
  std::uint32_t slots;      ///< [slot][pitch] 32 bits
  std::uint32_t masks;      ///< [2][mask_rows][mask_pitch] 32 bits, and what may be read after the last (Masks)
  std::int32_t place_count;
  std::int32_t spread;                ///< places from the least product to the greatest for which words and places have room
  std::size_t scratch_size;           ///< 32-bit words a block has in device memory: first slots
  std::size_t far_words, far_places;  ///< offsets there, for a greater spread
  std::int32_t far_place_count;
  std::int32_t capacity;  ///< slots that fit; 0: neither bits nor slots lie in shared memory
  std::int32_t mask_rows, mask_pitch;
  std::uint32_t bytes;
};

extern __shared__ __align__(16) unsigned char pool[];

template <class T>
[[nodiscard]] __device__ __forceinline__ T* in_pool(std::uint32_t offset) {
  return reinterpret_cast<T*>(pool + offset);
}

[[nodiscard]] __device__ __forceinline__ std::int32_t lane() { return static_cast<std::int32_t>(threadIdx.x) % 32; }
[[nodiscard]] __device__ __forceinline__ std::int32_t warp() { return static_cast<std::int32_t>(threadIdx.x) / 32; }
[[nodiscard]] __device__ __forceinline__ std::int32_t warps() { return static_cast<std::int32_t>(blockDim.x) / 32; }

/// Sum over this lane and those below it.
[[nodiscard]] __device__ __forceinline__ std::int32_t sum_to_lane(std::int32_t value) {
  for (int offset = 1; offset < 32; offset *= 2) {
    const std::int32_t below = __shfl_up_sync(~0u, value, offset);
    if (lane() >= offset) value += below;
  }
  return value;
}

/// The warp's words are the rows of a 32 x 32 matrix of bits; afterwards they are its columns.
[[nodiscard]] __device__ __forceinline__ std::uint32_t transposed(std::uint32_t row) {
  constexpr std::uint32_t low_halves[]{0x55555555u, 0x33333333u, 0x0F0F0F0Fu, 0x00FF00FFu, 0x0000FFFFu};
#pragma unroll
  for (int step = 4; step >= 0; --step) {
    const int distance = 1 << step;
    const bool upper = (lane() & distance) != 0;
    const std::uint32_t other = __shfl_xor_sync(~0u, row, distance), keep = upper ? ~low_halves[step] : low_halves[step];
    row = (row & keep) | (__funnelshift_l(other, other, upper ? 32 - distance : distance) & ~keep);
  }
  return row;
}

/// A move and its place in the order of choices: the lesser (rank, code), of 31 bits each. Code is the move's number, or for K = 2 both
/// columns, which have the same order.
struct Found {
  static constexpr unsigned none = ~0u >> 1;
  static constexpr unsigned forbidden = 1u << 30;  ///< above any value of z
  unsigned rank, code;

  [[nodiscard]] static __device__ __forceinline__ Found nothing() { return {none, none}; }
  [[nodiscard]] __device__ __forceinline__ bool before(const Found& other) const {
    return rank < other.rank || (rank == other.rank && code < other.code);
  }
  [[nodiscard]] __device__ __forceinline__ std::int32_t value() const { return static_cast<std::int32_t>(rank & (forbidden - 1)); }
  [[nodiscard]] __device__ __forceinline__ Found of_warp() const {
    const unsigned least = warp_min(rank);
    return {least, warp_min(rank == least ? code : none)};
  }
};

template <int K>
[[nodiscard]] __device__ __forceinline__ moves::Move<K> move_of(unsigned code, std::int32_t n) {
  if constexpr (K == 2) return {{static_cast<std::int32_t>(code >> 15), static_cast<std::int32_t>(code & 0x7FFFu)}};
  return moves::at<K>(n, code);
}

/// Messages between the blocks of a search: what a block found above two bits that tell the step, counted from 1. Two boards in turns: who
/// writes the next but one knows that all have read this one.
struct Board {
  using Message = cuda::Word;
  Message* messages;  ///< [2][block], zero before the first step
  std::int32_t blocks, block;

  /// One warp: sends what this block found, waits for the messages of all, and gives the best.
  [[nodiscard]] __device__ __forceinline__ Found exchange(const Found& mine, unsigned step) const {
    Message* board = messages + step % 2 * blocks;
    const unsigned tag = (step / 2 + 1) % 4;  // differs from the last on this board, and on the first use from zero
    if (lane() == 0) {
      const Message message = static_cast<Message>(mine.rank) << 33 | static_cast<Message>(mine.code) << 2 | tag;
      cuda::write_relaxed(board + block, message);
    }
    Message best = ~Message{0};
    cuda::visit_words(
        blocks, [&](int k) { return board + k; }, [&](Message message) { return (message & 3) == tag; },
        [&](int, Message message) { best = min(best, message); });
    return Found{static_cast<unsigned>(best >> 33), static_cast<unsigned>(best >> 2) & Found::none}.of_warp();
  }
};

}  // namespace vicinity::lsm::perceptron
