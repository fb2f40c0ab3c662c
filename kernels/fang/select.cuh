#pragma once
// Picking the next active variable (Figure 4, step 2), for one thread group per state.
#include <cstdint>

#include "core/problems/fang_domains/heuristic.hpp"
#include "core/problems/fang_domains/states.hpp"

namespace vicinity::fang {

inline constexpr std::uint32_t no_variable = 0xFFFFFFFFu;
inline constexpr unsigned full_warp = 0xFFFFFFFFu;

/// The lowest active variable from word `first` on; every thread calls it and gets the same answer.
__device__ inline std::uint32_t next_in_order(const std::uint32_t* active, std::uint32_t words, std::uint32_t first) {
  for (std::uint32_t w = first; w < words; ++w)
    if (active[w] != 0) return w * 32 + __ffs(static_cast<int>(active[w])) - 1;
  return no_variable;
}

/// The active variable of the smallest (order key, index); one whole warp calls it and every lane gets the answer.
__device__ inline std::uint32_t next_permuted(const std::uint32_t* active, std::uint32_t variables, std::uint64_t seed) {
  std::uint64_t best_key = ~0ull;
  std::uint32_t best = no_variable;
  for (std::uint32_t v = threadIdx.x % 32; v < variables; v += 32) {
    if ((active[v / 32] >> (v % 32) & 1u) == 0) continue;
    const std::uint64_t key = order_key(seed, v);
    if (best == no_variable || key < best_key) best_key = key, best = v;
  }
  for (int step = 16; step > 0; step /= 2) {
    const std::uint64_t key = __shfl_xor_sync(full_warp, best_key, step);
    const std::uint32_t other = __shfl_xor_sync(full_warp, best, step);
    if (other != no_variable && (best == no_variable || key < best_key || (key == best_key && other < best))) best_key = key, best = other;
  }
  return best;
}

/// The next variable in the asked-for order, for a whole block. `shared_choice` is shared memory of the block's own; one
/// barrier when permuted, none otherwise. The bit sets must not change while any thread is inside.
__device__ inline std::uint32_t next_variable(const std::uint32_t* active, std::uint32_t variables, Order order, std::uint64_t seed,
                                              std::uint32_t first_word, std::uint32_t* shared_choice) {
  if (order == Order::fixed) return next_in_order(active, bit_words(variables), first_word);
  if (threadIdx.x < 32) {
    const std::uint32_t choice = next_permuted(active, variables, seed);
    if (threadIdx.x == 0) *shared_choice = choice;
  }
  __syncthreads();
  return *shared_choice;
}

}  // namespace vicinity::fang
