// Split of cpu-hybrid (Prins 2004: the shortest path through all cuts). Cost: O(n l) for routes of up to l customers.
#include "cpu_ref/alns/hybrid/split.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace vicinity::alns::hybrid {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

struct Sums {
  std::int64_t load = 0, duration = 0;
};

Sums sums_of(const vrp::View& vrp, const vrp::Route& route) {
  Sums sums;
  std::int32_t before = 0;
  for (const std::int32_t c : route) {
    sums.load += vrp.demand[c];
    sums.duration += vrp(before, c) + vrp.service[c];
    before = c;
  }
  sums.duration += vrp(before, 0);
  return sums;
}

std::int64_t penalty_of(const vrp::View& vrp, const Penalties& penalties, std::int64_t load, std::int64_t duration) {
  return penalty(vrp, penalties, static_cast<std::int32_t>(load), static_cast<std::int32_t>(duration));
}

void insert_cheapest(const vrp::View& vrp, const Penalties& penalties, Routes& routes, std::int32_t c) {
  std::tuple<std::int64_t, std::size_t, std::size_t> best{std::numeric_limits<std::int64_t>::max(), 0, 0};
  for (std::size_t r = 0; r < routes.size(); ++r) {
    const vrp::Route& route = routes[r];
    const Sums sums = sums_of(vrp, route);
    const std::int64_t before = penalty_of(vrp, penalties, sums.load, sums.duration);
    for (std::size_t i = 0; i <= route.size(); ++i) {
      const std::int32_t a = i == 0 ? 0 : route[i - 1], b = i == route.size() ? 0 : route[i];
      const std::int64_t delta = std::int64_t{vrp(a, c)} + vrp(c, b) - vrp(a, b);
      const std::int64_t after = penalty_of(vrp, penalties, sums.load + vrp.demand[c], sums.duration + delta + vrp.service[c]);
      best = std::min(best, std::tuple(delta + after - before, r, i));
    }
  }
  const auto [delta, r, i] = best;
  routes[r].insert(routes[r].begin() + static_cast<std::ptrdiff_t>(i), c);
}

void dissolve_surplus(const vrp::View& vrp, const Penalties& penalties, std::size_t most, Routes& routes) {
  vrp::Route left;
  while (routes.size() > most) {
    std::size_t least = 0;
    std::int64_t least_load = std::numeric_limits<std::int64_t>::max();
    for (std::size_t r = 0; r < routes.size(); ++r)
      if (const std::int64_t load = sums_of(vrp, routes[r]).load; load <= least_load) least = r, least_load = load;
    left.insert(left.end(), routes[least].begin(), routes[least].end());
    routes.erase(routes.begin() + static_cast<std::ptrdiff_t>(least));
  }
  for (const std::int32_t c : left) insert_cheapest(vrp, penalties, routes, c);
}

}  // namespace

Routes split(const vrp::View& vrp, const Granular& granular, const Penalties& penalties, const std::vector<std::int32_t>& order,
             const Interruption& interruption) {
  const std::size_t n = order.size();
  const std::int64_t most_load = vrp.capacity + std::int64_t{vrp.capacity} / 2, most_duration = vrp.limit + std::int64_t{vrp.limit} / 2;
  std::vector<std::int64_t> cost(n + 1, std::numeric_limits<std::int64_t>::max());
  std::vector<std::size_t> predecessor(n + 1, 0);
  cost[0] = 0;
  for (std::size_t i = 0; i < n; ++i) {
    interruption.check();
    std::int64_t load = 0, duration = 0, distance = 0;
    for (std::size_t j = i; j < n; ++j) {
      const std::int32_t c = order[j], before = j == i ? 0 : order[j - 1];
      load += vrp.demand[c];
      distance += vrp(before, c);
      duration += vrp(before, c) + vrp.service[c];
      const std::int64_t home = vrp(c, 0);
      if (j > i && (load > most_load || duration + home > most_duration)) break;
      const std::int64_t candidate = cost[i] + distance + home + penalty_of(vrp, penalties, load, duration + home);
      if (candidate < cost[j + 1]) cost[j + 1] = candidate, predecessor[j + 1] = i;
    }
  }
  Routes routes;
  for (std::size_t j = n; j > 0; j = predecessor[j])
    routes.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(predecessor[j]), order.begin() + static_cast<std::ptrdiff_t>(j));
  std::reverse(routes.begin(), routes.end());
  dissolve_surplus(vrp, penalties, at(granular.routes), routes);
  routes.resize(at(granular.routes));
  return routes;
}

}  // namespace vicinity::alns::hybrid
