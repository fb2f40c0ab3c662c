#pragma once
// 64-bit content digests: equal content gives equal digests on every machine.
#include <cstdint>

#include "core/util/hd.hpp"

namespace vicinity {

/// Bijective 64-bit mixer (the finaliser of splitmix64, Steele et al. 2014).
VICINITY_HD constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

/// Order-dependent digest of a sequence of words.
class Digest {
 public:
  VICINITY_HD constexpr void add(std::uint64_t word) { value_ = mix(value_ + 0x9E3779B97F4A7C15ull + mix(word)); }

  /// Every element of a range of whole numbers.
  template <class Range>
  requires requires(const Range& range) { range.begin(); }
  constexpr void add(const Range& words) {
    for (const auto word : words) add(static_cast<std::uint64_t>(word));
  }

  [[nodiscard]] VICINITY_HD constexpr std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

}  // namespace vicinity
