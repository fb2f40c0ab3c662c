// Implementation `gpu-tuned`: the trajectory of `gpu`, where a repair step looks only at what the last insertion changed.
//
// Problem: independent processes take 100 iterations a launch; each removes k requests from a process' solution and inserts them again. Of
// the k^2 n / 2 insertions that the paper evaluates again and again all but those into one tour have the value of the step before.
// Data layout, in the shared memory of a block: the candidate (solution.hpp); the length of the edge behind each node; a slot for each
// request removed, with its best insertion and its best in another tour; the table [slot][tour] of its two least insertions in each tour,
// feasible or not: all positions of a tour have the same room, so that the least one decides; the positions, dealt out by tours; rows of
// the distance matrix. What does not fit is left out: without the second ones (the layout is not deep) more cells are looked at again,
// without rows the distances are gathered from the read-only cache, without a table (many tours, first solutions) a request whose best
// tours changed is compared with all positions, in greedy repair when that could matter. What is left lies in device memory where shared
// memory is too small.
// Phases of an iteration: the candidate becomes the current solution; destroy; costs of what was removed, at the same time for all;
// positions are dealt out, and rows arrive meanwhile; the table is filled by a sweep over all positions, a part of them a warp, a lane a
// request; steps; the history takes the edges; acceptance. What an iteration draws is known since its call began. In a step one warp
// chooses and inserts; then the others, four lanes a slot, compare each slot's least insertions in the changed tour with the two new
// positions, and each slot's tours. Where both least positions are gone the cell of the table is a bound, which is looked at again if it
// is chosen (greedy) or one of a slot's two best (regret).
// Synchronisation: two barriers a step, of the warps that have slots; worst removal uses one warp and no barrier, the other removals up to
// a dozen. Without a table: two block barriers a step, and the slots are dealt to all warps.
// Cost: k n evaluations for the table, each two reads of shared memory; then all cells of the table a step, a few a lane.
#include <cuda_pipeline.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>

#include "core/methods/alns/alns.hpp"
#include "kernels/alns/implementations.hpp"
#include "kernels/alns/process.cuh"

namespace vicinity::alns {
namespace {

/// A request that is to be inserted; 0: it has been.
struct alignas(16) Slot {
  std::int32_t request, demand, service, unused;
};
/// A position when the table is filled: the places beside it, the edge between these, the node before it.
struct alignas(16) Entry {
  std::int32_t before, after, edge, node;
};
/// Of a tour, for cluster removal: edges between requests, the sum of these, clusters, requests taken.
struct alignas(16) TourEdges {
  std::int32_t edges, length, clusters, taken;
};
static_assert(sizeof(TourEdges) == sizeof(Entry));  // they lie where entries do later

/// What a step of a repair by the table does.
struct alignas(16) Move {
  Index request, slot;    ///< the request inserted; 0: the repair is over
  Index position, after;  ///< the node before it, the place behind it; position 0: nowhere yet, its first insertion is not exact
  Index tour, opened;     ///< `opened`: a tour that became the empty one, or -1
  Index added;            ///< nodes that joined the solution since positions were dealt out
  Index rare;             ///< the repair is over, or no insertion, or a tour opened
};
static_assert(sizeof(Move) == 16);  // read at once

constexpr std::int32_t most_parts = 32;  ///< of the positions, when the table is filled

/// Where things lie in the memory of a block.
struct Layout {
  std::int32_t columns;  ///< of the table; 0: none
  std::int32_t staged;   ///< rows of the distance matrix that a sweep takes at a time; 0: none
  bool resident;         ///< those of all requests removed stay
  bool deep;             ///< the table keeps two insertions a cell
  std::int32_t pitch;    ///< of these rows; odd, so that lanes that have a slot each use different banks
  std::int32_t width;    ///< of the table: columns, and some for parts of tours; 4 more than a multiple of 8, so that four lanes a slot do
  std::int32_t most;     ///< requests removed
  std::size_t slots, first, second, groups, numbers, entries, ends, added, move, table, rows, bytes;  ///< the solution stands at 0

  /// For calls, which remove up to `most` requests.
  Layout(std::int32_t n, std::int32_t m, std::int32_t most_, std::int32_t columns_, std::int32_t staged_, bool resident_ = false,
         bool deep_ = false)
      : Layout(n, m, most_, n + 1 + columns_, columns_, staged_, resident_, deep_) {}
  /// For first solutions.
  Layout(std::int32_t n, std::int32_t m) : Layout(n, m, n, 0, 0, 0, false, false) {}

 private:
  Layout(std::int32_t n, std::int32_t m, std::int32_t most_, std::int32_t count_of_entries, std::int32_t columns_, std::int32_t staged_,
         bool resident_, bool deep_)
      : columns(columns_ < m ? columns_ : m),
        staged(staged_),
        resident(resident_),
        deep(deep_),
        pitch((n + 1) | 1),
        width(((columns_ < m + most_parts ? columns_ : m + most_parts) + 3) / 8 * 8 + 4),
        most(most_),
        bytes(0) {
    const auto place = [&](std::size_t size, std::int64_t count) {
      const std::size_t at = bytes;
      bytes += (size * static_cast<std::size_t>(count) + 15) / 16 * 16;
      return at;
    };
    const std::int64_t cells = columns > 0 ? std::int64_t{most} * width * (deep ? 2 : 1) : 0;
    place(sizeof(std::int32_t), static_cast<std::int64_t>(ListedSolution::ints(n, m)));
    slots = place(sizeof(Slot), most);
    first = place(sizeof(std::uint64_t), most);
    second = place(sizeof(std::uint64_t), most);
    groups = place(sizeof(std::uint64_t), (n + 31) / 32);
    numbers = place(sizeof(std::uint32_t), n + m + 1);
    entries = place(sizeof(Entry), count_of_entries);
    ends = place(sizeof(std::int32_t), columns);
    added = place(sizeof(Index), columns > 0 ? 2 * most : 0);
    move = place(sizeof(Move), 1);
    table = place(sizeof(std::uint64_t), cells);
    rows = place(sizeof(std::int32_t), std::int64_t{resident ? most : staged} * pitch);
  }
};

constexpr std::int32_t digit = 8, digits = 1 << digit;  ///< bits of a number that kth_least() looks at together

/// What is known of an iteration when its call begins.
struct Planned {
  std::int32_t removed, pair;
  float inverse, threshold;  ///< of the acceptance
};

struct Common : ProcessCommon {
  Planned plan[iterations_a_call];
  double temperature;                                   ///< after the call
  std::int64_t cost, current_cost, incumbent_cost;      ///< of the last candidate, 0: not complete; of the process
  volatile bool emptied;                                ///< a tour lost its last request; thread 0's alone, read by no other ahead of time
  std::int32_t request, position, after, tour, opened;  ///< the last insertion; `opened`: a tour that became the empty one, or -1
  bool roomier;                                         ///< that tour has more time left than before
  std::uint64_t least[warps];                           ///< of each warp's slots, greedy repair without a table
  std::int32_t histogram[digits];                       ///< of kth_least()
};

/// What the threads of a block work on.
struct Block {
  const vrp::View& vrp;
  const Layout& layout;
  Distances distance;
  ListedSolution solution;  ///< the candidate; of a request that is not in it, prev is its slot
  Slot* slots;
  std::uint64_t *first, *second;  ///< [slot] the least feasible insertions into two tours
  std::uint64_t* groups;          ///< [32 requests] the least (number, request)
  std::uint32_t* number;          ///< [node]
  Entry* entries;                 ///< positions by tours
  TourEdges* tours;               ///< [tour] at the same place
  std::int32_t* ends;             ///< [tour] where its entries end and the next tour's begin
  Index* added;
  Move* move;
  std::uint64_t* table;  ///< [slot][layout.width] least insertions
  std::uint64_t* next;   ///< [slot][layout.width] those that come next; not where the layout is not deep
  std::int32_t* rows;    ///< [slot][layout.pitch]
  Common& common;

  __device__ __forceinline__ Block(const vrp::View& view, unsigned char* memory, const Layout& places, Common& shared)
      : vrp(view),
        layout(places),
        distance{view.distance, view.n + 1},
        solution(reinterpret_cast<std::int32_t*>(memory), view.n, view.vehicles),
        slots(reinterpret_cast<Slot*>(memory + places.slots)),
        first(reinterpret_cast<std::uint64_t*>(memory + places.first)),
        second(reinterpret_cast<std::uint64_t*>(memory + places.second)),
        groups(reinterpret_cast<std::uint64_t*>(memory + places.groups)),
        number(reinterpret_cast<std::uint32_t*>(memory + places.numbers)),
        entries(reinterpret_cast<Entry*>(memory + places.entries)),
        tours(reinterpret_cast<TourEdges*>(memory + places.entries)),
        ends(reinterpret_cast<std::int32_t*>(memory + places.ends)),
        added(reinterpret_cast<Index*>(memory + places.added)),
        move(reinterpret_cast<Move*>(memory + places.move)),
        table(reinterpret_cast<std::uint64_t*>(memory + places.table)),
        next(table + places.most * places.width),
        rows(reinterpret_cast<std::int32_t*>(memory + places.rows)),
        common(shared) {}
};

// --- destroy -------------------------------------------------------------------------------------------------------------------

/// Takes the requests of all slots out of the list, whose numbers are `gone`, a thread a request: the first of neighbours that go closes
/// the gap. A barrier comes before.
__device__ __forceinline__ void take_marked(const Block& b) {
  const auto& list = b.solution.list;
  const std::int32_t j = thread();
  const bool mine = j < b.common.count;
  std::int32_t request = 0, before = -1, after = -1;
  if (mine) {
    const auto goes = [&](std::int32_t node) { return !list.is_depot(node) && b.number[node] == gone; };
    request = b.slots[j].request;
    if (!goes(list.prev[request])) {
      before = list.prev[request];
      for (after = list.next[request]; goes(after);) after = list.next[after];
    }
  }
  __syncthreads();
  if (before >= 0) {
    list.next[before] = static_cast<Index>(after);
    list.prev[after] = static_cast<Index>(before);
  }
  if (mine) {
    list.next[request] = -1;
    list.prev[request] = static_cast<Index>(j);
  }
  const bool empties = before >= 0 && list.is_depot(before) && list.is_depot(after);
  if (empties) atomicAdd(&b.solution.totals->used, -1);
  const bool emptied = __syncthreads_or(empties ? 1 : 0) != 0;
  if (thread() == 0) b.common.emptied = emptied;
}

/// Mapping: warp 0 draws 32 requests at a time; of equal ones the first counts.
__device__ __forceinline__ void remove_random(const Block& b, std::int32_t k, const Draws& draws) {
  for_own_requests(b, [&](std::int32_t r) { b.number[r] = 0; });
  __syncthreads();
  if (warp() == 0) {
    for (std::int32_t from = 0, taken = 0; taken < k; from += 32) {
      const std::int32_t request = draws.request(static_cast<std::uint32_t>(from + lane()));
      const bool is_first = __ffs(static_cast<int>(__match_any_sync(~0u, request))) - 1 == lane();
      const bool in_solution = is_first && b.number[request] != gone;
      const std::uint32_t found = __ballot_sync(~0u, in_solution);
      const std::int32_t j = taken + __popc(found & ((1u << lane()) - 1u));
      if (in_solution && j < k) {
        b.number[request] = gone;
        b.slots[j].request = request;
      }
      taken += __popc(found);
      __syncwarp();
    }
    if (lane() == 0) b.common.count = k;
  }
  __syncthreads();
  take_marked(b);
}

/// By a whole warp: the least (number, request) of groups of 32 requests.
template <std::size_t Count>
__device__ __forceinline__ void measure_groups(const Block& b, const std::int32_t (&groups)[Count]) {
  std::uint64_t least[Count];
#pragma unroll
  for (std::size_t i = 0; i < Count; ++i) {
    const std::int32_t r = 1 + 32 * groups[i] + lane();
    least[i] = r <= b.vrp.n ? std::uint64_t{b.number[r]} << 32 | static_cast<std::uint32_t>(r) : none;
  }
#pragma unroll
  for (std::size_t i = 0; i < Count; ++i) least[i] = cuda::warp_argmin(least[i]);
#pragma unroll
  for (std::size_t i = 0; i < Count; ++i)
    if (lane() == 0) b.groups[groups[i]] = least[i];
}

/// All warps measure the numbers of all requests, and groups of 32 of them.
template <class Value>
__device__ __forceinline__ void measure_all(const Block& b, const Value& value) {
  for (std::int32_t group = warp(); group < (b.vrp.n + 31) / 32; group += warps) {
    const std::int32_t r = 1 + 32 * group + lane();
    if (r <= b.vrp.n) b.number[r] = value(r);
    __syncwarp();
    measure_groups(b, {group});
  }
  __syncthreads();
}
/// By warp 0: the request with the least (number, request), by the groups.
[[nodiscard]] __device__ __forceinline__ std::int32_t least_request(const Block& b) {
  std::uint64_t mine = none;
  for (std::int32_t group = lane(); group < (b.vrp.n + 31) / 32; group += 32) cuda::lower(mine, b.groups[group]);
  return static_cast<std::int32_t>(cuda::warp_argmin(mine) & 0xFFFFFFFFu);
}

/// By a whole warp: of this lane's number and those of lanes before it.
__device__ __forceinline__ std::int32_t inclusive_sum(std::int32_t own) {
#pragma unroll
  for (std::int32_t offset = 1; offset < 32; offset *= 2) {
    const std::int32_t other = __shfl_up_sync(~0u, own, offset);
    if (lane() >= offset) own += other;
  }
  return own;
}

/// The k-th least of some numbers; `left` of the `equal` ones that are it are among the k least.
struct Rank {
  std::uint32_t number;
  std::int32_t left, equal;
};
/// By all threads: of the requests whose number(request) is within [low, high], which are `count`, 8 bits of the numbers after the other.
/// Synchronisation: three block barriers a digit.
template <class Number>
[[nodiscard]] __device__ __forceinline__ Rank kth_least(const Block& b, std::int32_t k, std::uint32_t low, std::uint32_t high,
                                                        std::int32_t count, const Number& number) {
  std::int32_t* const histogram = b.common.histogram;
  Rank rank{low, k, count};
  for (std::int32_t below = 32 - __clz(static_cast<int>(high - low)); below > 0;) {  // bits that are not known yet
    below = max(below - digit, 0);
    for (std::int32_t i = thread(); i < digits; i += threads) histogram[i] = 0;
    __syncthreads();
    for_own_requests(b, [&](std::int32_t r) {
      const std::uint32_t own = number(r), above = (own - rank.number) >> below;
      if (own >= rank.number && own <= high && above < digits) atomicAdd(&histogram[above], 1);
    });
    __syncthreads();
    constexpr std::int32_t each = digits / 32;  // by each warp, a lane some digits
    std::int32_t own[each], sum = 0;
#pragma unroll
    for (std::int32_t i = 0; i < each; ++i) sum += own[i] = histogram[each * lane() + i];
    std::int32_t before = inclusive_sum(sum) - sum;
    const std::int32_t has = __ffs(static_cast<int>(__ballot_sync(~0u, before + sum >= rank.left))) - 1;
    std::int32_t chosen = each * lane(), equal = 0;
#pragma unroll
    for (std::int32_t i = 0, done = 0; i < each; ++i) {
      if (done != 0) continue;
      equal = own[i];
      done = before + equal >= rank.left ? 1 : 0;
      if (done == 0) before += equal, ++chosen;
    }
    rank = {rank.number + (static_cast<std::uint32_t>(__shfl_sync(~0u, chosen, has)) << below), rank.left - __shfl_sync(~0u, before, has),
            __shfl_sync(~0u, equal, has)};
    __syncthreads();  // all have read
  }
  return rank;
}
/// Takes the k requests with the least (value, request). Mapping: a thread a request, which counts those before it, where they are few;
/// else all threads look for the k-th.
template <class Value>
__device__ __forceinline__ void remove_least(const Block& b, std::int32_t k, const Value& value) {
  constexpr std::int32_t few = 128;
  const std::int32_t n = b.vrp.n, r = 1 + thread();
  if (n <= few) {
    const std::uint32_t mine = r <= n ? value(r) : gone;
    for (std::int32_t x = thread(); x < (n + 4) / 4 * 4; x += threads)
      if (x == 0 || x > n) b.number[x] = gone;  // no request; depots are measured again
    if (r <= n) b.number[r] = mine;
    __syncthreads();
    std::int32_t rank = 0;
    const auto count = [&](std::uint32_t other, std::int32_t x) { rank += other < mine || (other == mine && x < r) ? 1 : 0; };
#pragma unroll 4
    for (std::int32_t x = 0; x <= n && 32 * warp() < n; x += 4) {
      const uint4 four = *reinterpret_cast<const uint4*>(b.number + x);
      count(four.x, x), count(four.y, x + 1), count(four.z, x + 2), count(four.w, x + 3);
    }
    __syncthreads();  // all have counted
    if (r <= n && rank < k) {
      b.number[r] = gone;
      b.slots[rank].request = r;
    }
    if (thread() == 0) b.common.count = k;
  } else {
    std::uint32_t least = ~0u, greatest = 0;
    for_own_requests(b, [&](std::int32_t own) {
      const std::uint32_t number = value(own);
      b.number[own] = number;
      least = min(least, number);
      greatest = max(greatest, number);
    });
    least = cuda::warp_min(least);
    greatest = ~cuda::warp_min(~greatest);
    if (lane() == 0) b.common.slots[warp()] = std::uint64_t{greatest} << 32 | least;
    __syncthreads();
    const std::uint64_t of_warp = b.common.slots[lane() % warps];
    least = cuda::warp_min(static_cast<std::uint32_t>(of_warp));
    greatest = ~cuda::warp_min(~static_cast<std::uint32_t>(of_warp >> 32));
    const Rank rank = kth_least(b, k, least, greatest, n, [&](std::int32_t own) { return b.number[own]; });
    std::uint32_t last = static_cast<std::uint32_t>(n);  // of the requests with that number
    if (rank.left < rank.equal)
      last = kth_least(b, rank.left, 1, last, rank.equal, [&](std::int32_t own) {
               return b.number[own] == rank.number ? static_cast<std::uint32_t>(own) : gone;
             }).number;
    for_own_requests(b, [&](std::int32_t own) {
      if (b.number[own] > rank.number || (b.number[own] == rank.number && static_cast<std::uint32_t>(own) > last)) return;
      b.number[own] = gone;
      b.slots[atomicAdd(&b.common.count, 1)].request = own;
    });
  }
  __syncthreads();
  take_marked(b);
}
/// Takes k times the request with the greatest saving, the least of equal ones. Mapping: warp 0 compares groups; lanes 0 and 1 have the
/// neighbours of the request that goes, whose numbers change.
__device__ __forceinline__ void remove_worst(const Block& b, std::int32_t k) {
  const auto& list = b.solution.list;
  const auto number_at = [&](std::int32_t before, std::int32_t r, std::int32_t after) {
    return ordered(vrp::removal_delta(b.distance, list.place(before), r, list.place(after)));
  };
  measure_all(b, [&](std::int32_t r) { return number_at(list.prev[r], r, list.next[r]); });
  if (warp() != 0) return;
  std::int32_t emptied = 0;
  for (std::int32_t step = 0; step < k; ++step) {
    const std::int32_t request = least_request(b), before = list.prev[request], after = list.next[request];
    const bool is_before = lane() == 0;
    const std::int32_t neighbour = is_before ? before : after, beyond = is_before ? list.prev[before] : list.next[after];
    const bool changes = lane() < 2 && !list.is_depot(neighbour);
    std::uint32_t number = 0;
    if (changes) number = number_at(is_before ? beyond : before, neighbour, is_before ? after : beyond);
    __syncwarp();  // all have read
    if (changes) b.number[neighbour] = number;
    if (lane() == 0) {
      b.number[request] = gone;
      b.slots[step].request = request;
      list.next[before] = static_cast<Index>(after);
      list.prev[after] = static_cast<Index>(before);
      list.next[request] = -1;
      list.prev[request] = static_cast<Index>(step);
    }
    emptied += list.is_depot(before) && list.is_depot(after) ? 1 : 0;
    __syncwarp();
    const auto group_of = [&](std::int32_t node) { return (list.is_depot(node) ? request - 1 : node - 1) / 32; };
    measure_groups(b, {group_of(request), group_of(before), group_of(after)});
    __syncwarp();
  }
  if (lane() == 0) {
    b.solution.totals->used -= emptied;
    b.common.emptied = emptied > 0;
    b.common.count = k;
  }
}
__device__ __forceinline__ void remove_related(const Block& b, std::int32_t k, const Draws& draws) {
  const std::int32_t seed = draws.request(0);
  remove_least(b, k, [&](std::int32_t r) { return static_cast<std::uint32_t>(b.distance(seed, r)); });
}
/// Sums of two costs fit 32 bits; the greatest comes first, and none is `gone`.
__device__ __forceinline__ void remove_historical(const Block& b, std::int32_t k, const std::int32_t* kept) {
  const auto& list = b.solution.list;
  const std::int32_t cost = b.solution.totals->cost;
  const auto of = [&](std::int32_t a, std::int32_t c) {
    return static_cast<std::uint32_t>(remembered(__ldg(kept + edge_index(b.vrp.n, list.place(a), list.place(c))), cost));
  };
  remove_least(b, k, [&](std::int32_t r) { return gone - 1 - (of(list.prev[r], r) + of(r, list.next[r])); });
}

/// Instead of that of process.cuh. Mapping: all threads measure tours, and where clusters end; then warp 0 takes those around the requests
/// drawn: lanes 0 and 1 walk from there to both ends, and what is taken leaves the list together. No tour loses all requests.
__device__ __forceinline__ void remove_clusters(const Block& b, std::int32_t k, const Draws& draws) {
  const auto& list = b.solution.list;
  for (std::int32_t t = thread(); t < b.solution.totals->bound; t += threads) b.tours[t] = {};
  __syncthreads();
  for_own_requests(b, [&](std::int32_t r) {
    b.number[r] = gone;  // the last one of its tour
    if (list.is_depot(list.next[r])) return;
    const std::int32_t length = b.distance(r, list.next[r]);
    b.number[r] = static_cast<std::uint32_t>(length);
    atomicAdd(&b.tours[list.tour[r]].edges, 1);
    atomicAdd(&b.tours[list.tour[r]].length, length);
  });
  __syncthreads();
  for_own_requests(b, [&](std::int32_t r) {
    TourEdges& tour = b.tours[list.tour[r]];
    const bool ends = b.number[r] == gone || cuts(static_cast<std::int32_t>(b.number[r]), tour.length, tour.edges);
    b.number[r] = ends ? 1 : 0;
    if (ends) atomicAdd(&tour.clusters, 1);
  });
  __syncthreads();
  if (warp() != 0) return;
  std::int32_t count = 0;
  const std::int32_t own_draw = draws.request(static_cast<std::uint32_t>(lane()));
  for (std::int32_t a = 0; a < cluster_draws && count < k; ++a) {
    const std::int32_t drawn = __shfl_sync(~0u, own_draw, a);
    if (!list.contains(drawn)) continue;
    const std::int32_t t = list.tour[drawn];
    const TourEdges tour = b.tours[t];
    if (tour.clusters == 1) continue;
    std::int32_t at = drawn, steps = 0;
    if (lane() == 0)
      for (std::int32_t before = list.prev[at]; !list.is_depot(before) && b.number[before] == 0; before = list.prev[at], ++steps)
        at = before;
    if (lane() == 1)
      for (; b.number[at] == 0; at = list.next[at]) ++steps;
    const std::int32_t first = __shfl_sync(~0u, at, 0), size = 1 + __shfl_sync(~0u, steps, 0) + __shfl_sync(~0u, steps, 1);
    if (size == tour.edges + 1 - tour.taken) continue;  // all that is left of the tour stays
    const std::int32_t taken = min(size, k - count);
    if (lane() == 0) {
      const Index before = list.prev[first];
      std::int32_t after = first;
      for (std::int32_t j = 0; j < taken; ++j) {
        b.slots[count + j].request = after;
        after = list.next[after];
      }
      list.next[before] = static_cast<Index>(after);
      list.prev[after] = before;
      b.tours[t].taken += taken;
    }
    __syncwarp();
    for (std::int32_t j = count + lane(); j < count + taken; j += 32) {
      const std::int32_t request = b.slots[j].request;
      list.next[request] = -1;
      list.prev[request] = static_cast<Index>(j);
    }
    count += taken;
    __syncwarp();
  }
  if (lane() == 0) b.common.count = count;
}

/// By one thread.
__device__ __forceinline__ void close_emptied(const Block& b) {
  if (!b.common.emptied) return;
  b.solution.keep_one_empty([&](std::int32_t j) { return b.slots[j].request; }, b.common.count);
  const auto& list = b.solution.list;
  std::int32_t& bound = b.solution.totals->bound;
  while (bound > 0 && !list.contains(list.start_of(bound - 1))) --bound;
}

/// What the removals change in cost, loads and durations, a thread a request: each takes off the edge before it, and the edge behind it
/// where a neighbour that stays ends it; a neighbour that stays before it adds the edge that closes the gap.
__device__ __forceinline__ void settle(const Block& b, const ListedSolution& current) {
  const auto& list = b.solution.list;
  for (std::int32_t j = thread(); j < b.common.count; j += threads) {
    const std::int32_t r = b.slots[j].request, t = list.tour[r], demand = b.vrp.demand[r], service = b.vrp.service[r];
    const std::int32_t before = current.list.prev[r], after = current.list.next[r];
    const auto stays = [&](std::int32_t node) { return list.is_depot(node) || list.contains(node); };
    std::int32_t change = -b.distance(list.place(before), r);
    if (stays(after)) change -= b.distance(r, list.place(after));
    if (stays(before)) {
      const std::int32_t next = list.contains(before) ? list.next[before] : 0;  // not: the start of a tour that was closed
      change += b.distance(list.place(before), list.place(next));
    }
    b.slots[j].demand = demand;
    b.slots[j].service = service;
    atomicAdd(&b.solution.totals->cost, change);
    atomicAdd(&b.solution.load[t], -demand);
    atomicAdd(&b.solution.duration[t], change - service);
  }
}

// --- repair --------------------------------------------------------------------------------------------------------------------

/// The key, or `none` where tour t has no room for it.
__device__ __forceinline__ std::uint64_t usable(const Block& b, std::uint64_t key, std::int32_t t, const Slot& slot) {
  if (key == none) return none;
  const bool feasible =
      slot.demand <= b.vrp.capacity - b.solution.load[t] && delta_in(key) + slot.service <= b.vrp.limit - b.solution.duration[t];
  return feasible ? key : none;
}

/// The edges that the last insertion made, whose lengths `number` does not have yet.
struct NewEdges {
  std::int32_t position, request;  ///< the nodes before them; 0: no insertion yet
  std::int32_t to, on;
};
/// Of the edge behind a node in the solution.
__device__ __forceinline__ std::int32_t length_behind(const Block& b, std::int32_t node, const NewEdges& edges) {
  return node == edges.request ? edges.on : node == edges.position ? edges.to : static_cast<std::int32_t>(b.number[node]);
}
/// Algorithm 3 at a node in the solution, feasible or not. Distances are symmetric: both lie in the row of the request.
__device__ __forceinline__ std::uint64_t key_at(const Block& b, std::int32_t node, std::int32_t request, const NewEdges& edges) {
  const auto& list = b.solution.list;
  return key_of(b.distance(request, list.place(node)) + b.distance(request, list.place(list.next[node])) - length_behind(b, node, edges),
                node, request);
}

/// The least feasible insertions into two tours.
struct BestTwo {
  std::uint64_t first, second;
  std::int32_t tour;  ///< of the first, while they are looked for

  __device__ __forceinline__ void consider(std::uint64_t key, std::int32_t t) {
    if (t != tour) cuda::lower(second, max(first, key));
    if (key < first) {
      first = key;
      tour = t;
    }
  }
  /// By a whole warp: of all lanes.
  __device__ __forceinline__ void merge(const Block& b) {
    const std::uint64_t best = cuda::warp_argmin(first);
    const std::int32_t best_tour = best == none ? -1 : std::int32_t{b.solution.list.tour[position_in(best)]};
    second = cuda::warp_argmin(tour == best_tour ? second : first);
    first = best;
    tour = best_tour;
  }
};

/// By a whole warp: the two best tours of slot j, by all positions.
__device__ __forceinline__ BestTwo best_two(const Block& b, std::int32_t j, const NewEdges& edges) {
  const auto& list = b.solution.list;
  const Slot slot = b.slots[j];
  const std::int32_t nodes = b.vrp.n + b.solution.totals->bound;
  BestTwo mine{none, none, -1};
  for (std::int32_t node = 1 + lane(); node <= nodes; node += 32) {
    if (!list.contains(node)) continue;
    const std::int32_t t = list.tour[node];
    mine.consider(usable(b, key_at(b, node, slot.request, edges), t, slot), t);
  }
  mine.merge(b);
  return mine;
}

// --- repair without a table --------------------------------------------------------------------------------------------------------

/// A warp has the slots warp(), warp() + warps, ..., a lane each at a time.
__device__ __forceinline__ std::int32_t own_slot(std::int32_t round, std::int32_t of_lane) {
  return warp() + warps * (32 * round + of_lane);
}

/// The greatest regret of slots, by each one's insertions into two tours.
struct Choice {
  std::uint64_t key = none, loss = none;
  bool stuck = false;

  __device__ __forceinline__ void consider(std::uint64_t first, std::uint64_t second) {
    stuck = stuck || first == none;
    const std::uint64_t lost = first == none ? none : loss_of(first, second);
    if (lost < loss || (lost == loss && first < key)) {
      loss = lost;
      key = first;
    }
  }
  /// By a whole warp: the insertion to be made next; `none`: some request has no insertion.
  [[nodiscard]] __device__ __forceinline__ std::uint64_t of_warp() const {
    const std::uint64_t least = cuda::warp_argmin(loss);
    std::uint64_t chosen = none;
    if (loss == least) chosen = key;
    chosen = cuda::warp_argmin(chosen);
    return __any_sync(~0u, stuck) != 0 ? none : chosen;
  }
};

/// By thread 0: a request goes where the key says; what others must know of it.
__device__ __forceinline__ void insert(const Block& b, std::uint64_t key) {
  const auto& list = b.solution.list;
  Common& common = b.common;
  const std::int32_t request = request_in(key), position = position_in(key), t = list.tour[position], j = list.prev[request];
  const Slot slot = b.slots[j];
  const bool opens = t == b.solution.totals->open;
  common.request = request;
  common.position = position;
  common.after = list.next[position];
  common.tour = t;
  b.slots[j].request = 0;
  b.first[j] = b.second[j] = none;
  --common.count;
  b.solution.insert(position, request, delta_in(key), slot.demand, slot.service);
  common.opened = opens ? b.solution.totals->open : -1;
  common.roomier = delta_in(key) + slot.service < 0;
}

/// Those of the last insertion.
__device__ __forceinline__ NewEdges new_edges(const Block& b) {
  const auto& list = b.solution.list;
  const std::int32_t position = b.common.position, request = b.common.request;
  return {position, request, b.distance(request, list.place(position)), b.distance(request, list.place(b.common.after))};
}
/// A slot's least insertion beside the request that was inserted last, feasible or not.
__device__ __forceinline__ std::uint64_t beside_the_last(const Block& b, const Slot& slot, const NewEdges& edges) {
  const auto& list = b.solution.list;
  const std::int32_t with = b.distance(slot.request, edges.request);
  const std::int32_t to = b.distance(slot.request, list.place(edges.position)), on = b.distance(slot.request, list.place(b.common.after));
  return min(key_of(to + with - edges.to, edges.position, slot.request), key_of(with + on - edges.on, edges.request, slot.request));
}
/// A slot's insertion into the tour that the last one opened.
__device__ __forceinline__ std::uint64_t into_the_opened(const Block& b, const Slot& slot) {
  const std::int32_t opened = b.common.opened;
  return usable(b, key_of(2 * b.distance(slot.request, 0), b.solution.list.start_of(opened), slot.request), opened, slot);
}

/// After an insertion, regrets: brings the slots of each warp up to date, a lane each. Where one of the two best tours became worse a warp
/// compares all positions.
__device__ __forceinline__ void keep_two(const Block& b, std::int32_t total, const NewEdges& edges) {
  const auto& list = b.solution.list;
  const std::int32_t t = b.common.tour;
  for (std::int32_t round = 0; own_slot(round, 0) < total; ++round) {
    const std::int32_t j = own_slot(round, lane());
    const Slot slot = j < total ? b.slots[j] : Slot{};
    std::uint64_t first = none, second = none;
    bool unknown = false;  // which tours are best
    if (slot.request > 0) {
      first = b.first[j];
      second = b.second[j];
      const std::int32_t first_tour = first != none ? std::int32_t{list.tour[position_in(first)]} : -1,
                         second_tour = second != none ? std::int32_t{list.tour[position_in(second)]} : -1;
      const std::uint64_t least = first_tour == t ? first : second_tour == t ? second : none;
      unknown = b.common.roomier || (least != none && position_in(least) == edges.position);
      const std::uint64_t now = usable(b, min(least, beside_the_last(b, slot, edges)), t, slot);
      if (t == first_tour && now <= first)
        first = now;
      else if (t == first_tour || (t == second_tour && now > second))
        unknown = true;
      else
        cuda::lower(second, max(first, now)), cuda::lower(first, now);
      if (b.common.opened >= 0) {
        const std::uint64_t other = into_the_opened(b, slot);
        cuda::lower(second, max(first, other));
        cuda::lower(first, other);
      }
    }
    for (std::uint32_t left = __ballot_sync(~0u, unknown); left != 0; left &= left - 1) {
      const std::int32_t of = __ffs(static_cast<int>(left)) - 1;
      const BestTwo two = best_two(b, own_slot(round, of), edges);
      if (lane() == of) {
        first = two.first;
        second = two.second;
      }
    }
    if (slot.request > 0) {
      b.first[j] = first;
      b.second[j] = second;
    }
  }
}

/// After an insertion, greedy repair: as above, of each slot's least insertion alone. Where its position is gone or its tour full the key
/// stays as a bound, which those that are left are not below.
__device__ __forceinline__ void keep_bounds(const Block& b, std::int32_t total, const NewEdges& edges) {
  const auto& list = b.solution.list;
  const std::int32_t t = b.common.tour;
  for (std::int32_t round = 0; own_slot(round, 0) < total; ++round) {
    const std::int32_t j = own_slot(round, lane());
    const Slot slot = j < total ? b.slots[j] : Slot{};
    if (slot.request == 0) continue;
    std::uint64_t first = b.first[j];
    bool is_bound = b.second[j] != 0;
    if (!is_bound && first != none && list.tour[position_in(first)] == t)
      is_bound = position_in(first) == edges.position || usable(b, first, t, slot) == none;
    const auto consider = [&](std::uint64_t key) {
      if (key > first) return;
      first = key;
      is_bound = false;
    };
    consider(usable(b, beside_the_last(b, slot, edges), t, slot));
    if (b.common.opened >= 0) consider(into_the_opened(b, slot));
    if (b.common.roomier) {
      first = 0;
      is_bound = true;
    }
    b.first[j] = first;
    b.second[j] = is_bound ? 1 : 0;
  }
}
/// By each warp: posts the least insertion of its slots. Those whose bounds come before it are compared with all positions.
__device__ __forceinline__ void post_least(const Block& b, std::int32_t total, const NewEdges& edges) {
  while (true) {
    __syncwarp();
    std::uint64_t key = none;
    std::int32_t own = -1;
    for (std::int32_t round = 0; own_slot(round, 0) < total; ++round) {
      const std::int32_t j = own_slot(round, lane());
      if (j < total && b.first[j] < key) {
        key = b.first[j];
        own = j;
      }
    }
    const std::uint64_t least = cuda::warp_argmin(key);
    const std::uint32_t has = __ballot_sync(~0u, own >= 0 && key == least);
    const std::int32_t j = has != 0 ? __shfl_sync(~0u, own, __ffs(static_cast<int>(has)) - 1) : -1;
    if (j < 0 || b.second[j] == 0) {
      if (lane() == 0) b.common.least[warp()] = least;
      return;
    }
    const BestTwo two = best_two(b, j, edges);
    if (lane() == 0) {
      b.first[j] = two.first;
      b.second[j] = 0;
    }
  }
}

/// By warp 0: the insertion to be made next; `none`: some request (greedy: all) has none.
__device__ __forceinline__ std::uint64_t choose(const Block& b, Repair operation, std::int32_t total) {
  if (operation == Repair::greedy) {
    std::uint64_t key = none;
    if (lane() < warps) key = b.common.least[lane()];
    return cuda::warp_argmin(key);
  }
  Choice choice;
  for (std::int32_t j = lane(); j < total; j += 32)
    if (b.slots[j].request > 0) choice.consider(b.first[j], b.second[j]);
  return choice.of_warp();
}

/// By all threads; false: some request has no feasible position.
__device__ __forceinline__ bool insert_all(const Block& b, Repair operation, std::int32_t total) {
  Common& common = b.common;
  NewEdges edges{};
  for (std::int32_t j = warp(); j < total; j += warps) {
    const BestTwo two = best_two(b, j, edges);
    if (lane() == 0) {
      b.first[j] = two.first;
      b.second[j] = operation == Repair::greedy ? 0 : two.second;
    }
  }
  if (operation == Repair::greedy) post_least(b, total, edges);
  __syncthreads();
  while (true) {
    if (warp() == 0) {
      const std::uint64_t key = choose(b, operation, total);
      __syncwarp();  // all have read what an insertion changes
      if (thread() == 0) {
        common.evaluations += common.count * b.solution.positions(common.count);
        common.stuck = key == none;
        if (edges.request > 0) {
          b.number[edges.position] = static_cast<std::uint32_t>(edges.to);
          b.number[edges.request] = static_cast<std::uint32_t>(edges.on);
        }
        if (key != none) insert(b, key);
      }
    }
    __syncthreads();
    if (common.stuck) return false;
    if (common.count == 0) return true;
    edges = new_edges(b);
    if (operation == Repair::greedy) {
      keep_bounds(b, total, edges);
      post_least(b, total, edges);
    } else {
      keep_two(b, total, edges);
    }
    __syncthreads();
  }
}

// --- repair by the table -----------------------------------------------------------------------------------------------------------
// A cell is the least insertion of a slot into a tour, and whether the tour has room for it; `none`: the tour has no position. Beside it
// stands the insertion that comes next; those at other positions have greater keys. A key may be a bound: the position it names is gone,
// and those at positions that are not named have greater keys than it. Where the layout is not deep, each key is a bound of the others. A
// cell that is a bound is looked at again when that could matter.

constexpr std::uint64_t bound_only = 1, infeasible = 1ull << 63;  ///< of infeasible cells, that of least number is greater than all others
constexpr std::int32_t most_distance = (1 << 29) - 1;             ///< so that changes of the cost leave one of 32 bits free
constexpr std::int32_t lanes_a_slot = 4, slots_a_warp = 32 / lanes_a_slot, cells_at_once = 2 * lanes_a_slot;
static_assert(60 * lanes_a_slot + 32 <= threads, "all slots of most_removed() have their lanes, and a warp is left");

/// Ordered as keys are: (delta, position, request).
__device__ __forceinline__ std::uint64_t cell_of(std::int32_t delta, std::int32_t position, std::int32_t request) {
  return std::uint64_t{static_cast<std::uint32_t>(delta + 2 * most_distance)} << 32 |
         static_cast<std::uint32_t>(position << 17 | request << 2);
}
__device__ __forceinline__ std::int32_t delta_of(std::uint64_t cell) {
  return static_cast<std::int32_t>(cell >> 32 & 0x7FFFFFFFu) - 2 * most_distance;
}
__device__ __forceinline__ std::int32_t position_of(std::uint64_t cell) { return static_cast<std::int32_t>(cell >> 17 & 0x7FFFu); }
__device__ __forceinline__ bool is_infeasible(std::uint64_t cell) { return static_cast<std::int64_t>(cell) < 0; }
__device__ __forceinline__ bool is_bound(std::uint64_t cell) { return !is_infeasible(cell) && (cell & bound_only) != 0; }
__device__ __forceinline__ std::int32_t request_of_cell(std::uint64_t cell) { return static_cast<std::int32_t>(cell >> 2 & 0x7FFFu); }

/// The two least of some keys.
struct TwoLeast {
  std::uint64_t first = none, next = none;

  __device__ __forceinline__ void consider(std::uint64_t key) {
    const bool is_first = key < first, is_next = key < next;
    next = is_first ? first : is_next ? key : next;
    first = is_first ? key : first;
  }
  /// By a whole warp: of all lanes.
  __device__ __forceinline__ void merge() {
    const std::uint64_t least = cuda::warp_argmin(first);
    next = cuda::warp_argmin(first == least ? next : first);
    first = least;
  }
};
/// A cell, unless there is none, and what stands beside it.
__device__ __forceinline__ TwoLeast cell_at(const Block& b, std::int32_t place) {
  const std::uint64_t cell = b.table[place] & ~infeasible;
  return {cell, b.layout.deep ? b.next[place] : cell | bound_only};
}

/// Mapping: a warp a row, the lengths between a request and all places; they arrive later, by wait_for_rows().
__device__ __forceinline__ void stage_rows(const Block& b, std::int32_t from, std::int32_t to) {
  const std::int32_t begin = b.layout.resident ? 0 : from;
  for (std::int32_t j = from + warp(); j < to; j += warps) {
    const std::int32_t* const row = b.distance.row + b.slots[j].request * b.distance.pitch;
#pragma unroll 4
    for (std::int32_t place = lane(); place <= b.vrp.n; place += 32)
      __pipeline_memcpy_async(b.rows + ((j - begin) * b.layout.pitch + place), row + place, sizeof(std::int32_t));
  }
  __pipeline_commit();
}
/// By all threads, a barrier behind: what a thread copied is there.
__device__ __forceinline__ void wait_for_rows() { __pipeline_wait_prior(0); }

/// A cell, and whether load and duration of its tour leave room for it.
__device__ __forceinline__ std::uint64_t judged(const Block& b, const Slot& slot, std::uint64_t cell, std::int32_t load,
                                                std::int32_t duration) {
  const bool has_room = slot.demand <= b.vrp.capacity - load, has_time = delta_of(cell) + slot.service <= b.vrp.limit - duration;
  return (has_room & has_time) ? cell : cell | infeasible;  // no load waits for the other
}

/// What tour t's cell of slot j becomes.
__device__ __forceinline__ void put(const Block& b, std::int32_t j, const Slot& slot, std::int32_t t, const TwoLeast& keys) {
  const std::int32_t place = j * b.layout.width + t;
  b.table[place] = judged(b, slot, keys.first, b.solution.load[t], b.solution.duration[t]);
  if (b.layout.deep) b.next[place] = keys.next;
}

/// How positions are shared when the table is filled: as many parts as have their lanes, but the first one with a column of its own behind
/// those of all tours.
struct Parts {
  std::int32_t positions, count, length, first_column;

  __device__ __forceinline__ Parts(const Block& b)
      : positions(b.ends[b.solution.totals->bound - 1]),
        count(min(min(threads / b.layout.staged, most_parts), b.layout.width - b.solution.totals->bound + 1)),
        length((positions + count - 1) / count),
        first_column(b.solution.totals->bound - 1) {}
};
/// For the slots whose rows are staged, compares all positions. Mapping: a lane a slot; each warp, or part of it, has one of the parts, and
/// leaves what it finds in each tour in the tour's column, or in its own where others have the tour's first positions.
__device__ __forceinline__ void sweep(const Block& b, const Parts& parts, std::int32_t from, std::int32_t to) {
  const std::int32_t staged = b.layout.staged, own = thread() % staged, j = from + own, part = thread() / staged;
  const std::int32_t begin = part * parts.length, end = min(begin + parts.length, parts.positions);
  if (j >= to || begin >= end) return;
  const std::int32_t request = b.slots[j].request;
  const std::int32_t* const row = b.rows + (b.layout.resident ? j : own) * b.layout.pitch;
  std::int32_t t = b.solution.list.tour[b.entries[begin].node];
  std::int32_t column = begin == (t > 0 ? b.ends[t - 1] : 0) ? t : parts.first_column + part;
  for (std::int32_t i = begin;;) {
    TwoLeast least;
    const std::int32_t last = min(b.ends[t], end);
#pragma unroll 4
    for (; i < last; ++i) {
      const Entry entry = b.entries[i];
      least.consider(cell_of(row[entry.before] + row[entry.after] - entry.edge, entry.node, request));
    }
    const std::int32_t place = j * b.layout.width + column;
    b.table[place] = least.first;
    if (b.layout.deep) b.next[place] = least.next;
    if (i >= end) break;
    do ++t;
    while (b.ends[t] == i);  // no positions
    column = t;
  }
}
/// What the sweep found becomes cells. Mapping: as in keep_cells(), which goes on with them.
__device__ __forceinline__ void gather_parts(const Block& b, const Parts& parts, std::int32_t total) {
  const std::int32_t j = thread() / lanes_a_slot, bound = b.solution.totals->bound;
  if (j >= total) return;
  const Slot slot = b.slots[j];
  for (std::int32_t t = thread() % lanes_a_slot; t < bound; t += lanes_a_slot) {
    const std::int32_t begin = t > 0 ? b.ends[t - 1] : 0, end = b.ends[t];
    TwoLeast least;
    if (begin < end) least = cell_at(b, j * b.layout.width + t);
    for (std::int32_t part = begin / parts.length + 1; part * parts.length < end; ++part) {
      const TwoLeast other = cell_at(b, j * b.layout.width + parts.first_column + part);
      least.consider(other.first);
      least.consider(other.next);
    }
    put(b, j, slot, t, least);
  }
}

/// By warp 0: where each tour's entries begin, instead of how many they are. A lane has four tours at a time.
__device__ __forceinline__ void add_up(const Block& b) {
  std::int32_t begin = 0;
  for (std::int32_t t = 0; t < b.layout.columns; t += 4 * 32) {
    const bool mine = t + 4 * lane() < b.layout.columns;
    int4* const ends = reinterpret_cast<int4*>(b.ends + t) + lane();
    const int4 own = mine ? *ends : int4{};
    const std::int32_t sum = own.x + own.y + own.z + own.w;
    const std::int32_t through = inclusive_sum(sum);
    const std::int32_t before = begin + through - sum;
    if (mine) *ends = {before, before + own.x, before + own.x + own.y, before + own.x + own.y + own.z};
    begin += __shfl_sync(~0u, through, 31);
  }
}
/// Each position among those of its tour, in any order: where the tour's entries began, they end then.
__device__ __forceinline__ void deal_out(const Block& b) {
  const auto& list = b.solution.list;
  const std::int32_t nodes = b.vrp.n + b.solution.totals->bound;
  for (std::int32_t node = 1 + thread(); node <= nodes; node += threads) {
    if (!list.contains(node)) continue;
    const Index t = list.tour[node];
    b.entries[atomicAdd(&b.ends[t], 1)] = {list.place(node), list.place(list.next[node]), static_cast<std::int32_t>(b.number[node]), node};
  }
}

/// By a whole warp: the least insertions of a request, which is slot j, into tour t, feasible or not. `added`: nodes that joined the
/// solution since positions were dealt out.
__device__ __forceinline__ TwoLeast least_in_tour(const Block& b, std::int32_t j, std::int32_t request, std::int32_t t, std::int32_t added,
                                                  const NewEdges& edges) {
  const auto& list = b.solution.list;
  constexpr int at_once = 2;
  TwoLeast mine;
  const std::int32_t begin = t > 0 ? b.ends[t - 1] : 0, dealt = b.ends[t] - begin;
  const std::int32_t count = dealt + added;
  for (std::int32_t from = lane(); from < count; from += 32 * at_once) {
    std::int32_t node[at_once], next[at_once], both[at_once];  // node 0: none
#pragma unroll
    for (int c = 0; c < at_once; ++c) {
      const std::int32_t i = min(from + 32 * c, count - 1);
      const std::int32_t found = i < dealt ? b.entries[begin + i].node : std::int32_t{b.added[i - dealt]};
      node[c] = i == from + 32 * c ? found : 0;
    }
#pragma unroll
    for (int c = 0; c < at_once; ++c) {
      next[c] = list.next[node[c]];
      if (list.tour[node[c]] != t) node[c] = 0;
    }
#pragma unroll
    for (int c = 0; c < at_once; ++c) {
      const std::int32_t here = list.place(node[c]), there = node[c] > 0 ? list.place(next[c]) : 0;
      const std::int32_t edge = length_behind(b, node[c], edges);
      both[c] = (b.layout.resident ? b.rows[j * b.layout.pitch + here] + b.rows[j * b.layout.pitch + there]
                                   : b.distance(request, here) + b.distance(request, there)) -
                edge;
    }
#pragma unroll
    for (int c = 0; c < at_once; ++c)
      if (node[c] > 0) mine.consider(cell_of(both[c], node[c], request));
  }
  mine.merge();
  return mine;
}

/// The table, by a sweep over staged rows, or by a warp a slot and tour. No barrier comes behind the last step, which is that of the lanes
/// that keep the cells.
__device__ __forceinline__ void fill_table(const Block& b, std::int32_t total) {
  const std::int32_t staged = b.layout.staged, bound = b.solution.totals->bound;
  if (warp() == 0) add_up(b);
  __syncthreads();
  deal_out(b);
  wait_for_rows();
  __syncthreads();
  if (staged == 0) {
    for (std::int32_t x = warp(); x < total * bound; x += warps) {
      const std::int32_t j = x / bound, t = x % bound;
      const Slot slot = b.slots[j];
      const TwoLeast least = least_in_tour(b, j, slot.request, t, 0, NewEdges{});
      if (lane() == 0) put(b, j, slot, t, least);
    }
    __syncthreads();
    return;
  }
  const Parts parts(b);
  for (std::int32_t from = 0; from < total; from += staged) {
    const std::int32_t to = min(from + staged, total);
    if (from > 0 && !b.layout.resident) {  // the first rows are there
      __syncthreads();
      stage_rows(b, from, to);
      wait_for_rows();
      __syncthreads();
    }
    sweep(b, parts, from, to);
  }
  __syncthreads();
  gather_parts(b, parts, total);
}

/// Barrier of the warps that have slots and the one that inserts, `count` threads.
__device__ __forceinline__ void meet(std::int32_t count) { asm volatile("barrier.sync 1, %0;" ::"r"(count) : "memory"); }

/// The length between slot j's request and a place. Resident: its row is.
template <bool Resident>
__device__ __forceinline__ std::int32_t length(const Block& b, std::int32_t j, std::int32_t request, std::int32_t place) {
  return Resident ? b.rows[j * b.layout.pitch + place] : b.distance(request, place);
}

/// By one warp: chooses insertions, by the first ones of all slots and (regret) what is lost otherwise, and makes them. Sets `stuck`.
template <bool Resident, Repair Operation>
__device__ __forceinline__ void insert_chosen(const Block& b, std::int32_t total, std::int32_t count) {
  const auto& list = b.solution.list;
  Common& common = b.common;
  Totals& totals = *b.solution.totals;
  const std::int32_t low = lane(), high = lane() + 32;
  std::int32_t left = total, added = 0, cost = totals.cost, used = totals.used, open = totals.open;
  std::int64_t evaluations = 0;
  NewEdges edges{};  // until all meet again nobody waits for these lengths; who looks at the tour has its own
  while (true) {
    meet(count);
    if (lane() == 0 && edges.request > 0) {
      b.number[edges.position] = static_cast<std::uint32_t>(edges.to);
      b.number[edges.request] = static_cast<std::uint32_t>(edges.on);
    }
    std::uint64_t key = low < total ? b.first[low] : none, other = high < total ? b.first[high] : none;
    if constexpr (Operation == Repair::regret) {
      const std::uint32_t lost = low < total ? static_cast<std::uint32_t>(b.second[low]) : ~0u,
                          other_lost = high < total ? static_cast<std::uint32_t>(b.second[high]) : ~0u;
      const std::uint32_t least = cuda::warp_min(min(lost, other_lost));
      if (lost != least) key = none;
      if (other_lost != least) other = none;
    }
    key = cuda::warp_argmin(min(key, other));
    const bool stuck = is_infeasible(key) || key == 0;
    if (stuck) break;
    const std::int32_t request = request_of_cell(key), position = position_of(key), slot = list.prev[request], after = list.next[position],
                       t = list.tour[position], unused = list.next[0], before = list.place(position), behind = list.place(after);
    if (Operation == Repair::greedy && is_bound(key)) {
      if (lane() == 0)
        *b.move = {.request = static_cast<Index>(request),
                   .slot = static_cast<Index>(slot),
                   .position = 0,
                   .after = 0,
                   .tour = 0,
                   .opened = -1,
                   .added = static_cast<Index>(added),
                   .rare = 1};
      meet(count);
      continue;
    }
    const Slot own = b.slots[slot];
    const std::int32_t delta = delta_of(key), load = b.solution.load[t] + own.demand,
                       duration = b.solution.duration[t] + delta + own.service;
    const std::int32_t to = length<Resident>(b, slot, request, before), on = length<Resident>(b, slot, request, behind);
    const bool opens = t == open;
    const std::int32_t opened = opens && unused != list.end_of_unused ? -unused - list.start_of(0) : -1;
    __syncwarp();  // all have read
    if (lane() == 0) {
      b.solution.load[t] = load;
      b.solution.duration[t] = duration;
      list.next[position] = list.prev[after] = static_cast<Index>(request);
      list.next[request] = static_cast<Index>(after);
      list.prev[request] = static_cast<Index>(position);
      list.tour[request] = static_cast<Index>(t);
      b.added[added] = static_cast<Index>(request);
      if (opens) {
        b.solution.open_next();
        if (opened >= 0) b.added[added + 1] = static_cast<Index>(list.start_of(opened));
      }
      *b.move = {.request = static_cast<Index>(request),
                 .slot = static_cast<Index>(slot),
                 .position = static_cast<Index>(position),
                 .after = static_cast<Index>(behind),
                 .tour = static_cast<Index>(t),
                 .opened = static_cast<Index>(opened),
                 .added = static_cast<Index>(added + 1 + (opened >= 0 ? 1 : 0)),
                 .rare = static_cast<Index>(opened >= 0 ? 1 : 0)};
    }
    meet(count);
    edges = {position, request, to, on};
    evaluations += std::int64_t{left} * (b.vrp.n - left + used + (open >= 0 ? 1 : 0));
    cost += delta;
    added += 1 + (opened >= 0 ? 1 : 0);
    --left;
    if (opens) {
      ++used;
      open = opened;
    }
  }
  if (left > 0) evaluations += std::int64_t{left} * (b.vrp.n - left + used + (open >= 0 ? 1 : 0));
  if (lane() == 0) {
    totals.cost = cost;
    totals.used = used;
    common.count = left;
    common.evaluations += evaluations;
    common.stuck = left > 0;
    b.move->request = 0;
    b.move->rare = 1;
  }
  meet(count);
}

/// By the other warps, lanes_a_slot lanes a slot: keep the cells of the table and the two best tours of each slot as of the last insertion.
/// What most steps do has few branches: each costs as much as several instructions.
template <bool Resident, Repair Operation>
__device__ __forceinline__ void keep_cells(const Block& b, std::int32_t total, std::int32_t count) {
  const auto& list = b.solution.list;
  const std::int32_t j = thread() / lanes_a_slot, own_lane = thread() % lanes_a_slot;
  const Slot slot = j < total ? b.slots[j] : Slot{};
  const bool posts = own_lane == 0 && j < total;
  const std::int32_t place = j * b.layout.width;
  std::uint64_t* const cells = b.table + place;
  std::int32_t request = slot.request;  // 0: inserted
  NewEdges edges{};                     // lengths: of lanes that have the tour changed
  std::int32_t changed = 0;             // this tour
  std::uint64_t first = none, second = none;
  const auto has = [&](std::int32_t t) { return (t & (lanes_a_slot - 1)) == own_lane; };
  // Tours used are below `bound`; those beside them that a scan takes, too, are none.
  std::int32_t bound = b.solution.totals->bound, added = 0;
  const auto end = [&] { return j < total ? (bound + cells_at_once - 1) / cells_at_once * cells_at_once : 0; };
  __syncwarp();  // what lay there has been read
  for (std::int32_t t = own_lane; t < end(); t += lanes_a_slot)
    if (t >= bound) cells[t] = none;
  // The two least insertions of each slot (greedy: the least one), in all its lanes; which may be infeasible.
  const auto scan = [&] {
    TwoLeast least;
#pragma unroll 1
    for (std::int32_t t = own_lane; t < end(); t += cells_at_once) {
      const std::uint64_t one = cells[t], other = cells[t + lanes_a_slot];
      least.consider(one);
      least.consider(other);
    }
#pragma unroll
    for (std::int32_t offset = lanes_a_slot / 2; offset > 0; offset /= 2) {
      const std::uint64_t other = __shfl_xor_sync(~0u, least.first, offset);
      if constexpr (Operation == Repair::regret)
        least.next = min(max(least.first, other), min(least.next, __shfl_xor_sync(~0u, least.next, offset)));
      least.first = min(least.first, other);
    }
    first = least.first;
    if constexpr (Operation == Repair::regret) second = least.next;
  };
  // What the scan found is looked at again: of each such slot its first insertion, if that is not exact, else its second.
  const auto look = [&](bool wanted, std::int32_t added) {
#pragma unroll 1
    for (std::uint32_t left = __ballot_sync(~0u, own_lane == 0 && wanted); left != 0; left &= left - 1) {
      const std::int32_t of = __ffs(static_cast<int>(left)) - 1;
      const std::int32_t t = list.tour[position_of(__shfl_sync(~0u, is_bound(first) ? first : second, of))];
      const std::int32_t has_lengths = of + (changed & (lanes_a_slot - 1));
      const NewEdges known{edges.position, edges.request, __shfl_sync(~0u, edges.to, has_lengths), __shfl_sync(~0u, edges.on, has_lengths)};
      const TwoLeast found = least_in_tour(b, __shfl_sync(~0u, j, of), __shfl_sync(~0u, request, of), t, added, known);
      if (lane() == of + (t & (lanes_a_slot - 1))) put(b, j, slot, t, found);
    }
  };
  // What is compared. A request without a feasible insertion comes before all others.
  const auto post = [&] {
    if (!posts) return;
    if (request == 0) {
      b.first[j] = b.second[j] = none;
    } else if constexpr (Operation == Repair::greedy) {
      b.first[j] = first;
    } else {
      const std::uint32_t gain = static_cast<std::uint32_t>(second >> 32) - static_cast<std::uint32_t>(first >> 32);
      b.first[j] = is_infeasible(first) ? 0 : first;
      b.second[j] = is_infeasible(second) ? 0 : ~gain;  // ~regret
    }
  };

  while (true) {
#pragma unroll 1
    while (true) {
      scan();
      const bool wanted = request > 0 && (is_bound(first) || is_bound(second));
      if (Operation == Repair::greedy || __any_sync(~0u, wanted) == 0) break;
      look(wanted, added);
    }
    post();
    meet(count);
    meet(count);
    const Move move = *b.move;
    added = move.added;
    if (move.rare != 0) {
      if (move.request == 0) break;
      if (Operation == Repair::greedy && move.position == 0) {
        if (warp() == move.slot / slots_a_warp) look(j == move.slot, added);
        continue;
      }
      if (move.opened > 0 && move.opened == end())
        for (std::int32_t t = move.opened + own_lane; t < move.opened + cells_at_once; t += lanes_a_slot) cells[t] = none;
      bound = max(bound, move.opened + 1);
      if (request > 0 && has(move.opened))
        put(b, j, slot, move.opened, {cell_of(2 * length<Resident>(b, j, request, 0), list.start_of(move.opened), request), none});
    }
    if (j == move.slot) request = 0;
    const std::int32_t t = changed = move.tour, before = list.place(move.position), after = move.after;
    edges.position = move.position;
    edges.request = move.request;
    if (request > 0 && has(t)) {
      const auto to_own = [&](std::int32_t node) { return length<Resident>(b, j, request, node); };
      const auto to_new = [&](std::int32_t node) { return length<Resident>(b, move.slot, move.request, node); };
      const std::int32_t to = to_own(before), on = to_own(after), with = to_own(move.request);
      edges.to = to_new(before);
      edges.on = to_new(after);
      const TwoLeast cell = cell_at(b, place + t);
      const bool first_gone = !is_bound(cell.first) && position_of(cell.first) == move.position;
      TwoLeast now = cell;  // without the position that is gone
      if (first_gone) now.first = cell.next;
      if (first_gone || position_of(cell.next) == move.position) now.next = cell.next | bound_only;
      now.consider(cell_of(to + with - edges.to, move.position, request));
      now.consider(cell_of(with + on - edges.on, move.request, request));
      put(b, j, slot, t, now);
    }
  }
}

/// Inserts all requests; sets `stuck`. The first warps have the slots, the next one inserts, the others wait for the block's barrier.
template <bool Resident, Repair Operation>
__device__ __forceinline__ void insert_by_table(const Block& b, std::int32_t total) {
  const std::int32_t keepers = (total + slots_a_warp - 1) / slots_a_warp, count = 32 * (keepers + 1);
  if (warp() < keepers)
    keep_cells<Resident, Operation>(b, total, count);
  else if (warp() == keepers)
    insert_chosen<Resident, Operation>(b, total, count);
}

// --- repair --------------------------------------------------------------------------------------------------------------------

/// Lengths of edges; the number of positions of each tour.
__device__ __forceinline__ void measure(const Block& b, std::int32_t total, bool tabled) {
  const auto& list = b.solution.list;
  const std::int32_t nodes = b.vrp.n + min(b.vrp.vehicles, b.solution.totals->bound + total);
  for (std::int32_t node = thread(); node <= nodes; node += threads) {  // those that are not in the solution yet need 0 at most
    const bool in_solution = list.contains(node);
    b.number[node] = in_solution ? static_cast<std::uint32_t>(b.distance(list.place(node), list.place(list.next[node]))) : 0;
    if (tabled && in_solution) atomicAdd(&b.ends[list.tour[node]], 1);
  }
}

/// Inserts all requests removed, which are some; false: some has no feasible position. A barrier comes before.
__device__ __forceinline__ bool repair_without_table(const Block& b, Repair operation, std::int32_t total) {
  measure(b, total, false);
  __syncthreads();
  return insert_all(b, operation, total);
}

/// Algorithm 2, and the same with regrets: inserts all requests removed; false: some has no feasible position. A barrier comes before, and
/// `ends` is 0.
__device__ __forceinline__ bool repair(const Block& b, Repair operation) {
  const std::int32_t total = b.common.count;
  if (total == 0) return true;
  if (min(b.vrp.vehicles, b.solution.totals->bound + total) > b.layout.columns) return repair_without_table(b, operation, total);
  measure(b, total, true);
  if (b.layout.staged > 0) stage_rows(b, 0, b.layout.resident ? total : min(b.layout.staged, total));
  __syncthreads();
  fill_table(b, total);
  if (b.layout.resident) {
    if (operation == Repair::greedy)
      insert_by_table<true, Repair::greedy>(b, total);
    else
      insert_by_table<true, Repair::regret>(b, total);
  } else {
    if (operation == Repair::greedy)
      insert_by_table<false, Repair::greedy>(b, total);
    else
      insert_by_table<false, Repair::regret>(b, total);
  }
  __syncthreads();
  return !b.common.stuck;
}

// --- first solutions -----------------------------------------------------------------------------------------------------------

/// By one thread: before positions are dealt out. The last slot moves to the one that is free.
__device__ __forceinline__ void insert_if_feasible(const Block& b, std::int32_t request, std::int32_t position) {
  const auto& list = b.solution.list;
  const std::int32_t t = list.tour[position];
  const std::int32_t delta = vrp::insertion_delta(b.distance, list.place(position), request, list.place(list.next[position]));
  if (vrp::fits(b.vrp, b.solution.load[t], b.solution.duration[t], request, delta)) {
    const std::int32_t j = list.prev[request];
    b.solution.insert(position, request, delta, b.vrp.demand[request], b.vrp.service[request]);
    const Slot moved = b.slots[--b.common.count];
    b.slots[j] = moved;
    if (j < b.common.count) list.prev[moved.request] = static_cast<Index>(j);
  }
}

// --- kernels -------------------------------------------------------------------------------------------------------------------

/// Section 3.3. Mapping: a block a start. Cost: that of a repair of n requests.
template <bool Shared>
__global__ void __launch_bounds__(threads, blocks_a_multiprocessor)
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
    b.slots[r - 1] = {r, b.vrp.demand[r], b.vrp.service[r], 0};
    b.solution.list.prev[r] = static_cast<Index>(r - 1);
    b.solution.list.tour[r] = 0;  // any
  });
  __syncthreads();
  const Construction construction = construction_of(s);
  if (construction == Construction::random && thread() == 0) place_random(b, constructions, s);
  if (construction == Construction::dispersion) place_dispersed(b, constructions, s);
  __syncthreads();
  const bool complete = common.count == 0 || repair_without_table(b, Repair::greedy, common.count);
  const auto ints = static_cast<std::int32_t>(layout.slots / sizeof(std::int32_t));
  copy_solution(constructions.solutions + s * ints, reinterpret_cast<const std::int32_t*>(b.solution.totals), ints);
  if (thread() == 0) constructions.made[s] = {complete ? std::int64_t{b.solution.totals->cost} : -1, common.evaluations};
}

/// A thread an iteration: what its draws come to. One more: the schedule after the call.
__device__ __forceinline__ void plan(const Block& b, const Processes& processes, const ProcessState& state, std::int64_t begin) {
  const std::int32_t own = thread();
  const auto p = static_cast<std::int32_t>(blockIdx.x);
  double temperature = state.temperature;
  const double first = state.first_temperature;
  const std::int64_t done = state.since_start;
  if (own > iterations_a_call) return;
  for (std::int32_t i = 1; i <= own; ++i) temperature = next_temperature(temperature, first, done + i);
  if (own < iterations_a_call) {
    const auto random = [&](Draw draw) { return bits(processes.seed, begin + own, p, draw); };
    b.common.plan[own] = {removed_of(random(Draw::removed), b.vrp.n), drawn_pair(state.weights, random(Draw::pair)),
                          inverse_of(temperature), threshold(static_cast<std::uint32_t>(random(Draw::acceptance)))};
  }
  if (own == iterations_a_call) b.common.temperature = temperature;
}

/// 100 iterations (section 3.1). Mapping: a block a process, `Blocks` of them a multiprocessor.
template <bool Shared, int Blocks>
__global__ void __launch_bounds__(threads, Blocks)
    call_kernel(const Processes processes, const Layout layout, unsigned char* device_memory, std::int64_t call) {
  __shared__ Common common;
  const auto p = static_cast<std::int32_t>(blockIdx.x);
  const Block b(processes.vrp, memory_of_block<Shared>(device_memory, layout), layout, common);
  const auto ints = static_cast<std::int32_t>(layout.slots / sizeof(std::int32_t));
  auto* const candidate = reinterpret_cast<std::int32_t*>(b.solution.totals);
  std::int32_t *const current = processes.current + std::int64_t{p} * ints, *const incumbent = processes.incumbent + std::int64_t{p} * ints;
  ProcessState& state = processes.states[p];
  const std::int64_t begin = call * iterations_a_call;
  plan(b, processes, state, begin);
  if (thread() < operator_pairs) common.points[thread()] = common.uses[thread()] = 0;
  if (thread() == 0) {
    common.evaluations = 0;
    common.accepted = false;
    common.current_cost = state.cost;
    common.incumbent_cost = state.incumbent_cost;
  }
  Digest digest = state.digest;  // the last thread's
  __syncthreads();
  for (std::int32_t i = 0; i < iterations_a_call; ++i) {
    const Draws draws{processes.seed, begin + i, p, b.vrp.n};
    const Planned planned = common.plan[i];
    if (!common.accepted) copy_solution(candidate, current, ints);  // else they are the same
    for (std::int32_t t = thread(); t < layout.columns; t += threads) b.ends[t] = 0;
    if (thread() == 0) {
      common.count = 0;
      common.emptied = false;
    }
    if (i > 0 && thread() == threads - 1)
      add_iteration(digest, common.plan[i - 1].pair, common.plan[i - 1].removed, common.cost, common.accepted);
    __syncthreads();
    destroy(b, destroy_of(planned.pair), planned.removed, draws, processes.kept);
    __syncthreads();
    settle(b, ListedSolution(current, b.vrp.n, b.vrp.vehicles));
    const bool complete = repair(b, repair_of(planned.pair)) && !exceeds_limit(b);
    if (complete) note_edges(b, processes.next);
    if (thread() == 0) {
      const std::int64_t cost = complete ? b.solution.totals->cost : 0;
      common.cost = cost;
      conclude(b, planned.pair, cost, complete && accepts(cost - common.current_cost, planned.inverse, planned.threshold),
               common.current_cost, common.incumbent_cost);
    }
    __syncthreads();
    if (common.accepted) copy_solution(current, candidate, ints);
    if (common.improved) copy_solution(incumbent, candidate, ints);
  }
  if (thread() < operator_pairs)
    state.weights[thread()] = next_weight(state.weights[thread()], common.points[thread()], common.uses[thread()]);
  if (thread() == threads - 1) {
    const Planned& planned = common.plan[iterations_a_call - 1];
    add_iteration(digest, planned.pair, planned.removed, common.cost, common.accepted);
    state.digest = digest;
  }
  if (thread() == 0) {
    state.cost = common.current_cost;
    state.temperature = common.temperature;
    state.since_start += iterations_a_call;
    state.incumbent_cost = common.incumbent_cost;
    state.evaluations += common.evaluations;
  }
}

/// Method of DeviceProcesses (kernels/alns/run.cuh).
class Tuned {
 public:
  using Solution = ListedSolution;

  Tuned(const vrp::View& vrp, const Task& task)
      : crowded_(task.processes > cuda::multiprocessors()),
        call_layout_(fitting(vrp, task)),
        start_layout_(vrp.n, vrp.vehicles),
        call_shared_(memory_.place(in_shared(), call_layout_.bytes, sizeof(Common), task.processes, task.memory)),
        start_shared_(memory_.place(start_kernel<true>, start_layout_.bytes, sizeof(Common), task.starts(), task.memory)) {}

  void construct(const Constructions& constructions, std::int64_t count, const cuda::Stream& stream) {
    const cuda::Shape shape{count, threads, start_shared_ ? start_layout_.bytes : 0};
    VICINITY_CUDA_CHECK(cuda::launch(shape, stream, start_shared_ ? start_kernel<true> : start_kernel<false>, constructions, start_layout_,
                                     memory_.device()));
  }
  void call(const Processes& processes, std::int64_t count, std::int64_t call, const cuda::Stream& stream) {
    const cuda::Shape shape{count, threads, call_shared_ ? call_layout_.bytes : 0};
    VICINITY_CUDA_CHECK(cuda::launch(shape, stream, call_shared_ ? in_shared() : call_kernel<false, blocks_a_multiprocessor>, processes,
                                     call_layout_, memory_.device(), call));
  }
  [[nodiscard]] Policy policy() const {
    return {{"block", threads},
            {"in_shared", call_shared_ ? 1 : 0},
            {"shared_bytes", call_shared_ ? static_cast<std::int64_t>(call_layout_.bytes) : 0},
            {"columns", call_layout_.columns},
            {"rows", call_layout_.staged},
            {"resident", call_layout_.resident ? 1 : 0},
            {"deep", call_layout_.deep ? 1 : 0}};
  }

 private:
  [[nodiscard]] static bool fits(const Layout& layout, std::size_t most) { return layout.bytes + sizeof(Common) <= most; }
  /// The most that has room: a whole multiprocessor a block where there are as many as processes, else half of one. Second insertions come
  /// before rows that stay; without both, more columns before more rows, but for the least of these.
  [[nodiscard]] Layout fitting(const vrp::View& vrp, const Task& task) const {
    const std::int32_t most = most_removed(vrp.n);
    const auto layout = [&](std::int32_t columns, std::int32_t staged, bool resident = false, bool deep = false) {
      return Layout(vrp.n, vrp.vehicles, most, columns, staged, resident, deep);
    };
    // A repair asks for a column a tour, and one a request that may need a tour of its own.
    const std::int32_t fewest = fewest_tours(vrp), asked = fewest + most;
    const bool has_keys = *std::max_element(vrp.distance, vrp.distance + std::size_t(vrp.n + 1) * std::size_t(vrp.n + 1)) <= most_distance;
    const std::int32_t wide = !has_keys ? 0 : asked <= 128 ? 128 : asked <= 256 ? 256 : 0;
    const std::int32_t narrow = std::min(wide, (asked + fewest + 15) / 16 * 16);  // limits of routes may need twice as many
    if (task.memory == "global") return layout(wide, 0, false, true);
    constexpr std::size_t reserved = 1024;  // of each block
    const std::size_t whole = cuda::most_shared(), half = (whole + reserved) / 2 - reserved;
    const std::array<std::int32_t, 2> widths{wide, wide / 2};
    constexpr std::array<std::int32_t, 4> rows{32, 16, 8, 4};
    for (const std::size_t bytes : {crowded_ ? half : whole, whole}) {
      for (const auto [staged, resident, deep] :
           {std::tuple{rows[0], true, true}, {rows[0], false, true}, {rows[1], false, true}, {rows[0], true, false}})
        for (const std::int32_t columns : {wide, narrow})
          if (const Layout one = layout(columns, staged, resident, deep); fits(one, bytes)) return one;
      for (const std::int32_t columns : widths)
        for (const std::int32_t staged : rows)
          if (const Layout one = layout(columns, staged); fits(one, bytes)) return one;
    }
    for (const std::int32_t columns : {wide, wide / 2, 0})
      if (const Layout one = layout(columns, 0); fits(one, whole)) return one;
    return layout(task.memory == "shared" ? 0 : wide, 0, false, task.memory != "shared");
  }

  /// A block that has a multiprocessor to itself may take twice the registers.
  [[nodiscard]] decltype(&call_kernel<true, 1>) in_shared() const {
    return crowded_ ? call_kernel<true, blocks_a_multiprocessor> : call_kernel<true, 1>;
  }

  bool crowded_;  ///< more processes than multiprocessors
  BlockMemory memory_;
  Layout call_layout_, start_layout_;
  bool call_shared_, start_shared_;
};

}  // namespace

std::unique_ptr<Run> prepare_tuned(const Case& c, const Instance& instance) { return prepare_gpu<Tuned>(c, instance); }

}  // namespace vicinity::alns
