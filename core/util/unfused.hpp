#pragma once
// Floating-point arithmetic that no compiler may fuse or reorder: each operation rounds by itself, to nearest, the same on every machine.
// Host code is built with -ffp-contract=off. Where a contract fuses, it says so by multiply_add(), which is exact everywhere, but a call of
// the C library where a processor, or the one that the code is compiled for, lacks the instruction.
#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/util/hd.hpp"

namespace vicinity {

#if defined(__CUDA_ARCH__)
VICINITY_HD float times(float a, float b) { return __fmul_rn(a, b); }
VICINITY_HD float plus(float a, float b) { return __fadd_rn(a, b); }
VICINITY_HD double times(double a, double b) { return __dmul_rn(a, b); }
VICINITY_HD double plus(double a, double b) { return __dadd_rn(a, b); }
VICINITY_HD float multiply_add(float a, float b, float c) { return __fmaf_rn(a, b, c); }
VICINITY_HD double multiply_add(double a, double b, double c) { return __fma_rn(a, b, c); }
VICINITY_HD double over(double a, double b) { return __ddiv_rn(a, b); }
VICINITY_HD double root(double a) { return __dsqrt_rn(a); }
VICINITY_HD std::int32_t bits_of(float x) { return __float_as_int(x); }
VICINITY_HD std::int64_t bits_of(double x) { return __double_as_longlong(x); }
VICINITY_HD float float_of(std::int32_t x) { return __int_as_float(x); }
VICINITY_HD double double_of(std::int64_t x) { return __longlong_as_double(x); }
VICINITY_HD float to_float(std::uint32_t x) { return __uint2float_rn(x); }
VICINITY_HD float to_float(std::int32_t x) { return __int2float_rn(x); }
VICINITY_HD double to_double(std::int64_t x) { return __ll2double_rn(x); }
#else
VICINITY_HD float times(float a, float b) { return a * b; }
VICINITY_HD float plus(float a, float b) { return a + b; }
VICINITY_HD double times(double a, double b) { return a * b; }
VICINITY_HD double plus(double a, double b) { return a + b; }
VICINITY_HD float multiply_add(float a, float b, float c) { return std::fma(a, b, c); }
VICINITY_HD double multiply_add(double a, double b, double c) { return std::fma(a, b, c); }
VICINITY_HD double over(double a, double b) { return a / b; }
VICINITY_HD double root(double a) { return std::sqrt(a); }
VICINITY_HD std::int32_t bits_of(float x) {
  std::int32_t word;
  std::memcpy(&word, &x, sizeof word);
  return word;
}
VICINITY_HD std::int64_t bits_of(double x) {
  std::int64_t word;
  std::memcpy(&word, &x, sizeof word);
  return word;
}
VICINITY_HD float float_of(std::int32_t x) {
  float value;
  std::memcpy(&value, &x, sizeof value);
  return value;
}
VICINITY_HD double double_of(std::int64_t x) {
  double value;
  std::memcpy(&value, &x, sizeof value);
  return value;
}
VICINITY_HD float to_float(std::uint32_t x) { return static_cast<float>(x); }
VICINITY_HD float to_float(std::int32_t x) { return static_cast<float>(x); }
VICINITY_HD double to_double(std::int64_t x) { return static_cast<double>(x); }
#endif

}  // namespace vicinity
