// Implementation `gpu`: adaptive large neighbourhood search as published (Bach, Hasle, Schulz, section 3), errata mended. docs/errata.md
// lists what the paper leaves open, core/methods/alns/alns.hpp what is done there. Three variants beside it: `gpu-array`, which keeps tours
// in an array instead of the list, and takes the same path; `gpu-genetic`, whose host makes children between calls (run.cuh); and
// `gpu-local-search`, whose calls end with 2-opt.
//
// Problem: independent processes take 100 iterations a launch; each iteration removes k requests from a process' solution and inserts them
// again. A removal is the best of n requests, an insertion the best of k n: the threads of a block look for it.
// Data layout: the candidate, a doubly linked list in 16 bits (solution.hpp), lies in shared memory, or in device memory where it does not
// fit; beside it the requests removed, and a number for each node, which a destroy operator uses for what it compares and a repair
// operator for the length of the edge behind the node. Current solution and incumbent lie in device memory, distances are read through the
// read-only cache, the history of edges is one table for all processes.
// Phases of an iteration: the candidate becomes the current solution; destroy (five operators), repair (two); the history takes the edges;
// acceptance. The first solutions are made by a launch of their own, whose blocks repair a solution without requests.
// Synchronisation: block barriers only; two a removal by comparison, two an insertion.
// Cost: an iteration that removes k of n requests evaluates k^2 n / 2 insertions (Algorithms 2 and 3: all of them again after each
// insertion). An evaluation gathers two distances from the row of its request.
#include <cstdint>
#include <memory>
#include <type_traits>

#include "core/methods/alns/alns.hpp"
#include "kernels/alns/implementations.hpp"
#include "kernels/alns/process.cuh"

namespace vicinity::alns {
namespace {

/// A request that is to be inserted.
struct alignas(16) Removed {
  std::int32_t request, demand, service, unused;
};

/// Where things lie in the memory of a block.
struct Layout {
  std::size_t removed, numbers, bytes;  ///< the solution stands at 0

  /// For up to `most` requests removed.
  Layout(std::size_t solution_ints, std::int32_t n, std::int32_t m, std::int32_t most)
      : removed(sizeof(std::int32_t) * solution_ints),
        numbers(removed + sizeof(Removed) * static_cast<std::size_t>(most)),
        bytes((numbers + sizeof(std::uint32_t) * static_cast<std::size_t>(n + m + 1) + 15) / 16 * 16) {}
};

constexpr std::int32_t most_regrets = 60;       ///< most_removed() of any n
constexpr std::int32_t requests_at_a_time = 8;  ///< that a warp tries at a tile of 32 positions before it takes the next tile

struct Common : ProcessCommon {
  std::int32_t wanted, pair;  ///< how many to remove, by which operators
  std::int32_t weights[operator_pairs];
  std::uint64_t first[most_regrets];  ///< [removed] key of its best insertion
  std::uint64_t loss[most_regrets];   ///< [removed] the less, the greater its regret
  std::uint64_t chosen_key;           ///< the insertion that all threads make room for, in an array
};

/// What the threads of a block work on.
template <class Solution>
struct Block {
  const vrp::View& vrp;
  Distances distance;
  Solution solution;  ///< the candidate; of a request that is not in it, slot is its place in `removed`
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

// --- the array, by all threads (gpu-array) ---------------------------------------------------------------------------------------

template <class B>
constexpr bool in_array = std::is_same_v<decltype(B::solution), ArraySolution>;

/// Takes the empty entries out. Mapping: threads in turns, an entry each. Synchronisation: two block barriers for every 512 entries; those
/// before are the caller's, and none is needed after it. `counts`: one a warp.
__device__ __forceinline__ void compact(const ArrayTour<Index>& array, std::uint64_t* counts) {
  const std::int32_t last = array.end();
  std::int32_t to = 0;  // entries that stay, of all threads so far
  for (std::int32_t base = 0; base <= last; base += threads) {
    const std::int32_t entry = base + thread();
    const bool stays = entry <= last && array.full(entry);
    const std::int32_t node = stays ? array.order[entry] : 0;
    const std::uint32_t lanes = __ballot_sync(~0u, stays);
    if (lane() == 0) counts[warp()] = static_cast<std::uint64_t>(__popc(lanes));
    __syncthreads();  // these entries are read, and so was the end; the counts are written
    std::int32_t before = __popc(lanes & ((1u << lane()) - 1)), all = 0;
    for (std::int32_t w = 0; w < warps; ++w) {
      if (w == warp()) before += all;
      all += static_cast<std::int32_t>(counts[w]);
    }
    if (stays) array.put(to + before, node);
    to += all;
    __syncthreads();  // the counts are read, and what is written here is no entry that others read before
  }
}

/// Moves all entries behind `node` by one, and leaves the one for `request` empty, but named. Mapping: threads in turns from the end, an
/// entry each. Synchronisation: a block barrier for every 512 entries moved, and one; those before are the caller's.
__device__ __forceinline__ void make_room(const ArrayTour<Index>& array, std::int32_t node, std::int32_t request) {
  const std::int32_t first = array.where[node] + 1;
  for (std::int32_t top = array.end(); top >= first; top -= threads) {
    const std::int32_t entry = top - thread();
    const std::int32_t moved = entry >= first ? array.order[entry] : 0;
    __syncthreads();  // these entries are read, and so were the end and the node's
    if (entry >= first) array.put(entry + 1, moved);
  }
  if (thread() == 0) array.order[first] = static_cast<Index>(request);  // it was read before the last barrier
  __syncthreads();
}

// --- destroy -------------------------------------------------------------------------------------------------------------------

/// By one thread: adds a request to those removed.
template <class B>
__device__ __forceinline__ void note_removed(const B& b, std::int32_t request, std::int32_t place) {
  b.removed[place] = {request, b.vrp.demand[request], b.vrp.service[request], 0};
  b.solution.list.set_slot(request, place);
}
/// By one thread: takes a request out of the candidate.
template <class B>
__device__ __forceinline__ void take(const B& b, std::int32_t request) {
  b.solution.remove(request, b.solution.saving(b.distance, request), b.vrp.demand[request], b.vrp.service[request]);
  note_removed(b, request, b.common.count++);
}

/// Serial, as in the paper.
template <class B>
__device__ __forceinline__ void remove_random(const B& b, std::int32_t k, const Draws& draws) {
  if (thread() == 0) {
    for (std::uint32_t a = 0; b.common.count < k; ++a)
      if (const std::int32_t request = draws.request(a); b.solution.list.contains(request)) take(b, request);
  }
}

/// Takes k times the request with the least (value, request); a value is less than `gone`. changed(r): a neighbour of r has gone, which
/// thread 0 says. Synchronisation: two block barriers a request. Cost: n numbers read a request.
template <class B, class Value, class Changed>
__device__ __forceinline__ void remove_least(const B& b, std::int32_t k, const Value& value, const Changed& changed) {
  const auto& list = b.solution.list;
  for_own_requests(b, [&](std::int32_t r) { b.number[r] = value(r); });
  for (std::int32_t step = 0; step < k; ++step) {
    std::uint64_t mine = none;
    for_own_requests(b, [&](std::int32_t r) { cuda::lower(mine, std::uint64_t{b.number[r]} << 32 | static_cast<std::uint32_t>(r)); });
    const std::uint64_t least = cuda::block_argmin(mine, b.common.slots);
    if (thread() == 0) {
      const auto request = static_cast<std::int32_t>(least & 0xFFFFFFFFu);
      const std::int32_t before = list.before(request), after = list.after(request);
      take(b, request);
      b.number[request] = gone;
      for (const std::int32_t neighbor : {before, after})
        if (!list.is_depot(neighbor)) changed(neighbor);
    }
    __syncthreads();
  }
}

template <class B>
__device__ __forceinline__ void remove_worst(const B& b, std::int32_t k) {
  const auto value = [&](std::int32_t r) { return ordered(-b.solution.saving(b.distance, r)); };
  remove_least(b, k, value, [&](std::int32_t r) { b.number[r] = value(r); });
}
template <class B>
__device__ __forceinline__ void remove_related(const B& b, std::int32_t k, const Draws& draws) {
  const std::int32_t seed = draws.request(0);
  remove_least(
      b, k, [&](std::int32_t r) { return static_cast<std::uint32_t>(b.distance(seed, r)); }, [](std::int32_t) {});
}
/// Sums of two costs fit 32 bits; the greatest comes first, and none is `gone`.
template <class B>
__device__ __forceinline__ void remove_historical(const B& b, std::int32_t k, const std::int32_t* kept) {
  const auto& list = b.solution.list;
  const std::int32_t cost = b.solution.totals->cost;
  const auto of = [&](std::int32_t a, std::int32_t c) {
    return static_cast<std::uint32_t>(remembered(__ldg(kept + edge_index(b.vrp.n, list.place(a), list.place(c))), cost));
  };
  remove_least(
      b, k, [&](std::int32_t r) { return gone - 1 - (of(list.before(r), r) + of(r, list.after(r))); }, [](std::int32_t) {});
}

/// By one thread.
template <class B>
__device__ __forceinline__ void close_emptied(const B& b) {
  b.solution.keep_one_empty([&](std::int32_t j) { return b.removed[j].request; }, b.common.count);
}

// --- repair --------------------------------------------------------------------------------------------------------------------

/// Positions 0 .. positions_of() - 1: the node, and the one behind it, negative where the first one is not in the solution.
__device__ __forceinline__ std::int32_t positions_of(const ListedSolution& solution) { return solution.list.n + solution.totals->bound; }
__device__ __forceinline__ std::int32_t node_at(const GiantTour<Index>&, std::int32_t i) { return 1 + i; }
__device__ __forceinline__ std::int32_t node_behind(const GiantTour<Index>& list, std::int32_t i) { return list.next[1 + i]; }
__device__ __forceinline__ std::int32_t positions_of(const ArraySolution& solution) { return solution.list.end(); }
__device__ __forceinline__ std::int32_t node_at(const ArrayTour<Index>& array, std::int32_t i) { return array.order[i]; }
__device__ __forceinline__ std::int32_t node_behind(const ArrayTour<Index>& array, std::int32_t i) { return array.order[i + 1]; }

/// A node as a position, and what an insertion there needs. None is feasible where it is not in the solution: regret does not skip those,
/// so that the loads of several nodes are under way at a time. In a list the positions are all nodes, in an array its entries.
struct Position {
  bool in_solution;
  std::int32_t node, tour, before, after;  ///< before, after: places
  std::int32_t edge;                       ///< from `before` to `after`
  std::int32_t room, slack;                ///< of the tour: capacity and duration that are left

  template <class B>
  __device__ __forceinline__ Position(const B& b, std::int32_t of) : node(node_at(b.solution.list, of)) {
    const auto& solution = b.solution;
    const std::int32_t next = node_behind(solution.list, of);
    in_solution = next >= 0;
    tour = solution.list.tour[node];
    before = solution.list.place(node);
    after = in_solution ? solution.list.place(next) : 0;
    edge = static_cast<std::int32_t>(b.number[node]);
    room = b.vrp.capacity - solution.load[tour];
    slack = b.vrp.limit - solution.duration[tour];
  }
  /// Algorithm 3; `none` where it is not feasible. Distances are symmetric: both lie in the row of the request.
  template <class B>
  __device__ __forceinline__ std::uint64_t key(const B& b, const Removed& removed) const {
    const std::int32_t delta = b.distance(removed.request, before) + b.distance(removed.request, after) - edge;
    const bool feasible = in_solution && removed.demand <= room && delta + removed.service <= slack;
    return feasible ? key_of(delta, node, removed.request) : none;
  }
};

/// Algorithm 2, lines 2 to 13: the least key of all insertions, in thread 0. Mapping: a warp takes a tile of 32 positions, one a lane, with
/// a few requests, so that the distances to the positions lie side by side. Synchronisation: a block barrier.
template <class B>
__device__ __forceinline__ std::uint64_t cheapest(const B& b) {
  constexpr std::int32_t group = requests_at_a_time;
  const std::int32_t count = b.common.count, positions = positions_of(b.solution);
  const std::int32_t groups = (count + group - 1) / group, tiles = (positions + 31) / 32;
  std::uint64_t mine = none;
  for (std::int32_t x = warp(); x < tiles * groups; x += warps) {
    const std::int32_t tile = x / groups, from = (x - tile * groups) * group, to = min(from + group, count);
    const std::int32_t i = 32 * tile + lane();
    if (i >= positions || node_behind(b.solution.list, i) < 0) continue;
    const Position position(b, i);
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
/// The best insertion of the request of greatest regret, in thread 0; `none` when some request has no insertion. Mapping: a warp a request,
/// its lanes the positions. Synchronisation: a block barrier.
template <class B>
__device__ __forceinline__ std::uint64_t most_regretted(const B& b) {
  const std::int32_t count = b.common.count, positions = positions_of(b.solution);
  for (std::int32_t j = warp(); j < count; j += warps) {
    const Removed removed = b.removed[j];
    std::uint64_t first = none, second = none;  // of two tours
    std::int32_t tour = -1;                     // of the first
#pragma unroll 4
    for (std::int32_t i = lane(); i < positions; i += 32) {
      const Position position(b, i);
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
template <class B>
__device__ __forceinline__ void insert(const B& b, std::uint64_t key) {
  const auto& list = b.solution.list;
  const std::int32_t request = request_in(key), position = position_in(key);
  const std::int32_t to = b.distance(request, list.place(position)), on = b.distance(request, list.place(list.after(position)));
  const std::int32_t place = list.slot(request);
  const Removed inserted = b.removed[place], moved = b.removed[--b.common.count];
  b.removed[place] = moved;
  list.set_slot(moved.request, place);
  b.solution.insert(position, request, delta_in(key), inserted.demand, inserted.service);
  b.number[position] = static_cast<std::uint32_t>(to);
  b.number[request] = static_cast<std::uint32_t>(on);
}

/// Algorithm 2, and the same with regrets: inserts all requests removed; false: some has no feasible position. Synchronisation: block
/// barriers before and after; one a step beside those of its search.
template <class B>
__device__ __forceinline__ bool repair(const B& b, Repair operation) {
  const auto& list = b.solution.list;
  Common& common = b.common;
  __syncthreads();
  if constexpr (in_array<B>) compact(b.solution.list, b.common.slots);
  const std::int32_t fleet = b.vrp.n + b.vrp.vehicles;
  for (std::int32_t node = 1 + thread(); node <= fleet; node += threads)  // those that are not in the solution yet need 0 at most
    b.number[node] = list.contains(node) ? static_cast<std::uint32_t>(b.distance(list.place(node), list.place(list.after(node)))) : 0;
  __syncthreads();
  while (common.count > 0) {
    const std::uint64_t key = operation == Repair::greedy ? cheapest(b) : most_regretted(b);
    if constexpr (in_array<B>) {
      if (thread() == 0) common.chosen_key = key;
      __syncthreads();
      if (common.chosen_key != none) make_room(list, position_in(common.chosen_key), request_in(common.chosen_key));
    }
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
template <class B>
__device__ __forceinline__ void insert_if_feasible(const B& b, std::int32_t request, std::int32_t position) {
  const auto& list = b.solution.list;
  const std::int32_t t = list.tour[position];
  const std::int32_t delta = vrp::insertion_delta(b.distance, list.place(position), request, list.place(list.after(position)));
  if (vrp::fits(b.vrp, b.solution.load[t], b.solution.duration[t], request, delta)) insert(b, key_of(delta, position, request));
}

// --- local search within a call ------------------------------------------------------------------------------------------------

/// 2-opt of every tour of the candidate to a local optimum (two_opt.cuh). Mapping: a warp a tour; its first lane writes the requests in
/// order into `number`, where the tours' places are dealt out by `common.left`, 0 before; then its lanes are the ends of the reversals that
/// begin at the same place. Synchronisation: warp barriers; block barriers before and after are the caller's. Cost: length^2 / 64 rounds of
/// four distances a reversal; where there are fewer tours than warps, the others wait.
__device__ __forceinline__ void two_opt_tours(const Block<ListedSolution>& b) {
  const auto& list = b.solution.list;
  for (std::int32_t t = warp(); t < b.solution.totals->bound; t += warps) {
    const std::int32_t start = list.start_of(t);
    if (!list.contains(start) || list.empty(t)) continue;  // the same for all lanes
    std::int32_t length = 0, first = 0, after = 0;         // after: the node behind the tour
    if (lane() == 0) {
      for (after = list.next[start]; !list.is_depot(after); after = list.next[after]) ++length;
      first = atomicAdd(&b.common.left, length);
      std::uint32_t* to = b.number + first;
      for (std::int32_t r = list.next[start]; r != after; r = list.next[r]) *to++ = static_cast<std::uint32_t>(r);
    }
    first = __shfl_sync(~0u, first, 0);
    length = __shfl_sync(~0u, length, 0);
    after = __shfl_sync(~0u, after, 0);
    __syncwarp();  // the order is written
    std::uint32_t* const tour = b.number + first;
    const auto at = [=](std::int32_t i) { return i < 0 || i >= length ? 0 : static_cast<std::int32_t>(tour[i]); };
    std::int32_t change = 0;
    while (true) {
      std::uint64_t mine = none;
      for (std::int32_t i = 0; i < length; ++i)
        for (std::int32_t j = i + 1 + lane(); j < length; j += 32) {
          const std::int32_t delta = vrp::two_opt_delta(b.distance, at(i - 1), at(i), at(j), at(j + 1));
          if (delta < 0) cuda::lower(mine, std::uint64_t{ordered(delta)} << 32 | static_cast<std::uint32_t>(i << 16 | j));
        }
      __syncwarp();  // all lanes have read the order
      const std::uint64_t best = cuda::warp_argmin(mine);
      if (best == none) break;
      change += number_of(static_cast<std::uint32_t>(best >> 32));
      const auto i = static_cast<std::int32_t>(best >> 16 & 0xFFFF), j = static_cast<std::int32_t>(best & 0xFFFF);
      for (std::int32_t x = lane(); x < (j - i + 1) / 2; x += 32) {
        const std::uint32_t swapped = tour[i + x];
        tour[i + x] = tour[j - x];
        tour[j - x] = swapped;
      }
      __syncwarp();  // and this is the next one
    }
    if (change == 0) continue;
    for (std::int32_t i = lane(); i < length; i += 32) {
      const std::int32_t request = at(i);
      list.prev[request] = static_cast<Index>(i > 0 ? at(i - 1) : start);
      list.next[request] = static_cast<Index>(i + 1 < length ? at(i + 1) : after);
    }
    if (lane() == 0) {  // prev of the node behind is this tour's to write, next of it its own tour's
      list.next[start] = static_cast<Index>(at(0));
      list.prev[after] = static_cast<Index>(at(length - 1));
      b.solution.duration[t] += change;
      atomicAdd(&b.solution.totals->cost, change);
    }
  }
}

/// The end of a call of gpu-local-search: 2-opt of the incumbent and of the current solution, which may become the incumbent.
/// Synchronisation: three block barriers a solution, and one.
__device__ __forceinline__ void improve(const Block<ListedSolution>& b, ProcessState& state, std::int32_t* history, std::int32_t* candidate,
                                        std::int32_t* current, std::int32_t* incumbent, std::int32_t ints) {
  for (const bool of_current : {false, true}) {
    std::int32_t* const solution = of_current ? current : incumbent;
    __syncthreads();  // the candidate was read by other threads than those that copy
    copy_solution(candidate, solution, ints);
    if (thread() == 0) b.common.left = 0;
    __syncthreads();
    two_opt_tours(b);
    __syncthreads();
    note_edges(b, history);
    copy_solution(solution, candidate, ints);
    if (thread() == 0) (of_current ? state.cost : state.incumbent_cost) = b.solution.totals->cost;
  }
  if (thread() == 0) {
    b.common.improved = state.cost < state.incumbent_cost;
    if (b.common.improved) state.incumbent_cost = state.cost;
    for (const std::int64_t cost : {state.cost, state.incumbent_cost}) state.digest.add(static_cast<std::uint64_t>(cost));
  }
  __syncthreads();
  if (b.common.improved) copy_solution(incumbent, candidate, ints);
}

// --- kernels -------------------------------------------------------------------------------------------------------------------

/// Section 3.3. Mapping: a block a start. Cost: that of a repair of n requests.
template <class Solution, bool Shared>
__global__ void __launch_bounds__(threads, blocks_a_multiprocessor)
    start_kernel(const Constructions constructions, const Layout layout, unsigned char* device_memory) {
  __shared__ Common common;
  const std::int64_t s = blockIdx.x;
  const Block<Solution> b(constructions.vrp, memory_of_block<Shared>(device_memory, layout), layout, common);
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

/// 100 iterations (section 3.1). Mapping: a block a process.
template <class Solution, bool Shared, bool LocalSearch>
__global__ void __launch_bounds__(threads, blocks_a_multiprocessor)
    call_kernel(const Processes processes, const Layout layout, unsigned char* device_memory, std::int64_t call) {
  __shared__ Common common;
  const auto p = static_cast<std::int32_t>(blockIdx.x);
  const Block<Solution> b(processes.vrp, memory_of_block<Shared>(device_memory, layout), layout, common);
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
    const bool complete = repair(b, repair_of(common.pair)) && !exceeds_limit(b);
    if (complete) note_edges(b, processes.next);
    if (thread() == 0) {
      const std::int64_t cost = complete ? b.solution.totals->cost : 0;
      const bool accepted = complete && accepts(cost - state.cost, state.temperature, bits(processes.seed, i, p, Draw::acceptance));
      conclude(b, common.pair, cost, accepted, state.cost, state.incumbent_cost);
      add_iteration(state.digest, common.pair, common.wanted, cost, accepted);
      state.temperature = next_temperature(state.temperature, state.first_temperature, ++state.since_start);
    }
    __syncthreads();
    if (common.accepted) copy_solution(current, candidate, ints);
    if (common.improved) copy_solution(incumbent, candidate, ints);
  }
  if (thread() < operator_pairs)
    state.weights[thread()] = next_weight(common.weights[thread()], common.points[thread()], common.uses[thread()]);
  if (thread() == 0) state.evaluations += common.evaluations;
  if constexpr (LocalSearch) improve(b, state, processes.next, candidate, current, incumbent, ints);
}

/// Method of DeviceProcesses (kernels/alns/run.cuh).
template <class S, bool LocalSearch>
class Published {
 public:
  using Solution = S;

  Published(const vrp::View& vrp, const Task& task)
      : call_layout_(Solution::ints(vrp.n, vrp.vehicles), vrp.n, vrp.vehicles, most_removed(vrp.n)),
        start_layout_(Solution::ints(vrp.n, vrp.vehicles), vrp.n, vrp.vehicles, vrp.n),
        call_shared_(
            memory_.place(call_kernel<Solution, true, LocalSearch>, call_layout_.bytes, sizeof(Common), task.processes, task.memory)),
        start_shared_(memory_.place(start_kernel<Solution, true>, start_layout_.bytes, sizeof(Common), task.starts(), task.memory)) {}

  void construct(const Constructions& constructions, std::int64_t count, const cuda::Stream& stream) {
    const cuda::Shape shape{count, threads, start_shared_ ? start_layout_.bytes : 0};
    VICINITY_CUDA_CHECK(cuda::launch(shape, stream, start_shared_ ? start_kernel<Solution, true> : start_kernel<Solution, false>,
                                     constructions, start_layout_, memory_.device()));
  }
  void call(const Processes& processes, std::int64_t count, std::int64_t call, const cuda::Stream& stream) {
    const cuda::Shape shape{count, threads, shared_bytes()};
    VICINITY_CUDA_CHECK(cuda::launch(shape, stream,
                                     call_shared_ ? call_kernel<Solution, true, LocalSearch> : call_kernel<Solution, false, LocalSearch>,
                                     processes, call_layout_, memory_.device(), call));
  }
  [[nodiscard]] Policy policy() const {
    return {{"block", threads}, {"in_shared", call_shared_ ? 1 : 0}, {"shared_bytes", static_cast<std::int64_t>(shared_bytes())}};
  }

 private:
  /// Of a block of the calls; 0: the candidate is in device memory.
  [[nodiscard]] std::size_t shared_bytes() const { return call_shared_ ? call_layout_.bytes : 0; }

  BlockMemory memory_;
  Layout call_layout_, start_layout_;
  bool call_shared_, start_shared_;
};

}  // namespace

std::unique_ptr<Run> prepare_published(const Case& c, const Instance& instance) {
  return prepare_gpu<Published<ListedSolution, false>>(c, instance);
}
std::unique_ptr<Run> prepare_array(const Case& c, const Instance& instance) {
  return prepare_gpu<Published<ArraySolution, false>>(c, instance);
}
std::unique_ptr<Run> prepare_genetic(const Case& c, const Instance& instance) {
  return prepare_gpu<Published<ListedSolution, false>>(c, instance, Variant::genetic);
}
std::unique_ptr<Run> prepare_local_search(const Case& c, const Instance& instance) {
  return prepare_gpu<Published<ListedSolution, true>>(c, instance, Variant::local_search);
}

}  // namespace vicinity::alns
