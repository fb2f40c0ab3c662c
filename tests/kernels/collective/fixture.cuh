#pragma once
// What the tests of the collectives share.
#include <gtest/gtest.h>

#include "core/api/device.hpp"
#include "core/util/math.hpp"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/cuda/runtime/memory.cuh"
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
