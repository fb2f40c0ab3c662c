#pragma once
// The best of all moves, found by the threads of a block, and by the blocks of a grid, which then all know it.
#include <cstdint>

#include "core/methods/lsm/search.hpp"
#include "kernels/cuda/warp.cuh"
#include "kernels/cuda/words.cuh"

namespace vicinity::lsm {

/// A choice whose order as a number of 96 bits is that of local_search::better(): 1 bit forbidden, 64 bits value with the sign turned, 31
/// bits move.
struct Key {
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
  __device__ __forceinline__ void lower_to(const Key& other) {
    if (other.high < high || (other.high == high && other.low < low)) *this = other;
  }
};

/// The least key of the warp, in all lanes.
[[nodiscard]] __device__ __forceinline__ Key least_of_warp(const Key& mine) {
  const unsigned long long high = cuda::warp_min(mine.high);
  return {high, cuda::warp_min(mine.high == high ? mine.low : ~0u)};
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

/// A key on its way: two words of 48 bits of it and the last 16 bits of the number of the look, so that who polls it knows a fresh one.
struct alignas(16) Message {
  cuda::Word first, second;

  [[nodiscard]] static __device__ __forceinline__ Message of(const Key& key, unsigned look) {
    return {key.high & ~0xFFFFull | (look & 0xFFFFu), key.high << 48 | static_cast<unsigned long long>(key.low) << 16 | (look & 0xFFFFu)};
  }
  [[nodiscard]] __device__ __forceinline__ bool fresh(unsigned look) const {
    return ((static_cast<unsigned>(first ^ second) | (static_cast<unsigned>(first) ^ look)) & 0xFFFFu) == 0;
  }
  [[nodiscard]] __device__ __forceinline__ Key key() const {
    return {(first & ~0xFFFFull) | second >> 48, static_cast<unsigned>(second >> 16)};
  }
  __device__ __forceinline__ void send(Message* to) const { cuda::write_relaxed(&to->first, first, second); }
  __device__ __forceinline__ void look_at(const Message* from) { cuda::read_relaxed(&from->first, first, second); }
};

/// Where the blocks of one search leave their keys for each other, so that no barrier is needed. Two boards take turns: who writes a look's
/// has read all of the one before.
struct Board {
  Message* message;  ///< [2][block], all zero before the first look
  std::int32_t blocks;

  /// The least of the blocks' keys. Called by one whole warp of each block, all lanes with the block's key; `look` counts from 1.
  [[nodiscard]] __device__ __forceinline__ Key least(const Key& mine, unsigned look) const {
    constexpr int at_once = 5;
    Message* board = message + (look & 1) * blocks;
    if (threadIdx.x % 32 == 0) Message::of(mine, look).send(board + blockIdx.x);
    Key best;
    for (int first = static_cast<int>(threadIdx.x % 32); first < blocks; first += 32 * at_once) {
      Message read[at_once];
#pragma unroll
      for (int k = 0; k < at_once; ++k) read[k].look_at(board + min(first + 32 * k, blocks - 1));
      bool waiting = true;
      while (waiting) {
        waiting = false;
#pragma unroll
        for (int k = 0; k < at_once; ++k)
          if (!read[k].fresh(look)) {
            read[k].look_at(board + min(first + 32 * k, blocks - 1));
            waiting = true;
          }
      }
#pragma unroll
      for (int k = 0; k < at_once; ++k) best.lower_to(read[k].key());
    }
    return least_of_warp(best);
  }
};

}  // namespace vicinity::lsm
