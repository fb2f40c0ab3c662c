// The library on a GPU: the twin of the CPU for every mask, order and generator, over generations that stay on the device.
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "core/api/device.hpp"
#include "tests/support/fang_library.hpp"
#include "vicinity/fang.cuh"

namespace vicinity::fang {
namespace {

class FangLibraryGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!device::info()) GTEST_SKIP() << device::absence();
  }
};

TEST_F(FangLibraryGpu, MasksOrdersAndGenerators) {
  auto domains = slot_domains();
  for (const std::uint64_t scale : {1, 1 << 30}) domains.emplace_back(2, 1, 98304, 3, scale);  // ratings that no block can hold
  for (const Slots& domain : domains) {
    States sources = make_states(domain, 5);
    assign_cpu(domain, domain.empty_states(1), sources, {3});
    for (const MaskedCall& masks : masked_calls(domain, 5, 35))
      for (const Order order : {Order::fixed, Order::permuted}) {
        EXPECT_EQ(verify(domain, sources, 35, masks.call(9, order)), "") << masks.name;
        EXPECT_EQ(verify<XorShift1024Star>(domain, sources, 35, masks.call(9, order)), "") << masks.name;
      }
  }
}

TEST_F(FangLibraryGpu, GenerationsOnTheDevice) {
  const Slots domain(33, 7, 70, 2, 1);
  States sources = domain.empty_states(64), targets = sources;
  PlacedDomain placed(domain);
  DeviceStates from = placed.make_states(64), to = placed.make_states(64);
  from.assign(sources, placed.stream());
  const auto calls = masked_calls(domain, 64, 64);
  for (std::uint64_t generation = 0; generation < 20; ++generation) {
    const Generation call = calls[generation % calls.size()].call(generation, Order::permuted);
    assign_cpu(domain, sources, targets, call);
    assign_gpu(placed, from, to, call);
    std::swap(sources, targets);
    std::swap(from, to);
    EXPECT_EQ(costs_gpu(placed, from), costs_cpu(domain, sources)) << generation;
    ASSERT_EQ(first_difference(sources, from.to_host()), "") << generation;
  }
}

TEST_F(FangLibraryGpu, ADifferenceIsFound) {
  const Slots domain(3, 2, 40, 2, 1);
  States states = domain.empty_states(2);
  PlacedDomain placed(domain);
  DeviceStates from = placed.make_states(2), to = placed.make_states(2);
  from.assign(states, placed.stream());
  assign_gpu(placed, from, to, {.seed = 1});
  placed.synchronize();
  assign_cpu(domain, domain.empty_states(2), states, {.seed = 2});
  EXPECT_NE(first_difference(states, to.to_host()), "");
}

}  // namespace
}  // namespace vicinity::fang
