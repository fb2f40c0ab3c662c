#include "core/methods/alns/hybrid/route_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "core/util/rng.hpp"
#include "tests/support/vrps.hpp"

namespace vicinity::alns::hybrid {
namespace {

std::int64_t cost(const vrp::Vrp& vrp, std::vector<vrp::Route> routes) { return vrp::cost(vrp, vrp::encoded(std::move(routes))); }

/// A drawn order cut where the next customer does not fit.
std::vector<vrp::Route> drawn(const vrp::Vrp& vrp, std::uint64_t seed) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(vrp.size()));
  std::iota(order.begin(), order.end(), 1);
  std::uint32_t draw = 0;
  for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[scale_to(random_bits(seed, 1, 0, draw++), i + 1)]);
  std::vector<vrp::Route> routes(1);
  std::int32_t load = 0;
  for (const std::int32_t c : order) {
    const std::int32_t demand = vrp.view().demand[c];
    if (load + demand > vrp.view().capacity) {
      routes.emplace_back();
      load = 0;
    }
    load += demand;
    routes.back().push_back(c);
  }
  return routes;
}

/// Cheapest partition of the customers from `from` on that `used` has not, by trying all columns with the first one left.
std::optional<std::int64_t> cheapest(const std::vector<std::pair<vrp::Route, std::int64_t>>& columns, std::vector<char>& used,
                                     std::int32_t routes) {
  const auto first = std::find(used.begin(), used.end(), 0);
  if (first == used.end()) return 0;
  if (routes == 0) return std::nullopt;
  std::optional<std::int64_t> best;
  for (const auto& [route, length] : columns) {
    if (std::find(route.begin(), route.end(), first - used.begin()) == route.end()) continue;
    if (std::any_of(route.begin(), route.end(), [&](std::int32_t c) { return used[static_cast<std::size_t>(c)] != 0; })) continue;
    for (const std::int32_t c : route) used[static_cast<std::size_t>(c)] = 1;
    if (const auto rest = cheapest(columns, used, routes - 1)) best = std::min(best.value_or(INT64_MAX), *rest + length);
    for (const std::int32_t c : route) used[static_cast<std::size_t>(c)] = 0;
  }
  return best;
}

/// With all routes in one window, what is found is the best there is.
const std::atomic<bool> never = false;  // nobody stops it

TEST(HybridRoutePool, FindsTheCheapestPartition) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const vrp::Vrp vrp = in_a_square(10, seed, 20);
    RoutePool pool(vrp.view());
    std::vector<std::pair<vrp::Route, std::int64_t>> columns;
    std::vector<vrp::Route> known = drawn(vrp, 0);
    for (std::uint64_t k = 0; k < 25; ++k) {
      const std::vector<vrp::Route> routes = drawn(vrp, k);
      if (cost(vrp, routes) < cost(vrp, known)) known = routes;
      for (const vrp::Route& route : routes) {
        pool.add(route);
        std::int64_t length = vrp.view()(route.back(), 0) + vrp.view()(0, route.front());
        for (std::size_t i = 1; i < route.size(); ++i) length += vrp.view()(route[i - 1], route[i]);
        columns.emplace_back(route, length);
      }
    }
    for (const std::int32_t most : {static_cast<std::int32_t>(known.size()), 10}) {
      std::vector<char> used(11, 0);
      used[0] = 1;
      const std::int64_t best = cheapest(columns, used, most).value_or(INT64_MAX), before = cost(vrp, known);
      const std::vector<vrp::Route> made = pool.recombined(known, most, never);
      ASSERT_EQ(made.empty(), best >= before) << seed;
      if (made.empty()) continue;
      EXPECT_EQ(cost(vrp, made), best) << seed;
      EXPECT_EQ(vrp::complaint(vrp, vrp::encoded(made)), "");
      EXPECT_LE(static_cast<std::int32_t>(made.size()), most);
      ++found;
    }
  }
  EXPECT_GT(found, 10);
}

TEST(HybridRoutePool, KeepsTheCheapestOrderAndNothingInfeasible) {
  vrp::Data data;
  data.x = {0, 10, 20, 30};
  data.y = {0, 0, 0, 0};
  data.demand = {0, 1, 1, 1};
  data.capacity = 2;
  const vrp::Vrp vrp(data);
  RoutePool pool(vrp.view());
  pool.add({});
  pool.add({1, 2, 3});
  EXPECT_EQ(pool.size(), 0u);
  EXPECT_TRUE(pool.recombined(std::vector<vrp::Route>{{1, 3}, {2}}, 3, never).empty());
  pool.add({2, 3});
  pool.add({3, 2});
  pool.add({1});
  EXPECT_EQ(pool.size(), 2u);
  EXPECT_EQ(cost(vrp, pool.recombined(std::vector<vrp::Route>{{1, 3}, {2}}, 3, never)), cost(vrp, {{1}, {2, 3}}));
  EXPECT_TRUE(pool.recombined(std::vector<vrp::Route>{{1}, {2, 3}}, 3, never).empty());
}

/// The pool stays within its size.
TEST(HybridRoutePool, OldRoutesLeave) {
  const vrp::Vrp vrp = in_a_square(200, 1, 20);
  RoutePool pool(vrp.view());
  for (std::uint64_t k = 0; k < 1500; ++k)
    for (const vrp::Route& route : drawn(vrp, k)) pool.add(route);
  EXPECT_LT(pool.size(), most_pooled / 3);  // of more than three customers each
  EXPECT_GT(pool.size(), most_pooled / 12);
}

}  // namespace
}  // namespace vicinity::alns::hybrid
