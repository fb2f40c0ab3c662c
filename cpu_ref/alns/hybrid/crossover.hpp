#pragma once
// A child by crossover: two parents as giant tours, order crossover, and the cheapest cut of the result into routes.
#include <cstdint>
#include <vector>

#include "core/methods/alns/hybrid/granular.hpp"
#include "core/methods/alns/hybrid/hybrid.hpp"
#include "cpu_ref/alns/hybrid/local_search.hpp"

namespace vicinity::alns::hybrid {

/// All customers, route after route; routes by the rank of their customer farthest from the depot, the one of least number of equals.
[[nodiscard]] std::vector<std::int32_t> giant_tour(const vrp::View& vrp, const Granular& granular, const Routes& routes);

/// Order crossover (OX): the customers of a from a drawn position to another one, going round, then the missing ones in b's order from
/// behind the second position on. Draws: the two positions.
[[nodiscard]] std::vector<std::int32_t> order_crossover(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b,
                                                        Stream& stream);

/// The cheapest cut of an order into routes under penalties, least (cost, predecessor). No route carries more than 3/2 of the capacity or
/// lasts longer than 3/2 of the limit, but for single customers. When there are more routes than may be, those of least (load, -number) are
/// dissolved, and their customers inserted in order where that costs least: least (change of cost and penalty, route, position).
[[nodiscard]] Routes split(const vrp::View& vrp, const Granular& granular, const Penalties& penalties,
                           const std::vector<std::int32_t>& order);

}  // namespace vicinity::alns::hybrid
