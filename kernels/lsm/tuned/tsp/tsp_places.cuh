#pragma once
// Places of a tour on the device: coordinates in the order of the tour, the lengths of both edges of a place, and the changes of length
// that swaps with a few neighbouring places make, of which lanes of a warp share distances.
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/problems/tsp/tsp.hpp"

namespace vicinity::lsm {

/// No difference is as large: it is a sum of at most four distances below 2^28, less four such.
inline constexpr std::int32_t no_delta = std::numeric_limits<std::int32_t>::max();

/// `Integral`: whole coordinates that fit 16 bits from the least on (tsp::Tsp::integral); else they stay as they are.
template <bool Integral>
using Coordinate = std::conditional_t<Integral, std::int32_t, double>;

template <bool Integral>
struct Point {
  Coordinate<Integral> x, y;
};

/// A place as it is kept for all of them.
template <bool Integral>
struct Place {
  double x, y;
  std::int64_t edges;  ///< lengths of the edges to the places before and after

  static __device__ __forceinline__ Place of(const Point<false>& p, std::int32_t edges) { return {p.x, p.y, edges}; }
  [[nodiscard]] __device__ __forceinline__ Point<false> point() const { return {x, y}; }
};
template <>
struct alignas(8) Place<true> {
  std::uint32_t xy;  ///< x in the lower half
  std::int32_t edges;

  static __device__ __forceinline__ Place of(const Point<true>& p, std::int32_t edges) {
    return {static_cast<std::uint32_t>(p.y) << 16 | static_cast<std::uint32_t>(p.x), edges};
  }
  [[nodiscard]] __device__ __forceinline__ Point<true> point() const {
    return {static_cast<std::int32_t>(xy & 0xFFFFu), static_cast<std::int32_t>(xy >> 16)};
  }
};

/// tsp::rounded_root() with a root in single precision, off by less than 0.02: rounded down, it is the distance or one less.
[[nodiscard]] __device__ __forceinline__ std::int32_t distance(std::int32_t dx, std::int32_t dy) {
  const std::int32_t squared = dx * dx + dy * dy;
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(static_cast<float>(squared)));
  // Above 2^23 the lowest bit of a float is worth one.
  const std::int32_t r = __float_as_int(__fadd_rd(root, 8388608.0f)) - 0x4B000000;
  return r + static_cast<std::int32_t>(squared > r * r + r);
}
[[nodiscard]] __device__ __forceinline__ std::int32_t distance(double dx, double dy) { return tsp::distance(dx, dy); }

/// -n <= place < 2 n, on the tour.
[[nodiscard]] __device__ __forceinline__ std::int32_t wrapped(std::int32_t place, std::int32_t n) {
  return place < 0 ? place + n : place >= n ? place - n : place;
}
/// Is `place` one of the `count` places from `first` on, -n < first < n?
[[nodiscard]] __device__ __forceinline__ bool within(std::int32_t place, std::int32_t first, std::int32_t count, std::int32_t n) {
  return wrapped(place - first, n) < count;
}

/// Lanes take places in order, of which those of the first and the last lane only lend their distances.
inline constexpr std::int32_t lane_places = 30;

/// The place of a lane among those from `first` on; lanes far beyond the last place get any.
[[nodiscard]] __device__ __forceinline__ std::int32_t lane_place(std::int32_t first, std::int32_t lane, std::int32_t n) {
  const std::int32_t place = wrapped(first + lane - 1, n);
  return place < n ? place : n - 1;
}

/// What lane `lane` has.
[[nodiscard]] __device__ __forceinline__ Point<true> of_lane(const Point<true>& mine, std::int32_t lane) {
  return Place<true>{__shfl_sync(~0u, Place<true>::of(mine, 0).xy, lane), 0}.point();
}
[[nodiscard]] __device__ __forceinline__ Point<false> of_lane(const Point<false>& mine, std::int32_t lane) {
  return {__shfl_sync(~0u, mine.x, lane), __shfl_sync(~0u, mine.y, lane)};
}

/// A place that others are tried against, one a lane, in order along the tour.
template <bool Integral>
struct Center {
  Point<Integral> point;
  std::int32_t edges;
};

/// Changes of the length when place `place`, at `own`, swaps with the Count places after `first`, which with both their neighbours are the
/// centers of lanes from `lane` on. All lanes take part, with places in order as well; the first and the last lane get nothing. no_delta
/// for the place itself.
template <int Count, bool Integral>
__device__ __forceinline__ void swap_deltas(const Center<Integral>& center, std::int32_t lane, std::int32_t first,
                                            const Point<Integral>& own, std::int32_t own_edges, std::int32_t place, std::int32_t n,
                                            std::int32_t (&deltas)[Count]) {
  std::int32_t d[Count + 2];
#pragma unroll
  for (int k = 0; k < Count + 2; ++k) {
    const Point<Integral> other = of_lane(center.point, lane + k);
    d[k] = distance(own.x - other.x, own.y - other.y);
  }
#pragma unroll
  for (int k = 1; k <= Count; ++k)
    deltas[k - 1] = d[k - 1] + d[k + 1] + __shfl_up_sync(~0u, d[k], 1) + __shfl_down_sync(~0u, d[k], 1) -
                    __shfl_sync(~0u, center.edges, lane + k) - own_edges;
  if (!within(place, first, Count + 2, n)) return;
  std::int32_t before = first, center_place = wrapped(first + 1, n);
#pragma unroll
  for (int k = 1; k <= Count; ++k) {
    const std::int32_t after = wrapped(center_place + 1, n);
    // Neighbours share an edge, which stays.
    if (place == before || place == after) deltas[k - 1] += 2 * d[k];
    if (place == center_place) deltas[k - 1] = no_delta;
    before = center_place;
    center_place = after;
  }
}

/// A swap of the cities at places r < s, and the places nearby whose lengths it changes.
template <bool Integral>
struct Swapped {
  std::int32_t n, r = 0, s = 0;
  Center<Integral> center{};  ///< of this lane: see gather()

  /// Center k = 0 .. 9: places r-2 .. r+2 and s-2 .. s+2.
  [[nodiscard]] __device__ __forceinline__ std::int32_t center_place(int k) const { return wrapped(k < 5 ? r - 2 + k : s - 7 + k, n); }
  /// Is the place one of r-1 .. r+1 or s-1 .. s+1, whose moves changed?
  [[nodiscard]] __device__ __forceinline__ bool touched(std::int32_t place) const { return near_r(place) || within(place, s - 1, 3, n); }
  /// Is the place one of r-1 .. r+1?
  [[nodiscard]] __device__ __forceinline__ bool near_r(std::int32_t place) const { return within(place, r - 1, 3, n); }
  /// The centers of lanes 0 .. 9 after the swap, with the edges of all but the outermost; `places` are as before it.
  __device__ __forceinline__ void gather(const Place<Integral>* places) {
    const std::int32_t lane = static_cast<std::int32_t>(threadIdx.x % 32), at = center_place(min(lane, 9));
    center.point = places[at == r ? s : at == s ? r : at].point();
    const std::int32_t after =
        distance(__shfl_down_sync(~0u, center.point.x, 1) - center.point.x, __shfl_down_sync(~0u, center.point.y, 1) - center.point.y);
    center.edges = __shfl_up_sync(~0u, after, 1) + after;
  }
  /// After gather(): `own`, of `place` of each lane, as it is after the swap.
  [[nodiscard]] __device__ __forceinline__ Center<Integral> after(Center<Integral> own, std::int32_t place, bool touched) const {
    if (__any_sync(~0u, touched)) {
      const std::int32_t after_r = wrapped(place - r + 1, n), from = after_r < 3 ? 1 + after_r : 6 + wrapped(place - s + 1, n);
      const Point<Integral> point = of_lane(center.point, from % 32);
      const std::int32_t edges = __shfl_sync(~0u, center.edges, from % 32);
      if (touched) own = {point, edges};
    }
    return own;
  }
  /// After gather(): writes down the places that changed; by the lanes of a warp.
  __device__ __forceinline__ void write(Place<Integral>* places) const {
    const std::int32_t lane = static_cast<std::int32_t>(threadIdx.x % 32);
    const std::int32_t at = center_place(lane);
    if (lane < 10 && lane % 5 != 0 && lane % 5 != 4 && (lane < 5 || !near_r(at)))
      places[at] = Place<Integral>::of(center.point, center.edges);
  }
};

}  // namespace vicinity::lsm
