// Annealing on the GPU: every implementation gives what the reference gives, whole or in slices.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/device.hpp"
#include "core/error.hpp"
#include "core/systems.hpp"
#include "data/sa/system.hpp"

namespace vicinity::sa {
namespace {

class SaGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!device::info()) GTEST_SKIP() << device::absence();
  }
};

constexpr std::uint64_t seed = 11;

Case qap_case(std::int64_t size, std::int64_t iterations, std::map<std::string, Value> more = {}) {
  more["size"] = size;
  more["iterations"] = iterations;
  return {"qap", "", std::move(more)};
}

const Implementation& reference() {
  static const std::vector<Implementation> all = cpu_implementations();
  for (const Implementation& implementation : all)
    if (implementation.name == system().reference) return implementation;
  throw std::logic_error("no reference");
}

Outcome outcome_of(const Implementation& implementation, const Case& c, const Instance& instance) {
  const auto run = implementation.prepare(c, instance);
  run->reset(seed);
  run->execute();
  return run->outcome();
}

void expect_equal(const Outcome& outcome, const Outcome& expected, const std::string& what) {
  EXPECT_TRUE(outcome.feasible) << what << ": " << outcome.complaint;
  EXPECT_EQ(outcome.digest, expected.digest) << what;
  EXPECT_EQ(outcome.objective, expected.objective) << what;
  EXPECT_EQ(outcome.counters, expected.counters) << what;
}

void expect_twins(const Case& c, const Instance& instance) {
  const Outcome expected = outcome_of(reference(), c, instance);
  ASSERT_TRUE(expected.feasible) << c.key() << ": " << expected.complaint;
  for (const Implementation& implementation : gpu_implementations())
    expect_equal(outcome_of(implementation, c, instance), expected, c.key() + " " + implementation.name);
}

void expect_twins(const Case& c) { expect_twins(c, *make_instance(c)); }

/// Never warm enough to climb: freezes after a descent, and whole laps pass without a swap.
const std::map<std::string, Value> cold{{"t0", 0.02}, {"tf", 0.01}};

std::map<std::string, Value> with(std::map<std::string, Value> values, const std::string& axis, Value value) {
  values[axis] = std::move(value);
  return values;
}

TEST_F(SaGpu, RandomTwins) {
  for (std::uint64_t i = 0; i < 100; ++i) expect_twins(system().random_case(i));
}

TEST_F(SaGpu, SmallestSizes) {
  for (const std::int64_t size : {2, 3, 4})
    for (const std::int64_t iterations : {1, 2, 3, 4, 7, 1000})
      for (const char* matrix : {"symmetric", "asymmetric"}) {
        expect_twins(qap_case(size, iterations, {{"matrix", std::string(matrix)}}));
        expect_twins(qap_case(size, iterations, with(cold, "matrix", std::string(matrix))));
      }
}

TEST_F(SaGpu, ZeroMatricesAcceptEverything) {
  for (const std::int64_t size : {2, 33, 130}) {
    const Case c = qap_case(size, 3000, {{"range", std::int64_t{1}}});
    expect_twins(c);
    for (const Implementation& implementation : gpu_implementations())
      EXPECT_EQ(outcome_of(implementation, c, *make_instance(c)).counters.at("accepted"), 3000) << implementation.name;
  }
}

TEST_F(SaGpu, SizesAroundTheEdgesOfTilesAndStretches) {
  for (const std::int64_t size : {15, 16, 17, 31, 32, 33, 63, 64, 65, 66, 95, 96, 97, 127, 128, 129, 191, 192, 193, 257})
    for (const char* matrix : {"symmetric", "asymmetric"}) expect_twins(qap_case(size, 3000, {{"matrix", std::string(matrix)}}));
}

TEST_F(SaGpu, LongNumbers) {
  for (const std::int64_t size : {12, 70})  // deltas need 64 bits
    for (const char* matrix : {"symmetric", "asymmetric"})
      expect_twins(qap_case(size, 5000, {{"matrix", std::string(matrix)}, {"range", std::int64_t{1} << 24}}));
}

TEST_F(SaGpu, FreezesAndGoesOnForWholeLaps) {
  for (const std::int64_t size : {5, 20, 64, 100}) {
    const Case c = qap_case(size, 40 * size * size, cold);
    expect_twins(c);
    EXPECT_GE(outcome_of(reference(), c, *make_instance(c)).counters.at("frozen_at"), 0) << size;
  }
}

TEST_F(SaGpu, StopsRightBeforeAtAndBehindTheFreezingProposal) {
  const std::int64_t frozen_at = [] {
    const Case c = qap_case(20, 20000, cold);
    return outcome_of(reference(), c, *make_instance(c)).counters.at("frozen_at");
  }();
  ASSERT_GT(frozen_at, 1);
  for (std::int64_t iterations = frozen_at - 1; iterations <= frozen_at + 3; ++iterations) expect_twins(qap_case(20, iterations, cold));
}

/// The same run in slices, then at one go.
void expect_slices_add_up(const Implementation& implementation, const Case& c) {
  const auto instance = make_instance(c);
  const std::string what = c.key() + " " + implementation.name;
  const auto run = implementation.prepare(c, *instance);
  run->reset(seed);
  ASSERT_TRUE(run->advance(1e-9)) << what << ": one slice was all";
  EXPECT_TRUE(run->outcome().feasible) << what << " after a slice: " << run->outcome().complaint;
  while (run->advance(1e-9)) {
  }
  const Outcome sliced = run->outcome();
  expect_equal(sliced, outcome_of(implementation, c, *instance), what);
  run->reset(seed);
  run->execute();
  expect_equal(run->outcome(), sliced, what + " again");
}

TEST_F(SaGpu, SlicesAddUp) {
  const std::int64_t iterations = 100000;  // a first slice has some ten thousand
  for (const Implementation& implementation : gpu_implementations())
    for (const std::int64_t size : {2, 30, 100})
      for (const auto& values : {std::map<std::string, Value>{}, cold, std::map<std::string, Value>{{"chains", std::int64_t{3}}},
                                 std::map<std::string, Value>{{"matrix", std::string("asymmetric")}}})
        expect_slices_add_up(implementation, qap_case(size, iterations, values));
}

TEST_F(SaGpu, AChainIsTheRunOfItsSeed) {
  const std::int64_t chains = 4;
  const Case together = qap_case(40, 5000, {{"chains", chains}});
  const auto instance = make_instance(together);
  for (const Implementation& implementation : gpu_implementations()) {
    std::int64_t best = 0, accepted = 0;
    for (std::int64_t chain = 0; chain < chains; ++chain) {
      const Outcome alone = outcome_of(implementation, qap_case(40, 5000, {{"seed", chain}}), *instance);
      if (chain == 0 || *alone.objective < best) best = *alone.objective;
      accepted += alone.counters.at("accepted");
    }
    const Outcome all = outcome_of(implementation, together, *instance);
    EXPECT_EQ(all.objective, best) << implementation.name;
    EXPECT_EQ(all.counters.at("accepted"), accepted) << implementation.name;
  }
}

TEST_F(SaGpu, StartsWhereTheInstanceSays) {
  const Case c = qap_case(33, 1, {{"t0", 1e-3}, {"tf", 1e-3}});
  qap::Qap instance = *make_instance(c);
  qap::Permutation start(33);
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = static_cast<std::int32_t>((7 * i + 3) % start.size());
  instance.start = start;
  expect_twins(c, instance);
  expect_twins(qap_case(33, 4000), instance);
}

TEST_F(SaGpu, ARunThatDidNothingDoesNotPass) {
  const Case c = qap_case(30, 100);
  const auto instance = make_instance(c);
  for (const Implementation& implementation : gpu_implementations()) {
    const auto run = implementation.prepare(c, *instance);
    run->reset(seed);
    EXPECT_FALSE(run->outcome().feasible) << implementation.name;
    run->execute();
    run->reset(seed);
    EXPECT_FALSE(run->outcome().feasible) << implementation.name;
  }
}

}  // namespace
}  // namespace vicinity::sa
