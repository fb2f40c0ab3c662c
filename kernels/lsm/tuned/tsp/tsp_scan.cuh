#pragma once
// The tuned local search for the travelling salesman with few cities: the differences of all moves in the shared memory of a block, and
// looked at in every iteration.
#include <cstdint>

#include "kernels/cuda/warp.cuh"
#include "kernels/lsm/tuned/tsp/tsp_scan_room.cuh"

namespace vicinity::lsm {

/// One search, as each thread has part in it.
template <bool Integral>
class TspScan {
 public:
  __device__ __forceinline__ TspScan(const TspScanView<Integral>& view, unsigned char* shared)
      : view_(view),
        n_(view.tsp.n),
        clerk_(static_cast<std::int32_t>(threadIdx.x) >= view.workers),
        room_(*reinterpret_cast<ScanRoom*>(shared)),
        keys_(reinterpret_cast<std::uint32_t*>(shared + sizeof(ScanRoom))),
        places_(reinterpret_cast<Place<Integral>*>(keys_ + view.room())),
        tour_(reinterpret_cast<std::int32_t*>(places_ + n_)),
        swap_{n_},
        first_(warp() / 2 * lane_places),
        center_(warp() % 2 * 5),
        place_(lane_place(first_, lane(), n_)) {}

  __device__ __forceinline__ void run(local_search::SearchProgress& progress, local_search::Method method, std::int64_t limit) {
    load(progress);
    bool goes_on = true;
    while (goes_on) {
      ScanFound of_all = scan_nothing;
      if (clerk_) {
        if (moved_) write_down();
      } else {
        of_all = look();
      }
      __syncthreads();
      bool flagged = false;
      ScanFound best = agreed(flagged);
      if (flagged) {  // some tabu move leads below the best of the search, so the best of all moves is not forbidden
        bool none = false;
        if (!clerk_) post(of_all, false);
        __syncthreads();
        best = agreed(none);
      }
      goes_on = take(best, flagged, method, limit);
      if (warp() < scan_tasks(n_) && goes_on) follow(best, method);
      __syncthreads();
    }
    if (clerk_) {
      if (moved_) write_down();
      store(progress);
    }
  }

 private:
  [[nodiscard]] static __device__ __forceinline__ std::int32_t lane() { return static_cast<std::int32_t>(threadIdx.x % 32); }
  [[nodiscard]] static __device__ __forceinline__ std::int32_t warp() { return static_cast<std::int32_t>(threadIdx.x / 32); }
  [[nodiscard]] __device__ __forceinline__ std::int32_t number(std::int32_t i, std::int32_t j) const {
    return i * (2 * n_ - i - 1) / 2 + j - i - 1;
  }
  /// Sets the places that `move` swaps, as moves::at<2>(), for so few moves that 8 times their number is exact in single precision; 5 in
  /// place of 1 makes up for the error of the root.
  __device__ __forceinline__ void places_of(std::int32_t move, std::int32_t& i, std::int32_t& j) const {
    const auto from_end = static_cast<std::int32_t>(view_.moves) - 1 - move;
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(static_cast<float>(8 * from_end + 5)));
    i = n_ - 2 - static_cast<std::int32_t>((root - 1.0f) * 0.5f);
    j = move - number(i, i + 1) + i + 1;
  }
  __device__ __forceinline__ void load(const local_search::SearchProgress& progress) {
    const auto thread = static_cast<std::int32_t>(threadIdx.x), threads = static_cast<std::int32_t>(blockDim.x);
    now_ = static_cast<std::int32_t>(progress.iterations);
    value_ = progress.value;
    best_value_ = progress.best_value;
    if (thread < 64) room_.found[thread / 32][thread % 32] = scan_nothing;
    for (std::int32_t p = thread; p < n_; p += threads) {
      places_[p] = view_.place(blockIdx.x, p);
      tour_[p] = view_.tour[blockIdx.x * static_cast<std::size_t>(n_) + p];
    }
    if (thread == view_.workers) {
      room_.progress = progress;
      room_.released = room_.owner = -1;
    }
    if (clerk_ && view_.until != nullptr) {
      entry_ = now_ % view_.history;
      released_ = released(now_);
    }
    __syncthreads();
    const Place<Integral> own = places_[place_];
    own_ = {own.point(), static_cast<std::int32_t>(own.edges)};
    for (std::int32_t move = thread; move < view_.room(); move += threads) {
      const auto slot = static_cast<std::uint32_t>(move / 4 / view_.workers * 4 + move % 4);
      keys_[move] = move < view_.moves ? ScanKey::of(delta_of(move), slot | (tabu(move) ? ScanKey::tabu : 0)) : ScanKey::none;
    }
    __syncthreads();
  }
  __device__ __forceinline__ void store(local_search::SearchProgress& progress) const {
    const std::size_t base = blockIdx.x * static_cast<std::size_t>(n_);
    for (std::int32_t p = lane(); p < n_; p += 32) {
      view_.tour[base + p] = tour_[p];
      if (unsaved_) view_.best[base + p] = tour_[p];
    }
    if (lane() == 0) progress = room_.progress;
  }
  [[nodiscard]] __device__ __forceinline__ bool tabu(std::int32_t move) const {
    return view_.until != nullptr && *view_.until_of(blockIdx.x, std::int64_t{move}) > now_;
  }
  /// From the places.
  [[nodiscard]] __device__ __forceinline__ std::int32_t delta_of(std::int32_t move) const {
    std::int32_t i, j;
    places_of(move, i, j);
    const Place<Integral> at_i = places_[i], at_j = places_[j];
    const auto from = [&](const Place<Integral>& one, std::int32_t place) {
      const Point<Integral> a = one.point(), b = places_[wrapped(place, n_)].point();
      return distance(a.x - b.x, a.y - b.y);
    };
    const std::int32_t added = from(at_i, j - 1) + from(at_i, j + 1) + from(at_j, i - 1) + from(at_j, i + 1);
    const bool neighbours = j == i + 1 || j - i == n_ - 1;  // share an edge, which stays
    return added + (neighbours ? 2 * from(at_i, j) : 0) - static_cast<std::int32_t>(at_i.edges + at_j.edges);
  }

  /// Looks at this worker's moves, and posts the warp's best. Returns its own best as if no move were tabu.
  [[nodiscard]] __device__ __forceinline__ ScanFound look() {
    const auto worker = static_cast<std::int32_t>(threadIdx.x);
    if (room_.owner == worker) keys_[room_.released] &= ~ScanKey::tabu;
    std::uint32_t best = ScanKey::none;
    std::int32_t best_tabu = -1;  // as a signed number above those of tabu moves
    const auto* fours = reinterpret_cast<const uint4*>(keys_) + worker;
    for (std::int32_t round = 0; round < view_.rounds; ++round) {
#pragma unroll
      for (int k = 0; k < 4; ++k, fours += view_.workers) {
        const uint4 four = *fours;
        best = min(min(best, four.x), min(four.y, min(four.z, four.w)));
        best_tabu = min(min(best_tabu, static_cast<std::int32_t>(four.x)),
                        min(static_cast<std::int32_t>(four.y), min(static_cast<std::int32_t>(four.z), static_cast<std::int32_t>(four.w))));
      }
    }
    const std::uint32_t aspiring = static_cast<std::uint32_t>(best_tabu) & ~ScanKey::tabu;
    post(found(best), ScanKey::delta(ScanKey::value(aspiring)) < best_value_ - value_);
    return found(min(best & ~ScanKey::tabu, aspiring));
  }
  [[nodiscard]] __device__ __forceinline__ ScanFound found(std::uint32_t key) const {
    const auto slot = static_cast<std::int32_t>(key & ScanKey::slots);
    const std::int32_t move = 4 * (slot / 4 * view_.workers + static_cast<std::int32_t>(threadIdx.x)) + slot % 4;
    return static_cast<ScanFound>(ScanKey::value(key)) << 32 | static_cast<std::uint32_t>(move);
  }
  /// The warp's best, where all warps see it after they have met.
  __device__ __forceinline__ void post(ScanFound mine, bool flagged) {
    ScanFound least = cuda::warp_min(mine);
    if (__any_sync(~0u, flagged)) least |= scan_flag;
    if (lane() == 0) room_.found[parity_][warp()] = least;
  }
  /// The best that was posted.
  [[nodiscard]] __device__ __forceinline__ ScanFound agreed(bool& flagged) {
    const ScanFound posted = room_.found[parity_][lane()];
    flagged = __any_sync(~0u, (posted & scan_flag) != 0);
    parity_ ^= 1;
    return cuda::warp_min(posted & ~scan_flag);
  }

  /// Takes the move, unless a hill climbing ends here. Returns whether the search goes on.
  [[nodiscard]] __device__ __forceinline__ bool take(ScanFound best, bool aspiring, local_search::Method method, std::int64_t limit) {
    const auto move = static_cast<std::int32_t>(best);
    const auto value = static_cast<std::uint32_t>(best >> 32);
    const std::int64_t length = value_ + ScanKey::delta(value);
    moved_ = method != local_search::Method::hill || length < value_;
    places_of(move, swap_.r, swap_.s);
    if (clerk_) account(move, length, aspiring || ScanKey::forbidden(value), method);
    if (!moved_) return false;
    ++now_;
    value_ = length;
    best_value_ = min(best_value_, length);
    return now_ < limit;
  }
  /// The clerk's part in it. What it need not do at once it writes down while the others look.
  __device__ __forceinline__ void account(std::int32_t move, std::int64_t length, bool was_tabu, local_search::Method method) {
    if (!moved_) {
      if (lane() == 0) room_.progress.take({length, move, false}, method);
      return;
    }
    swap_.gather(places_);
    if (unsaved_ && length >= best_value_)
      for (std::int32_t p = lane(); p < n_; p += 32) view_.best[blockIdx.x * static_cast<std::size_t>(n_) + p] = tour_[p];
    unsaved_ = length < best_value_;
    __syncwarp();
    if (lane() == 0) {
      const std::int32_t at_r = tour_[swap_.r], at_s = tour_[swap_.s];
      tour_[swap_.r] = at_s;
      tour_[swap_.s] = at_r;
      if (view_.until != nullptr) remember(move, was_tabu);
    }
    __syncwarp();
  }
  /// The last swap, in the places and the progress; no warp reads places meanwhile.
  __device__ __forceinline__ void write_down() {
    swap_.write(places_);
    if (lane() == 0) room_.progress.take({value_, number(swap_.r, swap_.s), false}, local_search::Method::tabu);
    __syncwarp();
  }
  /// Tabu times: those of this iteration's move, and the move whose time ends.
  __device__ __forceinline__ void remember(std::int32_t move, bool was_tabu) {
    std::int32_t* until = view_.until_of(blockIdx.x, std::int64_t{move});
    if (was_tabu && *until > now_) taken()[(*until - 1 - tenure()) % view_.history] = -1;
    *until = static_cast<std::int32_t>(local_search::tabu_until(now_, view_.tenure));
    if (released_ == move) released_ = -1;
    taken()[entry_] = move;
    room_.released = released_;
    room_.owner = released_ < 0 ? -1 : released_ / 4 % view_.workers;
    entry_ = after(entry_);
    released_ = released(now_ + 1);
  }
  /// The search's part of TspScanView::taken.
  [[nodiscard]] __device__ __forceinline__ std::int32_t* taken() const {
    return view_.taken + blockIdx.x * static_cast<std::size_t>(view_.history);
  }
  [[nodiscard]] __device__ __forceinline__ std::int32_t after(std::int32_t entry) const {
    return entry + 1 < view_.history ? entry + 1 : 0;
  }
  /// The move whose time ends with iteration `now`, which has entry `entry_`. Those that end were taken by history - 1 iterations before.
  [[nodiscard]] __device__ __forceinline__ std::int32_t released(std::int32_t now) const {
    return now < tenure() ? -1 : taken()[after(entry_)];
  }
  [[nodiscard]] __device__ __forceinline__ std::int32_t tenure() const { return static_cast<std::int32_t>(view_.tenure); }

  /// Brings the moves of touched places up to date: a lane a place, for three touched ones. Of two touched places the first has their move;
  /// a place touched near r and near s counts as near r.
  __device__ __forceinline__ void follow(ScanFound best, local_search::Method method) {
    swap_.gather(places_);
    std::int32_t moves[3];
    std::uint32_t marks[3]{};
    bool valid[3];
    const bool touched = swap_.touched(place_);
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      const std::int32_t other = swap_.center_place(center_ + 1 + k);
      valid[k] = lane() >= 1 && lane() <= lane_places && first_ + lane() - 1 < n_ && (touched ? place_ < other : place_ != other) &&
                 (center_ == 0 || !swap_.near_r(other));
      moves[k] = number(min(place_, other), max(place_, other));
      if (valid[k]) marks[k] = keys_[moves[k]] & (ScanKey::tabu | ScanKey::slots);
    }
    own_ = swap_.after(own_, place_, touched);
    std::int32_t deltas[3];
    swap_deltas<3>(swap_.center, center_, swap_.center_place(center_), own_.point, own_.edges, place_, n_, deltas);
    const std::uint32_t mark = method == local_search::Method::tabu ? ScanKey::tabu : 0;
#pragma unroll
    for (int k = 0; k < 3; ++k)
      if (valid[k]) keys_[moves[k]] = ScanKey::of(deltas[k], marks[k] | (moves[k] == static_cast<std::int32_t>(best) ? mark : 0));
    __syncwarp();
  }

  const TspScanView<Integral>& view_;
  const std::int32_t n_;
  const bool clerk_;
  ScanRoom& room_;
  std::uint32_t* const keys_;
  Place<Integral>* const places_;
  std::int32_t* const tour_;
  std::int32_t now_ = 0;  ///< the iteration to come
  std::int64_t value_ = 0, best_value_ = 0;
  Swapped<Integral> swap_;             ///< the last
  const std::int32_t first_, center_;  ///< where its task in follow() begins
  const std::int32_t place_;           ///< of this lane
  Center<Integral> own_{};             ///< at this place
  std::int32_t entry_ = 0;             ///< the clerk's: of the iteration to come in taken()
  std::int32_t released_ = -1;         ///< the clerk's: the move that ceases to be tabu with the iteration to come
  std::int32_t parity_ = 0;
  bool moved_ = false;    ///< the last swap is not yet written down
  bool unsaved_ = false;  ///< the clerk's: the tour is the best, and not yet written down as such
};

/// Mapping: a block a search; workers share the moves, and the places whose moves a swap changes. Synchronisation: two block barriers an
/// iteration. Cost: a read and eight minima for every four moves of a worker; five distances for each place and half of the touched places;
/// the latency of some 500 instructions of a worker.
template <bool Integral>
__global__ void __launch_bounds__(scan_threads<Integral>, 1)
    tsp_scan_kernel(const __grid_constant__ TspScanView<Integral> view, local_search::SearchProgress* all_progress,
                    local_search::Method method, std::int64_t limit) {
  extern __shared__ __align__(16) unsigned char scan_shared[];
  local_search::SearchProgress& progress = all_progress[blockIdx.x];
  if (progress.done(limit)) return;
  TspScan<Integral>(view, scan_shared).run(progress, method, limit);
}

}  // namespace vicinity::lsm
