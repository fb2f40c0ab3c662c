// Implementation `gpu`: annealing as published (Paul, section 3), errata mended. docs/errata.md lists what the paper leaves open.
//
// Problem: proposals are decided in order; the next accepted one is found among thousands at a time, and all deltas are kept up to date.
// Data layout: the matrix of all deltas in device memory, in the order of the proposals of a sweep; A, and B' = B as the permutation puts
// it, so that all rows are read in order; the rows of the swapped facilities in shared memory, where they fit.
// Phases: B' and all deltas from scratch at the start of a launch; then, by the whole grid: the first valid swap of a subset of proposals
// (valid_swap); if there is one, the permutation and B' follow (swap_locations), then the deltas (update_deltas).
// Synchronisation: a grid barrier after each subset, and two more for an accepted swap.
// Cost of an accepted swap: three grid barriers, n^2/2 deltas read and written and, for the 2n - 3 recomputed ones, all of A and B' read;
// of a subset: one grid barrier, its deltas read and a Philox block for four proposals.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "kernels/cuda/collective/warp.cuh"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/sa/device.cuh"
#include "kernels/sa/implementations.hpp"
#include "kernels/sa/run.cuh"

namespace vicinity::sa {
namespace {

namespace cg = cooperative_groups;

/// Launch policy, for kernels and launches alike.
struct PublishedPolicy {
  static constexpr int elements = 16;  ///< of the matrix of deltas, a thread takes at a time: in the update and in the search
  static constexpr int least_warps = 4, most_warps = 16;     ///< of a block; as few as let the blocks cover the matrix
  static constexpr int build_block = 256, build_blocks = 8;  ///< of the kernels before the search: threads; blocks a multiprocessor

  int multiprocessors, warps, blocks;
  bool staged;               ///< do rows r and s fit shared memory?
  std::size_t shared_bytes;  ///< of a block, for them

  [[nodiscard]] Policy record() const {
    return {{"block", 32 * warps},
            {"blocks", blocks},
            {"elements", elements},
            {"shared_bytes", static_cast<std::int64_t>(shared_bytes)},
            {"rows_in_shared", staged}};
  }
};

/// What the kernels work on.
template <ElementTypes T>
struct PublishedView {
  using Entry = typename T::Entry;
  using Delta = typename T::Delta;

  DeviceQap<Entry> permuted;  ///< A and B'[i][j] = B[p[i]][p[j]], with their transposes where the instance is asymmetric
  Entry* b[2];                ///< B' once more, to write
  Delta* deltas;              ///< in the order of the proposals of a sweep: rows of the upper triangle, one after the other
  unsigned long long* first;  ///< [3] the first valid swap of a subset; subsets take turns
  bool staged;                ///< do rows r and s fit shared memory?
};

/// Sums and products of deltas are taken modulo 2^32 or 2^64: what they amount to fits, whatever happens on the way.
template <ElementTypes T>
using Word = std::make_unsigned_t<typename T::Delta>;

template <ElementTypes T>
[[nodiscard]] __device__ __forceinline__ Word<T> word(typename T::Entry entry) {
  return static_cast<Word<T>>(static_cast<typename T::Delta>(entry));
}

/// The rows of one facility of A and B' - and those of their transposes -, in shared or in device memory.
template <ElementTypes T>
struct FacilityRows {
  const typename T::Entry* a[T::sides];
  const typename T::Entry* b[T::sides];
};

template <ElementTypes T>
[[nodiscard]] __device__ __forceinline__ FacilityRows<T> rows_of(const PublishedView<T>& view, std::int32_t i) {
  FacilityRows<T> rows;
  for (int side = 0; side < T::sides; ++side) {
    rows.a[side] = view.permuted.a_row(side, i);
    rows.b[side] = view.permuted.b_row(side, i);
  }
  return rows;
}

/// The delta of swapping i and j from scratch, by one warp, O(n): with v = e_i - e_j, of each side (A v)'(B' v) up to its sign, and
/// (v'A v)(v'B' v) for the terms that meet twice. The padding of rows is zero.
template <ElementTypes T>
[[nodiscard]] __device__ __forceinline__ typename T::Delta whole_delta(const FacilityRows<T>& x, const FacilityRows<T>& y, std::int32_t i,
                                                                       std::int32_t j, std::int32_t chunks, int lane) {
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
template <ElementTypes T>
__global__ void __launch_bounds__(PublishedPolicy::build_block)
    permute_kernel(const DeviceQap<typename T::Entry> qap, const PublishedView<T> view, const std::int32_t* p) {
  for (int side = 0; side < T::sides; ++side)
    for (std::int32_t i = blockIdx.x; i < qap.n; i += gridDim.x) {
      const typename T::Entry* from = qap.b_row(side, p[i]);
      typename T::Entry* to = view.b[side] + std::size_t(i) * qap.pitch;
      for (std::int32_t j = threadIdx.x; j < qap.pitch; j += blockDim.x) to[j] = j < qap.n ? from[p[j]] : 0;
    }
}

/// Mapping: a warp an element after another. Cost: O(n) an element, O(n^3) in all.
template <ElementTypes T>
__global__ void __launch_bounds__(PublishedPolicy::build_block) deltas_kernel(const PublishedView<T> view) {
  const DeviceQap<typename T::Entry>& qap = view.permuted;
  const int lane = threadIdx.x % 32;
  const std::int64_t pairs = annealing::pairs(qap.n), warps = std::int64_t(gridDim.x) * (blockDim.x / 32);
  for (std::int64_t index = std::int64_t(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32; index < pairs; index += warps) {
    const annealing::Swap swap = annealing::pair_at(qap.n, index);
    const auto delta = whole_delta<T>(rows_of(view, swap.r), rows_of(view, swap.s), swap.r, swap.s, qap.chunks(), lane);
    if (lane == 0) view.deltas[index] = delta;
  }
}

// --- the next valid swap -----------------------------------------------------------------------------------------------

/// The proposals of one row of the triangle with columns 64 group ... 64 group + 63: what sixteen threads test with one Philox
/// block each, four proposals a thread. They are numbered in the order of their proposals, within a sweep.
struct RowRange {
  std::int32_t row, group;

  /// The first column.
  [[nodiscard]] VICINITY_HD std::int32_t first() const { return row + 1 > 64 * group ? row + 1 : 64 * group; }
};

struct RowRanges {
  static constexpr int threads = 16, proposals = 4;

  VICINITY_HD explicit RowRanges(std::int32_t size) : n(size), groups(divide_up(size, 64)) {}

  /// Rows whose first column, row + 1, lies in group g have groups - g ranges. There are 64 of each g, counting a row -1.
  [[nodiscard]] VICINITY_HD std::int32_t before(std::int32_t g) const { return 32 * g * (2 * groups - g + 1); }
  [[nodiscard]] VICINITY_HD std::int32_t number(RowRange at) const {
    const std::int32_t g = (at.row + 1) / 64;
    return before(g) + (at.row + 1) % 64 * (groups - g) + at.group - g - groups;
  }
  [[nodiscard]] VICINITY_HD std::int32_t count() const { return number({n - 1, n / 64}); }
  [[nodiscard]] VICINITY_HD RowRange at(std::int32_t number) const {
    std::int32_t low = 0, high = groups - 1;  // the group whose first row starts last, at or before the number
    while (low < high) {
      const std::int32_t middle = (low + high + 1) / 2;
      if (before(middle) <= number + groups)
        low = middle;
      else
        high = middle - 1;
    }
    const std::int32_t rest = number + groups - before(low), width = groups - low;
    return {64 * low + rest / width - 1, low + rest % width};
  }

  std::int32_t n, groups;
};

/// What a block knows of the proposals to come; every block has its own copy, and all are the same.
struct Subset {
  std::int64_t next, end;  ///< proposals next ... end - 1 may be decided at these temperatures, in this launch
  std::int64_t sweep;      ///< of `next`
  std::int32_t range;      ///< of `next`
  annealing::Cooling cooling;
  std::uint64_t seed;
  bool improved;  ///< is the permutation a new best?

  /// The next proposal is the swap of row and s in this sweep.
  __device__ void start(const ChainState& state, std::int32_t n, std::int64_t limit, std::int64_t in_sweep, annealing::Swap swap) {
    next = state.next;
    end = state.end(annealing::pairs(n), limit);
    sweep = in_sweep;
    range = RowRanges(n).number({swap.r, swap.s / 64});
    cooling = state.cooling;
    seed = state.seed;
  }
  __device__ void start(const ChainState& state, std::int32_t n, std::int64_t limit) {
    const std::int64_t pairs = annealing::pairs(n), in_sweep = state.next / pairs;
    start(state, n, limit, in_sweep, annealing::pair_at(n, state.next - in_sweep * pairs));
  }
};

/// A swap as a number: a proposal made earlier has a smaller one. Row and column have 16 bits (n <= 46340).
struct Key {
  static constexpr unsigned long long none = ~0ull;
  static constexpr int row_bit = 16, sweep_bit = 32;

  [[nodiscard]] static __device__ unsigned long long of(std::int64_t sweeps, std::int32_t row, std::int32_t s) {
    return static_cast<unsigned long long>(sweeps) << sweep_bit | static_cast<unsigned long long>(row) << row_bit |
           static_cast<unsigned long long>(s);
  }
  [[nodiscard]] static __device__ annealing::Swap swap(unsigned long long key) {
    return {static_cast<std::int32_t>(key >> row_bit & 0xFFFF), static_cast<std::int32_t>(key & 0xFFFF)};
  }
  [[nodiscard]] static __device__ std::int64_t sweeps(unsigned long long key) { return static_cast<std::int64_t>(key >> sweep_bit); }
};

/// The first valid swap among this thread's proposals of a range.
template <ElementTypes T>
[[nodiscard]] __device__ __forceinline__ unsigned long long valid_in(const PublishedView<T>& view, const Subset& subset, std::int64_t sweep,
                                                                     RowRange at, int thread) {
  const std::int32_t n = view.permuted.n;
  const std::int64_t start = annealing::row_start(n, at.row), first = sweep * annealing::pairs(n) + start;
  // Columns [from, to) of this row are in the subset.
  const std::int32_t from = at.row + 1 + static_cast<std::int32_t>(max(subset.next - first, std::int64_t{0}));
  const auto to = static_cast<std::int32_t>(min(subset.end - first + at.row + 1, std::int64_t{n}));
  const std::int32_t column = 64 * at.group + thread;
  if (column >= to || column + 48 < from) return Key::none;

  typename T::Delta deltas[RowRanges::proposals];
  for (int w = 0; w < RowRanges::proposals; ++w) {
    const std::int32_t s = column + 16 * w;
    deltas[w] = s >= from && s < to ? view.deltas[start + (s - at.row - 1)] : 0;
  }
  const Philox4 words = annealing::words(subset.seed, sweep, at.row, annealing::block_of(column));
  const annealing::RowTemperature temperature = annealing::row_temperature(subset.cooling, first);
  unsigned long long key = Key::none;
  for (int w = RowRanges::proposals - 1; w >= 0; --w) {
    const std::int32_t s = column + 16 * w;
    const bool accepted =
        annealing::accepts(deltas[w], annealing::inverse_temperature(temperature, s - at.row - 1), annealing::threshold(words.word[w]));
    if (accepted && s >= from && s < to) key = Key::of(sweep - subset.sweep, at.row, s);
  }
  return key;
}

/// Row ranges of a subset: every thread of the grid evaluates `elements` proposals.
[[nodiscard]] __device__ __forceinline__ std::int32_t ranges_a_thread() { return PublishedPolicy::elements / RowRanges::proposals; }
[[nodiscard]] __device__ __forceinline__ std::int32_t ranges_a_subset() {
  return static_cast<std::int32_t>(gridDim.x * blockDim.x) / RowRanges::threads * ranges_a_thread();
}

/// The first valid swap among this thread's proposals of the subset. Mapping: sixteen neighbouring threads take neighbouring ranges.
template <ElementTypes T>
[[nodiscard]] __device__ __forceinline__ unsigned long long valid_swap(const PublishedView<T>& view, const Subset& subset) {
  const RowRanges ranges(view.permuted.n);
  const std::int32_t team = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x) / RowRanges::threads;
  const std::int32_t count = ranges.count(), number = subset.range + team * ranges_a_thread();
  std::int64_t sweep = subset.sweep + number / count;
  RowRange at = ranges.at(number % count);
  unsigned long long key = Key::none;
  for (std::int32_t k = 0; k < ranges_a_thread() && key == Key::none; ++k) {
    key = valid_in(view, subset, sweep, at, threadIdx.x % RowRanges::threads);
    if (++at.group < ranges.groups) continue;
    if (++at.row == ranges.n - 1) {
      at.row = 0;
      ++sweep;
    }
    at.group = (at.row + 1) / 64;
  }
  return key;
}

/// The least key of the block, in its first thread. Barrier: one of the block.
[[nodiscard]] __device__ __forceinline__ unsigned long long first_of_block(unsigned long long key, unsigned long long* keys) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const unsigned long long first = cg::reduce(warp, key, cg::less<unsigned long long>());
  if (warp.thread_rank() == 0) keys[threadIdx.x / 32] = first;
  __syncthreads();
  if (threadIdx.x != 0) return Key::none;
  for (unsigned w = 1; w < blockDim.x / 32; ++w) keys[0] = min(keys[0], keys[w]);
  return keys[0];
}

// --- bookkeeping: one thread of each block, all with the same result -------------------------------------------------

/// No valid swap in the subset: goes on behind it, or stays where the temperature freezes or the launch ends.
template <ElementTypes T>
__device__ void skip_subset(const PublishedView<T>& view, ChainState& state, Subset& subset, std::int64_t limit) {
  const std::int32_t n = view.permuted.n;
  const RowRanges ranges(n);
  const std::int32_t number = subset.range + ranges_a_subset(), count = ranges.count();
  const std::int64_t sweep = subset.sweep + number / count;
  const RowRange at = ranges.at(number % count);
  const std::int64_t q = sweep * annealing::pairs(n) + annealing::pair_index(n, at.row, at.first());
  state.reject_until(min(q, subset.end), n);
  if (q < subset.end)
    subset.start(state, n, limit, sweep, {at.row, at.first()});
  else
    subset.start(state, n, limit);
}

/// The swap `key` is valid, all before it are not. Must see the deltas from before it is made.
template <ElementTypes T>
__device__ void accept(const PublishedView<T>& view, ChainState& state, Subset& subset, std::int64_t limit, unsigned long long key) {
  const std::int32_t n = view.permuted.n;
  annealing::Swap swap = Key::swap(key);
  std::int64_t sweep = subset.sweep + Key::sweeps(key);
  const std::int64_t index = annealing::pair_index(n, swap.r, swap.s), q = sweep * annealing::pairs(n) + index;
  const std::int64_t delta = view.deltas[index];
  state.reject_until(q, n);
  subset.improved = state.accept(q, delta);
  if (++swap.s == n) {
    if (++swap.r == n - 1) {
      swap.r = 0;
      ++sweep;
    }
    swap.s = swap.r + 1;
  }
  subset.start(state, n, limit, sweep, swap);
}

// --- update ------------------------------------------------------------------------------------------------------------------------------

/// Swaps r and s in the permutation and in B': rows and columns (the errata's reading of equation 3). Mapping: a thread a column of the two
/// rows and a row of the two columns. What the columns hold is read from the rows of the other side. Cost: O(n).
template <ElementTypes T>
__device__ __forceinline__ void swap_locations(const PublishedView<T>& view, std::int32_t* p, annealing::Swap swap) {
  const std::int32_t n = view.permuted.n, pitch = view.permuted.pitch, r = swap.r, s = swap.s;
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
template <ElementTypes T>
__device__ __forceinline__ void stage(const PublishedView<T>& view, bool of_b, std::int32_t i, uint4* to) {
  const std::int32_t chunks = view.permuted.chunks();
  for (int side = 0; side < T::sides; ++side) {
    const auto* from = reinterpret_cast<const uint4*>(of_b ? view.permuted.b_row(side, i) : view.permuted.a_row(side, i));
    for (std::int32_t c = threadIdx.x; c < chunks; c += blockDim.x) to[side * chunks + c] = from[c];
  }
}

/// Where the rows of r (which = 0) and s (1) lie in shared memory: A's of all sides, then B's.
template <ElementTypes T>
[[nodiscard]] __device__ __forceinline__ FacilityRows<T> staged_rows(const PublishedView<T>& view, const uint4* staged, int which) {
  FacilityRows<T> rows;
  for (int side = 0; side < T::sides; ++side) {
    const auto row = [&](int matrix) {
      return reinterpret_cast<const typename T::Entry*>(staged + ((2 * matrix + which) * T::sides + side) * view.permuted.chunks());
    };
    rows.a[side] = row(0);
    rows.b[side] = row(1);
  }
  return rows;
}

/// Recomputes the deltas of pairs with r or s. Mapping: a warp an element after another. Cost: O(n) an element, 2n - 3 elements.
template <ElementTypes T>
__device__ __forceinline__ void recompute_deltas(const PublishedView<T>& view, const FacilityRows<T>& rows_r, const FacilityRows<T>& rows_s,
                                                 annealing::Swap swap, std::int32_t warp, std::int32_t warps, int lane) {
  const std::int32_t n = view.permuted.n, chunks = view.permuted.chunks();
  for (std::int32_t m = warp; m < 2 * n; m += warps) {
    const bool of_r = m < n;
    const std::int32_t i = of_r ? swap.r : swap.s, j = of_r ? m : m - n;
    if (j == i || (!of_r && j == swap.r)) continue;
    const FacilityRows<T> others = rows_of(view, j);
    const auto delta = of_r ? whole_delta<T>(rows_r, others, i, j, chunks, lane) : whole_delta<T>(rows_s, others, i, j, chunks, lane);
    if (lane == 0) view.deltas[annealing::pair_index(n, min(i, j), max(i, j))] = delta;
  }
}

/// Updates sixteen rows of one column j, of the pairs without r and s (Taillard 1991). B' has r and s swapped already, hence the signs.
template <ElementTypes T>
__device__ __forceinline__ void update_column(const PublishedView<T>& view, const FacilityRows<T>& r, const FacilityRows<T>& s,
                                              annealing::Swap swap, std::int32_t first, std::int32_t j) {
  constexpr int elements = PublishedPolicy::elements;
  const std::int32_t n = view.permuted.n;
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
template <ElementTypes T>
__device__ __forceinline__ void update_deltas(const PublishedView<T>& view, const FacilityRows<T>& r, const FacilityRows<T>& s,
                                              annealing::Swap swap) {
  const int lane = threadIdx.x % 32;
  const auto warp = static_cast<std::int32_t>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  const auto warps = static_cast<std::int32_t>(gridDim.x * blockDim.x / 32);
  const std::int32_t columns = divide_up(view.permuted.n, 32), tiles = columns * (columns + 1);
  recompute_deltas(view, r, s, swap, warp, warps, lane);
  std::int32_t c = 0;
  for (std::int32_t tile = warp; tile < tiles; tile += warps) {
    while ((c + 1) * (c + 2) <= tile) ++c;
    update_column(view, r, s, swap, (tile - c * (c + 1)) * PublishedPolicy::elements, 32 * c + lane);
  }
}

// --- the chain ---------------------------------------------------------------------------------------------------------------------------

/// One chain, from state[chain].next to `limit`. Mapping: the whole grid, at most a block a multiprocessor; see valid_swap, swap_locations
/// and update_deltas.
template <ElementTypes T>
__global__ void __launch_bounds__(32 * PublishedPolicy::most_warps)
    anneal_published(const PublishedView<T> view, const Chains chains, const std::int64_t chain, const std::int64_t limit) {
  extern __shared__ uint4 staged[];
  __shared__ Subset subset;
  __shared__ unsigned long long keys[PublishedPolicy::most_warps];
  __shared__ alignas(ChainState) unsigned char state_bytes[sizeof(ChainState)];
  ChainState& state = *reinterpret_cast<ChainState*>(state_bytes);
  const cg::grid_group grid = cg::this_grid();
  const std::int32_t n = view.permuted.n, side_chunks = T::sides * view.permuted.chunks();
  std::int32_t* current = chains.current + chain * n;
  std::int32_t* best = chains.best + chain * n;
  const bool first_thread = threadIdx.x == 0;

  if (first_thread) {
    state = chains.state[chain];
    subset.start(state, n, limit);
  }
  __syncthreads();
  std::int64_t searched = 0;
  for (int slot = 0; subset.next < limit; slot = (slot + 1) % 3, ++searched) {
    // Identify the next swap. A slot serves every third subset: it is cleared one subset ahead, when all have read it.
    const unsigned long long own = first_of_block(valid_swap(view, subset), keys);
    if (own != Key::none) atomicMin(&view.first[slot], own);
    if (first_thread && blockIdx.x == 0) view.first[(slot + 1) % 3] = Key::none;
    grid.sync();
    const unsigned long long key = *static_cast<volatile unsigned long long*>(&view.first[slot]);
    if (key == Key::none) {
      if (first_thread) skip_subset(view, state, subset, limit);
      __syncthreads();
      continue;
    }

    // Update p and B'; A's rows do not wait for that.
    const annealing::Swap swap = Key::swap(key);
    if (first_thread) accept(view, state, subset, limit, key);
    swap_locations(view, current, swap);
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
  if (first_thread && blockIdx.x == 0) {
    state.steps += searched;
    chains.state[chain] = state;
  }
}

// --- the host's side ---------------------------------------------------------------------------------------------------

/// At most a block a multiprocessor, at least sixteen elements a thread (a tile a warp), and within that as many threads as there are
/// tiles. Rows r and s go to shared memory if they fit a block's.
template <ElementTypes T>
[[nodiscard]] PublishedPolicy published_policy(const DeviceQap<typename T::Entry>& matrices) {
  const int multiprocessors = cuda::multiprocessors();
  const std::int32_t columns = divide_up(matrices.n, 32), tiles = columns * (columns + 1);
  const int warps = std::clamp(divide_up(tiles, multiprocessors), PublishedPolicy::least_warps, PublishedPolicy::most_warps);
  cudaFuncAttributes kernel{};
  VICINITY_CUDA_CHECK(cudaFuncGetAttributes(&kernel, anneal_published<T>));
  const std::size_t rows = std::size_t{4 * T::sides} * static_cast<std::size_t>(matrices.pitch) * sizeof(typename T::Entry);
  const bool staged = kernel.sharedSizeBytes + rows <= cuda::most_shared();
  return {.multiprocessors = multiprocessors,
          .warps = warps,
          .blocks = std::min(multiprocessors, divide_up(tiles, warps)),
          .staged = staged,
          .shared_bytes = staged ? rows : 0};
}

/// One chain after another.
template <class T>
class Published {
 public:
  using Types = T;
  using Entry = typename T::Entry;
  using Delta = typename T::Delta;

  Published(const qap::Qap& qap, const DeviceQap<Entry>& matrices, const annealing::Task&)
      : matrices_(matrices),
        policy_(published_policy<T>(matrices)),
        deltas_(static_cast<std::size_t>(annealing::pairs(qap.size()))),
        first_(3) {
    view_.permuted = matrices;
    for (int side = 0; side < T::sides; ++side) {
      b_[side] = cuda::DeviceBuffer<Entry>(static_cast<std::size_t>(matrices.n) * static_cast<std::size_t>(matrices.pitch));
      view_.b[side] = b_[side].data();
      view_.permuted.b[side] = b_[side].data();
    }
    view_.deltas = deltas_.data();
    view_.first = first_.data();
    view_.staged = policy_.staged;
    cuda::allow_shared(anneal_published<T>, policy_.shared_bytes);
  }

  void launch(const Chains& chains, std::int64_t first, std::int64_t count, std::int64_t limit, const cuda::Stream& stream) {
    for (std::int64_t chain = first; chain < first + count; ++chain) launch(chains, chain, limit, stream);
  }

  [[nodiscard]] static std::int64_t batch_size() { return 1; }
  [[nodiscard]] Policy policy() const { return policy_.record(); }
  [[nodiscard]] Work barriers(const ChainState& state) const {
    return {{policy_.blocks > 1 ? Ceiling::grid_barrier : Ceiling::block_barrier, static_cast<double>(state.steps + 2 * state.accepted)}};
  }

 private:
  void launch(const Chains& chains, std::int64_t chain, std::int64_t limit, const cuda::Stream& stream) {
    const unsigned blocks = static_cast<unsigned>(policy_.multiprocessors * PublishedPolicy::build_blocks);
    first_.fill(0xFF, stream);  // Key::none
    permute_kernel<T><<<blocks, PublishedPolicy::build_block, 0, stream.get()>>>(matrices_, view_, chains.current + chain * matrices_.n);
    deltas_kernel<T><<<blocks, PublishedPolicy::build_block, 0, stream.get()>>>(view_);
    const cuda::Shape shape{
        .blocks = policy_.blocks, .threads = 32 * policy_.warps, .shared_bytes = policy_.shared_bytes, .cooperative = true};
    VICINITY_CUDA_CHECK(cuda::launch(shape, stream, anneal_published<T>, view_, chains, chain, limit));
  }

  DeviceQap<Entry> matrices_;
  PublishedPolicy policy_;
  cuda::DeviceBuffer<Entry> b_[2];
  cuda::DeviceBuffer<Delta> deltas_;
  cuda::DeviceBuffer<unsigned long long> first_;
  PublishedView<T> view_{};
};

}  // namespace

std::unique_ptr<Run> prepare_published(const Case& c, const Instance& instance) { return prepare_gpu<Published>(c, instance); }

}  // namespace vicinity::sa
