#pragma once
// Small instances of vehicle routing for tests.
#include <cstdint>

#include "core/problems/vrp/vrp.hpp"
#include "core/util/rng.hpp"

namespace vicinity {

/// n customers with demands of 1 to 9, and the depot, at random whole coordinates of a square of 100.
inline vrp::Vrp in_a_square(std::int32_t n, std::uint64_t seed, std::int32_t capacity) {
  vrp::Data data;
  std::uint32_t draw = 0;
  const auto below = [&](std::uint64_t bound) { return static_cast<std::int32_t>(scale_to(random_bits(seed, 9, 0, draw++), bound)); };
  for (std::int32_t i = 0; i <= n; ++i) {
    data.x.push_back(below(100));
    data.y.push_back(below(100));
    data.demand.push_back(i == 0 ? 0 : 1 + below(9));
  }
  data.capacity = capacity;
  return vrp::Vrp(data);
}

}  // namespace vicinity
