// What the harness asks of the GPU (core/api/device.hpp). Nothing here creates a context before it is needed, so that `list`
// is quick and the parent of a run holds no device memory.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "core/api/device.hpp"
#include "kernels/cuda/runtime/ceilings.cuh"
#include "kernels/cuda/runtime/memory.cuh"

namespace vicinity::device {
namespace {

using cuda::DeviceBuffer;
using cuda::Stream;

struct Probe {
  std::optional<Info> info;
  std::string absence;
};

int attribute(cudaDeviceAttr name) {
  int value = 0;
  VICINITY_CUDA_CHECK(cudaDeviceGetAttribute(&value, name, 0));
  return value;
}

Info read_info() {
  cudaDeviceProp properties{};
  VICINITY_CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
  std::array<char, 32> bus{};
  VICINITY_CUDA_CHECK(cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), 0));
  Info info;
  info.name = properties.name;
  info.pci_bus = bus.data();
  info.compute_capability = properties.major * 10 + properties.minor;
  info.multiprocessors = properties.multiProcessorCount;
  info.clock_khz = attribute(cudaDevAttrClockRate);
  info.memory_clock_khz = attribute(cudaDevAttrMemoryClockRate);
  info.bus_bits = properties.memoryBusWidth;
  info.memory_bytes = properties.totalGlobalMem;
  info.l2_bytes = static_cast<std::size_t>(properties.l2CacheSize);
  info.shared_bytes_per_multiprocessor = properties.sharedMemPerMultiprocessor;
  VICINITY_CUDA_CHECK(cudaDriverGetVersion(&info.driver_version));
  VICINITY_CUDA_CHECK(cudaRuntimeGetVersion(&info.runtime_version));
  return info;
}

/// Why this program has no code for the GPU; empty: it has. Machine code serves its own generation from its minor version on, PTX all later
/// GPUs.
std::string lacks_code(const Info& info) {
  constexpr std::array architectures{__CUDA_ARCH_LIST__};  // 100 * major + 10 * minor
  const auto [oldest, newest] = std::minmax_element(architectures.begin(), architectures.end());
  const auto serves = [&](int architecture) {
    return architecture / 10 <= info.compute_capability && (VICINITY_HAS_PTX || architecture / 100 == info.compute_capability / 10);
  };
  if (std::any_of(architectures.begin(), architectures.end(), serves)) return "";
  if (info.compute_capability < *oldest / 10)
    return info.name + " is older than sm_" + std::to_string(*oldest / 10) + ", the oldest GPU this program was built for";
  return info.name + ": this program was built for GPUs of sm_" + std::to_string(*oldest / 10) + " to sm_" + std::to_string(*newest / 10) +
         " alone; build it on this machine";
}

Probe probe() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0)) return {std::nullopt, "no NVIDIA GPU"};
  if (status == cudaErrorInsufficientDriver) return {std::nullopt, "no NVIDIA driver, or one too old for this CUDA version"};
  if (status != cudaSuccess) return {std::nullopt, std::string("no usable NVIDIA GPU: ") + cudaGetErrorString(status)};
  try {
    const Info info = read_info();
    if (std::string lack = lacks_code(info); !lack.empty()) return {std::nullopt, std::move(lack)};
    return {info, ""};
  } catch (const cuda::CudaError& error) {
    return {std::nullopt, error.what()};
  }
}

const Probe& probed() {
  static const Probe once = probe();
  return once;
}

/// Mapping: one block a multiprocessor, each thread its own chain. Cost: `steps` dependent multiply-adds and shifts.
__global__ void control_kernel(std::uint32_t seed, int steps, std::uint32_t* sink) {
  std::uint32_t word = seed + threadIdx.x;
  for (int step = 0; step < steps; ++step) word = (word ^ (word >> 13)) * 0x85EBCA6Bu + 1u;
  if (word == seed) *sink = word;  // keeps the loop
}

}  // namespace

bool built() { return true; }
std::optional<Info> info() { return probed().info; }
std::string absence() { return probed().absence; }

void flush_l2() {
  if (!info()) return;
  static const Stream stream;
  static DeviceBuffer<char> buffer(2 * info()->l2_bytes);
  buffer.fill(0, stream);
  stream.synchronize();
}

std::map<std::string, double> ceilings() {
  std::map<std::string, double> all;
  if (!info()) return all;
  cuda::warm_up_clocks(*info());
  cuda::bandwidth_ceilings(*info(), all);
  cuda::arithmetic_ceilings(*info(), all);
  cuda::latency_ceilings(*info(), all);
  return all;
}

double control_seconds() {
  if (!info()) return 0;
  constexpr int steps = 100'000, threads = 256;
  const Stream stream;
  const DeviceBuffer<std::uint32_t> sink(1);
  return cuda::seconds_of(stream, cuda::Best::median, 3,
                          [&] { control_kernel<<<info()->multiprocessors, threads, 0, stream.get()>>>(12345u, steps, sink.data()); });
}

}  // namespace vicinity::device
