// SWAP* of cpu-hybrid. Cost: O(l^2) for two routes of l customers, twice: for the cheapest places, and for the pairs.
#include "cpu_ref/alns/hybrid/swap_star.hpp"

#include <algorithm>
#include <cstddef>

namespace vicinity::alns::hybrid {
namespace {

/// The route without `leaves`, with `enters` at a place of the old route; 0: no customer.
void rewrite(const vrp::Route& old, std::int32_t leaves, std::int32_t enters, std::int32_t place, vrp::Route& made) {
  made.clear();
  if (enters != 0 && place == 0) made.push_back(enters);
  for (std::size_t i = 0; i < old.size(); ++i) {
    if (old[i] != leaves)
      made.push_back(old[i]);
    else if (enters != 0 && place == -1)
      made.push_back(enters);
    if (enters != 0 && static_cast<std::int32_t>(i) + 1 == place) made.push_back(enters);
  }
}

}  // namespace

void SwapStar::look_at(const Tours& tours, std::int32_t from, std::int32_t to, std::vector<Leaver>& leavers) {
  const vrp::Route& others = tours.customers(to);
  edges_.clear();
  std::int32_t before = 0;
  for (const std::int32_t c : others) {
    edges_.push_back({c, vrp_(before, c)});
    before = c;
  }
  edges_.push_back({0, vrp_(before, 0)});
  leavers.clear();
  for (const std::int32_t c : tours.customers(from)) {
    const std::int32_t p = tours.prev(c), x = tours.next(c);
    Leaver leaver{c, tours.position(c) + 1, vrp_(p, x) - vrp_(p, c) - vrp_(c, x), {}};
    const std::int32_t* const from_c = vrp_.distance + static_cast<std::ptrdiff_t>(c) * (vrp_.n + 1);
    std::int32_t to_before = from_c[0], position = 0;
    for (const Edge& edge : edges_) {
      const std::int32_t to_behind = from_c[edge.behind], delta = to_before + to_behind - edge.length;
      if (delta < leaver.places.best[2].delta) leaver.places.offer({delta, position});  // positions ascend: of equal ones the first stays
      to_before = to_behind;
      ++position;
    }
    leavers.push_back(leaver);
  }
}

/// The delta of `enters` at the place of `leaver`.
std::int32_t SwapStar::own_place(const Tours& tours, std::int32_t leaver, std::int32_t enters) const {
  const std::int32_t p = tours.prev(leaver), x = tours.next(leaver);
  return vrp_(p, enters) + vrp_(enters, x) - vrp_(p, x);
}

Exchange SwapStar::best(const Tours& tours, const Penalties& penalties, std::int32_t r, std::int32_t s) {
  look_at(tours, r, s, of_r_);
  look_at(tours, s, r, of_s_);
  Exchange best;
  const PairOfRoutes pair{vrp_, penalties, {tours.load(r), tours.duration(r)}, {tours.load(s), tours.duration(s)}};
  const auto offer = [&](std::int32_t u, std::int32_t v, std::int32_t at_r, std::int32_t at_s, Place place_u, Place place_v) {
    const Exchange exchange{pair.delta(u, v, at_r, at_s), u, v, place_u.position, place_v.position};
    if (exchange.delta < 0 && exchange.before(best)) best = exchange;
  };
  for (const Leaver& v : of_s_) offer(0, v.customer, v.places.best[0].delta, v.removal, {}, v.places.best[0]);
  for (const Leaver& u : of_r_) {
    offer(u.customer, 0, u.removal, u.places.best[0].delta, u.places.best[0], {});
    for (const Leaver& v : of_s_) {
      if (!pair.promises(u.customer, v.customer, u.removal, v.removal)) continue;
      const Place place_u = u.places.without(v.position, own_place(tours, v.customer, u.customer));
      const Place place_v = v.places.without(u.position, own_place(tours, u.customer, v.customer));
      offer(u.customer, v.customer, u.removal + place_v.delta, v.removal + place_u.delta, place_u, place_v);
    }
  }
  return best;
}

void SwapStar::carry_out(Tours& tours, std::int32_t r, std::int32_t s, const Exchange& exchange) {
  rewrite(tours.customers(r), exchange.u, exchange.v, exchange.v_position, made_r_);
  rewrite(tours.customers(s), exchange.v, exchange.u, exchange.u_position, made_s_);
  tours.set(r, made_r_);
  tours.set(s, made_s_);
}

}  // namespace vicinity::alns::hybrid
