// gpu-tuned for the permuted perceptron problem with flips of two and of three signs.
//
// Problem. z of all pairs of columns p < q, an iteration; for three flips once for each first column, as if that were flipped already.
//   z = constant + linear[p] + linear[q] + sum over bins of |rows that p and q bring there - target| + what a pair adds to the sign part
// Bounds first: no bin adds less than zero, and what is left, the sign part, varies far more among pairs, so that of a tile's thousands
// only a few can be the best. The sign part takes the few words of rows whose product is negative or near zero. A pair's own z takes all
// rows.
//
// Where that does not do (below), all bins are counted for all pairs. The rows that come to a bin are ones of p & q over words of sorted
// rows (BinCount in state.cuh): products of binary matrices, one for each bin, that the matrix units count for a whole tile of columns p x
// columns q.
//
// Data layout. A tile is some words of 32 columns each, for p and for q. A slot has a word of 32 sorted rows of one group for each column
// of the tile, first for positive entries, then for negative ones; slot 0 is zero. Slots lie in shared memory if all fit, else there in
// windows, one after the other (K = 2), else in device memory. Sums over bins stay in registers: 4 pairs a lane and fragment.
//
// Phases: (1) sort the rows, for three flips before each tile; (2) pack what the sign part needs: warps transpose the bits of 32 sorted
// rows into slots, and add up `linear`; (3) count the sign part: each thread has the bounds of its pairs, and the block the least of them;
// (4) list the pairs up to a limit, which is guessed from the iteration before; (5) evaluate these, a warp a pair, from a histogram of all
// rows, and list once more if the best lies above the limit; (6) the best of the block.
//
// Where these slots do not fit in shared memory, all moves of the tile are tabu or too many are left: (2) pack all; (3) count: each warp
// goes through all bins for its pairs; (4) choose: each thread adds tabu times and keeps the best of its pairs. Phases 2 and 3 alternate
// where there are windows.
//
// Synchronisation: the barriers of the sort, and one between each two phases. Cost: the sort; five shuffles and two stores a word of rows
// and 32 columns to pack; a tabu time a pair; three loads and an atomic addition in shared memory a row and listed pair. To count all: one
// binary matrix product and one absolute difference a pair, bin and four or eight slots.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>

#include "kernels/lsm/tuned/ppp/search.cuh"
#include "kernels/lsm/tuned/tuned.hpp"

namespace vicinity::lsm {
namespace perceptron {
namespace {

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
};

/// Where the slots of a tile lie: all in shared memory; there, as many at a time as fit; in device memory.
enum class SlotMemory { shared, window, device };

/// Which words of sorted rows are packed.
enum class Packed { all, sign };

/// Above all bounds; the most moves of a tile that are evaluated one by one.
inline constexpr std::int32_t unbounded = std::numeric_limits<std::int32_t>::max(), most_candidates = 1024;

/// The slots from `first` to `end`, of which slot 0 is followed by `first`, and the counts that begin before `next`, where the next window
/// begins.
struct SlotWindow {
  std::int32_t first, next, end;

  [[nodiscard]] static __device__ __forceinline__ SlotWindow at(std::int32_t first, std::int32_t capacity) {
    return {first, first + capacity - 1 - window_overlap, first + capacity - 1};
  }
  [[nodiscard]] __device__ __forceinline__ bool holds(std::int32_t slot) const { return slot >= first && slot < end; }
  [[nodiscard]] __device__ __forceinline__ bool begins(std::uint32_t slot) const {
    return slot - static_cast<std::uint32_t>(first) < static_cast<std::uint32_t>(next - first);
  }
};

// --- the evaluation of a tile ---------------------------------------------------------------------------------------------------

/// By all threads of a block. Bits of the tile and tables lie where its slots do, or, for windows, in shared memory.
template <int K, class Shape, SlotMemory Memory>
struct Tile {
  using Sums = std::int32_t[Shape::p_fragments][Shape::q_fragments][4];
  static constexpr bool in_shared = Memory != SlotMemory::device, windowed = Memory == SlotMemory::window;

  const SortedRows<K>& rows;
  std::int32_t* linear;  ///< [column of the tile]: what the sign part gains by a flip of it, less what pairs share
  TilePosition at;
  const Matrix& matrix = rows.matrix;
  const SharedLayout& layout = rows.layout;
  const Groups& groups = rows.groups;
  SlotWindow window{};

  /// The bits of the tile into shared memory, where they stay for later calls with the same tile. Ends without a barrier.
  __device__ __forceinline__ void load_bits() const {
    for (std::int32_t row = static_cast<std::int32_t>(threadIdx.x); row < matrix.m; row += Shape::threads)
#pragma unroll
      for (int k = 0; k < Shape::words; ++k)
        shared_at<std::uint32_t>(layout.bits)[k * matrix.m + row] =
            word(k) < matrix.words_per_row ? matrix.by_row[static_cast<std::size_t>(word(k)) * matrix.m + row] : 0;
  }

  /// Fills the slots, with the first window `linear` as well, which must be zero. Mapping: a warp takes 32 sorted rows, transposes the bits
  /// of one word of columns after the other, and writes a word a column.
  template <Packed Rows = Packed::all>
  __device__ __forceinline__ void pack() const {
    const RowWord* words = tables().words;
    for (std::int32_t w = warp(); w < groups.words; w += Shape::warps) {
      const RowWord row_word = words[w];
      if (Rows == Packed::sign && row_word.weight == 0 && !is_weighted(row_word.slot)) continue;
      const bool sums = !windowed || window.first == 1, has_positive = !windowed || window.holds(row_word.slot),
                 has_negative = !windowed || window.holds(row_word.slot + row_word.group_words);
      if (!sums && !has_positive && !has_negative) continue;
      const std::int32_t row = shared_at<std::uint16_t>(layout.order)[row_word.first + lane()];
      const std::uint32_t mask = row_word.count == 32 ? ~0u : (1u << row_word.count) - 1;
      std::uint32_t* to = slots() + static_cast<std::ptrdiff_t>(row_word.slot - shift()) * Shape::pitch + lane();
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
        if (sums && row_word.weight != 0) atomicAdd(&linear[32 * k + lane()], 2 * ppp::sign_weight * row_word.weight * __popc(positive));
        if (row_word.slot == 0) continue;
        if (has_positive) to[32 * k] = positive;
        if (has_negative) to[32 * k + row_word.group_words * Shape::pitch] = positive ^ mask;
      }
    }
  }

  /// Adds to z what the bins add whose counts begin in the window. Mapping: a warp 16 x 8 pairs a fragment, all bins one after the other.
  __device__ __forceinline__ void count(Sums& z) const {
    if (is_idle()) return;
    const std::uint32_t* a = slots() + first_p() + lane() / 4;
    const std::uint32_t* b = slots() + 32 * Shape::p_words + first_q() + lane() / 4;
    const auto [words, counts, capacity] = tables();
    const std::int32_t first_long = capacity - groups.long_counts;
    if constexpr (windowed) {
      for_each_of_window(counts, 0, groups.short_counts, [&](const BinCount& bin) { count_bin<4>(bin, a, b, z); });
      for_each_of_window(counts, first_long, capacity, [&](const BinCount& bin) { count_long_bin(bin, a, b, z); });
    } else {
#pragma unroll 2
      for (std::int32_t k = 0; k < groups.short_counts; ++k) count_bin<4>(counts[k], a, b, z);
      for (std::int32_t k = first_long; k < capacity; ++k) count_long_bin(counts[k], a, b, z);
    }
    count_weighted(a, b, z);
  }
  /// Adds to z what pairs add to the sign part.
  __device__ __forceinline__ void count_sign(Sums& z) const {
    if (!is_idle()) count_weighted(slots() + first_p() + lane() / 4, slots() + 32 * Shape::p_words + first_q() + lane() / 4, z);
  }

  /// Makes of z a bound of each move, after count_sign(): z without the counts of bins, none of which is below zero. A bit for each of the
  /// thread's pairs tells whether it is tabu. `unbounded` for what is no move. Leaves the least of those that are not tabu.
  [[nodiscard]] __device__ __forceinline__ unsigned bound(Sums& z, const std::int32_t* tabu_until, std::int32_t t) const {
    unsigned tabu = 0;
    std::int32_t least = unbounded;
    for_each_pair([&](int i, int j, int e, int k, std::int32_t p_at, std::int32_t q_at) {
      std::int32_t& of_pair = z[i][j][e];
      if (is_idle() || !is_move(p_at, q_at)) {
        of_pair = unbounded;
        return;
      }
      of_pair += groups.constant + linear[p_at] + linear[32 * Shape::p_words + q_at];
      if (tabu_until[tabu_place(k, p_at, q_at)] > t)
        tabu |= 1u << k;
      else
        least = min(least, of_pair);
    });
    least = warp_min(least);
    if (lane() == 0) atomicMin(&rows.groups.least_bound, least);
    return tabu;
  }
  /// Lists the moves that may be the best: not tabu and with a bound up to `limit`, or tabu and below `best_z`.
  __device__ __forceinline__ void list(const Sums& bounds, unsigned tabu, std::int32_t limit, std::int32_t best_z, int round) const {
    for_each_pair([&](int i, int j, int e, int k, std::int32_t p_at, std::int32_t q_at) {
      const bool is_tabu = (tabu >> k & 1) != 0;
      if (bounds[i][j][e] > (is_tabu ? best_z - 1 : limit)) return;
      const std::int32_t place = atomicAdd(&rows.groups.candidates[round], 1);
      if (place < most_candidates) candidates()[place] = static_cast<unsigned>(is_tabu) << 31 | static_cast<unsigned>(p_at << 16 | q_at);
    });
  }
  /// Lowers `best` to the best of the listed moves, in all lanes of a warp. Mapping: a warp a move, with a histogram in the place of slots.
  __device__ __forceinline__ void evaluate_listed(std::int32_t count, std::int32_t best_z, int round, MoveKey& best) const {
    for (std::int32_t c = warp(); c < count; c += Shape::warps) {
      const unsigned candidate = candidates()[c];
      const auto p_at = static_cast<std::int32_t>(candidate >> 16 & 0x7FFFu), q_at = static_cast<std::int32_t>(candidate & 0xFFFFu);
      const std::int32_t of_pair = z_of_pair(p_at, q_at);
      const bool is_forbidden = candidate >> 31 != 0 && of_pair >= best_z;
      cuda::lower(best, MoveKey{static_cast<unsigned>(of_pair) | (is_forbidden ? forbidden_bit : 0u),
                                first_code(32 * at.p + p_at) + static_cast<unsigned>(32 * at.q + q_at)});
    }
    if (lane() == 0) atomicMin(&rows.groups.least_high[round], best.high);
  }
  /// Slots hold the histograms and the list.
  [[nodiscard]] __device__ __forceinline__ bool can_list() const {
    return Shape::warps * histogram_bins() + most_candidates <= (layout.slot_capacity - 1) * Shape::pitch;
  }

  /// Lowers `best` to the best of this thread's moves. `tabu_until`: [pair of a thread][thread] for K = 2, [move] for K = 3.
  __device__ __forceinline__ void choose(const Sums& z, const std::int32_t* tabu_until, std::int32_t t, std::int32_t best_z,
                                         MoveKey& best) const {
    if (is_idle()) return;
    for_each_pair([&](int i, int j, int e, int k, std::int32_t p_at, std::int32_t q_at) {
      if (!is_move(p_at, q_at)) return;
      const std::int32_t pair_z = groups.constant + linear[p_at] + linear[32 * Shape::p_words + q_at] + z[i][j][e];
      cuda::lower(best, MoveKey{high_of(pair_z, tabu_until[tabu_place(k, p_at, q_at)], t, best_z),
                                first_code(32 * at.p + p_at) + static_cast<unsigned>(32 * at.q + q_at)});
    });
  }

 private:
  /// work(i, j, e, k, p, q) for the thread's pairs, the k-th of which is z[i][j][e] and columns p and q of the tile.
  template <class Work>
  static __device__ __forceinline__ void for_each_pair(const Work& work) {
#pragma unroll
    for (int i = 0; i < Shape::p_fragments; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int j = 0; j < Shape::q_fragments; ++j)
#pragma unroll
          for (int c = 0; c < 2; ++c)
            work(i, j, 2 * half + c, ((i * 2 + half) * Shape::q_fragments + j) * 2 + c, first_p() + 16 * i + 8 * half + lane() / 4,
                 first_q() + 8 * j + lane() % 4 * 2 + c);
  }
  [[nodiscard]] __device__ __forceinline__ bool is_move(std::int32_t p_at, std::int32_t q_at) const {
    const std::int32_t p = 32 * at.p + p_at, q = 32 * at.q + q_at;
    return q > p && q < matrix.n && p > at.outer;
  }
  [[nodiscard]] __device__ __forceinline__ std::int32_t tabu_place(int k, std::int32_t p_at, std::int32_t q_at) const {
    if constexpr (K == 3) return static_cast<std::int32_t>(first_code(32 * at.p + p_at)) + 32 * at.q + q_at;
    return k * Shape::threads + static_cast<std::int32_t>(threadIdx.x);
  }
  /// Bins that two flips reach.
  [[nodiscard]] __device__ __forceinline__ std::int32_t histogram_bins() const { return groups.high - groups.low + 5; }
  /// [move], after the histograms of the warps, which begin with slot 1.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t* candidates() const {
    return slots() + Shape::pitch + Shape::warps * histogram_bins();
  }
  /// Whether a slot is of a group that has a count in the sign part.
  [[nodiscard]] __device__ __forceinline__ bool is_weighted(std::uint32_t slot) const {
    bool found = false;
    for (const BinCount& bin : groups.weighted) found = found || slot - bin.first < bin.length;
    return found;
  }
  /// z after the flips of two columns of the tile, in all lanes. By a warp, a lane a row.
  [[nodiscard]] __device__ __forceinline__ std::int32_t z_of_pair(std::int32_t p_at, std::int32_t q_at) const {
    const std::int32_t lowest = groups.low - 2, bins = histogram_bins(), q_word = Shape::p_words + q_at / 32;
    std::uint32_t* const histogram = slots() + Shape::pitch + warp() * bins;
    const std::uint32_t *const p_bits = shared_at<std::uint32_t>(layout.bits) + p_at / 32 * matrix.m, *const q_bits =
                                                                                                          shared_at<std::uint32_t>(
                                                                                                              layout.bits) +
                                                                                                          q_word * matrix.m;
    const std::uint32_t p_signs = shared_at<std::uint32_t>(layout.negative)[word(p_at / 32)],
                        q_signs = shared_at<std::uint32_t>(layout.negative)[word(q_word)];
    __syncwarp();  // all have read the histogram of the move before
    for (std::int32_t k = lane(); k < bins; k += 32) histogram[k] = 0;
    __syncwarp();
#pragma unroll 4
    for (std::int32_t row = lane(); row < matrix.m; row += 32) {
      const std::uint32_t positive = ((p_bits[row] ^ p_signs) >> p_at % 32 & 1) + ((q_bits[row] ^ q_signs) >> q_at % 32 & 1);
      atomicAdd(&histogram[rows.keys()[row] + margin + 2 - 2 * static_cast<std::int32_t>(positive) - lowest], 1u);
    }
    __syncwarp();
    std::int32_t sum = 0;
    for (std::int32_t k = lane(); k < bins; k += 32) {
      const std::int32_t v = product_of(lowest + k, matrix.n), count = static_cast<std::int32_t>(histogram[k]);
      const std::int32_t target = v > 0 ? rows.target_at(lowest + k) : 0;
      sum += v > 0 ? abs_difference_plus(count, target, -target) : count * ppp::sign_cost(v);
    }
    return matrix.target_sum + warp_sum(sum);
  }
  __device__ __forceinline__ void count_weighted(const std::uint32_t* a, const std::uint32_t* b, Sums& z) const {
    for (const BinCount& bin : groups.weighted)
      if (bin.length > 0 && (!windowed || window.begins(bin.first))) count_in_steps<true>(bin, a, b, z);
  }
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
  /// Slots before the window, less slot 0.
  [[nodiscard]] __device__ __forceinline__ std::int32_t shift() const { return windowed ? window.first - 1 : 0; }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t in_window(std::uint32_t slot) const {
    return windowed && slot != 0 ? slot - shift() : slot;
  }

  /// Mapping: a lane a count tells whether the window has it.
  template <class Work>
  __device__ __forceinline__ void for_each_of_window(const BinCount* counts, std::int32_t from, std::int32_t to, const Work& work) const {
    for (std::int32_t first = from; first < to; first += 32) {
      const std::int32_t k = first + lane();
      unsigned found = __ballot_sync(~0u, k < to && window.begins(counts[min(k, to - 1)].first));
      for (; found != 0; found &= found - 1) work(counts[first + __ffs(static_cast<int>(found)) - 1]);
    }
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
    for (int k = 0; k < Slots / 4; ++k) partners[k] = in_window(bin.partner[lane() % 4 + 4 * k]);
    load<Slots>(p, q, a, bin.first - shift() + lane() % 4, b, partners);
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
      const std::uint32_t k = first + lane() % 4, partners[2]{in_window(bin.partner_of(k)), in_window(bin.partner_of(k + 4))};
      load<8>(p, q, a, bin.first - shift() + k, b, partners);
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

// --- the evaluator ------------------------------------------------------------------------------------------------------------

/// K = 2: a tile at a time. K = 3: a tile and first column at a time.
template <int K, class Shape>
struct PairsEvaluator {
  static constexpr int flips = K, threads = Shape::threads, cost_terms = Shape::columns;  // `linear`

  const SortedRows<K>& rows;
  const Searches& searches;
  Workspace<cost_terms>& workspace;
  std::int32_t* tabu_until;
  std::int32_t block;
  std::int32_t loaded = -1;  ///< the tile whose bits are in place
  TilePosition first{};      ///< of this block
  std::int32_t slack = 256;  ///< by how much the best move may exceed the least bound, for a guess

  [[nodiscard]] static SharedLayout layout(std::int32_t m, std::int32_t n);
  [[nodiscard]] static std::int64_t shares(std::int32_t n) { return std::int64_t{Shape::tiles(divide_up(n, 32))} * (K == 3 ? n : 1); }
  [[nodiscard]] static std::size_t tabu_entries(std::int32_t n) {
    if constexpr (K == 3) return static_cast<std::size_t>(moves::count<3>(n));
    return static_cast<std::size_t>(Shape::tiles(divide_up(n, 32))) * Shape::threads * Shape::pairs_per_thread;
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
  __device__ __forceinline__ MoveKey evaluate(bool moved, const moves::Move<K>& flipped, std::int32_t t, std::int32_t best_z) {
    const std::int32_t n = rows.matrix.n, tiles = Shape::tiles(rows.matrix.words_per_row), items = K == 2 ? tiles : tiles * n;
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
      if (sign_fits()) {
        if (evaluate_by_bounds(at, item, t, best_z, best)) continue;
        clear_linear();
        __syncthreads();
      }
      if (rows.tables_fit() && workspace.groups.slots <= rows.layout.slot_capacity)
        evaluate_tile<SlotMemory::shared>(at, item, t, best_z, best);
      else if (K == 2 && rows.tables_fit() && !workspace.groups.exceeds_window && 2 * window_overlap <= rows.layout.slot_capacity)
        evaluate_tile<SlotMemory::window>(at, item, t, best_z, best);
      else
        evaluate_tile<SlotMemory::device>(at, item, t, best_z, best);
    }
    if constexpr (K == 3)
      if (moved) sort_again(true, flipped, 0);  // a block without moves follows the last move all the same
    return cuda::block_argmin(best, workspace.keys());
  }
  __device__ __forceinline__ void clear(std::int32_t first_thread) const { rows.clear_histogram(first_thread); }
  __device__ __forceinline__ void prefetch(const moves::Move<K>&) const {}
  /// K = 2: [tile][pair of a thread][thread]. K = 3: [move].
  [[nodiscard]] __device__ __forceinline__ std::size_t tabu_index(unsigned code) const {
    if constexpr (K == 3) return code;
    const auto move = move_of<2>(code, rows.matrix.n);
    const std::int32_t words = rows.matrix.words_per_row;
    std::int32_t tile = 0, p = 0;
    for (; 32 * (p + Shape::p_words) <= move.at[0]; p += Shape::p_words) tile += divide_up(words - p, Shape::q_words);
    const std::int32_t q = (move.at[1] / 32 - p) / Shape::q_words;
    return static_cast<std::size_t>(tile + q) * Shape::threads * Shape::pairs_per_thread +
           Shape::index(move.at[0] - 32 * p, move.at[1] - 32 * (p + q * Shape::q_words));
  }

 private:
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
  template <SlotMemory Memory>
  __device__ __forceinline__ void evaluate_tile(const TilePosition& at, std::int32_t item, std::int32_t t, std::int32_t best_z,
                                                MoveKey& best) {
    Tile<K, Shape, Memory> tile{rows, workspace.cost_terms, at};
    if (tile.in_shared) load_bits(tile);
    typename Tile<K, Shape, Memory>::Sums z = {};
    if constexpr (Memory == SlotMemory::window) {
      for (std::int32_t slot = 1; slot == 1 || slot < workspace.groups.slots; slot = tile.window.next) {
        if (slot > 1) __syncthreads();
        tile.window = SlotWindow::at(slot, rows.layout.slot_capacity);
        tile.pack();
        __syncthreads();
        tile.count(z);
      }
    } else {
      tile.pack();
      __syncthreads();
      tile.count(z);
    }
    tile.choose(z, tabu_of(item), t, best_z, best);
  }
  /// Tabu times of a tile's moves.
  [[nodiscard]] __device__ __forceinline__ const std::int32_t* tabu_of(std::int32_t item) const {
    return K == 3 ? tabu_until : tabu_until + static_cast<std::size_t>(item) * Shape::threads * Shape::pairs_per_thread;
  }
  /// The bits of the tile, unless they are there.
  template <class OfTile>
  __device__ __forceinline__ void load_bits(const OfTile& tile) {
    const std::int32_t number = tile.at.p * rows.matrix.words_per_row + tile.at.q;
    if (number == loaded) return;
    tile.load_bits();
    loaded = number;
    __syncthreads();
  }
  /// Bits, tables and the slots that the sign part needs lie in shared memory.
  [[nodiscard]] __device__ __forceinline__ bool sign_fits() const {
    bool fits = rows.layout.slot_capacity > 0 && rows.tables_fit();
    for (const BinCount& bin : workspace.groups.weighted)
      if (bin.length > 0) fits = fits && bin.first + 2 * bin.length <= static_cast<std::uint32_t>(rows.layout.slot_capacity);
    return fits;
  }
  /// Evaluates only the moves that may be the best, by bounds. False, and `best` as it was, when all moves are tabu, or too many may be.
  /// Ends with a barrier.
  __device__ __forceinline__ bool evaluate_by_bounds(const TilePosition& at, std::int32_t item, std::int32_t t, std::int32_t best_z,
                                                     MoveKey& best) {
    const Tile<K, Shape, SlotMemory::shared> tile{rows, workspace.cost_terms, at};
    load_bits(tile);
    Groups& groups = workspace.groups;
    if (threadIdx.x == 0) {
      groups.least_bound = unbounded;
      groups.candidates[0] = groups.candidates[1] = 0;
      groups.least_high[0] = groups.least_high[1] = cuda::no_key<MoveKey>().high;
    }
    tile.template pack<Packed::sign>();
    __syncthreads();
    typename Tile<K, Shape, SlotMemory::shared>::Sums bounds = {};
    tile.count_sign(bounds);
    const unsigned tabu = tile.bound(bounds, tabu_of(item), t);
    __syncthreads();
    const std::int32_t least = groups.least_bound;
    if (least == unbounded || !tile.can_list()) return false;
    std::int32_t limit = least + slack;
    MoveKey of_tile_best = cuda::no_key<MoveKey>();
    for (int round = 0;; ++round) {
      tile.list(bounds, tabu, limit, best_z, round);
      __syncthreads();
      const std::int32_t count = groups.candidates[round];
      if (count > most_candidates) return false;
      tile.evaluate_listed(count, best_z, round, of_tile_best);
      __syncthreads();
      const auto z = static_cast<std::int32_t>(groups.least_high[round]);
      if (z <= limit) {
        slack = max(slack - 8, z - least + 48);
        cuda::lower(best, of_tile_best);
        return true;
      }
      limit = z;
    }
  }
};

// --- host -----------------------------------------------------------------------------------------------------------------------

/// Words that hold m rows in so many groups, whatever their sizes.
[[nodiscard]] std::int32_t most_words(std::int32_t m, std::int32_t groups) { return (m + 31 * groups) / 32; }

/// Bits and slots are there when they fit.
template <int K, class Shape>
SharedLayout PairsEvaluator<K, Shape>::layout(std::int32_t m, std::int32_t n) {
  constexpr std::int32_t least_slots = 32, spare_slots = 8;  // spare: may be read after the last
  SharedLayout layout = common_layout<K>(m, n);
  layout.spread = usual_spread(n);
  layout.device_count_capacity = std::min(3 * std::min(m, n / 2 + 3), n / 2 + 1);
  layout.count_capacity = std::min(layout.device_count_capacity, layout.spread + 4);
  layout.words = layout.add(most_words(m, std::min(m, layout.spread)), sizeof(RowWord));
  layout.counts = layout.add(layout.count_capacity, sizeof(BinCount));
  require_fit(layout, m, n);

  const std::int32_t most_slots = 1 + 2 * most_words(m, std::min(m, n / 2 + 3));  // of groups of -3 and more, and slot 0
  layout.device_words = static_cast<std::size_t>(most_slots + spare_slots) * Shape::pitch;
  layout.device_counts = layout.device_words + static_cast<std::size_t>(most_words(m, std::min(m, n + 1))) * sizeof(RowWord) / 4;
  layout.scratch_size = layout.device_counts + static_cast<std::size_t>(layout.device_count_capacity) * sizeof(BinCount) / 4;
  const SharedLayout without_slots = layout;
  layout.bits = layout.add(std::int64_t{Shape::words} * m, 4);
  layout.slots = layout.bytes;
  const std::int64_t fit = (std::int64_t{layout_limit()} - layout.bytes) / (4 * Shape::pitch) - spare_slots;
  if (fit < least_slots) return without_slots;
  layout.slot_capacity = static_cast<std::int32_t>(std::min<std::int64_t>(fit, most_slots));
  layout.add(std::int64_t{layout.slot_capacity + spare_slots} * Shape::pitch, 4);
  if (layout.slot_capacity == most_slots && layout.spread == n + 1) layout.scratch_size = 0;
  return layout;
}

/// Estimated cycles of an iteration that counts all bins, on the multiprocessor with most tiles. What a tile costs by itself is the sort
/// for K = 3, and to load its bits for K = 2.
template <int K, class Shape>
[[nodiscard]] double cycles(const ppp::Ppp& instance) {
  constexpr double to_pack = 11, to_count = 2.2, to_begin = K == 3 ? 1500 : 6000, to_change_window = 1500, in_device_memory = 2;
  const std::int32_t m = instance.rows(), n = instance.columns();
  const double bins = std::min<double>(std::min(m, n / 2 + 1), 1.7 * std::sqrt(n)), words = m / 32.0 + bins / 2;
  const double slots = 1.1 * 2 * words, capacity = PairsEvaluator<K, Shape>::layout(m, n).slot_capacity;
  double packing = words * Shape::words * to_pack, changing = 0, slower = 1;
  if (capacity < slots) {
    const double window = capacity - window_overlap;
    if (K == 2 && window >= window_overlap) {
      packing *= capacity / window;
      changing = std::ceil(slots / window) * to_change_window;
    } else {
      slower = in_device_memory;
    }
  }
  const double of_tile = to_begin + (packing + changing + bins * 8 * Shape::p_words * Shape::q_words * to_count) * slower;
  return std::ceil(static_cast<double>(PairsEvaluator<K, Shape>::shares(n)) / cuda::multiprocessors()) * of_tile;
}

/// With the shape of the fewest cycles.
template <int K, class First, class... Rest>
[[nodiscard]] std::unique_ptr<Run> run_with_best(const local_search::PppFlip<K>& neighborhood, const local_search::Task& task) {
  if constexpr (sizeof...(Rest) > 0)
    if (const double others[]{cycles<K, Rest>(neighborhood.instance())...};
        *std::min_element(std::begin(others), std::end(others)) < cycles<K, First>(neighborhood.instance()))
      return run_with_best<K, Rest...>(neighborhood, task);
  return make_run<PairsEvaluator<K, First>>(neighborhood, task);
}

}  // namespace
}  // namespace perceptron

using perceptron::TileShape;

std::unique_ptr<Run> tuned_run(const local_search::PppFlip<2>& neighborhood, const local_search::Task& task) {
  return perceptron::run_with_best<2, TileShape<1, 1, 1, 1>, TileShape<1, 2, 1, 1>, TileShape<2, 2, 1, 2>, TileShape<2, 4, 2, 2>>(
      neighborhood, task);
}
std::unique_ptr<Run> tuned_run(const local_search::PppFlip<3>& neighborhood, const local_search::Task& task) {
  return perceptron::run_with_best<3, TileShape<1, 1, 1, 1>, TileShape<2, 4, 2, 2>>(neighborhood, task);
}

}  // namespace vicinity::lsm
