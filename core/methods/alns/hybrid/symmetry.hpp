#pragma once
// Symmetries of an instance in the plane: turns around the depot and reflections that map customers to customers of the same demand and
// service time. Instances of rings or stars have many, and a solution as many images of the same cost, which share no edge: a population of
// them is diverse to the eye, and children of two of them are worth nothing. So solutions are kept in the image that is closest to the best
// one (population.hpp).
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/problems/vrp/vrp.hpp"

namespace vicinity::alns::hybrid {

/// [customer] its image; of the depot: the depot.
using Symmetry = std::vector<std::int32_t>;

inline constexpr std::size_t most_symmetries = 128;

/// All but the identity; none without coordinates or where customers coincide. An image may be off by a fiftieth of the least distance of
/// two customers: files round coordinates. Cost: n for each customer of the smallest class of like demand, service and distance from the
/// depot.
[[nodiscard]] std::vector<Symmetry> symmetries_of(const vrp::Vrp& vrp);

}  // namespace vicinity::alns::hybrid
