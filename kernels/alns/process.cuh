#pragma once
// What the blocks of both implementations do alike for a process: draws, removal of clusters, the first places of random and dispersed
// constructions, history, acceptance, and where their memory lies.
//
// Mapping: a block a process. A block type (ProcessBlock) says what its threads work on; beside it stand, for one thread, take(b, request),
// insert_if_feasible(b, request, position) and close_emptied(b), and for all threads the other destroy operators.
// Synchronisation: block barriers, as each function says.
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "core/methods/alns/alns.hpp"
#include "kernels/alns/run.cuh"
#include "kernels/alns/solution.hpp"
#include "kernels/cuda/collective/argmin.cuh"
#include "kernels/cuda/runtime/launch.cuh"

namespace vicinity::alns {

constexpr std::int32_t threads = 512, warps = threads / 32, blocks_a_multiprocessor = 2;  ///< launch policy (section 3.1)
constexpr auto none = cuda::no_key<std::uint64_t>();
constexpr std::uint32_t gone = ~0u;  ///< the number of a request that is no longer in the solution

/// What the threads of a block have in common, beside the memory of its layout.
struct ProcessCommon {
  std::int32_t count;                ///< requests removed and not inserted again
  bool stuck;                        ///< one of them has no feasible position
  bool accepted, improved;           ///< the candidate
  std::int32_t chosen;               ///< a request
  std::int32_t edges, length, left;  ///< of a tour: edges between requests, the sum of these, requests in the solution
  std::int64_t evaluations;
  std::int32_t points[operator_pairs], uses[operator_pairs];  ///< of a call
  std::uint64_t slots[32];                                    ///< of reductions
};

/// Distances through the read-only cache.
struct Distances {
  const std::int32_t* row;  ///< that of the depot
  std::int32_t pitch;

  __device__ __forceinline__ std::int32_t operator()(std::int32_t a, std::int32_t b) const { return __ldg(row + (a * pitch + b)); }
};

/// What the threads of a block work on.
template <class B>
concept ProcessBlock = std::derived_from<std::remove_reference_t<decltype(B::common)>, ProcessCommon> &&
    requires(const B& b, std::int32_t a) {
  { b.vrp } -> std::same_as<const vrp::View&>;
  { b.distance(a, a) } -> std::same_as<std::int32_t>;
  b.solution.list.contains(a);                      // the candidate, a DeviceSolution
  { b.number[a] } -> std::same_as<std::uint32_t&>;  // [node] what an operator compares
};

__device__ __forceinline__ std::int32_t thread() { return static_cast<std::int32_t>(threadIdx.x); }
__device__ __forceinline__ std::int32_t warp() { return thread() / 32; }
__device__ __forceinline__ std::int32_t lane() { return thread() % 32; }

/// visit(request) for each, dealt to the threads in turns: a thread has the same ones every time.
template <ProcessBlock B, class Visit>
__device__ __forceinline__ void for_own_requests(const B& b, const Visit& visit) {
  for (std::int32_t r = 1 + thread(); r <= b.vrp.n; r += threads) visit(r);
}
/// A thread copies the same words every time, so that copies one after the other need no barrier.
__device__ __forceinline__ void copy_solution(std::int32_t* to, const std::int32_t* from, std::int32_t ints) {
  for (std::int32_t i = thread(); i < ints / 4; i += threads) reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
}

// --- destroy -------------------------------------------------------------------------------------------------------------------

/// The draws of requests of one iteration.
struct Draws {
  std::uint64_t seed;
  std::int64_t iteration;
  std::int32_t process, n;

  __device__ __forceinline__ std::int32_t request(std::uint32_t a) const {
    return request_of(bits(seed, iteration, process, Draw::request, a), n);
  }
};

/// Mapping: all threads measure the edges behind requests once, and a drawn request's tour; thread 0 walks along the cluster and takes it.
/// Synchronisation: three block barriers a draw. Cost: a draw reads n numbers, and the cluster one request after the other.
template <ProcessBlock B>
__device__ __forceinline__ void remove_clusters(const B& b, std::int32_t k, const Draws& draws) {
  constexpr std::uint32_t last = ~0u;  // of a tour: no edge to a request
  const auto& list = b.solution.list;
  auto& common = b.common;
  for_own_requests(b, [&](std::int32_t r) {
    b.number[r] = list.is_depot(list.after(r)) ? last : static_cast<std::uint32_t>(b.distance(r, list.after(r)));
  });
  for (std::uint32_t a = 0; a < cluster_draws && common.count < k; ++a) {
    const std::int32_t drawn = draws.request(a);
    if (!list.contains(drawn)) continue;  // the same for all threads
    const std::int32_t t = list.tour[drawn];
    if (thread() == 0) common.edges = common.length = common.left = 0;
    __syncthreads();
    std::int32_t edges = 0, length = 0, left = 0;
    for_own_requests(b, [&](std::int32_t r) {
      if (list.tour[r] != t) return;  // requests that have gone keep their tour
      left += static_cast<std::int32_t>(list.contains(r));
      if (b.number[r] == last) return;
      ++edges;
      length += static_cast<std::int32_t>(b.number[r]);
    });
    edges = cuda::warp_sum(edges);
    length = cuda::warp_sum(length);
    left = cuda::warp_sum(left);
    if (lane() == 0) {
      atomicAdd(&common.edges, edges);
      atomicAdd(&common.length, length);
      atomicAdd(&common.left, left);
    }
    __syncthreads();
    if (thread() == 0) {
      const auto cut = [&](std::int32_t r) {
        return b.number[r] == last || cuts(static_cast<std::int32_t>(b.number[r]), common.length, common.edges);
      };
      std::int32_t at = drawn, size = 1;
      while (!list.is_depot(list.before(at)) && !cut(list.before(at))) at = list.before(at);
      for (std::int32_t r = at; !cut(r); r = list.after(r)) ++size;
      if (size == common.left) size = 0;  // all that is left of the tour stays
      for (; size > 0 && common.count < k; --size) {
        const std::int32_t after = list.after(at);
        take(b, at);
        at = after;
      }
    }
    __syncthreads();
  }
}

/// Takes up to k requests from the candidate. The last step is thread 0's: a barrier must follow.
template <ProcessBlock B>
__device__ __forceinline__ void destroy(const B& b, Destroy operation, std::int32_t k, const Draws& draws, const std::int32_t* kept) {
  switch (operation) {
    case Destroy::random:
      remove_random(b, k, draws);
      break;
    case Destroy::worst:
      remove_worst(b, k);
      break;
    case Destroy::related:
      remove_related(b, k, draws);
      break;
    case Destroy::historical:
      remove_historical(b, k, kept);
      break;
    case Destroy::cluster:
      remove_clusters(b, k, draws);
      break;
  }
  if (thread() == 0) close_emptied(b);
}

// --- repair --------------------------------------------------------------------------------------------------------------------

/// An insertion in one word, whose order is that of ties: (delta, position, request).
__device__ __forceinline__ std::uint64_t key_of(std::int32_t delta, std::int32_t position, std::int32_t request) {
  return std::uint64_t{ordered(delta)} << 32 | static_cast<std::uint32_t>(position << 16 | request);
}
__device__ __forceinline__ std::int32_t delta_in(std::uint64_t key) { return number_of(static_cast<std::uint32_t>(key >> 32)); }
__device__ __forceinline__ std::int32_t position_in(std::uint64_t key) { return static_cast<std::int32_t>(key >> 16 & 0xFFFFu); }
__device__ __forceinline__ std::int32_t request_in(std::uint64_t key) { return static_cast<std::int32_t>(key & 0xFFFFu); }

/// The less, the greater the regret of `first` and `second`, the least insertions of a request into two tours.
__device__ __forceinline__ std::uint64_t loss_of(std::uint64_t first, std::uint64_t second) {
  const std::int64_t regret = regret_of(insertion_key(delta_in(first), position_in(first)),
                                        second == none ? no_insertion : insertion_key(delta_in(second), position_in(second)));
  return static_cast<std::uint64_t>(no_insertion - regret);
}

/// By a whole warp, after a repair: is a tour of the candidate longer than the limit? Removals alone can make it so. Each warp that asks
/// reads the durations of all tours, so that no barrier is needed; where there is no limit it reads none.
template <ProcessBlock B>
[[nodiscard]] __device__ __forceinline__ bool exceeds_limit(const B& b) {
  if (b.vrp.limit == vrp::no_limit) return false;
  bool exceeds = false;
#pragma unroll 1  // unrolled, registers of gpu-tuned spill
  for (std::int32_t t = lane(); t < b.solution.totals->bound; t += 32) exceeds = exceeds || b.solution.duration[t] > b.vrp.limit;
  return __any_sync(~0u, exceeds) != 0;
}

// --- first solutions -----------------------------------------------------------------------------------------------------------

/// By one thread.
template <ProcessBlock B>
__device__ __forceinline__ void place_random(const B& b, const Constructions& constructions, std::int64_t s) {
  const auto& list = b.solution.list;
  const std::int32_t n = b.vrp.n;
  const auto draw = [&](std::uint64_t a) { return request_of(start_bits(constructions.seed, s, a), n); };
  const auto draws = scale_to(start_bits(constructions.seed, s, 0), static_cast<std::uint64_t>(n) + 1);
  for (std::uint64_t a = 0; a < draws; ++a) {
    const std::int32_t request = draw(2 * a + 1), beside = draw(2 * a + 2), open = b.solution.totals->open;
    if (list.contains(request)) continue;
    if (list.contains(beside))
      insert_if_feasible(b, request, beside);
    else if (b.solution.totals->used < constructions.fewest && open >= 0)
      insert_if_feasible(b, request, list.start_of(open));
  }
}

/// Synchronisation: five block barriers a tour.
template <ProcessBlock B>
__device__ __forceinline__ void place_dispersed(const B& b, const Constructions& constructions, std::int64_t s) {
  constexpr std::uint32_t is_chosen = gone;  // numbers: to the depot and the chosen ones, the farthest first
  const auto number_at = [](std::int32_t distance) { return gone - 1 - static_cast<std::uint32_t>(distance); };
  for_own_requests(b, [&](std::int32_t r) { b.number[r] = number_at(b.distance(0, r)); });
  for (std::int32_t t = 0; t < constructions.fewest; ++t) {
    std::uint64_t mine = none;
    for_own_requests(b, [&](std::int32_t r) { cuda::lower(mine, std::uint64_t{b.number[r]} << 32 | static_cast<std::uint32_t>(r)); });
    const std::uint64_t farthest = cuda::block_argmin(mine, b.common.slots);
    if (thread() == 0)
      b.common.chosen =
          t == 0 ? request_of(start_bits(constructions.seed, s, 0), b.vrp.n) : static_cast<std::int32_t>(farthest & 0xFFFFFFFFu);
    __syncthreads();
    const std::int32_t chosen = b.common.chosen, open = b.solution.totals->open;
    if (open < 0 || b.number[chosen] == is_chosen) break;  // the same for all threads
    __syncthreads();
    if (thread() == 0) insert_if_feasible(b, chosen, b.solution.list.start_of(open));  // which may change the number of `chosen`
    __syncthreads();
    for_own_requests(b, [&](std::int32_t r) {
      if (b.number[r] != is_chosen) b.number[r] = r == chosen ? is_chosen : max(b.number[r], number_at(b.distance(chosen, r)));
    });
    __syncthreads();
  }
}

// --- iterations ----------------------------------------------------------------------------------------------------------------

/// The history takes the edges of the candidate, which is complete.
template <ProcessBlock B>
__device__ __forceinline__ void note_edges(const B& b, std::int32_t* next) {
  const auto& list = b.solution.list;
  const std::int32_t cost = b.solution.totals->cost;
  for_own_requests(b, [&](std::int32_t r) {
    atomicMin(next + edge_index(b.vrp.n, list.place(list.before(r)), r), cost);
    if (list.is_depot(list.after(r))) atomicMin(next + edge_index(b.vrp.n, 0, r), cost);
  });
}

/// By one thread: what follows from a candidate's cost and its acceptance for the process, but the copies of the solution.
template <ProcessBlock B>
__device__ __forceinline__ void conclude(const B& b, std::int32_t pair, std::int64_t cost, bool accepted, std::int64_t& current_cost,
                                         std::int64_t& incumbent_cost) {
  auto& common = b.common;
  common.accepted = accepted;
  common.improved = accepted && cost < incumbent_cost;
  ++common.uses[pair];
  if (!accepted) return;
  common.points[pair] += common.improved ? points_best : cost < current_cost ? points_better : points_accepted;
  current_cost = cost;
  if (common.improved) incumbent_cost = cost;
}
/// An iteration joins a digest.
__device__ __forceinline__ void add_iteration(Digest& digest, std::int32_t pair, std::int32_t removed, std::int64_t cost, bool accepted) {
  for (const std::int64_t word : {std::int64_t{pair}, std::int64_t{removed}, cost, static_cast<std::int64_t>(accepted)})
    digest.add(static_cast<std::uint64_t>(word));
}

// --- memory --------------------------------------------------------------------------------------------------------------------

/// The memory of a block: its shared memory, or a part of `device_memory`.
template <bool Shared, class Layout>
__device__ __forceinline__ unsigned char* memory_of_block(unsigned char* device_memory, const Layout& layout) {
  extern __shared__ uint4 dynamic_shared[];
  if constexpr (Shared)
    return reinterpret_cast<unsigned char*>(dynamic_shared);
  else
    return device_memory + blockIdx.x * layout.bytes;
}

/// Where the blocks of a kernel have their memory: in shared memory, or where that is too small, or the case wants it, on the device.
class BlockMemory {
 public:
  /// Does each of `blocks` blocks of `kernel` have its `bytes` in shared memory, beside `common`? If not, there is device memory for all.
  /// Throws DoesNotFit where `memory` is "shared" and they do not fit.
  template <class... Parameters>
  [[nodiscard]] bool place(void (*kernel)(Parameters...), std::size_t bytes, std::size_t common, std::int64_t blocks,
                           const std::string& memory) {
    const bool fits = bytes + common <= cuda::most_shared();
    if (memory == "shared" && !fits)
      throw DoesNotFit("needs " + std::to_string(bytes + common) + " bytes of shared memory, a block has " +
                       std::to_string(cuda::most_shared()));
    if (fits && memory != "global") {
      cuda::allow_shared(kernel, bytes);
      return true;
    }
    if (const std::size_t needed = bytes * static_cast<std::size_t>(blocks); needed > device_.size())
      device_ = cuda::DeviceBuffer<unsigned char>(needed);
    return false;
  }
  [[nodiscard]] unsigned char* device() { return device_.data(); }

 private:
  cuda::DeviceBuffer<unsigned char> device_;  ///< [block]
};

}  // namespace vicinity::alns
