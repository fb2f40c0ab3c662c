#pragma once
// Small integer helpers for host and device.
#include <cstdint>
#include <type_traits>

#include "core/util/hd.hpp"

namespace vicinity {

/// |a - b| + c; one instruction on the device.
VICINITY_HD std::int32_t abs_difference_plus(std::int32_t a, std::int32_t b, std::int32_t c) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::int32_t>(__sad(a, b, static_cast<unsigned>(c)));
#else
  return (a > b ? a - b : b - a) + c;
#endif
}

/// Two whole numbers, such as coordinates.
struct Pair {
  std::int32_t x, y;
};

/// One word of two signed 16-bit halves, x in the lower one.
VICINITY_HD std::int32_t pack_halves(Pair pair) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(pair.y) << 16 | (static_cast<std::uint32_t>(pair.x) & 0xFFFFu));
}

/// base + the halves of a packed word.
VICINITY_HD Pair add_halves(Pair base, std::int32_t halves) {
#if defined(__CUDA_ARCH__)  // two dot products, which leave the integer adders to others
  return {__dp2a_lo(halves, 0x0001, base.x), __dp2a_lo(halves, 0x0100, base.y)};
#else
  return {base.x + static_cast<std::int16_t>(halves), base.y + (halves >> 16)};
#endif
}

template <class T>
requires std::is_integral_v<T> VICINITY_HD constexpr T divide_up(T a, std::type_identity_t<T> b) { return (a + b - 1) / b; }

template <class T>
VICINITY_HD constexpr T larger(T a, std::type_identity_t<T> b) {
  return a < b ? b : a;
}

}  // namespace vicinity
