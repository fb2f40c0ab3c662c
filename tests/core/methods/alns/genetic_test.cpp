#include "core/methods/alns/genetic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include "core/methods/alns/boundary.hpp"
#include "core/methods/alns/order_crossover.hpp"
#include "core/problems/vrp/vrp.hpp"
#include "tests/support/alns_twins.hpp"

namespace vicinity::alns {
namespace {

using Costs = std::vector<std::int64_t>;

std::vector<std::int32_t> numbered(std::int32_t n) {
  std::vector<std::int32_t> order;
  for (std::int32_t r = 1; r <= n; ++r) order.push_back(r);
  return order;
}

TEST(AlnsGenetic, AChildIsBornAtEveryFifthBoundary) {
  const Costs costs{5, 4, 3};
  for (std::int64_t calls = 1; calls <= 20; ++calls) EXPECT_EQ(birth_at(1, calls, costs).has_value(), calls % 5 == 0) << calls;
  EXPECT_FALSE(birth_at(1, 5, Costs{7}));
}

TEST(AlnsGenetic, ParentsDifferAndTheWorseHalfMakesRoom) {
  const Costs costs{50, 10, 40, 10, 30};  // ranked: 1, 3, 4, 2, 0
  std::set<std::int32_t> mothers, fathers, processes;
  int best = 0, worst = 0;
  for (std::int64_t calls = 5; calls <= 5000; calls += 5) {
    const Birth birth = *birth_at(9, calls, costs);
    EXPECT_NE(birth.mother, birth.father);
    mothers.insert(birth.mother);
    fathers.insert(birth.father);
    processes.insert(birth.process);
    best += static_cast<int>(birth.mother == 1);
    worst += static_cast<int>(birth.mother == 0);
  }
  const std::set<std::int32_t> all{0, 1, 2, 3, 4};
  EXPECT_EQ(mothers, all);
  EXPECT_EQ(fathers, all);
  EXPECT_EQ(processes, (std::set<std::int32_t>{0, 2, 4}));
  EXPECT_GT(best, 4 * worst) << "a tournament: 8 of 25, or 1 of 25";
}

/// Against all ways to cut, by the oracle.
TEST(AlnsGenetic, SplitsAtTheLeastCost) {
  for (const Kind kind : {Kind::plain, Kind::bound, Kind::full, Kind::one_vehicle, Kind::matrix})
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      const std::int32_t n = 8;
      const vrp::Vrp vrp = instance_of(seed, n, kind);
      std::int64_t least = std::numeric_limits<std::int64_t>::max();
      for (std::uint32_t cuts = 0; cuts < 1u << (n - 1); ++cuts) {
        Tours tours(1);
        for (std::int32_t r = 1; r <= n; ++r) {
          tours.back().push_back(r);
          if (r < n && (cuts >> (r - 1) & 1u) != 0) tours.emplace_back();
        }
        if (kind == Kind::one_vehicle && tours.size() > 1) continue;
        const Solution solution = vrp::encoded(tours);
        if (vrp::complaint(vrp, solution).empty()) least = std::min(least, vrp::cost(vrp, solution));
      }
      const Solution found = vrp::encoded(split_in_order(vrp.view(), numbered(n)));
      EXPECT_EQ(vrp::complaint(vrp, found), "") << static_cast<int>(kind) << ' ' << seed;
      EXPECT_EQ(vrp::cost(vrp, found), least) << static_cast<int>(kind) << ' ' << seed;
    }
}

TEST(AlnsGenetic, ChildrenAreSolutions) {
  for (const Kind kind : {Kind::plain, Kind::bound, Kind::full, Kind::one_vehicle, Kind::coincident})
    for (const std::int32_t n : {1, 2, 30}) {
      const vrp::Vrp vrp = instance_of(static_cast<std::uint64_t>(n), n, kind);
      std::vector<std::int32_t> order = numbered(n);
      const Tours mother = split_in_order(vrp.view(), order);
      std::reverse(order.begin(), order.end());
      Tours father = split_in_order(vrp.view(), order);
      father.emplace_back();  // tours may be empty
      for (std::int64_t calls = 5; calls <= 50; calls += 5) {
        const auto child = child_of(vrp.view(), 3, calls, mother, father);
        ASSERT_TRUE(child);
        EXPECT_EQ(vrp::complaint(vrp, vrp::encoded(*child)), "");
        for (const auto& tour : *child) EXPECT_FALSE(tour.empty());
      }
    }
}

TEST(AlnsGenetic, AChildThatNeedsMoreVehiclesIsNone) {
  vrp::Data data;
  data.x = data.y = {0, 1, 2, 3};
  data.demand = {0, 2, 1, 2};  // 2, 1, 2 in this order take three vehicles of capacity 2; 1 beside neither
  data.capacity = 2;
  data.vehicles = 3;
  const vrp::Vrp three(data);
  data.vehicles = 2;
  const vrp::Vrp two(data);
  const Tours parent{{1}, {2}, {3}};
  EXPECT_TRUE(child_of(three.view(), 1, 5, parent, parent));
  EXPECT_FALSE(child_of(two.view(), 1, 5, parent, parent));
}

TEST(AlnsGenetic, OrderCrossoverIsPrins) {
  // From the fourth to the sixth of 1 3 2 | 6 4 5 | 9 7 8, the others by 3 7 8 1 4 9 2 5 6 from the seventh on.
  EXPECT_EQ(order_crossover({1, 3, 2, 6, 4, 5, 9, 7, 8}, {3, 7, 8, 1, 4, 9, 2, 5, 6}, 3, 5),
            (std::vector<std::int32_t>{8, 1, 9, 6, 4, 5, 2, 3, 7}));
}

TEST(AlnsGenetic, AProcessThatBeganWithAChildIsIdleAnew) {
  Boundary boundary({.processes = 2, .calls = 1000}, Costs{100, 90});
  for (std::int64_t call = 1; call < unpromising_calls; ++call) boundary.end_call(Costs{100, 90}, Costs{100, 90});
  boundary.began(0, 95);
  boundary.end_call(Costs{95, 90}, Costs{100, 90});
  EXPECT_EQ(boundary.restarts()[0], -1) << "else its twentieth call without a change";
  boundary.end_call(Costs{94, 90}, Costs{100, 90});
  EXPECT_EQ(boundary.restarts_made(), 0);
}

}  // namespace
}  // namespace vicinity::alns
