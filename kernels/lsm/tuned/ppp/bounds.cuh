#pragma once
// What bounds.cu consists of: its shapes, its shared memory, and the parts of its phases. That file says how they work together.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/collective/warp.cuh"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/lsm/tuned/ppp/bit_planes.cuh"
#include "kernels/lsm/tuned/ppp/search.cuh"

namespace vicinity::lsm::perceptron {

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
  static constexpr int candidates = 32;
  static_assert(Chunks % 2 == 0 && window_bins + masks_of_set <= 120 && bound_warps >= columns_of_lane + 2);
};

/// Of the tables: numbers modulo 8, their eighth modulo 16, the three masks of the sign part, and zero.
struct Table {
  static constexpr int lows = 0, highs = 8, signs = 24, zero = 27, count = 28;
};

/// The dynamic shared memory of a block. `tables`: Table::count masks, at first [row] 16 bits, the biased number of positive entries.
/// `terms`: of a round's moves, what the histogram adds. `target`: [product / 2], of the positive products that there can be. `bits`: of
/// all columns or of the block's own, an even pitch.
template <class S>
[[nodiscard]] PlanesLayout bounds_layout(std::int32_t m, std::int32_t n) {
  PlanesLayout layout{};
  layout.column_pitch = (divide_up(m, 32) + 1) / 2 * 2;
  layout.tables = layout.add(std::max(Table::count * S::mask_words * 4, 2 * m));
  layout.terms = layout.add(S::strip_columns * S::term_pitch * 4);
  layout.target = layout.add(2 * (n / 2 + 1));
  const auto bits_of = [&](std::int64_t columns) { return 4 * (columns * layout.column_pitch + S::column_words); };
  layout.in_shared = layout.bytes + bits_of(n) + 2048 <= static_cast<std::int64_t>(cuda::most_shared()) ? 1 : 0;
  layout.bits = layout.add(bits_of(layout.in_shared ? n : S::columns));
  return layout;
}

/// The bin of a product: number of positive entries and bias. Products from 0 on have the highest plane.
inline constexpr std::int32_t first_bin_from_zero = 1024;
[[nodiscard]] __device__ __forceinline__ std::int32_t bias_of(std::int32_t n) { return first_bin_from_zero - (n + 1) / 2; }
/// The mask below the first bin of a positive product.
[[nodiscard]] __device__ __forceinline__ std::int32_t lowest_mask(std::int32_t n) { return first_bin_from_zero - n % 2; }

// --- phases -------------------------------------------------------------------------------------------------------------------

/// The numbers of positive entries of 32 rows a thread; four threads have the same rows, and write different tables. The words of a mask
/// lie in the order in which a lane of the matrix units reads them: a quarter of the warp has words 2q and 2q + 1 of each eight.
template <class S>
class BiasedPlanes : public BitPlanes<S::planes> {
  using BitPlanes<S::planes>::plane_, BitPlanes<S::planes>::valid_, BitPlanes<S::planes>::layout_;

 public:
  __device__ __forceinline__ BiasedPlanes(const Matrix& matrix, const PlanesLayout& layout) : BitPlanes<S::planes>(matrix, layout) {
    const std::int32_t t = static_cast<std::int32_t>(threadIdx.x), j = t % S::column_words % (2 * S::chunks);
    index_ = t / S::column_words;
    position_ = t % S::column_words;
    this->set_rows(8 * (j / 2) + 2 * (position_ / (2 * S::chunks)) + j % 2);
    odd_ = matrix.n % 2 != 0 ? ~0u : 0u;
    for (int k = 0; k < 2; ++k) unlike_[k] = (index_ >> k & 1) != 0 ? 0u : ~0u;
  }
  /// The masks A, B, and of the rows with S = -1.
  __device__ __forceinline__ void write_signs() const {
    if (index_ >= 3) return;
    std::uint32_t any = 0, all = odd_;
#pragma unroll
    for (int p = 0; p + 1 < S::planes; ++p) {
      any |= plane_[p];
      all &= plane_[p];
    }
    // S < 0; S = -1; S = 1, or 0
    const std::uint32_t below = ~plane_[S::planes - 1], last = below & all, first = ~(below | any);
    const std::uint32_t mask = index_ == 0 ? below : index_ == 1 ? first | (below & odd_ & ~all) : last;
    table(Table::signs + index_)[position_] = mask & valid_;
  }
  /// The tables for the 128 bins from `first` on, rounded down to a multiple of 8.
  __device__ __forceinline__ void write_tables(std::int32_t first) const {
    const std::int32_t group = first >> 3;
    write_tables_with([&](int e) {
      const std::int32_t number = (group + ((index_ + 4 * e - group) & 15)) >> 4;
      std::uint32_t rows = ~0u;
      for (int p = 7; p < S::planes; ++p) rows &= plane_[p] ^ ((number >> (p - 7) & 1) != 0 ? 0u : ~0u);
      return rows;
    });
  }
  /// The same from lowest_mask() on: of 127 bins from zero, and of the last below.
  __device__ __forceinline__ void write_lowest_tables() const {
    const std::uint32_t some = plane_[7] | plane_[8] | plane_[9], above = plane_[10] & ~some,
                        below = plane_[7] & plane_[8] & plane_[9] & ~plane_[10];
    static_assert(S::planes == 11);
    const std::uint32_t last = index_ == 3 && odd_ != 0 ? below : above;
    write_tables_with([&](int e) { return e == 3 ? last : above; });
  }

 private:
  /// `upper_of`: of table e of the thread, the rows whose highest planes match.
  template <class Upper>
  __device__ __forceinline__ void write_tables_with(const Upper& upper_of) const {
    std::uint32_t* const lows = table(Table::lows + index_) + position_;
    std::uint32_t* const highs = table(Table::highs + index_) + position_;
    const std::uint32_t low = (plane_[0] ^ unlike_[0]) & (plane_[1] ^ unlike_[1]) & valid_,
                        high = (plane_[3] ^ unlike_[0]) & (plane_[4] ^ unlike_[1]);
    lows[0] = low & ~plane_[2];
    lows[4 * S::mask_words] = low & plane_[2];
#pragma unroll
    for (int e = 0; e < 4; ++e)
      highs[4 * e * S::mask_words] = high & upper_of(e) & (e % 2 != 0 ? plane_[5] : ~plane_[5]) & (e / 2 != 0 ? plane_[6] : ~plane_[6]);
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t* table(std::int32_t k) const {
    return shared_at<std::uint32_t>(layout_.tables) + k * S::mask_words;
  }

  std::int32_t index_, position_;  ///< the place in a mask
  std::uint32_t unlike_[2];        ///< ones where a bit of the index is zero
  std::uint32_t odd_;              ///< ones if n is odd
};

/// A move of a block in a word: tabu, its sign part less C in units of 60, the sign before the flip, the column.
struct BoundedMove {
  static constexpr std::uint32_t tabu_bit = 1u << 31, most_units = (1u << 13) - 1, none = ~0u << 11;  ///< none: from there on

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
  __device__ __forceinline__ void write_bounds(const std::uint32_t* masks, std::int32_t t, std::uint32_t* to, std::uint32_t* expected,
                                               std::int32_t* sizes) const {
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
      if (column >= n_) {
        to[at] = expected[at] = BoundedMove::none | static_cast<std::uint32_t>(S::strip_columns * (warp() - S::table_warps) + at);
        continue;
      }
      const BoundedMove move = BoundedMove::of(false, of_a * counts[0][2 * half] + of_b * counts[0][2 * half + 1], negative_[half], column);
      to[at] = move.word | (tabu_[half] > t ? BoundedMove::tabu_bit : 0u);
      expected[at] = move.word | (tabu_[half] > t + 1 ? BoundedMove::tabu_bit : 0u);
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

/// The moves of a block within a limit, 15 at a time. A lane has every 32nd move.
template <class S>
struct Selection {
  static constexpr auto all = static_cast<std::int32_t>(BoundedMove::most_units);

  std::uint32_t moves[S::columns_of_lane];  ///< BoundedMove
  std::int32_t limit, tabu_limit;           ///< units of moves that are evaluated, and of those of them that are tabu
  std::int32_t total;                       ///< moves within the limit that were not evaluated before this round

  __device__ __forceinline__ void load(const std::uint32_t* from) {
#pragma unroll
    for (int k = 0; k < S::columns_of_lane; ++k) moves[k] = from[32 * k + lane()];
  }
  /// The next 15 within the limit into `list`. By a whole warp.
  __device__ __forceinline__ void choose(std::uint32_t* list) {
    const std::uint32_t before = (1u << lane()) - 1, end = BoundedMove::end_of(limit);
    const std::uint32_t tabu_end = limit == all ? end : min(end, BoundedMove::end_of(tabu_limit));
    total = 0;
    __syncwarp();
#pragma unroll
    for (int k = 0; k < S::columns_of_lane; ++k) {
      const std::uint32_t word = moves[k];
      const bool chosen = word < end || word - BoundedMove::tabu_bit < tabu_end;
      const std::uint32_t others = __ballot_sync(~0u, chosen);
      const std::int32_t at = total + __popc(others & before);
      if (chosen && at < S::strip_columns) {
        list[at] = word;
        moves[k] = BoundedMove::none;  // not again
      }
      total += __popc(others);
    }
    __syncwarp();
  }
};

/// How many of these words are less.
template <int Words>
[[nodiscard]] __device__ __forceinline__ std::int32_t rank_among(const std::uint32_t* words, std::uint32_t word) {
  std::int32_t ranks[4] = {};
#pragma unroll
  for (int k = 0; k < Words / 4; ++k) {
    const uint4 four = reinterpret_cast<const uint4*>(words)[k];
    ranks[0] += four.x < word ? 1 : 0;
    ranks[1] += four.y < word ? 1 : 0;
    ranks[2] += four.z < word ? 1 : 0;
    ranks[3] += four.w < word ? 1 : 0;
  }
  return ranks[0] + ranks[1] + ranks[2] + ranks[3];
}

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

  __device__ __forceinline__ SetPlan(const Matrix& matrix, const PlanesLayout& layout, std::int32_t first_mask)
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

/// How many rows a set's bins have: of lanes 28 and up.
template <class S>
struct SetSizes {
  std::int32_t first = -1, of_lane[SetPlan<S>::per_lane];

  /// By how many bins those with rows become fewer at the upper end, whose bin is `top`, if the next flip reaches one bin further.
  [[nodiscard]] __device__ __forceinline__ std::int32_t edge(std::int32_t top) const {
    constexpr int per_lane = SetPlan<S>::per_lane;
    const std::int32_t last = top - first;  // its mask, and that of the bin below
    unsigned occupied = 0;                  // bit 4 (mask % per_lane) + mask / per_lane
#pragma unroll
    for (int e = 0; e < per_lane; ++e) occupied |= __ballot_sync(~0u, of_lane[e] != 0) >> 28 << 4 * e;
    const auto has_rows = [&](std::int32_t mask) { return occupied >> (4 * (mask % per_lane) + mask / per_lane) & 1; };
    return has_rows(last) ? -1 : has_rows(last - 1) ? 0 : 1;
  }
};

/// What a set of bins adds to z of the lane's two columns. `at_top`: of the set that has the bin `top` and the one below.
template <class S>
__device__ __forceinline__ void count_set(const SetPlan<S>& plan, const ColumnBits<S>& bits, std::int32_t top, SetSizes<S>& at_top,
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
    if (top - plan.first > 0 && top - plan.first <= S::set_bins) {
      at_top.first = plan.first;
#pragma unroll
      for (int e = 0; e < per_lane; ++e) at_top.of_lane[e] = sizes[e];
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

/// Barriers of so many threads of a block: the three masks are written, or all have read the keys; bounds are there; the terms of a round
/// are; the next round is known; tables are free or written; the moves of the next iteration are there. Barrier 0 is __syncthreads().
enum class Stage : int { masks = 1, bounds = 2, terms = 3, round = 4, tables = 5, predicted = 6 };
template <class S>
[[nodiscard]] constexpr int threads_at(Stage stage) {
  switch (stage) {
    case Stage::masks:
      return S::threads;
    case Stage::bounds:
      return 32 * S::bound_warps;
    case Stage::terms:
    case Stage::round:
      return 32 * (S::table_warps + 1);
    case Stage::predicted:
      return 32 * (S::table_warps + 2);
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

/// `low` of the key of an evaluated move: column, sign after the flip, units of the sign part. Its order is that of columns. The bound of
/// moves that were not evaluated is a key too, of `low` 0.
inline constexpr unsigned evaluated_bit = 1u << 30;
[[nodiscard]] __device__ __forceinline__ unsigned low_of(const BoundedMove& move) {
  return evaluated_bit | static_cast<unsigned>(move.column()) << 14 | (move.negative() ^ 1) << 13 | static_cast<unsigned>(move.units());
}

}  // namespace vicinity::lsm::perceptron
