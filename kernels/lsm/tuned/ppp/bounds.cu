// gpu-tuned for the permuted perceptron problem with flips of one sign and more rows than planes.cu holds, as long as a cluster holds the
// search; else singles.cu.
//
// Problem. z of the best of all n flips, an iteration. z is its sign part plus what the histogram adds, which is never negative. Sign parts
// differ by more than histograms do, so few moves can be best: along a search of 1301-1317 two of a block's 90, and seldom more than 15.
//
// Sign part. Let P(M) be the positive entries of a column in the rows of a mask M. After a flip the sign part is C + 180 P(A) + 60 P(B) for
// odd n, where A are the rows with S < 0, and B those with S < -1 or S = 1; for even n it is C + 240 P(A) + 120 P(B), where B are the rows
// with S = 0. C is that of the solution, less 120 |A|, and for odd n more by 60 |rows with S = -1|. So P and C are counts of three masks.
//
// Data layout. Each block has all columns of the matrix as bits in shared memory, if they fit, else its own. Table warps keep the rows'
// numbers of positive entries as bit planes in registers, as planes.cu does, but biased: the highest plane says S >= 0. A bound warp has
// the bits of 15 columns in registers, complemented where the sign is -1.
//
// Phases of an iteration: (1) the planes follow the flip, and the three masks are written; (2) bound warps count these for the block's
// columns by binary matrix products, while table warps write the tables of which masks of single bins are made; (3) warps that count, and
// the key warp, each choose the same moves: those whose sign part exceeds the least by no more than histograms add; (4) each counts its
// bins for 15 of them at a time; (5) the key warp adds these up. If its best move does not lie below all that are left, there is another
// round from (3). Then it sends its best key to all blocks; (6) all warps wait for the keys of all blocks.
// Synchronisation: barriers of warps after (1), (2), (4) and (5), and an exchange of counted stores an iteration. Cost: chains of dependent
// instructions, some hundred a phase; six binary matrix products a bound warp, 12 a warp that counts.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/lsm/tuned/ppp/search.cuh"
#include "kernels/lsm/tuned/tuned.hpp"

namespace vicinity::lsm {
namespace perceptron {

/// singles.cu
[[nodiscard]] std::unique_ptr<Run> run_by_tiles(const local_search::PppFlip<1>& neighborhood, const local_search::Task& task);

namespace {

// --- shapes and shared memory -------------------------------------------------------------------------------------------------

/// So many warps bound 15 columns each. Rows come in chunks of 256. A warp counts a set of 16 masks, and the 14 bins between them.
template <int Strips, int Chunks>
struct BoundsShape {
  static constexpr int chunks = Chunks, groups = 2, masks_of_set = 8 * groups, set_bins = masks_of_set - 2;
  static constexpr int table_warps = Chunks, mask_warps = (24 * Chunks + 31) / 32, bound_warps = Strips;
  static constexpr int window_bins = table_warps * set_bins;  ///< of which the tables are made at a time
  static constexpr int workers = 32 * (table_warps + bound_warps), threads = workers + 32;
  static constexpr int strip_columns = 15, columns = Strips * strip_columns, columns_of_lane = (columns + 31) / 32;
  static constexpr int planes = 11, most_columns = 2047;
  static constexpr int column_words = 8 * Chunks;
  static constexpr int mask_words = column_words + (Chunks == 4 ? 4 : 0);  ///< masks side by side lie in different banks
  static constexpr int term_quads = (2 * table_warps + 3) / 4, term_pitch = 4 * (term_quads + (term_quads + 1) % 2);
  static constexpr int most_blocks = 16;
  static_assert(Chunks % 2 == 0 && window_bins + masks_of_set <= 120);
};

/// Of the tables: numbers modulo 8, their eighth modulo 16, the three masks of the sign part, and zero.
struct Table {
  static constexpr int lows = 0, highs = 8, signs = 24, zero = 27, count = 28;
};

/// The dynamic shared memory of a block: byte offsets.
struct BoundsLayout {
  std::uint32_t tables;       ///< [Table::count][mask_words]; at first [row] 16 bits, the biased number of positive entries
  std::uint32_t terms;        ///< [move of a round][term_pitch]: parts of what the histogram adds
  std::uint32_t target;       ///< [product / 2] 16 bits: of the positive products that there can be
  std::uint32_t bits;         ///< [column][column_pitch], of all or of the block's own
  std::int32_t in_shared;     ///< all columns; else the flipped one is read from device memory
  std::int32_t column_pitch;  ///< words, an even number
  std::size_t scratch_size;   ///< none
  std::uint32_t bytes;

  std::uint32_t add(std::int64_t size) {
    const std::uint32_t offset = bytes;
    bytes = static_cast<std::uint32_t>((offset + size + 15) / 16 * 16);
    return offset;
  }
  template <class S>
  [[nodiscard]] static BoundsLayout of(std::int32_t m, std::int32_t n) {
    BoundsLayout layout{};
    layout.column_pitch = (divide_up(m, 32) + 1) / 2 * 2;
    layout.tables = layout.add(std::max(Table::count * S::mask_words * 4, 2 * m));
    layout.terms = layout.add(S::strip_columns * S::term_pitch * 4);
    layout.target = layout.add(2 * (n / 2 + 1));
    const auto bits_of = [&](std::int64_t columns) { return 4 * (columns * layout.column_pitch + S::column_words); };
    layout.in_shared = layout.bytes + bits_of(n) + 2048 <= static_cast<std::int64_t>(cuda::most_shared()) ? 1 : 0;
    layout.bits = layout.add(bits_of(layout.in_shared ? n : S::columns));
    return layout;
  }
};

/// The bin of a product: number of positive entries and bias. Products from 0 on have the highest plane.
inline constexpr std::int32_t first_bin_from_zero = 1024;
[[nodiscard]] __device__ __forceinline__ std::int32_t bias_of(std::int32_t n) { return first_bin_from_zero - (n + 1) / 2; }
/// The mask below the first bin of a positive product.
[[nodiscard]] __device__ __forceinline__ std::int32_t lowest_mask(std::int32_t n) { return first_bin_from_zero - n % 2; }

// --- phases -------------------------------------------------------------------------------------------------------------------

/// The numbers of positive entries of 32 rows a thread; four threads have the same rows, and write different tables. The words of a mask
/// lie in the order in which a lane of the matrix units reads them: a quarter of the warp has words 2q and 2q + 1 of each eight.
template <class S>
class BiasedPlanes {
 public:
  __device__ __forceinline__ BiasedPlanes(const Matrix& matrix, const BoundsLayout& layout) : matrix_(matrix), layout_(layout) {
    const std::int32_t t = static_cast<std::int32_t>(threadIdx.x), j = t % S::column_words % (2 * S::chunks);
    index_ = t / S::column_words;
    position_ = t % S::column_words;
    word_ = 8 * (j / 2) + 2 * (position_ / (2 * S::chunks)) + j % 2;
    const std::int32_t rows = min(max(matrix.m - 32 * word_, 0), 32);
    valid_ = rows == 32 ? ~0u : (1u << rows) - 1;
    word_ = min(word_, matrix.words_per_column - 1);  // of threads without rows
  }
  /// `numbers`: [row] in shared memory, biased.
  __device__ __forceinline__ void init(const std::uint16_t* numbers) {
    for (int p = 0; p < S::planes; ++p) plane_[p] = 0;
    if (valid_ == 0) return;
    for (int r = 0; r < 32; ++r) {
      const unsigned k = 32 * word_ + r < matrix_.m ? numbers[32 * word_ + r] : 0;
#pragma unroll
      for (int p = 0; p < S::planes; ++p) plane_[p] |= (k >> p & 1) << r;
    }
  }
  /// The flip of a column, whose new sign is -1 for `negative`.
  __device__ __forceinline__ void flip(std::int32_t column, unsigned negative) {
    std::uint32_t up = 0u - negative;
    if (layout_.in_shared)
      up ^= shared_at<std::uint32_t>(layout_.bits)[column * layout_.column_pitch + word_];
    else
      up ^= __ldg(matrix_.by_column + column * matrix_.column_pitch + word_);
    std::uint32_t carry = ~0u;
#pragma unroll
    for (int p = 0; p < S::planes; ++p) {
      const std::uint32_t next = carry & ~(plane_[p] ^ up);
      plane_[p] ^= carry;
      carry = next;
    }
  }
  /// The masks A, B, and of the rows with S = -1.
  __device__ __forceinline__ void write_signs() const {
    if (index_ >= 3) return;
    std::uint32_t any = 0, all = ~0u;
#pragma unroll
    for (int p = 0; p + 1 < S::planes; ++p) {
      any |= plane_[p];
      all &= plane_[p];
    }
    const std::uint32_t below = ~plane_[S::planes - 1], first = ~below & ~any;  // S < 0; S = 1, or 0
    const std::uint32_t last = matrix_.n % 2 != 0 ? below & all : 0u;           // S = -1
    const std::uint32_t mask = index_ == 0 ? below : index_ == 2 ? last : matrix_.n % 2 != 0 ? (below & ~last) | first : first;
    table(Table::signs + index_)[position_] = mask & valid_;
  }
  /// The tables for the bins from `first` on, rounded down to a multiple of 8, 128 of them.
  __device__ __forceinline__ void write_tables(std::int32_t first) const {
    const auto bits_of = [&](int from, std::int32_t number, int count, std::uint32_t rows) {
      for (int p = 0; p < count; ++p) rows &= plane_[from + p] ^ ((number >> p & 1) != 0 ? 0u : ~0u);
      return rows;
    };
    const std::uint32_t low = bits_of(0, index_, 2, valid_), high = bits_of(3, index_, 2, ~0u);
    const std::int32_t group = first >> 3;
#pragma unroll
    for (int e = 0; e < 2; ++e) table(Table::lows + index_ + 4 * e)[position_] = bits_of(2, e, 1, low);
#pragma unroll
    for (int e = 0; e < 4; ++e)
      table(Table::highs + index_ + 4 * e)[position_] =
          bits_of(7, (group + ((index_ + 4 * e - group) & 15)) >> 4, S::planes - 7, bits_of(5, e, 2, high));
  }

 private:
  [[nodiscard]] __device__ __forceinline__ std::uint32_t* table(std::int32_t k) const {
    return shared_at<std::uint32_t>(layout_.tables) + k * S::mask_words;
  }

  const Matrix& matrix_;
  const BoundsLayout& layout_;
  std::int32_t index_, position_, word_;  ///< the word: its place in a mask, and in a column
  std::uint32_t valid_;                   ///< rows of the matrix
  std::uint32_t plane_[S::planes];
};

/// A move of a block in a word: tabu, its sign part less C in units of 60, the sign before the flip, the column.
struct BoundedMove {
  static constexpr std::uint32_t none = ~0u, tabu_bit = 1u << 31, most_units = (1u << 13) - 1;

  std::uint32_t word;

  [[nodiscard]] static __device__ __forceinline__ BoundedMove of(bool tabu, std::int32_t units, unsigned negative, std::int32_t column) {
    return {(tabu ? tabu_bit : 0u) | static_cast<std::uint32_t>(units) << 12 | negative << 11 | static_cast<std::uint32_t>(column)};
  }
  /// Above the words of moves that are not tabu and have at most so many units.
  [[nodiscard]] static __device__ __forceinline__ std::uint32_t end_of(std::int32_t units) {
    return static_cast<std::uint32_t>(units + 1) << 12;
  }
  [[nodiscard]] __device__ __forceinline__ bool tabu() const { return word >> 31 != 0; }
  [[nodiscard]] __device__ __forceinline__ std::int32_t units() const { return static_cast<std::int32_t>(word >> 12 & most_units); }
  [[nodiscard]] __device__ __forceinline__ unsigned negative() const { return word >> 11 & 1; }
  [[nodiscard]] __device__ __forceinline__ std::int32_t column() const { return static_cast<std::int32_t>(word & 0x7FFu); }
};

/// The bits of a warp's 15 columns, and of a column of ones.
template <class S>
using ColumnBits = std::uint32_t[S::chunks][4];

/// Of a strip, complemented where the sign is -1, and what else a bound warp knows: lanes 4i know columns i and i + 8.
template <class S>
class BoundStrip {
 public:
  __device__ __forceinline__ BoundStrip(const Matrix& matrix, std::int32_t first_column, const std::uint32_t* negative,
                                        const std::int32_t* tabu_times)
      : n_(matrix.n), first_(first_column) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::int32_t at = place(half), column = first_ + at;
      const bool is_move = at < S::strip_columns && column < n_;
      negative_[half] = is_move ? negative[column / 32] >> column % 32 & 1 : 0;
      tabu_[half] = is_move ? tabu_times[column] : 0;
#pragma unroll
      for (int c = 0; c < S::chunks; ++c)
#pragma unroll
        for (int k = 0; k < 2; ++k) {
          const std::int32_t word = 8 * c + 2 * (lane() % 4) + k;
          bits_[c][2 * k + half] = at == S::strip_columns ? ~0u
                                   : is_move && word < matrix.words_per_column
                                       ? __ldg(matrix.by_column + column * matrix.column_pitch + word) ^ (0u - negative_[half])
                                       : 0u;
        }
    }
  }
  __device__ __forceinline__ void flip(std::int32_t column) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (!is(half, column)) continue;
      negative_[half] ^= 1;
#pragma unroll
      for (int c = 0; c < S::chunks; ++c)
#pragma unroll
        for (int k = 0; k < 2; ++k) bits_[c][2 * k + half] = ~bits_[c][2 * k + half];
    }
  }
  __device__ __forceinline__ void forbid(std::int32_t column, std::int32_t until) {
#pragma unroll
    for (int half = 0; half < 2; ++half)
      if (is(half, column)) tabu_[half] = until;
  }
  /// Writes [column of the strip], and the sizes of A and of the rows with S = -1. `masks`: Table::signs.
  __device__ __forceinline__ void write_bounds(const std::uint32_t* masks, std::int32_t t, std::uint32_t* to, std::int32_t* sizes) const {
    const std::uint32_t* const mask = masks + min(lane() / 4, Table::zero - Table::signs) * S::mask_words + lane() % 4 * 2 * S::chunks;
    std::int32_t counts[2][4] = {};
#pragma unroll
    for (int c = 0; c < S::chunks; c += 2) {
      const uint4 four = *reinterpret_cast<const uint4*>(mask + 2 * c);
      count_ones<8>(counts[0], bits_[c], {four.x, four.y});
      count_ones<8>(counts[1], bits_[c + 1], {four.z, four.w});
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) counts[0][k] += counts[1][k];
    if (warp() == S::table_warps && lane() / 4 == 7 && lane() % 4 < 2) sizes[lane() % 4] = counts[0][2];
    if (lane() % 4 != 0) return;
    const std::int32_t of_a = n_ % 2 != 0 ? 3 : 4, of_b = n_ % 2 != 0 ? 1 : 2;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::int32_t at = place(half), column = first_ + at;
      if (at == S::strip_columns) continue;
      to[at] =
          column < n_
              ? BoundedMove::of(tabu_[half] > t, of_a * counts[0][2 * half] + of_b * counts[0][2 * half + 1], negative_[half], column).word
              : BoundedMove::none;
    }
  }
  __device__ __forceinline__ void store_tabu_times(std::int32_t* tabu_times) const {
#pragma unroll
    for (int half = 0; half < 2; ++half)
      if (lane() % 4 == 0 && place(half) < S::strip_columns && first_ + place(half) < n_) tabu_times[first_ + place(half)] = tabu_[half];
  }

 private:
  [[nodiscard]] static __device__ __forceinline__ std::int32_t place(int half) { return 8 * half + lane() / 4; }
  [[nodiscard]] __device__ __forceinline__ bool is(int half, std::int32_t column) const {
    return place(half) < S::strip_columns && first_ + place(half) == column;
  }

  std::int32_t n_, first_;
  ColumnBits<S> bits_;
  unsigned negative_[2];
  std::int32_t tabu_[2];
};

/// The moves of a block that may be the best, as every warp of those that need them finds them. A lane has every 32nd move.
template <class S>
class Selection {
 public:
  std::int32_t constant;  ///< C
  std::int32_t limit;     ///< units of moves that are evaluated
  std::int32_t total;     ///< moves within the limit that were not evaluated before this round

  /// `slack`: how many units of 60 histograms are expected to add.
  __device__ __forceinline__ Selection(const std::uint32_t* moves, const std::int32_t* sizes, std::int32_t sign_part, std::int32_t slack) {
    std::uint32_t least = BoundedMove::none;
#pragma unroll
    for (int k = 0; k < S::columns_of_lane; ++k) {
      moves_[k] = moves[32 * k + lane()];
      least = min(least, moves_[k]);
    }
    constant = sign_part - 2 * ppp::sign_weight * (2 * sizes[0] - sizes[1]);
    least = warp_min(least);
    limit = BoundedMove{least}.tabu() ? all : BoundedMove{least}.units() + slack;
  }
  /// The next 15 within the limit into `list`. By a whole warp, with a list of its own.
  __device__ __forceinline__ void choose(std::uint32_t* list, std::int32_t best_z) {
    const std::uint32_t before = (1u << lane()) - 1, end = BoundedMove::end_of(limit);
    const std::uint32_t tabu_end = limit == all ? end : min(end, BoundedMove::end_of(max(limit_for(best_z - 1), -1)));  // z may be best
    total = 0;
    __syncwarp();
#pragma unroll
    for (int k = 0; k < S::columns_of_lane; ++k) {
      const std::uint32_t word = moves_[k];
      const bool chosen = word < end || word - BoundedMove::tabu_bit < tabu_end;
      const std::uint32_t others = __ballot_sync(~0u, chosen);
      const std::int32_t at = total + __popc(others & before);
      if (chosen && at < S::strip_columns) {
        list[at] = word;
        moves_[k] = BoundedMove::none;  // not again
      }
      total += __popc(others);
    }
    __syncwarp();
  }
  /// What z of moves beyond the limit cannot lie below.
  [[nodiscard]] __device__ __forceinline__ std::int32_t least_beyond() const { return constant + 2 * ppp::sign_weight * (limit + 1); }
  [[nodiscard]] __device__ __forceinline__ std::int32_t limit_for(std::int32_t z) const {
    return min((z - constant) / (2 * ppp::sign_weight), all);
  }

  static constexpr auto all = static_cast<std::int32_t>(BoundedMove::most_units);

 private:
  std::uint32_t moves_[S::columns_of_lane];  ///< BoundedMove
};

/// The bits of the moves of a list, and ones. `bits`: [column][pitch].
template <class S>
__device__ __forceinline__ void load_moves(ColumnBits<S>& to, const std::uint32_t* list, const std::uint32_t* bits, std::int32_t pitch) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const std::int32_t at = 8 * half + lane() / 4;
    const BoundedMove move{list[at]};
    const auto* const words = reinterpret_cast<const uint2*>(bits + move.column() * pitch) + lane() % 4;
    const bool all_ones = half == 1 && at == S::strip_columns;
    const std::uint32_t ones = all_ones ? ~0u : 0u, turned = all_ones ? 0u : 0u - move.negative();
#pragma unroll
    for (int c = 0; c < S::chunks; ++c) {
      const uint2 two = words[4 * c];
      to[c][half] = (two.x | ones) ^ turned;
      to[c][2 + half] = (two.y | ones) ^ turned;
    }
  }
}

/// What a warp needs to count a set of bins. Mapping: a lane two masks a group, and as many bins; masks of a lane follow each other.
template <class S>
struct SetPlan {
  static constexpr int per_lane = 2 * S::groups;  ///< masks, and bins

  std::int32_t first;  ///< bin of the first mask
  const std::uint32_t *low[S::groups], *high[S::groups];
  std::int32_t target[per_lane], target_sum;

  __device__ __forceinline__ SetPlan(const Matrix& matrix, const BoundsLayout& layout, std::int32_t first_mask)
      : first(first_mask), target_sum(0) {
    const std::int32_t quarter = lane() % 4, eighth = lane() / 4;
    const std::uint32_t* const tables = shared_at<std::uint32_t>(layout.tables) + quarter * 2 * S::chunks;
#pragma unroll
    for (int g = 0; g < S::groups; ++g) {
      const std::int32_t bin = first + per_lane * (eighth / 2) + 2 * g + eighth % 2;
      low[g] = tables + (Table::lows + (bin & 7)) * S::mask_words;
      high[g] = tables + (Table::highs + (bin >> 3 & 15)) * S::mask_words;
    }
#pragma unroll
    for (int e = 0; e < per_lane; ++e) {
      const std::int32_t v = 2 * (first + per_lane * quarter + e - first_bin_from_zero) + matrix.n % 2;
      target[e] = is_bin(e) && v <= matrix.n ? shared_at<std::uint16_t>(layout.target)[v / 2] : 0;
      target_sum += target[e];
    }
  }
  /// Lies between two masks of the set.
  [[nodiscard]] static __device__ __forceinline__ bool is_bin(int e) {
    return (e > 0 || lane() % 4 > 0) && (e < per_lane - 1 || lane() % 4 < 3);
  }
};

/// What a set of bins adds to z of the lane's two columns. `edge`: by how many bins those with rows become fewer at the upper end, whose
/// bin is `top`, if the next flip reaches one bin further.
template <class S>
__device__ __forceinline__ void count_set(const SetPlan<S>& plan, const ColumnBits<S>& bits, std::int32_t top, std::int32_t& edge,
                                          std::int32_t (&z)[2]) {
  constexpr int G = S::groups, per_lane = 2 * G;
  const std::int32_t quarter = lane() % 4;
  std::int32_t counts[G][4] = {}, more[G][4] = {};  // in two chains
#pragma unroll
  for (int c = 0; c < S::chunks; c += 2) {
#pragma unroll
    for (int g = 0; g < G; ++g) {
      const uint4 low = *reinterpret_cast<const uint4*>(plan.low[g] + 2 * c), high = *reinterpret_cast<const uint4*>(plan.high[g] + 2 * c);
      count_ones<8>(counts[g], bits[c], {low.x & high.x, low.y & high.y});
      count_ones<8>(more[g], bits[c + 1], {low.z & high.z, low.w & high.w});
    }
  }
#pragma unroll
  for (int g = 0; g < G; ++g)
#pragma unroll
    for (int k = 0; k < 4; ++k) counts[g][k] += more[g][k];
  std::int32_t base[per_lane];
  {
    std::int32_t sizes[per_lane];
#pragma unroll
    for (int e = 0; e < per_lane; ++e) sizes[e] = counts[e / 2][2 + e % 2];  // of lanes 28 and up
    const std::int32_t last = top - plan.first;                              // its mask, and that of the bin below
    if (last > 0 && last <= S::set_bins) {
      unsigned occupied = 0;  // bit 4 (mask % per_lane) + mask / per_lane
#pragma unroll
      for (int e = 0; e < per_lane; ++e) occupied |= __ballot_sync(~0u, sizes[e] != 0) >> 28 << 4 * e;
      const auto has_rows = [&](std::int32_t mask) { return occupied >> (4 * (mask % per_lane) + mask / per_lane) & 1; };
      edge = has_rows(last) ? -1 : has_rows(last - 1) ? 0 : 1;
    }
    base[0] = __shfl_sync(~0u, sizes[per_lane - 1], 27 + quarter) - plan.target[0];
#pragma unroll
    for (int e = 1; e < per_lane; ++e) base[e] = __shfl_sync(~0u, sizes[e - 1], 28 + quarter) - plan.target[e];
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    std::int32_t positive[per_lane];
#pragma unroll
    for (int e = 0; e < per_lane; ++e) positive[e] = counts[e / 2][2 * half + e % 2];
    const std::int32_t before = __shfl_up_sync(~0u, positive[per_lane - 1], 1), after = __shfl_down_sync(~0u, positive[0], 1);
    z[half] -= plan.target_sum;
#pragma unroll
    for (int e = 0; e < per_lane; ++e) {
      const std::int32_t below = e == 0 ? before : positive[e - 1], above = e == per_lane - 1 ? after : positive[e + 1];
      if (SetPlan<S>::is_bin(e)) z[half] += abs(base[e] + above - below);
    }
  }
}

/// Barriers of so many threads of a block: the masks of the sign part are written; tables and bounds are; the terms of a round are; the
/// next round is known; tables are free or written anew. Barrier 0 is __syncthreads().
enum class Stage : int { masks = 1, bounds = 2, terms = 3, round = 4, tables = 5 };
template <class S>
[[nodiscard]] constexpr int threads_at(Stage stage) {
  switch (stage) {
    case Stage::masks:
      return 32 * (S::mask_warps + S::bound_warps);
    case Stage::bounds:
      return S::threads;
    case Stage::terms:
    case Stage::round:
      return 32 * (S::table_warps + 1);
    default:
      return 32 * S::table_warps;
  }
}
template <class S, Stage Which>
__device__ __forceinline__ void meet() {
  asm volatile("barrier.sync.aligned %0, %1;" ::"n"(static_cast<int>(Which)), "n"(threads_at<S>(Which)) : "memory");
}
template <class S, Stage Which>
__device__ __forceinline__ void arrive() {
  asm volatile("barrier.arrive.aligned %0, %1;" ::"n"(static_cast<int>(Which)), "n"(threads_at<S>(Which)) : "memory");
}

/// `low` of a key: column, sign after the flip, units of the sign part. Its order is that of columns.
[[nodiscard]] __device__ __forceinline__ unsigned low_of(const BoundedMove& move) {
  return static_cast<unsigned>(move.column()) << 14 | (move.negative() ^ 1) << 13 | static_cast<unsigned>(move.units());
}

/// Mapping: a cluster of `searches.blocks` blocks a search. Table warps, which also count, come first; then bound warps, the first
/// of which is the key warp. The last warp of a block keeps the progress of the search and its solutions, beside the others: it reads the
/// keys and nothing else, and the others do not pass the barrier of the next bounds before.
template <class S>
__global__ void __launch_bounds__(S::threads, 1)
    bounds_kernel(const __grid_constant__ Matrix matrix, const __grid_constant__ BoundsLayout layout,
                  const __grid_constant__ Searches searches, const Rules rules) {
  __shared__ alignas(16) cuda::Word messages[2][S::most_blocks];
  __shared__ alignas(8) std::uint64_t arrival_words[2];
  __shared__ std::uint32_t bounded_moves[32 * S::columns_of_lane];
  __shared__ std::uint32_t lists[S::table_warps + 1][S::strip_columns + 1];  // and of the key warp
  __shared__ std::int32_t sizes[2], edge, next_limit, top_at_first, sign_part_at_first;
  const auto blocks = searches.blocks, search = static_cast<std::int32_t>(blockIdx.x) / blocks,
             block = static_cast<std::int32_t>(blockIdx.x) % blocks, thread = static_cast<std::int32_t>(threadIdx.x);
  local_search::SearchProgress& all_progress = searches.all_progress[search];
  std::uint32_t* const current = searches.current + static_cast<std::size_t>(search) * matrix.words_per_row;
  std::uint32_t* const best = searches.best + static_cast<std::size_t>(search) * matrix.words_per_row;
  std::int32_t* const tabu_times = searches.tabu_until + static_cast<std::size_t>(search) * searches.tabu_entries;
  auto t = static_cast<std::int32_t>(all_progress.iterations), z = static_cast<std::int32_t>(all_progress.value),
       best_z = static_cast<std::int32_t>(all_progress.best_value);
  bool ended = all_progress.at_optimum;

  // --- set up ---
  const std::int32_t first_column = block * S::columns, lowest = lowest_mask(matrix.n), first_of_bits = layout.in_shared ? 0 : first_column;
  std::uint16_t* const numbers = shared_at<std::uint16_t>(layout.tables);
  std::uint32_t* const bits = shared_at<std::uint32_t>(layout.bits);
  std::int32_t* const terms = shared_at<std::int32_t>(layout.terms);
  const cuda::StepArrivals arrivals{static_cast<std::uint32_t>(__cvta_generic_to_shared(arrival_words))};
  if (thread < 2) arrivals.init(static_cast<unsigned>(thread));
  if (thread == 0) {
    top_at_first = lowest + 1;
    sign_part_at_first = 0;
  }
  {
    const std::int32_t columns = layout.in_shared ? matrix.n : S::columns;
    for (std::int32_t k = thread; k < columns * layout.column_pitch + S::column_words; k += S::threads) {
      const std::int32_t column = first_of_bits + k / layout.column_pitch, word = k % layout.column_pitch;
      bits[k] = column < matrix.n && word < matrix.words_per_column ? __ldg(matrix.by_column + column * matrix.column_pitch + word) : 0;
    }
  }
  for (std::int32_t k = thread; k <= matrix.n / 2; k += S::threads) {
    const std::int32_t v = 2 * k + matrix.n % 2;
    shared_at<std::uint16_t>(layout.target)[k] = v < 1 ? 0 : static_cast<std::uint16_t>(matrix.target[v]);
  }
  for (std::int32_t k = thread; k < 32 * S::columns_of_lane; k += S::threads) bounded_moves[k] = BoundedMove::none;
  for (std::int32_t k = thread; k < (S::table_warps + 1) * (S::strip_columns + 1); k += S::threads)
    lists[0][k] = static_cast<std::uint32_t>(first_column);  // a column of the block, where there are fewer moves
  __syncthreads();
  for (std::int32_t row = thread; row < matrix.m; row += S::threads) {
    std::int32_t count = 0;
    for (std::int32_t word = 0; word < matrix.words_per_row; ++word)
      count += __popc(matrix.by_row[static_cast<std::size_t>(word) * matrix.m + row] ^ current[word]);
    // beyond n all bits are zero
    numbers[row] = static_cast<std::uint16_t>(count + bias_of(matrix.n));
    atomicMax(&top_at_first, count + bias_of(matrix.n));
    atomicAdd(&sign_part_at_first, ppp::sign_cost(2 * count - matrix.n));
  }
  for (std::int32_t k = thread; k < S::strip_columns * S::term_pitch; k += S::threads) terms[k] = 0;
  __syncthreads();
  const bool has_tables = warp() < S::table_warps, is_key_warp = warp() == S::table_warps, keeps_progress = thread >= S::workers;
  std::int32_t sign_part = sign_part_at_first;
  const auto messages_address = static_cast<std::uint32_t>(__cvta_generic_to_shared(messages));

  // --- search ---
  MoveKey taken = cuda::no_key<MoveKey>();
  std::int32_t column = 0;
  bool moved = false;
  // The least key of a step, once it is there.
  const auto wait = [&](unsigned step) {
    arrivals.wait(step);
    const cuda::Word least = cuda::warp_min(lane() < blocks ? messages[step & 1][lane()] : ~cuda::Word{0});
    taken = {static_cast<unsigned>(least >> 32), static_cast<unsigned>(least)};
    column = static_cast<std::int32_t>(taken.low >> 14);
    moved = true;
    ended = rules.method == local_search::Method::hill && z_of(taken) >= z;
    if (ended) return;
    z = z_of(taken);
    ++t;
  };
  const auto slack = [&] { return (z - sign_part + 2 * ppp::sign_weight) / (2 * ppp::sign_weight); };
  // After wait(): the sign part follows, and the best value, which the moves of the next iteration are compared with.
  const auto follow = [&](const std::int32_t constant) {
    if (!ended) sign_part = constant + 2 * ppp::sign_weight * static_cast<std::int32_t>(taken.low & BoundedMove::most_units);
    best_z = min(best_z, z);
  };
  const auto end = [&] {
    cuda::barrier_of_all<true>();  // all have read `current`, and no keys are on their way
    __syncthreads();
  };
  if (keeps_progress) {
    __syncthreads();
    cuda::barrier_of_all<true>();
    __syncthreads();
    local_search::SearchProgress progress = all_progress;
    std::uint32_t negative[2];
#pragma unroll
    for (int k = 0; k < 2; ++k) negative[k] = lane() + 32 * k < matrix.words_per_row ? current[lane() + 32 * k] : 0;
    if (!ended && t < rules.limit) arrive<S, Stage::bounds>();
    for (unsigned step = 1; !ended && t < rules.limit; ++step) {
      wait(step);
      if (!ended && t < rules.limit) arrive<S, Stage::bounds>();
      if (block != 0) continue;
      progress.take({z_of(taken), column, is_forbidden(taken)}, rules.method);
      if (ended) break;
#pragma unroll
      for (int k = 0; k < 2; ++k)
        if (lane() + 32 * k == column / 32) negative[k] ^= 1u << column % 32;
      if (z >= best_z) continue;
      best_z = z;
#pragma unroll
      for (int k = 0; k < 2; ++k)
        if (lane() + 32 * k < matrix.words_per_row) best[lane() + 32 * k] = negative[k];
    }
    end();
    if (block != 0) return;
    if (lane() == 0) all_progress = progress;
#pragma unroll
    for (int k = 0; k < 2; ++k)
      if (lane() + 32 * k < matrix.words_per_row) current[lane() + 32 * k] = negative[k];
    return;
  }
  if (has_tables) {
    BiasedPlanes<S> planes{matrix, layout};
    planes.init(numbers);
    __syncthreads();  // the numbers make room for the tables
    for (std::int32_t k = thread; k < S::mask_words; k += 32 * S::table_warps)
      shared_at<std::uint32_t>(layout.tables)[Table::zero * S::mask_words + k] = 0;
    cuda::barrier_of_all<true>();
    __syncthreads();
    std::int32_t top = top_at_first;  // no bins beyond have rows
    SetPlan<S> plan{matrix, layout, lowest + S::set_bins * warp()};
    for (unsigned step = 1; !ended && t < rules.limit; ++step) {
      if (moved) planes.flip(column, taken.low >> 13 & 1);
      if (warp() < S::mask_warps) {
        planes.write_signs();
        arrive<S, Stage::masks>();
      }
      planes.write_tables(lowest);
      meet<S, Stage::bounds>();
      Selection<S> selection{bounded_moves, sizes, sign_part, slack()};
      std::int32_t written = lowest;
      do {
        selection.choose(lists[warp()], best_z);
        ColumnBits<S> moves;
        load_moves<S>(moves, lists[warp()], bits - first_of_bits * layout.column_pitch, layout.column_pitch);
        std::int32_t parts[2] = {};
        for (std::int32_t window = lowest; window <= top; window += S::window_bins) {
          if (window != written) {
            meet<S, Stage::tables>();
            planes.write_tables(written = window);
            meet<S, Stage::tables>();
          }
          const std::int32_t first = window + S::set_bins * warp();
          if (first > top) continue;
          if (first != plan.first) plan = SetPlan<S>{matrix, layout, first};
          count_set<S>(plan, moves, top, edge, parts);
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          parts[half] += __shfl_xor_sync(~0u, parts[half], 1);
          const std::int32_t at = 8 * half + lane() / 4;
          if (lane() % 2 == 0 && at < S::strip_columns) terms[at * S::term_pitch + 2 * warp() + lane() % 4 / 2] = parts[half];
        }
        arrive<S, Stage::terms>();
        meet<S, Stage::round>();
        selection.limit = next_limit;
      } while (selection.limit >= 0);
      top = max(top - edge, lowest + 1);
      if (plan.first != lowest + S::set_bins * warp()) plan = SetPlan<S>{matrix, layout, lowest + S::set_bins * warp()};
      wait(step);
      follow(selection.constant);
    }
  } else {
    __syncthreads();
    BoundStrip<S> strip{matrix, first_column + S::strip_columns * (warp() - S::table_warps), current, tabu_times};
    cuda::barrier_of_all<true>();
    __syncthreads();
    for (unsigned step = 1; !ended && t < rules.limit; ++step) {
      if (moved) {
        strip.flip(column);
        if (rules.method == local_search::Method::tabu)
          strip.forbid(column, static_cast<std::int32_t>(local_search::tabu_until(t - 1, rules.tenure)));
      }
      meet<S, Stage::masks>();
      strip.write_bounds(shared_at<std::uint32_t>(layout.tables) + Table::signs * S::mask_words, t,
                         bounded_moves + S::strip_columns * (warp() - S::table_warps), sizes);
      meet<S, Stage::bounds>();
      if (!is_key_warp) {
        wait(step);
        continue;
      }
      Selection<S> selection{bounded_moves, sizes, sign_part, slack()};
      MoveKey least = cuda::no_key<MoveKey>();
      for (bool again = true; again;) {
        selection.choose(lists[warp()], best_z);
        meet<S, Stage::terms>();
        MoveKey mine = cuda::no_key<MoveKey>();
        if (lane() < min(selection.total, S::strip_columns)) {
          const BoundedMove move{lists[warp()][lane()]};
          std::int32_t sum = matrix.target_sum + selection.constant + 2 * ppp::sign_weight * move.units();
          const int4* const from = reinterpret_cast<const int4*>(terms + lane() * S::term_pitch);
#pragma unroll
          for (int k = 0; k < S::term_quads; ++k) {
            const int4 four = from[k];
            sum += four.x + four.y + four.z + four.w;
          }
          mine = {high_of(sum, move.tabu() ? t + 1 : 0, t, best_z), low_of(move)};
        }
        cuda::lower(least, cuda::warp_argmin(mine));
        const bool more = selection.total > S::strip_columns;
        again = more || (selection.limit < Selection<S>::all && z_of(least) >= selection.least_beyond());
        if (again && !more) selection.limit = selection.limit_for(z_of(least));
        if (!again && lane() < blocks)
          cuda::store_counted(
              cuda::address_in_block(messages_address + 8 * static_cast<std::uint32_t>(static_cast<int>(step & 1) * S::most_blocks + block),
                                     lane()),
              cuda::address_in_block(arrivals.of(step).address, lane()), static_cast<cuda::Word>(least.high) << 32 | least.low);
        if (lane() == 0) {
          if (!again) arrivals.of(step).expect(8 * static_cast<std::uint32_t>(blocks));
          next_limit = again ? selection.limit : -1;
        }
        __syncwarp();
        arrive<S, Stage::round>();
      }
      wait(step);
      follow(selection.constant);
    }
    if (moved && !ended && rules.method == local_search::Method::tabu)
      strip.forbid(column, static_cast<std::int32_t>(local_search::tabu_until(t - 1, rules.tenure)));
    strip.store_tabu_times(tabu_times);
  }
  end();
}

// --- host -----------------------------------------------------------------------------------------------------------------------

/// For Engine.
template <class S>
struct BoundsSearch {
  static constexpr int flips = 1, threads = S::threads;

  /// A cluster has all moves and rows.
  [[nodiscard]] static bool holds(const ppp::Ppp& instance, const local_search::Task& task) {
    return task.restarts == 1 && instance.rows() <= 256 * S::chunks && instance.columns() <= S::most_columns &&
           SearchPolicy<BoundsSearch>::of(instance, task).in_cluster;
  }
  [[nodiscard]] static BoundsLayout layout(std::int32_t m, std::int32_t n) { return BoundsLayout::of<S>(m, n); }
  [[nodiscard]] static std::int64_t shares(std::int32_t n) { return divide_up(n, S::columns); }
  [[nodiscard]] static std::size_t tabu_entries(std::int32_t n) { return static_cast<std::size_t>(n); }
  [[nodiscard]] static Policy record(const BoundsLayout& layout) { return {{"columns_in_shared", layout.in_shared}}; }
};
}  // namespace

template <class S>
inline constexpr auto kernel_of<BoundsSearch<S>> = &bounds_kernel<S>;

std::unique_ptr<Run> run_by_bounds(const local_search::PppFlip<1>& neighborhood, const local_search::Task& task) {
  using Search = BoundsSearch<BoundsShape<6, 6>>;
  return Search::holds(neighborhood.instance(), task) ? make_run<Search>(neighborhood, task) : run_by_tiles(neighborhood, task);
}

}  // namespace perceptron
}  // namespace vicinity::lsm
