#pragma once
// The cheapest cut of an order of all customers into routes.
#include <cstdint>
#include <vector>

#include "core/methods/alns/hybrid/granular.hpp"
#include "core/methods/alns/hybrid/moves.hpp"
#include "core/methods/alns/hybrid/population.hpp"
#include "core/util/interruption.hpp"

namespace vicinity::alns::hybrid {

/// The cheapest cut of an order into routes under penalties, least (cost, predecessor). No route carries more than 3/2 of the capacity or
/// lasts longer than 3/2 of the limit, but for single customers. When there are more routes than may be, those of least (load, -number) are
/// dissolved, and their customers inserted in order where that costs least: least (change of cost and penalty, route, position).
[[nodiscard]] Routes split(const vrp::View& vrp, const Granular& granular, const Penalties& penalties,
                           const std::vector<std::int32_t>& order, const Interruption& interruption = Interruption());

}  // namespace vicinity::alns::hybrid
