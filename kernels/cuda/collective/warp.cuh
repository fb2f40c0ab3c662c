#pragma once
// What the lanes of a whole warp make of a value each; all of them have the result.
#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/cuda/collective/key.cuh"

namespace vicinity::cuda {

/// The least of 32-bit numbers, or of unsigned 64-bit ones.
template <std::integral T>
[[nodiscard]] __device__ __forceinline__ T warp_min(T value) {
  static_assert(sizeof(T) == 4 || (sizeof(T) == 8 && std::is_unsigned_v<T>));
  if constexpr (sizeof(T) == 8) {
    const auto high = static_cast<std::uint32_t>(value >> 32), least = warp_min(high);
    return static_cast<T>(least) << 32 | warp_min(high == least ? static_cast<std::uint32_t>(value) : ~0u);
  } else {
#if __CUDA_ARCH__ >= 800
    return __reduce_min_sync(~0u, value);
#else
    for (int offset = 16; offset > 0; offset /= 2) value = min(value, __shfl_xor_sync(~0u, value, offset));
    return value;
#endif
  }
}

/// The least of several unsigned 64-bit numbers a lane: by halves, which are compared at once.
template <int Count>
[[nodiscard]] __device__ __forceinline__ unsigned long long warp_min(const unsigned long long (&values)[Count]) {
  std::uint32_t high = ~0u, low = ~0u;
#pragma unroll
  for (int k = 0; k < Count; ++k) high = min(high, static_cast<std::uint32_t>(values[k] >> 32));
  high = warp_min(high);
#pragma unroll
  for (int k = 0; k < Count; ++k)
    low = min(low, static_cast<std::uint32_t>(values[k] >> 32) == high ? static_cast<std::uint32_t>(values[k]) : ~0u);
  return static_cast<unsigned long long>(high) << 32 | warp_min(low);
}

/// The value of the lane `mask` away: any trivially copyable type of whole words.
template <class T>
[[nodiscard]] __device__ __forceinline__ T shuffle_xor(const T& value, int mask) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(int) == 0);
  int words[sizeof(T) / sizeof(int)];
  memcpy(words, &value, sizeof(T));
#pragma unroll
  for (int& word : words) word = __shfl_xor_sync(~0u, word, mask);
  T other;
  memcpy(&other, words, sizeof(T));
  return other;
}

/// The least key.
template <OrderedKey K>
[[nodiscard]] __device__ __forceinline__ K warp_argmin(const K& mine) {
  K least = mine;
  if constexpr (std::unsigned_integral<K>) {
    least = warp_min(mine);
  } else if constexpr (TwoPartKey<K>) {
    least.high = warp_min(mine.high);
    least.low = warp_min(mine.high == least.high ? mine.low : no_key<K>().low);
  } else {
#pragma unroll
    for (int mask = 16; mask > 0; mask /= 2) lower(least, shuffle_xor(least, mask));
  }
  return least;
}

/// The sum, of any numbers that can be shuffled.
template <class T>
[[nodiscard]] __device__ __forceinline__ T shuffled_sum(T value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(~0u, value, offset);
  return value;
}
/// The sum, in one instruction where the GPU has it.
[[nodiscard]] __device__ __forceinline__ std::int32_t warp_sum(std::int32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(~0u, value);
#else
  return shuffled_sum(value);
#endif
}

}  // namespace vicinity::cuda
