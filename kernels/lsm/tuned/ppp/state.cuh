#pragma once
// What the tuned searches of the permuted perceptron problem share: the instance as bits, a block's shared memory, the rows grouped by
// their product, and the order of moves. singles.cu evaluates one flip, pairs.cu two and three; search.cuh has the kernel.
//
// Problem. Minimised is z = 30 sum_i (|S_i| - S_i) + sum_v |H_v - H'_v| for S = A V (core/problems/ppp/ppp.hpp). An entry of A is positive
// when it times the sign of its column is 1. The flip of a column takes 2 from the product of each row whose entry there is positive, and
// adds 2 to the others. So z after a move follows from how many rows of each product have a positive entry in each flipped column.
//
// Data layout. Bits are set where A is 1, and turned by a column's sign when they are used; a word is 32 bits of rows or of columns. A row
// with k positive entries has the product 2k - n, and belongs to bin k + margin of the histogram. The rows of a bin are a group. Every
// block of a search keeps the signs and its own copy of the groups in shared memory, in the places of SharedLayout.
//
// Phases of SortedRows::sort(), for which every block takes all rows: (1) each row's number of positive entries follows the last move, and
// the rows of each bin are counted; (2) a prefix sum over the bins gives each group its first position in the order, and K > 1 its words,
// slots and counts; (3) rows are put in order. Synchronisation: a block barrier after each, and one a round of bins. Cost: K loads and an
// atomic addition in shared memory a row, and a scan over the bins from the least product to the greatest.
#include <cstddef>
#include <cstdint>

#include "core/methods/lsm/search.hpp"
#include "core/problems/moves.hpp"
#include "core/problems/ppp/ppp.hpp"
#include "core/util/math.hpp"
#include "kernels/cuda/collective/key.cuh"
#include "kernels/cuda/collective/scan.cuh"
#include "kernels/cuda/collective/warp.cuh"

namespace vicinity::lsm::perceptron {

using cuda::warp_inclusive_sum;
using cuda::warp_min;
using cuda::warp_sum;

// --- instance and shared memory -----------------------------------------------------------------------------------------------

/// The instance. A bit is set where the entry is 1; bits and target beyond the end are zero.
struct Matrix {
  const std::uint32_t* by_row;     ///< [word of columns][row]: bit c is column 32 word + c
  const std::uint32_t* by_column;  ///< [column][column_pitch]: bit r of a word is row 32 word + r
  const std::uint32_t* rows;       ///< [row][row_pitch]: the words of by_row, those of a row side by side
  const std::int32_t* target;      ///< [n + 1], [0] is 0
  std::int32_t m, n;
  std::int32_t words_per_row, words_per_column;
  std::int32_t column_pitch;  ///< words_per_column, up to a multiple of 4
  std::int32_t row_pitch;     ///< words_per_row, up to a multiple of 4, and 8 words of zeros
  std::int32_t target_sum;
};

/// Bins below and above those that a product may have: what up to three flips reach.
inline constexpr std::int32_t margin = 4;
[[nodiscard]] __device__ __forceinline__ std::int32_t product_of(std::int32_t bin, std::int32_t n) { return 2 * (bin - margin) - n; }

/// The dynamic shared memory of a block: byte offsets of the arrays, and their sizes. A slot holds one word of each column of a tile.
struct SharedLayout {
  std::uint32_t histogram;   ///< [bin] 32 bits: rows in the upper half, the first one's position in `order` in the lower
  std::uint32_t target;      ///< [bin] 16 bits
  std::uint32_t positive;    ///< [row] 16 bits: number of positive entries
  std::uint32_t key;         ///< [row] the same after the flip of the first column of K = 3
  std::uint32_t rank;        ///< [row] 16 bits: rows of the same bin that were counted before
  std::uint32_t order;       ///< [m + 32] 16 bits: rows by product
  std::uint32_t words;       ///< [word] RowWord
  std::uint32_t counts;      ///< [count_capacity] BinCount
  std::uint32_t negative;    ///< [word of columns] 32 bits: the signs that are -1
  std::uint32_t bits;        ///< [word of the tile's columns][row] of Matrix::by_row
  std::uint32_t slots;       ///< [slot][pitch] 32 bits
  std::uint32_t tile;        ///< TileState (pairs.cu), NearState (near_rows.cuh)
  std::uint32_t tiles;       ///< of the block: where they lie (near_rows.cuh)
  std::uint32_t lists;       ///< [3][row] 16 bits (near_rows.cuh)
  std::uint32_t columns;     ///< [column of the tile, and one of ones][column_pitch] 32 bits: positive entries
  std::uint32_t far_below;   ///< [column_pitch] 32 bits: rows of products far below zero (pairs.cu)
  std::uint32_t candidates;  ///< [2][most_candidates]
  std::uint32_t masks;       ///< [2][mask_rows][mask_pitch] 32 bits, and what may be read after the last (singles.cu)
  std::int32_t count_capacity;
  std::int32_t spread;                      ///< bins from the least product to the greatest for which `words` and `counts` suffice
  std::size_t scratch_size;                 ///< 32-bit words a block has in device memory: slots first
  std::size_t device_words, device_counts;  ///< offsets there of the tables for a greater spread
  std::int32_t device_count_capacity;
  std::int32_t slot_capacity;  ///< slots that fit; 0: neither bits nor slots lie in shared memory
  std::int32_t mask_rows, mask_pitch, column_pitch;
  std::uint32_t bytes;

  /// Puts another array behind the others, and returns its offset.
  std::uint32_t add(std::int64_t count, std::int64_t size) {
    const std::uint32_t offset = bytes;
    bytes = static_cast<std::uint32_t>(divide_up(offset + count * size, std::int64_t{16}) * 16);
    return offset;
  }
};

extern __shared__ __align__(16) unsigned char dynamic_shared[];

template <class T>
[[nodiscard]] __device__ __forceinline__ T* shared_at(std::uint32_t offset) {
  return reinterpret_cast<T*>(dynamic_shared + offset);
}

[[nodiscard]] __device__ __forceinline__ std::int32_t lane() { return static_cast<std::int32_t>(threadIdx.x) % 32; }
[[nodiscard]] __device__ __forceinline__ std::int32_t warp() { return static_cast<std::int32_t>(threadIdx.x) / 32; }
[[nodiscard]] __device__ __forceinline__ std::int32_t warps() { return static_cast<std::int32_t>(blockDim.x) / 32; }

// --- moves ----------------------------------------------------------------------------------------------------------------------

/// The order of moves: (forbidden, z, number). `high` is z, below the bit of a forbidden move, and `low` the number of the move, or both
/// of its columns for K = 2, which have the same order.
using MoveKey = cuda::Key<unsigned, unsigned, 31, 31>;

inline constexpr unsigned forbidden_bit = 1u << 30;  ///< above any z

/// `high` of a move that is tabu until an iteration (exclusive).
[[nodiscard]] __device__ __forceinline__ unsigned high_of(std::int32_t z, std::int32_t tabu_until, std::int32_t t, std::int32_t best_z) {
  return static_cast<unsigned>(z) | (tabu_until > t && z >= best_z ? forbidden_bit : 0u);
}
[[nodiscard]] __device__ __forceinline__ std::int32_t z_of(const MoveKey& key) {
  return static_cast<std::int32_t>(key.high & (forbidden_bit - 1));
}
[[nodiscard]] __device__ __forceinline__ bool is_forbidden(const MoveKey& key) { return key.high >= forbidden_bit; }

/// Of moves of two flips: that z is no less for any that was not evaluated. Before all moves of this z.
[[nodiscard]] __device__ __forceinline__ MoveKey bound_key(std::int32_t z) { return {static_cast<unsigned>(z), 0}; }
[[nodiscard]] __device__ __forceinline__ bool is_bound(const MoveKey& key) { return key.low == 0; }

template <int K>
[[nodiscard]] __device__ __forceinline__ moves::Move<K> move_of(unsigned code, std::int32_t n) {
  if constexpr (K == 2) return {{static_cast<std::int32_t>(code >> 15), static_cast<std::int32_t>(code & 0x7FFFu)}};
  return moves::at<K>(n, code);
}

// --- bits -------------------------------------------------------------------------------------------------------------------------

/// The warp's words are the rows of a 32 x 32 matrix of bits; afterwards they are its columns.
[[nodiscard]] __device__ __forceinline__ std::uint32_t transposed(std::uint32_t row) {
  constexpr std::uint32_t low_halves[]{0x55555555u, 0x33333333u, 0x0F0F0F0Fu, 0x00FF00FFu, 0x0000FFFFu};
#pragma unroll
  for (int step = 4; step >= 0; --step) {
    const int distance = 1 << step;
    const bool upper = (lane() & distance) != 0;
    const std::uint32_t other = __shfl_xor_sync(~0u, row, distance), keep = upper ? ~low_halves[step] : low_halves[step];
    row = (row & keep) | (__funnelshift_l(other, other, upper ? 32 - distance : distance) & ~keep);
  }
  return row;
}

/// Counting by the binary matrix units: counts += ones of row & column, for 16 rows and 8 columns of 32 * 4 or 32 * 8 bits: lane 4i + k
/// holds words k and k + 4 of rows i and i + 8 and of column i, and gets the counts of rows i and i + 8 with columns 2k and 2k + 1.
template <int Words>
__device__ __forceinline__ void count_ones(std::int32_t (&counts)[4], const std::uint32_t (&a)[Words / 2],
                                           const std::uint32_t (&b)[Words / 4]) {
#if __CUDA_ARCH__ >= 800
  if constexpr (Words == 4)
    asm("mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
        : "+r"(counts[0]), "+r"(counts[1]), "+r"(counts[2]), "+r"(counts[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]));
  else
    asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+r"(counts[0]), "+r"(counts[1]), "+r"(counts[2]), "+r"(counts[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
#pragma unroll
  for (int k = 0; k < Words; ++k)
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const std::uint32_t column = __shfl_sync(~0u, b[k / 4], (2 * (lane() % 4) + c) * 4 + k % 4);
#pragma unroll
      for (int half = 0; half < 2; ++half)
        counts[2 * half + c] += __popc(column & __shfl_sync(~0u, a[2 * (k / 4) + half], lane() / 4 * 4 + k % 4));
    }
#endif
}

// --- rows grouped by product ------------------------------------------------------------------------------------------------------

/// K > 1: 32 rows of one group, or the rest of it.
struct RowWord {
  std::uint16_t first;         ///< position in `order` of the first row
  std::uint8_t count, weight;  ///< rows; how much a positive entry adds to the sign part of z, in units of 2 sign_weight
  std::uint16_t slot;          ///< of the positive entries; 0: not needed for counting
  std::uint16_t group_words;   ///< words of the group: the negative entries lie so many slots later
};

/// K > 1: the rows that a move of two columns brings to one bin, as ones of p & q over some slots: p's word of a slot with q's word of the
/// partner slot. A group has a run of slots for its positive entries, then one for its negative entries; groups whose products are 4 apart
/// follow each other. Rows come to product v by two positive entries from v + 4, by two negative ones from v - 4, and by one of each from
/// v itself: four runs of p's slots without a gap, of which those of v are paired crosswise.
struct BinCount {
  std::uint32_t first;                      ///< slot
  std::uint32_t length;                     ///< slots
  std::int32_t target;                      ///< or the weight of the count in the sign part
  std::uint16_t cross_first, cross_length;  ///< after `cross_first` slots, two runs of `cross_length` slots are paired crosswise
  std::uint16_t partner[8];                 ///< of the first slots; 0 after the last

  /// The partner of slot first + k.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t partner_of(std::uint32_t k) const {
    if (k >= length) return 0;
    const std::uint32_t within = k - cross_first;
    return first + k + (within < cross_length ? cross_length : within - cross_length < cross_length ? 0u - cross_length : 0u);
  }
};

/// K > 1: what a sort finds, for tiles.cuh.
struct CountTables {
  RowWord* words;
  BinCount* counts;  ///< short ones from the front, long ones from the back
  std::int32_t capacity;
};

/// What all threads of a block know of the groups.
struct Groups {
  std::int32_t low, high;     ///< bins of the least and the greatest product
  std::int32_t words, slots;  ///< in use; slot 0 is zero
  std::int32_t short_counts;  ///< of at most four slots: the first in `counts`
  std::int32_t long_counts;   ///< the last in `counts`
  std::int32_t constant;      ///< of z
  BinCount weighted[4];       ///< counts that matter to the sign part, by product from -3 or -2; length 0: none
};

/// The rows of all bins in order, by all threads of a block. K = 1: bins in ascending order. K > 1: first every other bin, then the rest,
/// since two flips lead from one to the next but one; and with CountTables.
template <int K>
struct SortedRows {
  const Matrix& matrix;
  const SharedLayout& layout;
  Groups& groups;
  std::uint32_t* scratch;  ///< device memory

  /// The tables of this sort lie in shared memory.
  [[nodiscard]] __device__ __forceinline__ bool tables_fit() const {
    return layout.spread > matrix.n || groups.high - groups.low < layout.spread;
  }
  template <bool Shared>
  [[nodiscard]] __device__ __forceinline__ CountTables tables() const {
    if constexpr (Shared) return {shared_at<RowWord>(layout.words), shared_at<BinCount>(layout.counts), layout.count_capacity};
    return {reinterpret_cast<RowWord*>(scratch + layout.device_words), reinterpret_cast<BinCount*>(scratch + layout.device_counts),
            layout.device_count_capacity};
  }
  [[nodiscard]] __device__ __forceinline__ unsigned* histogram() const { return shared_at<unsigned>(layout.histogram); }
  [[nodiscard]] __device__ __forceinline__ std::int32_t target_at(std::int32_t bin) const {
    return shared_at<std::uint16_t>(layout.target)[bin];
  }

  /// [row]: number of positive entries, by which rows are sorted.
  [[nodiscard]] __device__ __forceinline__ std::uint16_t* keys() const {
    return shared_at<std::uint16_t>(K == 3 ? layout.key : layout.positive);
  }

  /// Before the first sort: targets, and the positive entries of every row. Ends with a barrier.
  __device__ __forceinline__ void init() const {
    for (std::int32_t bin = static_cast<std::int32_t>(threadIdx.x); bin < matrix.n + 2 * margin + 1; bin += blockDim.x) {
      const std::int32_t v = product_of(bin, matrix.n);
      histogram()[bin] = 0;
      shared_at<std::uint16_t>(layout.target)[bin] = v < 1 || v > matrix.n ? 0 : static_cast<std::uint16_t>(matrix.target[v]);
    }
    if (threadIdx.x < 32) shared_at<std::uint16_t>(layout.order)[matrix.m + threadIdx.x] = 0;
    for (std::int32_t row = static_cast<std::int32_t>(threadIdx.x); row < matrix.m; row += blockDim.x) {
      std::int32_t count = 0;
      for (std::int32_t word = 0; word < matrix.words_per_row; ++word)
        count += __popc(matrix.by_row[static_cast<std::size_t>(word) * matrix.m + row] ^ shared_at<std::uint32_t>(layout.negative)[word]);
      shared_at<std::uint16_t>(layout.positive)[row] = static_cast<std::uint16_t>(count);
    }
    if (threadIdx.x == 0) reset_groups();
    __syncthreads();
  }
  /// Before each further sort: zeroes the histogram of the last one, by the threads from `first_thread` on. A barrier and reset_groups()
  /// come after.
  __device__ __forceinline__ void clear_histogram(std::int32_t first_thread) const {
    for (std::int32_t bin = groups.low - 2 + static_cast<std::int32_t>(threadIdx.x) - first_thread; bin <= groups.high + 2;
         bin += blockDim.x - first_thread)
      histogram()[bin] = 0;
  }
  /// By one thread.
  __device__ __forceinline__ void reset_groups() const {
    groups.low = matrix.n + 2 * margin;
    groups.high = 0;
    groups.short_counts = groups.long_counts = 0;
    groups.constant = matrix.target_sum;
    for (BinCount& count : groups.weighted) count.length = 0;
  }
  /// Sorts the rows. `flipped`: the columns whose signs were turned since the last sort, if `moved`; `negative` has their new signs. K = 3
  /// sorts as if `outer` were flipped as well. Ends with a barrier.
  __device__ __forceinline__ void sort(bool moved, const moves::Move<K>& flipped, std::int32_t outer) const {
    count_rows(moved, flipped, outer);
    __syncthreads();
    scan_bins();
    __syncthreads();
    for (std::int32_t row = static_cast<std::int32_t>(threadIdx.x); row < matrix.m; row += blockDim.x) {
      const unsigned at = (histogram()[keys()[row] + margin] & 0xFFFFu) + shared_at<std::uint16_t>(layout.rank)[row];
      shared_at<std::uint16_t>(layout.order)[at] = static_cast<std::uint16_t>(row);
    }
    if constexpr (K > 1) tables_fit() ? find_partners<true>() : find_partners<false>();
    __syncthreads();
  }

 private:
  /// Words for so many rows.
  [[nodiscard]] static __device__ __forceinline__ std::int32_t words_for(std::int32_t rows) { return (rows + 31) / 32; }
  [[nodiscard]] __device__ __forceinline__ std::int32_t rows_at(std::int32_t bin) const {
    return static_cast<std::int32_t>(histogram()[bin] >> 16);
  }
  /// The positive entries of a column among 32 rows.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t positive_bits(std::int32_t column, std::int32_t word) const {
    const std::uint32_t sign = 0u - (shared_at<std::uint32_t>(layout.negative)[column / 32] >> column % 32 & 1);
    return __ldg(matrix.by_column + static_cast<std::size_t>(column) * matrix.column_pitch + word) ^ sign;
  }

  /// Positive entries of each row, and rows of each bin. Mapping: a lane a row, a warp 32 of them; four times over at once, so that the
  /// latency of the columns is met only once.
  __device__ __forceinline__ void count_rows(bool moved, const moves::Move<K>& flipped, std::int32_t outer) const {
    constexpr int at_once = 4;
    unsigned low = ~0u, high_complement = ~0u;
    for (std::int32_t first = warp(); first < matrix.words_per_column; first += at_once * warps()) {
      std::uint32_t bits[at_once][K], outer_bits[at_once];
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        const std::int32_t word = first + k * warps();
        if (word >= matrix.words_per_column) break;
        if (moved)
          for (int f = 0; f < K; ++f) bits[k][f] = positive_bits(flipped.at[f], word);
        if constexpr (K == 3) outer_bits[k] = positive_bits(outer, word);
      }
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        const std::int32_t row = 32 * (first + k * warps()) + lane();
        if (row >= matrix.m) break;
        std::int32_t key = shared_at<std::uint16_t>(layout.positive)[row];
        if (moved) {
          for (int f = 0; f < K; ++f) key += (bits[k][f] >> lane() & 1) != 0 ? 1 : -1;
          shared_at<std::uint16_t>(layout.positive)[row] = static_cast<std::uint16_t>(key);
        }
        if constexpr (K == 3) {
          key -= (outer_bits[k] >> lane() & 1) != 0 ? 1 : -1;
          keys()[row] = static_cast<std::uint16_t>(key);
        }
        shared_at<std::uint16_t>(layout.rank)[row] = static_cast<std::uint16_t>(atomicAdd(&histogram()[key + margin], 1u << 16) >> 16);
        low = min(low, static_cast<unsigned>(key + margin));
        high_complement = min(high_complement, ~static_cast<unsigned>(key + margin));
      }
    }
    low = warp_min(low);
    high_complement = warp_min(high_complement);
    if (lane() != 0 || low == ~0u) return;
    atomicMin(&groups.low, static_cast<std::int32_t>(low));
    atomicMax(&groups.high, static_cast<std::int32_t>(~high_complement));
  }

  /// The bins in the order of the sort, from two below the least to two above the greatest, which the flips can reach.
  struct BinOrder {
    std::int32_t low, length, half;
    [[nodiscard]] __device__ __forceinline__ std::int32_t bin(std::int32_t k) const {
      if constexpr (K == 1) return low + k;
      return k < half ? low + 2 * k : low + 1 + 2 * (k - half);
    }
  };

  /// The first position of each group; K > 1: the tables. Mapping: 32 bins a warp, each of which first adds up all bins before its own.
  /// Synchronisation: positions are written when all have read the counts.
  __device__ __forceinline__ void scan_bins() const {
    const std::int32_t low = groups.low - 2, length = groups.high + 2 - low + 1;
    const BinOrder order{low, length, (length + 1) / 2};
    for (std::int32_t round = 0; round < length; round += blockDim.x) {
      const std::int32_t start = round + 32 * warp(), k = start + lane();
      std::int32_t bin = -1, position = 0;
      if (start < length) {
        std::int32_t rows = 0, words = 0, stored = 0;
        for (std::int32_t before = lane(); before < start; before += 32) add_bin(order.bin(before), rows, words, stored);
        rows = warp_sum(rows);
        if constexpr (K > 1) {
          words = warp_sum(words);
          stored = warp_sum(stored);
        }
        std::int32_t own_rows = 0, own_words = 0, own_stored = 0;
        if (k < length) add_bin(bin = order.bin(k), own_rows, own_words, own_stored);
        position = rows + warp_inclusive_sum(own_rows) - own_rows;
        if constexpr (K > 1) {
          words += warp_inclusive_sum(own_words);
          stored += warp_inclusive_sum(own_stored);
          const std::int32_t word = words - own_words, slot = 1 + 2 * (stored - own_stored);
          if (bin >= 0 && tables_fit()) describe_group<true>(bin, own_rows, own_stored, position, word, slot);
          if (bin >= 0 && !tables_fit()) describe_group<false>(bin, own_rows, own_stored, position, word, slot);
          if (k == length - 1) {
            groups.words = words;
            groups.slots = 1 + 2 * stored;
          }
        }
      }
      __syncthreads();
      if (bin >= 0) histogram()[bin] |= static_cast<unsigned>(position);
    }
  }
  /// Rows, words, and words that counting needs.
  __device__ __forceinline__ void add_bin(std::int32_t bin, std::int32_t& rows, std::int32_t& words, std::int32_t& stored) const {
    const std::int32_t count = rows_at(bin);
    rows += count;
    if constexpr (K == 1) return;
    words += words_for(count);
    if (product_of(bin, matrix.n) > -4) stored += words_for(count);
  }

  /// K > 1: the words of a group, and the counts of rows that come to its bin.
  template <bool Shared>
  __device__ __forceinline__ void describe_group(std::int32_t bin, std::int32_t rows, std::int32_t group_words, std::int32_t first,
                                                 std::int32_t word, std::int32_t slot) const {
    const std::int32_t v = product_of(bin, matrix.n);
    const CountTables all = tables<Shared>();
    // the sign part of the rows, were both entries negative; what a positive one adds; what two add beyond that
    if (v < -4) atomicAdd(&groups.constant, rows * ppp::sign_cost(v + 4));
    const std::int32_t weight = v < 0 ? min(-v, 4) : 0;
    for (std::int32_t k = 0; 32 * k < rows; ++k)
      all.words[word + k] = {static_cast<std::uint16_t>(first + 32 * k), static_cast<std::uint8_t>(min(rows - 32 * k, 32)),
                             static_cast<std::uint8_t>(weight), static_cast<std::uint16_t>(group_words == 0 ? 0 : slot + k),
                             static_cast<std::uint16_t>(group_words)};
    if (v > -4 && v < 4 && rows > 0) {
      const std::int32_t both = ppp::sign_cost(v - 4) + ppp::sign_cost(v + 4) - 2 * ppp::sign_cost(v);
      write_count(groups.weighted[(v + 3) / 2], slot, group_words, both, 0, 0);
    }
    if (v < 1 || v > matrix.n) return;
    const std::int32_t below = words_for(rows_at(bin - 2)), length = below + 2 * group_words + words_for(rows_at(bin + 2));
    if (length == 0) return;
    atomicSub(&groups.constant, target_at(bin));
    const std::int32_t k = length <= 4 ? atomicAdd(&groups.short_counts, 1) : all.capacity - 1 - atomicAdd(&groups.long_counts, 1);
    write_count(all.counts[k], slot - below, length, target_at(bin), below, group_words);
  }
  __device__ __forceinline__ void write_count(BinCount& to, std::int32_t first, std::int32_t length, std::int32_t target,
                                              std::int32_t cross_first, std::int32_t cross_length) const {
    to.first = static_cast<std::uint32_t>(first);
    to.length = static_cast<std::uint32_t>(length);
    to.target = target;
    to.cross_first = static_cast<std::uint16_t>(cross_first);
    to.cross_length = static_cast<std::uint16_t>(cross_length);
  }
  /// Mapping: a thread a slot of a count.
  template <bool Shared>
  __device__ __forceinline__ void find_partners() const {
    const CountTables all = tables<Shared>();
    const std::int32_t total = groups.short_counts + groups.long_counts;
    for (std::int32_t k = static_cast<std::int32_t>(threadIdx.x); k < 8 * total; k += blockDim.x) {
      BinCount& count = all.counts[k / 8 < groups.short_counts ? k / 8 : all.capacity - total + k / 8];
      count.partner[k % 8] = static_cast<std::uint16_t>(count.partner_of(k % 8));
    }
  }
};

}  // namespace vicinity::lsm::perceptron
