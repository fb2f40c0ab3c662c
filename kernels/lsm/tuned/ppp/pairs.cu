// gpu-tuned for the permuted perceptron problem with flips of two signs: by counts of all bins (tiles.cuh) for few columns, else by bounds.
//
// Problem. z of all pairs of columns p < q, an iteration. No bin adds less than zero to z, and the sign part, which is left then, varies
// far more among pairs: it is a bound by which, of thousands of pairs, only a few can be the best. In units of 2 sign_weight it is
//   constant + column[p] + column[q] + weighted sum of the rows near zero where p and q have positive entries
//
// Data layout. A block has a tile of some words of 32 columns p and of columns q: where they have positive entries, in shared memory, a
// column after the other. The rows of each bin are a mask (masks.cuh), and so are all rows whose products are further below zero than a
// move reaches. A thread keeps the bounds of 16 pairs of its warp's 16 x 32, and bits that say which of them are tabu.
//
// Phases: (1) the flips make the masks of the next iteration, and turn the tile's columns; (2) count what columns and pairs add, by
// products of binary matrices: columns with the masks of negative products, and columns p with columns q and the masks near zero; (3)
// bounds, and the least of the block; (4) list the pairs up to a limit: as the histogram is expected to add little more than it adds now,
// and z to change as it did by the moves before; (5) evaluate these from the masks of all bins. If the best of a tile lies above its own
// limit, it lists once more. If that of all tiles lies above the limit of z, which is theirs alike, their least key is a bound, and the
// iteration is repeated with a limit that it gives. Where masks do not fit, all moves of a tile are tabu or too many are left, all bins are
// counted.
//
// Synchronisation: a block barrier after each phase. Cost: little more than a load and a store of shared memory a mask and 128 rows; two
// binary matrix products for each 256 rows and 128 pairs; one a seven evaluated pairs, 256 rows and six bins.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include "kernels/lsm/tuned/ppp/masks.cuh"
#include "kernels/lsm/tuned/ppp/near_rows.cuh"
#include "kernels/lsm/tuned/ppp/search.cuh"
#include "kernels/lsm/tuned/ppp/tiles.cuh"
#include "kernels/lsm/tuned/tuned.hpp"

namespace vicinity::lsm {
namespace perceptron {
namespace {

/// Above all bounds; the most moves of a tile that are evaluated one by one.
inline constexpr std::int32_t unbounded = std::numeric_limits<std::int32_t>::max(), most_candidates = 1024;

/// The pairs of so many words of columns p and q, which one block evaluates: each warp a unit of 16 columns p and 32 columns q.
template <int PWords, int QWords>
struct PairTile {
  static constexpr int p_words = PWords, q_words = QWords;
  static constexpr int words = PWords + QWords, columns = 32 * words, warps = 16, threads = 32 * warps;
  using Part = TileShape<1, warps / 8, 1, 1>;  ///< where all bins are counted
  static_assert(2 * PWords * QWords == warps);
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

/// What the threads of a block find together, of a tile from `least` on.
struct TileState {
  std::int32_t constant;       ///< of the sign part, were all entries negative, in units of 2 sign_weight
  std::int32_t sign_part;      ///< as it is, in the same units
  std::int32_t z;              ///< of the last iteration
  std::int32_t change, error;  ///< means of what a move changed z by and of how far that was from the mean, in eighths
  std::int32_t limit;          ///< up to which moves are evaluated, the same in all blocks
  std::int32_t least;          ///< bound of what is not forbidden
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
  std::int32_t tiles = 0;
  std::int32_t loaded = -1;  ///< the tile whose columns and tabu times are in place
  TilePosition at{};
  std::int32_t unit = -1;                  ///< of the warp, if it has one
  std::uint32_t is_free = 0, is_move = 0;  ///< bits of its pairs: moves that are not tabu; all moves
  std::int32_t first_freed = 0;            ///< the next iteration in which a tabu move of this thread will be free

  [[nodiscard]] static SharedLayout layout(std::int32_t m, std::int32_t n) {
    SharedLayout layout = layout_of_tiles<2, typename T::Part>(m, n);
    const SharedLayout without = layout;
    layout.tile = layout.add(1, sizeof(TileState));
    layout.candidates = layout.add(2 * most_candidates, 4);
    layout.column_pitch = 16 * (divide_up(m, 512) / 2 * 2 + 1);  // fours of words of two columns lie in different banks
    layout.columns = layout.add(std::int64_t{T::columns + 1} * layout.column_pitch, 4);
    layout.far_below = layout.add(layout.column_pitch, 4);
    if (layout.bytes <= layout_limit() && m <= 32 * 128) Masks<2, threads>::add_to(layout, m, n, 16);
    return layout.mask_rows > 0 ? layout : without;
  }
  [[nodiscard]] static std::int64_t shares(std::int32_t n) { return T::tiles(divide_up(n, 32)); }
  [[nodiscard]] static std::size_t tabu_entries(std::int32_t n) { return static_cast<std::size_t>(shares(n)) * T::parts * pairs_of_part; }
  [[nodiscard]] static Policy record(const SharedLayout& layout) {
    return {{"tile_rows", 32 * T::p_words}, {"tile_columns", 32 * T::q_words}, {"mask_rows", layout.mask_rows}};
  }

  __device__ __forceinline__ void init() {
    tiles = T::tiles(rows.matrix.words_per_row);
    by_masks = init_masks();
    if (by_masks && threadIdx.x == 32) state().change = state().limit = unbounded;
    if (rows.layout.scratch_size > 0)
      for (int k = static_cast<int>(threadIdx.x); k < T::Part::pitch; k += threads) rows.scratch[k] = 0;
  }
  __device__ __forceinline__ void prefetch(const moves::Move<2>& move) {
    if (by_masks) masks.prefetch(move);
  }
  __device__ __forceinline__ MoveKey evaluate(bool moved, const moves::Move<2>& flipped, std::int32_t t, std::int32_t z,
                                              std::int32_t best_z) {
    const bool taken = moved;
    clear_tile();
    if (by_masks) expect(moved, z);
    if (by_masks && moved) {
      update_far_below(flipped);
      turn_columns(flipped);
      if (!masks.update(flipped)) {
        rows.init();
        by_masks = init_masks();
        moved = false;
      }
    }
    bool sorted = false;
    if (!by_masks) {
      sort(moved, flipped);
      sorted = true;
    } else if (!moved) {
      __syncthreads();
    }
    MoveKey best = cuda::no_key<MoveKey>();
    for (std::int32_t item = block; item < tiles; item += searches.blocks) {
      if (item != loaded) load(item, t);
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
  /// The least of all keys was a bound: evaluate() has to be called again, without a move.
  __device__ __forceinline__ void raise_limit(const MoveKey& bound) const {
    if (threadIdx.x == 32) state().limit = z_of(bound) + of_histogram();
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
  static constexpr std::int32_t pairs_of_part = T::Part::pairs_per_thread * threads, scale = 2 * ppp::sign_weight;

  [[nodiscard]] __device__ __forceinline__ TileState& state() const { return *shared_at<TileState>(rows.layout.tile); }
  /// Where a column of the tile has positive entries, or all rows: [word of rows].
  [[nodiscard]] __device__ __forceinline__ std::uint32_t* column(std::int32_t at_column) const {
    return shared_at<std::uint32_t>(rows.layout.columns) + at_column * rows.layout.column_pitch;
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t* all_rows() const { return column(T::columns); }
  /// The rows whose products are so far below zero that they stay there whatever the move.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t* far_below() const { return shared_at<std::uint32_t>(rows.layout.far_below); }
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
  /// Masks.init(), and the rows far below zero with the sum of what their products exceed.
  [[nodiscard]] __device__ __forceinline__ bool init_masks() {
    if (!masks.init()) return false;
    const Matrix& matrix = rows.matrix;
    for (int w = static_cast<int>(threadIdx.x); w < rows.layout.column_pitch; w += threads) far_below()[w] = 0;
    if (threadIdx.x == 0) state().constant = 0;
    __syncthreads();
    for (int row = static_cast<int>(threadIdx.x); row < matrix.m; row += threads) {
      const std::int32_t below = matrix.n - 2 * shared_at<std::uint16_t>(rows.layout.positive)[row] - 4;
      if (below < 0) continue;
      atomicOr(&far_below()[row / 32], 1u << row % 32);
      atomicAdd(&state().constant, below);
    }
    __syncthreads();
    return true;
  }
  /// After a move: rows with two positive entries have risen by 4, rows with none have sunk. Mapping: a lane of the last warp four words.
  __device__ __forceinline__ void update_far_below(const moves::Move<2>& move) const {
    if (warp() != T::warps - 1) return;
    const std::int32_t odd = rows.matrix.n % 2, quad = masks.quad();
    std::int32_t change = 0;
    if (lane() < rows.matrix.column_pitch / 4) {
      const uint4 a = masks.positive_after(move, 0), b = masks.positive_after(move, 1);
      const auto words_of = [&](std::int32_t v) { return *(reinterpret_cast<const uint4*>(mask_of(v)) + quad); };
      const uint4 m6 = words_of(-6 - odd), m4 = words_of(-4 - odd), m2 = words_of(-2 - odd), m0 = words_of(-odd);
      uint4& far = *(reinterpret_cast<uint4*>(far_below()) + quad);
      const auto step = [&](std::uint32_t& below, std::uint32_t p, std::uint32_t q, std::uint32_t from_6, std::uint32_t from_4,
                            std::uint32_t to_2, std::uint32_t to_0) {
        const std::uint32_t up = p & q, down = ~(p | q);
        change += 4 * (__popc(down & below) - __popc(up & below)) + (2 - odd) * __popc(up & from_6) + (4 - odd) * __popc(up & from_4) +
                  (2 + odd) * __popc(down & to_2) + odd * __popc(down & to_0);
        below = (below & ~(up & (from_6 | from_4))) | (down & (to_2 | to_0));
      };
      step(far.x, a.x, b.x, m6.x, m4.x, m2.x, m0.x);
      step(far.y, a.y, b.y, m6.y, m4.y, m2.y, m0.y);
      step(far.z, a.z, b.z, m6.z, m4.z, m2.z, m0.z);
      step(far.w, a.w, b.w, m6.w, m4.w, m2.w, m0.w);
    }
    change = warp_sum(change);
    if (lane() == 0) state().constant += change;
  }
  /// Turns the flipped columns where the tile has them, among its columns p and among its columns q. Mapping: a warp a column.
  __device__ __forceinline__ void turn_columns(const moves::Move<2>& move) const {
    if (loaded < 0) return;
    for (std::int32_t k = warp(); k < 4; k += T::warps) {
      const std::int32_t c = move.at[k / 2] - 32 * (k % 2 == 0 ? at.p : at.q), size = 32 * (k % 2 == 0 ? T::p_words : T::q_words);
      if (c < 0 || c >= size) continue;
      std::uint32_t* words = column(k % 2 == 0 ? c : 32 * T::p_words + c);
      for (std::int32_t w = lane(); w < rows.matrix.words_per_column; w += 32) words[w] ^= all_rows()[w];
    }
  }
  __device__ __forceinline__ void clear_tile() const {
    if (threadIdx.x == 32 && rows.layout.mask_rows > 0) {
      state().least = unbounded;
      state().candidates[0] = state().candidates[1] = 0;
    }
  }
  /// What the histogram may add to z after a move: what it adds now, and a step of the sign part.
  [[nodiscard]] __device__ __forceinline__ std::int32_t of_histogram() const { return state().z - scale * state().sign_part + scale; }
  /// The limit of z, by what the moves before changed: the mean, and three mean deviations.
  __device__ __forceinline__ void expect(bool moved, std::int32_t z) const {
    if (threadIdx.x != 32) return;
    TileState& tile = state();
    if (moved) {
      const std::int32_t change = 8 * (z - tile.z);
      if (tile.change == unbounded) {
        tile.change = change;
        tile.error = abs(change) / 2;
      }
      const std::int32_t error = change - tile.change;
      tile.change += error / 8;
      tile.error += (abs(error) - tile.error) / 8;
      tile.limit = z + (tile.change + 3 * tile.error) / 8;
    }
    tile.z = z;
  }
  __device__ __forceinline__ void sort(bool moved, const moves::Move<2>& flipped) const {
    for (int k = static_cast<int>(threadIdx.x); k < cost_terms; k += threads) workspace.cost_terms[k] = 0;
    rows.sort(moved, flipped, -1);
  }
  /// Columns, units and tabu moves of a tile.
  __device__ __forceinline__ void load(std::int32_t item, std::int32_t t) {
    loaded = item;
    at = TilePosition::of<T>(rows.matrix.words_per_row, item);
    if (!by_masks) return;
    __syncthreads();
    const Matrix& matrix = rows.matrix;
    const auto valid = [&](std::int32_t w) { return w < matrix.m / 32 ? ~0u : w == matrix.m / 32 ? (1u << matrix.m % 32) - 1 : 0u; };
    for (std::int32_t c = warp(); c <= T::columns; c += T::warps) {
      const std::int32_t of_matrix = c < T::columns ? 32 * word(c / 32) + c % 32 : matrix.n;
      const bool inside = of_matrix < matrix.n;
      const std::uint32_t sign = inside ? masks.sign_of(of_matrix) : 0;
      for (std::int32_t w = lane(); w < rows.layout.column_pitch; w += 32) {
        const std::uint32_t bits = inside && w < matrix.words_per_column ? matrix.by_column[of_matrix * matrix.column_pitch + w] ^ sign : 0;
        column(c)[w] = c < T::columns ? bits & valid(w) : valid(w);
      }
    }
    std::int32_t found = 0;
    unit = -1;
    for (int k = 0; k < 2 * T::p_words * T::q_words; ++k) {
      const std::int32_t p = 32 * at.p + k / T::q_words * 16, q = 32 * (at.q + k % T::q_words);
      if (q + 31 <= p || q >= matrix.n || p >= matrix.n) continue;
      if (found == warp()) unit = k;
      ++found;
    }
    is_move = 0;
    for_each_pair([&](int e, std::int32_t p_at, std::int32_t q_at) {
      const std::int32_t p_of_matrix = 32 * at.p + p_at, q_of_matrix = 32 * at.q + q_at;
      if (q_of_matrix > p_of_matrix && q_of_matrix < matrix.n) is_move |= 1u << e;
    });
    read_tabu_times(item, t);
    __syncthreads();
  }
  __device__ __forceinline__ void read_tabu_times(std::int32_t item, std::int32_t t) {
    const std::int32_t* of_tile = tabu_until + static_cast<std::size_t>(item) * T::parts * pairs_of_part;
    first_freed = unbounded;
    is_free = is_move;
    for_each_pair([&](int e, std::int32_t p_at, std::int32_t q_at) {
      const std::int32_t until = (is_move >> e & 1) != 0 ? of_tile[T::index(p_at, q_at)] : 0;
      if (until <= t) return;
      is_free &= ~(1u << e);
      first_freed = min(first_freed, until);
    });
  }
  /// work(e, p, q) for the pairs of a unit, by columns of the tile.
  template <class Work>
  __device__ __forceinline__ void for_each_pair(const Work& work) const {
    if (unit < 0) return;
    const std::int32_t p = unit / T::q_words * 16 + lane() / 4, q = unit % T::q_words * 32 + lane() % 4 * 2;
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) work(4 * j + e, p + e / 2 * 8, q + 8 * j + e % 2);
  }

  /// The words of a column or a mask, up to a multiple of 16: what comes after a mask meets zeros of a column.
  [[nodiscard]] __device__ __forceinline__ std::int32_t words_to_count() const { return (rows.matrix.words_per_column + 15) / 16 * 16; }
  [[nodiscard]] static __device__ __forceinline__ uint4 four(const std::uint32_t* words) { return *reinterpret_cast<const uint4*>(words); }
  [[nodiscard]] static __device__ __forceinline__ uint4 four_of_either(const std::uint32_t* a, const std::uint32_t* b) {
    const uint4 x = four(a), y = four(b);
    return {x.x | y.x, x.y | y.y, x.z | y.z, x.w | y.w};
  }
  [[nodiscard]] static __device__ __forceinline__ uint4 both(const uint4& x, const uint4& y) {
    return {x.x & y.x, x.y & y.y, x.z & y.z, x.w & y.w};
  }
  /// As count_ones() of 16 words, of which lane 4i + k holds four neighbouring ones of rows i and i + 8 and of column i: any four do, as
  /// long as all lanes with the same k have the same.
  static __device__ __forceinline__ void count_fours(std::int32_t (&counts)[4], const uint4& first, const uint4& second,
                                                     const uint4& column) {
    const std::uint32_t a[2][4]{{first.x, second.x, first.y, second.y}, {first.z, second.z, first.w, second.w}},
        b[2][2]{{column.x, column.y}, {column.z, column.w}};
    count_ones<8>(counts, a[0], b[0]);
    count_ones<8>(counts, a[1], b[1]);
  }

  /// What single columns add to the sign part, and the sign part as it is, in units of 2 sign_weight. Mapping: a warp 16 columns, or the
  /// column of all rows, with the three masks of negative products.
  __device__ __forceinline__ void count_columns() const {
    const std::int32_t odd = rows.matrix.n % 2, quarter = lane() % 4, which = lane() / 4;
    const std::uint32_t* mask = which == 0   ? far_below()
                                : which == 1 ? mask_of(-2 - odd)
                                : which == 2 ? mask_of(-odd)
                                             : masks.at(masks.low() - 1);
    const std::int32_t weights[2]{quarter == 0 ? 4 : quarter == 1 ? odd : 0, quarter == 0 ? 2 + odd : 0};
    for (std::int32_t task = warp(); task <= T::columns / 16; task += T::warps) {
      const bool ones = task == T::columns / 16;
      const std::uint32_t *first = ones ? all_rows() : column(16 * task + which), *second = ones ? first : column(16 * task + which + 8);
      std::int32_t counts[4]{};
#pragma unroll 1
      for (std::int32_t w = 4 * quarter; w < words_to_count(); w += 16)
        count_fours(counts, four(first + w), four(second + w), four(mask + w));
      std::int32_t sums[2]{weights[0] * counts[0] + weights[1] * counts[1], weights[0] * counts[2] + weights[1] * counts[3]};
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        sums[half] += __shfl_xor_sync(~0u, sums[half], 1);
        if (quarter == 0 && !ones) workspace.cost_terms[16 * task + which + 8 * half] = sums[half];
      }
      if (lane() == 0 && ones) state().sign_part = state().constant + sums[0];
    }
  }
  /// What the pairs of a unit add beyond that. Two classes of rows add for a pair of positive entries: those whose products are at most 1
  /// from zero, and those at 2 or 3.
  __device__ __forceinline__ void count_pairs(std::int32_t (&sums)[16]) const {
#pragma unroll
    for (std::int32_t& sum : sums) sum = 0;
    if (unit < 0) return;
    const std::int32_t odd = rows.matrix.n % 2, quarter = lane() % 4, p = unit / T::q_words * 16 + lane() / 4,
                       q = 32 * T::p_words + unit % T::q_words * 32 + lane() / 4, step = 8 * rows.layout.column_pitch;
    const std::uint32_t *p_words = column(p), *q_words = column(q), *near[2]{mask_of(-odd), mask_of(odd)},
                        *next[2]{mask_of(-2 - odd), mask_of(2 + odd)};
    std::int32_t counts[2][4][4]{};
#pragma unroll 1
    for (std::int32_t w = 4 * quarter; w < words_to_count(); w += 16) {
      const uint4 of_near = four_of_either(near[0] + w, near[1] + w), of_next = four_of_either(next[0] + w, next[1] + w),
                  first = four(p_words + w), second = four(p_words + step + w);
      const uint4 p_near[2]{both(first, of_near), both(second, of_near)}, p_next[2]{both(first, of_next), both(second, of_next)};
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const uint4 of_q = four(q_words + j * step + w);
        count_fours(counts[0][j], p_near[0], p_near[1], of_q);
        count_fours(counts[1][j], p_next[0], p_next[1], of_q);
      }
    }
    const std::int32_t weight_near = 4 - odd, weight_next = 2 - odd;
#pragma unroll
    for (int e = 0; e < 16; ++e) sums[e] = weight_near * counts[0][e / 4][e % 4] + weight_next * counts[1][e / 4][e % 4];
  }
  /// Makes bounds of sums, in the same units.
  __device__ __forceinline__ void add_columns(std::int32_t (&sums)[16]) const {
    if (unit < 0) return;
    const std::int32_t p = unit / T::q_words * 16 + lane() / 4, q = 32 * T::p_words + unit % T::q_words * 32 + lane() % 4 * 2;
    const std::int32_t constant = state().constant;
    const std::int32_t of_p[2]{workspace.cost_terms[p] + constant, workspace.cost_terms[p + 8] + constant};
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int2 of_q = *reinterpret_cast<const int2*>(&workspace.cost_terms[q + 8 * j]);
#pragma unroll
      for (int e = 0; e < 4; ++e) sums[4 * j + e] += of_p[e / 2] + (e % 2 == 0 ? of_q.x : of_q.y);
    }
  }

  /// Evaluates only the moves that may be the best, by bounds. If none lies below the limit, that is a bound. False, and `best` as it was,
  /// when all moves are tabu, or too many are left. Ends with a barrier. `best` in all lanes of all warps.
  __device__ __forceinline__ bool evaluate_by_bounds(std::int32_t item, bool moved, const moves::Move<2>& flipped, std::int32_t t,
                                                     std::int32_t best_z, MoveKey& best) {
    std::int32_t bounds[16], least = unbounded;
    bool any_is_free = false;
    count_columns();
    count_pairs(bounds);
    if (moved) take_tabu_time(item, flipped);
    if (t >= first_freed) read_tabu_times(item, t);
    __syncthreads();
    add_columns(bounds);
    std::uint32_t allowed = is_free;
    if (allowed != is_move) {  // a tabu move may be better than the best known solution
#pragma unroll
      for (int e = 0; e < 16; ++e)
        if (scale * bounds[e] < best_z) allowed |= is_move & 1u << e;
    }
#pragma unroll
    for (int e = 0; e < 16; ++e)
      if ((allowed >> e & 1) != 0) least = min(least, bounds[e]);
    any_is_free |= is_free != 0;
    least = warp_min(least);
    if (lane() == 0) atomicMin(&state().least, least);
    if (__syncthreads_or(any_is_free) == 0) return false;
    least = state().least;
    const std::int32_t most = state().limit;
    if (scale * least > most) {
      cuda::lower(best, bound_key(scale * least));
      return true;
    }
    MoveKey of_tile_best = cuda::no_key<MoveKey>();
    std::int32_t limit = min(scale * least + of_histogram(), most);
    for (int round = 0;; ++round) {
      list(bounds, limit / scale, (min(limit + 1, best_z) + scale - 1) / scale - 1, round);
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
      if (z <= limit || limit == most) {
        cuda::lower(best, z <= limit ? of_tile_best : bound_key(limit + 1));
        return true;
      }
      limit = min(z, most);
      __syncthreads();
    }
  }
  /// The tabu time of the move before, if it is one of this thread's.
  __device__ __forceinline__ void take_tabu_time(std::int32_t item, const moves::Move<2>& move) {
    const std::int32_t p_at = move.at[0] - 32 * at.p, q_at = move.at[1] - 32 * at.q;
    if (p_at < 0 || p_at >= 32 * T::p_words || q_at < 0 || q_at >= 32 * T::q_words) return;
    const std::int32_t place = p_at / 16 * T::q_words + q_at / 32, e = q_at % 32 / 8 * 4 + p_at % 16 / 8 * 2 + q_at % 2;
    if (lane() != p_at % 8 * 4 + q_at % 8 / 2) return;
    if (unit != place) return;
    const std::int32_t until = tabu_until[static_cast<std::size_t>(item) * T::parts * pairs_of_part + T::index(p_at, q_at)];
    if (until == 0) return;  // a climb
    is_free &= ~(1u << e);
    first_freed = min(first_freed, until);
  }
  /// Lists the moves that may be the best: not tabu and with a bound up to `limit`, or tabu and up to `tabu_limit`.
  __device__ __forceinline__ void list(const std::int32_t (&bounds)[16], std::int32_t limit, std::int32_t tabu_limit, int round) const {
    std::uint32_t listed = 0;
#pragma unroll
    for (int e = 0; e < 16; ++e)
      if (bounds[e] <= limit) listed |= 1u << e;
    listed &= is_move;
    if (listed == 0) return;
    if (const std::uint32_t is_tabu = listed & ~is_free; is_tabu != 0) {
#pragma unroll
      for (int e = 0; e < 16; ++e)
        if (bounds[e] > tabu_limit) listed &= ~(is_tabu & 1u << e);
    }
    std::int32_t place = atomicAdd(&state().candidates[round], __popc(listed));
    for (; listed != 0 && place < most_candidates; listed &= listed - 1, ++place) {
      const int e = __ffs(static_cast<int>(listed)) - 1;
      const std::int32_t p_at = unit / T::q_words * 16 + lane() / 4 + e % 4 / 2 * 8,
                         q_at = unit % T::q_words * 32 + lane() % 4 * 2 + e / 4 * 8 + e % 2;
      candidates()[place] =
          (~is_free >> e & 1) << 31 | static_cast<unsigned>(32 * at.p + p_at) << 15 | static_cast<unsigned>(32 * at.q + q_at);
      candidate_z()[place] = rows.matrix.target_sum;
    }
  }
  /// Adds to z of the listed moves what the bins are to them. Mapping: seven moves a fragment of the matrix units, rows where both entries
  /// are positive and rows where none is, and the sizes of the groups; a warp two runs of eight masks, every other one, and the six bins
  /// between those of a run.
  __device__ __forceinline__ void evaluate_listed(std::int32_t count) const {
    constexpr std::int32_t moves_at_once = 7, bins = 6, runs_at_once = 2;
    const Matrix& matrix = rows.matrix;
    const std::int32_t low = masks.low() - 2, high = masks.high() + 2, quarter = lane() % 4, which = lane() / 4;
    const std::int32_t even = divide_up((high - low) / 2 + 1, bins), odd = divide_up((high - low - 1) / 2 + 1, bins),
                       runs = divide_up(even + odd, runs_at_once);
    for (std::int32_t task = warp(); task < divide_up(count, moves_at_once) * runs; task += T::warps) {
      const std::int32_t run = task % runs * runs_at_once, c = task / runs * moves_at_once + which;
      const bool is_move = which < moves_at_once && c < count;
      const unsigned candidate = is_move ? candidates()[c] : 0;
      const auto p = static_cast<std::int32_t>(candidate >> 15 & 0x7FFFu), q = static_cast<std::int32_t>(candidate & 0x7FFFu);
      const std::uint32_t *p_words = is_move ? column(p - 32 * at.p) : all_rows(),
                          *q_words = is_move ? column(q - 32 * at.q + 32 * T::p_words) : all_rows(), *mask[runs_at_once];
      std::int32_t first[runs_at_once], counts[runs_at_once][4]{};
#pragma unroll
      for (int r = 0; r < runs_at_once; ++r) {
        first[r] = run + r < even ? low - 2 + 2 * bins * (run + r) : low - 1 + 2 * bins * (run + r - even);
        mask[r] = masks.at(min(first[r] + 2 * which, high + 1));
      }
#pragma unroll 1
      for (std::int32_t w = 4 * quarter; w < words_to_count(); w += 16) {
        const uint4 of_p = four(p_words + w), of_q = four(q_words + w), all = four(all_rows() + w), positive = both(of_p, of_q),
                    none{all.x & ~(of_p.x | of_q.x), all.y & ~(of_p.y | of_q.y), all.z & ~(of_p.z | of_q.z), all.w & ~(of_p.w | of_q.w)};
#pragma unroll
        for (int r = 0; r < runs_at_once; ++r) count_fours(counts[r], positive, none, four(mask[r] + w));
      }
      std::int32_t sum = 0;
#pragma unroll
      for (int r = 0; r < runs_at_once; ++r) {
        const std::int32_t positive[2]{counts[r][0], counts[r][1]}, negative[2]{counts[r][2], counts[r][3]};
        const std::int32_t size[2]{__shfl_sync(~0u, positive[0], 28 + quarter), __shfl_sync(~0u, positive[1], 28 + quarter)};
        const std::int32_t from_above[2]{positive[1], __shfl_down_sync(~0u, positive[0], 1)},
            from_below[2]{__shfl_up_sync(~0u, negative[1], 1), negative[0]};
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const std::int32_t at_mask = 2 * quarter + e, bin = first[r] + 2 * at_mask, v = product_of(bin, matrix.n);
          if (at_mask < 1 || at_mask > bins || bin > high) continue;
          const std::int32_t arrive = from_above[e] + from_below[e] + size[e] - positive[e] - negative[e];
          const std::int32_t target = v > 0 ? rows.target_at(bin) : 0;
          sum += v > 0 ? abs_difference_plus(arrive, target, -target) : arrive * ppp::sign_cost(v);
        }
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

/// Have so many blocks a tile each, and masks of all bins?
template <class T>
[[nodiscard]] bool has_masks(const ppp::Ppp& instance, std::int64_t blocks) {
  return T::tiles(divide_up(instance.columns(), 32)) <= blocks &&
         PairsEvaluator<T>::layout(instance.rows(), instance.columns()).mask_rows > 0;
}

/// By counts where a cluster has a block for each small tile; else by bounds, from masks where each block has one tile of them, in a
/// cluster or on the grid, or from the rows near zero.
[[nodiscard]] std::unique_ptr<Run> run_of(const local_search::PppFlip<2>& neighborhood, const local_search::Task& task) {
  using Small = TileShape<1, 1, 1, 1>;
  constexpr std::int32_t of_cluster = cuda::ClusterMailbox<MoveKey>::most_blocks;
  const ppp::Ppp& instance = neighborhood.instance();
  if (Small::tiles(divide_up(instance.columns(), 32)) <= of_cluster) return make_run<TilesEvaluator<2, Small>>(neighborhood, task);
  if (has_masks<PairTile<2, 4>>(instance, of_cluster)) return make_run<PairsEvaluator<PairTile<2, 4>>>(neighborhood, task);
  if (has_masks<PairTile<1, 8>>(instance, cuda::multiprocessors()) || !NearRowsEvaluator::suits(instance, cuda::multiprocessors()))
    return make_run<PairsEvaluator<PairTile<1, 8>>>(neighborhood, task);
  return make_run<NearRowsEvaluator>(neighborhood, task);
}

}  // namespace
}  // namespace perceptron

std::unique_ptr<Run> tuned_run(const local_search::PppFlip<2>& neighborhood, const local_search::Task& task) {
  return perceptron::run_of(neighborhood, task);
}

}  // namespace vicinity::lsm
