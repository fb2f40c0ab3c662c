#pragma once
// Random instances of the vehicle routing problem and random solutions, feasible or not.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/problems/vrp/vrp.hpp"
#include "core/util/permutation.hpp"
#include "core/util/rng.hpp"

namespace vicinity::vrp {

struct Draws {
  std::uint64_t seed;
  std::uint64_t next = 0;

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(scale_to(random_bits(seed, next++, 0, 0), static_cast<std::uint64_t>(high - low + 1)));
  }
};

/// In the plane with every rounding, coincident places among them, or of a matrix without triangle inequality; with and without limit,
/// service times and fleet.
inline Data random_data(Draws& draws) {
  const auto n = static_cast<std::int32_t>(draws.between(1, 12));
  const auto places = static_cast<std::size_t>(n) + 1;
  Data data;
  data.name = "random";
  data.rounding = static_cast<Rounding>(draws.between(0, 2));
  const std::int64_t extent = std::vector<std::int64_t>{0, 3, 100, 40'000}[static_cast<std::size_t>(draws.between(0, 3))];
  const std::int64_t parts = draws.between(0, 1) == 0 ? 1 : 10'000;
  const auto amount = [&] { return static_cast<double>(draws.between(0, extent * parts)) / static_cast<double>(parts); };
  if (draws.between(0, 3) > 0) {
    for (std::size_t i = 0; i < places; ++i) {
      data.x.push_back(amount());
      data.y.push_back(amount());
    }
  } else {
    data.matrix.resize(places * places);
    for (std::size_t i = 0; i < places; ++i)
      for (std::size_t j = 0; j < i; ++j) data.matrix[i * places + j] = data.matrix[j * places + i] = amount();
  }
  for (std::size_t i = 0; i < places; ++i) data.demand.push_back(i == 0 ? 0 : static_cast<std::int32_t>(draws.between(0, 20)));
  data.capacity = static_cast<std::int32_t>(draws.between(1, 80));
  if (draws.between(0, 1) == 0) data.limit = static_cast<double>(draws.between(1, 4 * extent * parts + 1)) / static_cast<double>(parts);
  if (draws.between(0, 1) == 0)
    for (std::size_t i = 0; i < places; ++i) data.service.push_back(i == 0 ? 0 : amount());
  if (draws.between(0, 2) == 0) data.vehicles = static_cast<std::int32_t>(draws.between(1, 4));
  return data;
}

inline std::vector<Route> random_routes(Draws& draws, std::int32_t n) {
  std::vector<Route> routes(static_cast<std::size_t>(draws.between(1, n)));
  for (const std::int32_t customer : shuffled(n, draws.seed, 5))
    routes[static_cast<std::size_t>(draws.between(0, static_cast<std::int64_t>(routes.size()) - 1))].push_back(customer + 1);
  return routes;
}

/// Without encoded(): empty routes and all.
inline Solution joined(const std::vector<Route>& routes) {
  Solution solution;
  for (const Route& route : routes) {
    solution.insert(solution.end(), route.begin(), route.end());
    solution.push_back(0);
  }
  return solution;
}

template <class Check>
void for_random_instances(Check check) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Draws draws{seed};
    const Vrp vrp(random_data(draws));
    check(vrp, random_routes(draws, vrp.size()));
  }
}

}  // namespace vicinity::vrp
