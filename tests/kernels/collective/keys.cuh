#pragma once
// Keys of which host and device know all: what each worker has in each step.
#include <cstdint>

#include "kernels/cuda/collective/key.cuh"

namespace vicinity::cuda {

using Key57 = Key<std::uint32_t, std::uint32_t, 32, 25>;
using Key62 = Key<std::uint32_t, std::uint32_t, 31, 31>;
using Key64 = Key<std::uint32_t, std::uint32_t>;
using Key96 = Key<std::uint64_t, std::uint32_t>;

/// A key that is neither a number nor two.
struct PointKey {
  std::int32_t x = 1 << 30, y = 0, z = 0;

  [[nodiscard]] VICINITY_HD bool before(const PointKey& other) const {
    return x != other.x ? x < other.x : y != other.y ? y < other.y : z < other.z;
  }
  [[nodiscard]] friend VICINITY_HD bool operator==(const PointKey& a, const PointKey& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
};

/// What the workers have.
enum class Draw { random, ties, all_equal, one, none };
inline constexpr Draw all_draws[]{Draw::random, Draw::ties, Draw::all_equal, Draw::one, Draw::none};

[[nodiscard]] VICINITY_HD std::uint64_t hashed(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

template <OrderedKey K>
[[nodiscard]] VICINITY_HD K key_at(Draw draw, std::uint32_t step, std::uint32_t worker, std::uint32_t workers) {
  const std::uint64_t drawn = hashed((std::uint64_t{step} << 32 | worker) + 0x9E3779B97F4A7C15u);
  std::uint64_t high = drawn, low = hashed(drawn + 1);
  if (draw == Draw::none || (draw == Draw::one && worker != hashed(step) % workers)) return no_key<K>();
  if (draw == Draw::ties) high %= 3;
  if (draw == Draw::all_equal) high = low = hashed(step);
  if constexpr (std::unsigned_integral<K>) {
    return static_cast<K>(high);
  } else if constexpr (TwoPartKey<K>) {
    K key;  // below no key, which has all bits set
    key.high &= static_cast<decltype(key.high)>(high);
    key.low &= static_cast<decltype(key.low)>(low);
    return key;
  } else {
    return {static_cast<std::int32_t>(high % 1000), static_cast<std::int32_t>(low % 5), static_cast<std::int32_t>(low >> 40)};
  }
}
/// The least of the keys of workers first, first + 1, ... below `last`.
template <OrderedKey K>
[[nodiscard]] K least_of(Draw draw, std::uint32_t step, std::uint32_t last, std::uint32_t workers) {
  K least = no_key<K>();
  for (std::uint32_t w = 0; w < last; ++w) {
    const K key = key_at<K>(draw, step, w, workers);
    if (before(key, least)) least = key;
  }
  return least;
}

/// A while, or none, of a block in a step.
__device__ inline void delay(std::uint32_t step) {
  const std::uint64_t drawn = hashed(std::uint64_t{step} << 20 | blockIdx.x);
  if (drawn % 16 == 0) __nanosleep(static_cast<unsigned>(drawn >> 32) % 2000);
}

}  // namespace vicinity::cuda
