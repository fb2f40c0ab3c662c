#include "core/methods/alns/hybrid/granular.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace vicinity::alns::hybrid {
namespace {

/// A place seen from the depot in whole numbers, of which products of two are exact.
struct Direction {
  std::int64_t x, y;
  /// 0: from the positive x axis on, 1: from the negative one on. The depot's own place is the first of all.
  [[nodiscard]] int half() const { return y < 0 || (y == 0 && x < 0) ? 1 : 0; }
};

/// Customers by the angle around the depot. The same on every machine: coordinates are multiplied by a power of two and rounded, so that
/// they have 40 bits, and angles compared by cross products.
std::vector<std::int32_t> around_depot(const vrp::Vrp& vrp) {
  const vrp::Data& data = vrp.data();
  const vrp::View view = vrp.view();
  double most = 0;
  for (std::size_t i = 1; i < data.x.size(); ++i) most = std::max({most, std::abs(data.x[i] - data.x[0]), std::abs(data.y[i] - data.y[0])});
  const int bits = most > 0 ? 40 - std::ilogb(most) : 0;
  std::vector<Direction> at(data.x.size());
  for (std::size_t i = 1; i < at.size(); ++i)
    at[i] = {std::llround(std::ldexp(data.x[i] - data.x[0], bits)), std::llround(std::ldexp(data.y[i] - data.y[0], bits))};
  std::vector<std::int32_t> order(static_cast<std::size_t>(vrp.size()));
  std::iota(order.begin(), order.end(), 1);
  __extension__ using Wide = __int128;
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    const Direction &p = at[static_cast<std::size_t>(a)], &q = at[static_cast<std::size_t>(b)];
    const bool p_there = p.x != 0 || p.y != 0, q_there = q.x != 0 || q.y != 0;
    if (p_there != q_there) return q_there;
    if (p.half() != q.half()) return p.half() < q.half();
    const Wide cross = static_cast<Wide>(p.x) * q.y - static_cast<Wide>(p.y) * q.x;
    return cross != 0 ? cross > 0 : std::pair(view(0, a), a) < std::pair(view(0, b), b);
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

struct Cut {
  std::int64_t cost;
  std::vector<vrp::Route> routes;
};

/// The cheapest cut of an order into feasible routes, of those the one of fewest; a customer that fits none alone is one, too.
Cut cut_of(const vrp::View& vrp, const std::vector<std::int32_t>& order) {
  const std::size_t n = order.size();
  std::vector<std::int32_t> step(n), home(n);  // of each from the one before it, and to the depot: side by side, read again for each i
  for (std::size_t i = 0; i < n; ++i) {
    step[i] = i == 0 ? 0 : vrp(order[i - 1], order[i]);
    home[i] = vrp(order[i], 0);
  }
  std::vector<std::tuple<std::int64_t, std::int32_t, std::size_t>> best(n + 1, {std::numeric_limits<std::int64_t>::max(), 0, 0});
  best[0] = {0, 0, 0};  // cost, routes, where the last one begins
  for (std::size_t i = 0; i < n; ++i) {
    auto [cost, routes, begin] = best[i];
    std::int64_t load = 0, duration = 0;
    for (std::size_t j = i; j < n; ++j) {
      const std::int32_t way = j == i ? home[j] : step[j];
      load += vrp.demand[order[j]];
      duration += way + vrp.service[order[j]];
      cost += way;
      if (j > i && (load > vrp.capacity || duration + home[j] > vrp.limit)) break;
      auto& [least, fewest, begins] = best[j + 1];  // of equals the first begins earliest
      const std::int64_t whole = cost + home[j];
      if (whole < least || (whole == least && routes + 1 < fewest)) least = whole, fewest = routes + 1, begins = i;
    }
  }
  Cut cut{std::get<0>(best[n]), {}};
  for (std::size_t end = n; end > 0; end = std::get<2>(best[end]))
    cut.routes.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(std::get<2>(best[end])),
                            order.begin() + static_cast<std::ptrdiff_t>(end));
  return cut;
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
  const std::vector<std::int32_t> tour = nearest_neighbor_tour(vrp), order = instance.data().x.empty() ? tour : around_depot(instance);
  rank.assign(static_cast<std::size_t>(n) + 1, -1);
  for (std::size_t i = 0; i < order.size(); ++i) rank[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
  Cut cut = cut_of(vrp, order), of_tour = cut_of(vrp, tour);  // the first is far from good where routes are long
  routes = most_routes(vrp, static_cast<std::int32_t>(cut.routes.size()));
  const auto fits = [&](const Cut& one) { return one.routes.size() <= static_cast<std::size_t>(routes); };
  if (fits(of_tour) && (!fits(cut) || of_tour.cost < cut.cost)) cut = std::move(of_tour);
  if (fits(cut)) first = std::move(cut.routes);
  spread = mean_distance(vrp);
  symmetries = symmetries_of(instance);
}

}  // namespace vicinity::alns::hybrid
