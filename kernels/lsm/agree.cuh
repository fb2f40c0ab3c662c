#pragma once
// The best of all moves, found by the threads of a block, and by the blocks of a grid, which then all know it.
#include <cstdint>

#include "core/local_search.hpp"
#include "kernels/sa/messages.cuh"

namespace vicinity::lsm {

/// A choice whose order as a number of 96 bits is that of local_search::better(): 1 bit forbidden, 64 bits value with the sign turned, 31
/// bits move.
struct Key {
  static constexpr int words = 3;
  unsigned long long high = ~0ull;
  unsigned low = ~0u;  ///< no move: all ones

  [[nodiscard]] static __device__ __forceinline__ Key of(bool forbidden, std::int64_t value, std::int64_t move) {
    const auto ordered = static_cast<unsigned long long>(value) ^ 1ull << 63;
    return {static_cast<unsigned long long>(forbidden) << 63 | ordered >> 1,
            static_cast<unsigned>(ordered) << 31 | static_cast<unsigned>(move)};
  }
  [[nodiscard]] __device__ __forceinline__ local_search::Choice choice() const {
    return {static_cast<std::int64_t>((high << 1 | low >> 31) ^ 1ull << 63), static_cast<std::int64_t>(low & 0x7FFFFFFFu), high >> 63 != 0};
  }
  /// Word 0 is the most significant.
  [[nodiscard]] __device__ __forceinline__ unsigned word(int w) const {
    return w == 0 ? static_cast<unsigned>(high >> 32) : w == 1 ? static_cast<unsigned>(high) : low;
  }
  __device__ __forceinline__ void lower_to(const Key& other) {
    if (other.high < high || (other.high == high && other.low < low)) *this = other;
  }
};

/// The least key of the warp, in all lanes.
[[nodiscard]] __device__ __forceinline__ Key least_of_warp(const Key& mine) {
  const unsigned first = sa::least_of_warp(mine.word(0));
  const unsigned second = sa::least_of_warp(mine.word(0) == first ? mine.word(1) : ~0u);
  const unsigned long long high = static_cast<unsigned long long>(first) << 32 | second;
  return {high, sa::least_of_warp(mine.high == high ? mine.low : ~0u)};
}

/// The least key of the block, in all lanes of warp 0. Synchronisation: a block barrier. `room`: a key a warp, free again after the next
/// barrier.
[[nodiscard]] __device__ __forceinline__ Key least_of_block(const Key& mine, Key* room) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Key of_warp = least_of_warp(mine);
  if (lane == 0) room[warp] = of_warp;
  __syncthreads();
  if (warp != 0) return {};
  return least_of_warp(lane < (blockDim.x + 31) / 32 ? room[lane] : Key{});
}

/// Where the blocks of one search leave their keys for each other: words that carry the number of the look beside 32 bits of content
/// (kernels/sa/messages.cuh), so that no barrier is needed. Two boards take turns: who writes a look's has read all of the one before.
struct Board {
  sa::Word* word;  ///< [2][Key::words][block], all zero before the first look
  std::int32_t blocks;

  [[nodiscard]] static std::size_t words(std::int32_t blocks) { return std::size_t{2} * Key::words * static_cast<std::size_t>(blocks); }

  /// The least of the blocks' keys. Called by one whole warp of each block, all lanes with the block's key; `look` counts from 1.
  [[nodiscard]] __device__ __forceinline__ Key least(const Key& mine, unsigned look) const {
    constexpr int at_once = 5;
    const int lane = static_cast<int>(threadIdx.x % 32);
    sa::Word* board = word + (look & 1) * Key::words * blocks;
    if (lane < Key::words) sa::send_word(board + lane * blocks + blockIdx.x, mine.word(lane), look);
    Key best;
    for (int first = lane; first < blocks; first += 32 * at_once) {
      sa::Word read[at_once][Key::words];
      bool waiting = true;
      while (waiting) {
        waiting = false;
#pragma unroll
        for (int k = 0; k < at_once; ++k)
#pragma unroll
          for (int w = 0; w < Key::words; ++w)
            if (first + 32 * k < blocks) read[k][w] = sa::look_at(board + w * blocks + first + 32 * k);
#pragma unroll
        for (int k = 0; k < at_once; ++k)
#pragma unroll
          for (int w = 0; w < Key::words; ++w) waiting |= first + 32 * k < blocks && !sa::fresh(read[k][w], look);
      }
#pragma unroll
      for (int k = 0; k < at_once; ++k)
        if (first + 32 * k < blocks) best.lower_to({read[k][0] >> 32 << 32 | read[k][1] >> 32, static_cast<unsigned>(read[k][2] >> 32)});
    }
    return least_of_warp(best);
  }
};

}  // namespace vicinity::lsm
