#include "core/util/permutation.hpp"

#include <numeric>
#include <utility>

#include "core/util/rng.hpp"

namespace vicinity {

std::vector<std::int32_t> shuffled(std::int32_t n, std::uint64_t seed, std::uint32_t stream) {
  std::vector<std::int32_t> p(static_cast<std::size_t>(n));
  std::iota(p.begin(), p.end(), 0);
  for (std::size_t i = p.size(); i-- > 1;) std::swap(p[i], p[scale_to(random_bits(seed, i, 0, stream), i + 1)]);
  return p;
}

std::string permutation_complaint(std::int32_t n, std::span<const std::int32_t> p, const std::string& thing) {
  if (p.size() != static_cast<std::size_t>(n)) return std::to_string(p.size()) + " places for " + std::to_string(n) + " of " + thing;
  std::vector<char> seen(p.size());
  for (const std::int32_t x : p) {
    if (x < 0 || x >= n) return thing + " " + std::to_string(x) + " is outside 0.." + std::to_string(n - 1);
    if (std::exchange(seen[static_cast<std::size_t>(x)], 1) != 0) return thing + " " + std::to_string(x) + " twice";
  }
  return "";
}

}  // namespace vicinity
