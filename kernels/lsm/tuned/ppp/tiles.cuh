#pragma once
// z of all pairs of columns of a tile, by counting all bins: for three flips (triples.cu), and for two where bounds do not do (pairs.cu).
//
// Problem. z of pairs of columns p < q; for three flips once for each first column, as if that were flipped already.
//   z = constant + linear[p] + linear[q] + sum over bins of |rows that p and q bring there - target| + what a pair adds to the sign part
// The rows that come to a bin are ones of p & q over words of sorted rows (BinCount in state.cuh): products of binary matrices, one for
// each bin, that the matrix units count for a whole tile of columns p x columns q.
//
// Data layout. A tile is some words of 32 columns each, for p and for q. A slot has a word of 32 sorted rows of one group for each column
// of the tile, first for positive entries, then for negative ones; slot 0 is zero. Sums over bins stay in registers: 4 pairs a lane and
// fragment.
//
// Phases, after the sort: (1) pack: warps transpose the bits of 32 sorted rows into slots, and add up `linear`; (2) count: each warp goes
// through all bins for its pairs; (3) choose: each thread adds tabu times and keeps the best of its pairs. Synchronisation: a block barrier
// between (1) and (2). Cost: five shuffles and two stores a word of rows and 32 columns to pack; one binary matrix product and one absolute
// difference a pair, bin and four or eight slots to count.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/lsm/tuned/ppp/search.cuh"

namespace vicinity::lsm::perceptron {

// --- tiles --------------------------------------------------------------------------------------------------------------------

/// So many words of columns p and q; each warp takes so many fragments of 16 columns p and 8 columns q.
template <int PWords, int QWords, int PFragments, int QFragments>
struct TileShape {
  static constexpr int p_words = PWords, q_words = QWords, p_fragments = PFragments, q_fragments = QFragments;
  static constexpr int words = PWords + QWords, columns = 32 * words;
  static constexpr int pitch = columns + 8;  ///< of a slot, in words: four consecutive slots of eight columns lie in different banks
  static constexpr int warps_q = 32 * QWords / (8 * QFragments), warps = 2 * PWords / PFragments * warps_q, threads = 32 * warps;
  static constexpr int pairs_per_thread = 4 * PFragments * QFragments;

  /// Tiles of the pairs p < q, in strips of p_words.
  [[nodiscard]] static VICINITY_HD std::int32_t tiles(std::int32_t words_per_row) {
    std::int32_t tiles = 0;
    for (std::int32_t p = 0; p < words_per_row; p += PWords) tiles += divide_up(words_per_row - p, QWords);
    return tiles;
  }
  /// Index of a pair of the tile into its tabu times: [pair of a thread][thread]. As Tile::choose() goes through them.
  [[nodiscard]] static __device__ __forceinline__ std::int32_t index(std::int32_t p, std::int32_t q) {
    const std::int32_t i = p / 16 % PFragments, half = p / 8 % 2, j = q / 8 % QFragments, c = q % 2;
    const std::int32_t warp = p / (16 * PFragments) * warps_q + q / (8 * QFragments), lane = p % 8 * 4 + q % 8 / 2;
    return (((i * 2 + half) * QFragments + j) * 2 + c) * threads + 32 * warp + lane;
  }
};

/// Where a tile lies: its first words of columns. K = 3: the first column of the moves.
struct TilePosition {
  std::int32_t p, q;
  std::int32_t outer;

  template <class Shape>
  [[nodiscard]] static __device__ __forceinline__ TilePosition of(std::int32_t words_per_row, std::int32_t tile) {
    std::int32_t p = 0;
    while (tile >= divide_up(words_per_row - p, Shape::q_words)) {
      tile -= divide_up(words_per_row - p, Shape::q_words);
      p += Shape::p_words;
    }
    return {p, p + Shape::q_words * tile, -1};
  }
  /// Of the tile that a pair lies in.
  template <class Shape>
  [[nodiscard]] static __device__ __forceinline__ TilePosition of_pair(const moves::Move<2>& move) {
    const std::int32_t p = move.at[0] / (32 * Shape::p_words) * Shape::p_words;
    return {p, p + (move.at[1] / 32 - p) / Shape::q_words * Shape::q_words, -1};
  }
  /// Of all tiles.
  template <class Shape>
  [[nodiscard]] __device__ __forceinline__ std::int32_t number(std::int32_t words_per_row) const {
    return Shape::tiles(words_per_row) - Shape::tiles(words_per_row - p) + (q - p) / Shape::q_words;
  }
};

// --- the evaluation of a tile ---------------------------------------------------------------------------------------------------

/// By all threads of a block. Slots, bits of the tile and tables lie in shared memory, or in device memory.
template <int K, class Shape, bool InShared>
struct Tile {
  using Sums = std::int32_t[Shape::p_fragments][Shape::q_fragments][4];
  static constexpr bool in_shared = InShared;

  const SortedRows<K>& rows;
  std::int32_t* linear;  ///< [column of the tile]: what the sign part gains by a flip of it, less what pairs share
  TilePosition at;
  const Matrix& matrix = rows.matrix;
  const SharedLayout& layout = rows.layout;
  const Groups& groups = rows.groups;

  /// The bits of the tile into shared memory, where they stay for later calls with the same tile. Ends without a barrier.
  __device__ __forceinline__ void load_bits() const {
    for (std::int32_t row = static_cast<std::int32_t>(threadIdx.x); row < matrix.m; row += Shape::threads)
#pragma unroll
      for (int k = 0; k < Shape::words; ++k)
        shared_at<std::uint32_t>(layout.bits)[k * matrix.m + row] =
            word(k) < matrix.words_per_row ? matrix.by_row[static_cast<std::size_t>(word(k)) * matrix.m + row] : 0;
  }

  /// Fills the slots, and adds to `linear`. Mapping: a warp takes 32 sorted rows, transposes the bits of one word of columns after the
  /// other, and writes a word a column.
  __device__ __forceinline__ void pack() const {
    const RowWord* words = tables().words;
    for (std::int32_t w = warp(); w < groups.words; w += Shape::warps) {
      const RowWord row_word = words[w];
      const std::int32_t row = shared_at<std::uint16_t>(layout.order)[row_word.first + lane()];
      const std::uint32_t mask = row_word.count == 32 ? ~0u : (1u << row_word.count) - 1;
      std::uint32_t* to = slots() + static_cast<std::ptrdiff_t>(row_word.slot) * Shape::pitch + lane();
#pragma unroll
      for (int k = 0; k < Shape::words; ++k) {
        std::uint32_t bits = 0;
        if (in_shared) {
          bits = shared_at<std::uint32_t>(layout.bits)[k * matrix.m + row];
        } else if (word(k) < matrix.words_per_row) {
          bits = matrix.by_row[static_cast<std::size_t>(word(k)) * matrix.m + row];
        }
        if (word(k) < matrix.words_per_row) bits ^= shared_at<std::uint32_t>(layout.negative)[word(k)];
        const std::uint32_t positive = transposed(bits) & mask;
        if (row_word.weight != 0) atomicAdd(&linear[32 * k + lane()], 2 * ppp::sign_weight * row_word.weight * __popc(positive));
        if (row_word.slot == 0) continue;
        to[32 * k] = positive;
        to[32 * k + row_word.group_words * Shape::pitch] = positive ^ mask;
      }
    }
  }

  /// Adds to z what the bins add. Mapping: a warp 16 x 8 pairs a fragment, all bins one after the other.
  __device__ __forceinline__ void count(Sums& z) const {
    if (is_idle()) return;
    const std::uint32_t* a = slots() + first_p() + lane() / 4;
    const std::uint32_t* b = slots() + 32 * Shape::p_words + first_q() + lane() / 4;
    const auto [words, counts, capacity] = tables();
    const std::int32_t first_long = capacity - groups.long_counts;
#pragma unroll 2
    for (std::int32_t k = 0; k < groups.short_counts; ++k) count_bin<4>(counts[k], a, b, z);
    for (std::int32_t k = first_long; k < capacity; ++k) count_long_bin(counts[k], a, b, z);
    for (const BinCount& bin : groups.weighted)
      if (bin.length > 0) count_in_steps<true>(bin, a, b, z);
  }

  /// Lowers `best` to the best of this thread's moves. `tabu_until`: [pair of a thread][thread] for K = 2, [move] for K = 3.
  __device__ __forceinline__ void choose(const Sums& z, const std::int32_t* tabu_until, std::int32_t t, std::int32_t best_z,
                                         MoveKey& best) const {
    if (is_idle()) return;
#pragma unroll
    for (int i = 0; i < Shape::p_fragments; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const std::int32_t p_at = first_p() + 16 * i + 8 * half + lane() / 4, p = 32 * at.p + p_at;
        const std::int32_t fixed = groups.constant + linear[p_at];
        const unsigned code = first_code(p);
#pragma unroll
        for (int j = 0; j < Shape::q_fragments; ++j)
#pragma unroll
          for (int c = 0; c < 2; ++c) {
            const std::int32_t q_at = first_q() + 8 * j + lane() % 4 * 2 + c, q = 32 * at.q + q_at;
            if (q <= p || q >= matrix.n || p <= at.outer) continue;
            const std::int32_t pair_z = fixed + linear[32 * Shape::p_words + q_at] + z[i][j][2 * half + c];
            const std::int32_t tabu = K == 3
                                          ? tabu_until[code + q]
                                          : tabu_until[(((i * 2 + half) * Shape::q_fragments + j) * 2 + c) * Shape::threads + threadIdx.x];
            cuda::lower(best, MoveKey{high_of(pair_z, tabu, t, best_z), code + static_cast<unsigned>(q)});
          }
      }
  }

 private:
  /// Of the tile: the k-th word of columns.
  [[nodiscard]] __device__ __forceinline__ std::int32_t word(int k) const {
    return k < Shape::p_words ? at.p + k : at.q + k - Shape::p_words;
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t* slots() const {
    if constexpr (in_shared) return shared_at<std::uint32_t>(layout.slots);
    return rows.scratch;
  }
  [[nodiscard]] __device__ __forceinline__ CountTables tables() const {
    return in_shared || rows.tables_fit() ? rows.template tables<true>() : rows.template tables<false>();
  }
  /// The first columns of the tile that are this warp's.
  [[nodiscard]] static __device__ __forceinline__ std::int32_t first_p() { return warp() / Shape::warps_q * 16 * Shape::p_fragments; }
  [[nodiscard]] static __device__ __forceinline__ std::int32_t first_q() { return warp() % Shape::warps_q * 8 * Shape::q_fragments; }
  /// The warp has no pair p < q.
  [[nodiscard]] __device__ __forceinline__ bool is_idle() const {
    const std::int32_t p = 32 * at.p + first_p(), q = 32 * at.q + first_q();
    return q >= matrix.n || q + 8 * Shape::q_fragments - 1 <= p || p + 16 * Shape::p_fragments - 1 <= at.outer;
  }
  /// Words of columns p from `slot` on, and of columns q in the partner slots, as count_ones() wants them.
  template <int Slots>
  __device__ __forceinline__ void load(std::uint32_t (&p)[Shape::p_fragments][Slots / 2], std::uint32_t (&q)[Shape::q_fragments][Slots / 4],
                                       const std::uint32_t* a, std::uint32_t slot, const std::uint32_t* b,
                                       const std::uint32_t (&partners)[Slots / 4]) const {
#pragma unroll
    for (int i = 0; i < Shape::p_fragments; ++i)
#pragma unroll
      for (int k = 0; k < Slots / 4; ++k) {
        p[i][2 * k] = a[(slot + 4 * k) * Shape::pitch + 16 * i];
        p[i][2 * k + 1] = a[(slot + 4 * k) * Shape::pitch + 16 * i + 8];
      }
#pragma unroll
    for (int j = 0; j < Shape::q_fragments; ++j)
#pragma unroll
      for (int k = 0; k < Slots / 4; ++k) q[j][k] = b[partners[k] * Shape::pitch + 8 * j];
  }
  /// A count of at most `Slots` slots.
  template <int Slots>
  __device__ __forceinline__ void count_bin(const BinCount& bin, const std::uint32_t* a, const std::uint32_t* b, Sums& z) const {
    std::uint32_t p[Shape::p_fragments][Slots / 2], q[Shape::q_fragments][Slots / 4], partners[Slots / 4];
#pragma unroll
    for (int k = 0; k < Slots / 4; ++k) partners[k] = bin.partner[lane() % 4 + 4 * k];
    load<Slots>(p, q, a, bin.first + lane() % 4, b, partners);
    const std::int32_t target = bin.target;
#pragma unroll
    for (int i = 0; i < Shape::p_fragments; ++i)
#pragma unroll
      for (int j = 0; j < Shape::q_fragments; ++j) {
        std::int32_t counts[4]{};
        count_ones<Slots>(counts, p[i], q[j]);
#pragma unroll
        for (int e = 0; e < 4; ++e) z[i][j][e] = abs_difference_plus(counts[e], target, z[i][j][e]);
      }
  }
  /// Of more than four slots.
  __device__ __forceinline__ void count_long_bin(const BinCount& bin, const std::uint32_t* a, const std::uint32_t* b, Sums& z) const {
    if (bin.length <= 8)
      count_bin<8>(bin, a, b, z);
    else
      count_in_steps<false>(bin, a, b, z);
  }
  /// Of any number of slots, eight at a time.
  template <bool Weighted>
  __device__ __forceinline__ void count_in_steps(const BinCount& bin, const std::uint32_t* a, const std::uint32_t* b, Sums& z) const {
    Sums counts = {};
    for (std::uint32_t first = 0; first < bin.length; first += 8) {
      std::uint32_t p[Shape::p_fragments][4], q[Shape::q_fragments][2];
      const std::uint32_t k = first + lane() % 4, partners[2]{bin.partner_of(k), bin.partner_of(k + 4)};
      load<8>(p, q, a, bin.first + k, b, partners);
#pragma unroll
      for (int i = 0; i < Shape::p_fragments; ++i)
#pragma unroll
        for (int j = 0; j < Shape::q_fragments; ++j) count_ones<8>(counts[i][j], p[i], q[j]);
    }
#pragma unroll
    for (int i = 0; i < Shape::p_fragments; ++i)
#pragma unroll
      for (int j = 0; j < Shape::q_fragments; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          z[i][j][e] = Weighted ? z[i][j][e] + bin.target * counts[i][j][e] : abs_difference_plus(counts[i][j][e], bin.target, z[i][j][e]);
  }
  /// The code of a move, less its last column.
  [[nodiscard]] __device__ __forceinline__ unsigned first_code(std::int32_t p) const {
    if constexpr (K == 2) return static_cast<unsigned>(p) << 15;
    const std::int64_t a = matrix.n - 1 - at.outer, b = matrix.n - 1 - p;
    return static_cast<unsigned>(moves::choose3(matrix.n) - 1 - moves::choose3(a) - moves::choose2(b) - (matrix.n - 1));
  }
};

// --- host -----------------------------------------------------------------------------------------------------------------------

/// Slots that may be read after the last.
inline constexpr std::int32_t spare_slots = 8;

/// Words that hold m rows in so many groups, whatever their sizes.
[[nodiscard]] inline std::int32_t most_words(std::int32_t m, std::int32_t groups) { return (m + 31 * groups) / 32; }

/// 1 and the slots of groups of -3 and more.
[[nodiscard]] inline std::int32_t most_slots(std::int32_t m, std::int32_t n) { return 1 + 2 * most_words(m, std::min(m, n / 2 + 3)); }

/// What a search of K flips needs to count tiles in device memory.
template <int K, class Shape>
[[nodiscard]] SharedLayout layout_of_tiles(std::int32_t m, std::int32_t n) {
  SharedLayout layout = common_layout<K>(m, n);
  layout.spread = usual_spread(n);
  layout.device_count_capacity = std::min(3 * std::min(m, n / 2 + 3), n / 2 + 1);
  layout.count_capacity = std::min(layout.device_count_capacity, layout.spread + 4);
  layout.words = layout.add(most_words(m, std::min(m, layout.spread)), sizeof(RowWord));
  layout.counts = layout.add(layout.count_capacity, sizeof(BinCount));
  require_fit(layout, m, n);
  layout.device_words = static_cast<std::size_t>(most_slots(m, n) + spare_slots) * Shape::pitch;
  layout.device_counts = layout.device_words + static_cast<std::size_t>(most_words(m, std::min(m, n + 1))) * sizeof(RowWord) / 4;
  layout.scratch_size = layout.device_counts + static_cast<std::size_t>(layout.device_count_capacity) * sizeof(BinCount) / 4;
  return layout;
}

// --- the evaluator ------------------------------------------------------------------------------------------------------------

/// K = 2: a tile at a time. K = 3: a tile and first column at a time.
template <int K, class Shape>
struct TilesEvaluator {
  static constexpr int flips = K, threads = Shape::threads, cost_terms = Shape::columns;  // `linear`

  const SortedRows<K>& rows;
  const Searches& searches;
  Workspace<cost_terms>& workspace;
  std::int32_t* tabu_until;
  std::int32_t block;
  std::int32_t loaded = -1;  ///< the tile whose bits are in place
  TilePosition first{};      ///< of this block

  [[nodiscard]] static SharedLayout layout(std::int32_t m, std::int32_t n);
  [[nodiscard]] static std::int64_t shares(std::int32_t n) { return std::int64_t{Shape::tiles(divide_up(n, 32))} * (K == 3 ? n : 1); }
  [[nodiscard]] static std::size_t tabu_entries(std::int32_t n) {
    if constexpr (K == 3) return static_cast<std::size_t>(moves::count<3>(n));
    return static_cast<std::size_t>(Shape::tiles(divide_up(n, 32))) * pairs_of_tile;
  }
  [[nodiscard]] static Policy record(const SharedLayout& layout) {
    return {{"tile_rows", 32 * Shape::p_words}, {"tile_columns", 32 * Shape::q_words}, {"slots", layout.slot_capacity}};
  }

  /// Slot 0 is zero.
  __device__ __forceinline__ void init() {
    first = TilePosition::of<Shape>(rows.matrix.words_per_row, K == 2 ? block : block / rows.matrix.n);
    for (int k = static_cast<int>(threadIdx.x); k < Shape::pitch; k += Shape::threads) {
      if (rows.layout.slot_capacity > 0) shared_at<std::uint32_t>(rows.layout.slots)[k] = 0;
      if (rows.layout.scratch_size > 0) rows.scratch[k] = 0;
    }
  }
  __device__ __forceinline__ MoveKey evaluate(bool moved, const moves::Move<K>& flipped, std::int32_t t, std::int32_t /*z*/,
                                              std::int32_t best_z) {
    const std::int32_t n = rows.matrix.n, items = Shape::tiles(rows.matrix.words_per_row) * (K == 3 ? n : 1);
    MoveKey best = cuda::no_key<MoveKey>();
    if constexpr (K == 2) {
      clear_linear();
      rows.sort(moved, flipped, -1);
    }
    for (std::int32_t item = block; item < items; item += searches.blocks) {
      TilePosition at = item == block ? first : TilePosition::of<Shape>(rows.matrix.words_per_row, K == 2 ? item : item / n);
      if constexpr (K == 3) {
        at.outer = item % n;
        if (32 * (at.p + Shape::p_words) <= at.outer + 1) continue;
        sort_again(moved, flipped, at.outer);
        moved = false;
      } else if (item != block) {
        __syncthreads();
        clear_linear();
        __syncthreads();
      }
      if (rows.tables_fit() && workspace.groups.slots <= rows.layout.slot_capacity)
        evaluate_tile<true>(at, item, t, best_z, best);
      else
        evaluate_tile<false>(at, item, t, best_z, best);
    }
    if constexpr (K == 3)
      if (moved) sort_again(true, flipped, 0);  // a block without moves follows the last move all the same
    return cuda::block_argmin(best, workspace.keys());
  }
  __device__ __forceinline__ void clear(std::int32_t first_thread) const { rows.clear_histogram(first_thread); }
  __device__ __forceinline__ void prefetch(const moves::Move<K>&) const {}
  /// [move].
  /// K = 2: [tile][pair of a thread][thread]. K = 3: [move].
  [[nodiscard]] __device__ __forceinline__ std::size_t tabu_index(unsigned code) const {
    if constexpr (K == 3) return code;
    const auto move = move_of<2>(code, rows.matrix.n);
    const TilePosition at = TilePosition::of_pair<Shape>(move);
    return static_cast<std::size_t>(at.number<Shape>(rows.matrix.words_per_row)) * pairs_of_tile +
           Shape::index(move.at[0] - 32 * at.p, move.at[1] - 32 * at.q);
  }

 private:
  static constexpr std::int32_t pairs_of_tile = Shape::threads * Shape::pairs_per_thread;

  __device__ __forceinline__ void clear_linear() {
    for (int k = static_cast<int>(threadIdx.x); k < cost_terms; k += Shape::threads) workspace.cost_terms[k] = 0;
  }
  /// K = 3: another sort in the same iteration.
  __device__ __forceinline__ void sort_again(bool moved, const moves::Move<K>& flipped, std::int32_t outer) {
    __syncthreads();
    rows.clear_histogram(0);
    __syncthreads();
    if (threadIdx.x == 0) rows.reset_groups();
    clear_linear();
    __syncthreads();
    rows.sort(moved, flipped, outer);
  }
  template <bool InShared>
  __device__ __forceinline__ void evaluate_tile(const TilePosition& at, std::int32_t item, std::int32_t t, std::int32_t best_z,
                                                MoveKey& best) {
    const Tile<K, Shape, InShared> tile{rows, workspace.cost_terms, at};
    const std::int32_t number = at.p * rows.matrix.words_per_row + at.q;
    if (InShared && number != loaded) {
      tile.load_bits();
      loaded = number;
      __syncthreads();
    }
    typename Tile<K, Shape, InShared>::Sums z = {};
    tile.pack();
    __syncthreads();
    tile.count(z);
    tile.choose(z, K == 3 ? tabu_until : tabu_until + std::int64_t{item} * pairs_of_tile, t, best_z, best);
  }
};

/// Bits and slots are there when they fit.
template <int K, class Shape>
SharedLayout TilesEvaluator<K, Shape>::layout(std::int32_t m, std::int32_t n) {
  constexpr std::int32_t least_slots = 32;
  SharedLayout layout = layout_of_tiles<K, Shape>(m, n);
  const SharedLayout without_slots = layout;
  layout.bits = layout.add(std::int64_t{Shape::words} * m, 4);
  layout.slots = layout.bytes;
  const std::int64_t fit = (std::int64_t{layout_limit()} - layout.bytes) / (4 * Shape::pitch) - spare_slots;
  if (fit < least_slots) return without_slots;
  layout.slot_capacity = static_cast<std::int32_t>(std::min<std::int64_t>(fit, most_slots(m, n)));
  layout.add(std::int64_t{layout.slot_capacity + spare_slots} * Shape::pitch, 4);
  if (layout.slot_capacity == most_slots(m, n) && layout.spread == n + 1) layout.scratch_size = 0;
  return layout;
}

}  // namespace vicinity::lsm::perceptron
