#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace vicinity {

/// A uniform shuffle of 0..n-1 (Fisher and Yates), drawn from `stream` of the seed.
[[nodiscard]] std::vector<std::int32_t> shuffled(std::int32_t n, std::uint64_t seed, std::uint32_t stream);

/// What keeps `p` from being a permutation of 0..n-1, in one line; empty when nothing does. `thing` is what is placed: "city".
[[nodiscard]] std::string permutation_complaint(std::int32_t n, std::span<const std::int32_t> p, const std::string& thing);

}  // namespace vicinity
