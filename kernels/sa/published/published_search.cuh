#pragma once
// The published annealing: the search for the next valid swap, subset after subset, and what follows for the chain.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cstdint>

#include "kernels/sa/published/published_view.cuh"

namespace vicinity::sa {

namespace cg = cooperative_groups;

/// A stretch is the proposals of one row of the triangle with columns 64 group ... 64 group + 63: what sixteen threads test with one Philox
/// block each, four proposals a thread. Stretches are numbered in the order of their proposals, within a sweep.
struct Stretch {
  std::int32_t row, group;

  /// The first column.
  [[nodiscard]] VICINITY_HD std::int32_t first() const { return row + 1 > 64 * group ? row + 1 : 64 * group; }
};

struct Stretches {
  static constexpr int threads = 16, proposals = 4;

  VICINITY_HD explicit Stretches(std::int32_t size) : n(size), groups(divide_up(size, 64)) {}

  /// Rows whose first column, row + 1, lies in group g have groups - g stretches. There are 64 of each g, counting a row -1.
  [[nodiscard]] VICINITY_HD std::int32_t before(std::int32_t g) const { return 32 * g * (2 * groups - g + 1); }
  [[nodiscard]] VICINITY_HD std::int32_t number(Stretch at) const {
    const std::int32_t g = (at.row + 1) / 64;
    return before(g) + (at.row + 1) % 64 * (groups - g) + at.group - g - groups;
  }
  [[nodiscard]] VICINITY_HD std::int32_t count() const { return number({n - 1, n / 64}); }
  [[nodiscard]] VICINITY_HD Stretch at(std::int32_t number) const {
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
  std::int32_t stretch;    ///< of `next`
  annealing::Cooling cooling;
  std::uint64_t seed;
  bool improved;  ///< is the permutation a new best?

  /// The next proposal is the swap of row and s in this sweep.
  __device__ void start(const ChainState& state, std::int32_t n, std::int64_t limit, std::int64_t in_sweep, annealing::Swap swap) {
    next = state.next;
    end = state.end(annealing::pairs(n), limit);
    sweep = in_sweep;
    stretch = Stretches(n).number({swap.r, swap.s / 64});
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
  static constexpr int row_bit = 16, lap_bit = 32;

  [[nodiscard]] static __device__ unsigned long long of(std::int64_t sweeps, std::int32_t row, std::int32_t s) {
    return static_cast<unsigned long long>(sweeps) << lap_bit | static_cast<unsigned long long>(row) << row_bit |
           static_cast<unsigned long long>(s);
  }
  [[nodiscard]] static __device__ annealing::Swap swap(unsigned long long key) {
    return {static_cast<std::int32_t>(key >> row_bit & 0xFFFF), static_cast<std::int32_t>(key & 0xFFFF)};
  }
  [[nodiscard]] static __device__ std::int64_t sweeps(unsigned long long key) { return static_cast<std::int64_t>(key >> lap_bit); }
};

/// The first valid swap among this thread's proposals of a stretch.
template <class T>
[[nodiscard]] __device__ __forceinline__ unsigned long long valid_in(const PublishedView<T>& view, const Subset& subset, std::int64_t sweep,
                                                                     Stretch at, int thread) {
  const std::int32_t n = view.placed.n;
  const std::int64_t start = annealing::row_start(n, at.row), first = sweep * annealing::pairs(n) + start;
  // Columns [from, to) of this row are in the subset.
  const std::int32_t from = at.row + 1 + static_cast<std::int32_t>(max(subset.next - first, std::int64_t{0}));
  const auto to = static_cast<std::int32_t>(min(subset.end - first + at.row + 1, std::int64_t{n}));
  const std::int32_t column = 64 * at.group + thread;
  if (column >= to || column + 48 < from) return Key::none;

  typename T::Delta deltas[Stretches::proposals];
  for (int w = 0; w < Stretches::proposals; ++w) {
    const std::int32_t s = column + 16 * w;
    deltas[w] = s >= from && s < to ? view.deltas[start + (s - at.row - 1)] : 0;
  }
  const Philox4 words = annealing::words(subset.seed, sweep, at.row, annealing::block_of(column));
  const annealing::RowTemperature temperature = annealing::row_temperature(subset.cooling, first);
  unsigned long long key = Key::none;
  for (int w = Stretches::proposals - 1; w >= 0; --w) {
    const std::int32_t s = column + 16 * w;
    const bool accepted =
        annealing::accepts(deltas[w], annealing::inverse_temperature(temperature, s - at.row - 1), annealing::threshold(words.word[w]));
    if (accepted && s >= from && s < to) key = Key::of(sweep - subset.sweep, at.row, s);
  }
  return key;
}

/// Stretches of a subset: every thread of the grid evaluates `elements` proposals.
[[nodiscard]] __device__ __forceinline__ std::int32_t stretches_a_thread() { return PublishedPolicy::elements / Stretches::proposals; }
[[nodiscard]] __device__ __forceinline__ std::int32_t stretches_a_subset() {
  return static_cast<std::int32_t>(gridDim.x * blockDim.x) / Stretches::threads * stretches_a_thread();
}

/// The first valid swap among this thread's proposals of the subset. Mapping: sixteen neighbouring threads take neighbouring stretches.
template <class T>
[[nodiscard]] __device__ __forceinline__ unsigned long long valid_swap(const PublishedView<T>& view, const Subset& subset) {
  const Stretches stretches(view.placed.n);
  const std::int32_t team = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x) / Stretches::threads;
  const std::int32_t count = stretches.count(), number = subset.stretch + team * stretches_a_thread();
  std::int64_t sweep = subset.sweep + number / count;
  Stretch at = stretches.at(number % count);
  unsigned long long key = Key::none;
  for (std::int32_t k = 0; k < stretches_a_thread() && key == Key::none; ++k) {
    key = valid_in(view, subset, sweep, at, threadIdx.x % Stretches::threads);
    if (++at.group < stretches.groups) continue;
    if (++at.row == stretches.n - 1) {
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

/// No valid swap in the subset: goes on behind it, or stands where the temperature freezes or the launch ends.
template <class T>
__device__ void pass_over(const PublishedView<T>& view, ChainState& state, Subset& subset, std::int64_t limit) {
  const std::int32_t n = view.placed.n;
  const Stretches stretches(n);
  const std::int32_t number = subset.stretch + stretches_a_subset(), count = stretches.count();
  const std::int64_t sweep = subset.sweep + number / count;
  const Stretch at = stretches.at(number % count);
  const std::int64_t q = sweep * annealing::pairs(n) + annealing::pair_index(n, at.row, at.first());
  state.reject_until(min(q, subset.end), n);
  if (q < subset.end)
    subset.start(state, n, limit, sweep, {at.row, at.first()});
  else
    subset.start(state, n, limit);
}

/// The swap `key` is valid, all before it are not. Must see the deltas from before it is made.
template <class T>
__device__ void take(const PublishedView<T>& view, ChainState& state, Subset& subset, std::int64_t limit, unsigned long long key) {
  const std::int32_t n = view.placed.n;
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

}  // namespace vicinity::sa
