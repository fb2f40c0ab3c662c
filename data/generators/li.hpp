#pragma once
#include <cstdint>
#include <string>

#include "core/problems/vrp/vrp.hpp"

namespace vicinity {

/// The generator of Li, Golden and Wasil 2005 (instances 21 to 32): the depot at (0, 0); on each of `rings` rings around it, the k-th of
/// radius 30 k, `per_ring` customers at equal angles, the first at angle 0, with coordinates of 4 decimals. Demand 30 where a customer's
/// number on its ring leaves 2 or 3 when divided by 4, else 10. Throws InputError for numbers below 1 or more than vrp::most_customers.
[[nodiscard]] vrp::Data li_rings(std::string name, int per_ring, int rings, int capacity, int limit);

/// How Bach, Hasle and Schulz made BHS 1 to 4 (section 4): Li instances merged, overlapping customers once, and `customers` of them drawn
/// at random; here those whose rank in the shuffle of `seed` is below that number, so that the smaller of two instances of a seed is part
/// of the larger. All twelve Li instances have 3040 different places, Li 32 and Li 27 have the paper's 2000 together: these two are merged,
/// and a customer of both has the demand of Li 32. Throws InputError for a number outside 1..2000.
[[nodiscard]] vrp::Data li_merged(std::string name, int customers, std::uint64_t seed, int capacity, int limit);

}  // namespace vicinity
