#pragma once
// One search of the tuned travelling salesman as each of its blocks keeps it, how a launch takes it up and leaves it, and its books.
#include <cooperative_groups.h>

#include <cstdint>

#include "kernels/lsm/tuned/tsp/tsp_room.cuh"
#include "kernels/lsm/tuned/tsp/tsp_view.cuh"

namespace vicinity::lsm {

/// Each block keeps all places, and the rows of its share of them.
template <bool Integral, bool Resident>
class TspState {
 public:
  __device__ __forceinline__ TspState(const TspView<Integral>& view, unsigned char* shared)
      : view_(view),
        n_(view.tsp.n),
        search_(blockIdx.x / static_cast<unsigned>(view.blocks)),
        rank_(static_cast<int>(blockIdx.x) % view.blocks),
        first_(min(rank_ * view.share, n_)),
        last_(min(first_ + view.share, n_)),
        room_(*reinterpret_cast<TspRoom<Integral>*>(shared)),
        filter_(reinterpret_cast<std::uint32_t*>(shared + sizeof(TspRoom<Integral>))),
        rows_(Resident ? reinterpret_cast<Row*>(filter_ + filter_words) : view.rows + search_ * n_ + first_),
        places_(Resident ? reinterpret_cast<Place<Integral>*>(rows_ + row_slots(view.share))
                         : view.places + (search_ * static_cast<std::size_t>(view.blocks) + static_cast<std::size_t>(rank_)) * n_),
        swap_{n_} {}

 protected:
  static constexpr int threads = tsp_threads<Integral>, warps = threads / 32;

  [[nodiscard]] static __device__ __forceinline__ std::int32_t lane() { return static_cast<std::int32_t>(threadIdx.x % 32); }
  [[nodiscard]] static __device__ __forceinline__ std::int32_t warp() { return static_cast<std::int32_t>(threadIdx.x / 32); }
  [[nodiscard]] __device__ __forceinline__ bool clerk() const { return rank_ == 0 && threadIdx.x == threads - 32; }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t* own_filter() const {
    return view_.filters + (search_ * static_cast<std::size_t>(view_.blocks) + static_cast<std::size_t>(rank_)) * filter_words;
  }
  [[nodiscard]] static __device__ __forceinline__ unsigned hash(std::int32_t a, std::int32_t b) {
    return (static_cast<unsigned>(min(a, b)) * 0x9E3779B1u ^ static_cast<unsigned>(max(a, b)) * 0x85EBCA77u) >> 16;
  }

  __device__ __forceinline__ void load(const local_search::SearchProgress& progress) {
    const int thread = static_cast<int>(threadIdx.x);
    for (std::size_t k = thread; k < sizeof room_.keys / sizeof(cuda::Word); k += threads) (&room_.keys[0][0][0])[k] = 0;
    for (std::size_t k = thread; k < sizeof room_.parts / sizeof(cuda::Word); k += threads) (&room_.parts[0][0])[k] = 0;
    if constexpr (Resident) {
      for (std::int32_t p = thread; p < n_; p += threads) places_[p] = view_.places[search_ * n_ + p];
      for (std::int32_t i = first_ + thread; i < last_; i += threads) rows_[i - first_] = view_.rows[search_ * n_ + i];
    }
    for (int k = thread; k < filter_words; k += threads) filter_[k] = own_filter()[k];
    if (clerk()) room_.progress = progress;
    now_ = static_cast<std::int32_t>(progress.iterations);
    value_ = progress.value;
    best_value_ = progress.best_value;
    set_threshold();
    meet();
  }
  __device__ __forceinline__ void store(local_search::SearchProgress& progress) {
    if (clerk() && moved_) write_down();
    __syncthreads();  // the filter has the last move
    if (rank_ == 0 && unsaved_) save_best();
    for (int k = static_cast<int>(threadIdx.x); k < filter_words; k += threads) own_filter()[k] = filter_[k];
    if (clerk()) progress = room_.progress;
    meet();  // nobody writes to the shared memory of a block that has left
  }
  /// All blocks of the search.
  __device__ __forceinline__ void meet() const {
#if __CUDA_ARCH__ >= 900
    if (view_.blocks > 1) cooperative_groups::this_cluster().sync();
#endif
    __syncthreads();
  }
  __device__ __forceinline__ void set_threshold() {
    const std::int64_t gap = best_value_ - value_;
    threshold_ = gap < -no_delta ? -no_delta : static_cast<std::int32_t>(gap);
  }

  /// Iteration that move (a, b) is tabu before. Taken moves have bits in the filter.
  [[nodiscard]] __device__ __forceinline__ std::int32_t until(std::int32_t a, std::int32_t b) const {
    const unsigned bit = hash(a, b);
    if ((filter_[bit / 32] >> bit % 32 & 1) == 0) return 0;
    return *view_.until_of(search_, a, b);
  }

  /// Writes the tour to where the best is kept; all threads of the first block.
  __device__ __forceinline__ void save_best() const {
    const std::size_t base = search_ * static_cast<std::size_t>(n_);
    __syncthreads();  // the last swap is written
    for (std::int32_t p = static_cast<std::int32_t>(threadIdx.x); p < n_; p += threads) view_.best[base + p] = view_.tour[base + p];
    __syncthreads();
  }
  [[nodiscard]] __device__ __forceinline__ bool has(std::int32_t place) const { return place >= first_ && place < last_; }
  /// Of the move taken last.
  [[nodiscard]] __device__ __forceinline__ std::int32_t tabu_end() const {
    return static_cast<std::int32_t>(local_search::tabu_until(now_ - 1, view_.tenure));
  }

  /// The clerk's account of the last swap.
  __device__ __forceinline__ void write_down() {
    room_.progress.take({value_, moves::index<2>(n_, {{swap_.r, swap_.s}}), false}, local_search::Method::tabu);
    std::int32_t* tour = view_.tour + search_ * static_cast<std::size_t>(n_);
    const std::int32_t at_r = tour[swap_.r], at_s = tour[swap_.s];
    tour[swap_.r] = at_s;
    tour[swap_.s] = at_r;
  }

  const TspView<Integral>& view_;
  const std::int32_t n_;
  const std::size_t search_;
  const int rank_;
  const std::int32_t first_, last_;  ///< its places
  TspRoom<Integral>& room_;
  std::uint32_t* const filter_;
  Row* const rows_;
  Place<Integral>* const places_;
  std::int32_t now_ = 0;        ///< the iteration to come
  std::int32_t threshold_ = 0;  ///< tabu moves with differences below this may be taken
  std::int64_t value_ = 0, best_value_ = 0;
  unsigned step_ = 0, scans_ = 0;
  Swapped<Integral> swap_;  ///< the last
  bool moved_ = false;      ///< the last swap is not yet written down
  bool unsaved_ = false;    ///< the tour is the best, and not yet written down as such
};

}  // namespace vicinity::lsm
