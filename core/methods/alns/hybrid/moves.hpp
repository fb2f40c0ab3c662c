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
inline constexpr std::int64_t most_penalty = 256 * vrp::dearest_load;

/// Of a route. Penalties are at most most_penalty: two products of 32 bits.
VICINITY_HD std::int64_t penalty(const vrp::View& vrp, const Penalties& penalties, std::int32_t load, std::int32_t duration) {
  const std::int32_t over = load > vrp.capacity ? load - vrp.capacity : 0, late = duration > vrp.limit ? duration - vrp.limit : 0;
  return (std::int64_t{over} * static_cast<std::int32_t>(penalties.load) +
          std::int64_t{late} * static_cast<std::int32_t>(penalties.duration)) >>
         8;
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
// Tours is a solution with, for a customer u: next(u), prev(u) (0: the depot), to_next(u), to_prev(u): the lengths of these edges,
// route(u), load_to(u), duration_to(u): demands, and distances and services, from the depot to u, u included; for a route r: load(r),
// duration(r). next(0), prev(0), to_next(0) and to_prev(0) are 0.

/// Customer u on its route, pp p u x xx, and the lengths of the four edges. Beyond the depot stands the depot.
struct Around {
  std::int32_t pp, p, x, xx;
  std::int32_t pp_p, pu, ux, x_xx;

  template <class Tours>
  [[nodiscard]] static VICINITY_HD Around of(const Tours& tours, std::int32_t u) {
    const std::int32_t p = tours.prev(u), x = tours.next(u);
    return {tours.prev(p), p, x, tours.next(x), tours.to_prev(p), tours.to_prev(u), tours.to_next(u), tours.to_next(x)};
  }
  [[nodiscard]] VICINITY_HD Around turned() const { return {xx, x, p, pp, x_xx, ux, pu, pp_p}; }
};

/// Distances between what stands around u and around v: qq q v y yy.
struct Across {
  std::int32_t uv, uq, uy, xv, xy, xq, pv, py, pq, xx_v, xx_y, x_yy, pp_v, pp_q, p_qq;

  /// Of rows of the customers around u alone, which are the same for all v; reads that do not wait for each other.
  [[nodiscard]] static VICINITY_HD Across of(const vrp::View& d, std::int32_t u, const Around& a, std::int32_t v, const Around& b) {
    return {d(u, v),     d(u, b.p),  d(u, b.x),    d(a.x, v),    d(a.x, b.x), d(a.x, b.p),  d(a.p, v),   d(a.p, b.x),
            d(a.p, b.p), d(a.xx, v), d(a.xx, b.x), d(a.x, b.xx), d(a.pp, v),  d(a.pp, b.p), d(a.p, b.pp)};
  }
  [[nodiscard]] VICINITY_HD Across turned() const { return {uv, uy, uq, pv, pq, py, xv, xq, xy, pp_v, pp_q, p_qq, xx_v, xx_y, x_yy}; }
};

/// The moves of customer u. What concerns u alone is read once. Moves is what they are offered to: Best, or something that has its
/// `delta`, above which moves need not be offered, and offer().
template <class Tours>
class Evaluator {
 public:
  VICINITY_HD Evaluator(const vrp::View& vrp, const Penalties& penalties, const Tours& tours, std::int32_t u)
      : d_(vrp),
        penalties_(penalties),
        tours_(tours),
        u_(u),
        r_(tours.route(u)),
        around_(Around::of(tours, u)),
        px_(vrp(around_.p, around_.x)),
        p_xx_(vrp(around_.p, around_.xx)),
        x_pp_(vrp(around_.x, around_.pp)),
        before_(of(tours.load(r_), tours.duration(r_))) {}

  /// All moves with neighbour v, which stands on a route.
  template <class Moves>
  VICINITY_HD void offer_all(std::int32_t v, std::int32_t slot, Moves& best) const {
    const Around around_v = Around::of(tours_, v);
    const Across across = Across::of(d_, u_, around_, v, around_v);
    const std::int32_t s = tours_.route(v);
    const Place to{v, slot, s, s == r_, s == r_ ? before_ : before_ + of(tours_.load(s), tours_.duration(s))};
    offer_directed<true>(to, around_, around_v, across, p_xx_, best);
    offer_directed<false>(to, around_.turned(), around_v.turned(), across.turned(), x_pp_, best);
  }

  /// Moves to an empty route, all of them forward: u, (u x), the whole tail behind u.
  template <class Moves>
  VICINITY_HD void offer_empty(std::int32_t slot, Moves& best) const {
    const auto [pp, p, x, xx, pp_p, pu, ux, x_xx] = around_;
    if (p == 0 && x == 0) return;
    const Place to{0, slot, -1, false, before_};
    const std::int32_t to_u = d_(0, u_), to_x = d_(0, x);
    offer_exchange<true>(to, Kind::relocate, px_ - pu - ux, to_u + to_u, d_.demand[u_], d_.service[u_], best);
    if (x == 0) return;
    if (p != 0 || xx != 0)
      offer_exchange<true>(to, Kind::pair, p_xx_ - pu - ux - x_xx, to_u + ux + to_x, d_.demand[u_] + d_.demand[x],
                           d_.service[u_] + d_.service[x], best);
    const std::int32_t load = tours_.load_to(u_), duration = tours_.duration_to(u_);
    const std::int64_t after = of(load, duration + to_u) + of(tours_.load(r_) - load, tours_.duration(r_) - duration - ux + to_x);
    best.offer(to_u + to_x - ux + after - to.before, code_of(slot, Kind::tails, true));
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
  /// From the depot to customer c, c included, in one direction.
  template <bool forward>
  [[nodiscard]] VICINITY_HD std::int32_t load_to(std::int32_t c, std::int32_t route) const {
    return forward ? tours_.load_to(c) : tours_.load(route) - tours_.load_to(c) + d_.demand[c];
  }
  template <bool forward>
  [[nodiscard]] VICINITY_HD std::int32_t duration_to(std::int32_t c, std::int32_t route) const {
    return forward ? tours_.duration_to(c) : tours_.duration(route) - tours_.duration_to(c) + d_.service[c];
  }

  /// What stands around u and v, and the distances, seen in that direction.
  template <bool forward, class Moves>
  VICINITY_HD void offer_directed(const Place& to, const Around& a, const Around& b, const Across& d, std::int32_t p_xx,
                                  Moves& best) const {
    const std::int32_t v = to.v, qv = b.pu, vy = b.ux;
    const std::int32_t out_one = px_ - a.pu - a.ux, old_pair = a.pu + a.ux + a.x_xx, out_pair = p_xx - old_pair;
    if (v != a.p) offer_exchange<forward>(to, Kind::relocate, out_one, d.uv + d.uy - vy, d_.demand[u_], d_.service[u_], best);
    if (v == a.x) return;
    if (a.x != 0) {
      const std::int32_t load = d_.demand[u_] + d_.demand[a.x], served = d_.service[u_] + d_.service[a.x];
      if (v != a.p) offer_exchange<forward>(to, Kind::pair, out_pair, d.uv + a.ux + d.xy - vy, load, served, best);
      if (v != a.xx) offer_exchange<forward>(to, Kind::pair_turned, out_pair, d.xq + a.ux + d.uv - qv, load, served, best);
    }
    if (v != a.p) offer_swaps<forward>(to, a, b, d, old_pair, best);
    const std::int32_t two_opt = d.uv + d.xy - a.ux - vy;
    if (two_opt - to.before <= best.delta) {
      if (to.same)
        offer_within<forward>(to, Kind::two_opt, two_opt, best);
      else
        offer_two_opt<forward>(to, a, b, d, two_opt, best);
    }
    if (!to.same) offer_tails<forward>(to, a, b, d, best);
  }

  template <bool forward, class Moves>
  VICINITY_HD void offer_within(const Place& to, Kind kind, std::int32_t delta, Moves& best) const {
    best.offer(delta + of(tours_.load(r_), tours_.duration(r_) + delta) - to.before, code_of(to.slot, kind, forward));
  }
  /// The distance of u's route changes by `out`, and it loses `load` and `served`; that of v's route changes by `in`, and it gains them.
  template <bool forward, class Moves>
  VICINITY_HD void offer_exchange(const Place& to, Kind kind, std::int32_t out, std::int32_t in, std::int32_t load, std::int32_t served,
                                  Moves& best) const {
    const std::int64_t delta = std::int64_t{out} + in;
    if (delta - to.before > best.delta) return;  // penalties are never negative
    if (to.same) return offer_within<forward>(to, kind, out + in, best);
    const std::int32_t other_load = to.s < 0 ? 0 : tours_.load(to.s), other_duration = to.s < 0 ? 0 : tours_.duration(to.s);
    const std::int64_t after =
        of(tours_.load(r_) - load, tours_.duration(r_) + out - served) + of(other_load + load, other_duration + in + served);
    best.offer(delta + after - to.before, code_of(to.slot, kind, forward));
  }
  template <bool forward, class Moves>
  VICINITY_HD void offer_swaps(const Place& to, const Around& a, const Around& b, const Across& d, std::int32_t old_pair,
                               Moves& best) const {
    const std::int32_t v = to.v, y = b.x, out = b.pu + b.ux, load_v = d_.demand[v], served_v = d_.service[v];
    if (forward)
      offer_exchange<forward>(to, Kind::swap, d.pv + d.xv - a.pu - a.ux, d.uq + d.uy - out, d_.demand[u_] - load_v,
                              d_.service[u_] - served_v, best);
    if (a.x == 0 || v == a.xx) return;
    const std::int32_t load = d_.demand[u_] + d_.demand[a.x] - load_v, served = d_.service[u_] + d_.service[a.x] - served_v;
    offer_exchange<forward>(to, Kind::swap_two_one, d.pv + d.xx_v - old_pair, d.uq + a.ux + d.xy - out, load, served, best);
    if (y == 0 || y == a.p) return;
    offer_exchange<forward>(to, Kind::swap_two_two, d.pv + b.ux + d.xx_y - old_pair, d.uq + a.ux + d.x_yy - out - b.x_xx,
                            load - d_.demand[y], served - d_.service[y], best);
  }
  /// Heads up to u and v are joined, and tails from x and y.
  template <bool forward, class Moves>
  VICINITY_HD void offer_two_opt(const Place& to, const Around& a, const Around& b, const Across& d, std::int32_t delta,
                                 Moves& best) const {
    const std::int32_t to_u = duration_to<forward>(u_, r_), to_v = duration_to<forward>(to.v, to.s);
    const std::int32_t load = load_to<forward>(u_, r_) + load_to<forward>(to.v, to.s), heads = to_u + to_v;
    const std::int32_t tails = tours_.duration(r_) - to_u - a.ux + (tours_.duration(to.s) - to_v - b.ux);
    const std::int64_t after = of(load, heads + d.uv) + of(tours_.load(r_) - load + tours_.load(to.s), tails + d.xy);
    best.offer(delta + after - to.before, code_of(to.slot, Kind::two_opt, forward));
  }
  /// The head up to u goes on with v, that up to q with x.
  template <bool forward, class Moves>
  VICINITY_HD void offer_tails(const Place& to, const Around& a, const Around& b, const Across& d, Moves& best) const {
    const std::int32_t delta = d.uv + d.xq - a.ux - b.pu;
    if (delta - to.before > best.delta) return;
    const std::int32_t load_q = load_to<forward>(to.v, to.s) - d_.demand[to.v], to_v = duration_to<forward>(to.v, to.s) - d_.service[to.v];
    const std::int32_t load_u = load_to<forward>(u_, r_), to_u = duration_to<forward>(u_, r_);
    const std::int64_t after = of(load_u + (tours_.load(to.s) - load_q), to_u + d.uv + (tours_.duration(to.s) - to_v)) +
                               of(load_q + (tours_.load(r_) - load_u), to_v - b.pu + d.xq + (tours_.duration(r_) - to_u - a.ux));
    best.offer(delta + after - to.before, code_of(to.slot, Kind::tails, forward));
  }

  const vrp::View& d_;
  const Penalties& penalties_;
  const Tours& tours_;
  std::int32_t u_, r_;
  Around around_;
  std::int32_t px_, p_xx_, x_pp_;  ///< distances of those around u, but of neighbours
  std::int64_t before_;            ///< penalty of u's route
};

}  // namespace vicinity::alns::hybrid
