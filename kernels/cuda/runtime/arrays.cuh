#pragma once
// Arrays one after the other in memory that is given: how a kernel divides the shared memory of a block.
#include <cstddef>
#include <cstdint>

namespace vicinity::cuda {

/// `array`: the next `size` elements from `end` on, which moves behind them, to a multiple of `Alignment` bytes. From null on, `end` says
/// how many bytes they take.
template <std::size_t Alignment = 16, class T>
__host__ __device__ __forceinline__ void take(std::byte*& end, T*& array, std::int32_t size) {
  array = reinterpret_cast<T*>(end);
  end += (static_cast<std::size_t>(size) * sizeof(T) + Alignment - 1) / Alignment * Alignment;
}

}  // namespace vicinity::cuda
