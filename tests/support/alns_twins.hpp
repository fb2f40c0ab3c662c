#pragma once
// What the tests of every implementation of routing ask: customers that are hard to serve.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/methods/alns/task.hpp"
#include "core/util/rng.hpp"
#include "cpu_ref/alns/implementations.hpp"
#include "systems/list.hpp"
#include "tests/support/runs.hpp"

namespace vicinity::alns {

/// The edge case; `full`: a customer a route, `all_same`: all customers at the depot.
/// detours: some are shorter than the way without them, and tours are limited; lengthening: so that tours come out above the limit where
/// removals make them longer.
enum class Kind { plain, coincident, full, one_vehicle, bound, limited, all_same, matrix, detours, lengthening };

/// Customers in a square, what makes them hard to serve drawn as well.
inline vrp::Vrp instance_of(std::uint64_t seed, std::int32_t n, Kind kind) {
  std::uint32_t draw = 0;
  const auto below = [&](std::int64_t bound) {
    return static_cast<std::int32_t>(scale_to(random_bits(seed, 3, 0, draw++), static_cast<std::uint64_t>(bound)));
  };
  const std::int32_t extent = kind == Kind::all_same ? 1 : kind == Kind::coincident ? 2 : 100;
  vrp::Data data;
  data.name = "random";
  for (std::int32_t i = 0; i <= n; ++i) {
    data.x.push_back(below(extent));
    data.y.push_back(below(extent));
    data.demand.push_back(i == 0 ? 0 : kind == Kind::full ? 10 : 1 + below(10));
  }
  data.capacity = kind == Kind::one_vehicle ? 10 * n : kind == Kind::full ? 10 : 10 + below(40);
  if (kind == Kind::one_vehicle) data.vehicles = 1;
  if (kind == Kind::limited) data.vehicles = 1 + below(n);
  if (kind == Kind::bound) {
    data.limit = 290 + below(100);  // 2 sqrt(2) 100 < 290: each customer can be reached
    data.service.assign(static_cast<std::size_t>(n) + 1, below(5));
    data.service.front() = 0;
  }
  if (kind == Kind::detours) data.limit = 200 + below(100);
  if (kind == Kind::lengthening) {
    data.limit = 200 + below(20);  // 2 x 50 + 99 < 200: each customer can be reached
    for (std::int32_t i = 0; i <= n; ++i) data.service.push_back(i == 0 || below(3) == 0 ? 0 : below(100));
  }
  if (kind == Kind::matrix || kind == Kind::detours || kind == Kind::lengthening) {
    const auto size = static_cast<std::size_t>(n) + 1;
    data.matrix.assign(size * size, 0);
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < i; ++j)
        data.matrix[i * size + j] = data.matrix[j * size + i] = 1 + below(kind == Kind::lengthening && j == 0 ? 50 : 100);
    data.x.clear();
    data.y.clear();
  }
  return vrp::Vrp(data);
}
inline Trial trial(std::uint64_t seed, std::int32_t n, Kind kind, std::int64_t processes, std::int64_t calls) {
  Case c{"vrp", "", {{"processes", processes}, {"calls", calls}, {"threads", std::int64_t{2}}}};
  return {c, std::make_shared<vrp::Vrp>(instance_of(seed, n, kind)),
          "kind " + std::to_string(static_cast<int>(kind)) + ", n " + std::to_string(n)};
}

/// Each ends, after one call, with a tour above the limit where a repair takes such a solution for complete.
inline std::vector<Trial> lengthening_trials(std::int64_t calls) {
  const std::pair<std::int32_t, std::vector<std::uint64_t>> seeds_of[] = {{12, {101, 126, 134, 139}},
                                                                          {16, {11, 39, 122, 130, 139, 140, 144}},
                                                                          {24, {2, 25, 47, 91, 142, 149}},
                                                                          {28, {2, 8, 17, 25, 52, 72, 80}},
                                                                          {47, {22, 24, 29, 47, 72, 82, 85, 96, 111, 143}}};
  std::vector<Trial> trials;
  for (const auto& [n, seeds] : seeds_of)
    for (const std::uint64_t seed : seeds) trials.push_back(trial(seed, n, Kind::lengthening, 3, calls));
  return trials;
}

/// A random instance of the system, as its axes describe it.
inline Trial described(std::map<std::string, Value> values) {
  const Case c{"vrp", "", std::move(values)};
  return {c, systems::alns().instance(c), c.key()};
}

/// With what a block works on in device memory.
inline std::vector<Trial> in_device_memory(std::vector<Trial> trials) {
  for (Trial& one : trials) one.c.values["memory"] = std::string("global");
  return trials;
}

/// Of so many instances with few vehicles some have a solution and some have none: twins find the same, and say the same of the others.
inline void expect_twins_where_vehicles_may_not_suffice(const Implementation& reference, const std::vector<Implementation>& implementations,
                                                        std::uint64_t instances, std::int64_t processes, std::int64_t calls) {
  std::uint64_t infeasible = 0;
  for (std::uint64_t seed = 0; seed < instances; ++seed) {
    const Trial one = trial(seed, 5 + static_cast<std::int32_t>(seed), Kind::limited, processes, calls);
    const Outcome expected = outcome_of(reference, one, at_once);
    infeasible += static_cast<std::uint64_t>(!expected.feasible);
    EXPECT_EQ(expected.feasible, expected.complaint.empty());
    for (const Implementation& implementation : implementations) {
      const Outcome outcome = outcome_of(implementation, one, at_once);
      EXPECT_EQ(outcome.digest, expected.digest) << implementation.name << ' ' << seed;
      EXPECT_EQ(outcome.feasible, expected.feasible) << implementation.name << ' ' << seed;
      EXPECT_EQ(outcome.complaint, expected.complaint) << implementation.name << ' ' << seed;
    }
  }
  EXPECT_GT(infeasible, 0U);
  EXPECT_LT(infeasible, instances);
}

/// The reference, which the table of CPU implementations begins with.
inline const Implementation& reference() {
  static const std::vector<Implementation> all = cpu_implementations();
  return all.front();
}

}  // namespace vicinity::alns
