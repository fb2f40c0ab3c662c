// Adaptive large neighbourhood search on the GPU: every implementation gives what the reference gives, whole or in slices.
#include <cstdint>
#include <string>
#include <vector>

#include "core/api/device.hpp"
#include "core/util/error.hpp"
#include "kernels/alns/implementations.hpp"
#include "tests/support/alns_twins.hpp"

namespace vicinity::alns {
namespace {

class AlnsGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!device::info()) GTEST_SKIP() << device::absence();
  }
};

/// For what takes the reference too long.
const Implementation& fast_twin() {
  static const std::vector<Implementation> all = cpu_implementations();
  return named(all, "cpu-serial");
}

std::vector<Trial> edge_trials() {
  std::vector<Trial> trials;
  for (const Kind kind :
       {Kind::plain, Kind::coincident, Kind::full, Kind::one_vehicle, Kind::bound, Kind::all_same, Kind::detours, Kind::lengthening})
    for (const std::int32_t n : {1, 2, 3, 12, 47, 80}) trials.push_back(trial(static_cast<std::uint64_t>(n), n, kind, 3, 2));
  return trials;
}

TEST_F(AlnsGpu, RandomTwins) { expect_twins(reference(), gpu_implementations(), random_trials(systems::alns(), 60)); }

TEST_F(AlnsGpu, RandomTwinsInDeviceMemory) {
  expect_twins(fast_twin(), gpu_implementations(), in_device_memory(random_trials(systems::alns(), 30)));
}

TEST_F(AlnsGpu, EdgeTwins) { expect_twins(reference(), gpu_implementations(), edge_trials()); }

TEST_F(AlnsGpu, EdgeTwinsInSlices) { expect_twins(fast_twin(), gpu_implementations(), edge_trials(), in_slices); }

TEST_F(AlnsGpu, EdgeTwinsInDeviceMemory) { expect_twins(fast_twin(), gpu_implementations(), in_device_memory(edge_trials())); }

TEST_F(AlnsGpu, SizesAroundABlock) {
  std::vector<Trial> trials;
  for (const std::int32_t n : {255, 256, 511, 512, 513, 600})
    for (const Kind kind : {Kind::plain, Kind::one_vehicle, Kind::bound})
      trials.push_back(trial(static_cast<std::uint64_t>(n), n, kind, 2, 1));
  expect_twins(fast_twin(), gpu_implementations(), trials);
}

/// More than the table of gpu-tuned has columns for, and about as many.
TEST_F(AlnsGpu, ManyTours) {
  std::vector<Trial> trials;
  for (const std::int32_t n : {60, 100, 128, 140, 196, 197, 255, 300})
    trials.push_back(trial(static_cast<std::uint64_t>(n), n, Kind::full, 2, 1));
  expect_twins(fast_twin(), gpu_implementations(), trials);
}

/// gpu-tuned then has half of the shared memory a block.
TEST_F(AlnsGpu, MoreProcessesThanMultiprocessors) {
  expect_twins(fast_twin(), gpu_implementations(),
               {trial(1, 40, Kind::plain, 300, 2),
                described({{"size", std::int64_t{600}}, {"processes", std::int64_t{160}}, {"calls", std::int64_t{1}}})});
}

/// As large as the instances of Li, Golden and Wasil, and beyond what shared memory has room for on older GPUs.
TEST_F(AlnsGpu, LargeTwins) {
  const auto large = [](std::int64_t size, std::int64_t processes) {
    return described({{"size", size}, {"route_size", std::int64_t{80}}, {"processes", processes}, {"calls", std::int64_t{1}}});
  };
  expect_twins(fast_twin(), gpu_implementations(), {large(1200, 4), large(2000, 1)});
}

TEST_F(AlnsGpu, TwinsAgreeWhereVehiclesMayNotSuffice) {
  expect_twins_where_vehicles_may_not_suffice(reference(), gpu_implementations(), 40, 2, 1);
}

TEST_F(AlnsGpu, NoTourIsLeftAboveTheLimit) {
  expect_twins(fast_twin(), gpu_implementations(), lengthening_trials(1));
  expect_twins(fast_twin(), gpu_implementations(), in_device_memory(lengthening_trials(3)));
}

TEST_F(AlnsGpu, TheStoppingRuleEndsTheSearch) {
  expect_twins(fast_twin(), gpu_implementations(), {trial(5, 40, Kind::plain, 6, 0), trial(6, 60, Kind::bound, 9, 0)});
}

/// Long enough that processes start again.
TEST_F(AlnsGpu, RestartsTakeTheSameStarts) {
  const Trial one = trial(7, 30, Kind::plain, 8, 130);
  EXPECT_GT(outcome_of(fast_twin(), one, at_once).counters.at("restarts"), 0);
  expect_twins(fast_twin(), gpu_implementations(), {one});
}

TEST_F(AlnsGpu, PrefixesAreTheSame) {
  std::vector<Implementation> all{fast_twin()};
  for (const Implementation& implementation : gpu_implementations()) all.push_back(implementation);
  expect_prefix_twins(all, random_trials(systems::alns(), 30));
}

TEST_F(AlnsGpu, OneRunIsAsGoodAsANewOne) { expect_a_run_is_as_good_as_new(gpu_implementations(), trial(3, 40, Kind::plain, 2, 2)); }

TEST_F(AlnsGpu, AnOutcomeMidwayChangesNothing) {
  const Trial one = trial(9, 50, Kind::plain, 3, 4);
  for (const Implementation& implementation : gpu_implementations()) {
    const auto run = implementation.prepare(one.c, *one.instance);
    run->reset(11);
    ASSERT_TRUE(run->execute({.iterations = 2}));
    const Outcome midway = run->outcome();
    EXPECT_TRUE(midway.feasible) << midway.complaint;
    EXPECT_EQ(midway.iterations, 2);
    run->execute();
    EXPECT_EQ(run->outcome().digest, outcome_of(fast_twin(), one, at_once).digest) << implementation.name;
  }
}

TEST_F(AlnsGpu, StartsWhereItIsTold) {
  Trial one = trial(4, 30, Kind::plain, 2, 1);
  const auto& vrp = dynamic_cast<const vrp::Vrp&>(*one.instance);
  one.start = outcome_of(fast_twin(), trial(4, 30, Kind::plain, 4, 20), at_once).solution;
  EXPECT_LE(*outcome_of(fast_twin(), one, at_once).objective, vrp::cost(vrp, *one.start));
  expect_twins(reference(), gpu_implementations(), {one});
  one.start->push_back(1);
  for (const Implementation& implementation : gpu_implementations())
    EXPECT_THROW(static_cast<void>(outcome_of(implementation, one, at_once)), InputError) << implementation.name;
}

}  // namespace
}  // namespace vicinity::alns
