#pragma once
// The rows of a TSP search by row minima (row_minima.cu): keys of swaps, what is known of a row's swaps, and the kernels that make the rows
// of a launch.
//
// Problem, data layout and use: row_minima.cu. Synchronisation: of the warp only. Cost: three distances a swap scanned.
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "core/methods/lsm/search.hpp"
#include "core/problems/moves.hpp"
#include "kernels/cuda/collective/mailbox.cuh"
#include "kernels/cuda/collective/warp.cuh"
#include "kernels/lsm/tuned/tsp/tours.cuh"

namespace vicinity::lsm {

using cuda::warp_min;

// --- keys and rows -----------------------------------------------------------------------------------------------------------

/// A swap or a bound in one word. Keys compare by (delta, i, j); a bound comes before swaps with its delta.
using Key = unsigned long long;
inline constexpr Key no_key = ~0ull;
/// no_key for no_delta.
[[nodiscard]] __device__ __forceinline__ Key key_of(std::int32_t delta, std::uint32_t is_swap, std::uint32_t low) {
  const std::uint32_t high = static_cast<std::uint32_t>(delta + (1 << 30)) << 1 | is_swap;
  return delta == no_delta ? no_key : static_cast<Key>(high) << 32 | low;
}
[[nodiscard]] __device__ __forceinline__ Key bound_key(std::int32_t delta, std::int32_t row) {
  return key_of(delta, 0, static_cast<std::uint32_t>(row));
}
[[nodiscard]] __device__ __forceinline__ Key swap_key(std::int32_t delta, std::int32_t a, std::int32_t b) {
  return key_of(delta, 1, static_cast<std::uint32_t>(min(a, b)) << 16 | static_cast<std::uint32_t>(max(a, b)));
}
[[nodiscard]] __device__ __forceinline__ std::int32_t delta_of(Key key) { return static_cast<std::int32_t>(key >> 33) - (1 << 30); }
/// Above `best` by a part of its delta: in a descent bounds below this soon come before the least swap, and the more rows are scanned at
/// the same time, the fewer times.
[[nodiscard]] __device__ __forceinline__ Key before_long(Key best) {
  return max(best, best + (static_cast<Key>(abs(delta_of(best)) / 32) << 33));
}
[[nodiscard]] __device__ __forceinline__ moves::Move<2> swap_of(Key key) {
  return {{static_cast<std::int32_t>(key >> 16 & 0xFFFF), static_cast<std::int32_t>(key & 0xFFFF)}};
}

/// What is known of the swaps that a row covers. The column of a swap is its other position. Among swaps with the same delta the one with
/// the lesser column comes first. Each covered swap other than (delta, column)
///   has a delta of `bound` or more, or
///   is tabu until `tabu_end` or longer and has a delta of `tabu_delta` or more.
/// Column -1: the delta is a lower bound only.
struct Row {
  std::int32_t delta = no_delta, column = -1;
  std::int32_t bound = no_delta;
  std::int32_t tabu_end = no_delta;
  std::int32_t tabu_delta = no_delta, tabu_column = -1;

  /// Adds swaps that are not tabu, and that the row does not cover, or no longer since remove(): the first of them is (d, c), and the
  /// deltas of the others are `second` or more. Here and below, `&` and `|` where `&&` and `||` would branch.
  __device__ __forceinline__ void insert(std::int32_t d, std::int32_t c, std::int32_t second) {
    const bool first = (d < delta) | ((d == delta) & (c < column));
    bound = first ? min(delta, second) : min(bound, d);  // with column -1, `delta` is `bound`
    column = first ? c : column;
    delta = min(delta, d);
  }
  /// Adds the swap (d, c), which is tabu before iteration `end`.
  __device__ __forceinline__ void insert_tabu(std::int32_t d, std::int32_t c, std::int32_t end) {
    const bool first = (d < tabu_delta) | ((d == tabu_delta) & (c < tabu_column));
    tabu_end = min(tabu_end, end);
    tabu_column = first ? c : tabu_column;
    tabu_delta = min(tabu_delta, d);
  }
  /// Removes its least swap, its least tabu swap.
  __device__ __forceinline__ void remove(bool least, bool least_tabu) {
    if (least) {
      delta = bound;
      column = -1;
    }
    if (least_tabu) tabu_column = -1;
  }
  /// Makes tabu swaps ordinary ones if the tabu time of one of them may end before iteration `now`.
  __device__ __forceinline__ void end_tabu(std::int32_t now) {
    if (tabu_end > now) return;
    bound = min(bound, tabu_delta);
    if (bound <= delta) {
      delta = bound;
      column = -1;
    }
    tabu_end = tabu_delta = no_delta;
    tabu_column = -1;
  }
  /// Lowers `best` to the row's least swap and `least_bound` to its least bound. Tabu swaps count below `aspiration` only.
  __device__ __forceinline__ void lower_keys(std::int32_t row, std::int32_t aspiration, Key& best, Key& least_bound) const {
    const bool known = column >= 0, tabu_known = tabu_column >= 0, aspires = tabu_delta < aspiration;
    const std::int32_t d = known ? delta : no_delta, tabu_d = aspires & tabu_known ? tabu_delta : no_delta;
    const bool tabu_first = (tabu_d < d) | ((tabu_d == d) & (tabu_column < column));
    best = min(best, swap_key(min(d, tabu_d), row, tabu_first ? tabu_column : column));
    least_bound = min(least_bound, bound_key(min(known ? no_delta : delta, aspires & !tabu_known ? tabu_delta : no_delta), row));
  }
};

/// A row in words.
inline constexpr int row_words = 6;
[[nodiscard]] __device__ __forceinline__ std::int32_t word_of(const Row& row, std::int32_t word) {
  const std::int32_t tabu = word == 4 ? row.tabu_delta : row.tabu_column;
  return word == 0 ? row.delta : word == 1 ? row.column : word == 2 ? row.bound : word == 3 ? row.tabu_end : tabu;
}
[[nodiscard]] __device__ __forceinline__ Row row_of(const std::int32_t (&words)[row_words]) {
  return {words[0], words[1], words[2], words[3], words[4], words[5]};
}

/// The row that covers what the rows of all lanes cover, which have different columns of the same position; in all lanes.
[[nodiscard]] __device__ __forceinline__ Row merged(const Row& mine) {
  Row all;
  all.delta = warp_min(mine.delta);
  all.column = static_cast<std::int32_t>(warp_min(static_cast<unsigned>(mine.delta == all.delta ? mine.column : -1)));
  all.bound = warp_min(mine.column == all.column ? mine.bound : mine.delta);
  if (__any_sync(~0u, mine.tabu_delta != no_delta)) {
    all.tabu_delta = warp_min(mine.tabu_delta);
    all.tabu_column = static_cast<std::int32_t>(warp_min(static_cast<unsigned>(mine.tabu_delta == all.tabu_delta ? mine.tabu_column : -1)));
    all.tabu_end = warp_min(mine.tabu_end);
  }
  return all;
}

/// Scans a part of the row of position i, by a warp: the columns first .. first + warp_positions - 1, the same `step` columns further, and
/// so on, before `last`. Swap (i, j) is tabu before iteration until(j), which is called where the row depends on it and taken(j).
template <bool Integral, std::predicate<std::int32_t> Taken, std::invocable<std::int32_t> Until>
[[nodiscard]] __device__ __forceinline__ Row scan_row(const StoredCity<Integral>* cities, std::int32_t n, std::int32_t i,
                                                      std::int32_t first, std::int32_t last, std::int32_t step, std::int32_t now,
                                                      const Taken& taken, const Until& until) {
  const auto lane = static_cast<std::int32_t>(threadIdx.x % 32);
  const StoredCity<Integral> around = cities[wrapped(i - 1 + min(lane, 2), n)];
  const Stretch<1, Integral> window = stretch_of<1>(around.city(), 0);
  const bool halo = lane == 0 || lane > warp_positions;
  Row mine;
  for (; first < last; first += step) {
    const std::int32_t position = lane_position(first, lane, n);
    const StoredCity<Integral> own = cities[position];
    std::int32_t delta[1];
    swap_deltas<1>(window, i, own.city(), position, n, delta);
    std::int32_t d = halo | (first + lane > last) ? no_delta : delta[0];
    const bool enters = (d < mine.bound) | ((d == mine.delta) & (position < mine.column));
    if (enters & taken(position)) {
      const std::int32_t end = until(position);
      if (end > now) {
        mine.insert_tabu(d, position, end);
        d = no_delta;
      }
    }
    __syncwarp();
    mine.insert(d, position, no_delta);
  }
  return merged(mine);
}

// --- the searches of a launch, and their rows at its start -------------------------------------------------------------------

template <bool Integral>
struct RowSearches {
  Tours<Integral> tours;
  StoredCity<Integral>* cities;             ///< [search][position]; [search][block][position] if blocks do not keep them in shared memory
  Row* rows;                                ///< [search][position]
  std::uint32_t* filters;                   ///< [search][block][word]: a bit for each swap taken that has a position of the block
  std::int32_t blocks;                      ///< of a search
  std::int32_t block_rows;                  ///< block b has the rows from b block_rows on
  cuda::Four<std::uint32_t>* key_messages;  ///< of a grid: [step's parity][copy][block], zero before the launch
  cuda::Four<std::uint32_t>* row_messages;  ///< of a grid: [block of the row][block][2], zero before the launch
};

inline constexpr int setup_threads = 256;

/// Mapping: a thread a position; blockIdx.y: the search. Cost: reads three cities, writes one.
template <bool Integral>
__global__ void __launch_bounds__(setup_threads)
    tsp_cities_kernel(const __grid_constant__ RowSearches<Integral> searches, std::int32_t copies) {
  const std::int32_t n = searches.tours.tsp.n, p = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (p >= n) return;
  const StoredCity<Integral> city = searches.tours.city(blockIdx.y, p);
  for (std::int32_t copy = 0; copy < copies; ++copy) searches.cities[(std::size_t{blockIdx.y} * copies + copy) * n + p] = city;
}

/// Row i covers all swaps (i, j), i < j. Mapping: a warp a row; blockIdx.y: the search. Cost: three distances a swap, and a tabu time where
/// a lane finds one of its least two deltas.
template <bool Integral>
__global__ void __launch_bounds__(setup_threads) tsp_rows_kernel(const __grid_constant__ RowSearches<Integral> searches,
                                                                 const local_search::SearchProgress* all_progress, std::int32_t copies) {
  const Tours<Integral>& tours = searches.tours;
  const std::int32_t n = tours.tsp.n, i = static_cast<std::int32_t>(blockIdx.x * (setup_threads / 32) + threadIdx.x / 32);
  if (i >= n) return;
  const auto now = static_cast<std::int32_t>(all_progress[blockIdx.y].iterations);
  const Row row = scan_row(
      searches.cities + std::size_t{blockIdx.y} * copies * n, n, i, i + 1, n, warp_positions, now,
      [&](std::int32_t) { return tours.until != nullptr && now > 0; }, [&](std::int32_t j) { return *tours.until_of(blockIdx.y, i, j); });
  if (threadIdx.x % 32 == 0) searches.rows[std::size_t{blockIdx.y} * n + i] = row;
}

}  // namespace vicinity::lsm
