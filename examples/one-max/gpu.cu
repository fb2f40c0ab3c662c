// gpu: the whole climb in one block. Problem: n bits, the best flip of all in each iteration. Data layout: weights and bits in device
// memory, [bit]. Phases of an iteration: each thread finds the best of its bits, i = thread, thread + 1024, ...; the block's arg-min finds
// the best of all; the thread that has the bit flips it. Synchronisation: two block barriers an iteration. Cost: 8 n bytes from the L1 or
// L2 cache, and the latency of the arg-min.
#include <algorithm>
#include <memory>

#include "kernels/cuda/collective/argmin.cuh"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/cuda/runtime/memory.cuh"
#include "kernels/run/search_run.cuh"
#include "one_max.hpp"

namespace vicinity::one_max {
namespace {

/// What the device keeps of a climb beside the bits.
struct Progress {
  std::int64_t sum, iterations;
  Digest moves;
  bool at_top;
};

/// A flip as an arg-min orders it: the largest gain first, then the lowest bit.
__device__ __forceinline__ unsigned long long key_of(std::int32_t gain, std::int32_t bit) {
  return static_cast<unsigned long long>(~(static_cast<unsigned>(gain) ^ 0x80000000u)) << 32 | static_cast<unsigned>(bit);
}
__device__ __forceinline__ std::int32_t gain_of(unsigned long long key) {
  return static_cast<std::int32_t>(~static_cast<unsigned>(key >> 32) ^ 0x80000000u);
}

__global__ void __launch_bounds__(1024)
    climb_kernel(const std::int32_t* weights, std::int32_t n, std::int32_t* bits, Progress* progress, std::int64_t limit) {
  __shared__ unsigned long long slots[2][32];
  Progress now = *progress;
  for (unsigned step = 0; !now.at_top && now.iterations < limit; ++step) {
    unsigned long long mine = cuda::no_key<unsigned long long>();
    for (auto i = static_cast<std::int32_t>(threadIdx.x); i < n; i += static_cast<std::int32_t>(blockDim.x))
      cuda::lower(mine, key_of(gain(weights[i], bits[i]), i));
    const unsigned long long best = cuda::block_argmin_for_all(mine, slots, step);
    const std::int32_t gained = gain_of(best);
    const auto bit = static_cast<std::int32_t>(best);
    now.at_top = gained <= 0;
    if (now.at_top) break;
    if (bit % static_cast<std::int32_t>(blockDim.x) == static_cast<std::int32_t>(threadIdx.x)) bits[bit] ^= 1;  // its own: no barrier
    now.sum += gained;
    now.moves.add(static_cast<std::uint64_t>(bit));
    ++now.iterations;
  }
  __syncthreads();  // all have read `progress`
  if (threadIdx.x == 0) *progress = now;
}

/// Threads of the block.
struct BlockPolicy {
  std::int32_t threads;

  [[nodiscard]] static BlockPolicy of(const Weights& weights) { return {std::clamp((weights.size() + 31) / 32 * 32, 32, 1024)}; }
  [[nodiscard]] Policy record() const { return {{"block", threads}, {"blocks", 1}}; }
};
static_assert(TuningPolicy<BlockPolicy>);

/// The one climb of a case, for DeviceSearchRun.
class DeviceClimb {
 public:
  static constexpr std::int64_t first_slice = 64;

  explicit DeviceClimb(const Weights& weights)
      : weights_(weights), policy_(BlockPolicy::of(weights)), values_(std::span(weights.values())), bits_(values_.size()), progress_(1) {}

  [[nodiscard]] static std::int64_t count() { return 1; }
  [[nodiscard]] static std::int64_t batch_size() { return 1; }
  [[nodiscard]] static std::int64_t most_iterations() { return std::int64_t{1} << 40; }

  void reset(const Start& start) {
    climb_ = one_max::begin(weights_, start);
    bits_.fill(0xA5, stream_);
    progress_.fill(0xA5, stream_);
    stream_.synchronize();
  }
  void begin(std::int64_t, std::int64_t) {
    const Progress first{climb_.sum, 0, {}, false};
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(bits_.data(), climb_.bits.data(), bits_.bytes(), cudaMemcpyHostToDevice, stream_.get()));
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(progress_.data(), &first, sizeof first, cudaMemcpyHostToDevice, stream_.get()));
    stream_.synchronize();
  }
  void launch(std::int64_t limit) {
    climb_kernel<<<1, static_cast<unsigned>(policy_.threads), 0, stream_.get()>>>(values_.data(), weights_.size(), bits_.data(),
                                                                                  progress_.data(), limit);
  }
  [[nodiscard]] bool wait() {
    stream_.synchronize();
    const Progress now = progress_.to_host().front();
    climb_.bits = bits_.to_host();
    climb_.sum = now.sum;
    climb_.iterations = now.iterations;
    climb_.moves = now.moves;
    climb_.at_top = now.at_top;
    return climb_.at_top;
  }
  [[nodiscard]] TracePoint progress() const { return progress_of(climb_); }
  [[nodiscard]] Objective best() const { return {climb_.sum, Sense::maximise}; }
  [[nodiscard]] Outcome judge(bool whole) const { return one_max::judge(weights_, climb_, whole); }
  [[nodiscard]] static Times times(double seconds) { return {{Part::kernel, {seconds, TimeSource::host}}}; }
  [[nodiscard]] Policy policy() const { return policy_.record(); }
  [[nodiscard]] Work work() const { return {{Ceiling::block_barrier, static_cast<double>(climb_.iterations)}}; }

 private:
  const Weights& weights_;
  BlockPolicy policy_;
  cuda::Stream stream_;
  cuda::DeviceBuffer<std::int32_t> values_, bits_;
  cuda::DeviceBuffer<Progress> progress_;
  Climb climb_;
};

}  // namespace

std::vector<Implementation> gpu_implementations() {
  return {{"gpu", Backend::gpu, "the whole climb in one block", "one block's barrier and arg-min an iteration",
           [](const Case&, const Instance& instance) -> std::unique_ptr<Run> {
             return std::make_unique<DeviceSearchRun<DeviceClimb>>(dynamic_cast<const Weights&>(instance));
           }}};
}

}  // namespace vicinity::one_max
