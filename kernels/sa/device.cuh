#pragma once
// What the annealing's kernels share: the instance and the chains in device memory, and the start of the chains.
//
// Data layout: matrices with rows of whole 16-byte chunks, as bytes where they fit; one ChainState a chain, from which every launch goes
// on and which it leaves behind; the current and the best permutation beside it.
// The start (Setup): the cost of every chain's permutation, the extremes of its sampled deltas, and the temperatures these give unless they
// are known: three small kernels. Synchronisation: none but the order of the stream.
#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "core/methods/sa/annealing.hpp"
#include "core/util/digest.hpp"
#include "core/util/math.hpp"
#include "kernels/cuda/collective/warp.cuh"
#include "kernels/cuda/runtime/memory.cuh"

namespace vicinity::sa {

/// Entries are bytes where they fit, deltas 32 bits where they fit (qap::Qap::bytes, narrow). Symmetric matrices have one side: what rows
/// and columns contribute to a delta is the same.
template <class E, class D, int Sides>
struct Types {
  using Entry = E;
  using Delta = D;
  static constexpr int sides = Sides;
};

using SymmetricBytes = Types<std::uint8_t, std::int32_t, 1>;
using Bytes = Types<std::uint8_t, std::int32_t, 2>;
using Words = Types<std::int32_t, std::int32_t, 2>;
using WideWords = Types<std::int32_t, std::int64_t, 2>;

template <class T>
concept ElementTypes = std::integral<typename T::Entry> && std::signed_integral<typename T::Delta> &&(T::sides == 1 || T::sides == 2);

/// Address of the block's dynamic shared memory, in a register: left to itself, nvcc derives it anew at every access.
[[nodiscard]] __device__ __forceinline__ std::uint32_t dynamic_shared_address() {
  extern __shared__ __align__(16) unsigned char dynamic_shared_memory[];
  std::uint32_t address = 0;
  asm volatile("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(address) : "l"(dynamic_shared_memory));
  return address;
}

// --- the instance ----------------------------------------------------------------------------------------------------------

/// Matrices on the device. Rows are `pitch` entries apart, padded with zeros to whole 16 bytes. Side 0 holds A and B, side 1 (asymmetric
/// instances only) their transposes.
template <class Entry>
struct DeviceQap {
  static constexpr std::int32_t per_chunk = 16 / sizeof(Entry);  ///< entries of one 16-byte load

  const Entry* a[2];
  const Entry* b[2];
  std::int32_t n;
  std::int32_t pitch;

  [[nodiscard]] __device__ __forceinline__ const Entry* a_row(int side, std::int32_t i) const { return a[side] + std::size_t(i) * pitch; }
  [[nodiscard]] __device__ __forceinline__ const Entry* b_row(int side, std::int32_t i) const { return b[side] + std::size_t(i) * pitch; }
  [[nodiscard]] __device__ __forceinline__ std::int32_t chunks() const { return pitch / per_chunk; }
};

/// One 16-byte load of entries that never change.
template <class Entry>
[[nodiscard]] __device__ __forceinline__ uint4 chunk(const Entry* row, std::int32_t index) {
  return __ldg(reinterpret_cast<const uint4*>(row) + index);
}

/// sum + the inner product of two chunks of bytes (four dp4a) or of 32-bit entries.
template <class Entry, class Delta>
[[nodiscard]] __device__ __forceinline__ Delta dot(uint4 x, uint4 y, Delta sum) {
  if constexpr (sizeof(Entry) == 1) {
    auto narrow = static_cast<unsigned>(sum);
    narrow = __dp4a(x.x, y.x, narrow);
    narrow = __dp4a(x.y, y.y, narrow);
    narrow = __dp4a(x.z, y.z, narrow);
    return static_cast<Delta>(__dp4a(x.w, y.w, narrow));
  } else {
    const auto product = [](unsigned p, unsigned q) {
      return static_cast<Delta>(static_cast<std::int32_t>(p)) * static_cast<std::int32_t>(q);
    };
    return sum + product(x.x, y.x) + product(x.y, y.y) + product(x.z, y.z) + product(x.w, y.w);
  }
}

/// Owns them.
template <class Entry>
class DeviceMatrices {
 public:
  DeviceMatrices(const qap::Qap& qap, int sides) {
    const auto host = qap.view();
    view_.n = host.n;
    view_.pitch = divide_up(host.n, DeviceQap<Entry>::per_chunk) * DeviceQap<Entry>::per_chunk;
    for (int side = 0; side < sides; ++side) {
      view_.a[side] = copy(host.a, side == 1);
      view_.b[side] = copy(host.b, side == 1);
    }
  }
  [[nodiscard]] const DeviceQap<Entry>& view() const noexcept { return view_; }

 private:
  const Entry* copy(const std::int32_t* matrix, bool transposed) {
    const auto n = static_cast<std::size_t>(view_.n), pitch = static_cast<std::size_t>(view_.pitch);
    std::vector<Entry> padded(n * pitch);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) padded[i * pitch + j] = static_cast<Entry>(transposed ? matrix[j * n + i] : matrix[i * n + j]);
    buffers_.emplace_back(std::span<const Entry>(padded));
    return buffers_.back().data();
  }

  DeviceQap<Entry> view_{};
  std::vector<cuda::DeviceBuffer<Entry>> buffers_;
};

// --- the chains ------------------------------------------------------------------------------------------------------------

/// A chain between two launches. Searches of all implementations start and stop here.
struct ChainState {
  std::int64_t next;           ///< the next proposal
  std::int64_t last_accepted;  ///< -1: none yet
  std::int64_t accepted;
  std::int64_t cost, best_cost;
  std::int64_t best_proposal, frozen_at;
  Digest digest;
  annealing::Cooling cooling;
  std::uint64_t seed;
  std::int64_t steps;         ///< of all blocks together: subsets searched (`gpu`), steps (`gpu-tuned`, `gpu-chains`)
  std::int64_t hot_barriers;  ///< of one block, in the hot phase

  /// Proposals up to this one, excluded, can be decided at the present temperatures.
  [[nodiscard]] __device__ std::int64_t end(std::int64_t pairs, std::int64_t limit) const {
    const std::int64_t freeze = last_accepted + pairs + 1;
    return frozen_at < 0 && cooling.freezes() && freeze < limit ? freeze : limit;
  }
  /// All proposals before `q` are decided; freezes if they were as many rejections as that takes.
  __device__ void reject_until(std::int64_t q, std::int32_t n) {
    next = q;
    if (frozen_at >= 0 || !cooling.freezes() || q <= last_accepted + annealing::pairs(n)) return;
    frozen_at = q - 1;
    cooling = annealing::frozen(cooling, n, best_proposal);
  }
  /// Proposal q was accepted. Returns whether the cost is a new best.
  __device__ bool accept(std::int64_t q, std::int64_t delta) {
    last_accepted = q;
    next = q + 1;
    ++accepted;
    digest.add(static_cast<std::uint64_t>(q));
    cost += delta;
    if (cost >= best_cost) return false;
    best_cost = cost;
    best_proposal = q;
    return true;
  }
};

/// All chains of a run.
struct Chains {
  ChainState* state;      ///< [chains]
  std::int32_t* current;  ///< [chains][n]
  std::int32_t* best;     ///< [chains][n]
};

// --- the start of the chains -----------------------------------------------------------------------------------------------

/// This lane's part of the delta of swapping r and s: the facilities lane, lane + 32, ... The warp's parts add up to the delta.
template <int Sides, class Entry, class P>
[[nodiscard]] __device__ __forceinline__ std::int64_t partial_delta(const DeviceQap<Entry>& qap, const P* p, std::int32_t r, std::int32_t s,
                                                                    int lane) {
  const std::int32_t pr = p[r], ps = p[s];
  std::int64_t sum = 0;
  for (int side = 0; side < Sides; ++side) {  // rows, then columns
    const Entry *ar = qap.a_row(side, r), *as = qap.a_row(side, s), *br = qap.b_row(side, pr), *bs = qap.b_row(side, ps);
    for (std::int32_t k = lane; k < qap.n; k += 32) {
      if (k == r || k == s) continue;
      const std::int32_t pk = p[k];
      sum += (static_cast<std::int64_t>(ar[k]) - as[k]) * (static_cast<std::int64_t>(bs[pk]) - br[pk]);
    }
  }
  if constexpr (Sides == 1) sum *= 2;
  if (lane == 0) {
    const auto entry = [](const Entry* row, std::int32_t k) { return static_cast<std::int64_t>(row[k]); };
    sum += (entry(qap.a_row(0, r), r) - entry(qap.a_row(0, s), s)) * (entry(qap.b_row(0, ps), ps) - entry(qap.b_row(0, pr), pr)) +
           (entry(qap.a_row(0, r), s) - entry(qap.a_row(0, s), r)) * (entry(qap.b_row(0, ps), pr) - entry(qap.b_row(0, pr), ps));
  }
  return sum;
}

/// Least and largest positive delta of a chain's samples; `least` is the largest number while there is none.
struct Extremes {
  unsigned long long least, largest;
};

/// Adds this block's sum of A[i][j] B[p[i]][p[j]] to the costs. Mapping: blockIdx.y is the chain, a thread takes a column of the rows
/// blockIdx.x + k gridDim.x. `cost` starts at 0.
template <ElementTypes Types>
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

/// Samples first .. last - 1. Mapping: blockIdx.y is the chain, a warp a sample after another. Cost: O(n) a sample.
template <ElementTypes Types>
__global__ void __launch_bounds__(256) sample_kernel(DeviceQap<typename Types::Entry> qap, const std::int32_t* permutations,
                                                     const ChainState* states, std::int64_t first, std::int64_t last, Extremes* extremes) {
  const std::int32_t* p = permutations + std::size_t(blockIdx.y) * qap.n;
  const int lane = threadIdx.x % 32;
  const std::int64_t warps = std::int64_t(gridDim.x) * (blockDim.x / 32);
  unsigned long long least = ~0ull, largest = 0;
  for (std::int64_t k = first + blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; k < last; k += warps) {
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
template <ElementTypes Types>
__global__ void begin_kernel(ChainState* states, const Extremes* extremes, std::int32_t chains, std::int64_t iterations, bool given,
                             annealing::Cooling cooling) {
  const std::int32_t c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= chains) return;
  ChainState& s = states[c];
  s.next = s.accepted = s.steps = s.hot_barriers = 0;
  s.last_accepted = s.best_proposal = s.frozen_at = -1;
  s.best_cost = s.cost;
  s.digest = Digest();
  const Extremes e = extremes[c];
  s.cooling =
      given ? cooling
            : annealing::cooling(e.largest == 0 ? 0 : static_cast<std::int64_t>(e.least), static_cast<std::int64_t>(e.largest), iterations);
}

/// Owns what the start of the chains needs; launches it.
template <ElementTypes Types>
class Setup {
 public:
  Setup(const DeviceQap<typename Types::Entry>& qap, const annealing::Task& task)
      : qap_(qap),
        task_(task),
        states_(static_cast<std::size_t>(task.chains)),
        none_(states_.size(), {~0ull, 0}),
        extremes_(states_.size()) {}

  /// Fills states, current and best of all chains from `start` ([chains][n], on the device). `cooling`: given or calibrated; empty:
  /// sampled. Where `stop` is raised between two slices of samples, those taken so far set the temperatures.
  void launch(const Chains& chains, const std::int32_t* start, const std::vector<std::uint64_t>& seeds,
              const std::optional<annealing::Cooling>& cooling, const std::atomic<bool>* stop, const cuda::Stream& stream) {
    const auto count = static_cast<std::size_t>(task_.chains);
    for (std::size_t c = 0; c < count; ++c) states_[c].seed = seeds[c];
    const auto copy = [&](void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
      VICINITY_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, kind, stream.get()));
    };
    const std::size_t bytes = count * static_cast<std::size_t>(qap_.n) * sizeof(std::int32_t);
    copy(chains.state, states_.data(), count * sizeof(ChainState), cudaMemcpyHostToDevice);
    copy(extremes_.data(), none_.data(), extremes_.bytes(), cudaMemcpyHostToDevice);
    copy(chains.current, start, bytes, cudaMemcpyDeviceToDevice);
    copy(chains.best, start, bytes, cudaMemcpyDeviceToDevice);
    const auto grid = [&](std::int64_t blocks) {
      return dim3(static_cast<unsigned>(std::clamp<std::int64_t>(blocks, 1, 1024)), static_cast<unsigned>(task_.chains));
    };
    cost_kernel<Types><<<grid(qap_.n), 256, 0, stream.get()>>>(qap_, chains.current, chains.state);
    const std::int64_t samples = cooling ? 0 : task_.samples;
    const std::int64_t slice = std::max(least_slice, slice_terms / (std::int64_t{qap_.n} * task_.chains));
    for (std::int64_t first = 0; first < samples; first += slice) {
      if (first > 0) stream.synchronize();
      if (first > 0 && stop != nullptr && *stop) break;
      const std::int64_t last = std::min(samples, first + slice);
      sample_kernel<Types>
          <<<grid(divide_up(last - first, 8)), 256, 0, stream.get()>>>(qap_, chains.current, chains.state, first, last, extremes_.data());
    }
    begin_kernel<Types><<<static_cast<unsigned>(divide_up(task_.chains, 128)), 128, 0, stream.get()>>>(
        chains.state, extremes_.data(), static_cast<std::int32_t>(task_.chains), task_.iterations, cooling.has_value(),
        cooling.value_or(annealing::Cooling{}));
    VICINITY_CUDA_CHECK(cudaGetLastError());
  }

 private:
  static constexpr std::int64_t least_slice = 8192, slice_terms = std::int64_t{1} << 30;  ///< samples; and their O(n): some milliseconds

  DeviceQap<typename Types::Entry> qap_;
  annealing::Task task_;
  std::vector<ChainState> states_;  ///< before anything is known but seeds; copies to the device may read it after launch()
  std::vector<Extremes> none_;      ///< likewise
  cuda::DeviceBuffer<Extremes> extremes_;
};

}  // namespace vicinity::sa
