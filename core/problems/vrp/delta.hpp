#pragma once
// What the moves of vehicle routing change, in O(1). `d(a, b)` is the distance of two places in fixed point; a and b are neighbours on a
// route, a before b, the depot (0) at both its ends; an empty route goes from 0 to 0. New edges are added before old ones are taken off: no
// sum leaves 32 bits (core/problems/vrp/vrp.hpp, 1). Distances are symmetric.
#include <cstdint>

#include "core/problems/vrp/vrp.hpp"
#include "core/util/hd.hpp"

namespace vicinity::vrp {

/// Change of the cost when `customer` is inserted between a and b (section 3.4, Algorithm 3, line 5).
template <class Distance>
[[nodiscard]] VICINITY_HD std::int32_t insertion_delta(const Distance& d, std::int32_t a, std::int32_t customer, std::int32_t b) {
  return d(a, customer) + d(customer, b) - d(a, b);
}

/// Change of the cost when `customer` is removed, which stands between a and b.
template <class Distance>
[[nodiscard]] VICINITY_HD std::int32_t removal_delta(const Distance& d, std::int32_t a, std::int32_t customer, std::int32_t b) {
  return d(a, b) - d(a, customer) - d(customer, b);
}

/// Change of the cost when the part from b to c of a route turns round: a b ... c e becomes a c ... b e.
template <class Distance>
[[nodiscard]] VICINITY_HD std::int32_t two_opt_delta(const Distance& d, std::int32_t a, std::int32_t b, std::int32_t c, std::int32_t e) {
  return d(a, c) + d(b, e) - d(a, b) - d(c, e);
}

/// Does `customer` fit into a route of this load and duration, which its insertion makes longer by `delta`?
[[nodiscard]] VICINITY_HD bool fits(const View& vrp, std::int32_t load, std::int32_t duration, std::int32_t customer, std::int32_t delta) {
  return load + vrp.demand[customer] <= vrp.capacity && duration + delta + vrp.service[customer] <= vrp.limit;
}

}  // namespace vicinity::vrp
