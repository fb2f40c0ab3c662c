#pragma once
// The Weierstrass function of one coordinate on the device, for search.cu and the generic engine: what weierstrass::of_coordinate()
// computes, bit for bit, in fewer instructions.
//
// Problem. 100 terms of one coordinate, each the sine of a phase that is the one before times a power of two: a window into the bits of
// |x| / 2 pi. Data layout: all in registers of one thread; four terms side by side hide each other's latencies. Phases: |x| / 2 pi in words
// of 32 bits; then the terms from the last to the first, eight a pass of a loop, which stays short for the instruction cache. No
// synchronisation. Cost: a term takes 3 instructions for its folded phase and 13 for sine and sum in single precision; in double precision
// 18 of those on 64 bits, which are the limit there.
#include <cstdint>

#include "core/problems/weierstrass/weierstrass.hpp"

namespace vicinity::lsm {

/// |x| / 2 pi in words of 32 bits, most significant first.
template <class Real>
struct TurnWords;

/// As weierstrass::turn_of(float).
template <>
struct TurnWords<float> {
  std::uint32_t word[5];

  __device__ __forceinline__ explicit TurnWords(float x) {
    constexpr std::uint32_t inverse[5]{0x36D8A566u, 0x7D4D3770u, 0x7F09D5F4u, 0x9391054Au, 0x28BE60DBu};  // floor(2^160 / 2 pi)
    const auto bits = static_cast<std::uint32_t>(bits_of(x));
    const std::uint32_t exponent = bits >> 23 & 0xFF, mantissa = exponent == 0 ? 0 : (bits & 0x7FFFFFu) | 0x800000u;
    std::uint32_t product[6];  // lowest first
    std::uint64_t carried = 0;
#pragma unroll
    for (int l = 0; l < 5; ++l) {
      carried += static_cast<std::uint64_t>(mantissa) * inverse[l];
      product[l] = static_cast<std::uint32_t>(carried);
      carried >>= 32;
    }
    product[5] = static_cast<std::uint32_t>(carried);
    std::uint32_t shift = 150 - exponent;
    for (; shift >= 32; shift -= 32) {
#pragma unroll
      for (int l = 0; l < 5; ++l) product[l] = product[l + 1];
      product[5] = 0;
    }
#pragma unroll
    for (int l = 0; l < 5; ++l) word[4 - l] = __funnelshift_r(product[l], product[l + 1], shift);
  }
};

template <>
struct TurnWords<double> {
  std::uint32_t word[6];

  __device__ __forceinline__ explicit TurnWords(double x) {
    const weierstrass::Turn<double> turn = weierstrass::turn_of(x);
#pragma unroll
    for (int l = 0; l < 3; ++l) {
      word[2 * l] = static_cast<std::uint32_t>(turn.word[l] >> 32);
      word[2 * l + 1] = static_cast<std::uint32_t>(turn.word[l]);
    }
  }
};

/// Terms evaluated side by side.
template <class Real>
struct Several {
  static constexpr int count = 4;
  Real of[count];

  __device__ __forceinline__ Several() {}
  __device__ __forceinline__ explicit Several(Real all) {
#pragma unroll
    for (int k = 0; k < count; ++k) of[k] = all;
  }
  [[nodiscard]] friend __device__ __forceinline__ Several times(const Several& a, const Several& b) {
    Several product;
#pragma unroll
    for (int k = 0; k < count; ++k) product.of[k] = vicinity::times(a.of[k], b.of[k]);
    return product;
  }
  [[nodiscard]] friend __device__ __forceinline__ Several plus(const Several& a, const Several& b) {
    Several sum;
#pragma unroll
    for (int k = 0; k < count; ++k) sum.of[k] = vicinity::plus(a.of[k], b.of[k]);
    return sum;
  }
};

/// The terms whose windows begin at bits `shift`, shift - 1, ... of the first of three words. The window, ahead by a quarter of a turn,
/// is one instruction; its distance from zero, less a quarter, is the folded phase, one more.
[[nodiscard]] __device__ __forceinline__ Several<float> sines(std::uint32_t first, std::uint32_t second, std::uint32_t, int shift, float) {
  Several<float> z;
#pragma unroll
  for (int k = 0; k < Several<float>::count; ++k) {
    const auto ahead = static_cast<std::int32_t>(__funnelshift_l(second, first, shift - k) + 0x40000000u);
    const auto turn = static_cast<std::int32_t>(__sad(ahead, 0, 0xC0000000u));
    z.of[k] = times(to_float(turn), 9.31322574615478515625e-10f);  // quarter turns: 2^-30
  }
  return times(weierstrass::sine_series<float, 4>(times(z, z)), z);
}
/// The phase within half a turn, its sign bit the one below, is the folded phase or its opposite; the sign is the phase's. z counts 2^-62
/// quarter turns, and the coefficients make up for it.
[[nodiscard]] __device__ __forceinline__ Several<double> sines(std::uint32_t first, std::uint32_t second, std::uint32_t third, int shift,
                                                               double) {
  Several<double> z, signed_z;
#pragma unroll
  for (int k = 0; k < Several<double>::count; ++k) {
    const std::uint32_t high = __funnelshift_l(second, first, shift - k), low = __funnelshift_l(third, second, shift - k);
    z.of[k] = __ll2double_rn(__double_as_longlong(__hiloint2double(static_cast<int>(high << 1) >> 1, static_cast<int>(low))));
    const auto top = static_cast<std::uint32_t>(__double2hiint(z.of[k]));
    signed_z.of[k] = __hiloint2double(static_cast<int>((top & 0x7FFFFFFFu) | (high & 0x80000000u)), __double2loint(z.of[k]));
  }
  return times(weierstrass::sine_series<double, 7, -62, 124>(times(z, z)), signed_z);
}

/// Adds `count` terms, the first of which is that of bit `count` of the first word.
template <int count, class Real>
[[nodiscard]] __device__ __forceinline__ Real add_terms(Real sum, std::uint32_t first, std::uint32_t second, std::uint32_t third) {
#pragma unroll
  for (int shift = count; shift > 0; shift -= Several<Real>::count) {
    const Several<Real> next = sines(first, second, third, shift, Real{});
#pragma unroll
    for (int k = 0; k < Several<Real>::count; ++k) sum = times(plus(sum, next.of[k]), weierstrass::ratio<Real>);
  }
  return sum;
}

/// weierstrass::of_coordinate(x).
template <class Real>
[[nodiscard]] __device__ __forceinline__ Real value_of_coordinate(Real x) {
  constexpr bool wide = sizeof(Real) == 8;
  constexpr int a_pass = 8;
  static_assert(weierstrass::terms == 3 * 32 + 4 && 32 % a_pass == 0 && a_pass % Several<Real>::count == 0);
  const TurnWords<Real> turn(x);
  std::uint32_t first = turn.word[2], second = turn.word[3], third = turn.word[4], fourth = wide ? turn.word[wide ? 5 : 4] : 0;
  Real sum = add_terms<4>(Real{0}, second, third, fourth);
#pragma unroll 1
  for (int word = 2; word >= 0; --word) {
#pragma unroll 1
    for (int behind = 32 - a_pass; behind >= 0; behind -= a_pass)  // bits of the first word before those of this pass
      sum = add_terms<a_pass>(sum, __funnelshift_l(second, first, behind), __funnelshift_l(third, second, behind),
                              wide ? __funnelshift_l(fourth, third, behind) : 0);
    fourth = third;
    third = second;
    second = first;
    first = word == 2 ? turn.word[1] : turn.word[0];
  }
  return x < 0 ? -sum : sum;
}

/// Block `block` of the draws of neighbour f in iteration t.
[[nodiscard]] __device__ __forceinline__ Philox4 draws(std::uint64_t seed, std::int64_t t, std::int64_t f, std::int32_t block) {
  return philox({{static_cast<std::uint32_t>(t), 0, static_cast<std::uint32_t>(f), static_cast<std::uint32_t>(block)}}, seed);
}
/// Word w % 4 of a block, for a w that is not known when this is compiled.
[[nodiscard]] __device__ __forceinline__ std::uint32_t word_of(const Philox4& block, std::int32_t w) {
  const std::uint32_t even = (w & 2) == 0 ? block.word[0] : block.word[2], odd = (w & 2) == 0 ? block.word[1] : block.word[3];
  return (w & 1) == 0 ? even : odd;
}

}  // namespace vicinity::lsm
