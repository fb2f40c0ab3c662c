// Bandwidth ceilings: device memory (bytes read and written by a copy) and shared memory (bytes read).
#include "kernels/cuda/runtime/ceilings.cuh"

#include <cstdint>
#include "kernels/cuda/runtime/memory.cuh"

namespace vicinity::cuda {
namespace {

constexpr int copy_block = 256, copies = 4;  // 16-byte words a thread

/// Mapping: a block copies copy_block * copies consecutive words, neighbouring threads neighbouring words. No
/// synchronisation. Cost: every byte read once and written once, past the caches.
__global__ void __launch_bounds__(copy_block) copy_words(const uint4* from, uint4* to) {
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * copy_block * copies + threadIdx.x;
  uint4 word[copies];
#pragma unroll
  for (int i = 0; i < copies; ++i) word[i] = __ldcs(from + first + i * copy_block);
#pragma unroll
  for (int i = 0; i < copies; ++i) __stcs(to + first + i * copy_block, word[i]);
}

/// The better of our copy and the driver's.
double copy_rate(const device::Info& info) {
  constexpr std::size_t wanted = std::size_t{1} << 30, unit = sizeof(uint4) * copy_block * copies;
  const std::size_t bytes = std::min(wanted, info.memory_bytes / 8) / unit * unit;
  const Stream stream;
  DeviceBuffer<uint4> from(bytes / sizeof(uint4)), to(bytes / sizeof(uint4));
  from.fill(1, stream);
  const double kernel = seconds_of(stream, Best::least, 20, [&] {
    copy_words<<<static_cast<unsigned>(bytes / unit), copy_block, 0, stream.get()>>>(from.data(), to.data());
  });
  const double driver = seconds_of(stream, Best::least, 20, [&] {
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, stream.get()));
  });
  return 2.0 * static_cast<double>(bytes) / std::min(kernel, driver);
}

constexpr int shared_block = 512, shared_words = 2048, loads = 8, shared_steps = 2048;

/// Mapping: each warp reads 32 neighbouring 16-byte words at a time (LDS.128, no bank conflict). One barrier, after the
/// fill. Cost: count * loads * 16 bytes a thread; four exclusive ors a load fit beside it.
__global__ void __launch_bounds__(shared_block) read_shared(int stride, int count, std::uint32_t* sink) {
  __shared__ uint4 tile[shared_words];
  for (unsigned i = threadIdx.x; i < shared_words; i += shared_block) tile[i] = {i, i + 1, i + 2, i + 3};
  __syncthreads();
  uint4 sum{};
  unsigned index = threadIdx.x;
  for (int step = 0; step < count; ++step) {
#pragma unroll
    for (int i = 0; i < loads; ++i) {
      const uint4 word = tile[index + i * (shared_words / 2 / loads)];
      sum = {sum.x ^ word.x, sum.y ^ word.y, sum.z ^ word.z, sum.w ^ word.w};
    }
    index = (index + stride) % (shared_words / 2);  // another place each time: the loads cannot leave the loop
  }
  const std::uint32_t all = sum.x ^ sum.y ^ sum.z ^ sum.w;
  if (all == 0xFFFFFFFFu) *sink = all;  // keeps the loads
}

double shared_rate(const device::Info& info) {
  int threads = 0;
  VICINITY_CUDA_CHECK(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
  const int grid = info.multiprocessors * std::max(1, std::min(threads / shared_block, 2));
  const Stream stream;
  const DeviceBuffer<std::uint32_t> sink(1);
  const double seconds =
      seconds_of(stream, Best::least, 10, [&] { read_shared<<<grid, shared_block, 0, stream.get()>>>(32, shared_steps, sink.data()); });
  return static_cast<double>(grid) * shared_block * shared_steps * loads * sizeof(uint4) / seconds;
}

}  // namespace

void bandwidth_ceilings(const device::Info& info, std::map<std::string, double>& all) {
  all["copy_bandwidth"] = copy_rate(info);
  all["shared_bandwidth"] = shared_rate(info);
}

}  // namespace vicinity::cuda
