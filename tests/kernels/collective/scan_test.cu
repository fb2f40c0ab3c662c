// Sums before a thread, against the host's.
#include "kernels/cuda/collective/scan.cuh"
#include "tests/kernels/collective/fixture.cuh"

namespace vicinity::cuda {
namespace {

template <class Sum>
class Scan : public Collective {};
using Sums = testing::Types<std::int32_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(Scan, Sums);

/// What thread t adds; `count` threads have something.
template <class Sum>
[[nodiscard]] VICINITY_HD Sum part(std::uint32_t step, std::uint32_t t, std::uint32_t count) {
  const std::uint64_t drawn = hashed(std::uint64_t{step} << 32 | t);
  return t < count ? static_cast<Sum>(sizeof(Sum) == 4 ? drawn % 1000 : drawn >> 12) : Sum{0};
}
template <class Sum>
struct Result {
  Sum in_warp, before_thread, total;
};
/// Two scans, one after the other, through the same shared memory.
template <class Sum>
__global__ void scan_kernel(std::uint32_t count, Result<Sum>* results) {
  __shared__ Sum warp_sums[32];
  for (std::uint32_t step = 0; step < 2; ++step) {
    const Sum own = part<Sum>(step, threadIdx.x, count);
    const BlockSums<Sum> sums = block_sums(own, warp_sums);
    results[step * blockDim.x + threadIdx.x] = {warp_exclusive_sum(own), sums.exclusive(own), sums.total};
    __syncthreads();
  }
}

TYPED_TEST(Scan, OfWarpsAndBlocks) {
  using Sum = TypeParam;
  const DeviceBuffer<Result<Sum>> results(2 * 1024);
  for (std::uint32_t count = 0; count <= 1024; ++count) {
    const std::uint32_t threads = divide_up(std::max(count, 1u), 32u) * 32;
    scan_kernel<<<1, threads, 0, this->stream().get()>>>(count, results.data());
    VICINITY_CUDA_CHECK(cudaGetLastError());
    this->stream().synchronize();
    const auto got = results.to_host();
    for (std::uint32_t step = 0; step < 2; ++step) {
      Sum total = 0, in_warp = 0;
      for (std::uint32_t t = 0; t < threads; ++t) total += part<Sum>(step, t, count);
      Sum before = 0;
      for (std::uint32_t t = 0; t < threads; ++t) {
        if (t % 32 == 0) in_warp = 0;
        const Result<Sum>& one = got[step * threads + t];
        ASSERT_EQ(one.in_warp, in_warp) << count << " summands, thread " << t;
        ASSERT_EQ(one.before_thread, before) << count << " summands, thread " << t;
        ASSERT_EQ(one.total, total) << count << " summands, thread " << t;
        in_warp += part<Sum>(step, t, count);
        before += part<Sum>(step, t, count);
      }
    }
  }
}

}  // namespace
}  // namespace vicinity::cuda
