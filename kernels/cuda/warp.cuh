#pragma once
// What the lanes of a whole warp make of a value each; all of them have the result.
#include <concepts>
#include <cstdint>
#include <type_traits>

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
