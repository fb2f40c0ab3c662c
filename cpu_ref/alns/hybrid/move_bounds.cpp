// Bounds of cpu-hybrid's moves. Cost: 25 reads a neighbour, one after the other, then some 300 operations for 16 neighbours at once. The
// distances are exact. Penalties of loads are exact but for a millionth, those of durations are left out.
#include "cpu_ref/alns/hybrid/move_bounds.hpp"

#include <bit>
#include <cstddef>

namespace vicinity::alns::hybrid {

void MoveBounds::look_at(const Tours& tours, const Penalties& penalties, std::int32_t u, std::uint32_t slots) {
  const Around around = Around::of(tours, u);
  read(tours, penalties, u, around, slots);
  bound<true>(tours, penalties, u, around);
}

void MoveBounds::look_around(const Tours& tours, std::int32_t u) { bound<false>(tours, {}, u, Around::of(tours, u)); }

std::int32_t MoveBounds::least() const {
  std::int32_t least = count_ == 0 ? -1 : 0;
  for (std::int32_t i = 1; i < count_; ++i)
    if (of(i) < of(least)) least = i;
  return least;
}

/// Fills a lane for each of these neighbours.
void MoveBounds::read(const Tours& tours, const Penalties& penalties, std::int32_t u, const Around& a, std::uint32_t slots) {
  const auto row = [&](std::int32_t c) {
    return reinterpret_cast<const std::uint32_t*>(vrp_.distance) + static_cast<std::ptrdiff_t>(c) * (vrp_.n + 1);
  };
  const std::uint32_t *const du = row(u), *const dx = row(a.x), *const dp = row(a.p), *const dxx = row(a.xx), *const dpp = row(a.pp);
  const Tours::Stop* const stops = tours.stops();
  const std::int32_t r = tours.route(u);
  const auto penalty_of = [&](std::int32_t route) { return penalty(vrp_, penalties, tours.load(route), tours.duration(route)); };
  const std::int64_t own = penalty_of(r);
  const std::int32_t* const nearest = granular_->nearest.data() + static_cast<std::ptrdiff_t>(u) * granular_->k;
  Lanes& l = lanes_;
  std::int32_t i = 0;
  for (std::uint32_t left = slots; left != 0; left &= left - 1, ++i) {
    const std::int32_t slot = std::countr_zero(left), v = nearest[slot];
    const Tours::Stop &at_v = stops[v], &at_y = stops[at_v.next], &at_q = stops[at_v.prev];
    const std::int32_t y = at_v.next, q = at_v.prev, yy = at_y.next, qq = at_q.prev, s = at_v.route;
    l.slot[i] = slot, l.v[i] = v, l.y[i] = y, l.q[i] = q;
    l.demand_v[i] = vrp_.demand[v], l.demand_y[i] = vrp_.demand[y], l.demand_q[i] = vrp_.demand[q];
    l.load_to_v[i] = at_v.load;
    l.load[i] = s == r ? -1 : tours.load(s);
    l.before[i] = s == r ? own : own + penalty_of(s);
    l.qv[i] = static_cast<std::uint32_t>(at_v.to_prev), l.vy[i] = static_cast<std::uint32_t>(at_v.to_next);
    l.qq_q[i] = static_cast<std::uint32_t>(at_q.to_prev), l.y_yy[i] = static_cast<std::uint32_t>(at_y.to_next);
    l.uv[i] = du[v], l.uq[i] = du[q], l.uy[i] = du[y];
    l.xv[i] = dx[v], l.xy[i] = dx[y], l.xq[i] = dx[q], l.x_yy[i] = dx[yy];
    l.pv[i] = dp[v], l.py[i] = dp[y], l.pq[i] = dp[q], l.p_qq[i] = dp[qq];
    l.xx_v[i] = dxx[v], l.xx_y[i] = dxx[y], l.pp_v[i] = dpp[v], l.pp_q[i] = dpp[q];
  }
  count_ = i;
}

/// The moves of moves.hpp in all lanes at once. Sums of distances wrap around on the way; those of no move count nothing. Both directions
/// are written out: by one function for either, in one loop or in two, the search takes half as long again or more.
template <bool loads>
void MoveBounds::bound(const Tours& tours, const Penalties& penalties, std::int32_t u, const Around& a) {
  using Word = std::uint32_t;
  constexpr std::int32_t much = 1 << 29;  // two penalties and a distance of so much fit 32 bits
  Lanes& l = lanes_;
  const Word pu = static_cast<Word>(a.pu), ux = static_cast<Word>(a.ux), px = static_cast<Word>(vrp_(a.p, a.x));
  const Word pairs_x = pu + ux + static_cast<Word>(a.x_xx), pairs_p = ux + pu + static_cast<Word>(a.pp_p);  // edges that a pair leaves
  const Word out_u = px - pu - ux, out_x = static_cast<Word>(vrp_(a.p, a.xx)) - pairs_x,
             out_p = static_cast<Word>(vrp_(a.x, a.pp)) - pairs_p;
  const std::int32_t demand = vrp_.demand[u], with_x = demand + vrp_.demand[a.x], with_p = demand + vrp_.demand[a.p];
  const std::int32_t load = tours.load(tours.route(u)), head = tours.load_to(u), tail = load - head + demand;
  const std::int32_t capacity = vrp_.capacity, x = a.x, p = a.p, xx = a.xx, pp = a.pp;
  const std::int32_t has_x = x != 0, has_p = p != 0;
  // Below what a unit of load costs, for all roundings.
  const float unit = static_cast<float>(penalties.load) * (0.999999f / 256);
  const auto costs = [&](std::int32_t of) {
    if constexpr (!loads) return std::int32_t{0};
    const std::int32_t over = of > capacity ? of - capacity : 0;
    const float cost = static_cast<float>(over) * unit;
    return static_cast<std::int32_t>(cost < static_cast<float>(much) ? cost : static_cast<float>(much));
  };
  const auto length = [&](Word d) {
    const auto whole = static_cast<std::int32_t>(d);
    return whole < much ? whole : much;
  };
  const auto least = [](std::int32_t b, std::int32_t c) { return b < c ? b : c; };
  const std::int32_t padded = (count_ + 15) / 16 * 16;
#pragma omp simd
  for (std::int32_t i = 0; i < padded; ++i) {
    const std::int32_t v = l.v[i], y = l.y[i], q = l.q[i];
    const Word qv = l.qv[i], vy = l.vy[i], uv = l.uv[i], uq = l.uq[i], uy = l.uy[i], xv = l.xv[i], xy = l.xy[i], xq = l.xq[i];
    const Word pv = l.pv[i], py = l.py[i], pq = l.pq[i], out_v = qv + vy;
    const bool same = loads && l.load[i] < 0;
    const std::int32_t other = same ? 0 : l.load[i], demand_v = l.demand_v[i];
    // So much goes from u's route to v's.
    const auto moved = [&](std::int32_t amount) {
      const std::int32_t kept = same ? 0 : amount;
      return costs(load - kept) + costs(other + kept);
    };
    // The heads up to u and v are of one route.
    const std::int32_t both = load + other;
    const auto joined = [&](std::int32_t heads) { return costs(same ? load : heads) + costs(same ? 0 : both - heads); };
    const std::int32_t one = moved(demand), two_x = moved(with_x), two_p = moved(with_p);
    const bool is_x = v == x, is_p = v == p, is_xx = v == xx, is_pp = v == pp;

    const std::int32_t behind = length(out_u + uv + uy - vy) + one, before = length(out_u + uv + uq - qv) + one;
    const std::int32_t swap = length(pv + xv - pu - ux + uq + uy - out_v) + moved(demand - demand_v);

    std::int32_t x_swaps = length(pv + l.xx_v[i] - pairs_x + uq + ux + xy - out_v) + moved(with_x - demand_v);
    const std::int32_t x_pairs =
        length(pv + vy + l.xx_y[i] - pairs_x + uq + ux + l.x_yy[i] - out_v - l.y_yy[i]) + moved(with_x - demand_v - l.demand_y[i]);
    x_swaps = (y == 0) | (y == p) ? x_swaps : least(x_swaps, x_pairs);
    x_swaps = is_xx ? much : x_swaps;
    const std::int32_t x_pair = length(out_x + uv + ux + xy - vy) + two_x, x_turned = length(out_x + xq + ux + uv - qv) + two_x;
    std::int32_t with = is_p ? much : least(x_pair, x_swaps);
    with = least(with, is_xx ? much : x_turned);
    std::int32_t forward = has_x ? with : much;
    forward = is_p ? forward : least(forward, swap);
    const std::int32_t heads = head + l.load_to_v[i], rest = head + (other - l.load_to_v[i] + demand_v);
    forward = least(forward, length(uv + xy - ux - vy) + joined(heads));
    forward = same ? forward : least(forward, length(uv + xq - ux - qv) + costs(rest) + costs(both - rest));
    forward = is_x ? much : forward;
    forward = is_p ? forward : least(forward, behind);

    std::int32_t p_swaps = length(xv + l.pp_v[i] - pairs_p + uy + pu + pq - out_v) + moved(with_p - demand_v);
    const std::int32_t p_pairs =
        length(xv + qv + l.pp_q[i] - pairs_p + uy + pu + l.p_qq[i] - out_v - l.qq_q[i]) + moved(with_p - demand_v - l.demand_q[i]);
    p_swaps = (q == 0) | (q == x) ? p_swaps : least(p_swaps, p_pairs);
    p_swaps = is_pp ? much : p_swaps;
    const std::int32_t p_pair = length(out_p + uv + pu + pq - qv) + two_p, p_turned = length(out_p + py + pu + uv - vy) + two_p;
    with = is_x ? much : least(p_pair, p_swaps);
    with = least(with, is_pp ? much : p_turned);
    std::int32_t backward = has_p ? with : much;
    const std::int32_t tail_v = other - l.load_to_v[i] + demand_v, tails = tail + tail_v, tail_rest = tail + l.load_to_v[i];
    backward = least(backward, length(uv + pq - pu - qv) + joined(tails));
    backward = same ? backward : least(backward, length(uv + py - pu - vy) + costs(tail_rest) + costs(both - tail_rest));
    backward = is_p ? much : backward;
    backward = is_x ? backward : least(backward, before);

    (loads ? l.after : l.distance)[i] = least(forward, backward);
  }
}

}  // namespace vicinity::alns::hybrid
