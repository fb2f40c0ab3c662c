// gpu-tuned for the permuted perceptron problem with flips of two signs: by counts of all bins (tiles.cuh) for few columns, else by bounds.
//
// Problem. z of all pairs of columns p < q, an iteration. No bin adds less than zero to z, and the sign part, which is left then, varies
// far more among pairs: it is a bound by which, of thousands of pairs, only a few can be the best. In units of 2 sign_weight it is
//   constant + column[p] + column[q] + weighted sum of the rows near zero where p and q have positive entries
//
// Data layout. A block has a tile of some words of 32 columns p and of columns q: their bits in shared memory, a column after the other.
// The rows of each bin are a mask (masks.cuh). A thread keeps the bounds and the tabu times of 16 pairs a unit, a warp's 16 x 32 pairs.
//
// Phases: (1) the flips make the masks of the next iteration; (2) count what columns and pairs add, by products of binary matrices: columns
// with the masks of negative products, and columns p with columns q and the masks near zero; (3) bounds, and the least of the block; (4)
// list the pairs up to a limit, which is guessed from the iteration before; (5) evaluate these from the masks of all bins, and list once
// more if the best lies above the limit. Where masks do not fit, all moves of a tile are tabu or too many are left, all bins are counted.
//
// Synchronisation: a block barrier after each phase. Cost: little more than a load and a store of shared memory a mask and 128 rows; two
// binary matrix products for each 256 rows and 128 pairs; one a seven evaluated pairs, 256 rows and six bins.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include "kernels/lsm/tuned/ppp/masks.cuh"
#include "kernels/lsm/tuned/ppp/search.cuh"
#include "kernels/lsm/tuned/ppp/tiles.cuh"
#include "kernels/lsm/tuned/tuned.hpp"

namespace vicinity::lsm {
namespace perceptron {
namespace {

/// Above all bounds; the most moves of a tile that are evaluated one by one.
inline constexpr std::int32_t unbounded = std::numeric_limits<std::int32_t>::max(), most_candidates = 1024;

/// The pairs of so many words of columns p and q, which one block evaluates: each warp `Units` units of 16 columns p and 32 columns q.
template <int PWords, int QWords, int Units, int Warps = 16>
struct PairTile {
  static constexpr int p_words = PWords, q_words = QWords, units = Units;
  static constexpr int words = PWords + QWords, columns = 32 * words, warps = Warps, threads = 32 * warps;
  using Part = TileShape<1, Warps / 8, 1, 1>;  ///< where all bins are counted
  static constexpr int part_words = Part::q_words, parts = PWords * QWords / part_words;
  static_assert(Part::threads == threads && QWords % part_words == 0);

  [[nodiscard]] static VICINITY_HD std::int32_t tiles(std::int32_t words_per_row) {
    std::int32_t tiles = 0;
    for (std::int32_t p = 0; p < words_per_row; p += PWords) tiles += divide_up(words_per_row - p, QWords);
    return tiles;
  }
  /// Of a pair of the tile, into its tabu times: [part][pair of a thread][thread].
  [[nodiscard]] static __device__ __forceinline__ std::int32_t index(std::int32_t p, std::int32_t q) {
    return (p / 32 * (QWords / part_words) + q / (32 * part_words)) * Part::pairs_per_thread * threads +
           Part::index(p % 32, q % (32 * part_words));
  }
};

/// What the threads of a block find together of a tile.
struct TileState {
  std::int32_t constant;       ///< of the sign part, were all entries negative, in units of 2 sign_weight
  std::int32_t least;          ///< bound of what is not tabu
  std::int32_t candidates[2];  ///< moves to evaluate, by round
};

/// By bounds.
template <class T>
struct PairsEvaluator {
  static constexpr int flips = 2, threads = T::threads, cost_terms = T::columns;

  const SortedRows<2>& rows;
  const Searches& searches;
  Workspace<cost_terms>& workspace;
  std::int32_t* tabu_until;
  std::int32_t block;
  Masks<2, threads> masks{rows.matrix, rows.layout, workspace.groups, workspace.edges};
  bool by_masks = false;
  std::int32_t loaded = -1;  ///< the tile whose columns and tabu times are in place
  TilePosition at{};
  std::int32_t slack = 256;  ///< by how much the best move may exceed the least bound, for a guess
  std::int32_t unit[T::units]{};
  std::int32_t tabu[T::units][16]{};

  [[nodiscard]] static SharedLayout layout(std::int32_t m, std::int32_t n) {
    SharedLayout layout = layout_of_tiles<2, typename T::Part>(m, n);
    const SharedLayout without = layout;
    layout.tile = layout.add(1, sizeof(TileState));
    layout.candidates = layout.add(2 * most_candidates, 4);
    layout.column_pitch = 4 * (2 * divide_up(m, 256) + 1);  // the same words of eight columns lie in different banks
    layout.columns = layout.add(std::int64_t{T::columns} * layout.column_pitch, 4);
    if (layout.bytes <= layout_limit()) Masks<2, threads>::add_to(layout, m, n, 8);
    return layout.mask_rows > 0 ? layout : without;
  }
  [[nodiscard]] static std::int64_t shares(std::int32_t n) { return T::tiles(divide_up(n, 32)); }
  [[nodiscard]] static std::size_t tabu_entries(std::int32_t n) { return static_cast<std::size_t>(shares(n)) * T::parts * pairs_of_part; }
  [[nodiscard]] static Policy record(const SharedLayout& layout) {
    return {{"tile_rows", 32 * T::p_words}, {"tile_columns", 32 * T::q_words}, {"mask_rows", layout.mask_rows}};
  }

  __device__ __forceinline__ void init() {
    by_masks = masks.init();
    if (rows.layout.scratch_size > 0)
      for (int k = static_cast<int>(threadIdx.x); k < T::Part::pitch; k += threads) rows.scratch[k] = 0;
  }
  __device__ __forceinline__ void prefetch(const moves::Move<2>& move) {
    if (by_masks) masks.prefetch(move);
  }
  __device__ __forceinline__ MoveKey evaluate(bool moved, const moves::Move<2>& flipped, std::int32_t t, std::int32_t best_z) {
    const bool taken = moved;
    clear_tile();
    if (by_masks && moved && !masks.update(flipped)) {
      rows.init();
      by_masks = masks.init();
      moved = false;
    }
    bool sorted = false;
    if (!by_masks) {
      sort(moved, flipped);
      sorted = true;
    } else if (!moved) {
      __syncthreads();
    }
    MoveKey best = cuda::no_key<MoveKey>();
    for (std::int32_t item = block; item < T::tiles(rows.matrix.words_per_row); item += searches.blocks) {
      if (item != loaded) load(item);
      if (item != block) {
        __syncthreads();
        clear_tile();
        __syncthreads();
      }
      if (by_masks && evaluate_by_bounds(item, taken, flipped, t, best_z, best)) continue;
      if (!sorted) {
        __syncthreads();
        rows.init();
        sort(false, flipped);
        sorted = true;
      }
      evaluate_all(item, t, best_z, best);
    }
    return sorted ? cuda::block_argmin(best, workspace.keys()) : best;
  }
  __device__ __forceinline__ void clear(std::int32_t first_thread) const {
    if (!by_masks) rows.clear_histogram(first_thread);
  }
  [[nodiscard]] __device__ __forceinline__ std::size_t tabu_index(unsigned code) const {
    const auto move = move_of<2>(code, rows.matrix.n);
    const TilePosition of_move = TilePosition::of_pair<T>(move);
    return static_cast<std::size_t>(of_move.number<T>(rows.matrix.words_per_row)) * T::parts * pairs_of_part +
           T::index(move.at[0] - 32 * of_move.p, move.at[1] - 32 * of_move.q);
  }

 private:
  static constexpr std::int32_t pairs_of_part = T::Part::pairs_per_thread * threads;

  [[nodiscard]] __device__ __forceinline__ TileState& state() const { return *shared_at<TileState>(rows.layout.tile); }
  /// Of the tile: [word of rows].
  [[nodiscard]] __device__ __forceinline__ const std::uint32_t* column(std::int32_t at_column) const {
    return shared_at<std::uint32_t>(rows.layout.columns) + at_column * rows.layout.column_pitch;
  }
  /// All ones for -1.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t sign(std::int32_t at_column) const {
    return 0u - (shared_at<std::uint32_t>(rows.layout.negative)[word(at_column / 32)] >> at_column % 32 & 1);
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t* candidates() const { return shared_at<std::uint32_t>(rows.layout.candidates); }
  [[nodiscard]] __device__ __forceinline__ std::int32_t* candidate_z() const {
    return shared_at<std::int32_t>(rows.layout.candidates) + most_candidates;
  }
  [[nodiscard]] __device__ __forceinline__ std::int32_t word(std::int32_t k) const {
    return k < T::p_words ? at.p + k : at.q + k - T::p_words;
  }
  /// The mask of a product, or one without rows.
  [[nodiscard]] __device__ __forceinline__ const std::uint32_t* mask_of(std::int32_t v) const {
    const std::int32_t bin = (v + rows.matrix.n) / 2 + margin;
    return masks.at(v >= -rows.matrix.n && bin >= masks.low() && bin <= masks.high() ? bin : masks.low() - 1);
  }
  __device__ __forceinline__ void clear_tile() const {
    if (threadIdx.x == 32 && rows.layout.mask_rows > 0) {
      state().least = unbounded;
      state().candidates[0] = state().candidates[1] = 0;
    }
  }
  __device__ __forceinline__ void sort(bool moved, const moves::Move<2>& flipped) const {
    for (int k = static_cast<int>(threadIdx.x); k < cost_terms; k += threads) workspace.cost_terms[k] = 0;
    rows.sort(moved, flipped, -1);
  }
  /// Columns, units and tabu times of a tile.
  __device__ __forceinline__ void load(std::int32_t item) {
    loaded = item;
    at = TilePosition::of<T>(rows.matrix.words_per_row, item);
    if (!by_masks) return;
    __syncthreads();
    const Matrix& matrix = rows.matrix;
    for (std::int32_t c = warp(); c < T::columns; c += T::warps) {
      const std::int32_t of_matrix = 32 * word(c / 32) + c % 32;
      for (std::int32_t w = lane(); w < rows.layout.column_pitch; w += 32)
        shared_at<std::uint32_t>(rows.layout.columns)[c * rows.layout.column_pitch + w] =
            of_matrix < matrix.n && w < matrix.words_per_column ? matrix.by_column[of_matrix * matrix.column_pitch + w] : 0;
    }
    std::int32_t found = 0;
#pragma unroll
    for (int u = 0; u < T::units; ++u) unit[u] = -1;
    for (int k = 0; k < 2 * T::p_words * T::q_words; ++k) {
      const std::int32_t p = 32 * at.p + k / T::q_words * 16, q = 32 * (at.q + k % T::q_words);
      if (q + 31 <= p || q >= matrix.n || p >= matrix.n) continue;
#pragma unroll
      for (int u = 0; u < T::units; ++u)
        if (found == warp() + u * T::warps) unit[u] = k;
      ++found;
    }
    const std::int32_t* of_tile = tabu_until + static_cast<std::size_t>(item) * T::parts * pairs_of_part;
#pragma unroll
    for (int u = 0; u < T::units; ++u) {
#pragma unroll
      for (std::int32_t& until : tabu[u]) until = unbounded;
      for_each_pair(u, [&](int e, std::int32_t p_at, std::int32_t q_at) {
        tabu[u][e] = is_move(p_at, q_at) ? of_tile[T::index(p_at, q_at)] : unbounded;
      });
    }
    __syncthreads();
  }
  /// work(e, p, q) for the pairs of a unit, by columns of the tile.
  template <class Work>
  __device__ __forceinline__ void for_each_pair(int u, const Work& work) const {
    if (unit[u] < 0) return;
    const std::int32_t p = unit[u] / T::q_words * 16 + lane() / 4, q = unit[u] % T::q_words * 32 + lane() % 4 * 2;
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) work(4 * j + e, p + e / 2 * 8, q + 8 * j + e % 2);
  }

  [[nodiscard]] __device__ __forceinline__ bool is_move(std::int32_t p_at, std::int32_t q_at) const {
    const std::int32_t p = 32 * at.p + p_at, q = 32 * at.q + q_at;
    return q > p && q < rows.matrix.n;
  }

  /// What single columns add to the sign part, and its constant, in units of 2 sign_weight. Mapping: a warp 16 columns, or a column of
  /// ones, with the masks of eight negative products at a time.
  __device__ __forceinline__ void count_columns() const {
    const std::int32_t n = rows.matrix.n, quarter = lane() % 4, which = lane() / 4, greatest = n % 2 != 0 ? -1 : -2;
    for (std::int32_t task = warp(); task <= T::columns / 16; task += T::warps) {
      const bool ones = task == T::columns / 16;
      const std::int32_t c = ones ? 0 : 16 * task + which;
      const std::uint32_t *first_column = column(c) + quarter, *second_column = column(c + 8) + quarter;
      const std::uint32_t first_sign = sign(c), second_sign = sign(c + 8);
      std::int32_t sums[2]{};
      for (std::int32_t v = greatest; v >= product_of(masks.low(), n); v -= 16) {
        const std::uint32_t* mask = mask_of(v - 2 * which) + quarter;
        std::int32_t counts[4]{};
#pragma unroll 2
        for (std::int32_t w = 0; w < rows.matrix.words_per_column; w += 8) {
          std::uint32_t bits[4]{first_column[w] ^ first_sign, second_column[w] ^ second_sign, first_column[w + 4] ^ first_sign,
                                second_column[w + 4] ^ second_sign};
          if (ones) bits[0] = bits[1] = bits[2] = bits[3] = ~0u;
          const std::uint32_t words[2]{mask[w], w + 4 < rows.layout.mask_pitch ? mask[w + 4] : 0};
          count_ones<8>(counts, bits, words);
        }
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const std::int32_t below = -(v - 4 * quarter - 2 * (e % 2));
          sums[e / 2] += counts[e] * (ones ? max(below - 4, 0) : min(below, 4));
        }
      }
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        sums[half] += __shfl_xor_sync(~0u, sums[half], 1);
        sums[half] += __shfl_xor_sync(~0u, sums[half], 2);
        if (quarter == 0 && !ones) workspace.cost_terms[16 * task + which + 8 * half] = sums[half];
      }
      if (lane() == 0 && ones) state().constant = sums[0];
    }
  }
  /// What the pairs of a unit add beyond that. Two classes of rows add for a pair of positive entries: those whose products are at most 1
  /// from zero, and those at 2 or 3.
  __device__ __forceinline__ void count_pairs(int u, std::int32_t (&sums)[16]) const {
#pragma unroll
    for (std::int32_t& sum : sums) sum = 0;
    if (unit[u] < 0) return;
    const bool is_odd = rows.matrix.n % 2 != 0;
    const std::int32_t quarter = lane() % 4, p = unit[u] / T::q_words * 16 + lane() / 4,
                       q = 32 * T::p_words + unit[u] % T::q_words * 32 + lane() / 4;
    const std::uint32_t *p_words = column(p) + quarter, *q_words = column(q) + quarter;
    const std::uint32_t p_sign[2]{sign(p), sign(p + 8)}, q_sign[4]{sign(q), sign(q + 8), sign(q + 16), sign(q + 24)};
    const std::uint32_t *near[2]{mask_of(is_odd ? -1 : 0) + quarter, mask_of(is_odd ? 1 : 0) + quarter},
        *next[2]{mask_of(is_odd ? -3 : -2) + quarter, mask_of(is_odd ? 3 : 2) + quarter};
    const std::int32_t p_step = 8 * rows.layout.column_pitch;
    std::int32_t counts[2][4][4]{};
#pragma unroll 1
    for (std::int32_t w = 0; w < rows.matrix.words_per_column; w += 8) {
      const bool whole = w + 4 < rows.layout.mask_pitch;
      const std::uint32_t of_near[2]{near[0][w] | near[1][w], whole ? near[0][w + 4] | near[1][w + 4] : 0},
          of_next[2]{next[0][w] | next[1][w], whole ? next[0][w + 4] | next[1][w + 4] : 0};
      const std::uint32_t bits[4]{p_words[w] ^ p_sign[0], p_words[p_step + w] ^ p_sign[1], p_words[w + 4] ^ p_sign[0],
                                  p_words[p_step + w + 4] ^ p_sign[1]};
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const std::uint32_t low = q_words[j * p_step + w] ^ q_sign[j], high = q_words[j * p_step + w + 4] ^ q_sign[j];
        const std::uint32_t words_near[2]{low & of_near[0], high & of_near[1]}, words_next[2]{low & of_next[0], high & of_next[1]};
        count_ones<8>(counts[0][j], bits, words_near);
        count_ones<8>(counts[1][j], bits, words_next);
      }
    }
    const std::int32_t weight_near = is_odd ? 3 : 4, weight_next = is_odd ? 1 : 2;
#pragma unroll
    for (int e = 0; e < 16; ++e) sums[e] = weight_near * counts[0][e / 4][e % 4] + weight_next * counts[1][e / 4][e % 4];
  }
  /// Makes bounds of sums, in the same units.
  __device__ __forceinline__ void add_columns(int u, std::int32_t (&sums)[16]) const {
    if (unit[u] < 0) return;
    const std::int32_t p = unit[u] / T::q_words * 16 + lane() / 4, q = 32 * T::p_words + unit[u] % T::q_words * 32 + lane() % 4 * 2;
    const std::int32_t constant = state().constant;
    const std::int32_t of_p[2]{workspace.cost_terms[p] + constant, workspace.cost_terms[p + 8] + constant};
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int2 of_q = *reinterpret_cast<const int2*>(&workspace.cost_terms[q + 8 * j]);
#pragma unroll
      for (int e = 0; e < 4; ++e) sums[4 * j + e] += of_p[e / 2] + (e % 2 == 0 ? of_q.x : of_q.y);
    }
  }

  /// Evaluates only the moves that may be the best, by bounds. False, and `best` as it was, when all moves are tabu, or too many may be.
  /// Ends with a barrier. `best` in all lanes of all warps.
  __device__ __forceinline__ bool evaluate_by_bounds(std::int32_t item, bool moved, const moves::Move<2>& flipped, std::int32_t t,
                                                     std::int32_t best_z, MoveKey& best) {
    constexpr std::int32_t scale = 2 * ppp::sign_weight;
    std::int32_t bounds[T::units][16], least = unbounded;
    count_columns();
#pragma unroll
    for (int u = 0; u < T::units; ++u) count_pairs(u, bounds[u]);
    if (moved) take_tabu_time(item, flipped);
    __syncthreads();
#pragma unroll
    for (int u = 0; u < T::units; ++u) {
      add_columns(u, bounds[u]);
#pragma unroll
      for (int e = 0; e < 16; ++e)
        if (tabu[u][e] <= t) least = min(least, bounds[u][e]);
    }
    least = warp_min(least);
    if (lane() == 0) atomicMin(&state().least, least);
    __syncthreads();
    least = state().least;
    if (least == unbounded) return false;
    MoveKey of_tile_best = cuda::no_key<MoveKey>();
    std::int32_t limit = scale * least + slack;
    for (int round = 0;; ++round) {
      list(bounds, t, limit / scale, (min(limit + 1, best_z) + scale - 1) / scale - 1, round);
      __syncthreads();
      const std::int32_t count = state().candidates[round];
      if (count > most_candidates) return false;
      evaluate_listed(count);
      __syncthreads();
      for (std::int32_t c = lane(); c < count; c += 32) {
        const unsigned candidate = candidates()[c];
        const std::int32_t z = candidate_z()[c];
        if (candidate >> 31 == 0 || z < best_z) cuda::lower(of_tile_best, MoveKey{static_cast<unsigned>(z), candidate & 0x3FFFFFFFu});
      }
      of_tile_best = cuda::warp_argmin(of_tile_best);
      const std::int32_t z = z_of(of_tile_best);
      if (z <= limit) {
        slack = max(slack - 8, z - scale * least + 48);
        cuda::lower(best, of_tile_best);
        return true;
      }
      limit = z;
      __syncthreads();
    }
  }
  /// The tabu time of the move before, if it is one of this thread's.
  __device__ __forceinline__ void take_tabu_time(std::int32_t item, const moves::Move<2>& move) {
    const std::int32_t p_at = move.at[0] - 32 * at.p, q_at = move.at[1] - 32 * at.q;
    if (p_at < 0 || p_at >= 32 * T::p_words || q_at < 0 || q_at >= 32 * T::q_words) return;
    const std::int32_t place = p_at / 16 * T::q_words + q_at / 32, e = q_at % 32 / 8 * 4 + p_at % 16 / 8 * 2 + q_at % 2;
    if (lane() != p_at % 8 * 4 + q_at % 8 / 2) return;
#pragma unroll
    for (int u = 0; u < T::units; ++u) {
      if (unit[u] != place) continue;
      const std::int32_t until = tabu_until[static_cast<std::size_t>(item) * T::parts * pairs_of_part + T::index(p_at, q_at)];
#pragma unroll
      for (int k = 0; k < 16; ++k)
        if (k == e) tabu[u][k] = until;
    }
  }
  /// Lists the moves that may be the best: not tabu and with a bound up to `limit`, or tabu and up to `tabu_limit`.
  __device__ __forceinline__ void list(const std::int32_t (&bounds)[T::units][16], std::int32_t t, std::int32_t limit,
                                       std::int32_t tabu_limit, int round) const {
#pragma unroll
    for (int u = 0; u < T::units; ++u) {
      if (unit[u] < 0) continue;
      unsigned listed = 0, is_tabu = 0;
#pragma unroll
      for (int e = 0; e < 16; ++e) {
        if (bounds[u][e] <= limit) listed |= 1u << e;
        if (tabu[u][e] > t) is_tabu |= 1u << e;
        if (tabu[u][e] > t && bounds[u][e] > tabu_limit) listed &= ~(1u << e);
      }
      for (; listed != 0; listed &= listed - 1) {
        const int e = __ffs(static_cast<int>(listed)) - 1;
        const std::int32_t p_at = unit[u] / T::q_words * 16 + lane() / 4 + e % 4 / 2 * 8,
                           q_at = unit[u] % T::q_words * 32 + lane() % 4 * 2 + e / 4 * 8 + e % 2;
        if (!is_move(p_at, q_at)) continue;
        const std::int32_t place = atomicAdd(&state().candidates[round], 1);
        if (place >= most_candidates) continue;
        candidates()[place] =
            (is_tabu >> e & 1) << 31 | static_cast<unsigned>(32 * at.p + p_at) << 15 | static_cast<unsigned>(32 * at.q + q_at);
        candidate_z()[place] = rows.matrix.target_sum;
      }
    }
  }
  /// Adds to z of the listed moves what the bins are to them. Mapping: seven moves a fragment of the matrix units, rows where both entries
  /// are positive and rows where none is, and the sizes of the groups; a warp eight masks, every other one, and the six bins between them.
  __device__ __forceinline__ void evaluate_listed(std::int32_t count) const {
    constexpr std::int32_t moves_at_once = 7, bins = 6;
    const Matrix& matrix = rows.matrix;
    const std::int32_t low = masks.low() - 2, high = masks.high() + 2, quarter = lane() % 4, which = lane() / 4;
    const std::int32_t even = divide_up((high - low) / 2 + 1, bins), odd = divide_up((high - low - 1) / 2 + 1, bins), runs = even + odd;
    const std::int32_t tasks = divide_up(count, moves_at_once) * runs, chunks = divide_up(matrix.words_per_column, 8);
    for (std::int32_t task = warp(); task < tasks; task += T::warps) {
      const std::int32_t run = task % runs, c = task / runs * moves_at_once + which;
      const std::int32_t first = run < even ? low - 2 + 2 * bins * run : low - 1 + 2 * bins * (run - even);
      const bool is_move = which < moves_at_once && c < count;
      const unsigned candidate = is_move ? candidates()[c] : 0;
      const auto p = static_cast<std::int32_t>(candidate >> 15 & 0x7FFFu), q = static_cast<std::int32_t>(candidate & 0x7FFFu);
      const std::int32_t p_at = is_move ? p - 32 * at.p : 0, q_at = is_move ? q - 32 * at.q + 32 * T::p_words : 0;
      const std::uint32_t p_sign = sign(p_at), q_sign = sign(q_at);
      const std::uint32_t *p_words = column(p_at) + quarter, *q_words = column(q_at) + quarter;
      const std::uint32_t* mask = masks.at(first + 2 * which) + quarter;
      std::int32_t counts[2][4]{};
#pragma unroll 2
      for (std::int32_t chunk = 0; chunk < chunks; ++chunk) {
        const std::int32_t w = 8 * chunk;
        std::uint32_t both[4]{p_words[w] ^ p_sign, q_words[w] ^ q_sign, p_words[w + 4] ^ p_sign, q_words[w + 4] ^ q_sign};
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const std::uint32_t a = both[2 * half], b = both[2 * half + 1];
          both[2 * half] = is_move ? a & b : ~0u;
          both[2 * half + 1] = is_move ? ~(a | b) : 0;
        }
        const std::uint32_t words[2]{mask[w], w + 4 < rows.layout.mask_pitch ? mask[w + 4] : 0};
        count_ones<8>(counts[chunk % 2], both, words);
      }
      std::int32_t sum = 0;
      const std::int32_t positive[2]{counts[0][0] + counts[1][0], counts[0][1] + counts[1][1]},
          negative[2]{counts[0][2] + counts[1][2], counts[0][3] + counts[1][3]};
      const std::int32_t size[2]{__shfl_sync(~0u, positive[0], 28 + quarter), __shfl_sync(~0u, positive[1], 28 + quarter)};
      const std::int32_t from_above[2]{positive[1], __shfl_down_sync(~0u, positive[0], 1)},
          from_below[2]{__shfl_up_sync(~0u, negative[1], 1), negative[0]};
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const std::int32_t at_mask = 2 * quarter + e, bin = first + 2 * at_mask, v = product_of(bin, matrix.n);
        if (at_mask < 1 || at_mask > bins || bin > high) continue;
        const std::int32_t arrive = from_above[e] + from_below[e] + size[e] - positive[e] - negative[e];
        const std::int32_t target = v > 0 ? rows.target_at(bin) : 0;
        sum += v > 0 ? abs_difference_plus(arrive, target, -target) : arrive * ppp::sign_cost(v);
      }
      sum += __shfl_xor_sync(~0u, sum, 1);
      sum += __shfl_xor_sync(~0u, sum, 2);
      if (quarter == 0 && is_move) atomicAdd(&candidate_z()[c], sum);
    }
  }

  /// Counts all bins for all moves of a tile.
  __device__ __forceinline__ void evaluate_all(std::int32_t item, std::int32_t t, std::int32_t best_z, MoveKey& best) const {
    const std::int32_t* of_tile = tabu_until + static_cast<std::size_t>(item) * T::parts * pairs_of_part;
    for (int part = 0; part < T::parts; ++part) {
      using Part = Tile<2, typename T::Part, false>;
      const Part tile{rows, workspace.cost_terms, {at.p + part * T::part_words / T::q_words, at.q + part * T::part_words % T::q_words, -1}};
      __syncthreads();
      for (int k = static_cast<int>(threadIdx.x); k < cost_terms; k += threads) workspace.cost_terms[k] = 0;
      __syncthreads();
      typename Part::Sums z = {};
      tile.pack();
      __syncthreads();
      tile.count(z);
      tile.choose(z, of_tile + part * pairs_of_part, t, best_z, best);
    }
  }
};

/// By counts where a cluster has a block for each small tile, else by bounds, in a cluster or on the grid.
[[nodiscard]] std::unique_ptr<Run> run_of(const local_search::PppFlip<2>& neighborhood, const local_search::Task& task) {
  using Small = TileShape<1, 1, 1, 1>;
  constexpr std::int32_t of_cluster = cuda::ClusterMailbox<MoveKey>::most_blocks;
  const std::int32_t words = divide_up(neighborhood.instance().columns(), 32);
  if (Small::tiles(words) <= of_cluster) return make_run<TilesEvaluator<2, Small>>(neighborhood, task);
  if (PairTile<2, 4, 1>::tiles(words) <= of_cluster) return make_run<PairsEvaluator<PairTile<2, 4, 1>>>(neighborhood, task);
  if (PairTile<1, 8, 1>::tiles(words) <= cuda::multiprocessors()) return make_run<PairsEvaluator<PairTile<1, 8, 1>>>(neighborhood, task);
  return make_run<PairsEvaluator<PairTile<2, 8, 2>>>(neighborhood, task);
}

}  // namespace
}  // namespace perceptron

std::unique_ptr<Run> tuned_run(const local_search::PppFlip<2>& neighborhood, const local_search::Task& task) {
  return perceptron::run_of(neighborhood, task);
}

}  // namespace vicinity::lsm
