// Implementation `gpu`: adaptive large neighbourhood search as published (Bach, Hasle, Schulz, section 3), errata mended. docs/errata.md
// lists what the paper leaves open, core/methods/alns/alns.hpp what is done there.
//
// Problem: independent processes take 100 iterations a launch; each iteration removes k requests from a process' solution and inserts them
// again. A removal is the best of n requests, an insertion the best of k n: the threads of a block look for it.
// Data layout: the candidate, a doubly linked list in 16 bits (solution.hpp), lies in shared memory, or in device memory where it does not
// fit; beside it the requests removed, and a number for each node, which a destroy operator uses for what it compares and a repair
// operator for the length of the edge behind the node. Current solution and incumbent lie in device memory, distances are read through the
// read-only cache, the history of edges is one table for all processes.
// Phases of an iteration: the candidate becomes the current solution; destroy (five operators), repair (two); the history takes the edges;
// acceptance. The first solutions are made by a launch of their own, whose blocks repair a solution without requests.
// Synchronisation: block barriers only; two a removal by comparison, two an insertion (regret: three).
// Cost: an iteration that removes k of n requests evaluates k^2 n / 2 insertions (Algorithms 2 and 3: all of them again after each
// insertion). An evaluation gathers two distances from the row of its request.
#include <cstdint>
#include <memory>

#include "core/methods/alns/alns.hpp"
#include "kernels/alns/implementations.hpp"
#include "kernels/alns/run.cuh"
#include "kernels/alns/solution.hpp"
#include "kernels/cuda/collective/argmin.cuh"
#include "kernels/cuda/runtime/launch.cuh"

namespace vicinity::alns {
namespace {

/// Launch policy, for kernels and launches alike (section 3.1).
struct PublishedPolicy {
  static constexpr std::int32_t block = 512, blocks_a_multiprocessor = 2;
  static constexpr std::int32_t requests = 8;  ///< that a warp tries at a tile of 32 positions before it takes the next tile

  std::size_t shared_bytes;  ///< of a block of the calls; 0: the candidate is in device memory

  [[nodiscard]] Policy record() const {
    return {{"block", block}, {"in_shared", shared_bytes > 0 ? 1 : 0}, {"shared_bytes", static_cast<std::int64_t>(shared_bytes)}};
  }
};

/// A request that is to be inserted.
struct alignas(16) Removed {
  std::int32_t request, demand, service, unused;
};

/// Where things lie in the memory of a block.
struct Layout {
  std::size_t removed, numbers, bytes;  ///< the solution stands at 0

  /// For up to `most` requests removed.
  Layout(std::int32_t n, std::int32_t m, std::int32_t most)
      : removed(sizeof(std::int32_t) * ListedSolution::ints(n, m)),
        numbers(removed + sizeof(Removed) * static_cast<std::size_t>(most)),
        bytes((numbers + sizeof(std::uint32_t) * static_cast<std::size_t>(n + m + 1) + 15) / 16 * 16) {}
};

constexpr std::int32_t most_regrets = 60;  ///< most_removed() of any n
constexpr auto none = cuda::no_key<std::uint64_t>();

/// What the threads of a block have in common, beside the memory of its layout.
struct Common {
  std::int32_t count;                ///< requests removed and not inserted again
  bool stuck;                        ///< one of them has no feasible position
  std::int32_t wanted, pair;         ///< how many to remove, by which operators
  bool accepted, improved;           ///< the candidate
  std::int32_t chosen;               ///< a request
  std::int32_t edges, length, left;  ///< of a tour: edges between requests, the sum of these, requests in the solution
  std::int64_t evaluations;
  std::int32_t weights[operator_pairs], points[operator_pairs], uses[operator_pairs];
  std::uint64_t slots[32];            ///< of reductions
  std::uint64_t first[most_regrets];  ///< [removed] key of its best insertion
  std::uint64_t loss[most_regrets];   ///< [removed] the less, the greater its regret
};

/// Distances through the read-only cache.
struct Distances {
  const std::int32_t* row;  ///< that of the depot
  std::int32_t pitch;

  __device__ __forceinline__ std::int32_t operator()(std::int32_t a, std::int32_t b) const { return __ldg(row + (a * pitch + b)); }
};

/// What the threads of a block work on.
struct Block {
  const vrp::View& vrp;
  Distances distance;
  ListedSolution solution;  ///< the candidate; of a request that is not in it, prev is its place in `removed`
  Removed* removed;
  std::uint32_t* number;  ///< [node]
  Common& common;

  __device__ __forceinline__ Block(const vrp::View& view, unsigned char* memory, const Layout& layout, Common& shared)
      : vrp(view),
        distance{view.distance, view.n + 1},
        solution(reinterpret_cast<std::int32_t*>(memory), view.n, view.vehicles),
        removed(reinterpret_cast<Removed*>(memory + layout.removed)),
        number(reinterpret_cast<std::uint32_t*>(memory + layout.numbers)),
        common(shared) {}
};

__device__ __forceinline__ std::int32_t thread() { return static_cast<std::int32_t>(threadIdx.x); }
__device__ __forceinline__ std::int32_t warp() { return thread() / 32; }
__device__ __forceinline__ std::int32_t lane() { return thread() % 32; }
constexpr std::int32_t threads = PublishedPolicy::block, warps = threads / 32;

/// visit(request) for each, dealt to the threads in turns: a thread has the same ones every time.
template <class Visit>
__device__ __forceinline__ void for_own_requests(const Block& b, const Visit& visit) {
  for (std::int32_t r = 1 + thread(); r <= b.vrp.n; r += threads) visit(r);
}
/// A thread copies the same words every time, so that copies one after the other need no barrier.
__device__ __forceinline__ void copy_solution(std::int32_t* to, const std::int32_t* from, std::int32_t ints) {
  for (std::int32_t i = thread(); i < ints / 4; i += threads) reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
}

// --- destroy -------------------------------------------------------------------------------------------------------------------

/// By one thread: adds a request to those removed.
__device__ __forceinline__ void note_removed(const Block& b, std::int32_t request, std::int32_t place) {
  b.removed[place] = {request, b.vrp.demand[request], b.vrp.service[request], 0};
  b.solution.list.prev[request] = static_cast<Index>(place);
}
/// By one thread: takes a request out of the candidate.
__device__ __forceinline__ void take(const Block& b, std::int32_t request) {
  b.solution.remove(request, b.solution.saving(b.distance, request), b.vrp.demand[request], b.vrp.service[request]);
  note_removed(b, request, b.common.count++);
}

/// The draws of requests of one iteration.
struct Draws {
  std::uint64_t seed;
  std::int64_t iteration;
  std::int32_t process, n;

  __device__ __forceinline__ std::int32_t request(std::uint32_t a) const {
    return request_of(bits(seed, iteration, process, Draw::request, a), n);
  }
};

/// Serial, as in the paper.
__device__ __forceinline__ void remove_random(const Block& b, std::int32_t k, const Draws& draws) {
  if (thread() == 0) {
    for (std::uint32_t a = 0; b.common.count < k; ++a)
      if (const std::int32_t request = draws.request(a); b.solution.list.contains(request)) take(b, request);
  }
}

/// The number of a request that is no longer in the solution; value(r) is less.
constexpr std::uint32_t gone = ~0u;

/// Takes k times the request with the least (value, request). changed(r): a neighbour of r has gone, which thread 0 says.
/// Synchronisation: two block barriers a request. Cost: n numbers read a request.
template <class Value, class Changed>
__device__ __forceinline__ void remove_least(const Block& b, std::int32_t k, const Value& value, const Changed& changed) {
  const auto& list = b.solution.list;
  for_own_requests(b, [&](std::int32_t r) { b.number[r] = value(r); });
  for (std::int32_t step = 0; step < k; ++step) {
    std::uint64_t mine = none;
    for_own_requests(b, [&](std::int32_t r) { cuda::lower(mine, std::uint64_t{b.number[r]} << 32 | static_cast<std::uint32_t>(r)); });
    const std::uint64_t least = cuda::block_argmin(mine, b.common.slots);
    if (thread() == 0) {
      const auto request = static_cast<std::int32_t>(least & 0xFFFFFFFFu);
      const std::int32_t before = list.prev[request], after = list.next[request];
      take(b, request);
      b.number[request] = gone;
      for (const std::int32_t neighbor : {before, after})
        if (!list.is_depot(neighbor)) changed(neighbor);
    }
    __syncthreads();
  }
}

__device__ __forceinline__ void remove_worst(const Block& b, std::int32_t k) {
  const auto value = [&](std::int32_t r) { return ordered(-b.solution.saving(b.distance, r)); };
  remove_least(b, k, value, [&](std::int32_t r) { b.number[r] = value(r); });
}
__device__ __forceinline__ void remove_related(const Block& b, std::int32_t k, const Draws& draws) {
  const std::int32_t seed = draws.request(0);
  remove_least(
      b, k, [&](std::int32_t r) { return static_cast<std::uint32_t>(b.distance(seed, r)); }, [](std::int32_t) {});
}
/// Sums of two costs fit 32 bits; the greatest comes first, and none is `gone`.
__device__ __forceinline__ void remove_historical(const Block& b, std::int32_t k, const std::int32_t* kept) {
  const auto& list = b.solution.list;
  const std::int32_t cost = b.solution.totals->cost;
  const auto of = [&](std::int32_t a, std::int32_t c) {
    return static_cast<std::uint32_t>(remembered(__ldg(kept + edge_index(b.vrp.n, list.place(a), list.place(c))), cost));
  };
  remove_least(
      b, k, [&](std::int32_t r) { return gone - 1 - (of(list.prev[r], r) + of(r, list.next[r])); }, [](std::int32_t) {});
}

/// Mapping: all threads measure the edges behind requests once, and a drawn request's tour; thread 0 walks along the cluster and takes it.
/// Synchronisation: three block barriers a draw. Cost: a draw reads n numbers, and the cluster one request after the other.
__device__ __forceinline__ void remove_clusters(const Block& b, std::int32_t k, const Draws& draws) {
  constexpr std::uint32_t last = ~0u;  // of a tour: no edge to a request
  const auto& list = b.solution.list;
  Common& common = b.common;
  for_own_requests(b, [&](std::int32_t r) {
    b.number[r] = list.is_depot(list.next[r]) ? last : static_cast<std::uint32_t>(b.distance(r, list.next[r]));
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
      while (!list.is_depot(list.prev[at]) && !cut(list.prev[at])) at = list.prev[at];
      for (std::int32_t r = at; !cut(r); r = list.next[r]) ++size;
      if (size == common.left) size = 0;  // all that is left of the tour stays
      for (; size > 0 && common.count < k; --size) {
        const std::int32_t after = list.next[at];
        take(b, at);
        at = after;
      }
    }
    __syncthreads();
  }
}

/// Takes up to k requests from the candidate. The last step is thread 0's: a barrier must follow.
__device__ __forceinline__ void destroy(const Block& b, Destroy operation, std::int32_t k, const Draws& draws, const std::int32_t* kept) {
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
  if (thread() == 0) b.solution.keep_one_empty([&](std::int32_t j) { return b.removed[j].request; }, b.common.count);
}

// --- repair --------------------------------------------------------------------------------------------------------------------

/// An insertion in one word, whose order is that of ties: (delta, position, request).
__device__ __forceinline__ std::uint64_t key_of(std::int32_t delta, std::int32_t position, std::int32_t request) {
  return std::uint64_t{ordered(delta)} << 32 | static_cast<std::uint32_t>(position << 16 | request);
}
__device__ __forceinline__ std::int32_t delta_in(std::uint64_t key) { return number_of(static_cast<std::uint32_t>(key >> 32)); }
__device__ __forceinline__ std::int32_t position_in(std::uint64_t key) { return static_cast<std::int32_t>(key >> 16 & 0xFFFFu); }
__device__ __forceinline__ std::int32_t request_in(std::uint64_t key) { return static_cast<std::int32_t>(key & 0xFFFFu); }

/// A node as a position, and what an insertion there needs. None is feasible where it is not in the solution: those are not skipped, so
/// that the loads of several nodes are under way at a time.
struct Position {
  bool in_solution;
  std::int32_t node, tour, before, after;  ///< before, after: places
  std::int32_t edge;                       ///< from `before` to `after`
  std::int32_t room, slack;                ///< of the tour: capacity and duration that are left

  __device__ __forceinline__ Position(const Block& b, std::int32_t of) : node(of) {
    const ListedSolution& solution = b.solution;
    const std::int32_t next = solution.list.next[node];
    in_solution = next >= 0;
    tour = solution.list.tour[node];
    before = solution.list.place(node);
    after = in_solution ? solution.list.place(next) : 0;
    edge = static_cast<std::int32_t>(b.number[node]);
    room = b.vrp.capacity - solution.load[tour];
    slack = b.vrp.limit - solution.duration[tour];
  }
  /// Algorithm 3; `none` where it is not feasible. Distances are symmetric: both lie in the row of the request.
  __device__ __forceinline__ std::uint64_t key(const Block& b, const Removed& removed) const {
    const std::int32_t delta = b.distance(removed.request, before) + b.distance(removed.request, after) - edge;
    const bool feasible = in_solution && removed.demand <= room && delta + removed.service <= slack;
    return feasible ? key_of(delta, node, removed.request) : none;
  }
};

/// Algorithm 2, lines 2 to 13: the least key of all insertions, in thread 0. Mapping: a warp takes a tile of 32 positions, one a lane, with
/// a few requests, so that the distances to the positions lie side by side. Synchronisation: a block barrier.
__device__ __forceinline__ std::uint64_t cheapest(const Block& b) {
  constexpr std::int32_t group = PublishedPolicy::requests;
  const std::int32_t count = b.common.count, nodes = b.vrp.n + b.solution.totals->bound;
  const std::int32_t groups = (count + group - 1) / group, tiles = (nodes + 31) / 32;
  std::uint64_t mine = none;
  for (std::int32_t x = warp(); x < tiles * groups; x += warps) {
    const std::int32_t tile = x / groups, from = (x - tile * groups) * group, to = min(from + group, count);
    const std::int32_t node = 1 + 32 * tile + lane();
    if (node > nodes || !b.solution.list.contains(node)) continue;
    const Position position(b, node);
#pragma unroll 4
    for (std::int32_t j = from; j < to; ++j) cuda::lower(mine, position.key(b, b.removed[j]));
  }
  return cuda::block_argmin(mine, b.common.slots);
}

/// A request's regret with its best insertion, as a key.
struct Regretted {
  std::uint64_t loss = none, first = none;

  [[nodiscard]] VICINITY_HD bool before(const Regretted& other) const {
    return loss < other.loss || (loss == other.loss && first < other.first);
  }
};
/// The less, the greater the regret of `first` and `second`, the least insertions of a request in two tours.
__device__ __forceinline__ std::uint64_t loss_of(std::uint64_t first, std::uint64_t second) {
  const std::int64_t regret = regret_of(insertion_key(delta_in(first), position_in(first)),
                                        second == none ? no_insertion : insertion_key(delta_in(second), position_in(second)));
  return static_cast<std::uint64_t>(no_insertion - regret);
}

/// The best insertion of the request of greatest regret, in thread 0; `none` when some request has no insertion. Mapping: a warp a request,
/// its lanes the positions. Synchronisation: a block barrier.
__device__ __forceinline__ std::uint64_t most_regretted(const Block& b) {
  const std::int32_t count = b.common.count, nodes = b.vrp.n + b.solution.totals->bound;
  for (std::int32_t j = warp(); j < count; j += warps) {
    const Removed removed = b.removed[j];
    std::uint64_t first = none, second = none;  // of two tours
    std::int32_t tour = -1;                     // of the first
#pragma unroll 4
    for (std::int32_t node = 1 + lane(); node <= nodes; node += 32) {
      const Position position(b, node);
      const std::uint64_t key = position.key(b, removed);
      if (position.tour != tour) cuda::lower(second, max(first, key));
      if (key < first) {
        first = key;
        tour = position.tour;
      }
    }
    const std::uint64_t best = cuda::warp_argmin(first);
    const std::int32_t best_tour = best == none ? -1 : std::int32_t{b.solution.list.tour[position_in(best)]};
    const std::uint64_t other = cuda::warp_argmin(tour == best_tour ? second : first);
    if (lane() == 0) {
      b.common.first[j] = best;
      b.common.loss[j] = best == none ? none : loss_of(best, other);
    }
  }
  __syncthreads();
  if (warp() != 0) return none;
  Regretted mine;
  bool stuck = false;
  for (std::int32_t j = lane(); j < count; j += 32) {
    Regretted one;
    one.loss = b.common.loss[j];
    one.first = b.common.first[j];
    stuck = stuck || one.first == none;
    cuda::lower(mine, one);
  }
  mine = cuda::warp_argmin(mine);
  return __any_sync(~0u, stuck) != 0 ? none : mine.first;
}

/// By one thread: a removed request goes where the key says.
__device__ __forceinline__ void insert(const Block& b, std::uint64_t key) {
  const auto& list = b.solution.list;
  const std::int32_t request = request_in(key), position = position_in(key);
  const std::int32_t to = b.distance(request, list.place(position)), on = b.distance(request, list.place(list.next[position]));
  const std::int32_t place = list.prev[request];
  const Removed inserted = b.removed[place], moved = b.removed[--b.common.count];
  b.removed[place] = moved;
  list.prev[moved.request] = static_cast<Index>(place);
  b.solution.insert(position, request, delta_in(key), inserted.demand, inserted.service);
  b.number[position] = static_cast<std::uint32_t>(to);
  b.number[request] = static_cast<std::uint32_t>(on);
}

/// Algorithm 2, and the same with regrets: inserts all requests removed; false: some has no feasible position. Synchronisation: block
/// barriers before and after; one a step beside those of its search.
__device__ __forceinline__ bool repair(const Block& b, Repair operation) {
  const auto& list = b.solution.list;
  Common& common = b.common;
  __syncthreads();
  const std::int32_t fleet = b.vrp.n + b.vrp.vehicles;
  for (std::int32_t node = 1 + thread(); node <= fleet; node += threads)  // those that are not in the solution yet need 0 at most
    b.number[node] = list.contains(node) ? static_cast<std::uint32_t>(b.distance(list.place(node), list.place(list.next[node]))) : 0;
  __syncthreads();
  while (common.count > 0) {
    const std::uint64_t key = operation == Repair::greedy ? cheapest(b) : most_regretted(b);
    if (thread() == 0) {
      common.evaluations += common.count * b.solution.positions(common.count);
      common.stuck = key == none;
      if (key != none) insert(b, key);
    }
    __syncthreads();
    if (common.stuck) return false;
  }
  return true;
}

// --- first solutions -----------------------------------------------------------------------------------------------------------

/// By one thread.
__device__ __forceinline__ void insert_if_feasible(const Block& b, std::int32_t request, std::int32_t position) {
  const auto& list = b.solution.list;
  const std::int32_t t = list.tour[position];
  const std::int32_t delta = vrp::insertion_delta(b.distance, list.place(position), request, list.place(list.next[position]));
  if (vrp::fits(b.vrp, b.solution.load[t], b.solution.duration[t], request, delta)) insert(b, key_of(delta, position, request));
}

/// By one thread.
__device__ __forceinline__ void place_random(const Block& b, const Constructions& constructions, std::int64_t s) {
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
__device__ __forceinline__ void place_dispersed(const Block& b, const Constructions& constructions, std::int64_t s) {
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
    if (thread() == 0) insert_if_feasible(b, chosen, b.solution.list.start_of(open));  // which changes the number of `chosen`
    __syncthreads();
    for_own_requests(b, [&](std::int32_t r) {
      if (b.number[r] != is_chosen) b.number[r] = r == chosen ? is_chosen : max(b.number[r], number_at(b.distance(chosen, r)));
    });
    __syncthreads();
  }
}

// --- kernels -------------------------------------------------------------------------------------------------------------------

/// The memory of a block: its shared memory, or a part of `device_memory`.
template <bool Shared>
__device__ __forceinline__ unsigned char* memory_of_block(unsigned char* device_memory, const Layout& layout) {
  extern __shared__ uint4 dynamic_shared[];
  if constexpr (Shared)
    return reinterpret_cast<unsigned char*>(dynamic_shared);
  else
    return device_memory + blockIdx.x * layout.bytes;
}

/// Section 3.3. Mapping: a block a start. Cost: that of a repair of n requests.
template <bool Shared>
__global__ void __launch_bounds__(PublishedPolicy::block, PublishedPolicy::blocks_a_multiprocessor)
    start_kernel(const Constructions constructions, const Layout layout, unsigned char* device_memory) {
  __shared__ Common common;
  const std::int64_t s = blockIdx.x;
  const Block b(constructions.vrp, memory_of_block<Shared>(device_memory, layout), layout, common);
  if (thread() == 0) {
    b.solution.clear();
    common.count = b.vrp.n;
    common.evaluations = 0;
    common.stuck = false;
  }
  __syncthreads();
  for_own_requests(b, [&](std::int32_t r) {
    note_removed(b, r, r - 1);
    b.solution.list.tour[r] = 0;  // any
  });
  __syncthreads();
  const Construction construction = construction_of(s);
  if (construction == Construction::random && thread() == 0) place_random(b, constructions, s);
  if (construction == Construction::dispersion) place_dispersed(b, constructions, s);
  const bool complete = repair(b, Repair::greedy);
  const auto ints = static_cast<std::int32_t>(layout.removed / sizeof(std::int32_t));
  copy_solution(constructions.solutions + s * ints, reinterpret_cast<const std::int32_t*>(b.solution.totals), ints);
  if (thread() == 0) constructions.made[s] = {complete ? std::int64_t{b.solution.totals->cost} : -1, common.evaluations};
}

/// The history takes the edges of the candidate, which is complete.
__device__ __forceinline__ void note_edges(const Block& b, std::int32_t* next) {
  const auto& list = b.solution.list;
  const std::int32_t cost = b.solution.totals->cost;
  for_own_requests(b, [&](std::int32_t r) {
    atomicMin(next + edge_index(b.vrp.n, list.place(list.prev[r]), r), cost);
    if (list.is_depot(list.next[r])) atomicMin(next + edge_index(b.vrp.n, 0, r), cost);
  });
}

/// By one thread: is the candidate accepted? What follows from it but the copies of the solution.
__device__ __forceinline__ void decide(const Block& b, ProcessState& state, const Draws& draws, bool complete) {
  Common& common = b.common;
  const std::int64_t cost = complete ? b.solution.totals->cost : 0;
  const bool accepted =
      complete && accepts(cost - state.cost, state.temperature, bits(draws.seed, draws.iteration, draws.process, Draw::acceptance));
  common.accepted = accepted;
  common.improved = accepted && cost < state.incumbent_cost;
  ++common.uses[common.pair];
  if (accepted) {
    common.points[common.pair] += common.improved ? points_best : cost < state.cost ? points_better : points_accepted;
    state.cost = cost;
    if (common.improved) state.incumbent_cost = cost;
  }
  for (const std::int64_t word : {std::int64_t{common.pair}, std::int64_t{common.wanted}, cost, static_cast<std::int64_t>(accepted)})
    state.digest.add(static_cast<std::uint64_t>(word));
  state.temperature = next_temperature(state.temperature, state.first_temperature, ++state.since_start);
}

/// 100 iterations (section 3.1). Mapping: a block a process.
template <bool Shared>
__global__ void __launch_bounds__(PublishedPolicy::block, PublishedPolicy::blocks_a_multiprocessor)
    call_kernel(const Processes processes, const Layout layout, unsigned char* device_memory, std::int64_t call) {
  __shared__ Common common;
  const auto p = static_cast<std::int32_t>(blockIdx.x);
  const Block b(processes.vrp, memory_of_block<Shared>(device_memory, layout), layout, common);
  const auto ints = static_cast<std::int32_t>(layout.removed / sizeof(std::int32_t));
  auto* const candidate = reinterpret_cast<std::int32_t*>(b.solution.totals);
  std::int32_t *const current = processes.current + std::int64_t{p} * ints, *const incumbent = processes.incumbent + std::int64_t{p} * ints;
  ProcessState& state = processes.states[p];
  if (thread() < operator_pairs) {
    common.weights[thread()] = state.weights[thread()];
    common.points[thread()] = common.uses[thread()] = 0;
  }
  if (thread() == 0) common.evaluations = 0;
  __syncthreads();
  for (std::int64_t i = call * iterations_a_call; i < (call + 1) * iterations_a_call; ++i) {
    const Draws draws{processes.seed, i, p, b.vrp.n};
    copy_solution(candidate, current, ints);
    if (thread() == 0) {
      common.count = 0;
      common.wanted = removed_of(bits(processes.seed, i, p, Draw::removed), b.vrp.n);
      common.pair = drawn_pair(common.weights, bits(processes.seed, i, p, Draw::pair));
    }
    __syncthreads();
    destroy(b, destroy_of(common.pair), common.wanted, draws, processes.kept);
    const bool complete = repair(b, repair_of(common.pair));
    if (complete) note_edges(b, processes.next);
    if (thread() == 0) decide(b, state, draws, complete);
    __syncthreads();
    if (common.accepted) copy_solution(current, candidate, ints);
    if (common.improved) copy_solution(incumbent, candidate, ints);
  }
  if (thread() < operator_pairs)
    state.weights[thread()] = next_weight(common.weights[thread()], common.points[thread()], common.uses[thread()]);
  if (thread() == 0) state.evaluations += common.evaluations;
}

/// Method of DeviceProcesses (kernels/alns/run.cuh).
class Published {
 public:
  Published(const vrp::View& vrp, const Task& task)
      : call_layout_(vrp.n, vrp.vehicles, most_removed(vrp.n)), start_layout_(vrp.n, vrp.vehicles, vrp.n) {
    policy_.shared_bytes = place(call_kernel<true>, call_layout_, task.processes, task.memory);
    start_shared_ = place(start_kernel<true>, start_layout_, task.starts(), task.memory) > 0;
  }

  void construct(const Constructions& constructions, std::int64_t count, const cuda::Stream& stream) {
    const cuda::Shape shape{count, PublishedPolicy::block, start_shared_ ? start_layout_.bytes : 0};
    VICINITY_CUDA_CHECK(cuda::launch(shape, stream, start_shared_ ? start_kernel<true> : start_kernel<false>, constructions, start_layout_,
                                     device_memory_.data()));
  }
  void call(const Processes& processes, std::int64_t count, std::int64_t call, const cuda::Stream& stream) {
    const cuda::Shape shape{count, PublishedPolicy::block, policy_.shared_bytes};
    VICINITY_CUDA_CHECK(cuda::launch(shape, stream, policy_.shared_bytes > 0 ? call_kernel<true> : call_kernel<false>, processes,
                                     call_layout_, device_memory_.data(), call));
  }
  [[nodiscard]] Policy policy() const { return policy_.record(); }

 private:
  /// Bytes of shared memory that a block of `kernel` gets; 0: device memory has what it needs, and is there for so many blocks.
  template <class... Parameters>
  std::size_t place(void (*kernel)(Parameters...), const Layout& layout, std::int64_t blocks, const std::string& memory) {
    const bool fits = layout.bytes + sizeof(Common) <= cuda::most_shared();
    if (memory == "shared" && !fits)
      throw DoesNotFit("needs " + std::to_string(layout.bytes + sizeof(Common)) + " bytes of shared memory, a block has " +
                       std::to_string(cuda::most_shared()));
    if (fits && memory != "global") {
      cuda::allow_shared(kernel, layout.bytes);
      return layout.bytes;
    }
    if (const std::size_t needed = layout.bytes * static_cast<std::size_t>(blocks); needed > device_memory_.size())
      device_memory_ = cuda::DeviceBuffer<unsigned char>(needed);
    return 0;
  }

  Layout call_layout_, start_layout_;
  PublishedPolicy policy_{};
  bool start_shared_ = false;
  cuda::DeviceBuffer<unsigned char> device_memory_;  ///< [block] of what shared memory is too small for
};

}  // namespace

std::unique_ptr<Run> prepare_published(const Case& c, const Instance& instance) { return prepare_gpu<Published>(c, instance); }

}  // namespace vicinity::alns
