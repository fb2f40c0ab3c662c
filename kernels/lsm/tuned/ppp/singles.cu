// gpu-tuned for the permuted perceptron problem with flips of one sign, where planes.cu does not hold the search; and mpi-gpu.
//
// Problem. z of all n flips, an iteration. A flip of a column sends the rows of bin b that have a positive entry there to bin b - 1, and
// the others to b + 1. So a flip's histogram at b is made of the positive entries in group b + 1 and the negative ones in group b - 1.
//
// Data layout. By masks, as long as they fit in shared memory: the rows of each bin are a mask of bits, and a block keeps its tile of
// columns as bits in registers. The binary matrix units count the ones of mask & column. Else, when products lie too far apart, by sorted
// rows (state.cuh): the words of a group are transposed, a lane a column.
//
// Phases by masks: (1) a flip makes the masks of the next iteration: a bin's mask is that of the bin below where entries are positive now,
// and that of the bin above elsewhere; there are two sets in turns, zero beside the bins in use; (2) each warp counts the ones of eight
// masks at a time, and adds up what the six bins between them are to z of the tile's columns; (3) the first warp, a lane a column, adds
// these up over the warps.
// By sorted rows: (1) sort; (2) each warp adds up a range of bins; (3) as above.
// Synchronisation: two block barriers, or those of the sort and one more. Cost by masks: little more than a load and a store of shared
// memory a mask and 128 rows; two binary matrix products and four loads a warp, 512 rows and 16 columns. By sorted rows: a transposition of
// 32 x 32 bits, five shuffles, a word and 32 columns.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/lsm/tuned/ppp/masks.cuh"
#include "kernels/lsm/tuned/ppp/search.cuh"
#include "kernels/lsm/tuned/tuned.hpp"

namespace vicinity::lsm {
namespace perceptron {
namespace {

inline constexpr std::int32_t rows_of_chunk = 256;

/// A tile of 16 columns a fragment of the matrix units, of which the last is not of the matrix: its bits are ones, and its counts the sizes
/// of the groups. The bits of the first rows, so many chunks, lie in registers.
template <int Fragments, int Chunks>
struct SinglesTile {
  static constexpr int fragments = Fragments, chunks = Chunks, columns = 16 * Fragments - 1;
  static constexpr int threads = Fragments == 2 ? (Chunks > 6 ? 256 : 384) : Chunks == 2 ? 256 : Chunks == 6 ? 448 : 384;
};

// --- by masks -----------------------------------------------------------------------------------------------------------------

template <class Tile>
class MaskCounts : public Masks<1, Tile::threads, Tile::fragments == 1> {
 public:
  /// Parts of z that evaluate() writes: [warp][column].
  static constexpr int cost_terms = Tile::threads / 32 * 16 * Tile::fragments;

  using Base = Masks<1, Tile::threads, Tile::fragments == 1>;
  using Base::Base;

  /// The bits of a tile, into registers.
  __device__ __forceinline__ void load(std::int32_t tile) {
#pragma unroll
    for (int c = 0; c < Tile::chunks; ++c) load_chunk(tile, c, bits_[c]);
  }
  /// What each warp's bins add to z of the tile's columns. Mapping: a warp eight masks, and the six bins between them; a lane two of the
  /// masks, and two columns a fragment.
  __device__ __forceinline__ void evaluate(std::int32_t tile, std::int32_t* terms) const {
    constexpr std::int32_t bins = 6;
    const std::int32_t quarter = lane() % 4;
    std::int32_t z[fragments][2] = {};
    bool negative[fragments][2];
#pragma unroll
    for (int i = 0; i < fragments; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        negative[i][half] = sign_of(min(tile * Tile::columns + 16 * i + 8 * half + lane() / 4, matrix_.n - 1)) != 0;
    const std::int32_t chunks = divide_up(matrix_.words_per_column, 8);
    for (std::int32_t first = low_ - 2 + bins * warp(); first <= high_; first += bins * warps()) {
      std::int32_t target[2], weight[2];  // of the two bins, where they are among the six
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const std::int32_t at = 2 * quarter + e, v = at >= 1 && at <= bins ? product_of(first + at, matrix_.n) : 0;
        const bool counts = v > 0 && first + at <= high_ + 1;
        target[e] = counts ? shared_at<std::uint16_t>(layout_.target)[first + at] : 0;
        weight[e] = counts ? 1 : ppp::sign_cost(v);
      }
      std::int32_t positive[fragments][4] = {}, more[fragments][4] = {};  // of each mask, in two chains
      const std::uint32_t* mask = this->at(first + lane() / 4) + quarter;
#pragma unroll
      for (int c = 0; c < Tile::chunks; ++c) count(bits_[c], mask + 8 * c, c % 2 == 0 ? positive : more);
      for (std::int32_t c = Tile::chunks; c < chunks; ++c) {
        std::uint32_t further[fragments][4];
        load_chunk(tile, c, further);
        count(further, mask + 8 * c, positive);
      }
#pragma unroll
      for (int i = 0; i < fragments; ++i)
#pragma unroll
        for (int k = 0; k < 4; ++k) positive[i][k] += more[i][k];
      const std::int32_t even = positive[fragments - 1][2], odd = positive[fragments - 1][3];  // of all ones: rows of each mask
      const std::int32_t below[2]{__shfl_sync(~0u, odd, 27 + quarter), __shfl_sync(~0u, even, 28 + quarter)};
      const std::int32_t above[2]{__shfl_sync(~0u, odd, 28 + quarter), __shfl_sync(~0u, even, 29 + quarter)};
#pragma unroll
      for (int i = 0; i < fragments; ++i)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const std::int32_t here[2]{positive[i][2 * half], positive[i][2 * half + 1]};
          const std::int32_t difference[2]{here[1] - __shfl_up_sync(~0u, here[1], 1), __shfl_down_sync(~0u, here[0], 1) - here[0]};
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            const std::int32_t rows = negative[i][half] ? above[e] - difference[e] : below[e] + difference[e];
            z[i][half] += abs_difference_plus(rows, target[e], 0) * weight[e] - target[e];
          }
        }
    }
#pragma unroll
    for (int i = 0; i < fragments; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        z[i][half] += __shfl_xor_sync(~0u, z[i][half], 1);
        z[i][half] += __shfl_xor_sync(~0u, z[i][half], 2);
        if (lane() % 4 == 0) terms[16 * (fragments * warp() + i) + 8 * half + lane() / 4] = z[i][half];
      }
  }
  /// z of this lane's column of the tile.
  [[nodiscard]] __device__ __forceinline__ std::int32_t z(const std::int32_t* terms) const {
    std::int32_t sum = matrix_.target_sum;
#pragma unroll
    for (int w = 0; w < Tile::threads / 32; ++w) sum += terms[16 * fragments * w + lane()];
    return sum;
  }

 private:
  static constexpr int fragments = Tile::fragments;
  using Base::high_, Base::layout_, Base::low_, Base::matrix_, Base::sign_of;

  /// 256 rows of the tile as count_ones() wants them; zero outside the matrix.
  __device__ __forceinline__ void load_chunk(std::int32_t tile, std::int32_t c, std::uint32_t (&to)[fragments][4]) const {
#pragma unroll
    for (int i = 0; i < fragments; ++i)
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const std::int32_t at = 16 * i + k % 2 * 8 + lane() / 4, column = tile * Tile::columns + at, word = 8 * c + k / 2 * 4 + lane() % 4;
        to[i][k] = 0;
        if (word >= matrix_.words_per_column) continue;
        if (at == Tile::columns)
          to[i][k] = ~0u;
        else if (column < matrix_.n)
          to[i][k] = __ldg(matrix_.by_column + column * matrix_.column_pitch + word);
      }
  }
  static __device__ __forceinline__ void count(const std::uint32_t (&bits)[fragments][4], const std::uint32_t* mask,
                                               std::int32_t (&positive)[fragments][4]) {
    const std::uint32_t words[2]{mask[0], mask[4]};
#pragma unroll
    for (int i = 0; i < fragments; ++i) count_ones<8>(positive[i], bits[i], words);
  }

  std::uint32_t bits_[Tile::chunks][fragments][4];  ///< of the tile
};

// --- by sorted rows -----------------------------------------------------------------------------------------------------------

/// 32 columns from `first` on.
struct SortedColumns {
  const SortedRows<1>& rows;
  std::int32_t first;
  bool in_shared;  ///< their bits lie in shared memory

  /// The columns' bits, for later calls with the same columns. Ends without a barrier.
  __device__ __forceinline__ void load_bits() const {
    if (!in_shared) return;
    const Matrix& matrix = rows.matrix;
    for (std::int32_t row = static_cast<std::int32_t>(threadIdx.x); row < matrix.m; row += blockDim.x)
      shared_at<std::uint32_t>(rows.layout.bits)[row] = bits_of(row);
  }

  /// Adds to z[column]. Mapping: a lane a column; a warp a range of bins, whose groups it counts one after the other, bins of the two
  /// parities side by side.
  __device__ __forceinline__ void evaluate(std::int32_t* z) const {
    const Groups& groups = rows.groups;
    std::int32_t begins[2], ends[2], group[2];  // the k-th rows to arrive in a parity come from its groups k - 1 and k
    Counts before[2], here[2];
    const std::int32_t border = start_of(warp() + lane() % 2), begin = __shfl_sync(~0u, border, 0), end = __shfl_sync(~0u, border, 1);
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      begins[c] = warp() == 0 ? 0 : (begin - groups.low - c + 1) / 2;
      ends[c] = warp() + 1 == warps() ? (groups.high - groups.low - c + 2) / 2 + 1 : (end - groups.low - c + 1) / 2;
      group[c] = begins[c] < ends[c] ? groups.low + c + 2 * begins[c] - 2 : 0;
    }
    std::int32_t sum = 0;
    count(group, before);
    for (std::int32_t k = 0; k < max(ends[0] - begins[0], ends[1] - begins[1]); ++k) {
#pragma unroll
      for (int c = 0; c < 2; ++c) group[c] = begins[c] + k < ends[c] ? group[c] + 2 : 0;
      count(group, here);
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        if (group[c] == 0) continue;
        const std::int32_t v = product_of(group[c], rows.matrix.n), target = rows.target_at(group[c] - 1);
        const std::int32_t negative = here[c].all - here[c].positive;
        if (v > 2) sum += abs_difference_plus(before[c].all - before[c].positive + here[c].positive, target, -target);
        sum += here[c].positive * ppp::sign_cost(v - 2) + negative * ppp::sign_cost(v + 2);
        before[c] = here[c];
      }
    }
    atomicAdd(&z[lane()], sum);
  }

 private:
  /// Rows of a group, and how many of them are positive in this lane's column.
  struct Counts {
    std::int32_t all, positive;
  };

  /// The 32 columns, from two words of columns.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t joined(std::uint32_t word, std::uint32_t next) const {
    return __funnelshift_r(word, next, first % 32);
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t bits_of(std::int32_t row) const {
    const Matrix& matrix = rows.matrix;
    const std::uint32_t* word = matrix.by_row + static_cast<std::size_t>(first / 32) * matrix.m + row;
    return joined(word[0], first / 32 + 1 < matrix.words_per_row ? word[matrix.m] : 0);
  }
  /// The first bin of a warp: all have about equally many rows, where a bin costs as much as 16 rows.
  [[nodiscard]] __device__ __forceinline__ std::int32_t start_of(std::int32_t of_warp) const {
    constexpr std::int32_t cost_of_bin = 16;
    const Groups& groups = rows.groups;
    const std::int32_t goal = (rows.matrix.m + cost_of_bin * (groups.high + 1 - groups.low)) * of_warp / warps();
    std::int32_t low = groups.low, high = groups.high + 1;
    while (low < high) {
      const std::int32_t middle = (low + high) / 2, before = static_cast<std::int32_t>(rows.histogram()[middle] & 0xFFFFu);
      if (before + cost_of_bin * (middle - groups.low) < goal)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  /// Of two groups; bin 0 has no rows.
  __device__ __forceinline__ void count(const std::int32_t (&bin)[2], Counts (&counts)[2]) const {
    const SharedLayout& layout = rows.layout;
    const std::uint32_t* negative = shared_at<std::uint32_t>(layout.negative) + first / 32;
    const std::uint32_t signs = joined(negative[0], first / 32 + 1 < rows.matrix.words_per_row ? negative[1] : 0);
    std::int32_t start[2];
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const unsigned group = rows.histogram()[bin[c]];
      counts[c] = {static_cast<std::int32_t>(group >> 16), 0};
      start[c] = static_cast<std::int32_t>(group & 0xFFFFu);
    }
    for (std::int32_t k = lane(); k - lane() < max(counts[0].all, counts[1].all); k += 32)
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        std::uint32_t bits = 0;
        if (k < counts[c].all) {
          const std::int32_t row = shared_at<std::uint16_t>(layout.order)[start[c] + k];
          bits = signs ^ (in_shared ? shared_at<std::uint32_t>(layout.bits)[row] : bits_of(row));
        }
        counts[c].positive += __popc(transposed(bits));
      }
  }
};

// --- the evaluator ------------------------------------------------------------------------------------------------------------

/// By masks as long as they fit in shared memory, else by sorted rows, a tile at a time.
template <class Tile>
struct SinglesEvaluator {
  static constexpr int flips = 1, threads = Tile::threads, cost_terms = MaskCounts<Tile>::cost_terms;

  const SortedRows<1>& rows;
  const Searches& searches;
  Workspace<cost_terms>& workspace;
  std::int32_t* tabu_until;
  std::int32_t block;
  MaskCounts<Tile> masks{rows.matrix, rows.layout, workspace.groups, workspace.edges};
  bool by_masks = false;
  std::int32_t loaded = -1;  ///< the tile whose bits are in place

  [[nodiscard]] static SharedLayout layout(std::int32_t m, std::int32_t n) {
    SharedLayout layout = common_layout<1>(m, n);
    require_fit(layout, m, n);
    MaskCounts<Tile>::add_to(layout, m, n, 8 * Tile::chunks);
    const SharedLayout without_bits = layout;
    layout.bits = layout.add(m, 4);
    layout.slot_capacity = 1;
    return layout.bytes <= layout_limit() ? layout : without_bits;
  }
  [[nodiscard]] static std::int64_t shares(std::int32_t n) { return divide_up(n, Tile::columns); }
  [[nodiscard]] static std::size_t tabu_entries(std::int32_t n) { return static_cast<std::size_t>(n); }
  [[nodiscard]] static Policy record(const SharedLayout& layout) { return {{"mask_rows", layout.mask_rows}}; }

  __device__ __forceinline__ void init() { by_masks = masks.init(); }
  __device__ __forceinline__ void prefetch(const moves::Move<1>& move) {
    if (by_masks) masks.prefetch(move);
  }
  __device__ __forceinline__ MoveKey evaluate(bool moved, const moves::Move<1>& flipped, std::int32_t t, std::int32_t /*z*/,
                                              std::int32_t best_z) {
    if (by_masks && moved && !masks.update(flipped)) {
      rows.init();
      by_masks = masks.init();
      moved = false;
      loaded = -1;
    }
    return cuda::warp_argmin(by_masks ? evaluate_masks(t, best_z) : evaluate_sorted(moved, flipped, t, best_z));
  }
  __device__ __forceinline__ void clear(std::int32_t first_thread) const {
    if (!by_masks) rows.clear_histogram(first_thread);
  }
  [[nodiscard]] __device__ __forceinline__ std::size_t tabu_index(unsigned code) const { return code; }

 private:
  /// Both ways give a block the same tiles, since nobody else sees what a block writes to `tabu_until`.
  [[nodiscard]] __device__ __forceinline__ MoveKey evaluate_masks(std::int32_t t, std::int32_t best_z) {
    MoveKey best = cuda::no_key<MoveKey>();
    for (std::int32_t tile = block; tile * Tile::columns < rows.matrix.n; tile += searches.blocks) {
      const std::int32_t column = tile * Tile::columns + lane(), tabu = is_move(column) ? tabu_until[column] : 0;
      if (tile != block) __syncthreads();
      if (tile != loaded) masks.load(loaded = tile);
      masks.evaluate(tile, workspace.cost_terms);
      __syncthreads();
      if (is_move(column))
        cuda::lower(best, MoveKey{high_of(masks.z(workspace.cost_terms), tabu, t, best_z), static_cast<unsigned>(column)});
    }
    return best;
  }
  [[nodiscard]] __device__ __forceinline__ MoveKey evaluate_sorted(bool moved, const moves::Move<1>& flipped, std::int32_t t,
                                                                   std::int32_t best_z) {
    if (warp() == 0) workspace.cost_terms[lane()] = rows.matrix.target_sum;
    rows.sort(moved, flipped, 0);
    MoveKey best = cuda::no_key<MoveKey>();
    for (std::int32_t tile = block; tile * Tile::columns < rows.matrix.n; tile += searches.blocks) {
      const std::int32_t column = tile * Tile::columns + lane(), tabu = is_move(column) ? tabu_until[column] : 0;
      const SortedColumns columns{rows, tile * Tile::columns, rows.layout.slot_capacity > 0};
      if (tile != loaded) {
        __syncthreads();
        columns.load_bits();
        if (warp() == 0) workspace.cost_terms[lane()] = rows.matrix.target_sum;
        loaded = tile;
        __syncthreads();
      }
      columns.evaluate(workspace.cost_terms);
      __syncthreads();
      if (is_move(column))
        cuda::lower(best, MoveKey{high_of(workspace.cost_terms[lane()], tabu, t, best_z), static_cast<unsigned>(column)});
    }
    return best;
  }
  /// Of this lane, whose column of the tile it is.
  [[nodiscard]] __device__ __forceinline__ bool is_move(std::int32_t column) const {
    return warp() == 0 && lane() < Tile::columns && column < rows.matrix.n;
  }
};

/// No more registers than the rows need.
template <int Fragments>
[[nodiscard]] std::unique_ptr<Run> run_with_fragments(const local_search::PppFlip<1>& neighborhood, const local_search::Task& task) {
  const std::int32_t m = neighborhood.instance().rows();
  if (m <= 2 * rows_of_chunk) return make_run<SinglesEvaluator<SinglesTile<Fragments, 2>>>(neighborhood, task);
  if (m <= 6 * rows_of_chunk) return make_run<SinglesEvaluator<SinglesTile<Fragments, 6>>>(neighborhood, task);
  return make_run<SinglesEvaluator<SinglesTile<Fragments, 12>>>(neighborhood, task);
}

}  // namespace

/// Large tiles while a cluster has blocks for all of them; beyond, small ones while all blocks of all searches run at the same time.
std::unique_ptr<Run> run_by_tiles(const local_search::PppFlip<1>& neighborhood, const local_search::Task& task) {
  const std::int32_t n = neighborhood.instance().columns();
  const bool in_cluster = divide_up(n, SinglesTile<2, 2>::columns) <= cuda::ClusterMailbox<MoveKey>::most_blocks;
  return in_cluster || task.restarts * divide_up(n, SinglesTile<1, 2>::columns) > cuda::multiprocessors()
             ? run_with_fragments<2>(neighborhood, task)
             : run_with_fragments<1>(neighborhood, task);
}

}  // namespace perceptron
}  // namespace vicinity::lsm
