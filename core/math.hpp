#pragma once
// Small integer helpers for host and device.
#include <cstdint>
#include <type_traits>

#include "core/hd.hpp"

namespace vicinity {

/// |a - b| + c; one instruction on the device.
VICINITY_HD std::int32_t abs_difference_plus(std::int32_t a, std::int32_t b, std::int32_t c) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::int32_t>(__sad(a, b, static_cast<unsigned>(c)));
#else
  return (a > b ? a - b : b - a) + c;
#endif
}

template <class T>
requires std::is_integral_v<T> VICINITY_HD constexpr T divide_up(T a, std::type_identity_t<T> b) { return (a + b - 1) / b; }

template <class T>
VICINITY_HD constexpr T larger(T a, std::type_identity_t<T> b) {
  return a < b ? b : a;
}

}  // namespace vicinity
