#pragma once
// The Weierstrass-Mandelbrot function (paper, equation 1, section 6.3), summed over the coordinates and minimised over [-1, 1]^n:
//   W(x) = sum_k sum_{i=1..100} b^(-i h) sin(b^i x_k),   h = 0.25 as in the paper, b = 2, which the paper leaves open.
//
// With b = 2 the arguments b^i x are exact in any binary format, and so is everything that follows here, up to stated roundings:
// x / 2 pi is made once, in fixed point with 128 (double: 192) binary places, and the phase of term i, the fraction of a turn that
// sin(2^i x) depends on, is a window of 32 (64) bits of it. Such a phase begins each of a few groups of terms; within a group, angles are
// doubled. So the value is that of correctly reduced sines at any i, bit for bit the same on every machine, at the price of two fused
// operations a term and a sine and a cosine a group. What precision means here: the neighbours of a number of single precision near 1 are
// 2^-24 away, so the terms i > 24, a tenth of the amplitude, take unrelated values at neighbouring numbers: noise that a search can
// exploit but not follow. In double precision that begins at i > 53, a thousandth of the amplitude.
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "core/api/run.hpp"
#include "core/util/hd.hpp"
#include "core/util/rng.hpp"
#include "core/util/unfused.hpp"

namespace vicinity::weierstrass {

inline constexpr int terms = 100;

// --- phases -------------------------------------------------------------------------------------------------------------
// Without products of 128 bits or loops that end early: vectors of numbers can do the same.

/// |x| / 2 pi: a fraction of a turn, most significant word first.
template <class Real>
struct Turn;
template <>
struct Turn<float> {
  std::uint32_t word[4];
};
template <>
struct Turn<double> {
  std::uint64_t word[3];
};

namespace detail {

/// The lower word of two, shifted right by less than its bits.
VICINITY_HD std::uint32_t funnel_right(std::uint32_t low, std::uint32_t high, std::uint32_t shift) {
#if defined(__CUDA_ARCH__)
  return __funnelshift_r(low, high, shift);
#else
  return low >> shift | high << 1 << (31 - shift);
#endif
}
VICINITY_HD std::uint64_t funnel_right(std::uint64_t low, std::uint64_t high, std::uint32_t shift) {
  return low >> shift | high << 1 << (63 - shift);
}

/// Shifts a number of `count` words, lowest first, right by less than 2 `by` words.
template <int by = 4, int count, class Word>
VICINITY_HD void shift_right(Word (&word)[count], std::uint32_t shift) {
  constexpr std::uint32_t bits = 8 * sizeof(Word);
#if defined(__CUDA_ARCH__)
  if (by > 0 && shift < bits) return shift_right<0>(word, shift);  // nearly always
#endif
  if constexpr (by == 0) {
    for (int l = 0; l < count; ++l) word[l] = funnel_right(word[l], l + 1 < count ? word[l + 1] : 0, shift % bits);
  } else {
    const Word moves = Word{0} - (shift / (by * bits) & 1);  // all bits, or none
    for (int l = 0; l < count; ++l) word[l] ^= (word[l] ^ (l + by < count ? word[l + by] : 0)) & moves;
    shift_right<by / 2>(word, shift);
  }
}

}  // namespace detail

/// |x| <= 1. Truncated at 2^-128: nothing is left of numbers below 2^-126.
VICINITY_HD Turn<float> turn_of(float x) {
  constexpr std::uint32_t inverse[]{0x4D4D3770u, 0x7F09D5F4u, 0x9391054Au, 0x28BE60DBu};  // floor(2^128 / 2 pi), lowest first
  const auto bits = static_cast<std::uint32_t>(bits_of(x));
  const std::uint32_t exponent = bits >> 23 & 0xFF, mantissa = (bits & 0x7FFFFFu) | 0x800000u;
  std::uint32_t p[5];
  std::uint64_t carried = 0;
  for (int l = 0; l < 4; ++l) {
    carried = static_cast<std::uint64_t>(mantissa) * inverse[l] + (carried >> 32);
    p[l] = static_cast<std::uint32_t>(carried);
  }
  p[4] = static_cast<std::uint32_t>(carried >> 32);
  detail::shift_right(p, 150 - exponent);  // |x| = mantissa 2^(exponent - 150); p is below 2^150
  return {{p[3], p[2], p[1], p[0]}};
}
/// |x| <= 1. Truncated at 2^-192.
VICINITY_HD Turn<double> turn_of(double x) {
  constexpr std::uint32_t inverse[]{0x4F10E410u, 0x36D8A566u, 0x7D4D3770u, 0x7F09D5F4u, 0x9391054Au, 0x28BE60DBu};  // floor(2^192 / 2 pi)
  const auto bits = static_cast<std::uint64_t>(bits_of(x));
  const auto exponent = static_cast<std::uint32_t>(bits >> 52 & 0x7FF), shift = 1075 - exponent;
  const std::uint64_t mantissa = (bits & 0xFFFFFFFFFFFFFu) | 0x10000000000000u;
  const auto low = static_cast<std::uint32_t>(mantissa), high = static_cast<std::uint32_t>(mantissa >> 32);
  std::uint32_t p[8];
  std::uint64_t carried = 0;
  for (int l = 0; l < 6; ++l) {
    carried = static_cast<std::uint64_t>(low) * inverse[l] + (carried >> 32);
    p[l] = static_cast<std::uint32_t>(carried);
  }
  p[6] = static_cast<std::uint32_t>(carried >> 32);
  carried = 0;
  for (int l = 0; l < 6; ++l) {
    carried = static_cast<std::uint64_t>(high) * inverse[l] + p[l + 1] + (carried >> 32);
    p[l + 1] = static_cast<std::uint32_t>(carried);
  }
  p[7] = static_cast<std::uint32_t>(carried >> 32);
  std::uint64_t word[4];
  for (int l = 0; l < 4; ++l) word[l] = static_cast<std::uint64_t>(p[2 * l + 1]) << 32 | p[2 * l];
  detail::shift_right(word, shift < 255 ? shift : 255);  // |x| = mantissa 2^(exponent - 1075); p is below 2^243
  return {{word[2], word[1], word[0]}};
}

/// The phase of 2^i |x|, within half a turn of 0, in half turns.
template <int i>
VICINITY_HD float phase(const Turn<float>& turn) {
  constexpr int word = i / 32, bit = i % 32;
  std::uint32_t window = turn.word[word];
  if constexpr (bit != 0) window = detail::funnel_right(turn.word[word + 1], window, 32 - bit);
  return times(to_float(static_cast<std::int32_t>(window)), 4.656612873077392578125e-10f);  // 2^-31
}
template <int i>
VICINITY_HD double phase(const Turn<double>& turn) {
  constexpr int word = i / 64, bit = i % 64;
  std::uint64_t window = turn.word[word];
  if constexpr (bit != 0) window = detail::funnel_right(turn.word[word + 1], window, 64 - bit);
#if defined(__CUDA_ARCH__)
  return times(to_double(static_cast<std::int64_t>(window)), 1.084202172485504434007452800869941711426e-19);  // 2^-63
#else  // the same from halves that become mantissas, since few processors convert vectors of 64-bit numbers
  const double high = double_of(static_cast<std::int64_t>(0x4140000000000000u | (window >> 32 ^ 0x80000000u)));  // 2^21 + 1 + it 2^-31
  const double low = double_of(static_cast<std::int64_t>(0x3F40000000000000u | (window & 0xFFFFFFFFu)));         // 2^-11 + it 2^-63
  return plus(plus(high, -2097153.00048828125), low);
#endif
}

// --- sums ---------------------------------------------------------------------------------------------------------------

/// Twice the sine of z quarter turns, |z| <= 1, as a polynomial in z z times z, and twice the cosine as a polynomial in z z; the highest
/// powers first. Nearly minimax; off by 2e-8 and 2e-9 (double: 2e-16 and 1e-17) before rounding.
template <class Real>
struct Series;
template <>
struct Series<float> {
  static constexpr float sine[]{0.000298569561f, -0.00933789648f, 0.15937236f, -1.29192555f, 3.1415925f};
  static constexpr float cosine[]{-4.68044418e-5f, 0.00183346693f, -0.041723799f, 0.507338166f, -2.46740103f, 2.0f};
};
template <>
struct Series<double> {
  static constexpr double sine[]{-1.2865815731841531e-9, 1.1375403655651348e-7, -7.1976030729186738e-6, 0.0003208823252293178,
                                 -0.0093635082572546841, 0.15938525249019175,   -1.2919281950123385,    3.14159265358979};
  static constexpr double cosine[]{1.2656662567656818e-10, -1.2764228501161862e-8, 9.4216580735889803e-7,
                                   -5.0404079330095905e-5, 0.0018385205478087248,  -0.041726961526348479,
                                   0.50733901580206298,    -2.4674011002723386,    2.0};
};
template <class Real, int last = std::size(Series<Real>::sine) - 1>
VICINITY_HD Real sine_series(Real y) {
  constexpr Real coefficient = Series<Real>::sine[last];
  if constexpr (last == 0)
    return coefficient;
  else
    return multiply_add(sine_series<Real, last - 1>(y), y, coefficient);
}
template <class Real, int last = std::size(Series<Real>::cosine) - 1>
VICINITY_HD Real cosine_series(Real y) {
  constexpr Real coefficient = Series<Real>::cosine[last];
  if constexpr (last == 0)
    return coefficient;
  else
    return multiply_add(cosine_series<Real, last - 1>(y), y, coefficient);
}

/// Half of b^(-i h) = 2^(-i / 4): the sums are of twice the sines.
VICINITY_HD constexpr double weight(int i) {
  constexpr double first[]{0.5, 0.42044820762685725, 0.35355339059327376, 0.29730177875068026};
  double w = first[i % 4];
  for (; i >= 4; i -= 4) w /= 2;
  return w;
}

/// w_0 + c_0 (w_1 + c_1 (w_2 + ...)) for `count` weights from weight(first) on, at least two, where c_0 = sign (a^2 - 2), twice the cosine
/// of twice the angle that a is twice the cosine (1) or the sine (-1) of, and c_k = c_(k-1)^2 - 2. The last step is w + w' (a^2 - 2).
template <class Real, int first, int count, int sign = 1>
VICINITY_HD Real nested(Real a) {
  constexpr double w = weight(first), next = sign * weight(first + 1);
  if constexpr (count == 2) {
    return multiply_add(times(a, static_cast<Real>(next)), a, static_cast<Real>(w - 2 * next));
  } else {
    const Real c = multiply_add(sign * a, a, Real{-2 * sign});
    return multiply_add(nested<Real, first + 1, count - 1>(c), c, static_cast<Real>(w));
  }
}

/// Adds terms first .. first + count - 1 to the sum of the later ones; z is the phase of the first. With s_k and c_k twice the sine and the
/// cosine of term first + k, s_k = s_(k-1) c_(k-1), so that the terms are s_0 (w_0 + c_0 (w_1 + c_1 (w_2 + ...))). c_0 and c_1 come from
/// sines, which tell small angles apart.
template <class Real, int first, int count>
VICINITY_HD Real add_group(Real sum, Real z) {
  const Real y = times(z, z), half_s = times(sine_series<Real>(y), z), half_c = cosine_series<Real>(y);  // of half the angle
  const Real s = times(half_s, half_c);
  if constexpr (count == 2) {
    return multiply_add(s, nested<Real, first, 2, -1>(half_s), sum);
  } else {
    const Real c = multiply_add(-half_s, half_s, Real{2});
    const Real later = nested<Real, first + 1, count - 1, -1>(s);
    return multiply_add(s, multiply_add(later, c, static_cast<Real>(weight(first))), sum);
  }
}

/// Terms of each group. An error of a cosine near 1 grows fourfold a term, the weights shrink to 0.84: later groups, which weigh less, can
/// be longer for the same error. Of all 18 lengths that sum to 100, these have the least sum of the groups' largest errors, as found by
/// sampling. A group of more than 12 terms could leave [-2, 2] for good.
inline constexpr int groups[]{2, 2, 3, 3, 3, 3, 3, 4, 4, 5, 5, 6, 7, 8, 9, 10, 11, 12};

/// Adds groups `group`, group - 1, ..., 0; `end` is the term after them.
template <class Real, int group = std::size(groups) - 1, int end = terms + 1>
VICINITY_HD Real add_groups(const Turn<Real>& turn, Real sum) {
  constexpr int count = groups[group], first = end - count;
  sum = add_group<Real, first, count>(sum, phase<first>(turn));
  if constexpr (group > 0) {
    return add_groups<Real, group - 1, first>(turn, sum);
  } else {
    static_assert(first == 1);
    return sum;
  }
}

/// The sum over the terms of one coordinate, |x| <= 1, from the last group to the first.
template <class Real>
VICINITY_HD Real of_coordinate(Real x) {
  const Real sum = add_groups<Real>(turn_of(x), Real{0});
  return x < 0 ? -sum : sum;
}

/// W may differ by this much, a coordinate, from the oracle's: about twice (double: five times) the most in 3 10^7 samples, which were
/// uniform, small, near 1, or near what has small phases. The groups' largest errors, should all come together, sum to 2.7e-6 (6e-15).
template <class Real>
inline constexpr double tolerance = sizeof(Real) == 4 ? 2e-6 : 1e-14;

// --- order -------------------------------------------------------------------------------------------------------------

/// Whole numbers in the order of the numbers they stand for. W is never -0.
VICINITY_HD std::int32_t ordered(float w) {
  const std::int32_t bits = bits_of(w);
  return bits < 0 ? bits ^ 0x7FFFFFFF : bits;
}
VICINITY_HD std::int64_t ordered(double w) {
  const std::int64_t bits = bits_of(w);
  return bits < 0 ? bits ^ 0x7FFFFFFFFFFFFFFF : bits;
}
template <class Real>
VICINITY_HD Real from_ordered(std::int64_t order) {
  if constexpr (sizeof(Real) == 4) {
    const auto bits = static_cast<std::int32_t>(order);
    return float_of(bits < 0 ? bits ^ 0x7FFFFFFF : bits);
  } else {
    return double_of(order < 0 ? order ^ 0x7FFFFFFFFFFFFFFF : order);
  }
}

// --- neighbours --------------------------------------------------------------------------------------------------------
// Section 4.5: one random point in each of M concentric crowns, anew in each iteration. Chosen here: crowns of the maximum norm, of equal
// width, up to the paper's largest radius 1/n, half open: r in [f, f+1) / (M n) for crown f. The point is uniform on the surface of the
// cube of half width r; a coordinate beyond the domain is reflected at its border.

/// The draws of neighbour f in iteration t: word 0 the radius, word 1 the face, word 2 + k coordinate k; word w is in block w / 4.
VICINITY_HD std::uint32_t draw(std::uint64_t seed, std::int64_t t, std::int64_t f, std::int32_t word) {
  const Philox4 block =
      philox({{static_cast<std::uint32_t>(t), 0, static_cast<std::uint32_t>(f), static_cast<std::uint32_t>(word / 4)}}, seed);
  return block.word[word % 4];
}

/// A number in [-1, 1].
template <class Real>
VICINITY_HD Real signed_unit(std::uint32_t word) {
  const auto whole = static_cast<std::int32_t>(word);
  if constexpr (sizeof(Real) == 4)
    return times(to_float(whole), 4.656612873077392578125e-10f);  // 2^-31
  else
    return times(to_double(whole), 4.656612873077392578125e-10);
}

/// Width of a crown, 1 / (M n).
template <class Real>
VICINITY_HD Real crown_width(std::int64_t moves, std::int32_t n) {
  return static_cast<Real>(over(1.0, static_cast<double>(moves * n)));
}

/// Radius of the neighbour in crown f, from its word 0.
template <class Real>
VICINITY_HD Real radius(std::int64_t f, std::uint32_t word, Real width) {
  if constexpr (sizeof(Real) == 4)
    return times(plus(to_float(static_cast<std::int32_t>(f)), times(to_float(word >> 8), 5.9604644775390625e-08f)), width);  // 2^-24
  else
    return times(plus(to_double(f), times(to_double(word), 2.3283064365386962890625e-10)), width);  // 2^-32
}

/// The cube's face the neighbour lies on, from its word 1: coordinate `axis`, on the side of `sign`.
struct Face {
  std::int32_t axis, sign;
};
VICINITY_HD Face face(std::uint32_t word, std::int32_t n) {
  return {static_cast<std::int32_t>(static_cast<std::uint64_t>(word >> 1) * static_cast<std::uint64_t>(n) >> 31), (word & 1) != 0 ? 1 : -1};
}

/// How far coordinate k of a neighbour lies from that of the solution, from its word 2 + k.
template <class Real>
VICINITY_HD Real displacement(std::int32_t k, std::uint32_t word, Real radius, const Face& face) {
  return times(radius, k == face.axis ? static_cast<Real>(face.sign) : signed_unit<Real>(word));
}
/// The coordinate so far from x, reflected into the domain.
template <class Real>
VICINITY_HD Real displaced(Real x, Real displacement) {
  const Real to = plus(x, displacement), reflected = plus(to > 1 ? Real{2} : Real{-2}, -to);
  return to > 1 || to < -1 ? reflected : to;
}
/// Coordinate k of the neighbour at x, from its word 2 + k.
template <class Real>
VICINITY_HD Real moved(Real x, std::int32_t k, std::uint32_t word, Real radius, const Face& face) {
  return displaced(x, displacement(k, word, radius, face));
}

/// W of neighbour f of x in iteration t.
template <class Real, class X>
VICINITY_HD Real neighbor_value(const X& x, std::int32_t n, std::uint64_t seed, std::int64_t t, std::int64_t f, Real width) {
  const Real r = radius<Real>(f, draw(seed, t, f, 0), width);
  const Face where = face(draw(seed, t, f, 1), n);
  Real sum = 0;
  for (std::int32_t k = 0; k < n; ++k) sum = plus(sum, of_coordinate(moved<Real>(x[k], k, draw(seed, t, f, 2 + k), r, where)));
  return sum;
}

// --- instance and oracle ------------------------------------------------------------------------------------------------

class Weierstrass final : public Instance {
 public:
  /// Throws InputError for a dimension outside [1, 64] and a number of neighbours outside [1, 2^24], all of which single precision tells
  /// apart.
  Weierstrass(std::int32_t dimension, std::int64_t neighbors);

  [[nodiscard]] std::uint64_t hash() const override;
  [[nodiscard]] std::int32_t dimension() const noexcept { return dimension_; }
  [[nodiscard]] std::int64_t neighbors() const noexcept { return neighbors_; }

 private:
  std::int32_t dimension_;
  std::int64_t neighbors_;
};

/// The oracle: W from its definition, with the library's sine, in double precision. Shares no code with of_coordinate.
[[nodiscard]] double value(std::span<const double> x);

}  // namespace vicinity::weierstrass
