#pragma once
// What the tuned search of the QAP in one block or cluster is made of: who does what, what lies in shared memory, how threads agree on a
// choice.
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/methods/lsm/search.hpp"
#include "kernels/cuda/warp.cuh"
#include "kernels/cuda/words.cuh"
#include "kernels/lsm/tuned/qap/qap_searches.cuh"

namespace vicinity::lsm {

/// How a block, or each of the blocks of a cluster, is shared out:
///   owners   each has a column j and up to `rows` consecutive rows i of the pairs i < j: their deltas, their F[i][j], which are tabu;
///   heads    a thread a facility: its location, F[x][x], what the last swap means for it, its pairs with the two that swapped;
///   a clerk  the progress.
/// In a cluster the owners are spread over the blocks, every block has all heads, and the pairs of a head are followed in one of them.
struct QapBlockPolicy {
  static constexpr std::int32_t warp = 32, clerks = warp;

  std::int32_t n, rows, blocks, owners, heads;

  QapBlockPolicy(std::int32_t size, std::int32_t rows_each, std::int32_t in_cluster)
      : n(size), rows(rows_each), blocks(in_cluster), heads(divide_up(size, warp) * warp) {
    owners = divide_up(divide_up(before(divide_up(n - 1, rows)), blocks), warp) * warp;
  }
  [[nodiscard]] __host__ __device__ std::int32_t threads() const { return owners + heads + clerks; }
  /// Facilities, and the rows of owners that are none; even.
  [[nodiscard]] __host__ __device__ std::int32_t pitch() const { return (n + rows + 2) / 2 * 2; }
  /// Owners of rows before those of strip `strip`, which are strip * rows and after.
  [[nodiscard]] __host__ __device__ __forceinline__ std::int32_t before(std::int32_t strip) const {
    return strip * (n - 1) - rows * (strip * (strip - 1) / 2);
  }
  /// The block that has the pair i < j.
  [[nodiscard]] __device__ __forceinline__ std::int32_t block_of(std::int32_t i, std::int32_t j) const {
    const std::int32_t strip = i / rows;
    return (before(strip) + j - 1 - strip * rows) / owners;
  }
  /// The block that follows the pairs of facility x.
  [[nodiscard]] __device__ __forceinline__ std::int32_t home_of(std::int32_t x) const { return x & (blocks - 1); }
  /// So many leave enough registers for all.
  [[nodiscard]] static constexpr int most_threads(std::size_t delta_bytes, int rows_each) {
    const int numbers = static_cast<int>(delta_bytes) / 4 * rows_each;
    return numbers <= 8 ? 1024 : numbers <= 24 ? 768 : 640;
  }
};

/// What an owner keeps of a pair: delta, slot and whether it is forbidden in one unsigned number, in the order of choices, to which the
/// change of a delta can be added. The block computes with deltas and F scaled by 2^slot_bits. Forbidden keys are above free ones;
/// `garbage`, which stands where there is no pair or its delta is not known at present, is above both, whatever swaps add to it:
/// deltas are below `limit` in magnitude, and so are their changes.
template <class D, int Rows>
struct QapKeys {
  using Delta = D;
  using Key = std::make_unsigned_t<D>;
  static constexpr int slot_bits = Rows <= 4 ? 2 : Rows <= 8 ? 3 : Rows <= 16 ? 4 : 5;
  static constexpr D scale = D{1} << slot_bits;
  static constexpr Key bias = Key{1} << (8 * sizeof(D) - 4), tabu = 2 * bias, garbage = 8 * bias;
  static constexpr D limit = static_cast<D>(bias >> slot_bits);

  /// Beside the scaled delta.
  static constexpr Key slot_mask = static_cast<Key>(scale - 1), marks = tabu | slot_mask;
  [[nodiscard]] static __device__ __forceinline__ Key of(D scaled, Key marks_of_pair) {
    return static_cast<Key>(scaled) + bias + marks_of_pair;
  }
  [[nodiscard]] static __device__ __forceinline__ D scaled(Key key) { return static_cast<D>((key & ~marks) - bias); }

  /// Without the slot, as keys of different threads compare.
  [[nodiscard]] static __device__ __forceinline__ Key value(Key key) { return key >> slot_bits; }
  [[nodiscard]] static __device__ __forceinline__ D delta(Key value) { return scaled(value << slot_bits) >> slot_bits; }
};

/// The best pair of a thread, a warp or all: QapKeys::value, then i and j, whose order is that of move numbers.
template <class Key>
struct alignas(2 * sizeof(Key)) QapFound {
  static constexpr std::uint32_t flag = std::uint32_t{1} << 31;  ///< there is a tabu pair that leads below the best of the search

  Key value = ~Key{0};
  std::uint32_t pair = ~flag;

  [[nodiscard]] static __device__ __forceinline__ std::uint32_t pair_of(std::int32_t i, std::int32_t j) {
    return static_cast<std::uint32_t>(i << 16 | j);
  }
  [[nodiscard]] __device__ __forceinline__ bool before(const QapFound& other) const {
    return value < other.value || (value == other.value && pair < other.pair);
  }
};

template <class Key>
[[nodiscard]] __device__ __forceinline__ QapFound<Key> least_of_warp(const QapFound<Key>& mine) {
  QapFound<Key> least;
  least.value = cuda::warp_min(mine.value);
  least.pair = cuda::warp_min(mine.value == least.value ? mine.pair : ~0u);
  return least;
}

/// All warps of the block or cluster, wherever each of them is in the code.
template <bool Cluster>
__device__ __forceinline__ void barrier_of_all() {
#if __CUDA_ARCH__ >= 900
  if constexpr (Cluster) {
    asm volatile("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;" ::: "memory");
    return;
  }
#endif
  asm volatile("barrier.sync 0;" ::: "memory");
}
/// The block's number in its cluster.
template <bool Cluster>
[[nodiscard]] __device__ __forceinline__ std::int32_t rank_of_block(std::int32_t blocks) {
  return Cluster ? static_cast<std::int32_t>(blockIdx.x) % blocks : 0;
}
/// What `place` is in block `rank` of the cluster.
template <bool Cluster, class T>
[[nodiscard]] __device__ __forceinline__ T& in_block(T& place, [[maybe_unused]] std::int32_t rank) {
  if constexpr (Cluster) return *cuda::in_block(&place, rank);
  return place;
}

/// What owners keep of a pair, and what owners and heads tell each other of one of which a facility swapped. `x` is F[i][j], i < j, scaled.
template <class Delta>
struct alignas(2 * sizeof(Delta)) QapPair {
  std::make_unsigned_t<Delta> key;
  Delta x;
};

/// Shared memory of a block, laid out one array after the other.
template <class Types>
class QapBlockShared {
 public:
  using Delta = typename Types::Delta;
  using Found = QapFound<std::make_unsigned_t<Delta>>;

  /// [row or column of the pair][r or s, the other][facility]: pairs that are touched by a swap, before and after. What owners say of
  /// places that are no pairs is never read.
  QapPair<Delta>*before, *after;
  Change<Types>* changes;      ///< [facility], of scaled deltas; zero where there is none
  Found *found, *found_again;  ///< [block][warp]: the best, and the best as if no pair were tabu
  Delta* diagonal;             ///< [facility]: F[x][x], scaled
  Delta *a, *b;                ///< [facility]: A[x][x], B[p_x][p_x]
  std::int32_t* p;             ///< [facility]
  std::int32_t* until;         ///< [owner][row of an owner]: of tabu pairs

  __host__ __device__ __forceinline__ QapBlockShared(std::byte* memory, const QapBlockPolicy& policy)
      : pitch_(policy.pitch()), end_(memory) {
    take(before, 4 * pitch_);
    take(after, 4 * pitch_);
    take(changes, pitch_);
    take(found, 32 * policy.blocks);
    take(found_again, 32 * policy.blocks);
    take(diagonal, policy.n);
    take(a, policy.n);
    take(b, policy.n);
    take(p, policy.n);
    take(until, policy.rows * policy.owners);
  }
  [[nodiscard]] static std::size_t bytes(const QapBlockPolicy& policy) {
    return static_cast<std::size_t>(QapBlockShared(nullptr, policy).end_ - static_cast<std::byte*>(nullptr));
  }

  /// Where `before` and `after` have the pair of facility `x`, its row or column, and s or r.
  [[nodiscard]] __device__ __forceinline__ std::int32_t place(bool column, bool with_s, std::int32_t x) const {
    return ((column ? 2 : 0) + (with_s ? 1 : 0)) * pitch_ + x;
  }

 private:
  template <class T>
  __host__ __device__ __forceinline__ void take(T*& array, std::int32_t size) {
    array = reinterpret_cast<T*>(end_);
    end_ += (static_cast<std::size_t>(size) * sizeof(T) + 15) / 16 * 16;
  }
  std::int32_t pitch_;
  std::byte* end_;
};

/// What every thread knows of a search: the swap that was taken last, and whether it goes on.
template <class Keys>
struct QapCourse {
  using Delta = typename Keys::Delta;
  using Key = typename Keys::Key;

  std::int32_t r = -1, s = -1;  ///< r < s; none: -1
  std::int32_t taken;           ///< moves taken
  std::int32_t limit;
  std::int32_t tenure;  ///< 0: a hill climbing
  Delta gap;            ///< best value - current value
  bool improved = false;

  [[nodiscard]] __device__ __forceinline__ bool is_tabu_search() const { return tenure > 0; }
  /// Keys below lead below the best of the search: such a pair is not forbidden although it is tabu.
  [[nodiscard]] __device__ __forceinline__ Key aspiration() const { return gap <= -Keys::limit ? 0 : Keys::of(gap * Keys::scale, 0); }
  [[nodiscard]] __device__ __forceinline__ std::int32_t until() const { return taken + tenure; }

  __device__ __forceinline__ void take(std::uint32_t pair, Delta delta) {
    r = static_cast<std::int32_t>(pair >> 16);
    s = static_cast<std::int32_t>(pair & 0xFFFFu);
    ++taken;
    gap -= delta;
    improved = gap > 0;
    if (improved) gap = 0;
  }
};

}  // namespace vicinity::lsm
