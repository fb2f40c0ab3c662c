#include "kernels/cuda/runtime/take_device.hpp"

#include "kernels/cuda/runtime/check.cuh"

namespace vicinity::device {

std::int64_t take(std::int32_t number) {
  int count = 0;
  VICINITY_CUDA_CHECK(cudaGetDeviceCount(&count));
  VICINITY_CUDA_CHECK(cudaSetDevice(number % count));
  return count;
}

}  // namespace vicinity::device
