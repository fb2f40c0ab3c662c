#pragma once
// z of pairs of columns where these are many (pairs.cu): bounds from the few rows whose products are near zero.
//
// Problem. The sign part of z after the flips of p and q, in units of 2 sign_weight, is
//   constant + column[p] + column[q] + 3 or 4 times the rows nearest to zero in which p and q have positive entries, + 1 or 2 times the
//   next
// A row of product s < 0 adds min(-s, 4) to the columns in which it has a positive entry. Rows with a product up to 1 from zero are the
// nearest ones, those up to 3 the next: of 4201 rows some hundred each.
//
// Data layout. Each block has the products of all rows, and lists of the rows near zero and of those below it. Of the columns of a tile,
// 128 p and 256 q, it makes words of 32 listed rows, 256 nearest and 256 next ones a column, by transposing bits of the rows. A warp has
// the bounds of 16 x 128 pairs in registers. Beside the tabu times there is a bit a pair, set with the time and cleared when it is next
// read: it keeps pairs from the first limit, and decides nothing else.
//
// Phases: (1) products and lists follow the move; (2) for each tile the words, and what columns add; (3) a binary matrix product of each
// kind for 128 pairs and 256 rows, and the least bound; (4) an exchange of messages. Then, with a limit that the least bound of all gives,
// as what the histogram adds changes little: (5) tiles with a bound up to it list these pairs, and (6) count them one by one: a histogram
// of all rows. What lies above the limit is a bound again, and (5) is repeated if that is the least. Where a list has more than 256 rows,
// (2) and (3) take turns. Synchronisation: three block barriers a tile, three more where pairs are listed, two an evaluated pair, and two
// exchanges. Cost: five shuffles a word of 32 rows and columns; two binary matrix products for 128 pairs; an atomic addition in shared
// memory a row and evaluated pair.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/lsm/tuned/ppp/search.cuh"
#include "kernels/lsm/tuned/ppp/tiles.cuh"

namespace vicinity::lsm::perceptron {

/// Words of 32 columns.
struct NearTile {
  static constexpr int p_words = 4, q_words = 8, words = p_words + q_words, columns = 32 * words;

  /// Of the first strips of p_words.
  [[nodiscard]] static VICINITY_HD std::int32_t before(std::int32_t strips, std::int32_t words_per_row) {
    static_assert(q_words == 2 * p_words);  // two strips more, one tile a strip less
    const std::int32_t even = (strips + 1) / 2, odd = strips / 2;
    return even * divide_up(words_per_row, q_words) - even * (even - 1) / 2 + odd * divide_up(words_per_row - p_words, q_words) -
           odd * (odd - 1) / 2;
  }
  [[nodiscard]] static VICINITY_HD std::int32_t tiles(std::int32_t words_per_row) {
    return before(divide_up(words_per_row, p_words), words_per_row);
  }
};

/// What the threads of a block find together.
struct NearState {
  std::int32_t z;                     ///< as it is
  std::int32_t sign_part;             ///< of it, in units of 2 sign_weight
  std::int32_t constant;              ///< of the sign part, were all entries negative, in the same units
  std::int32_t limit;                 ///< z up to which pairs are evaluated
  std::int32_t low, high;             ///< bins of the least and the greatest product
  std::int32_t nearest, next, below;  ///< rows in the lists
  std::int32_t candidates;            ///< pairs to evaluate
};

struct NearRowsEvaluator {
  using T = NearTile;
  static constexpr int flips = 2, threads = 512, cost_terms = T::columns;

  const SortedRows<2>& rows;
  const Searches& searches;
  Workspace<cost_terms>& workspace;
  std::int32_t* tabu_until;  ///< [pair], then [tile][two][thread] bits
  std::int32_t block;
  std::int32_t tiles = 0;     ///< of the block
  std::int32_t loaded = -1;   ///< the one of them whose words are in place
  bool has_bounds = false;    ///< of the present products
  std::uint32_t column[2]{};  ///< of those that are flipped, the word of rows warp() + 16 lane()

  [[nodiscard]] static SharedLayout layout(std::int32_t m, std::int32_t n) {
    SharedLayout layout = common_layout<2>(m, n);
    layout.tile = layout.add(1, sizeof(NearState));
    layout.tiles = layout.add(2 * most_tiles, 4);
    layout.lists = layout.add(3 * std::int64_t{m}, 2);
    layout.columns = layout.add(T::columns * pitch, 4);
    layout.candidates = layout.add(2 * most_candidates, 4);
    return layout;
  }
  /// Can so many blocks search the instance, and soon? Of few columns too many pairs lie below the limit.
  [[nodiscard]] static bool suits(const ppp::Ppp& instance, std::int64_t blocks) {
    const std::int32_t m = instance.rows(), n = instance.columns();
    return n >= least_columns && m <= 32 * 32 * block_warps && layout(m, n).bytes <= layout_limit() && shares(n) <= most_tiles * blocks;
  }
  [[nodiscard]] static std::int64_t shares(std::int32_t n) { return T::tiles(divide_up(n, 32)); }
  [[nodiscard]] static std::size_t tabu_entries(std::int32_t n) {
    return static_cast<std::size_t>(moves::count<2>(n) + 2 * threads * shares(n));
  }
  [[nodiscard]] static Policy record(const SharedLayout&) { return {{"tile_rows", 32 * T::p_words}, {"tile_columns", 32 * T::q_words}}; }

  __device__ __forceinline__ void init() {
    const std::int32_t words = rows.matrix.words_per_row, all = T::tiles(words);
    tiles = block < all ? divide_up(all - block, searches.blocks) : 0;
    for (std::int32_t k = static_cast<std::int32_t>(threadIdx.x); k < tiles; k += threads) {
      const TilePosition at = TilePosition::of<T>(words, tile_of(k));
      places()[k] = static_cast<std::uint32_t>(at.q) << 16 | static_cast<std::uint32_t>(at.p);
    }
    follow(false, {});
  }
  __device__ __forceinline__ void prefetch(const moves::Move<2>& move) {
    const std::int32_t word = warp() + block_warps * lane();
    if (word >= rows.matrix.words_per_column) return;
#pragma unroll
    for (int f = 0; f < flips; ++f) column[f] = __ldg(rows.matrix.by_column + move.at[f] * rows.matrix.column_pitch + word);
  }
  /// The least bound, then the best of the pairs up to the limit.
  __device__ __forceinline__ MoveKey evaluate(bool moved, const moves::Move<2>& flipped, std::int32_t t, std::int32_t z,
                                              std::int32_t best_z) {
    if (threadIdx.x == 0) state().z = z;
    if (moved) {
      if (threadIdx.x == threads - 1) forbid(flipped);
      follow(true, flipped);
    } else {
      __syncthreads();
    }
    MoveKey best = cuda::no_key<MoveKey>();
    if (moved || !has_bounds) {
      std::int32_t least = no_pair, least_of_all = no_pair;
      for (std::int32_t k = 0; k < tiles; ++k) find_least(k, best_z, least, least_of_all);
      if (least == no_pair) least = least_of_all;
      if (least < no_pair) best = bound_key(scale * least);
      has_bounds = true;
    } else {
      const std::int32_t limit = state().limit / scale;
      for (std::int32_t k = 0; k < tiles; ++k) {
        std::int32_t above = leasts()[k];
        if (above <= limit) evaluate_tile(k, limit, t, best_z, best, above);
        if (above < no_pair) cuda::lower(best, bound_key(scale * above));
      }
    }
    return cuda::block_argmin(best, workspace.keys());
  }
  /// The least of all keys was a bound: evaluate() has to be called again, without a move.
  __device__ __forceinline__ void raise_limit(const MoveKey& bound) const {
    NearState& now = state();
    if (threadIdx.x == 0) now.limit = z_of(bound) + now.z - scale * now.sign_part + scale;
  }
  __device__ __forceinline__ void clear(std::int32_t) const {}
  [[nodiscard]] __device__ __forceinline__ std::size_t tabu_index(unsigned code) const {
    return static_cast<std::size_t>(moves::index<2>(rows.matrix.n, move_of<2>(code, rows.matrix.n)));
  }

 private:
  static constexpr std::int32_t block_warps = threads / 32, units = 16, pitch = 16, most_tiles = 64, most_candidates = 2048,
                                least_columns = 768;
  static constexpr std::int32_t scale = 2 * ppp::sign_weight, no_pair = 1 << 28;  ///< above all bounds, also the sum of two
  static_assert(128 * units * block_warps == 32 * T::p_words * 32 * T::q_words && 128 * block_warps <= most_candidates);
  using Bounds = std::int32_t[units][4];

  [[nodiscard]] __device__ __forceinline__ NearState& state() const { return *shared_at<NearState>(rows.layout.tile); }
  [[nodiscard]] __device__ __forceinline__ std::int32_t tile_of(std::int32_t k) const { return block + k * searches.blocks; }
  /// [tile of the block]: the first word of columns q, and of columns p; the least bound.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t* places() const { return shared_at<std::uint32_t>(rows.layout.tiles); }
  [[nodiscard]] __device__ __forceinline__ std::int32_t* leasts() const { return shared_at<std::int32_t>(rows.layout.tiles) + most_tiles; }
  [[nodiscard]] __device__ __forceinline__ TilePosition place(std::int32_t k) const {
    return {static_cast<std::int32_t>(places()[k] & 0xFFFFu), static_cast<std::int32_t>(places()[k] >> 16), -1};
  }
  /// 0: rows nearest to zero, 1: next to these, 2: below zero.
  [[nodiscard]] __device__ __forceinline__ std::uint16_t* list(std::int32_t k) const {
    return shared_at<std::uint16_t>(rows.layout.lists) + k * rows.matrix.m;
  }
  [[nodiscard]] __device__ __forceinline__ std::int32_t positive(std::int32_t row) const {
    return shared_at<std::uint16_t>(rows.layout.positive)[row];
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t* candidates() const { return shared_at<std::uint32_t>(rows.layout.candidates); }
  [[nodiscard]] __device__ __forceinline__ std::int32_t* candidate_z() const {
    return shared_at<std::int32_t>(rows.layout.candidates) + most_candidates;
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t negative_word(std::int32_t word) const {
    return word < rows.matrix.words_per_row ? shared_at<std::uint32_t>(rows.layout.negative)[word] : 0;
  }
  /// All ones for -1.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t sign_of(std::int32_t of_column) const {
    return 0u - (negative_word(of_column / 32) >> of_column % 32 & 1);
  }

  // --- tabu bits: of the pair e of unit u, bit 4 (u % 8) + e of the first or second word of its thread ---

  [[nodiscard]] __device__ __forceinline__ std::uint32_t* tabu_bits(std::int32_t tile, std::int32_t half, std::int32_t thread) const {
    return reinterpret_cast<std::uint32_t*>(tabu_until + moves::count<2>(rows.matrix.n)) + (2 * tile + half) * threads + thread;
  }
  /// Where a pair of a tile has its bit: thread, unit and number.
  struct Place {
    std::int32_t thread, u, e;

    __device__ __forceinline__ Place(std::int32_t p_at, std::int32_t q_at)
        : thread(32 * (q_at / 128 * 8 + p_at / 16) + p_at % 8 * 4 + q_at % 8 / 2), u(q_at % 128 / 8), e(p_at / 8 % 2 * 2 + q_at % 2) {}
    [[nodiscard]] __device__ __forceinline__ std::uint32_t bit() const { return 1u << (4 * (u % 8) + e); }
  };
  /// The move that was made, if it is one of this block's and has a tabu time.
  __device__ __forceinline__ void forbid(const moves::Move<2>& move) const {
    const std::int32_t p = move.at[0] / (32 * T::p_words) * T::p_words, q = p + (move.at[1] / 32 - p) / T::q_words * T::q_words;
    const std::int32_t tile = T::before(p / T::p_words, rows.matrix.words_per_row) + (q - p) / T::q_words;
    if (tile % searches.blocks != block || tabu_until[moves::index<2>(rows.matrix.n, move)] == 0) return;
    const Place at(move.at[0] - 32 * p, move.at[1] - 32 * q);
    *tabu_bits(tile, at.u / 8, at.thread) |= at.bit();
  }

  // --- rows ---

  /// Products and lists after `flipped`, if `moved`. Mapping: a warp 32 rows at a time. Ends with a barrier.
  __device__ __forceinline__ void follow(bool moved, const moves::Move<2>& flipped) const {
    const Matrix& matrix = rows.matrix;
    if (threadIdx.x == 0) {
      NearState& now = state();
      now.constant = now.sign_part = now.nearest = now.next = now.below = 0;
      now.low = matrix.n + 2 * margin;
      now.high = 0;
    }
    __syncthreads();
    const std::uint32_t positive_words[2]{column[0] ^ sign_of(flipped.at[0]), column[1] ^ sign_of(flipped.at[1])};
    std::int32_t constant = 0, sign_part = 0, low = matrix.n + 2 * margin, high = 0;
    for (std::int32_t k = 0, word = warp(); word < matrix.words_per_column; ++k, word += block_warps) {
      const std::uint32_t first = __shfl_sync(~0u, positive_words[0], k), second = __shfl_sync(~0u, positive_words[1], k);
      const std::int32_t row = 32 * word + lane();
      const bool is_row = row < matrix.m;
      std::int32_t count = is_row ? positive(row) : 0;
      if (moved && is_row) {
        count += ((first >> lane() & 1) != 0 ? 1 : -1) + ((second >> lane() & 1) != 0 ? 1 : -1);
        shared_at<std::uint16_t>(rows.layout.positive)[row] = static_cast<std::uint16_t>(count);
      }
      const std::int32_t product = 2 * count - matrix.n, distance = abs(product);
      add_to_list(0, state().nearest, is_row && distance <= 1, row);
      add_to_list(1, state().next, is_row && distance > 1 && distance <= 3, row);
      add_to_list(2, state().below, is_row && product < 0, row);
      if (!is_row) continue;
      constant += max(-product - 4, 0);
      sign_part += max(-product, 0);
      low = min(low, count + margin);
      high = max(high, count + margin);
    }
    constant = warp_sum(constant);
    sign_part = warp_sum(sign_part);
    low = warp_min(low);
    high = -warp_min(-high);
    if (lane() == 0) {
      atomicAdd(&state().constant, constant);
      atomicAdd(&state().sign_part, sign_part);
      atomicMin(&state().low, low);
      atomicMax(&state().high, high);
    }
    __syncthreads();
  }
  __device__ __forceinline__ void add_to_list(std::int32_t k, std::int32_t& size, bool is_in, std::int32_t row) const {
    const std::uint32_t all = __ballot_sync(~0u, is_in);
    if (all == 0) return;
    std::int32_t place = 0;
    if (lane() == 0) place = atomicAdd(&size, __popc(all));
    place = __shfl_sync(~0u, place, 0) + __popc(all & ((1u << lane()) - 1));
    if (is_in) list(k)[place] = static_cast<std::uint16_t>(row);
  }

  // --- bounds of a tile ---

  /// The k-th word of columns of a tile: of p, then of q.
  [[nodiscard]] static __device__ __forceinline__ std::int32_t word(const TilePosition& at, std::int32_t k) {
    return k < T::p_words ? at.p + k : at.q + k - T::p_words;
  }
  [[nodiscard]] static __device__ __forceinline__ std::int32_t first_p() { return 16 * (warp() % 8); }
  [[nodiscard]] static __device__ __forceinline__ std::int32_t first_q(int u) { return 128 * (warp() / 8) + 8 * u; }

  /// Of the warp's pairs of a tile; no_pair where p does not come before q, or beyond the last column. The block is done with another tile.
  __device__ __forceinline__ void find_bounds(std::int32_t k, const TilePosition& at, Bounds& bounds) {
    const std::int32_t nearest = state().nearest, next = state().next;
    if (k != loaded) {
      for (std::int32_t c = static_cast<std::int32_t>(threadIdx.x); c < T::columns; c += threads)
        workspace.cost_terms[c] = 32 * word(at, c / 32) + c % 32 < rows.matrix.n ? 0 : no_pair;
      __syncthreads();
      sum_columns(at);
    }
    const bool at_once = max(nearest, next) <= 256;
    for (std::int32_t first = 0; first == 0 || first < max(nearest, next); first += 256) {
      if (k != loaded || !at_once) {
        if (first > 0 || k == loaded) __syncthreads();
        make_words(at, first, nearest, next);
        __syncthreads();
      }
      count(bounds);
    }
    add_columns(at, bounds);
    loaded = k;
  }
  /// Of the row of this lane, if there is one, four words of columns: where it has positive entries.
  [[nodiscard]] __device__ __forceinline__ uint4 positive_words(const TilePosition& at, std::int32_t quad, bool is_row,
                                                                std::int32_t row) const {
    if (!is_row) return {};
    const std::int32_t first = word(at, 4 * quad);
    uint4 words = __ldg(reinterpret_cast<const uint4*>(rows.matrix.rows + static_cast<std::size_t>(row) * rows.matrix.row_pitch + first));
    words.x ^= negative_word(first);
    words.y ^= negative_word(first + 1);
    words.z ^= negative_word(first + 2);
    words.w ^= negative_word(first + 3);
    return words;
  }
  /// Adds to cost_terms. Mapping: three warps the words of all columns, for 32 rows at a time.
  __device__ __forceinline__ void sum_columns(const TilePosition& at) const {
    constexpr std::int32_t quads = T::words / 4, at_once = block_warps / quads;
    const std::int32_t quad = warp() % quads, below = state().below;
    if (warp() >= quads * at_once) return;
    std::int32_t sums[4]{};
    for (std::int32_t first = 32 * (warp() / quads); first < below; first += 32 * at_once) {
      const bool is_row = first + lane() < below;
      const std::int32_t row = is_row ? list(2)[first + lane()] : 0, steps = is_row ? min(rows.matrix.n - 2 * positive(row), 4) : 0;
      const uint4 words = positive_words(at, quad, is_row, row);
      const std::uint32_t ones = __ballot_sync(~0u, (steps & 1) != 0), twos = __ballot_sync(~0u, (steps & 2) != 0),
                          fours = __ballot_sync(~0u, (steps & 4) != 0);
      const std::uint32_t of_rows[4]{words.x, words.y, words.z, words.w};
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const std::uint32_t of_column = transposed(of_rows[k]);
        sums[k] += __popc(of_column & ones) + 2 * __popc(of_column & twos) + 4 * __popc(of_column & fours);
      }
    }
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (sums[k] != 0) atomicAdd(&workspace.cost_terms[32 * (4 * quad + k) + lane()], sums[k]);
  }
  /// The words of 256 rows of each list from `first` on. Of a column, a quarter of a warp has two words of the nearest rows, then two of
  /// the next; quarters are turned so that neighbouring columns lie in different banks. Mapping: a warp 32 rows and four words of columns.
  __device__ __forceinline__ void make_words(const TilePosition& at, std::int32_t first, std::int32_t nearest, std::int32_t next) const {
    constexpr std::int32_t quads = T::words / 4;
    for (std::int32_t task = warp(); task < 16 * quads; task += block_warps) {
      const std::int32_t quad = task % quads, j = task / quads, k = j / 8, index = first + 32 * (j % 8) + lane();
      const bool is_row = index < (k == 0 ? nearest : next);
      const uint4 words = positive_words(at, quad, is_row, is_row ? list(k)[index] : 0);
      const std::uint32_t of_rows[4]{words.x, words.y, words.z, words.w};
#pragma unroll
      for (int w = 0; w < 4; ++w) columns_at(32 * (4 * quad + w) + lane(), j % 8 / 2)[2 * k + j % 2] = transposed(of_rows[w]);
    }
  }
  /// Four words of a column of the tile.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t* columns_at(std::int32_t of_tile, std::int32_t quarter) const {
    return shared_at<std::uint32_t>(rows.layout.columns) + of_tile * pitch + 4 * (quarter ^ (of_tile / 2 % 4));
  }
  /// Adds what pairs have in common. Mapping: a warp 16 columns p and 128 columns q.
  __device__ __forceinline__ void count(Bounds& bounds) const {
    const std::int32_t odd = rows.matrix.n % 2, of_nearest = 4 - odd, of_next = 2 - odd, which = lane() / 4, quarter = lane() % 4;
    const auto four = [&](std::int32_t of_tile) { return *reinterpret_cast<const uint4*>(columns_at(of_tile, quarter)); };
    const uint4 a = four(first_p() + which), b = four(first_p() + 8 + which);
    const std::uint32_t nearest[4]{a.x, b.x, a.y, b.y}, next[4]{a.z, b.z, a.w, b.w};
#pragma unroll
    for (int u = 0; u < units; ++u) {
      const uint4 q = four(32 * T::p_words + first_q(u) + which);
      std::int32_t counts[2][4]{};
      count_ones<8>(counts[0], nearest, {q.x, q.y});
      count_ones<8>(counts[1], next, {q.z, q.w});
#pragma unroll
      for (int e = 0; e < 4; ++e) bounds[u][e] += of_nearest * counts[0][e] + of_next * counts[1][e];
    }
  }
  __device__ __forceinline__ void add_columns(const TilePosition& at, Bounds& bounds) const {
    const std::int32_t p_at = first_p() + lane() / 4, constant = state().constant;
    const std::int32_t of_p[2]{workspace.cost_terms[p_at] + constant, workspace.cost_terms[p_at + 8] + constant};
#pragma unroll
    for (int u = 0; u < units; ++u) {
      const std::int32_t q_at = first_q(u) + lane() % 4 * 2;
      const int2 of_q = *reinterpret_cast<const int2*>(&workspace.cost_terms[32 * T::p_words + q_at]);
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        bounds[u][e] += of_p[e / 2] + (e % 2 == 0 ? of_q.x : of_q.y);
        if (32 * at.q + q_at + e % 2 <= 32 * at.p + p_at + e / 2 * 8) bounds[u][e] = no_pair;
      }
    }
  }

  // --- choice ---

  /// The least bounds of a tile: of all pairs, which leasts() keeps, and of those that may be taken.
  __device__ __forceinline__ void find_least(std::int32_t k, std::int32_t best_z, std::int32_t& least, std::int32_t& least_of_all) {
    const std::uint32_t tabu[2]{*tabu_bits(tile_of(k), 0, static_cast<std::int32_t>(threadIdx.x)),
                                *tabu_bits(tile_of(k), 1, static_cast<std::int32_t>(threadIdx.x))};
    if (threadIdx.x == 0) leasts()[k] = no_pair;
    loaded = -1;
    Bounds bounds = {};
    find_bounds(k, place(k), bounds);
    std::int32_t of_all = no_pair;
#pragma unroll
    for (int u = 0; u < units; ++u)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        of_all = min(of_all, bounds[u][e]);
        if ((tabu[u / 8] >> (4 * (u % 8) + e) & 1) == 0 || scale * bounds[u][e] < best_z) least = min(least, bounds[u][e]);
      }
    least_of_all = min(least_of_all, of_all);
    of_all = warp_min(of_all);
    if (lane() == 0) atomicMin(&leasts()[k], of_all);
    __syncthreads();
  }
  /// Lowers `best` to the best of the pairs with bounds up to `limit`; `above`: the least bound beyond. Ends with a barrier.
  __device__ __forceinline__ void evaluate_tile(std::int32_t k, std::int32_t limit, std::int32_t t, std::int32_t best_z, MoveKey& best,
                                                std::int32_t& above) {
    const TilePosition at = place(k);
    if (threadIdx.x == 0) state().candidates = 0;
    __syncthreads();
    Bounds bounds = {};
    find_bounds(k, at, bounds);
    above = no_pair;
#pragma unroll
    for (int u = 0; u < units; ++u)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        if (bounds[u][e] > limit) above = min(above, bounds[u][e]);
    for (int only = -1; only < units; ++only) {  // all units at once, or if these are too many pairs one after the other
      list_pairs(at, bounds, limit, only);
      __syncthreads();
      const std::int32_t listed = state().candidates;
      if (listed <= most_candidates) {
        evaluate_listed(tile_of(k), at, listed, t, best_z, best);
        if (only < 0) break;
      }
      __syncthreads();
      if (threadIdx.x == 0) state().candidates = 0;
      __syncthreads();
    }
    __syncthreads();
  }
  /// Lists the pairs with bounds up to `limit`, of all units or of one.
  __device__ __forceinline__ void list_pairs(const TilePosition& at, const Bounds& bounds, std::int32_t limit, int only) const {
#pragma unroll
    for (int u = 0; u < units; ++u) {
      const std::int32_t least = min(min(bounds[u][0], bounds[u][1]), min(bounds[u][2], bounds[u][3]));
      if (least > limit || (only >= 0 && only != u)) continue;
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        if (bounds[u][e] > limit) continue;
        const std::int32_t place = atomicAdd(&state().candidates, 1);
        if (place >= most_candidates) continue;
        const std::int32_t p = 32 * at.p + first_p() + lane() / 4 + e / 2 * 8, q = 32 * at.q + first_q(u) + lane() % 4 * 2 + e % 2;
        candidates()[place] = static_cast<unsigned>(p) << 15 | static_cast<unsigned>(q);
        candidate_z()[place] = rows.matrix.target_sum;
      }
    }
  }
  /// z of the listed pairs, one after the other. Mapping: a warp 32 rows at a time, then a thread a bin; at last a thread a pair.
  __device__ __forceinline__ void evaluate_listed(std::int32_t tile, const TilePosition& at, std::int32_t listed, std::int32_t t,
                                                  std::int32_t best_z, MoveKey& best) const {
    const Matrix& matrix = rows.matrix;
    const std::int32_t low = state().low - 2, high = state().high + 2;
    unsigned* const histogram = rows.histogram();
#pragma unroll 1
    for (std::int32_t c = 0; c < listed; ++c) {
      const moves::Move<2> move = move_of<2>(candidates()[c], matrix.n);
      const std::uint32_t signs[2]{sign_of(move.at[0]), sign_of(move.at[1])};
      for (std::int32_t word = warp(); word < matrix.words_per_column; word += block_warps) {
        const std::int32_t row = 32 * word + lane();
        std::int32_t bin = margin;
#pragma unroll
        for (int f = 0; f < flips; ++f)
          bin += ((__ldg(matrix.by_column + move.at[f] * matrix.column_pitch + word) ^ signs[f]) >> lane() & 1) != 0 ? -1 : 1;
        if (row < matrix.m) atomicAdd(&histogram[bin + positive(row)], 1u);
      }
      __syncthreads();
      std::int32_t sum = 0;
      for (std::int32_t bin = low + static_cast<std::int32_t>(threadIdx.x); bin <= high; bin += threads) {
        const auto arrive = static_cast<std::int32_t>(histogram[bin]);
        const std::int32_t v = product_of(bin, matrix.n), target = rows.target_at(bin);
        histogram[bin] = 0;
        sum += v > 0 ? abs(arrive - target) - target : arrive * ppp::sign_cost(v);
      }
      sum = warp_sum(sum);
      if (lane() == 0 && sum != 0) atomicAdd(&candidate_z()[c], sum);
      __syncthreads();
    }
    for (std::int32_t c = static_cast<std::int32_t>(threadIdx.x); c < listed; c += threads) {
      const unsigned code = candidates()[c];
      std::int32_t& until = tabu_until[tabu_index(code)];
      if (until != 0 && until <= t) {
        const moves::Move<2> move = move_of<2>(code, matrix.n);
        const Place in_tile(move.at[0] - 32 * at.p, move.at[1] - 32 * at.q);
        atomicAnd(tabu_bits(tile, in_tile.u / 8, in_tile.thread), ~in_tile.bit());
        until = 0;
      }
      cuda::lower(best, MoveKey{high_of(candidate_z()[c], until, t, best_z), code});
    }
  }
};

}  // namespace vicinity::lsm::perceptron
