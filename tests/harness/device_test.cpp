#include "core/api/device.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/measure/nvml.hpp"

namespace vicinity {
namespace {

TEST(Device, AbsenceSaysWhy) {
  EXPECT_EQ(device::info().has_value(), device::absence().empty());
  EXPECT_EQ(device::absence().find('\n'), std::string::npos);
  if (device::info()) GTEST_SKIP() << "there is a GPU";
  device::flush_l2();
  EXPECT_TRUE(device::ceilings().empty());
  EXPECT_EQ(device::control_seconds(), 0);
}

TEST(Device, PresentDeviceAnswersEverything) {
  const auto info = device::info();
  if (!info) GTEST_SKIP() << device::absence();
  EXPECT_FALSE(info->name.empty());
  EXPECT_GT(info->multiprocessors, 0);
  EXPECT_GT(info->l2_bytes, 0U);
  device::flush_l2();
  EXPECT_GT(device::control_seconds(), 0);
  EXPECT_TRUE(nvml::state(info->pci_bus)) << "NVML does not know " << info->pci_bus;
  const auto ceilings = device::ceilings();
  for (const char* name : {"copy_bandwidth", "shared_bandwidth", "integer", "multiply_add", "popcount", "special_function", "issue",
                           "launch", "grid_barrier", "block_barrier"}) {
    ASSERT_TRUE(ceilings.contains(name)) << name;
    EXPECT_TRUE(std::isfinite(ceilings.at(name)) && ceilings.at(name) > 0) << name;
  }
  EXPECT_EQ(ceilings.contains("cluster_barrier"), info->compute_capability >= 90);
}

}  // namespace
}  // namespace vicinity
