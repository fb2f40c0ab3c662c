#include "core/methods/alns/hybrid/granular.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace vicinity::alns::hybrid {
namespace {

/// Customers by the angle around the depot.
std::vector<std::int32_t> around_depot(const vrp::Vrp& vrp) {
  const vrp::Data& data = vrp.data();
  const vrp::View view = vrp.view();
  std::vector<std::int32_t> order(static_cast<std::size_t>(vrp.size()));
  std::iota(order.begin(), order.end(), 1);
  std::vector<double> angle(order.size() + 1);
  for (std::size_t i = 1; i < angle.size(); ++i) angle[i] = std::atan2(data.y[i] - data.y[0], data.x[i] - data.x[0]);
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    const double angle_a = angle[static_cast<std::size_t>(a)], angle_b = angle[static_cast<std::size_t>(b)];
    return angle_a != angle_b ? angle_a < angle_b : std::pair(view(0, a), a) < std::pair(view(0, b), b);
  });
  return order;
}

std::vector<std::int32_t> nearest_neighbor_tour(const vrp::View& vrp) {
  std::vector<std::int32_t> left(static_cast<std::size_t>(vrp.n)), order;
  std::iota(left.begin(), left.end(), 1);
  for (std::int32_t at = 0; !left.empty(); at = order.back()) {
    const auto next = std::min_element(left.begin(), left.end(),
                                       [&](std::int32_t a, std::int32_t b) { return std::pair(vrp(at, a), a) < std::pair(vrp(at, b), b); });
    order.push_back(*next);
    left.erase(next);
  }
  return order;
}

/// Routes of the cheapest cut of an order into feasible routes; a customer that fits none alone is one, too.
std::int32_t routes_of_cut(const vrp::View& vrp, const std::vector<std::int32_t>& order) {
  const std::size_t n = order.size();
  std::vector<std::pair<std::int64_t, std::int32_t>> best(n + 1, {std::numeric_limits<std::int64_t>::max(), 0});  // cost, routes
  best[0] = {0, 0};
  for (std::size_t i = 0; i < n; ++i) {
    std::int64_t load = 0, duration = 0, cost = best[i].first;
    for (std::size_t j = i; j < n; ++j) {
      const std::int32_t c = order[j], before = j == i ? 0 : order[j - 1];
      load += vrp.demand[c];
      duration += vrp(before, c) + vrp.service[c];
      cost += vrp(before, c);
      if (j > i && (load > vrp.capacity || duration + vrp(c, 0) > vrp.limit)) break;
      best[j + 1] = std::min(best[j + 1], std::pair(cost + vrp(c, 0), best[i].second + 1));
    }
  }
  return best[n].second;
}

/// Of two customers, at least 1.
std::int32_t mean_distance(const vrp::View& vrp) {
  std::int64_t sum = 0;
  for (std::int32_t a = 1; a <= vrp.n; ++a)
    sum = std::accumulate(&vrp.distance[a * (vrp.n + 1) + 1], &vrp.distance[(a + 1) * (vrp.n + 1)], sum);
  return static_cast<std::int32_t>(std::max<std::int64_t>(1, sum / (std::int64_t{vrp.n} * vrp.n)));
}

std::int32_t most_routes(const vrp::View& vrp, std::int32_t of_cut) {
  const std::int64_t demand = std::accumulate(vrp.demand + 1, vrp.demand + vrp.n + 1, std::int64_t{0});
  const std::int64_t least = std::max<std::int64_t>((demand + vrp.capacity - 1) / vrp.capacity, of_cut);
  return static_cast<std::int32_t>(std::min<std::int64_t>({vrp.vehicles, vrp.n, least + least * 3 / 10 + 3}));
}

}  // namespace

Granular::Granular(const vrp::Vrp& instance) {
  const vrp::View vrp = instance.view();
  const std::int32_t n = vrp.n;
  k = std::min(insertion_neighbors, n - 1);
  nearest.assign(static_cast<std::size_t>(n + 1) * static_cast<std::size_t>(k), 0);
  std::vector<std::int32_t> others(static_cast<std::size_t>(n));
  for (std::int32_t u = 1; u <= n; ++u) {
    std::iota(others.begin(), others.end(), 1);
    std::swap(others[static_cast<std::size_t>(u - 1)], others.back());
    std::partial_sort(others.begin(), others.begin() + k, others.end() - 1,
                      [&](std::int32_t a, std::int32_t b) { return std::pair(vrp(u, a), a) < std::pair(vrp(u, b), b); });
    std::copy_n(others.begin(), k, nearest.begin() + static_cast<std::ptrdiff_t>(u) * k);
  }
  const std::vector<std::int32_t> order = instance.data().x.empty() ? nearest_neighbor_tour(vrp) : around_depot(instance);
  rank.assign(static_cast<std::size_t>(n) + 1, -1);
  for (std::size_t i = 0; i < order.size(); ++i) rank[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
  routes = most_routes(vrp, routes_of_cut(vrp, order));
  spread = mean_distance(vrp);
}

}  // namespace vicinity::alns::hybrid
