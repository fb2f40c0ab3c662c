#pragma once
// The rows of each product as masks of bits, in shared memory, for the evaluators of singles.cu and pairs.cu.
//
// Data layout. A mask has a bit a row, set for the rows of one bin. There are two sets of masks in turns, zero beside the bins in use,
// which lie in the middle. What may be read after the last mask is spare.
//
// A flip of K columns moves a row by K bins at most, and by as many as it has positive entries there less negative ones. So a bin's next
// mask is made of the masks of K + 1 bins, two apart. Cost: a load and a store of shared memory a mask and 128 rows, and one block barrier.
#include <cstdint>

#include "core/problems/moves.hpp"
#include "core/util/math.hpp"
#include "kernels/lsm/tuned/ppp/search.cuh"

namespace vicinity::lsm::perceptron {

/// `Early`: masks are loaded while the columns are on their way, into registers that must be to spare.
template <int K, int Threads, bool Early = false>
class Masks {
 public:
  static_assert(K == 1 || K == 2);

  /// `edges`: in shared memory, [2][2 K], the last step in which the bins from `low` - K on, and those up to `high` + K, had rows.
  __device__ __forceinline__ Masks(const Matrix& matrix, const SharedLayout& layout, Groups& groups, std::int32_t* edges)
      : matrix_(matrix), layout_(layout), groups_(groups), edges_(edges) {
    const std::int32_t quads = matrix.column_pitch / 4, run = static_cast<std::int32_t>(threadIdx.x) / quads;
    const std::int32_t runs = Threads / quads / 2 * 2;
    quad_ = static_cast<std::int32_t>(threadIdx.x) % quads;
    first_mask_ = run < runs ? run / 2 * 2 * masks_of_run + run % 2 : matrix.n + 2 * margin;
    masks_at_once_ = runs * masks_of_run;
  }

  /// Adds two sets of masks to the layout, if they fit: for as many bins as are usual, and some more on either side. `spare`: words that
  /// may be read after the last.
  static void add_to(SharedLayout& layout, std::int32_t m, std::int32_t n, std::int64_t spare) {
    const std::int32_t quads = divide_up(m, 128);
    layout.mask_pitch = 4 * (quads + (quads + 1) % 2);  // the same words of eight masks lie in different banks
    const std::int64_t room = spare + 16 * layout.mask_pitch, wanted = usual_spread(n) + 2 * reach;
    const std::int64_t fit = ((std::int64_t{layout_limit()} - layout.bytes) / 4 - room) / (2 * layout.mask_pitch);
    if (2 * fit < wanted) return;
    layout.mask_rows = static_cast<std::int32_t>(std::min(fit, wanted));
    layout.masks = layout.add(std::int64_t{2 * layout.mask_rows} * layout.mask_pitch + room, 4);
  }

  /// From the positive entries of the rows, after SortedRows::init(). False when the masks do not fit. Ends with a barrier.
  [[nodiscard]] __device__ __forceinline__ bool init() {
    const std::uint16_t* positive = shared_at<std::uint16_t>(layout_.positive);
    std::int32_t least = matrix_.n + margin, most = 0;
    for (std::int32_t row = static_cast<std::int32_t>(threadIdx.x); row < matrix_.m; row += Threads) {
      least = min(least, positive[row] + margin);
      most = max(most, positive[row] + margin);
    }
    atomicMin(&groups_.low, least);
    atomicMax(&groups_.high, most);
    if (threadIdx.x < 4 * K) edges_[threadIdx.x] = 0;
    __syncthreads();
    low_ = groups_.low;
    high_ = groups_.high;
    const bool hold_all = layout_.mask_rows >= matrix_.n + 1 + 2 * reach;
    origin_ = hold_all ? margin - reach : low_ - (layout_.mask_rows - (high_ - low_ + 1)) / 2;
    if (!fit()) return false;
    for (std::int32_t k = static_cast<std::int32_t>(threadIdx.x); k < 2 * layout_.mask_rows * layout_.mask_pitch; k += Threads)
      set(0)[k] = 0;
    __syncthreads();
    for (std::int32_t row = static_cast<std::int32_t>(threadIdx.x); row < matrix_.m; row += Threads)
      atomicOr(set(now_) + (positive[row] + margin - origin_) * layout_.mask_pitch + row / 32, 1u << row % 32);
    __syncthreads();
    return true;
  }

  /// Before update(): loads what it begins with.
  __device__ __forceinline__ void prefetch(const moves::Move<K>& move) {
#pragma unroll
    for (int f = 0; f < K; ++f)
      column_[f] = __ldg(reinterpret_cast<const uint4*>(matrix_.by_column + move.at[f] * matrix_.column_pitch) + quad_);
    if constexpr (Early)
      if (first_mask_ <= high_ - low_ + 2 * K) load_run(first_mask_, run_);
  }
  /// Makes the masks after the flips of `move`, of which `negative` has the new signs. False, and nothing done, when the masks do not fit.
  /// Mapping: a thread four words of a run of masks, every other one. Ends with a barrier.
  [[nodiscard]] __device__ __forceinline__ bool update(const moves::Move<K>& move) {
    if (!fit()) return false;
    const std::int32_t pitch = layout_.mask_pitch / 4, masks = high_ - low_ + 1 + 2 * K;  // from bin low_ - K on
    uint4 up[K];                                                                          // rows whose entry is positive now
#pragma unroll
    for (int f = 0; f < K; ++f) up[f] = positive_after(move, f);
    uint4* const to = reinterpret_cast<uint4*>(set(1 - now_)) + (low_ - K - origin_) * pitch + quad_;
    ++step_;
    for (std::int32_t first = first_mask_; first < masks; first += masks_at_once_) {
      Run run;
      if constexpr (Early) {
        if (first != first_mask_) load_run(first, run_);
        for (int k = 0; k < masks_of_run + K; ++k) run[k] = run_[k];
      } else {
        load_run(first, run);
      }
#pragma unroll
      for (int k = 0; k < masks_of_run; ++k) {
        const std::int32_t mask = first + 2 * k;
        if (mask >= masks) break;
        const uint4 next{word_of(run + k, up, [](const uint4& words) { return words.x; }),
                         word_of(run + k, up, [](const uint4& words) { return words.y; }),
                         word_of(run + k, up, [](const uint4& words) { return words.z; }),
                         word_of(run + k, up, [](const uint4& words) { return words.w; })};
        to[mask * pitch] = next;
        const std::int32_t from_end = masks - 1 - mask;
        if ((mask >= 2 * K && from_end >= 2 * K) || (next.x | next.y | next.z | next.w) == 0) continue;
        if (mask < 2 * K) edges_[mask] = step_;
        if (from_end < 2 * K) edges_[2 * K + from_end] = step_;
      }
    }
    __syncthreads();
    now_ = 1 - now_;
    low_ += distance_of_edge(edges_);
    high_ -= distance_of_edge(edges_ + 2 * K);
    return true;
  }

  /// The bins of the least and the greatest product.
  [[nodiscard]] __device__ __forceinline__ std::int32_t low() const { return low_; }
  [[nodiscard]] __device__ __forceinline__ std::int32_t high() const { return high_; }
  [[nodiscard]] __device__ __forceinline__ const std::uint32_t* at(std::int32_t bin) const {
    return set(now_) + (bin - origin_) * layout_.mask_pitch;
  }
  /// Between prefetch() and update(): the place of this thread's four words, those of neighbouring threads side by side, and which of their
  /// rows have a positive entry after a flip of `move`.
  [[nodiscard]] __device__ __forceinline__ std::int32_t quad() const { return quad_; }
  [[nodiscard]] __device__ __forceinline__ uint4 positive_after(const moves::Move<K>& move, int f) const {
    const std::uint32_t sign = sign_of(move.at[f]);
    return {column_[f].x ^ sign, column_[f].y ^ sign, column_[f].z ^ sign, column_[f].w ^ sign};
  }
  /// All ones for -1.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t sign_of(std::int32_t column) const {
    return 0u - (shared_at<std::uint32_t>(layout_.negative)[column / 32] >> column % 32 & 1);
  }

 private:
  static constexpr int masks_of_run = 1024 / Threads;
  using Run = uint4[masks_of_run + K];              ///< four words of masks
  static constexpr std::int32_t reach = 2 * K + 1;  ///< bins on either side that are zero or may be written

  [[nodiscard]] __device__ __forceinline__ bool fit() const {
    return low_ - reach >= origin_ && high_ + reach < origin_ + layout_.mask_rows;
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t* set(std::int32_t k) const {
    return shared_at<std::uint32_t>(layout_.masks) + k * layout_.mask_rows * layout_.mask_pitch;
  }
  /// What a run is made of: every other mask from that of bin low_ - 2 K + `first` on.
  __device__ __forceinline__ void load_run(std::int32_t first, Run& run) const {
    const std::int32_t pitch = layout_.mask_pitch / 4;
    const uint4* const from = reinterpret_cast<const uint4*>(set(now_)) + (low_ - 2 * K - origin_ + first) * pitch + quad_;
#pragma unroll
    for (int k = 0; k < masks_of_run + K; ++k) run[k] = from[2 * k * pitch];
  }
  /// A word of a bin's next mask, from the masks around it.
  template <class Word>
  [[nodiscard]] __device__ __forceinline__ std::uint32_t word_of(const uint4* run, const uint4 (&up)[K], const Word& word) const {
    const std::uint32_t a = word(up[0]), below = word(run[0]), next = word(run[1]);
    if constexpr (K == 1) return (below & a) | (next & ~a);
    const std::uint32_t b = word(up[K - 1]);
    return (below & a & b) | (next & (a ^ b)) | (word(run[K]) & ~(a | b));
  }
  /// By how many bins the first with rows has come nearer to the middle.
  [[nodiscard]] __device__ __forceinline__ std::int32_t distance_of_edge(const std::int32_t* edge) const {
    std::int32_t distance = K;
#pragma unroll
    for (int k = 2 * K - 1; k >= 0; --k)
      if (edge[k] == step_) distance = k - K;
    return distance;
  }

 protected:
  const Matrix& matrix_;
  const SharedLayout& layout_;
  std::int32_t low_ = 0, high_ = 0;

 private:
  Groups& groups_;
  std::int32_t* edges_;
  std::int32_t step_ = 0;                           ///< updates made
  std::int32_t now_ = 0, origin_ = 0;               ///< the set in use, the bin of its first mask
  std::int32_t quad_, first_mask_, masks_at_once_;  ///< of this thread in update()
  uint4 column_[K]{};                               ///< four words of the columns that are flipped
  Run run_{};                                       ///< loaded early
};

}  // namespace vicinity::lsm::perceptron
