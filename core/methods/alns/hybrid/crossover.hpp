#pragma once
// Crossover of the hybrid search: parents as giant tours, and order crossover. On the host, the same for all twins; what cuts the child
// into routes is theirs.
#include <cstdint>
#include <vector>

#include "core/methods/alns/hybrid/granular.hpp"
#include "core/methods/alns/hybrid/hybrid.hpp"
#include "core/methods/alns/hybrid/population.hpp"

namespace vicinity::alns::hybrid {

/// All customers, route after route; routes by the rank of their customer farthest from the depot, the one of least number of equals.
[[nodiscard]] std::vector<std::int32_t> giant_tour(const vrp::View& vrp, const Granular& granular, const Routes& routes);

/// Order crossover (order_crossover.hpp); draws the two positions.
[[nodiscard]] std::vector<std::int32_t> order_crossover(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b,
                                                        Stream& stream);

}  // namespace vicinity::alns::hybrid
