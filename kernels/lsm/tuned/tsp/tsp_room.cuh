#pragma once
// The shared memory of the tuned local search for the travelling salesman, and how the blocks of a search speak through it: words that
// carry the number of the step (kernels/cuda/words.cuh).
#include <cstddef>
#include <cstdint>

#include "core/methods/lsm/search.hpp"
#include "kernels/cuda/words.cuh"
#include "kernels/lsm/tuned/tsp/tsp_rows.cuh"

namespace vicinity::lsm {

/// Threads of a block. Double precision takes more registers.
template <bool Integral>
inline constexpr int tsp_threads = Integral ? 768 : 512;
/// The most blocks of a search: one a lane of half a warp, and a row in a scan of each.
inline constexpr int tsp_most_blocks = 16;
/// 2^16 bits.
inline constexpr int filter_words = 2048;
inline constexpr int row_words = 6;

/// Rows in shared memory fill whole 16 bytes.
[[nodiscard]] VICINITY_HD constexpr std::size_t row_slots(std::int32_t share) { return (static_cast<std::size_t>(share) + 1) / 2 * 2; }

/// Room that does not depend on the instance.
template <bool Integral>
struct alignas(16) TspRoom {
  cuda::Word keys[2][4][tsp_most_blocks];        ///< [parity][word][block]: best move and least bound, high half first
  cuda::Word parts[tsp_most_blocks][row_words];  ///< [block]: its part of the row that this block has scanned anew
  std::int32_t partial[tsp_threads<Integral> / 32][row_words];
  Key best[tsp_threads<Integral> / 32], bound[tsp_threads<Integral> / 32];
  local_search::SearchProgress progress;
};

/// Bytes of shared memory for the rows of a block and all places; rows and places are in device memory unless `resident`.
template <bool Integral>
[[nodiscard]] constexpr std::size_t tsp_shared_bytes(std::int32_t n, std::int32_t share, bool resident) {
  const std::size_t fixed = sizeof(TspRoom<Integral>) + filter_words * sizeof(std::uint32_t);
  return fixed + (resident ? row_slots(share) * sizeof(Row) + static_cast<std::size_t>(n) * sizeof(Place<Integral>) : 0);
}

[[nodiscard]] __device__ __forceinline__ std::int32_t word_of(const Row& row, std::int32_t word) {
  const std::int32_t tabu = word == 4 ? row.tabu_delta : row.tabu_column;
  return word == 0 ? row.delta : word == 1 ? row.column : word == 2 ? row.rest : word == 3 ? row.wake : tabu;
}
[[nodiscard]] __device__ __forceinline__ Row row_of(const std::int32_t (&words)[row_words]) {
  return {words[0], words[1], words[2], words[3], words[4], words[5]};
}

/// The contents of words `stride` apart in this block's shared memory, once they have the number of the step; of lanes that are
/// `waiting`, which is returned. The warp leaves as one: lanes that left a loop of polls one by one would stay apart.
template <int Count>
__device__ __forceinline__ bool receive(std::int32_t (&contents)[Count], const cuda::Word* from, int stride, bool waiting, unsigned step) {
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(from));
  bool missing = true;
  while (__any_sync(~0u, missing)) {
    missing = false;
#pragma unroll
    for (int k = 0; k < Count; ++k) {
      const cuda::Word word = cuda::read_shared(address + 8 * k * stride);
      contents[k] = static_cast<std::int32_t>(word >> 32);
      missing |= waiting && !cuda::fresh(word, step);
    }
  }
  return waiting;
}

}  // namespace vicinity::lsm
