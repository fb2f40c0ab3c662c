#pragma once
// What the device keeps of searches by rows, and the kernels that prepare their rows before a launch goes on with them.
#include <cstdint>

#include "kernels/lsm/tuned/tsp/tsp_rows.cuh"
#include "kernels/lsm/tuned/tsp/tsp_tours.cuh"

namespace vicinity::lsm {

/// Of the rows.
template <bool Integral>
struct TspView : TspTours<Integral> {
  Place<Integral>* places;  ///< [place]; [block][place] where blocks do not keep them in shared memory
  Row* rows;                ///< [place]
  std::uint32_t* filters;   ///< [block][word]: a bit for every move that was taken, of two places of which the block has one
  std::int32_t blocks;      ///< of a search
  std::int32_t share;       ///< places of a block: block b has those from b share on
};

/// The row of place i, as far as it covers moves with thirty places each from first, first + step, ... on, before `last`; by a warp.
/// `places` are all of them; until(i, j) as in Row::insert.
template <bool Integral, class Until>
[[nodiscard]] __device__ __forceinline__ Row scanned(const Place<Integral>* places, std::int32_t n, std::int32_t i, std::int32_t first,
                                                     std::int32_t last, std::int32_t step, std::int32_t now, const Until& until) {
  const auto lane = static_cast<std::int32_t>(threadIdx.x % 32);
  const Place<Integral> near = places[wrapped(i - 1 + lane % 3, n)];
  const Center<Integral> center{near.point(), static_cast<std::int32_t>(near.edges)};
  Row mine;
  for (; first < last; first += step) {
    const std::int32_t place = lane_place(first, lane, n);
    const Place<Integral> own = places[place];
    std::int32_t delta[1];
    swap_deltas<1>(center, 0, wrapped(i - 1, n), own.point(), static_cast<std::int32_t>(own.edges), place, n, delta);
    if (lane >= 1 && lane <= lane_places && first + lane - 1 < last)
      mine.insert(delta[0], place, no_delta, now, [&] { return until(i, place); });
    __syncwarp();
  }
  return merged(mine);
}

inline constexpr int prepare_threads = 256;

/// Mapping: a thread a place; blockIdx.y: the search. Cost: reads a city and its neighbours, writes a place.
template <bool Integral>
__global__ void __launch_bounds__(prepare_threads) places_kernel(const __grid_constant__ TspView<Integral> view, std::int32_t copies) {
  const std::int32_t n = view.tsp.n, p = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (p >= n) return;
  const Place<Integral> place = view.place(blockIdx.y, p);
  for (std::int32_t copy = 0; copy < copies; ++copy) view.places[(std::size_t{blockIdx.y} * copies + copy) * n + p] = place;
}

/// Row i covers all moves (i, j), i < j. Mapping: a warp a row; blockIdx.y: the search. Cost: three distances a move, and tabu times where
/// a lane finds one of its least two differences.
template <bool Integral>
__global__ void __launch_bounds__(prepare_threads)
    rows_kernel(const __grid_constant__ TspView<Integral> view, const local_search::SearchProgress* all_progress, std::int32_t copies) {
  const std::int32_t n = view.tsp.n, i = static_cast<std::int32_t>(blockIdx.x * (prepare_threads / 32) + threadIdx.x / 32);
  if (i >= n) return;
  const auto now = static_cast<std::int32_t>(all_progress[blockIdx.y].iterations);
  const Row all =
      scanned(view.places + std::size_t{blockIdx.y} * copies * n, n, i, i + 1, n, lane_places, now,
              [&](std::int32_t a, std::int32_t b) { return view.until != nullptr && now > 0 ? *view.until_of(blockIdx.y, a, b) : 0; });
  if (threadIdx.x % 32 == 0) view.rows[std::size_t{blockIdx.y} * n + i] = all;
}

}  // namespace vicinity::lsm
