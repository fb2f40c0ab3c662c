// Local search of cpu-hybrid: rounds of the best moves, those that share no route together.
//
// A round: of each customer the best improving move, least (delta, code); each claims its one or two routes by least (delta, customer,
// code), and is carried out when it has both. The least of all moves always is, so that every round improves, and the order in which the
// moves of a round are looked at changes nothing. Data: next, prev, route, position and prefix sums of a customer side by side, one cache
// line for all that a move reads of v; best moves are kept until one of their routes changes. Cost: a pair (customer, neighbour) is 15
// deltas in O(1); after a round only pairs with a changed route are evaluated again, and routes changed are numbered again in O(length).
// Few pairs have a move that comes into question. So a bound of the moves with each neighbour of a customer is computed side by side: exact
// distances, exact penalties of loads but for rounding, none of durations. A pair is looked at only if that is not above the best delta.
#include "cpu_ref/alns/hybrid/local_search.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

namespace vicinity::alns::hybrid {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

using Part = std::span<const std::int32_t>;

void append(vrp::Route& route, Part part) { route.insert(route.end(), part.begin(), part.end()); }
void append_turned(vrp::Route& route, Part part) { route.insert(route.end(), part.rbegin(), part.rend()); }

}  // namespace

LocalSearch::LocalSearch(const vrp::View& vrp, const Granular& granular)
    : vrp_(vrp),
      granular_(&granular),
      slots_(granular.moves()),
      first_reference_(at(vrp.n) + 2, 0),
      references_(at(vrp.n) * at(slots_)),
      best_(at(vrp.n) + 1),
      claims_(at(granular.routes)),
      changed_(at(granular.routes)),
      renew_(at(vrp.n) + 1),
      penalty_(at(granular.routes)),
      swap_star_(vrp),
      dirty_(at(granular.routes)),
      sectors_(at(granular.routes)) {
  for (std::int32_t u = 1; u <= vrp.n; ++u)
    for (std::int32_t slot = 0; slot < slots_; ++slot) ++first_reference_[at(neighbor(u, slot)) + 1];
  std::partial_sum(first_reference_.begin(), first_reference_.end(), first_reference_.begin());
  std::vector<std::size_t> next = first_reference_;
  for (std::int32_t u = 1; u <= vrp.n; ++u)
    for (std::int32_t slot = 0; slot < slots_; ++slot) references_[next[at(neighbor(u, slot))]++] = {u, slot};
}

std::int32_t LocalSearch::neighbor(std::int32_t u, std::int32_t slot) const {
  return granular_->nearest[at(u) * at(granular_->k) + at(slot)];
}

std::int32_t LocalSearch::other_route(std::int32_t u) const {
  const std::int32_t slot = slot_of(best_[at(u)].code);
  return slot == slots_ ? empty_ : tours_->route(neighbor(u, slot));
}

void LocalSearch::improve(Tours& tours, const Penalties& penalties, const Interruption& interruption) {
  tours_ = &tours;
  penalties_ = penalties;
  empty_ = tours.empty();
  for (std::int32_t r = 0; r < tours.count(); ++r) penalty_[at(r)] = penalty(vrp_, penalties_, tours.load(r), tours.duration(r));
  for (std::int32_t u = 1; u <= vrp_.n; ++u) evaluate(u, all_slots());
  std::fill(dirty_.begin(), dirty_.end(), 1);
  do {
    while (round()) interruption.check();
  } while (exchange());
}

/// The moves with these neighbours, a bit each; where these are all, as if there were no best one, and with those to the empty route.
void LocalSearch::evaluate(std::int32_t u, std::uint32_t slots) {
  Best& best = best_[at(u)];
  const std::int32_t count = std::popcount(slots);
  evaluations_ += count;
  if (slots == all_slots()) {
    best = {};
    if (empty_ >= 0) Evaluator<Tours>(vrp_, penalties_, *tours_, u).offer_empty(slots_, best);
  }
  const Around around = Around::of(*tours_, u);
  look_at(u, around, slots);
  bound(u, around, count);
  const auto promise = [&](std::int32_t i) { return lanes_.bound[i] - lanes_.before[i]; };
  std::int32_t first = 0;  // the one that promises most: after it few others come into question
  for (std::int32_t i = 1; i < count; ++i)
    if (promise(i) < promise(first)) first = i;
  if (count == 0 || promise(first) > best.delta) return;
  const Evaluator<Tours> evaluator(vrp_, penalties_, *tours_, u);
  evaluator.offer_all(lanes_.v[first], lanes_.slot[first], best);
  for (std::int32_t i = 0; i < count; ++i)
    if (i != first && promise(i) <= best.delta) evaluator.offer_all(lanes_.v[i], lanes_.slot[i], best);
}

/// Fills a lane for each of these neighbours.
void LocalSearch::look_at(std::int32_t u, const Around& a, std::uint32_t slots) {
  const auto row = [&](std::int32_t c) { return reinterpret_cast<const std::uint32_t*>(vrp_.distance) + at(c) * at(vrp_.n + 1); };
  const std::uint32_t *const du = row(u), *const dx = row(a.x), *const dp = row(a.p), *const dxx = row(a.xx), *const dpp = row(a.pp);
  const Tours::Stop* const stops = tours_->stops();
  const std::int32_t r = tours_->route(u);
  const std::int64_t own = penalty_[at(r)];
  Lanes& l = lanes_;
  std::int32_t i = 0;
  for (std::uint32_t left = slots; left != 0; left &= left - 1, ++i) {
    const std::int32_t slot = std::countr_zero(left), v = neighbor(u, slot);
    const Tours::Stop &at_v = stops[v], &at_y = stops[at_v.next], &at_q = stops[at_v.prev];
    const std::int32_t y = at_v.next, q = at_v.prev, yy = at_y.next, qq = at_q.prev, s = at_v.route;
    l.slot[i] = slot, l.v[i] = v, l.y[i] = y, l.q[i] = q;
    l.demand_v[i] = vrp_.demand[v], l.demand_y[i] = vrp_.demand[y], l.demand_q[i] = vrp_.demand[q];
    l.load_v[i] = at_v.load;
    l.other_load[i] = s == r ? -1 : tours_->load(s);
    l.before[i] = s == r ? own : own + penalty_[at(s)];
    l.qv[i] = static_cast<std::uint32_t>(at_v.to_prev), l.vy[i] = static_cast<std::uint32_t>(at_v.to_next);
    l.qq_q[i] = static_cast<std::uint32_t>(at_q.to_prev), l.y_yy[i] = static_cast<std::uint32_t>(at_y.to_next);
    l.uv[i] = du[v], l.uq[i] = du[q], l.uy[i] = du[y];
    l.xv[i] = dx[v], l.xy[i] = dx[y], l.xq[i] = dx[q], l.x_yy[i] = dx[yy];
    l.pv[i] = dp[v], l.py[i] = dp[y], l.pq[i] = dp[q], l.p_qq[i] = dp[qq];
    l.xx_v[i] = dxx[v], l.xx_y[i] = dxx[y], l.pp_v[i] = dpp[v], l.pp_q[i] = dpp[q];
  }
}

/// The moves of moves.hpp in all lanes at once. Sums of distances wrap around on the way; those of no move count nothing.
void LocalSearch::bound(std::int32_t u, const Around& a, std::int32_t count) {
  using Word = std::uint32_t;
  constexpr std::int32_t much = 1 << 29;  // two penalties and a distance of so much fit 32 bits
  Lanes& l = lanes_;
  const Word pu = static_cast<Word>(a.pu), ux = static_cast<Word>(a.ux), px = static_cast<Word>(vrp_(a.p, a.x));
  const Word pairs_x = pu + ux + static_cast<Word>(a.x_xx), pairs_p = ux + pu + static_cast<Word>(a.pp_p);  // edges that a pair leaves
  const Word out_u = px - pu - ux, out_x = static_cast<Word>(vrp_(a.p, a.xx)) - pairs_x,
             out_p = static_cast<Word>(vrp_(a.x, a.pp)) - pairs_p;
  const std::int32_t demand = vrp_.demand[u], with_x = demand + vrp_.demand[a.x], with_p = demand + vrp_.demand[a.p];
  const std::int32_t load = tours_->load(tours_->route(u)), head = tours_->load_to(u), tail = load - head + demand;
  const std::int32_t capacity = vrp_.capacity, x = a.x, p = a.p, xx = a.xx, pp = a.pp;
  const std::int32_t has_x = x != 0, has_p = p != 0;
  // Below what a unit of load costs, for all roundings.
  const float unit = static_cast<float>(penalties_.load) * (0.999999f / 256);
  const auto costs = [&](std::int32_t of) {
    const std::int32_t over = of > capacity ? of - capacity : 0;
    const float cost = static_cast<float>(over) * unit;
    return static_cast<std::int32_t>(cost < static_cast<float>(much) ? cost : static_cast<float>(much));
  };
  const auto length = [&](Word d) {
    const auto whole = static_cast<std::int32_t>(d);
    return whole < much ? whole : much;
  };
  const auto least = [](std::int32_t b, std::int32_t c) { return b < c ? b : c; };
  const std::int32_t padded = (count + 15) / 16 * 16;
#pragma omp simd
  for (std::int32_t i = 0; i < padded; ++i) {
    const std::int32_t v = l.v[i], y = l.y[i], q = l.q[i];
    const Word qv = l.qv[i], vy = l.vy[i], uv = l.uv[i], uq = l.uq[i], uy = l.uy[i], xv = l.xv[i], xy = l.xy[i], xq = l.xq[i];
    const Word pv = l.pv[i], py = l.py[i], pq = l.pq[i], out_v = qv + vy;
    const bool same = l.other_load[i] < 0;
    const std::int32_t other = same ? 0 : l.other_load[i], demand_v = l.demand_v[i];
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
    const std::int32_t heads = head + l.load_v[i], rest = head + (other - l.load_v[i] + demand_v);
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
    const std::int32_t tail_v = other - l.load_v[i] + demand_v, tails = tail + tail_v, tail_rest = tail + l.load_v[i];
    backward = least(backward, length(uv + pq - pu - qv) + joined(tails));
    backward = same ? backward : least(backward, length(uv + py - pu - vy) + costs(tail_rest) + costs(both - tail_rest));
    backward = is_p ? much : backward;
    backward = is_x ? backward : least(backward, before);

    l.bound[i] = least(forward, backward);
  }
}

/// Carries out the best moves. Was there any?
bool LocalSearch::round() {
  improving_.clear();
  std::fill(claims_.begin(), claims_.end(), no_claim);
  for (std::int32_t u = 1; u <= vrp_.n; ++u) {
    if (best_[at(u)].code < 0) continue;
    improving_.push_back(u);
    claim(tours_->route(u), claim_of(best_[at(u)], u));
    claim(other_route(u), claim_of(best_[at(u)], u));
  }
  if (improving_.empty()) return false;
  std::fill(changed_.begin(), changed_.end(), 0);
  std::erase_if(improving_, [&](std::int32_t u) {
    const std::uint64_t own = claim_of(best_[at(u)], u);
    return claims_[at(tours_->route(u))] != own || claims_[at(other_route(u))] != own;
  });
  for (const std::int32_t u : improving_)
    for (const std::int32_t r : {tours_->route(u), other_route(u)}) changed_[at(r)] = dirty_[at(r)] = 1;
  const bool had_empty = empty_ >= 0;
  for (const std::int32_t u : improving_) carry_out(u, best_[at(u)]);
  moves_ += static_cast<std::int64_t>(improving_.size());
  ++rounds_;
  empty_ = tours_->empty();
  refresh(had_empty);
  return true;
}

/// Carries out the best exchanges of SWAP*. Was there any? Looks at pairs of which one has changed since, or was refused.
bool LocalSearch::exchange() {
  pairs_.clear();
  std::fill(claims_.begin(), claims_.end(), no_claim);
  for (std::int32_t r = 0; r < tours_->count(); ++r)
    if (dirty_[at(r)] != 0) sectors_[at(r)] = sectors(r);
  for (std::int32_t r = 0; r < tours_->count(); ++r)
    for (std::int32_t s = r + 1; s < tours_->count(); ++s) {
      if ((dirty_[at(r)] == 0 && dirty_[at(s)] == 0) || !overlap(sectors_[at(r)], sectors_[at(s)])) continue;
      const Exchange exchange = swap_star_.best(*tours_, penalties_, r, s);
      evaluations_ += static_cast<std::int64_t>(tours_->customers(r).size()) + static_cast<std::int64_t>(tours_->customers(s).size());
      if (exchange.delta == 0) continue;
      pairs_.push_back({r, s, exchange, claim_of(exchange, r, s)});
      claim(r, pairs_.back().claim);
      claim(s, pairs_.back().claim);
    }
  std::fill(dirty_.begin(), dirty_.end(), 0);
  if (pairs_.empty()) return false;
  std::fill(changed_.begin(), changed_.end(), 0);
  for (const Pair& pair : pairs_) {
    dirty_[at(pair.r)] = dirty_[at(pair.s)] = 1;
    if (claims_[at(pair.r)] != pair.claim || claims_[at(pair.s)] != pair.claim) continue;
    swap_star_.carry_out(*tours_, pair.r, pair.s, pair.exchange);
    changed_[at(pair.r)] = changed_[at(pair.s)] = 1;
    ++moves_;
  }
  ++rounds_;
  const bool had_empty = empty_ >= 0;
  empty_ = tours_->empty();
  refresh(had_empty);
  return true;
}

/// Of an empty route, and of one too long for SWAP*: none.
std::uint64_t LocalSearch::sectors(std::int32_t r) const {
  std::uint64_t bits = 0;
  if (tours_->customers(r).size() > longest_exchanging) return bits;
  for (const std::int32_t c : tours_->customers(r)) bits |= sector_of(granular_->rank[at(c)], vrp_.n);
  return bits;
}

void LocalSearch::claim(std::int32_t r, std::uint64_t claim) { claims_[at(r)] = std::min(claims_[at(r)], claim); }

/// Evaluates again what the changed routes concern.
void LocalSearch::refresh(bool had_empty) {
  for (std::int32_t u = 1; u <= vrp_.n; ++u) {
    const Best& best = best_[at(u)];
    bool lost = changed_[at(tours_->route(u))] != 0;
    if (best.code >= 0 && !lost) {
      const std::int32_t slot = slot_of(best.code);
      lost = slot == slots_ ? empty_ < 0 : changed_[at(tours_->route(neighbor(u, slot)))] != 0;
    }
    renew_[at(u)] = lost ? all_slots() : 0;
    if (!lost && !had_empty && empty_ >= 0) Evaluator<Tours>(vrp_, penalties_, *tours_, u).offer_empty(slots_, best_[at(u)]);
  }
  for (std::int32_t r = 0; r < tours_->count(); ++r) {
    if (changed_[at(r)] == 0) continue;
    penalty_[at(r)] = penalty(vrp_, penalties_, tours_->load(r), tours_->duration(r));
    for (const std::int32_t v : tours_->customers(r))
      for (std::size_t i = first_reference_[at(v)]; i < first_reference_[at(v) + 1]; ++i)
        renew_[at(references_[i].u)] |= std::uint32_t{1} << references_[i].slot;
  }
  for (std::int32_t u = 1; u <= vrp_.n; ++u)
    if (renew_[at(u)] != 0) evaluate(u, renew_[at(u)]);
}

/// Both routes are written anew from parts of the old ones.
void LocalSearch::carry_out(std::int32_t u, const Best& move) {
  const std::int32_t slot = slot_of(move.code), r = tours_->route(u), s = other_route(u);
  const bool forward = is_forward(move.code), apart = slot == slots_;
  const Kind kind = kind_of(move.code);
  first_ = tours_->customers(r);
  second_ = tours_->customers(s);
  if (!forward) std::reverse(first_.begin(), first_.end());
  if (!forward) std::reverse(second_.begin(), second_.end());
  made_first_.clear();
  made_second_.clear();
  const auto place = [&](std::int32_t c, const vrp::Route& route) {
    return forward ? at(tours_->position(c)) : route.size() - 1 - at(tours_->position(c));
  };
  const Part a(first_), b(second_);
  const std::size_t i = place(u, first_);
  const std::size_t j = apart ? 0 : place(neighbor(u, slot), second_);
  if (kind == Kind::two_opt && r == s) {
    const auto [from, to] = std::minmax(i, j);
    append(made_first_, a.first(from + 1));
    append_turned(made_first_, a.subspan(from + 1, to - from));
    append(made_first_, a.subspan(to + 1));
  } else if (kind == Kind::two_opt) {
    append(made_first_, a.first(i + 1));
    append_turned(made_first_, b.first(j + 1));
    append_turned(made_second_, a.subspan(i + 1));
    append(made_second_, b.subspan(j + 1));
  } else if (kind == Kind::tails) {
    append(made_first_, a.first(i + 1));
    append(made_first_, b.subspan(j));
    append(made_second_, b.first(j));
    append(made_second_, a.subspan(i + 1));
  } else {  // parts [i, i + out) and [j, j + in) change places
    const std::size_t out = kind == Kind::relocate || kind == Kind::swap ? 1 : 2;
    const std::size_t in = kind == Kind::swap || kind == Kind::swap_two_one ? 1 : kind == Kind::swap_two_two ? 2 : 0;
    const std::size_t to = apart ? 0 : in > 0 || kind == Kind::pair_turned ? j : j + 1;
    const bool turned = kind == Kind::pair_turned;
    const auto append_moved = [&](vrp::Route& route) {
      turned ? append_turned(route, a.subspan(i, out)) : append(route, a.subspan(i, out));
    };
    if (r != s) {
      append(made_first_, a.first(i));
      append(made_first_, b.subspan(to, in));
      append(made_first_, a.subspan(i + out));
      append(made_second_, b.first(to));
      append_moved(made_second_);
      append(made_second_, b.subspan(to + in));
    } else if (i < to) {
      append(made_first_, a.first(i));
      append(made_first_, a.subspan(to, in));
      append(made_first_, a.subspan(i + out, to - i - out));
      append_moved(made_first_);
      append(made_first_, a.subspan(to + in));
    } else {
      append(made_first_, a.first(to));
      append_moved(made_first_);
      append(made_first_, a.subspan(to + in, i - to - in));
      append(made_first_, a.subspan(to, in));
      append(made_first_, a.subspan(i + out));
    }
  }
  if (!forward) std::reverse(made_first_.begin(), made_first_.end());
  if (!forward) std::reverse(made_second_.begin(), made_second_.end());
  tours_->set(r, made_first_);
  if (r != s) tours_->set(s, made_second_);
}

}  // namespace vicinity::alns::hybrid
