#pragma once
// The moves of the hybrid search, and what each changes, in O(1) from prefix sums. Twins share these deltas and nothing of the loops
// around them.
//
// Nodes: 0 is the depot, 1 .. n the customers, n + 1 + r the start of route r. A move joins a customer u with v, one of its granular
// neighbours; a slot says which: 0 .. k-1 the neighbours, nearest first, k an empty route, whose start is v. With p, u, x and q, v, y as
// they stand on their routes (xx, yy: the ones after x, y; the depot at both ends), kinds are
//   relocate      u behind v: v u y
//   pair          (u x) behind v: v u x y;  pair_turned: before v, turned round: q x u v
//   swap          u with v;  swap_two_one: (u x) with v;  swap_two_two: (u x) with (v y)
//   two_opt       edges (u, v) and (x, y) for (u, x) and (v, y): on one route the part between them turns round; of two routes, u's becomes
//                 the head up to u and then v's head turned round, v's becomes the tail from x turned round and then the tail from y
//   tails         edges (u, v) and (q, x) for (u, x) and (q, v), of two routes: u's goes on with v, v's up to q goes on with x (2-opt*)
// and all but the swap of u with v once more with both routes seen from their ends (p for x, q for y; routes are turned, changed, and
// turned back): `forward` or not. To the empty route of least number go, forward, u (relocate), (u x) (pair), and all behind u (tails).
//
// Capacity and route limit are soft: what exceeds them costs penalties. Durations have distances and service times; the sum of all service
// times never changes, so that the change of the cost is that of the durations.
#include <cstdint>

#include "core/problems/vrp/vrp.hpp"
#include "core/util/hd.hpp"

namespace vicinity::alns::hybrid {

/// What a unit of load or duration beyond its limit costs, in 1 / 256 of a unit of cost.
struct Penalties {
  std::int64_t load, duration;
};
inline constexpr std::int64_t most_penalty = std::int64_t{1} << 30;

/// Of a route.
VICINITY_HD std::int64_t penalty(const vrp::View& vrp, const Penalties& penalties, std::int32_t load, std::int32_t duration) {
  const std::int64_t over = load > vrp.capacity ? std::int64_t{load} - vrp.capacity : 0;
  const std::int64_t late = duration > vrp.limit ? std::int64_t{duration} - vrp.limit : 0;
  return (over * penalties.load + late * penalties.duration) >> 8;
}

// --- kinds and codes ---------------------------------------------------------------------------------------------------

enum class Kind : std::int32_t { relocate, pair, pair_turned, swap, swap_two_one, swap_two_two, two_opt, tails };
inline constexpr std::int32_t kinds = 8, most_neighbors = 30;

/// Number of a move among those of its customer; ties between moves of one delta break by (customer, code).
VICINITY_HD std::int32_t code_of(std::int32_t slot, Kind kind, bool forward) {
  return slot * 2 * kinds + (forward ? 0 : kinds) + static_cast<std::int32_t>(kind);
}
VICINITY_HD std::int32_t slot_of(std::int32_t code) { return code / (2 * kinds); }
VICINITY_HD Kind kind_of(std::int32_t code) { return static_cast<Kind>(code % kinds); }
VICINITY_HD bool is_forward(std::int32_t code) { return code / kinds % 2 == 0; }

/// A customer's best move: of improving ones the least (delta, code). Deltas below -2^31 count as -2^31.
struct Best {
  std::int32_t delta = 0;
  std::int32_t code = -1;  ///< -1: no move improves

  VICINITY_HD void offer(std::int64_t d, std::int32_t c) {
    if (d > delta) return;
    const std::int32_t whole = d < -0x7FFFFFFF - 1 ? -0x7FFFFFFF - 1 : static_cast<std::int32_t>(d);
    if (whole < delta || (whole == delta && c < code)) delta = whole, code = c;
  }
};
/// The order in which moves claim routes: (delta, customer, code) in one word.
VICINITY_HD std::uint64_t claim_of(const Best& best, std::int32_t u) {
  const auto order = static_cast<std::uint32_t>(best.delta) ^ 0x80000000u;
  return static_cast<std::uint64_t>(order) << 32 | static_cast<std::uint32_t>(u) << 10 | static_cast<std::uint32_t>(best.code);
}
inline constexpr std::uint64_t no_claim = ~std::uint64_t{0};

// --- deltas ------------------------------------------------------------------------------------------------------------
// Tours is a solution with, for a customer u: next(u), prev(u) (0: the depot), route(u), load_to(u), duration_to(u): demands, and distances
// and services, from the depot to u, u included; for a route r: load(r), duration(r).

/// A solution seen in one direction of its routes.
template <bool forward, class Tours>
struct Directed {
  const vrp::View& vrp;
  const Tours& tours;

  [[nodiscard]] VICINITY_HD std::int32_t next(std::int32_t u) const { return forward ? tours.next(u) : tours.prev(u); }
  [[nodiscard]] VICINITY_HD std::int32_t prev(std::int32_t u) const { return forward ? tours.prev(u) : tours.next(u); }
  [[nodiscard]] VICINITY_HD std::int32_t load_to(std::int32_t u) const {
    return forward ? tours.load_to(u) : tours.load(tours.route(u)) - tours.load_to(u) + vrp.demand[u];
  }
  [[nodiscard]] VICINITY_HD std::int32_t duration_to(std::int32_t u) const {
    return forward ? tours.duration_to(u) : tours.duration(tours.route(u)) - tours.duration_to(u) + vrp.service[u];
  }
};

/// The moves of customer u in one direction. What concerns u alone is read once. Moves is what they are offered to: Best, or something that
/// has its `delta`, above which moves need not be offered, and offer().
template <bool forward, class Tours>
class Evaluator {
 public:
  VICINITY_HD Evaluator(const vrp::View& vrp, const Penalties& penalties, const Tours& tours, std::int32_t u)
      : d_(vrp), penalties_(penalties), at_{vrp, tours}, tours_(tours), u_(u), p_(at_.prev(u)), x_(at_.next(u)), r_(tours.route(u)) {
    xx_ = x_ == 0 ? 0 : at_.next(x_);
    d_ux_ = d_(u_, x_);
    out_one_ = d_(p_, x_) - d_(p_, u_) - d_ux_;
    if (x_ == 0) return;
    old_pair_ = d_(p_, u_) + d_ux_ + d_(x_, xx_);
    out_pair_ = d_(p_, xx_) - old_pair_;
  }

  /// All moves with neighbour v, which stands on a route.
  template <class Moves>
  VICINITY_HD void offer_all(std::int32_t v, std::int32_t slot, Moves& best) const {
    const std::int32_t q = at_.prev(v), y = at_.next(v), s = tours_.route(v), d_uv = d_(u_, v), d_vy = d_(v, y);
    const Place to{v, slot, s, s == r_, penalties_before(s)};
    if (v != p_) offer_exchange(to, Kind::relocate, out_one_, d_uv + d_(u_, y) - d_vy, d_.demand[u_], d_.service[u_], best);
    if (v == x_) return;
    const std::int32_t d_qv = d_(q, v), d_xy = d_(x_, y);
    if (x_ != 0) {
      const std::int32_t load = d_.demand[u_] + d_.demand[x_], served = d_.service[u_] + d_.service[x_];
      if (v != p_) offer_exchange(to, Kind::pair, out_pair_, d_uv + d_ux_ + d_xy - d_vy, load, served, best);
      if (v != xx_) offer_exchange(to, Kind::pair_turned, out_pair_, d_(q, x_) + d_ux_ + d_uv - d_qv, load, served, best);
    }
    if (v != p_) offer_swaps(to, q, y, d_qv, d_vy, d_xy, best);
    const std::int32_t two_opt = d_uv + d_xy - d_ux_ - d_vy;
    if (two_opt - to.before <= best.delta) {
      if (to.same)
        offer_within(to, Kind::two_opt, two_opt, best);
      else
        offer_two_opt(to, d_uv + d_xy, d_uv, d_vy, d_xy, best);
    }
    if (!to.same) offer_tails(to, q, d_uv, d_qv, best);
  }

  /// Moves to an empty route, all of them forward: u, (u x), the whole tail behind u.
  template <class Moves>
  VICINITY_HD void offer_empty(std::int32_t slot, Moves& best) const {
    static_assert(forward);
    if (p_ == 0 && x_ == 0) return;
    const Place to{0, slot, -1, false, penalties_before(r_)};
    offer_exchange(to, Kind::relocate, out_one_, d_(0, u_) + d_(u_, 0), d_.demand[u_], d_.service[u_], best);
    if (x_ == 0) return;
    if (p_ != 0 || xx_ != 0)
      offer_exchange(to, Kind::pair, out_pair_, d_(0, u_) + d_ux_ + d_(x_, 0), d_.demand[u_] + d_.demand[x_],
                     d_.service[u_] + d_.service[x_], best);
    const std::int32_t load = at_.load_to(u_), duration = at_.duration_to(u_);
    const std::int64_t after =
        of(load, duration + d_(u_, 0)) + of(tours_.load(r_) - load, tours_.duration(r_) - duration - d_ux_ + d_(0, x_));
    best.offer(d_(u_, 0) + d_(0, x_) - d_ux_ + after - to.before, code_of(slot, Kind::tails, true));
  }

 private:
  /// Where v is; `before` are the penalties of the routes that a move changes.
  struct Place {
    std::int32_t v, slot, s;
    bool same;
    std::int64_t before;
  };

  [[nodiscard]] VICINITY_HD std::int64_t of(std::int32_t load, std::int32_t duration) const {
    return penalty(d_, penalties_, load, duration);
  }
  [[nodiscard]] VICINITY_HD std::int64_t penalties_before(std::int32_t s) const {
    const std::int64_t mine = of(tours_.load(r_), tours_.duration(r_));
    return s == r_ ? mine : mine + of(tours_.load(s), tours_.duration(s));
  }

  template <class Moves>
  VICINITY_HD void offer_within(const Place& to, Kind kind, std::int32_t delta, Moves& best) const {
    best.offer(delta + of(tours_.load(r_), tours_.duration(r_) + delta) - to.before, code_of(to.slot, kind, forward));
  }
  /// The distance of u's route changes by `out`, and it loses `load` and `served`; that of v's route changes by `in`, and it gains them.
  template <class Moves>
  VICINITY_HD void offer_exchange(const Place& to, Kind kind, std::int32_t out, std::int32_t in, std::int32_t load, std::int32_t served,
                                  Moves& best) const {
    const std::int64_t delta = std::int64_t{out} + in;
    if (delta - to.before > best.delta) return;  // penalties are never negative
    if (to.same) return offer_within(to, kind, out + in, best);
    const std::int32_t other_load = to.s < 0 ? 0 : tours_.load(to.s), other_duration = to.s < 0 ? 0 : tours_.duration(to.s);
    const std::int64_t after =
        of(tours_.load(r_) - load, tours_.duration(r_) + out - served) + of(other_load + load, other_duration + in + served);
    best.offer(delta + after - to.before, code_of(to.slot, kind, forward));
  }
  template <class Moves>
  VICINITY_HD void offer_swaps(const Place& to, std::int32_t q, std::int32_t y, std::int32_t d_qv, std::int32_t d_vy, std::int32_t d_xy,
                               Moves& best) const {
    const std::int32_t v = to.v, d_pv = d_(p_, v), d_qu = d_(q, u_), load_v = d_.demand[v], served_v = d_.service[v];
    if (forward)
      offer_exchange(to, Kind::swap, d_pv + d_(v, x_) - d_(p_, u_) - d_ux_, d_qu + d_(u_, y) - d_qv - d_vy, d_.demand[u_] - load_v,
                     d_.service[u_] - served_v, best);
    if (x_ == 0 || v == xx_) return;
    const std::int32_t load = d_.demand[u_] + d_.demand[x_] - load_v, served = d_.service[u_] + d_.service[x_] - served_v;
    offer_exchange(to, Kind::swap_two_one, d_pv + d_(v, xx_) - old_pair_, d_qu + d_ux_ + d_xy - d_qv - d_vy, load, served, best);
    if (y == 0 || y == p_) return;
    const std::int32_t yy = at_.next(y);
    offer_exchange(to, Kind::swap_two_two, d_pv + d_vy + d_(y, xx_) - old_pair_, d_qu + d_ux_ + d_(x_, yy) - d_qv - d_vy - d_(y, yy),
                   load - d_.demand[y], served - d_.service[y], best);
  }
  /// Heads up to u and v are joined, and tails from x and y.
  template <class Moves>
  VICINITY_HD void offer_two_opt(const Place& to, std::int32_t added, std::int32_t d_uv, std::int32_t d_vy, std::int32_t d_xy,
                                 Moves& best) const {
    const std::int32_t load = at_.load_to(u_) + at_.load_to(to.v), heads = at_.duration_to(u_) + at_.duration_to(to.v);
    const std::int32_t tails = tours_.duration(r_) - at_.duration_to(u_) - d_ux_ + (tours_.duration(to.s) - at_.duration_to(to.v) - d_vy);
    const std::int64_t after = of(load, heads + d_uv) + of(tours_.load(r_) - load + tours_.load(to.s), tails + d_xy);
    best.offer(added - d_ux_ - d_vy + after - to.before, code_of(to.slot, Kind::two_opt, forward));
  }
  /// The head up to u goes on with v, that up to q with x.
  template <class Moves>
  VICINITY_HD void offer_tails(const Place& to, std::int32_t q, std::int32_t d_uv, std::int32_t d_qv, Moves& best) const {
    const std::int32_t d_qx = d_(q, x_), delta = d_uv + d_qx - d_ux_ - d_qv;
    if (delta - to.before > best.delta) return;
    const std::int32_t load_q = at_.load_to(to.v) - d_.demand[to.v], to_v = at_.duration_to(to.v) - d_.service[to.v];
    const std::int32_t load_u = at_.load_to(u_), to_u = at_.duration_to(u_);
    const std::int64_t after = of(load_u + (tours_.load(to.s) - load_q), to_u + d_uv + (tours_.duration(to.s) - to_v)) +
                               of(load_q + (tours_.load(r_) - load_u), to_v - d_qv + d_qx + (tours_.duration(r_) - to_u - d_ux_));
    best.offer(delta + after - to.before, code_of(to.slot, Kind::tails, forward));
  }

  const vrp::View& d_;
  const Penalties& penalties_;
  Directed<forward, Tours> at_;
  const Tours& tours_;
  std::int32_t u_, p_, x_, r_, xx_ = 0;
  std::int32_t d_ux_ = 0, out_one_ = 0;       ///< what u's route loses with u
  std::int32_t old_pair_ = 0, out_pair_ = 0;  ///< (p u) + (u x) + (x xx); what u's route loses with (u x)
};

}  // namespace vicinity::alns::hybrid
