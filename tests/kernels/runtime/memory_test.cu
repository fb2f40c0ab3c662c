// Buffers of device memory.
#include <cstdint>
#include <vector>

#include "tests/kernels/collective/fixture.cuh"

namespace vicinity::cuda {
namespace {

class DeviceMemory : public Collective {};

__global__ void count_kernel(const std::int32_t* numbers, std::int32_t count, std::int32_t wanted, std::int32_t* equal) {
  const auto i = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count && numbers[i] == wanted) atomicAdd(equal, 1);
}

/// Our streams wait for no other. A copy that was under way still was seen where many processes shared a GPU.
TEST_F(DeviceMemory, WhatIsCopiedIsThereForEveryStream) {
  for (std::int32_t round = 1; round <= 2000; ++round) {
    const std::vector<std::int32_t> host(400 + 16 * static_cast<std::size_t>(round % 64), round);
    const auto count = static_cast<std::int32_t>(host.size());
    DeviceBuffer<std::int32_t> equal(1);
    equal.fill(0, stream());
    const DeviceBuffer<std::int32_t> numbers{std::span<const std::int32_t>(host)};
    count_kernel<<<divide_up(count, 256), 256, 0, stream().get()>>>(numbers.data(), count, round, equal.data());
    VICINITY_CUDA_CHECK(cudaGetLastError());
    stream().synchronize();
    ASSERT_EQ(equal.to_host().front(), count) << round;
  }
}

}  // namespace
}  // namespace vicinity::cuda
