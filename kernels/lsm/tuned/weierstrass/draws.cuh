#pragma once
// The random numbers of the crowns by blocks of the generator, for search.cu and the generic engine.
#include <cstdint>

#include "core/problems/weierstrass/weierstrass.hpp"

namespace vicinity::lsm {

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
