#pragma once
// gpu-tuned: nothing but states touches device memory. Ratings stay in shared memory between the two passes (the paper's
// own outlook, section 5); the prefix sums shrink to one sum a thread, scanned in registers.
#include <cstdint>

#include "kernels/cuda/collective/scan.cuh"
#include "kernels/cuda/collective/warp.cuh"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/fang/run.cuh"
#include "kernels/fang/select.cuh"

namespace vicinity::fang {

/// What shared memory keeps between the two passes.
enum class Kept : std::uint8_t {
  nothing,  ///< what is weighed is rated again; a sum for 32 of them
  ratings,
  pairs,  ///< two ratings a word (PackedHeuristic)
};

/// Launch policy: chosen once per launch, used by kernel and launch alike, and recorded.
struct TunedPolicy {
  int block = 0;  ///< threads a state
  Kept kept = Kept::ratings;
  bool shared_state = true;  ///< the state's words in shared memory while it is assigned
  bool narrow = true;        ///< sums fit 32 bits
  int carveout = 100;        ///< percent of the L1 cache that may become shared memory
  std::size_t kept_bytes = 0, shared_bytes = 0;
};

/// Shared memory of a block, in this order.
struct TunedLayout {
  std::uint32_t kept;         ///< bytes
  std::uint32_t state_words;  ///< 0 when the state stays in device memory
  std::uint32_t active_words;
  std::uint32_t chunk;  ///< contiguous items of a thread at the type's largest |R|, so that the usual case divides nothing
};

/// Contiguous items of a thread: an odd number, so that a warp's stride over shared memory meets every bank once.
__host__ __device__ constexpr std::uint32_t chunk_of(std::uint32_t count, std::uint32_t threads) { return divide_up(count, threads) | 1u; }

/// What a thread's contiguous share of `count` possibilities is counted in.
__host__ __device__ constexpr std::uint32_t items_of(Kept kept, std::uint32_t count) {
  return kept == Kept::ratings ? count : divide_up(count, kept == Kept::pairs ? 2u : 32u);
}

/// Aggregate of the warp, in every lane.
template <LocalHeuristic H>
__device__ inline typename H::Aggregate combine_warp(const H& h, typename H::Aggregate own) {
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) own = h.combine(own, cuda::shuffle_xor(own, mask));
  return own;
}

/// The thread group's decision: whose contiguous items hold the decided weight.
template <class Sum>
struct Decision {
  Sum total;
  bool mine;  ///< the decided item is in this warp
  int lane;   ///< its thread's lane
  Sum rest;   ///< decision value minus the weights before that thread's items
};

/// Scans the threads' sums over the block and decides by `random`. One barrier, none for a single warp. `warp_sums` has a
/// slot a warp.
template <class Sum>
__device__ inline Decision<Sum> decide_in_block(Sum own, const std::uint64_t* random, Sum* warp_sums) {
  const cuda::BlockSums<Sum> sums = cuda::block_sums(own, warp_sums);
  if (sums.total == 0) return {0, false, 0, 0};
  const Sum v = static_cast<Sum>(scale_to(*random, sums.total)) - sums.before;  // wraps to a huge number when decided before this warp
  const Sum exclusive = sums.inclusive - own;
  const unsigned winner = __ballot_sync(full_warp, v < sums.inclusive && v >= exclusive);
  const int owner = winner == 0 ? 0 : __ffs(static_cast<int>(winner)) - 1;
  return {sums.total, winner != 0, owner, static_cast<Sum>(v - __shfl_sync(full_warp, exclusive, owner))};
}

/// A whole warp searches items [0, count) for the one whose cumulative weight interval contains v; weight_of(i) is called
/// with i < count only. Returns its index.
template <class Sum, class WeightOf>
__device__ inline std::uint32_t find_in_warp(std::uint32_t count, Sum v, WeightOf weight_of) {
  const std::uint32_t lane = threadIdx.x % 32;
  for (std::uint32_t base = 0;; base += 32) {
    const std::uint32_t i = base + lane;
    const Sum weight = i < count ? static_cast<Sum>(weight_of(i)) : Sum{0};
    const Sum inclusive = cuda::warp_inclusive_sum(weight);
    const unsigned winner = __ballot_sync(full_warp, v < inclusive);
    if (winner != 0) return base + static_cast<std::uint32_t>(__ffs(static_cast<int>(winner))) - 1;
    v -= __shfl_sync(full_warp, inclusive, 31);
  }
}

/// Mapping: one block a state. Pass 1: group-stride rating, aggregate. Pass 2: each thread sums the weights of contiguous
/// possibilities. Then one scan of the threads' sums, and the warp of the decided thread searches that thread's items.
/// Synchronisation: three block barriers a variable (free when a block is one warp). Cost per possibility: one rating, one
/// shared-memory store and load, one weight; device memory is touched for the state alone. Pairs: half of the stores, loads, aggregations
/// and weights, of two possibilities each, and half of the memory.
/// Where nothing is kept the second pass rates again, warp by warp, and the sums kept are one per 32 possibilities.
template <LocalHeuristic H, class Sum, Kept kept>
__global__ void __launch_bounds__(1024) assign_tuned(const H h, const Pass pass, const TunedLayout layout) {
  using Rating = typename H::Rating;
  using Aggregate = typename H::Aggregate;
  extern __shared__ uint4 dynamic_shared[];
  __shared__ alignas(Aggregate) unsigned char aggregate_bytes[32 * sizeof(Aggregate)];
  __shared__ Sum warp_sums[32];
  __shared__ std::uint64_t shared_random;
  __shared__ std::uint32_t choice;
  auto* shared = reinterpret_cast<unsigned char*>(dynamic_shared);
  auto* ratings = reinterpret_cast<Rating*>(shared);
  auto* pairs = reinterpret_cast<std::uint32_t*>(shared);
  auto* segments = reinterpret_cast<Sum*>(shared);
  auto* shared_state = reinterpret_cast<std::int32_t*>(shared + layout.kept);
  auto* active = reinterpret_cast<std::uint32_t*>(shared_state + layout.state_words);
  auto* aggregates = reinterpret_cast<Aggregate*>(aggregate_bytes);

  const std::uint32_t s = blockIdx.x, thread = threadIdx.x, threads = blockDim.x, warp = thread / 32, lane = thread % 32,
                      warps = threads / 32;
  std::int32_t* const home = pass.targets.words + std::size_t{s} * pass.targets.state_words;
  std::uint32_t* const active_home = pass.targets.active + std::size_t{s} * pass.targets.active_words + pass.active_offset;
  std::int32_t* const state = layout.state_words > 0 ? shared_state : home;
  for (std::uint32_t w = thread; w < layout.state_words; w += threads) state[w] = home[w];
  for (std::uint32_t w = thread; w < layout.active_words; w += threads) {
    active[w] = active_home[w];
    active_home[w] = 0;  // all will have been assigned
  }
  std::uint64_t successor = pass.targets.successors[s];
  const std::uint64_t order_seed = successor;
  __syncthreads();

  std::uint32_t variable = 0;
  while ((variable = next_variable(active, pass.variables, pass.order, order_seed, variable / 32, &choice)) != no_variable) {
    const auto context = h.context(state, variable);
    const std::uint32_t count = h.possibilities(context);

    // Tiles of 4 x 32 a warp: four ratings, or pairs, whose latencies overlap, at addresses that differ by constants.
    const auto for_all = [&](std::uint32_t n, auto rate, auto take) {
      constexpr std::uint32_t tile = 128;
      const std::uint32_t tiled = n / tile * tile;
      for (std::uint32_t i = warp * tile + lane; i < tiled; i += warps * tile) {
        __builtin_assume(i < max_possibilities);  // so that i + 32 does not wrap, and addresses need no arithmetic
        decltype(rate(i)) four[4];
#pragma unroll
        for (std::uint32_t k = 0; k < 4; ++k) four[k] = rate(i + k * 32);
#pragma unroll
        for (std::uint32_t k = 0; k < 4; ++k) take(i + k * 32, four[k]);
      }
      for (std::uint32_t i = tiled + thread; i < n; i += threads) take(i, rate(i));
    };
    Aggregate own;
    if constexpr (kept == Kept::pairs) {
      std::uint32_t both = h.create_two();
      const auto take = [&](std::uint32_t i, std::uint32_t two) {
        pairs[i] = two;
        both = h.aggregate_two(both, two);
      };
      if (h.allows_all(context))
        for_all(
            count / 2, [&](std::uint32_t i) { return h.template rate_two<true>(context, 2 * i); }, take);
      else
        for_all(
            count / 2, [&](std::uint32_t i) { return h.template rate_two<false>(context, 2 * i); }, take);
      if (count % 2 != 0 && thread == 0)
        take(count / 2, lower_halves(static_cast<std::int32_t>(h.rate(context, count - 1)), packed_forbidden));
      own = h.aggregate_of(both);
    } else {
      own = h.create();
      for_all(
          count, [&](std::uint32_t p) { return h.rate(context, p); },
          [&](std::uint32_t p, const Rating& rating) {
            if constexpr (kept == Kept::ratings) ratings[p] = rating;
            own = h.aggregate(own, rating);
          });
    }
    XorShift64Star generator{successor};
    if (thread == 0) shared_random = generator.next();
    Aggregate aggregate = combine_warp(h, own);
    if (warps == 1) {
      __syncwarp();
    } else {
      if (lane == 0) aggregates[warp] = aggregate;
      __syncthreads();
      aggregate = combine_warp(h, lane < warps ? aggregates[lane] : h.create());
    }

    Sum sum = 0;
    const std::uint32_t items = items_of(kept, count);
    const std::uint32_t chunk = count == pass.possibilities ? layout.chunk : chunk_of(items, threads), first = min(thread * chunk, items),
                        share = min(chunk, items - first);
    if constexpr (kept == Kept::ratings) {
#pragma unroll 8
      for (std::uint32_t i = 0; i < share; ++i) sum += static_cast<Sum>(h.weight(ratings[first + i], aggregate));
    } else if constexpr (kept == Kept::pairs) {
#pragma unroll 8
      for (std::uint32_t i = 0; i < share; ++i) sum = plus_halves(sum, h.weights(pairs[first + i], aggregate));
    } else {
      for (std::uint32_t segment = warp; segment < items; segment += warps) {
        const std::uint32_t q = segment * 32 + lane;
        Sum weight = q < count ? static_cast<Sum>(h.weight(h.rate(context, q), aggregate)) : Sum{0};
        weight = cuda::shuffled_sum(weight);
        if (lane == 0) segments[segment] = weight;
      }
      __syncthreads();
      for (std::uint32_t i = 0; i < share; ++i) sum += segments[first + i];
    }

    const Decision<Sum> decision = decide_in_block(sum, &shared_random, warp_sums);
    if (decision.total == 0) {
      if (thread == 0) h.could_not_assign(state, variable);
    } else if (thread == 0) {
      successor = generator.state;
    }
    if (decision.mine) {
      const std::uint32_t start = __shfl_sync(full_warp, first, decision.lane), length = __shfl_sync(full_warp, share, decision.lane);
      std::uint32_t chosen;
      if constexpr (kept == Kept::pairs) {
        chosen = 2 * start + find_in_warp<Sum>(2 * length, decision.rest, [&](std::uint32_t i) {
                   return h.weights(pairs[start + i / 2], aggregate) >> (i % 2 * 16) & 0xFFFFu;
                 });
      } else if constexpr (kept == Kept::ratings) {
        chosen = start + find_in_warp<Sum>(length, decision.rest, [&](std::uint32_t i) { return h.weight(ratings[start + i], aggregate); });
      } else {
        Sum rest = decision.rest;
        std::uint32_t segment = start;
        while (rest >= segments[segment]) rest -= segments[segment++];
        const std::uint32_t base = segment * 32;
        chosen = base + find_in_warp<Sum>(min(32u, count - base), rest,
                                          [&](std::uint32_t i) { return h.weight(h.rate(context, base + i), aggregate); });
      }
      if (lane == 0) h.assign(state, variable, chosen);
    }
    if (thread == 0) active[variable / 32] &= ~(1u << (variable % 32));
    __syncthreads();
  }
  for (std::uint32_t w = thread; w < layout.state_words; w += threads) home[w] = state[w];
  if (thread == 0) pass.targets.successors[s] = successor;
}

/// Bytes of what is kept, rounded up to 16.
template <LocalHeuristic H>
[[nodiscard]] std::size_t kept_bytes(Kept kept, std::uint32_t possibilities, bool narrow) {
  const std::size_t item = kept == Kept::ratings ? sizeof(typename H::Rating) : kept == Kept::pairs || narrow ? 4 : 8;
  return divide_up(items_of(kept, possibilities) * item, 16) * 16;
}

[[nodiscard]] inline TunedLayout tuned_layout(const Pass& pass, const TunedPolicy& policy) {
  return {static_cast<std::uint32_t>(policy.kept_bytes), policy.shared_state ? pass.targets.state_words : 0, bit_words(pass.variables),
          chunk_of(items_of(policy.kept, pass.possibilities), static_cast<std::uint32_t>(policy.block))};
}

/// The policy for one launch. Ratings are stored when a block can hold them. A thread gets many possibilities when a
/// multiprocessor holds several states, so that the work between two scans is large, and fewer when threads would be missing.
/// The L1 cache keeps room for the domain's tables, which every rating reads. (Constants: best of the block sizes from 32 to
/// 1024 on an H100 for |X| from 1 to 4096 and |R| from 80 to 40000.)
template <LocalHeuristic H>
[[nodiscard]] TunedPolicy tuned_policy(const H& h, const Pass& pass, std::size_t table_bytes, const cudaDeviceProp& device) {
  constexpr std::uint32_t items_a_thread = 80, items_when_alone = 40, least_items = 4, most_threads = 1024, threads_a_multiprocessor = 512;
  constexpr std::size_t static_bytes = 2048;  // above what the kernel declares and the system takes
  TunedPolicy policy;
  policy.narrow = h.max_weight() * pass.possibilities < (std::uint64_t{1} << 32);
  const std::size_t limit = device.sharedMemPerBlockOptin - static_bytes, active = bit_words(pass.variables) * 4,
                    state = pass.targets.state_words * 4;
  if constexpr (PackedHeuristic<H>) {
    if (h.packs()) policy.kept = Kept::pairs;
  }
  if (kept_bytes<H>(policy.kept, pass.possibilities, policy.narrow) + active > limit) policy.kept = Kept::nothing;
  policy.kept_bytes = kept_bytes<H>(policy.kept, pass.possibilities, policy.narrow);
  const std::size_t bytes = policy.kept_bytes + active;
  policy.shared_state = state <= 16384 && bytes + state <= limit;
  policy.shared_bytes = bytes + (policy.shared_state ? state : 0);
  policy.carveout = std::max(25, 99 - static_cast<int>(100 * table_bytes / device.sharedMemPerMultiprocessor));

  const auto fit = static_cast<std::uint32_t>(device.sharedMemPerMultiprocessor / (policy.shared_bytes + static_bytes));
  const std::uint32_t resident = larger(std::min(fit, divide_up(pass.targets.count, device.multiProcessorCount)), 1u);
  const std::uint32_t threads = larger(divide_up(pass.possibilities, resident == 1 ? items_when_alone : items_a_thread),
                                       std::min(threads_a_multiprocessor / resident, divide_up(pass.possibilities, least_items)));
  policy.block = static_cast<int>(std::min(most_threads, divide_up(threads, 32) * 32));
  return policy;
}

template <LocalHeuristic H, class Sum, Kept kept>
void launch_tuned_as(const H& h, const Pass& pass, const TunedPolicy& policy, const cuda::Stream& stream) {
  const auto kernel = assign_tuned<H, Sum, kept>;
  VICINITY_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, policy.carveout));
  cuda::allow_shared(kernel, policy.shared_bytes);
  kernel<<<pass.targets.count, policy.block, policy.shared_bytes, stream.get()>>>(h, pass, tuned_layout(pass, policy));
  VICINITY_CUDA_CHECK(cudaGetLastError());
}
template <LocalHeuristic H>
void launch_tuned(const H& h, const Pass& pass, const TunedPolicy& policy, const cuda::Stream& stream) {
  if (policy.kept == Kept::pairs) {
    if constexpr (PackedHeuristic<H>)
      launch_tuned_as<H, std::uint32_t, Kept::pairs>(h, pass, policy, stream);  // 2^15 max_possibilities < 2^32
  } else if (policy.kept == Kept::ratings) {
    policy.narrow ? launch_tuned_as<H, std::uint32_t, Kept::ratings>(h, pass, policy, stream)
                  : launch_tuned_as<H, std::uint64_t, Kept::ratings>(h, pass, policy, stream);
  } else {
    policy.narrow ? launch_tuned_as<H, std::uint32_t, Kept::nothing>(h, pass, policy, stream)
                  : launch_tuned_as<H, std::uint64_t, Kept::nothing>(h, pass, policy, stream);
  }
}

/// Method of GpuRun (kernels/fang/run.cuh).
template <Domain D>
class Tuned {
 public:
  Tuned(const D&, const Heuristics<D>&, std::uint32_t, std::size_t table_bytes) : table_bytes_(table_bytes) {
    int device = 0;
    VICINITY_CUDA_CHECK(cudaGetDevice(&device));
    VICINITY_CUDA_CHECK(cudaGetDeviceProperties(&device_, device));
  }

  template <LocalHeuristic H>
  void launch(const H& h, const Pass& pass, const cuda::Stream& stream) {
    policy_ = tuned_policy(h, pass, table_bytes_, device_);
    launch_tuned(h, pass, policy_, stream);
  }

  void poison(const cuda::Stream&) {}
  [[nodiscard]] Policy policy() const {
    return {{"block", policy_.block},
            {"stored", policy_.kept != Kept::nothing},
            {"packed", policy_.kept == Kept::pairs},
            {"narrow", policy_.narrow},
            {"shared_state", policy_.shared_state},
            {"carveout", policy_.carveout},
            {"shared_bytes", static_cast<std::int64_t>(policy_.shared_bytes)}};
  }
  [[nodiscard]] static std::size_t storage_bytes() { return 0; }
  [[nodiscard]] static double rating_bytes() { return 0; }

 private:
  std::size_t table_bytes_;
  cudaDeviceProp device_{};
  TunedPolicy policy_;
};

}  // namespace vicinity::fang
