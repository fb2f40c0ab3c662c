#pragma once
// Annealing as published (Paul, section 3), errata mended: the matrix of all deltas in device memory, updated by the whole grid after each
// accepted swap and searched by the whole grid for the next one. docs/errata.md lists what the paper leaves open.
#include <cooperative_groups.h>

#include <cstdint>

#include "kernels/sa/published/published_search.cuh"

namespace vicinity::sa {

// --- update ------------------------------------------------------------------------------------------------------------------------------

/// Swaps r and s in the permutation and in B': rows and columns (the errata's reading of equation 3). Mapping: a thread a column of the two
/// rows and a row of the two columns. What the columns hold is read from the rows of the other side. Cost: O(n).
template <class T>
__device__ __forceinline__ void swap_places(const PublishedView<T>& view, std::int32_t* p, annealing::Swap swap) {
  const std::int32_t n = view.placed.n, pitch = view.placed.pitch, r = swap.r, s = swap.s;
  const auto exchange = [](auto& x, auto& y) {
    const auto old = x;
    x = y;
    y = old;
  };
  for (std::int32_t k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x) {
    if (k == s) continue;
    if (k == r) {
      exchange(p[r], p[s]);
      for (int side = 0; side < T::sides; ++side) {
        typename T::Entry *row_r = view.b[side] + std::size_t(r) * pitch, *row_s = view.b[side] + std::size_t(s) * pitch;
        exchange(row_r[r], row_s[s]);
        exchange(row_r[s], row_s[r]);
      }
      continue;
    }
    typename T::Entry of_r[T::sides], of_s[T::sides];
    for (int side = 0; side < T::sides; ++side) {
      of_r[side] = view.b[side][std::size_t(r) * pitch + k];
      of_s[side] = view.b[side][std::size_t(s) * pitch + k];
    }
    for (int side = 0; side < T::sides; ++side) {
      const int other = T::sides - 1 - side;
      view.b[side][std::size_t(r) * pitch + k] = of_s[side];
      view.b[side][std::size_t(s) * pitch + k] = of_r[side];
      view.b[side][std::size_t(k) * pitch + r] = of_s[other];
      view.b[side][std::size_t(k) * pitch + s] = of_r[other];
    }
  }
}

/// Copies row i of each side to shared memory: A's, or B's, `to` on. Barrier: the caller's.
template <class T>
__device__ __forceinline__ void stage(const PublishedView<T>& view, bool of_b, std::int32_t i, uint4* to) {
  const std::int32_t chunks = view.placed.chunks();
  for (int side = 0; side < T::sides; ++side) {
    const auto* from = reinterpret_cast<const uint4*>(of_b ? view.placed.b_row(side, i) : view.placed.a_row(side, i));
    for (std::int32_t c = threadIdx.x; c < chunks; c += blockDim.x) to[side * chunks + c] = from[c];
  }
}

/// Where the rows of r (which = 0) and s (1) lie in shared memory: A's of all sides, then B's.
template <class T>
[[nodiscard]] __device__ __forceinline__ Rows<T> staged_rows(const PublishedView<T>& view, const uint4* staged, int which) {
  Rows<T> rows;
  for (int side = 0; side < T::sides; ++side) {
    const auto row = [&](int matrix) {
      return reinterpret_cast<const typename T::Entry*>(staged + ((2 * matrix + which) * T::sides + side) * view.placed.chunks());
    };
    rows.a[side] = row(0);
    rows.b[side] = row(1);
  }
  return rows;
}

/// Recomputes the deltas of pairs with r or s. Mapping: a warp an element after another. Cost: O(n) an element, 2n - 3 elements.
template <class T>
__device__ __forceinline__ void recompute_deltas(const PublishedView<T>& view, const Rows<T>& rows_r, const Rows<T>& rows_s,
                                                 annealing::Swap swap, std::int32_t warp, std::int32_t warps, int lane) {
  const std::int32_t n = view.placed.n, chunks = view.placed.chunks();
  for (std::int32_t m = warp; m < 2 * n; m += warps) {
    const bool of_r = m < n;
    const std::int32_t i = of_r ? swap.r : swap.s, j = of_r ? m : m - n;
    if (j == i || (!of_r && j == swap.r)) continue;
    const Rows<T> others = rows_of(view, j);
    const auto delta = of_r ? whole_delta<T>(rows_r, others, i, j, chunks, lane) : whole_delta<T>(rows_s, others, i, j, chunks, lane);
    if (lane == 0) view.deltas[annealing::pair_index(n, min(i, j), max(i, j))] = delta;
  }
}

/// Updates sixteen rows of one column j, of the pairs without r and s (Taillard 1991). B' has r and s swapped already, hence the signs.
template <class T>
__device__ __forceinline__ void update_column(const PublishedView<T>& view, const Rows<T>& r, const Rows<T>& s, annealing::Swap swap,
                                              std::int32_t first, std::int32_t j) {
  constexpr int elements = PublishedPolicy::elements;
  const std::int32_t n = view.placed.n;
  if (j >= n || j == swap.r || j == swap.s) return;
  typename T::Delta* deltas = view.deltas + annealing::pair_index(n, first, j);
  const auto behind = [&](int k) { return k * (n - first - 2) - k * (k - 1) / 2; };  // from (first, j) to (first + k, j)
  const auto ours = [&](std::int32_t i) { return i < j && i != swap.r && i != swap.s; };
  Word<T> updated[elements];
  for (int k = 0; k < elements; ++k) updated[k] = ours(first + k) ? static_cast<Word<T>>(deltas[behind(k)]) : 0;
  for (int side = 0; side < T::sides; ++side) {
    const auto of_a = [&](std::int32_t i) { return word<T>(r.a[side][i]) - word<T>(s.a[side][i]); };
    const auto of_b = [&](std::int32_t i) { return word<T>(s.b[side][i]) - word<T>(r.b[side][i]); };
    const Word<T> a = of_a(j), b = of_b(j);
    for (int k = 0; k < elements; ++k)
      if (ours(first + k)) updated[k] += (T::sides == 1 ? 2 : 1) * (a - of_a(first + k)) * (b - of_b(first + k));
  }
  for (int k = 0; k < elements; ++k)
    if (ours(first + k)) deltas[behind(k)] = static_cast<typename T::Delta>(updated[k]);
}

/// Updates all deltas. Mapping: a thread has sixteen elements with one facility given and a range of the other, and neighbouring threads
/// neighbouring given ones - the given one is the column of the triangle, so that a warp's accesses are contiguous. A warp takes tiles of
/// 16 rows and 32 columns on or above the diagonal, 2c + 2 of them in the c-th 32 columns. Cost: 4 sides rows' entries an element.
template <class T>
__device__ __forceinline__ void update_deltas(const PublishedView<T>& view, const Rows<T>& r, const Rows<T>& s, annealing::Swap swap) {
  const int lane = threadIdx.x % 32;
  const auto warp = static_cast<std::int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  const auto warps = static_cast<std::int32_t>(gridDim.x * blockDim.x / 32);
  const std::int32_t columns = divide_up(view.placed.n, 32), tiles = columns * (columns + 1);
  recompute_deltas(view, r, s, swap, warp, warps, lane);
  std::int32_t c = 0;
  for (std::int32_t tile = warp; tile < tiles; tile += warps) {
    while ((c + 1) * (c + 2) <= tile) ++c;
    update_column(view, r, s, swap, (tile - c * (c + 1)) * PublishedPolicy::elements, 32 * c + lane);
  }
}

// --- the chain ---------------------------------------------------------------------------------------------------------------------------

/// One chain, from state[chain].next to `limit`. Mapping: the whole grid, at most a block a multiprocessor; see valid_swap, swap_places and
/// update_deltas. Synchronisation: a grid barrier after each subset, when the next swap is known; if there is one, another after the update
/// of B' and one after the update of the deltas. Cost of an accepted swap: three grid barriers, n^2/2 deltas read and written and, for the
/// 2n - 3 recomputed ones, all of A and B' read; of a subset: one grid barrier, its deltas read and a Philox block for four proposals.
template <class T>
__global__ void __launch_bounds__(32 * PublishedPolicy::most_warps)
    anneal_published(const PublishedView<T> view, const Chains chains, const std::int64_t chain, const std::int64_t limit) {
  extern __shared__ uint4 staged[];
  __shared__ Subset subset;
  __shared__ unsigned long long keys[PublishedPolicy::most_warps];
  __shared__ alignas(ChainState) unsigned char state_bytes[sizeof(ChainState)];
  ChainState& state = *reinterpret_cast<ChainState*>(state_bytes);
  const cg::grid_group grid = cg::this_grid();
  const std::int32_t n = view.placed.n, side_chunks = T::sides * view.placed.chunks();
  std::int32_t* current = chains.current + chain * n;
  std::int32_t* best = chains.best + chain * n;
  const bool first_thread = threadIdx.x == 0;

  if (first_thread) {
    state = chains.state[chain];
    subset.start(state, n, limit);
  }
  __syncthreads();
  for (int slot = 0; subset.next < limit; slot = (slot + 1) % 3) {
    // Identify the next swap. A slot serves every third subset: it is cleared one subset ahead, when all have read it.
    const unsigned long long own = first_of_block(valid_swap(view, subset), keys);
    if (own != Key::none) atomicMin(&view.first[slot], own);
    if (first_thread && blockIdx.x == 0) view.first[(slot + 1) % 3] = Key::none;
    grid.sync();
    const unsigned long long key = *static_cast<volatile unsigned long long*>(&view.first[slot]);
    if (key == Key::none) {
      if (first_thread) pass_over(view, state, subset, limit);
      __syncthreads();
      continue;
    }

    // Update p and B'; A's rows do not wait for that.
    const annealing::Swap swap = Key::swap(key);
    if (first_thread) take(view, state, subset, limit, key);
    swap_places(view, current, swap);
    for (int which = 0; which < 2 && view.staged; ++which) stage(view, false, which == 0 ? swap.r : swap.s, staged + which * side_chunks);
    grid.sync();

    // Update the deltas.
    if (view.staged) {
      for (int which = 0; which < 2; ++which) stage(view, true, which == 0 ? swap.r : swap.s, staged + (2 + which) * side_chunks);
      __syncthreads();
      update_deltas(view, staged_rows(view, staged, 0), staged_rows(view, staged, 1), swap);
    } else {
      update_deltas(view, rows_of(view, swap.r), rows_of(view, swap.s), swap);
    }
    if (subset.improved)
      for (std::int32_t k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x) best[k] = current[k];
    grid.sync();
  }
  if (first_thread && blockIdx.x == 0) chains.state[chain] = state;
}

}  // namespace vicinity::sa
