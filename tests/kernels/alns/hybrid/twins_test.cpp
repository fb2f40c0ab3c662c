// gpu-hybrid gives what cpu-hybrid gives, whole or in slices, in shared and in device memory.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/api/device.hpp"
#include "core/methods/alns/hybrid/islands.hpp"
#include "core/util/error.hpp"
#include "cpu_ref/alns/hybrid/implementations.hpp"
#include "kernels/alns/implementations.hpp"
#include "tests/support/alns_twins.hpp"

namespace vicinity::alns {
namespace {

class HybridGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!device::info()) GTEST_SKIP() << device::absence();
  }
};

const Implementation& twin() {
  static const std::vector<Implementation> all = cpu_hybrid_implementations();
  return all.front();
}

/// Twins, and whether a solution was found at all: fleets may not suffice.
void expect_hybrid_twins(const std::vector<Trial>& trials, const std::function<void(Run&)>& go = at_once) {
  for (const Trial& one : trials) {
    const Outcome expected = outcome_of(twin(), one, at_once);
    for (const Implementation& implementation : gpu_hybrid_implementations()) {
      const Outcome outcome = outcome_of(implementation, one, go);
      const std::string name = implementation.name + ", " + one.name;
      EXPECT_EQ(outcome.feasible, expected.feasible) << name << ": " << outcome.complaint;
      EXPECT_EQ(outcome.digest, expected.digest) << name;
      EXPECT_EQ(outcome.objective, expected.objective) << name;
      EXPECT_EQ(outcome.evaluations, expected.evaluations) << name;
      EXPECT_EQ(outcome.iterations, expected.iterations) << name;
      EXPECT_EQ(outcome.solution, expected.solution) << name;
    }
  }
}

std::vector<Trial> edge_trials(std::int64_t lines, std::int64_t generations) {
  std::vector<Trial> trials;
  for (const Kind kind : {Kind::plain, Kind::coincident, Kind::full, Kind::one_vehicle, Kind::bound, Kind::limited, Kind::all_same,
                          Kind::matrix, Kind::detours})
    for (const std::int32_t n : {1, 2, 3, 12, 47, 80}) trials.push_back(trial(static_cast<std::uint64_t>(n), n, kind, lines, generations));
  return trials;
}

TEST_F(HybridGpu, RandomTwins) {
  std::vector<Trial> trials = random_trials(systems::alns(), 60);
  for (std::size_t i = 0; i < trials.size(); ++i) trials[i].c.values["calls"] = static_cast<std::int64_t>(5 + i);
  expect_hybrid_twins(trials);
}

TEST_F(HybridGpu, EdgeTwins) { expect_hybrid_twins(edge_trials(5, 30)); }

TEST_F(HybridGpu, EdgeTwinsInSlices) { expect_hybrid_twins(edge_trials(5, 4), in_slices); }

/// More lines than run at a time, so that some have not begun when the others are told to end.
TEST_F(HybridGpu, AnInterruptedGenerationGoesOn) {
  expect_hybrid_twins(edge_trials(5, 4), interrupted);
  expect_hybrid_twins({trial(7, 150, Kind::plain, 1500, 3)}, interrupted);
}

TEST_F(HybridGpu, EdgeTwinsInDeviceMemory) { expect_hybrid_twins(in_device_memory(edge_trials(5, 8))); }

TEST_F(HybridGpu, WhereVehiclesMayNotSuffice) {
  std::vector<Trial> trials;
  for (std::uint64_t seed = 0; seed < 40; ++seed) trials.push_back(trial(seed, 5 + static_cast<std::int32_t>(seed), Kind::limited, 4, 6));
  expect_hybrid_twins(trials);
}

/// Cycles end, islands exchange their best, populations lose members.
TEST_F(HybridGpu, LongTwinsOnIslands) {
  constexpr std::int64_t lines = hybrid::lines_of_island;
  std::vector<Trial> trials{trial(5, 13, Kind::bound, 2 * lines + 8, 310), trial(6, 60, Kind::plain, lines + 4, 120),
                            trial(8, 30, Kind::matrix, 6, 210)};
  for (Trial& one : trials) one.c.values["removals"] = std::int64_t{200};
  expect_hybrid_twins(trials);
}

TEST_F(HybridGpu, MoreLinesThanBlocksAtATime) { expect_hybrid_twins({trial(1, 40, Kind::plain, 1500, 3)}); }

/// As large as the instances of Li, Golden and Wasil, and larger.
TEST_F(HybridGpu, LargeTwins) {
  const auto large = [](std::int64_t size, std::int64_t route_size, std::int64_t limit_percent) {
    std::map<std::string, Value> values{
        {"size", size}, {"route_size", route_size}, {"processes", std::int64_t{4}}, {"calls", std::int64_t{3}}};
    if (limit_percent > 0) values["limit_percent"] = limit_percent;
    return described(values);
  };
  expect_hybrid_twins({large(560, 60, 0), large(1200, 80, 120), large(1200, 8, 0), large(2500, 100, 0)});
}

TEST_F(HybridGpu, OneRunIsAsGoodAsANewOne) {
  expect_a_run_is_as_good_as_new(gpu_hybrid_implementations(), trial(3, 40, Kind::plain, 4, 5));
}

TEST_F(HybridGpu, StartsWhereItIsTold) {
  Trial one = trial(4, 30, Kind::plain, 5, 3);
  one.start = outcome_of(twin(), trial(4, 30, Kind::plain, 4, 20), at_once).solution;
  expect_hybrid_twins({one});
  one.start->push_back(1);
  for (const Implementation& implementation : gpu_hybrid_implementations())
    EXPECT_THROW(static_cast<void>(outcome_of(implementation, one, at_once)), InputError) << implementation.name;
}

}  // namespace
}  // namespace vicinity::alns
