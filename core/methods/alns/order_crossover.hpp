#pragma once
#include <cstdint>
#include <vector>

namespace vicinity::alns {

/// Order crossover (OX) of two orders of the same customers: those of a from one position to another one, both included, going round, then
/// the missing ones in b's order from behind the second position on.
[[nodiscard]] std::vector<std::int32_t> order_crossover(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b,
                                                        std::int32_t from, std::int32_t to);

}  // namespace vicinity::alns
