#pragma once
// The Weierstrass-Mandelbrot function (paper, equation 1, section 6.3), summed over the coordinates and minimised over [-1, 1]^n:
//   W(x) = sum_k sum_{i=1..100} b^(-i h) sin(b^i x_k),   h = 0.25 as in the paper, b = 2, which the paper leaves open.
//
// With b = 2 the arguments b^i x are exact in any binary format, and so is everything that follows here, up to stated roundings:
// x / 2 pi is made once, in fixed point with 160 (double: 192) binary places, and the phase of term i, the fraction of a turn that
// sin(2^i x) depends on, is a window of 32 (64) bits of it. So the value is that of a correctly reduced sine at any i, bit for bit the same
// on every machine, at the price of a shift a term. What precision means here: the neighbours of a number of single precision near 1 are
// 2^-24 away, so the terms i > 24, a tenth of the amplitude, take unrelated values at neighbouring numbers: noise that a search can
// exploit but not follow. In double precision that begins at i > 53, a thousandth of the amplitude.
#include <cstdint>
#include <span>
#include <vector>

#include "core/api/run.hpp"
#include "core/util/hd.hpp"
#include "core/util/rng.hpp"
#include "core/util/unfused.hpp"

namespace vicinity::weierstrass {

inline constexpr int terms = 100;

/// |x| / 2 pi: a fraction of a turn, most significant word first.
template <class Real>
struct Turn;
template <>
struct Turn<float> {
  std::uint32_t word[5];
};
template <>
struct Turn<double> {
  std::uint64_t word[3];
};

namespace detail {

/// The product of `mantissa` and a whole number of `L` limbs, lowest first, shifted right by `shift`, in L + 1 limbs.
template <int L>
struct Limbs {
  std::uint64_t limb[L];
};
template <int L>
VICINITY_HD Limbs<L + 1> product_above(std::uint64_t mantissa, const Limbs<L>& constant, std::int32_t shift) {
  Limbs<L + 1> p{};
  std::uint64_t carry = 0;
  for (int l = 0; l < L; ++l) {
    const std::uint64_t low = mantissa * constant.limb[l];
    p.limb[l] = low + carry;
    carry = multiply_high(mantissa, constant.limb[l]) + (p.limb[l] < low ? 1 : 0);
  }
  p.limb[L] = carry;
  for (int round = 0; round < L && shift >= 64; ++round, shift -= 64) {
    for (int l = 0; l < L; ++l) p.limb[l] = p.limb[l + 1];
    p.limb[L] = 0;
  }
  if (shift >= 64) return {};
  if (shift > 0)
    for (int l = 0; l <= L; ++l) p.limb[l] = p.limb[l] >> shift | (l < L ? p.limb[l + 1] << (64 - shift) : 0);
  return p;
}

}  // namespace detail

/// |x| <= 1. Truncated at 2^-160; numbers below 2^-126 count as 0.
VICINITY_HD Turn<float> turn_of(float x) {
  constexpr detail::Limbs<3> inverse{{0x7D4D377036D8A566u, 0x9391054A7F09D5F4u, 0x28BE60DBu}};  // floor(2^160 / 2 pi)
  const auto bits = static_cast<std::uint32_t>(bits_of(x));
  const auto exponent = static_cast<std::int32_t>(bits >> 23 & 0xFF);
  const std::uint32_t mantissa = exponent == 0 ? 0 : (bits & 0x7FFFFFu) | 0x800000u;
  const auto p = detail::product_above(mantissa, inverse, 150 - exponent);  // x = mantissa 2^(exponent - 150)
  return {{static_cast<std::uint32_t>(p.limb[2]), static_cast<std::uint32_t>(p.limb[1] >> 32), static_cast<std::uint32_t>(p.limb[1]),
           static_cast<std::uint32_t>(p.limb[0] >> 32), static_cast<std::uint32_t>(p.limb[0])}};
}
/// |x| <= 1. Truncated at 2^-192; numbers below 2^-203 count as 0.
VICINITY_HD Turn<double> turn_of(double x) {
  constexpr detail::Limbs<3> inverse{{0x36D8A5664F10E410u, 0x7F09D5F47D4D3770u, 0x28BE60DB9391054Au}};  // floor(2^192 / 2 pi)
  const auto bits = static_cast<std::uint64_t>(bits_of(x));
  const auto exponent = static_cast<std::int32_t>(bits >> 52 & 0x7FF);
  const std::uint64_t mantissa = (bits & 0xFFFFFFFFFFFFFu) | 0x10000000000000u;
  const auto p = detail::product_above(mantissa, inverse, 1075 - exponent);  // x = mantissa 2^(exponent - 1075)
  return {{p.limb[2], p.limb[1], p.limb[0]}};
}

/// The fraction of a turn of 2^i |x|, in units of 2^-32 (2^-64), from words `first` and `second`: i / 32 (64) and the next.
VICINITY_HD std::uint32_t window(std::uint32_t first, std::uint32_t second, int i) {
  return i % 32 == 0 ? first : first << (i % 32) | second >> (32 - i % 32);
}
VICINITY_HD std::uint64_t window(std::uint64_t first, std::uint64_t second, int i) {
  return i % 64 == 0 ? first : first << (i % 64) | second >> (64 - i % 64);
}

/// Coefficients of the sine of z quarter turns, |z| <= 1, as a polynomial in y = z z times z, the highest power first.
template <class Real>
struct SineSeries;
template <>
struct SineSeries<float> {
  static constexpr float coefficient[]{0.000150820561f, -0.00467222789f, 0.079688482f, -0.645963371f, 1.57079625f};
};
template <>
struct SineSeries<double> {
  static constexpr double coefficient[]{-6.434843118006172e-10, 5.6877694409717516e-08, -3.5988024757706707e-06, 0.00016044116327480775,
                                        -0.004681754128874049,  0.0796926262451429,     -0.6459640975061731,     1.570796326794895};
};

/// x 2^exponent.
template <class Real>
VICINITY_HD constexpr Real shifted(Real x, int exponent) {
  for (; exponent > 0; --exponent) x *= 2;
  for (; exponent < 0; ++exponent) x /= 2;
  return x;
}

/// 2^up times the polynomial up to coefficient `Last`, from y 2^up_y. Powers of two change no rounding. `Numbers`: Real, or several that
/// times() and plus() know.
template <class Real, int Last, int up = 0, int up_y = 0, class Numbers>
VICINITY_HD Numbers sine_series(const Numbers& y) {
  constexpr Real coefficient = shifted(SineSeries<Real>::coefficient[Last], up);
  if constexpr (Last == 0)
    return Numbers{coefficient};
  else
    return plus(times(sine_series<Real, Last - 1, up - up_y, up_y>(y), y), Numbers{coefficient});
}

/// sin(2 pi turn / 2^32) for a turn of at most a quarter in magnitude.
VICINITY_HD float sine_within_quarter(std::int32_t turn) {
  const float z = times(to_float(turn), 9.31322574615478515625e-10f);  // quarter turns: 2^-30
  return times(sine_series<float, 4>(times(z, z)), z);
}
/// sin(2 pi phase / 2^32), off by less than 2e-7.
VICINITY_HD float sine(std::uint32_t phase) {
  auto turn = static_cast<std::int32_t>(phase);
  if (static_cast<std::int32_t>(phase ^ phase << 1) < 0) turn = static_cast<std::int32_t>(0x80000000u - phase);  // to the nearer half turn
  return sine_within_quarter(turn);
}
/// sin(2 pi phase / 2^64), off by less than 4e-16.
VICINITY_HD double sine(std::uint64_t phase) {
  auto turn = static_cast<std::int64_t>(phase);
  if (static_cast<std::int64_t>(phase ^ phase << 1) < 0) turn = static_cast<std::int64_t>(0x8000000000000000u - phase);
  const double z = times(to_double(turn), 2.168404344971008868014905601739883422852e-19);  // 2^-62
  return times(sine_series<double, 7>(times(z, z)), z);
}

/// b^(-h) = 2^(-1/4).
template <class Real>
inline constexpr Real ratio = static_cast<Real>(0.8408964152537145);

/// The sum over the terms of one coordinate, |x| <= 1, from the last term to the first: w = (w + sine) * ratio.
template <class Real>
VICINITY_HD Real of_coordinate(Real x) {
  const Turn<Real> turn = turn_of(x);
  constexpr int bits = 8 * sizeof(turn.word[0]);
  Real sum = 0;
  for (int i = terms; i > 0; --i) sum = times(plus(sum, sine(window(turn.word[i / bits], turn.word[i / bits + 1], i))), ratio<Real>);
  return x < 0 ? -sum : sum;
}

/// W may differ by this much, a coordinate, from the oracle's: rounding of the sines (2e-7, 4e-16), whose weights sum to 5.3, and of the
/// sums.
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
  const Real to = plus(x, displacement);
  return to > 1 ? plus(Real{2}, -to) : to < -1 ? plus(Real{-2}, -to) : to;
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
