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

/// Words at an address of 8 bytes, read at once.
struct TwoWords {
  std::int32_t first, second;
};
VICINITY_HD TwoWords two_words(const std::int32_t* at) {
#if defined(__CUDA_ARCH__)
  const int2 two = *reinterpret_cast<const int2*>(at);
  return {two.x, two.y};
#else
  return {at[0], at[1]};
#endif
}

/// The lower halves of two words.
VICINITY_HD std::uint32_t lower_halves(std::int32_t low, std::int32_t high) {
#if defined(__CUDA_ARCH__)
  return __byte_perm(static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(high), 0x5410);
#else
  return static_cast<std::uint32_t>(high) << 16 | (static_cast<std::uint32_t>(low) & 0xFFFFu);
#endif
}
/// The larger ones of the unsigned halves of two words.
VICINITY_HD std::uint32_t larger_halves(std::uint32_t a, std::uint32_t b) {
#if defined(__CUDA_ARCH__)
  return __vmaxu2(a, b);
#else
  const std::uint32_t low_a = a & 0xFFFFu, low_b = b & 0xFFFFu, high_a = a >> 16, high_b = b >> 16;
  return (high_a < high_b ? high_b : high_a) << 16 | (low_a < low_b ? low_b : low_a);
#endif
}
/// The same of signed halves.
VICINITY_HD std::uint32_t larger_signed_halves(std::uint32_t a, std::uint32_t b) {
#if defined(__CUDA_ARCH__)
  return __vmaxs2(a, b);
#else
  return larger_halves(a ^ 0x80008000u, b ^ 0x80008000u) ^ 0x80008000u;
#endif
}
/// Both unsigned halves and `base`.
VICINITY_HD std::uint32_t plus_halves(std::uint32_t base, std::uint32_t halves) {
#if defined(__CUDA_ARCH__)
  return __dp2a_lo(halves, 0x0101u, base);
#else
  return base + (halves & 0xFFFFu) + (halves >> 16);
#endif
}

template <class T>
requires std::is_integral_v<T> VICINITY_HD constexpr T divide_up(T a, std::type_identity_t<T> b) { return (a + b - 1) / b; }

template <class T>
VICINITY_HD constexpr T larger(T a, std::type_identity_t<T> b) {
  return a < b ? b : a;
}

}  // namespace vicinity
