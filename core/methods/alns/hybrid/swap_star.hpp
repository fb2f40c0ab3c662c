#pragma once
// SWAP* (Vidal 2022, "Hybrid genetic search for the CVRP"): customers u of route r and v of route s change routes, each to its best place
// in the other's; or one of them alone does. Looked at where local search by neighbours is at its end. Twins share these definitions.
//
// A place in a route is that behind a customer `after`, or behind the depot (0). Of a customer in another route the three cheapest places
// are kept, least (delta, position). With v gone from s, u takes the cheapest of v's own place and the first of the three that does not
// touch v; equal ones: v's own place. Pairs are looked at where distances that fall away and the change of the load's penalty make less
// than nothing together. Best: least (delta, u, v), 0 for none; u alone, and v alone, count where u or v may leave. A change is worth its
// distance and all penalties of both routes.
#include <cstdint>

#include "core/methods/alns/hybrid/moves.hpp"
#include "core/problems/vrp/vrp.hpp"
#include "core/util/hd.hpp"

namespace vicinity::alns::hybrid {

inline constexpr std::int32_t longest_exchanging = 20;

/// Around the depot, by rank, there are 64 sectors; a bit for each one that has a customer of the route.
VICINITY_HD std::uint64_t sector_of(std::int32_t rank, std::int32_t n) { return std::uint64_t{1} << (std::int64_t{rank} * 64 / n); }
/// May routes of these sectors exchange customers? Where they share a sector, or have two beside each other.
VICINITY_HD bool overlap(std::uint64_t a, std::uint64_t b) { return (a & (b | b << 1 | b >> 63 | b >> 1 | b << 63)) != 0; }

struct Place {
  std::int32_t delta = 0x7FFFFFFF;
  std::int32_t position = 0x7FFFFFFF;  ///< of the customer in front, from 1 on; 0: the depot
};

/// The three cheapest places of a customer in a route; offer() them in any order.
struct Places {
  Place best[3];

  VICINITY_HD void offer(Place place) {
    for (Place& kept : best) {
      if (place.delta > kept.delta || (place.delta == kept.delta && place.position > kept.position)) continue;
      const Place pushed = kept;
      kept = place;
      place = pushed;
    }
  }
  /// The cheapest where the customer at `position` (from 1 on) leaves; `own`: the delta at its place, which counts as position -1.
  [[nodiscard]] VICINITY_HD Place without(std::int32_t position, std::int32_t own) const {
    for (const Place& place : best) {
      if (place.position == position || place.position == position - 1) continue;
      return place.delta < own ? place : Place{own, -1};
    }
    return {own, -1};
  }
};

/// Of a pair of routes r < s; u of r, v of s, 0: none.
struct Exchange {
  std::int64_t delta = 0;
  std::int32_t u = 0, v = 0;
  std::int32_t u_position = 0, v_position = 0;  ///< places that they take, as in Places

  [[nodiscard]] VICINITY_HD bool before(const Exchange& other) const {
    if (delta != other.delta) return delta < other.delta;
    return u != other.u ? u < other.u : v < other.v;
  }
};

/// The order in which exchanges claim routes: (delta, r, s) in one word; deltas below -2^31 count as -2^31.
VICINITY_HD std::uint64_t claim_of(const Exchange& exchange, std::int32_t r, std::int32_t s) {
  const std::int32_t delta = exchange.delta < -0x7FFFFFFF - 1 ? -0x7FFFFFFF - 1 : static_cast<std::int32_t>(exchange.delta);
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(delta) ^ 0x80000000u) << 32 | static_cast<std::uint32_t>(r) << 16 |
         static_cast<std::uint32_t>(s);
}

/// Load and duration of a route.
struct Carried {
  std::int32_t load, duration;
};

/// What exchanges change; `r` and `s` as they are.
struct PairOfRoutes {
  const vrp::View& vrp;
  const Penalties& penalties;
  Carried r, s;

  /// Distances that change by `in_r` and `in_s`.
  [[nodiscard]] VICINITY_HD std::int64_t delta(std::int32_t u, std::int32_t v, std::int32_t in_r, std::int32_t in_s) const {
    const std::int32_t load = vrp.demand[v] - vrp.demand[u], served = vrp.service[v] - vrp.service[u];
    return std::int64_t{in_r} + in_s + of(r.load + load, r.duration + in_r + served) + of(s.load - load, s.duration + in_s - served) -
           of(r.load, r.duration) - of(s.load, s.duration);
  }
  /// Is the pair looked at, whose removal changes distances by these?
  [[nodiscard]] VICINITY_HD bool promises(std::int32_t u, std::int32_t v, std::int32_t removal_u, std::int32_t removal_v) const {
    const std::int32_t load = vrp.demand[v] - vrp.demand[u];
    return std::int64_t{removal_u} + removal_v + of(r.load + load, 0) + of(s.load - load, 0) < of(r.load, 0) + of(s.load, 0);
  }

 private:
  [[nodiscard]] VICINITY_HD std::int64_t of(std::int32_t load, std::int32_t duration) const {
    return penalty(vrp, penalties, load, duration);
  }
};

}  // namespace vicinity::alns::hybrid
