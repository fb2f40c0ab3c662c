#pragma once
// Tours on the device, and deltas of swaps, for both tuned searches of the travelling salesman problem (row_minima.cu, scan.cu).
//
// Problem: a move swaps the cities at two positions of the tour. Its delta is the change of the tour's length.
// Data layout: tours, best tours and tabu times are in device memory, one search after the other (Tours; TourMemory owns them). The
// searches evaluate moves from an array of StoredCity in tour order: the coordinates of a city, and the lengths of its two edges.
// Evaluation (swap_deltas): a warp takes 32 consecutive positions, a lane each. A delta needs the distances from the other city to a
// position and to its neighbours; neighbouring lanes have the latter. The first and the last lane are the halo and get no deltas.
// Update (CitySwap): a swap of positions r and s changes the moves of r-1 .. r+1 and s-1 .. s+1. Their new deltas need the cities at
// r-2 .. r+2 and s-2 .. s+2, the window: lanes 0 .. 9 of each warp compute it, and the others have it by shuffles or by shared memory.
// Cost: Count + 2 distances a lane for Count deltas. Synchronisation: of the warp only.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "core/methods/lsm/state.hpp"
#include "core/problems/moves.hpp"
#include "core/problems/tsp/swap.hpp"
#include "kernels/cuda/runtime/memory.cuh"

namespace vicinity::lsm {

// --- cities ------------------------------------------------------------------------------------------------------------------

/// Above all deltas: a delta is the sum of at most four distances below 2^28, minus four such.
inline constexpr std::int32_t no_delta = std::numeric_limits<std::int32_t>::max();

/// `Integral`: whole coordinates whose offsets from the least fit 16 bits (tsp::Tsp::integral). Otherwise double precision.
template <bool Integral>
using Coordinate = std::conditional_t<Integral, std::int32_t, double>;

template <bool Integral>
struct Point {
  Coordinate<Integral> x, y;
};

/// The city at a position of the tour, in registers.
template <bool Integral>
struct City {
  Point<Integral> point;
  std::int32_t edges;  ///< sum of the lengths of its two edges
};

/// The same in memory.
template <bool Integral>
struct StoredCity {
  double x, y;
  std::int64_t edges;

  static __device__ __forceinline__ StoredCity of(const City<false>& city) { return {city.point.x, city.point.y, city.edges}; }
  [[nodiscard]] __device__ __forceinline__ City<false> city() const { return {{x, y}, static_cast<std::int32_t>(edges)}; }
};
template <>
struct alignas(8) StoredCity<true> {
  std::uint32_t xy;  ///< x in the lower half
  std::int32_t edges;

  static __device__ __forceinline__ std::uint32_t packed(const Point<true>& p) {
    return static_cast<std::uint32_t>(p.y) << 16 | static_cast<std::uint32_t>(p.x);
  }
  static __device__ __forceinline__ Point<true> unpacked(std::uint32_t xy) {
    return {static_cast<std::int32_t>(xy & 0xFFFFu), static_cast<std::int32_t>(xy >> 16)};
  }
  static __device__ __forceinline__ StoredCity of(const City<true>& city) { return {packed(city.point), city.edges}; }
  [[nodiscard]] __device__ __forceinline__ City<true> city() const { return {unpacked(xy), edges}; }
};

/// Of whole coordinates below 2^31, otherwise below 2^56.
[[nodiscard]] __device__ __forceinline__ std::int32_t squared_distance(const Point<true>& a, const Point<true>& b) {
  return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y);
}
[[nodiscard]] __device__ __forceinline__ double squared_distance(const Point<false>& a, const Point<false>& b) {
  const double dx = plus(a.x, -b.x), dy = plus(a.y, -b.y);
  return plus(times(dx, dx), times(dy, dy));
}
/// With an error below 0.5 for squares below 2^42.
[[nodiscard]] __device__ __forceinline__ float approximate_root(float squared) {
  float root;
  asm volatile("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(squared));
  return root;
}
/// tsp::rounded_root(): the root rounded down is the distance or one less. `zero`: see distances().
[[nodiscard]] __device__ __forceinline__ std::int32_t rounded_root(std::int32_t squared, float root, float zero = 0) {
  // Rounds down: above 2^23 the lowest bit of a float is worth one.
  const std::int32_t r = __float_as_int(__fadd_rd(root, 8388608.0f + zero)) - 0x4B000000;
  return r + static_cast<std::int32_t>(squared > r * r + r);
}
/// tsp::distance(), which takes longer where the square is large, or so close below that of a half that its root may round to it.
[[nodiscard]] __device__ __forceinline__ std::int32_t rounded_root(double squared, float root, float = 0) {
  const std::int32_t r = __float2int_rd(root);
  const double half = plus(r, 0.5), above = multiply_add(-half, half, squared);
  if (squared >= 0x1p42 || (above < 0 && above > -0x1p-50 * squared)) return static_cast<std::int32_t>(plus(vicinity::root(squared), 0.5));
  return r + static_cast<std::int32_t>(above >= 0);
}
template <bool Integral>
[[nodiscard]] __device__ __forceinline__ std::int32_t distance(const Point<Integral>& a, const Point<Integral>& b) {
  const auto squared = squared_distance(a, b);
  return rounded_root(squared, approximate_root(static_cast<float>(squared)));
}
/// Distances of each of `a` and the one of `b` beside it, by whole warps. Of whole coordinates all are rounded once all roots are there, by
/// the zero that is made of them: otherwise the compiler puts one distance behind the other, and each waits for its root.
template <int Count, bool Integral>
__device__ __forceinline__ void distances(const Point<Integral> (&a)[Count], const Point<Integral> (&b)[Count], std::int32_t (&d)[Count]) {
  Coordinate<Integral> squared[Count];
  float root[Count];
#pragma unroll
  for (int k = 0; k < Count; ++k) {
    squared[k] = squared_distance(a[k], b[k]);
    root[k] = approximate_root(static_cast<float>(squared[k]));
  }
  float all = root[0];
#pragma unroll
  for (int k = 1; k < Count; ++k) all += root[k];
  __syncwarp();
#pragma unroll
  for (int k = 0; k < Count; ++k) d[k] = rounded_root(squared[k], root[k], 0.0f * all);
}

// --- positions ---------------------------------------------------------------------------------------------------------------

/// The position on the tour, for -n <= position < 2 n.
[[nodiscard]] __device__ __forceinline__ std::int32_t wrapped(std::int32_t position, std::int32_t n) {
  return position < 0 ? position + n : position >= n ? position - n : position;
}
[[nodiscard]] __device__ __forceinline__ std::int32_t before(std::int32_t position, std::int32_t n) {
  return (position == 0 ? n : position) - 1;
}
[[nodiscard]] __device__ __forceinline__ std::int32_t after(std::int32_t position, std::int32_t n) {
  return position == n - 1 ? 0 : position + 1;
}
/// Is `position` at most `steps` from `center` on the tour? Here and in beside(), `|` where `||` would branch.
[[nodiscard]] __device__ __forceinline__ bool near(std::int32_t position, std::int32_t center, std::int32_t steps, std::int32_t n) {
  const std::int32_t apart = abs(position - center);
  return (apart <= steps) | (apart >= n - steps);
}

/// Positions that a warp evaluates at once: 32 less the halo.
inline constexpr std::int32_t warp_positions = 30;

/// The position of a lane when lane 1 has `first` < n. Lanes far beyond the last position get the first.
[[nodiscard]] __device__ __forceinline__ std::int32_t lane_position(std::int32_t first, std::int32_t lane, std::int32_t n) {
  const std::int32_t position = first + lane - 1;
  return position < 0 ? n - 1 : position < n ? position : 0;
}

// --- deltas ------------------------------------------------------------------------------------------------------------------

/// The cities at five positions around one that is swapped, in shared memory. Aligned for wide reads.
template <bool Integral>
struct alignas(16) StoredStretch {
  double x[5], y[5];

  __device__ __forceinline__ void set_point(int k, const Point<false>& point) {
    x[k] = point.x;
    y[k] = point.y;
  }
  [[nodiscard]] __device__ __forceinline__ Point<false> point(int k) const { return {x[k], y[k]}; }
};
template <>
struct alignas(16) StoredStretch<true> {
  std::uint32_t xy[5];

  __device__ __forceinline__ void set_point(int k, const Point<true>& point) { xy[k] = StoredCity<true>::packed(point); }
  [[nodiscard]] __device__ __forceinline__ Point<true> point(int k) const { return StoredCity<true>::unpacked(xy[k]); }
};

/// The point that `lane` has.
[[nodiscard]] __device__ __forceinline__ Point<true> shuffle(const Point<true>& mine, std::int32_t lane) {
  return StoredCity<true>::unpacked(__shfl_sync(~0u, StoredCity<true>::packed(mine), lane));
}
[[nodiscard]] __device__ __forceinline__ Point<false> shuffle(const Point<false>& mine, std::int32_t lane) {
  return {__shfl_sync(~0u, mine.x, lane), __shfl_sync(~0u, mine.y, lane)};
}

/// The cities at Count + 2 consecutive positions: all points, and the edges of those but the first and the last.
template <int Count, bool Integral>
struct Stretch {
  Point<Integral> points[Count + 2];
  std::int32_t edges[Count];
};

/// The cities of the lanes from `lane` on, in all lanes.
template <int Count, bool Integral>
[[nodiscard]] __device__ __forceinline__ Stretch<Count, Integral> stretch_of(const City<Integral>& mine, std::int32_t lane) {
  Stretch<Count, Integral> stretch;
#pragma unroll
  for (int k = 0; k < Count + 2; ++k) stretch.points[k] = shuffle(mine.point, lane + k);
#pragma unroll
  for (int k = 0; k < Count; ++k) stretch.edges[k] = __shfl_sync(~0u, mine.edges, lane + k + 1);
  return stretch;
}

/// swap_deltas() below, from the distances d of the own city and the others.
template <int Count>
__device__ __forceinline__ void swap_deltas(const std::int32_t* d, const std::int32_t (&edges)[Count], std::int32_t center,
                                            std::int32_t own_edges, std::int32_t position, std::int32_t n, std::int32_t (&deltas)[Count]) {
#pragma unroll
  for (int k = 1; k <= Count; ++k)
    deltas[k - 1] = d[k - 1] + d[k + 1] + __shfl_up_sync(~0u, d[k], 1) + __shfl_down_sync(~0u, d[k], 1) - edges[k - 1] - own_edges;
  constexpr int reach = Count / 2;
  if (!near(position, center, reach + 1, n)) return;
  const std::int32_t ahead = position >= center ? position - center : position - center + n;  // of the center, in steps
  const auto is_ahead = [&](std::int32_t steps) { return ahead == (steps < 0 ? n + steps : steps); };
#pragma unroll
  for (int k = 1; k <= Count; ++k) {
    const std::int32_t other = k - 1 - reach;
    if (is_ahead(other - 1) || is_ahead(other + 1)) deltas[k - 1] += 2 * d[k];  // the edge between neighbours stays
    if (is_ahead(other)) deltas[k - 1] = no_delta;
  }
}

/// Deltas of the swaps of `position`, where `own` is, with the Count positions around `center`; no_delta for the position itself. `others`
/// are the cities of these and of one position more on either side. By whole warps whose lanes have consecutive positions; the first and
/// the last lane get no valid deltas.
template <int Count, bool Integral>
__device__ __forceinline__ void swap_deltas(const Stretch<Count, Integral>& others, std::int32_t center, const City<Integral>& own,
                                            std::int32_t position, std::int32_t n, std::int32_t (&deltas)[Count]) {
  Point<Integral> owns[Count + 2];
#pragma unroll
  for (Point<Integral>& point : owns) point = own.point;
  std::int32_t d[Count + 2];
  distances(owns, others.points, d);
  swap_deltas(d, others.edges, center, own.edges, position, n, deltas);
}

/// A swap of the cities at positions r < s, and the cities around them.
template <bool Integral>
struct CitySwap {
  std::int32_t n, r = 0, s = 0;
  City<Integral> window{};  ///< after the swap; of lanes 0 .. 9, see load_window()

  /// Window k = 0 .. 9: positions r-2 .. r+2 and s-2 .. s+2.
  [[nodiscard]] __device__ __forceinline__ std::int32_t window_position(int k) const { return wrapped(k < 5 ? r - 2 + k : s - 7 + k, n); }
  /// Is the position `center`, or one of its neighbours?
  [[nodiscard]] __device__ __forceinline__ bool beside(std::int32_t position, std::int32_t center) const {
    return (position == before(center, n)) | (position == center) | (position == after(center, n));
  }
  [[nodiscard]] __device__ __forceinline__ bool near_r(std::int32_t position) const { return beside(position, r); }
  /// Is the position one of r-1 .. r+1 or s-1 .. s+1, whose moves all change?
  [[nodiscard]] __device__ __forceinline__ bool touches(std::int32_t position) const { return beside(position, r) | beside(position, s); }
  /// Sets `window` in lanes 0 .. 9. `cities` are as before the swap. The edges of the outermost positions are not set.
  __device__ __forceinline__ void load_window(const StoredCity<Integral>* cities) {
    const std::int32_t lane = static_cast<std::int32_t>(threadIdx.x % 32), at = window_position(min(lane, 9));
    window.point = cities[at == r ? s : at == s ? r : at].city().point;
    const Point<Integral> next{__shfl_down_sync(~0u, window.point.x, 1), __shfl_down_sync(~0u, window.point.y, 1)};
    const std::int32_t after = distance(next, window.point);
    window.edges = __shfl_up_sync(~0u, after, 1) + after;
  }
  /// Where the city at `position` was before the swap.
  [[nodiscard]] __device__ __forceinline__ std::int32_t source(std::int32_t position) const {
    return position == r ? s : position == s ? r : position;
  }
  /// The points of load_window(), without their edges, which changed_deltas() computes; also to the warp's shared memory.
  __device__ __forceinline__ void load_points(const StoredCity<Integral>* cities, StoredStretch<Integral> (&to)[2]) {
    const auto lane = static_cast<std::int32_t>(threadIdx.x % 32);
    window.point = cities[source(window_position(min(lane, 9)))].city().point;
    if (lane < 10) to[lane / 5].set_point(lane % 5, window.point);
    __syncwarp();
  }
  /// The distances after the swap that changed_deltas() needs: of `own` and the five cities around r or s, `around` in shared memory, and
  /// of this lane's point of the window and the next. Needs load_points().
  __device__ __forceinline__ void changed_distances(const StoredStretch<Integral>& around, const Point<Integral>& own,
                                                    std::int32_t (&d)[6]) const {
    const StoredStretch<Integral> stored = around;
    Point<Integral> a[6], b[6];
#pragma unroll
    for (int k = 0; k < 5; ++k) {
      a[k] = own;
      b[k] = stored.point(k);
    }
    a[5] = window.point;
    b[5] = shuffle(window.point, (static_cast<std::int32_t>(threadIdx.x) + 1) % 32);
    distances(a, b, d);
  }
  /// Deltas after the swap, as swap_deltas(): of the swaps of `position` with those around r or s. `own_edges` are its edges before the
  /// swap. The edges of the window are computed here, as they are needed last.
  __device__ __forceinline__ void changed_deltas(int side, const std::int32_t (&d)[6], std::int32_t own_edges, bool touched,
                                                 std::int32_t position, std::int32_t (&deltas)[3]) {
    window.edges = __shfl_up_sync(~0u, d[5], 1) + d[5];
    std::int32_t edges[3];
#pragma unroll
    for (int k = 0; k < 3; ++k) edges[k] = __shfl_sync(~0u, window.edges, 5 * side + 1 + k);
    if (__any_sync(~0u, touched)) {
      const std::int32_t of_window = __shfl_sync(~0u, window.edges, window_lane(position));
      if (touched) own_edges = of_window;
    }
    swap_deltas(d, edges, side == 0 ? r : s, own_edges, position, n, deltas);
  }
  /// The lane whose window is a touched position.
  [[nodiscard]] __device__ __forceinline__ std::int32_t window_lane(std::int32_t position) const {
    const std::int32_t from_r = wrapped(position - r + 1, n);
    return (from_r < 3 ? 1 + from_r : 6 + wrapped(position - s + 1, n)) % 32;
  }
  /// The city at each lane's `position` after the swap, `own` before it. Needs the window.
  [[nodiscard]] __device__ __forceinline__ City<Integral> swapped(City<Integral> own, std::int32_t position, bool touched) const {
    if (__any_sync(~0u, touched)) {
      const std::int32_t from = window_lane(position);
      const Point<Integral> point = shuffle(window.point, from);
      const std::int32_t edges = __shfl_sync(~0u, window.edges, from);
      if (touched) own = {point, edges};
    }
    return own;
  }
  /// Stores the touched cities, by one warp. Needs the window.
  __device__ __forceinline__ void store_touched(StoredCity<Integral>* cities) const {
    const std::int32_t lane = static_cast<std::int32_t>(threadIdx.x % 32);
    const std::int32_t at = window_position(lane);
    if (lane < 10 && lane % 5 != 0 && lane % 5 != 4 && (lane < 5 || !near_r(at))) cities[at] = StoredCity<Integral>::of(window);
  }
};

// --- device memory -----------------------------------------------------------------------------------------------------------

/// Instance, tours and tabu times of the searches of a launch.
template <bool Integral>
struct Tours {
  tsp::View tsp;
  double low_x, low_y;  ///< whole coordinates are stored as offsets from these
  std::int32_t* tour;   ///< [search][position]: city
  std::int32_t* best;   ///< [search][position]: city
  std::int32_t* until;  ///< [search][move]: tabu before this iteration; null in a hill climbing
  std::int64_t moves, tenure;

  [[nodiscard]] __device__ __forceinline__ Point<Integral> point(std::int32_t city) const {
    if constexpr (Integral)
      return {static_cast<std::int32_t>(tsp.x[city] - low_x), static_cast<std::int32_t>(tsp.y[city] - low_y)};
    else
      return {tsp.x[city], tsp.y[city]};
  }
  [[nodiscard]] __device__ __forceinline__ StoredCity<Integral> city(std::size_t search, std::int32_t position) const {
    const std::int32_t* cities = tour + search * static_cast<std::size_t>(tsp.n);
    const Point<Integral> before = point(cities[wrapped(position - 1, tsp.n)]), own = point(cities[position]),
                          after = point(cities[wrapped(position + 1, tsp.n)]);
    return StoredCity<Integral>::of({own, distance(own, before) + distance(own, after)});
  }
  [[nodiscard]] __device__ __forceinline__ std::int32_t* until_of(std::size_t search, std::int64_t move) const {
    return until + search * static_cast<std::size_t>(moves) + move;
  }
  [[nodiscard]] __device__ __forceinline__ std::int32_t* until_of(std::size_t search, std::int32_t a, std::int32_t b) const {
    return until_of(search, moves::index<2>(tsp.n, {{min(a, b), max(a, b)}}));
  }
};

/// Owns what Tours points to, for up to `searches` searches at the same time.
template <bool Integral>
class TourMemory {
 public:
  using Neighborhood = local_search::TspSwap;
  using State = local_search::SearchState<Neighborhood>;

  TourMemory(const Neighborhood& neighborhood, const local_search::Task& task, std::int64_t searches, const cuda::Stream& stream)
      : stream_(stream),
        size_(static_cast<std::size_t>(neighborhood.instance().size())),
        x_(std::span(neighborhood.instance().view().x, size_)),
        y_(std::span(neighborhood.instance().view().y, size_)),
        tours_(static_cast<std::size_t>(searches) * size_),
        best_(static_cast<std::size_t>(searches) * size_),
        until_(task.method == local_search::Method::tabu ? static_cast<std::size_t>(searches * neighborhood.moves()) : 0),
        staged_(static_cast<std::size_t>(searches) * size_) {
    const tsp::View host = neighborhood.instance().view();
    view_ = {{x_.data(), y_.data(), host.n},
             *std::min_element(host.x, host.x + host.n),
             *std::min_element(host.y, host.y + host.n),
             tours_.data(),
             best_.data(),
             until_.data(),
             neighborhood.moves(),
             local_search::tenure_of(task, neighborhood.moves())};
  }

  [[nodiscard]] const Tours<Integral>& view() const noexcept { return view_; }

  void begin(const std::vector<State>& states) {
    for (std::size_t k = 0; k < states.size(); ++k)
      std::copy(states[k].solution().begin(), states[k].solution().end(), staged_.data() + k * size_);
    for (auto* tours : {&tours_, &best_}) copy(tours->data(), staged_.data(), states.size(), cudaMemcpyHostToDevice);
    until_.fill(0, stream_);
  }
  /// Waits for the stream.
  void finish(std::vector<State::Result>& searches) {
    fetch(tours_, searches, &State::Result::current);
    fetch(best_, searches, &State::Result::best);
  }
  void poison() {
    for (auto* buffer : {&until_, &tours_, &best_}) buffer->fill(0xA5, stream_);
  }

 private:
  void copy(std::int32_t* to, const std::int32_t* from, std::size_t searches, cudaMemcpyKind kind) const {
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(to, from, searches * size_ * sizeof(std::int32_t), kind, stream_.get()));
  }
  void fetch(const cuda::DeviceBuffer<std::int32_t>& from, std::vector<State::Result>& searches, tsp::Tour State::Result::*member) {
    copy(staged_.data(), from.data(), searches.size(), cudaMemcpyDeviceToHost);
    stream_.synchronize();
    for (std::size_t k = 0; k < searches.size(); ++k)
      std::copy(staged_.data() + k * size_, staged_.data() + (k + 1) * size_, (searches[k].*member).begin());
  }

  const cuda::Stream& stream_;
  const std::size_t size_;  ///< cities
  cuda::DeviceBuffer<double> x_, y_;
  cuda::DeviceBuffer<std::int32_t> tours_, best_, until_;
  cuda::HostBuffer<std::int32_t> staged_;  ///< [search][position]
  Tours<Integral> view_{};
};

}  // namespace vicinity::lsm
