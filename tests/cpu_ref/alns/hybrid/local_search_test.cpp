#include "cpu_ref/alns/hybrid/local_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/util/rng.hpp"
#include "cpu_ref/alns/hybrid/move_bounds.hpp"

namespace vicinity::alns::hybrid {
namespace {

/// Whole numbers of one test case.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(seed) {}
  std::int32_t below(std::int64_t bound) {
    return static_cast<std::int32_t>(scale_to(random_bits(seed_, 5, 0, draw_++), static_cast<std::uint64_t>(bound)));
  }

 private:
  std::uint64_t seed_;
  std::uint32_t draw_ = 0;
};

/// A random instance, with coincident points, equal demands, binding limits, services or a matrix, as drawn. `stretch`: of the capacity.
vrp::Vrp random_instance(Draws& draws, std::int32_t n, std::int32_t stretch = 1) {
  vrp::Data data;
  data.name = "random";
  const std::int32_t extent = draws.below(4) == 0 ? 3 : 200;
  for (std::int32_t i = 0; i <= n; ++i) {
    data.x.push_back(draws.below(extent));
    data.y.push_back(draws.below(extent));
    data.demand.push_back(i == 0 ? 0 : 1 + draws.below(9));
  }
  data.capacity = (9 + draws.below(40)) * stretch;
  if (draws.below(2) == 0) data.limit = 600 + draws.below(400);
  if (draws.below(2) == 0) {
    for (std::int32_t i = 0; i <= n; ++i) data.service.push_back(i == 0 ? 0 : draws.below(30));
  }
  if (draws.below(4) == 0) {
    const auto size = static_cast<std::size_t>(n) + 1;
    data.matrix.assign(size * size, 0);
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < i; ++j) data.matrix[i * size + j] = data.matrix[j * size + i] = draws.below(300);
    data.x.clear();
    data.y.clear();
  }
  return vrp::Vrp(data);
}

/// Customers in random order on random routes, some of them empty.
Routes random_routes(Draws& draws, std::int32_t n, std::int32_t routes) {
  Routes made(static_cast<std::size_t>(routes));
  const std::int32_t used = 1 + draws.below(routes);
  for (std::int32_t c = 1; c <= n; ++c) {
    vrp::Route& route = made[static_cast<std::size_t>(draws.below(used))];
    route.insert(route.begin() + draws.below(static_cast<std::int64_t>(route.size()) + 1), c);
  }
  return made;
}

/// From the definition: the oracle's cost, and penalties of routes walked from scratch.
std::int64_t cost_from_scratch(const vrp::Vrp& instance, const Penalties& penalties, const Routes& routes) {
  const vrp::View vrp = instance.view();
  std::int64_t sum = vrp::cost(instance, vrp::encoded(routes));
  for (const vrp::Route& route : routes) {
    std::int64_t load = 0, duration = 0;
    std::int32_t before = 0;
    for (const std::int32_t c : route) {
      load += vrp.demand[c];
      duration += vrp(before, c) + vrp.service[c];
      before = c;
    }
    duration += vrp(before, 0);
    sum += (std::max<std::int64_t>(0, load - vrp.capacity) * penalties.load +
            std::max<std::int64_t>(0, duration - vrp.limit) * penalties.duration) >>
           8;
  }
  return sum;
}

/// The sequences after a move, from its definition in moves.hpp: customers are taken out and put in one by one.
Routes applied(Routes routes, const Tours& tours, std::int32_t u, std::int32_t v, std::int32_t empty, Kind kind, bool forward) {
  const auto r = static_cast<std::size_t>(tours.route(u)), s = static_cast<std::size_t>(v == 0 ? empty : tours.route(v));
  const auto turn = [&] {
    if (forward) return;
    std::reverse(routes[r].begin(), routes[r].end());
    if (s != r) std::reverse(routes[s].begin(), routes[s].end());
  };
  turn();
  vrp::Route &a = routes[r], &b = routes[s];
  const auto in = [](vrp::Route& route, std::int32_t c) { return std::find(route.begin(), route.end(), c); };
  const auto after = [&](std::int32_t c, std::int32_t step) {
    const auto found = in(a, c);
    return found != a.end() ? found[step] : in(b, c)[step];
  };
  const auto remove = [&](vrp::Route& route, std::int32_t c) { route.erase(in(route, c)); };
  const auto insert = [&](vrp::Route& route, vrp::Route::iterator where, const vrp::Route& what) {
    route.insert(where, what.begin(), what.end());
  };
  switch (kind) {
    case Kind::relocate:
      remove(a, u);
      insert(b, v == 0 ? b.begin() : in(b, v) + 1, {u});
      break;
    case Kind::pair:
    case Kind::pair_turned: {
      const std::int32_t x = after(u, 1);
      remove(a, u);
      remove(a, x);
      if (kind == Kind::pair)
        insert(b, v == 0 ? b.begin() : in(b, v) + 1, {u, x});
      else
        insert(b, in(b, v), {x, u});
      break;
    }
    case Kind::swap:
    case Kind::swap_two_one:
    case Kind::swap_two_two: {
      vrp::Route first{u}, second{v};
      if (kind != Kind::swap) first.push_back(after(u, 1));
      if (kind == Kind::swap_two_two) second.push_back(after(v, 1));
      *in(a, u) = -1;
      *in(b, v) = -2;
      if (first.size() > 1) remove(a, first[1]);
      if (second.size() > 1) remove(b, second[1]);
      insert(a, a.erase(in(a, -1)), second);
      insert(b, b.erase(in(b, -2)), first);
      break;
    }
    case Kind::two_opt: {
      if (r == s) {
        auto i = in(a, u), j = in(a, v);
        if (i > j) std::swap(i, j);
        std::reverse(i + 1, j + 1);
        break;
      }
      vrp::Route head_u(a.begin(), in(a, u) + 1), tail_x(in(a, u) + 1, a.end()), head_v(b.begin(), in(b, v) + 1),
          tail_y(in(b, v) + 1, b.end());
      a = head_u;
      a.insert(a.end(), head_v.rbegin(), head_v.rend());
      b.assign(tail_x.rbegin(), tail_x.rend());
      b.insert(b.end(), tail_y.begin(), tail_y.end());
      break;
    }
    case Kind::tails: {
      vrp::Route head_u(a.begin(), in(a, u) + 1), tail_x(in(a, u) + 1, a.end());
      const auto cut = v == 0 ? b.begin() : in(b, v);
      vrp::Route head_q(b.begin(), cut), tail_v(cut, b.end());
      a = head_u;
      a.insert(a.end(), tail_v.begin(), tail_v.end());
      b = head_q;
      b.insert(b.end(), tail_x.begin(), tail_x.end());
      break;
    }
  }
  turn();
  return routes;
}

/// Keeps every move offered.
struct AllMoves {
  std::int32_t delta = 0x7FFFFFFF;  // nothing is pruned
  std::map<std::int32_t, std::int64_t> moves;
  void offer(std::int64_t d, std::int32_t code) { moves[code] = d; }
};

Penalties random_penalties(Draws& draws) {
  const std::array<std::int64_t, 4> some{1, 256, 5000, most_penalty / 1024};
  return {some[static_cast<std::size_t>(draws.below(4))], some[static_cast<std::size_t>(draws.below(4))]};
}

TEST(HybridMoves, TheDeltaLaw) {
  std::map<std::pair<Kind, bool>, int> seen;
  for (std::uint64_t seed = 0; seed < 250; ++seed) {
    Draws draws(seed);
    const std::int32_t n = 2 + draws.below(11);
    const vrp::Vrp instance = random_instance(draws, n);
    const std::int32_t m = 1 + draws.below(4);
    const Routes routes = random_routes(draws, n, m);
    const Penalties penalties = random_penalties(draws);
    Tours tours(instance.view(), m);
    tours.load_all(routes);
    const std::int64_t before = cost_from_scratch(instance, penalties, routes);
    ASSERT_EQ(tours.cost(penalties), before);
    for (std::int32_t u = 1; u <= n; ++u) {
      const vrp::View vrp = instance.view();
      const Evaluator<Tours> evaluator(vrp, penalties, tours, u);
      for (std::int32_t v = 0; v <= n; ++v) {
        if (v == u || (v == 0 && tours.empty() < 0)) continue;
        AllMoves all;
        if (v == 0)
          evaluator.offer_empty(0, all);
        else
          evaluator.offer_all(v, 0, all);
        for (const auto& [code, delta] : all.moves) {
          const Routes made = applied(routes, tours, u, v, tours.empty(), kind_of(code), is_forward(code));
          ASSERT_EQ(cost_from_scratch(instance, penalties, made) - before, delta)
              << "seed " << seed << " u " << u << " v " << v << " kind " << static_cast<int>(kind_of(code)) << ' ' << is_forward(code);
          ++seen[{kind_of(code), is_forward(code)}];
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), 2u * kinds - 1);  // swaps have no direction
}

TEST(HybridMoves, NoneIsBelowItsBound) {
  int near = 0, near_distances = 0, pairs = 0;
  for (std::uint64_t seed = 0; seed < 250; ++seed) {
    Draws draws(9000 + seed);
    const std::int32_t n = 2 + draws.below(40);
    const vrp::Vrp instance = random_instance(draws, n);
    const vrp::View vrp = instance.view();
    const Granular granular(instance);
    const Penalties penalties = random_penalties(draws);
    Tours tours(vrp, granular.routes);
    tours.load_all(random_routes(draws, n, std::min(granular.routes, 1 + draws.below(9))));
    MoveBounds bounds(vrp, granular);
    for (std::int32_t u = 1; u <= n; ++u) {
      const auto slots = static_cast<std::uint32_t>(draws.below(std::int64_t{1} << granular.moves()));
      bounds.look_at(tours, penalties, u, slots);
      bounds.look_around(tours, u);
      const auto penalty_of = [&](std::int32_t r) { return penalty(vrp, penalties, tours.load(r), tours.duration(r)); };
      ASSERT_EQ(bounds.count(), std::popcount(slots));
      const Evaluator<Tours> evaluator(vrp, penalties, tours, u);
      for (std::int32_t i = 0; i < bounds.count(); ++i) {
        ASSERT_EQ(bounds.neighbor(i), granular.nearest[static_cast<std::size_t>(u * granular.k + bounds.slot(i))]);
        const std::int32_t r = tours.route(u), s = tours.route(bounds.neighbor(i));
        const std::int64_t spared = penalty_of(r) + (s == r ? 0 : penalty_of(s));  // at most
        AllMoves all;
        evaluator.offer_all(bounds.neighbor(i), bounds.slot(i), all);
        for (const auto& [code, delta] : all.moves) {
          ASSERT_LE(bounds.of(i), delta) << "seed " << seed << " u " << u << " v " << bounds.neighbor(i) << " code " << code;
          ASSERT_LE(bounds.distance(i) - spared, delta) << "seed " << seed << " u " << u << " v " << bounds.neighbor(i) << " code " << code;
          near += static_cast<int>(delta - bounds.of(i) <= 1);
          near_distances += static_cast<int>(delta - (bounds.distance(i) - spared) <= 1);
        }
        ++pairs;
      }
    }
  }
  EXPECT_GT(near, pairs / 4);  // bounds that never come near spare nothing
  EXPECT_GT(near_distances, pairs / 20);
}

/// All exchanges of two routes, from the definition: customers are taken out and put in, and all costs computed from scratch. Places that
/// only touch a leaving customer are not among the three cheapest, and are looked at as the definition says.
Exchange exchange_from_scratch(const vrp::Vrp& instance, const Penalties& penalties, const Routes& routes, std::size_t r, std::size_t s) {
  const vrp::View vrp = instance.view();
  const auto without = [](vrp::Route route, std::int32_t c) {
    std::erase(route, c);
    return route;
  };
  const auto length = [&](const vrp::Route& route) {
    std::int64_t sum = 0;
    std::int32_t before = 0;
    for (const std::int32_t c : route) sum += vrp(before, c), before = c;
    return sum + vrp(before, 0);
  };
  const auto with = [](vrp::Route route, std::int32_t c, std::size_t position) {
    route.insert(route.begin() + static_cast<std::ptrdiff_t>(position), c);
    return route;
  };
  // the route with c in it, where `gone` (0: none) leaves
  const auto entered = [&](const vrp::Route& route, std::int32_t c, std::int32_t gone) {
    if (c == 0) return without(route, gone);
    std::vector<std::pair<std::int64_t, std::size_t>> places;  // of the whole route
    for (std::size_t i = 0; i <= route.size(); ++i) places.emplace_back(length(with(route, c, i)) - length(route), i);
    std::sort(places.begin(), places.end());
    if (gone == 0) return with(route, c, places.front().second);
    const auto v = static_cast<std::size_t>(std::find(route.begin(), route.end(), gone) - route.begin());
    const vrp::Route left = without(route, gone);
    const std::int64_t own = length(with(left, c, v)) - length(left);
    for (std::size_t k = 0; k < std::min<std::size_t>(3, places.size()); ++k) {
      const auto [delta, i] = places[k];
      if (i == v || i == v + 1) continue;
      return delta < own ? with(left, c, i > v ? i - 1 : i) : with(left, c, v);
    }
    return with(left, c, v);
  };
  const std::int64_t before = cost_from_scratch(instance, penalties, routes);
  Exchange best;
  vrp::Route us = routes[r], vs = routes[s];
  us.push_back(0);
  vs.push_back(0);
  for (const std::int32_t u : us)
    for (const std::int32_t v : vs) {
      if (u == 0 && v == 0) continue;
      if (u != 0 && v != 0) {
        const std::int64_t removal = length(without(routes[r], u)) - length(routes[r]) + length(without(routes[s], v)) - length(routes[s]);
        const auto over = [&](std::size_t route, std::int32_t change) {
          std::int64_t load = change;
          for (const std::int32_t c : routes[route]) load += vrp.demand[c];
          return (std::max<std::int64_t>(0, load - vrp.capacity) * penalties.load) >> 8;
        };
        const std::int32_t change = vrp.demand[v] - vrp.demand[u];
        if (removal + over(r, change) + over(s, -change) >= over(r, 0) + over(s, 0)) continue;
      }
      Routes made = routes;
      made[r] = entered(routes[r], v, u);
      made[s] = entered(routes[s], u, v);
      const Exchange exchange{cost_from_scratch(instance, penalties, made) - before, u, v};
      if (exchange.delta < 0 && exchange.before(best)) best = exchange;
    }
  return best;
}

TEST(HybridSwapStar, FindsTheBestExchangeAndCarriesItOut) {
  int found = 0, exchanged = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    Draws draws(5000 + seed);
    const std::int32_t n = 2 + draws.below(20);
    const vrp::Vrp instance = random_instance(draws, n);
    const Penalties penalties = random_penalties(draws);
    const Routes routes = random_routes(draws, n, 3);
    Tours tours(instance.view(), 3);
    tours.load_all(routes);
    SwapStar swap_star(instance.view());
    for (const auto& [r, s] : {std::pair(0, 1), std::pair(0, 2), std::pair(1, 2)}) {
      if (tours.customers(r).empty() || tours.customers(s).empty()) continue;
      const Exchange expected =
          exchange_from_scratch(instance, penalties, tours.routes(), static_cast<std::size_t>(r), static_cast<std::size_t>(s));
      const Exchange best = swap_star.best(tours, penalties, r, s);
      ASSERT_EQ(best.delta, expected.delta) << seed;
      ASSERT_EQ(best.u, expected.u) << seed;
      ASSERT_EQ(best.v, expected.v) << seed;
      if (best.delta == 0) continue;
      ++found;
      exchanged += static_cast<int>(best.u != 0 && best.v != 0);
      const std::int64_t before = tours.cost(penalties);
      swap_star.carry_out(tours, r, s, best);
      ASSERT_EQ(cost_from_scratch(instance, penalties, tours.routes()) - before, best.delta) << seed;
    }
  }
  EXPECT_GT(found, 100);
  EXPECT_GT(exchanged, 50);
}

TEST(HybridSwapStar, SectorsThatTouchOverlap) {
  EXPECT_TRUE(overlap(1, 1));
  EXPECT_TRUE(overlap(1, 2));
  EXPECT_TRUE(overlap(1, std::uint64_t{1} << 63));  // the last sector is beside the first
  EXPECT_FALSE(overlap(1, 4));
  EXPECT_FALSE(overlap(0, ~std::uint64_t{0}));  // an empty route
  EXPECT_EQ(sector_of(0, 10'000), 1u);
  EXPECT_EQ(sector_of(9'999, 10'000), std::uint64_t{1} << 63);
}

TEST(HybridLocalSearch, EndsWhereNoMoveImproves) {
  int long_routes = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    Draws draws(1000 + seed);
    const bool stretched = seed >= 60;
    const std::int32_t n = seed < 5 ? static_cast<std::int32_t>(seed) + 1 : (stretched ? 64 : 2) + draws.below(70);
    const vrp::Vrp instance = random_instance(draws, n, stretched ? 25 : 1);
    const vrp::View vrp = instance.view();
    const Granular granular(instance);
    const Penalties penalties = random_penalties(draws);
    Tours tours(vrp, granular.routes);
    tours.load_all(random_routes(draws, n, granular.routes));
    LocalSearch search(vrp, granular);
    if (n >= 16 * granular.routes) {  // where bounds are kept, of an optimum above all: there most are such as spare moves
      ++long_routes;
      search.improve(tours, penalties);
      Routes routes = tours.routes();
      for (std::int32_t i = 0; i < 8; ++i) {
        const std::int32_t c = 1 + draws.below(n);
        for (vrp::Route& route : routes) std::erase(route, c);
        vrp::Route& route = routes[static_cast<std::size_t>(draws.below(granular.routes))];
        route.insert(route.begin() + draws.below(static_cast<std::int64_t>(route.size()) + 1), c);
      }
      tours.load_all(routes);
    }
    const std::int64_t before = tours.cost(penalties);
    search.improve(tours, penalties);
    EXPECT_LE(tours.cost(penalties), before);
    EXPECT_EQ(tours.cost(penalties), cost_from_scratch(instance, penalties, tours.routes()));  // also: each customer once
    for (std::int32_t u = 1; u <= n; ++u) {                                                    // what is kept between rounds hides no move
      Best best;
      const Evaluator<Tours> evaluator(vrp, penalties, tours, u);
      for (std::int32_t slot = 0; slot < granular.moves(); ++slot)
        evaluator.offer_all(granular.nearest[static_cast<std::size_t>(u * granular.k + slot)], slot, best);
      if (tours.empty() >= 0) evaluator.offer_empty(granular.moves(), best);
      EXPECT_LT(best.code, 0) << "seed " << seed << " customer " << u;
    }
    SwapStar swap_star(vrp);
    const auto sectors = [&](std::int32_t r) {
      std::uint64_t bits = 0;
      if (tours.customers(r).size() > longest_exchanging) return bits;
      for (const std::int32_t c : tours.customers(r)) bits |= sector_of(granular.rank[static_cast<std::size_t>(c)], n);
      return bits;
    };
    for (std::int32_t r = 0; r < tours.count(); ++r)
      for (std::int32_t s = r + 1; s < tours.count(); ++s) {
        if (!overlap(sectors(r), sectors(s))) continue;
        EXPECT_EQ(swap_star.best(tours, penalties, r, s).delta, 0) << "seed " << seed;
      }
  }
  EXPECT_GT(long_routes, 20);
}

}  // namespace
}  // namespace vicinity::alns::hybrid
