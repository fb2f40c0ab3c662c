// The variants of gpu that take paths of their own: each gives what its CPU twin gives, whole or in slices, in shared and in device memory.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/api/device.hpp"
#include "kernels/alns/implementations.hpp"
#include "tests/support/alns_twins.hpp"

namespace vicinity::alns {
namespace {

class AlnsGpuVariants : public testing::Test {
 protected:
  void SetUp() override {
    if (!device::info()) GTEST_SKIP() << device::absence();
  }
};

const Implementation& twin_of(const Implementation& implementation) {
  static const std::vector<Implementation> all = cpu_variants();
  return named(all, implementation.reference.c_str());
}
void expect_variant_twins(const std::vector<Trial>& trials, const std::function<void(Run&)>& go = at_once) {
  for (const Implementation& implementation : gpu_variants()) expect_twins(twin_of(implementation), {implementation}, trials, go);
}
std::vector<Trial> edge_trials(std::int64_t processes, std::int64_t calls) {
  std::vector<Trial> trials;
  for (const Kind kind : {Kind::plain, Kind::coincident, Kind::full, Kind::one_vehicle, Kind::bound, Kind::all_same, Kind::matrix,
                          Kind::detours, Kind::lengthening})
    for (const std::int32_t n : {1, 2, 3, 12, 33, 47, 80})
      trials.push_back(trial(static_cast<std::uint64_t>(n), n, kind, processes, calls));
  return trials;
}

TEST_F(AlnsGpuVariants, RandomTwins) { expect_variant_twins(random_trials(systems::alns(), 60)); }

TEST_F(AlnsGpuVariants, RandomTwinsInDeviceMemory) { expect_variant_twins(in_device_memory(random_trials(systems::alns(), 30))); }

/// Seven calls: a child of five, and two calls after it.
TEST_F(AlnsGpuVariants, EdgeTwins) { expect_variant_twins(edge_trials(3, 7)); }

TEST_F(AlnsGpuVariants, EdgeTwinsInSlices) { expect_variant_twins(edge_trials(2, 6), in_slices); }

TEST_F(AlnsGpuVariants, EdgeTwinsInDeviceMemory) { expect_variant_twins(in_device_memory(edge_trials(2, 6))); }

/// Tours that are longer than a warp has lanes, and more of them than a block has warps.
TEST_F(AlnsGpuVariants, LongAndManyTours) {
  std::vector<Trial> trials;
  for (const std::int32_t n : {31, 32, 33, 64, 65, 300}) trials.push_back(trial(static_cast<std::uint64_t>(n), n, Kind::one_vehicle, 2, 6));
  for (const std::int32_t n : {100, 140, 300}) trials.push_back(trial(static_cast<std::uint64_t>(n), n, Kind::full, 2, 2));
  for (const std::int32_t n : {511, 512, 600}) trials.push_back(trial(static_cast<std::uint64_t>(n), n, Kind::plain, 2, 6));
  expect_variant_twins(trials);
}

/// As large as the instances of Li, Golden and Wasil.
TEST_F(AlnsGpuVariants, LargeTwins) {
  expect_variant_twins({described(
      {{"size", std::int64_t{1200}}, {"route_size", std::int64_t{80}}, {"processes", std::int64_t{4}}, {"calls", std::int64_t{6}}})});
}

TEST_F(AlnsGpuVariants, TwinsAgreeWhereVehiclesMayNotSuffice) {
  for (const Implementation& implementation : gpu_variants())
    expect_twins_where_vehicles_may_not_suffice(twin_of(implementation), {implementation}, 20, 3, 11);
}

/// Long enough that processes start again from starts and from children.
TEST_F(AlnsGpuVariants, RestartsAndChildrenAreTheSame) {
  const Trial one = trial(7, 30, Kind::plain, 8, 130);
  for (const Implementation& implementation : gpu_variants()) {
    const Outcome expected = outcome_of(twin_of(implementation), one, at_once);
    EXPECT_GT(expected.counters.at("restarts"), 0);
    if (implementation.name == "gpu-genetic") {
      EXPECT_EQ(expected.counters.at("children"), 25);
    }
  }
  expect_variant_twins({one});
}

TEST_F(AlnsGpuVariants, NoTourIsLeftAboveTheLimit) { expect_variant_twins(lengthening_trials(7)); }

TEST_F(AlnsGpuVariants, TheStoppingRuleEndsTheSearch) {
  expect_variant_twins({trial(5, 40, Kind::plain, 6, 0), trial(6, 60, Kind::bound, 9, 0)});
}

TEST_F(AlnsGpuVariants, PrefixesAreTheSame) {
  for (const Implementation& implementation : gpu_variants())
    expect_prefix_twins({twin_of(implementation), implementation}, random_trials(systems::alns(), 20));
}

TEST_F(AlnsGpuVariants, OneRunIsAsGoodAsANewOne) { expect_a_run_is_as_good_as_new(gpu_variants(), trial(3, 40, Kind::plain, 2, 6)); }

}  // namespace
}  // namespace vicinity::alns
