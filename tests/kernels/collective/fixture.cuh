#pragma once
// What the tests of the collectives share.
#include <gtest/gtest.h>

#include "core/device.hpp"
#include "core/math.hpp"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/memory.cuh"
#include "tests/kernels/collective/keys.cuh"

namespace vicinity::cuda {

class Collective : public testing::Test {
 protected:
  void SetUp() override {
    if (!device::info()) GTEST_SKIP() << device::absence();
  }
  const Stream& stream() {
    static const Stream one;
    return one;
  }
};

}  // namespace vicinity::cuda
