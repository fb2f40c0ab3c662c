#pragma once
// The Metropolis test exp(-delta / T) >= u as a comparison of delta / T with -ln u. All floating point here is multiplications and
// additions, each rounded by itself: the same on every machine.
#include <cstdint>

#include "core/util/hd.hpp"
#include "core/util/unfused.hpp"

namespace vicinity {

/// -ln((word + 1/2) / 2^32), at least 0; off by less than 4e-7 and the rounding, 1.2e-7 of it. Range reduction to [sqrt(1/2), sqrt(2)) and
/// a polynomial of degree 7.
VICINITY_HD float threshold(std::uint32_t word) {
  constexpr std::int32_t root_half = 0x3F3504F3;
  const std::int32_t bits = bits_of(plus(to_float(word), 0.5f));
  const std::int32_t exponent = (bits - root_half) >> 23;
  const float t = plus(float_of(bits - exponent * (1 << 23)), -1.0f);
  float p = 0.118254282f;
  p = plus(times(p, t), -0.189015403f);
  p = plus(times(p, t), 0.206050649f);
  p = plus(times(p, t), -0.248813853f);
  p = plus(times(p, t), 0.333032757f);
  p = plus(times(p, t), -0.50001967f);
  p = plus(times(p, t), 1.00000322f);
  const float value = plus(times(static_cast<float>(32 - exponent), 0.693147182f), -times(p, t));
  return value > 0 ? value : 0.0f;
}

/// No threshold is higher.
inline constexpr float highest_threshold = 22.9f;

}  // namespace vicinity
