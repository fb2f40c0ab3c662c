#pragma once
// The published annealing: launch policy, what lies where, deltas from scratch, and the kernels that run before the search.
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/warp.cuh"
#include "kernels/sa/device.cuh"

namespace vicinity::sa {

/// Launch policy, used by kernels and launches alike.
struct PublishedPolicy {
  static constexpr int elements = 16;  ///< of the delta matrix, a thread takes at a time: in the update and in the search
  static constexpr int least_warps = 4, most_warps = 16;     ///< of a block; as few as let the blocks cover the matrix
  static constexpr int build_block = 256, build_blocks = 8;  ///< of the kernels before the search: threads; blocks a multiprocessor
};

/// What the kernels work on.
template <class T>
struct PublishedView {
  using Entry = typename T::Entry;
  using Delta = typename T::Delta;

  DeviceQap<Entry> placed;    ///< A and B'[i][j] = B[p[i]][p[j]], with their transposes where the instance is asymmetric
  Entry* b[2];                ///< B' once more, to write
  Delta* deltas;              ///< in the order of the proposals of a sweep: rows of the upper triangle, one after the other
  unsigned long long* first;  ///< [3] the first valid swap of a subset; subsets take turns
  bool staged;                ///< do rows r and s fit shared memory?
};

/// Sums and products of deltas are taken modulo 2^32 or 2^64: what they amount to fits, whatever happens on the way.
template <class T>
using Word = std::make_unsigned_t<typename T::Delta>;

template <class T>
[[nodiscard]] __device__ __forceinline__ Word<T> word(typename T::Entry entry) {
  return static_cast<Word<T>>(static_cast<typename T::Delta>(entry));
}

/// The rows of one facility of A and B' - and those of their transposes -, in shared or in device memory.
template <class T>
struct Rows {
  const typename T::Entry* a[T::sides];
  const typename T::Entry* b[T::sides];
};

template <class T>
[[nodiscard]] __device__ __forceinline__ Rows<T> rows_of(const PublishedView<T>& view, std::int32_t i) {
  Rows<T> rows;
  for (int side = 0; side < T::sides; ++side) {
    rows.a[side] = view.placed.a_row(side, i);
    rows.b[side] = view.placed.b_row(side, i);
  }
  return rows;
}

/// The delta of swapping i and j from scratch, by one warp, O(n): with v = e_i - e_j, of each side (A v)'(B' v) up to its sign, and
/// (v'A v)(v'B' v) for the terms that meet twice. The padding of rows is zero.
template <class T>
[[nodiscard]] __device__ __forceinline__ typename T::Delta whole_delta(const Rows<T>& x, const Rows<T>& y, std::int32_t i, std::int32_t j,
                                                                       std::int32_t chunks, int lane) {
  using Entry = typename T::Entry;
  using Delta = typename T::Delta;
  const auto load = [](const Entry* row, std::int32_t index) { return reinterpret_cast<const uint4*>(row)[index]; };
  Word<T> sum = 0;
  for (int side = 0; side < T::sides; ++side)
    for (std::int32_t c = lane; c < chunks; c += 32) {
      const uint4 ax = load(x.a[side], c), ay = load(y.a[side], c), bx = load(x.b[side], c), by = load(y.b[side], c);
      const auto product = [](uint4 a, uint4 b) { return static_cast<Word<T>>(dot<Entry, Delta>(a, b, Delta{0})); };
      sum += product(ax, by) + product(ay, bx) - product(ax, bx) - product(ay, by);
    }
  if constexpr (T::sides == 1) sum *= 2;
  if (lane == 0)
    sum += (word<T>(x.a[0][i]) + word<T>(y.a[0][j]) - word<T>(x.a[0][j]) - word<T>(y.a[0][i])) *
           (word<T>(x.b[0][i]) + word<T>(y.b[0][j]) - word<T>(x.b[0][j]) - word<T>(y.b[0][i]));
  return static_cast<Delta>(cuda::shuffled_sum(sum));
}

// --- before the search: B' and the deltas of the permutation the launch starts from ------------------------------------------------------

/// Mapping: a block a row after another, a thread the columns blockDim.x apart. Cost: n^2 gathers a side.
template <class T>
__global__ void __launch_bounds__(PublishedPolicy::build_block)
    place_kernel(const DeviceQap<typename T::Entry> qap, const PublishedView<T> view, const std::int32_t* p) {
  for (int side = 0; side < T::sides; ++side)
    for (std::int32_t i = blockIdx.x; i < qap.n; i += gridDim.x) {
      const typename T::Entry* from = qap.b_row(side, p[i]);
      typename T::Entry* to = view.b[side] + std::size_t(i) * qap.pitch;
      for (std::int32_t j = threadIdx.x; j < qap.pitch; j += blockDim.x) to[j] = j < qap.n ? from[p[j]] : 0;
    }
}

/// Mapping: a warp an element after another. Cost: O(n) an element, O(n^3) in all.
template <class T>
__global__ void __launch_bounds__(PublishedPolicy::build_block) deltas_kernel(const PublishedView<T> view) {
  const DeviceQap<typename T::Entry>& qap = view.placed;
  const int lane = threadIdx.x % 32;
  const std::int64_t pairs = annealing::pairs(qap.n), warps = std::int64_t(gridDim.x) * (blockDim.x / 32);
  for (std::int64_t index = std::int64_t(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32; index < pairs; index += warps) {
    const annealing::Swap swap = annealing::pair_at(qap.n, index);
    const auto delta = whole_delta<T>(rows_of(view, swap.r), rows_of(view, swap.s), swap.r, swap.s, qap.chunks(), lane);
    if (lane == 0) view.deltas[index] = delta;
  }
}

}  // namespace vicinity::sa
