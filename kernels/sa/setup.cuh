#pragma once
// The start of every chain: its permutation in place, its cost, and the temperatures its samples give.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/cuda/warp.cuh"
#include "kernels/sa/device.cuh"

namespace vicinity::sa {

/// Least and largest positive delta of a chain's samples; `least` is the largest number while there is none.
struct Extremes {
  unsigned long long least, largest;
};

/// Adds this block's sum of A[i][j] B[p[i]][p[j]] to the costs. Mapping: blockIdx.y is the chain, a thread takes a column of the rows
/// blockIdx.x + k gridDim.x. `cost` starts at 0.
template <class Types>
__global__ void __launch_bounds__(256)
    cost_kernel(DeviceQap<typename Types::Entry> qap, const std::int32_t* permutations, ChainState* states) {
  const std::int32_t* p = permutations + std::size_t(blockIdx.y) * qap.n;
  std::int64_t sum = 0;
  for (std::int32_t i = blockIdx.x; i < qap.n; i += gridDim.x) {
    const auto* a = qap.a_row(0, i);
    const auto* b = qap.b_row(0, p[i]);
    for (std::int32_t j = threadIdx.x; j < qap.n; j += blockDim.x)
      sum += static_cast<std::int64_t>(a[j]) * static_cast<std::int64_t>(b[p[j]]);
  }
  sum = cuda::shuffled_sum(sum);
  if (threadIdx.x % 32 == 0)
    atomicAdd(reinterpret_cast<unsigned long long*>(&states[blockIdx.y].cost), static_cast<unsigned long long>(sum));
}

/// Mapping: blockIdx.y is the chain, a warp a sample after another. Cost: O(n) a sample.
template <class Types>
__global__ void __launch_bounds__(256) sample_kernel(DeviceQap<typename Types::Entry> qap, const std::int32_t* permutations,
                                                     const ChainState* states, std::int64_t samples, Extremes* extremes) {
  const std::int32_t* p = permutations + std::size_t(blockIdx.y) * qap.n;
  const int lane = threadIdx.x % 32;
  const std::int64_t warps = std::int64_t(gridDim.x) * (blockDim.x / 32);
  unsigned long long least = ~0ull, largest = 0;
  for (std::int64_t k = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; k < samples; k += warps) {
    const annealing::Swap swap = annealing::sample_swap(states[blockIdx.y].seed, qap.n, k);
    const std::int64_t delta = cuda::shuffled_sum(partial_delta<Types::sides>(qap, p, swap.r, swap.s, lane));
    if (delta <= 0) continue;
    least = min(least, static_cast<unsigned long long>(delta));
    largest = max(largest, static_cast<unsigned long long>(delta));
  }
  if (lane != 0 || largest == 0) return;
  atomicMin(&extremes[blockIdx.y].least, least);
  atomicMax(&extremes[blockIdx.y].largest, largest);
}

/// One thread a chain: the state before the first proposal.
template <class Types>
__global__ void begin_kernel(ChainState* states, const Extremes* extremes, std::int32_t chains, std::int64_t iterations, bool given,
                             annealing::Cooling cooling) {
  const std::int32_t c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= chains) return;
  ChainState& s = states[c];
  s.next = s.accepted = 0;
  s.last_accepted = s.best_proposal = s.frozen_at = -1;
  s.best_cost = s.cost;
  s.digest = Digest();
  const Extremes e = extremes[c];
  s.cooling =
      given ? cooling
            : annealing::cooling(e.largest == 0 ? 0 : static_cast<std::int64_t>(e.least), static_cast<std::int64_t>(e.largest), iterations);
}

/// Owns what the start of the chains needs; launches it.
template <class Types>
class Setup {
 public:
  Setup(const DeviceQap<typename Types::Entry>& qap, const annealing::Task& task)
      : qap_(qap), task_(task), extremes_(static_cast<std::size_t>(task.chains)) {}

  /// Fills states, current and best of all chains from `start` ([chains][n], on the device).
  void launch(const Chains& chains, const std::int32_t* start, const std::vector<std::uint64_t>& seeds, const cuda::Stream& stream) {
    const auto count = static_cast<std::size_t>(task_.chains);
    std::vector<ChainState> states(count);
    for (std::size_t c = 0; c < count; ++c) states[c].seed = seeds[c];
    const std::vector<Extremes> extremes(count, Extremes{~0ull, 0});
    const auto copy = [&](void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
      VICINITY_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, kind, stream.get()));
    };
    const std::size_t bytes = count * static_cast<std::size_t>(qap_.n) * sizeof(std::int32_t);
    copy(chains.state, states.data(), count * sizeof(ChainState), cudaMemcpyHostToDevice);
    copy(extremes_.data(), extremes.data(), extremes_.bytes(), cudaMemcpyHostToDevice);
    copy(chains.current, start, bytes, cudaMemcpyDeviceToDevice);
    copy(chains.best, start, bytes, cudaMemcpyDeviceToDevice);
    const auto grid = [&](std::int64_t blocks) {
      return dim3(static_cast<unsigned>(std::clamp<std::int64_t>(blocks, 1, 1024)), static_cast<unsigned>(task_.chains));
    };
    cost_kernel<Types><<<grid(qap_.n), 256, 0, stream.get()>>>(qap_, chains.current, chains.state);
    if (!task_.cooling)
      sample_kernel<Types><<<grid(divide_up(task_.samples, 8)), 256, 0, stream.get()>>>(qap_, chains.current, chains.state, task_.samples,
                                                                                        extremes_.data());
    begin_kernel<Types><<<static_cast<unsigned>(divide_up(task_.chains, 128)), 128, 0, stream.get()>>>(
        chains.state, extremes_.data(), static_cast<std::int32_t>(task_.chains), task_.iterations, task_.cooling.has_value(),
        task_.cooling.value_or(annealing::Cooling{}));
    VICINITY_CUDA_CHECK(cudaGetLastError());
  }

 private:
  DeviceQap<typename Types::Entry> qap_;
  annealing::Task task_;
  cuda::DeviceBuffer<Extremes> extremes_;
};

}  // namespace vicinity::sa
