#include "core/problems/vrp/delta.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/core/problems/vrp/random_instances.hpp"

namespace vicinity::vrp {
namespace {

/// What stands at a position of a route; the depot before and after it.
std::int32_t at(const Route& route, std::size_t position) { return position < route.size() ? route[position] : 0; }
std::int32_t before(const Route& route, std::size_t position) { return position == 0 ? 0 : route[position - 1]; }

/// Removed from its place, inserted at every place of every route: both deltas add up to the difference of the oracle's costs. Both at
/// once, as the oracle judges whole solutions only.
TEST(VrpDelta, InsertionAndRemovalLaw) {
  for_random_instances([](const Vrp& vrp, const std::vector<Route>& routes) {
    const View d = vrp.view();
    const std::int64_t cost_before = cost(vrp, joined(routes));
    for (std::size_t r = 0; r < routes.size(); ++r)
      for (std::size_t p = 0; p < routes[r].size(); ++p) {
        std::vector<Route> without = routes;
        const std::int32_t customer = routes[r][p];
        without[r].erase(without[r].begin() + static_cast<std::ptrdiff_t>(p));
        const std::int32_t removal = removal_delta(d, before(routes[r], p), customer, at(routes[r], p + 1));
        for (std::size_t s = 0; s < routes.size(); ++s)
          for (std::size_t q = 0; q <= without[s].size(); ++q) {
            std::vector<Route> after = without;
            after[s].insert(after[s].begin() + static_cast<std::ptrdiff_t>(q), customer);
            const std::int32_t insertion = insertion_delta(d, before(without[s], q), customer, at(without[s], q));
            ASSERT_EQ(std::int64_t{removal} + insertion, cost(vrp, joined(after)) - cost_before)
                << customer << " " << r << " " << s << " " << q;
          }
      }
  });
}

/// A route of its own for the customer costs d(0, c) + d(c, 0), which pins down each delta by itself.
TEST(VrpDelta, RemovalAloneLaw) {
  for_random_instances([](const Vrp& vrp, const std::vector<Route>& routes) {
    const View d = vrp.view();
    for (std::size_t r = 0; r < routes.size(); ++r)
      for (std::size_t p = 0; p < routes[r].size(); ++p) {
        std::vector<Route> after = routes;
        const std::int32_t customer = routes[r][p];
        after[r].erase(after[r].begin() + static_cast<std::ptrdiff_t>(p));
        after.push_back({customer});
        const std::int64_t alone = 2 * std::int64_t{d(0, customer)};
        ASSERT_EQ(removal_delta(d, before(routes[r], p), customer, at(routes[r], p + 1)),
                  cost(vrp, joined(after)) - alone - cost(vrp, joined(routes)));
        ASSERT_EQ(insertion_delta(d, 0, customer, 0), alone);
      }
  });
}

TEST(VrpDelta, TwoOptLaw) {
  for_random_instances([](const Vrp& vrp, const std::vector<Route>& routes) {
    const std::int64_t cost_before = cost(vrp, joined(routes));
    for (std::size_t r = 0; r < routes.size(); ++r)
      for (std::size_t i = 0; i < routes[r].size(); ++i)
        for (std::size_t j = i; j < routes[r].size(); ++j) {
          std::vector<Route> after = routes;
          std::reverse(after[r].begin() + static_cast<std::ptrdiff_t>(i), after[r].begin() + static_cast<std::ptrdiff_t>(j) + 1);
          ASSERT_EQ(two_opt_delta(vrp.view(), before(routes[r], i), routes[r][i], routes[r][j], at(routes[r], j + 1)),
                    cost(vrp, joined(after)) - cost_before)
              << r << " " << i << " " << j;
        }
  });
}

/// fits() agrees with the oracle on one route that grows by a customer.
TEST(VrpDelta, FitsLaw) {
  int fitting = 0, not_fitting = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Draws draws{seed};
    Data data = random_data(draws);
    data.vehicles.reset();
    const Vrp vrp(data);
    const View d = vrp.view();
    Route route;
    std::int32_t load = 0, duration = 0;
    for (std::int32_t customer = 1; customer <= vrp.size(); ++customer) {
      std::vector<Route> routes{route};
      routes[0].push_back(customer);
      for (std::int32_t other = customer + 1; other <= vrp.size(); ++other) routes.push_back({other});
      const std::string what = complaint(vrp, joined(routes));
      const std::int32_t delta = insertion_delta(d, before(route, route.size()), customer, 0);
      const bool fit = fits(d, load, duration, customer, delta);
      ASSERT_EQ(fit, !what.starts_with("route 1 ")) << what;
      if (!fit) {
        ++not_fitting;
        break;
      }
      ++fitting;
      load += d.demand[customer];
      duration += delta + d.service[customer];
      route.push_back(customer);
    }
  }
  EXPECT_GT(fitting, 100);
  EXPECT_GT(not_fitting, 100);
}

}  // namespace
}  // namespace vicinity::vrp
