#include "core/methods/alns/hybrid/population.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace vicinity::alns::hybrid {
namespace {

/// Three rings of twelve customers, which have symmetries, or none.
vrp::Vrp rings(bool even) {
  vrp::Data data;
  data.x = data.y = {0};
  data.demand = {0};
  for (int i = 0; i < 36; ++i) {
    const double angle = 2 * std::numbers::pi * (i % 12) / 12, radius = 30.0 * (1 + i / 12);
    data.x.push_back(std::round(10'000 * radius * std::cos(angle)) / 10'000 + (even || i != 1 ? 0 : 1));
    data.y.push_back(std::round(10'000 * radius * std::sin(angle)) / 10'000);
    data.demand.push_back(1);
  }
  data.capacity = 9;
  return vrp::Vrp(data);
}

/// Customers in a drawn order, some exchanged, on five routes: within the capacity or not. Few orders, so that copies come.
Individual drawn(const vrp::Vrp& vrp, Stream& stream) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(vrp.size()));
  std::iota(order.begin(), order.end(), 1);
  for (std::int32_t swaps = stream.below(4); swaps > 0; --swaps)
    std::swap(order[static_cast<std::size_t>(stream.below(vrp.size()))], order[static_cast<std::size_t>(stream.below(vrp.size()))]);
  Routes routes(5);
  const std::int32_t most = 8 + stream.below(2);
  for (std::size_t i = 0; i < order.size(); ++i) routes[i / static_cast<std::size_t>(most)].push_back(order[i]);
  if (stream.below(3) == 0) std::swap(routes[0], routes[4]);
  if (stream.below(3) == 0) {
    routes[0].insert(routes[0].end(), routes[4].begin(), routes[4].end());
    routes[4].clear();
  }
  return individual_of(vrp.view(), std::move(routes));
}

/// Members leave, leaders change, penalties too; what was prepared beforehand changes nothing.
TEST(HybridPopulation, ManyAreTakenInAsOneAfterTheOther) {
  for (const bool even : {true, false}) {
    const vrp::Vrp vrp = rings(even);
    const Granular granular(vrp);
    EXPECT_EQ(granular.symmetries.empty(), !even);
    Population one(vrp, granular), many(vrp, granular);
    for (std::int64_t generation = 0; generation < 12; ++generation) {
      Stream stream(3, generation, 0);
      std::vector<std::optional<Population::Arrival>> arrivals;
      many.expect();
      for (int i = 0; i < 40; ++i) {
        if (stream.below(5) == 0) {
          arrivals.emplace_back();
          continue;
        }
        const Individual individual = drawn(vrp, stream);
        one.add(individual);
        arrivals.emplace_back(many.arrival(individual));
      }
      for (std::size_t i = arrivals.size(); i-- > 0;)
        if (arrivals[i]) many.measure(arrivals, i);
      for (std::size_t i = 0; i < arrivals.size(); ++i) {
        if (!arrivals[i]) continue;
        if (many.leader_changes()) {
          for (std::size_t j = i; j < arrivals.size(); ++j)
            if (arrivals[j]) many.renew(*arrivals[j]);
          for (std::size_t j = arrivals.size(); j-- > i;)
            if (arrivals[j]) many.measure_anew(arrivals, i, j);
        }
        many.add(arrivals, i);
      }
      for (Population* population : {&one, &many}) {
        population->adapt(40, generation, 40 - generation);
        population->rank();
      }
      ASSERT_EQ(many.size(), one.size());
      EXPECT_LE(one.size(), 2 * (least_kept + most_new));
      Stream first(5, generation, 0), second(5, generation, 0);
      for (int draw = 0; draw < 100; ++draw) ASSERT_EQ(many.parent(first).routes, one.parent(second).routes) << generation;
      ASSERT_EQ(many.cheapest().has_value(), one.cheapest().has_value());
      if (one.cheapest()) {
        EXPECT_EQ(many.cheapest()->routes, one.cheapest()->routes);
      }
    }
  }
}

}  // namespace
}  // namespace vicinity::alns::hybrid
