// gpu-tuned for the permuted perceptron problem with flips of one sign, as long as a block or a cluster holds the search; else singles.cu.
// Of many rows not all moves are counted, in bounds.cu.
//
// Problem. z of all n flips, an iteration. A flip of a column sends the rows with a positive entry there to the bin below, and the others
// to the bin above. So a flip's histogram at bin b is made of the positive entries in b + 1 and the negative ones in b - 1.
//
// Data layout. Each block has all columns of the matrix as bits in shared memory, if they fit. Those of its own moves it has once more in
// registers, as the binary matrix units want them, and complemented where the sign is -1: a strip of columns a warp. The rows' numbers of
// positive entries are bit planes in registers: a thread has the planes of 32 rows, and eight threads have the same. They write two tables
// of masks: the rows whose number is l modulo 8, and those for whom an eighth of it is u modulo 16. Of each table, one mask makes a bin.
//
// Phases of an iteration: (1) the planes count up or down by the bits of the flipped column, and the tables are written; (2) each warp
// counts the ones of mask & column for its strip and 14 bins at a time, and adds up what they are to z; (3) a lane a column adds
// these up, and each warp of such lanes sends its best key to all blocks; meanwhile the others get ready for the next bins; (4) all warps
// wait for the keys of all blocks. One warp more keeps the progress of the search, beside the others.
// Synchronisation: two block barriers, and an exchange of counted stores an iteration. Rows of more than 112 bins, which are rare, take
// turns at the tables. Cost: a chain of some hundred dependent instructions a phase; two loads and a binary matrix product for each
// fragment of 16 columns, 256 rows and 8 masks.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/lsm/tuned/ppp/bit_planes.cuh"
#include "kernels/lsm/tuned/ppp/search.cuh"
#include "kernels/lsm/tuned/tuned.hpp"

namespace vicinity::lsm {
namespace perceptron {

/// singles.cu
[[nodiscard]] std::unique_ptr<Run> run_by_tiles(const local_search::PppFlip<1>& neighborhood, const local_search::Task& task);
/// bounds.cu
[[nodiscard]] std::unique_ptr<Run> run_by_bounds(const local_search::PppFlip<1>& neighborhood, const local_search::Task& task);

namespace {

// --- shapes and shared memory -------------------------------------------------------------------------------------------------

/// A warp has a strip of columns, fragments of 16, and counts sets of masks, two groups of eight: every `Sets`-th. The last column of a
/// strip is not of the matrix: its bits are ones, and its counts the sizes of the bins. Rows come in chunks of 256.
template <int Fragments, int Strips, int Sets, int Chunks>
struct PlanesShape {
  static constexpr int fragments = Fragments, sets = Sets, chunks = Chunks, groups = 2;
  static constexpr int warps = Strips * Sets, workers = 32 * warps, threads = workers + 32;
  static constexpr int strip_columns = 16 * Fragments - 1, columns = Strips * strip_columns;
  static constexpr int key_warps = (columns + 31) / 32;
  /// Bins of a set, which lie between its masks, and those of which the tables are made at a time.
  static constexpr int set_bins = 8 * groups - 2, round_bins = 112 / set_bins * set_bins;
  static constexpr int planes = 11, most_columns = 2047;
  static constexpr int mask_words = 8 * Chunks + (Chunks == 4 ? 4 : 0);  ///< masks side by side lie in different banks
  static constexpr int term_quads = (2 * Sets + 3) / 4, term_pitch = 4 * (term_quads + (term_quads + 1) % 2);
  static constexpr int most_keys = 16 * key_warps;
  static_assert(workers >= 64 * Chunks && key_warps <= warps && most_keys <= 64);
};

/// The dynamic shared memory of a block. `tables`: numbers modulo 8, their eighth modulo 16, and zero, 25 masks. `terms`: of the block's
/// columns; at first [row] 16 bits, the number of positive entries. `target`: [bin]. `bits`: where in_shared.
template <class S>
[[nodiscard]] PlanesLayout planes_layout(std::int32_t m, std::int32_t n) {
  PlanesLayout layout{};
  layout.column_pitch = divide_up(m, 32);
  layout.tables = layout.add(25 * S::mask_words * 4);
  layout.terms = layout.add(std::max(S::columns * S::term_pitch * 4, 2 * m));
  layout.target = layout.add(2 * (n + 1));
  layout.bits = layout.bytes;
  const std::int64_t bits = std::int64_t{4} * n * layout.column_pitch;
  layout.in_shared = layout.bytes + bits + 2048 <= static_cast<std::int64_t>(cuda::most_shared()) ? 1 : 0;
  if (layout.in_shared) layout.add(bits);
  return layout;
}

// --- phases -------------------------------------------------------------------------------------------------------------------

/// The numbers of positive entries of 32 rows a thread, and its part of the tables: a word of mask `index_` of the first, and of two masks
/// of the second. The words of a mask lie in the order in which a lane of the matrix units reads them.
template <class S>
class Planes : public BitPlanes<S::planes> {
  using BitPlanes<S::planes>::plane_, BitPlanes<S::planes>::valid_, BitPlanes<S::planes>::layout_;

 public:
  __device__ __forceinline__ Planes(const Matrix& matrix, const PlanesLayout& layout) : BitPlanes<S::planes>(matrix, layout) {
    const std::int32_t t = static_cast<std::int32_t>(threadIdx.x), at = t % (8 * S::chunks), j = at % (2 * S::chunks);
    index_ = t / (8 * S::chunks);
    position_ = at;
    this->set_rows(8 * (j / 2) + 4 * (j % 2) + at / (2 * S::chunks));
    if (index_ >= 8) valid_ = 0;
  }
  __device__ __forceinline__ void flip(std::int32_t column, unsigned negative) {
    if (index_ < 8) BitPlanes<S::planes>::flip(column, negative);
  }
  /// The tables for the bins from `first` on, 128 of them; `wide`: others have rows.
  __device__ __forceinline__ void write_tables(std::int32_t first, bool wide) const {
    if (index_ >= 8) return;
    std::uint32_t low = valid_, high = ~0u;
#pragma unroll
    for (int p = 0; p < 3; ++p) {
      const std::uint32_t flipped = (index_ >> p & 1) != 0 ? 0u : ~0u;
      low &= plane_[p] ^ flipped;
      high &= plane_[3 + p] ^ flipped;
    }
    std::uint32_t highs[2]{high & ~plane_[6], high & plane_[6]};
    if (wide) {
      const std::int32_t group = first >> 3;
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const std::int32_t upper = (group + ((index_ + 8 * e - group) & 15)) >> 4;
#pragma unroll
        for (int p = 7; p < S::planes; ++p) highs[e] &= plane_[p] ^ ((upper >> (p - 7) & 1) != 0 ? 0u : ~0u);
      }
    }
    std::uint32_t* const to = shared_at<std::uint32_t>(layout_.tables) + index_ * S::mask_words + position_;
    to[0] = low;
    to[8 * S::mask_words] = highs[0];
    to[16 * S::mask_words] = highs[1];
  }

 private:
  std::int32_t index_, position_;  ///< the place in a mask
};

/// The bits of a warp's strip of columns.
template <class S>
class Strip {
 public:
  std::uint32_t bits[S::chunks][S::fragments][4];

  __device__ __forceinline__ void load(const Matrix& matrix, std::int32_t first_column, const std::uint32_t* negative) {
#pragma unroll
    for (int c = 0; c < S::chunks; ++c)
#pragma unroll
      for (int i = 0; i < S::fragments; ++i)
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          const std::int32_t at = 16 * i + k % 2 * 8 + lane() / 4, column = first_column + at, word = 8 * c + k / 2 * 4 + lane() % 4;
          bits[c][i][k] = 0;
          if (word >= matrix.words_per_column) continue;
          if (at == S::strip_columns)
            bits[c][i][k] = ~0u;
          else if (column < matrix.n)
            bits[c][i][k] =
                __ldg(matrix.by_column + column * matrix.column_pitch + word) ^ (0u - (negative[column / 32] >> column % 32 & 1));
        }
  }
  /// Complements the column at this place of the strip.
  __device__ __forceinline__ void flip(std::int32_t at) {
    if (at < 0 || at >= S::strip_columns) return;
#pragma unroll
    for (int i = 0; i < S::fragments; ++i)
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const std::uint32_t mask = at == 16 * i + k % 2 * 8 + lane() / 4 ? ~0u : 0u;
#pragma unroll
        for (int c = 0; c < S::chunks; ++c) bits[c][i][k] ^= mask;
      }
  }
};

/// No bins beyond have rows.
struct Span {
  std::int32_t low, high;
};

/// What a warp needs to count a set of bins. Mapping: a lane two masks a group, and as many bins; masks of a lane follow each other.
template <class S>
struct Plan {
  static constexpr int per_lane = 2 * S::groups;  ///< masks, and bins

  std::int32_t first;  ///< bin of the first mask
  const std::uint32_t *lows[S::groups], *highs[S::groups];
  std::int32_t target[per_lane], weight[per_lane], target_sum;

  __device__ __forceinline__ Plan(const Matrix& matrix, const PlanesLayout& layout, std::int32_t first_bin, const Span& span)
      : first(first_bin), target_sum(0) {
    const std::int32_t quarter = lane() % 4, eighth = lane() / 4;
    const std::uint32_t* const tables = shared_at<std::uint32_t>(layout.tables) + quarter * 2 * S::chunks;
#pragma unroll
    for (int g = 0; g < S::groups; ++g) {
      const std::int32_t bin = first + per_lane * (eighth / 2) + 2 * g + eighth % 2;
      lows[g] = tables + (bin & 7) * S::mask_words;
      highs[g] = tables + (8 + (bin < span.low || bin > span.high ? 16 : bin >> 3 & 15)) * S::mask_words;
    }
#pragma unroll
    for (int e = 0; e < per_lane; ++e) {
      const std::int32_t at = per_lane * quarter + e, bin = first + at, v = 2 * bin - matrix.n;
      const bool inside = at > 0 && at < 8 * S::groups - 1;
      target[e] = inside && v > 0 && bin <= matrix.n ? shared_at<std::uint16_t>(layout.target)[bin] : 0;
      weight[e] = !inside ? 0 : v > 0 ? 1 : ppp::sign_cost(v);
      target_sum += target[e];
    }
  }
};

/// Adds to z of the lane's columns what a set of bins adds. `edges`: by how many bins the span becomes shorter at either end, if the next
/// flip reaches one bin further.
template <class S>
__device__ __forceinline__ void count_set(const Plan<S>& plan, const Strip<S>& strip, const Span& span, bool find_edges,
                                          std::int32_t* edges, std::int32_t (&z)[S::fragments][2]) {
  constexpr int G = S::groups, F = S::fragments, per_lane = 2 * G;
  const std::int32_t quarter = lane() % 4, first = plan.first;
  std::int32_t counts[G][F][4] = {};
  constexpr int at_once = S::chunks == 1 ? 1 : 2;  // chunks
#pragma unroll
  for (int c = 0; c < S::chunks; c += at_once) {
    std::uint32_t mask[G][2 * at_once];
#pragma unroll
    for (int g = 0; g < G; ++g) {
      if constexpr (at_once == 2) {
        const uint4 low = *reinterpret_cast<const uint4*>(plan.lows[g] + 2 * c),
                    high = *reinterpret_cast<const uint4*>(plan.highs[g] + 2 * c);
        mask[g][0] = low.x & high.x;
        mask[g][1] = low.y & high.y;
        mask[g][2] = low.z & high.z;
        mask[g][3] = low.w & high.w;
      } else {
        const uint2 low = *reinterpret_cast<const uint2*>(plan.lows[g] + 2 * c),
                    high = *reinterpret_cast<const uint2*>(plan.highs[g] + 2 * c);
        mask[g][0] = low.x & high.x;
        mask[g][1] = low.y & high.y;
      }
    }
#pragma unroll
    for (int d = 0; d < at_once; ++d)
#pragma unroll
      for (int g = 0; g < G; ++g)
#pragma unroll
        for (int i = 0; i < F; ++i) {
          const std::uint32_t words[2]{mask[g][2 * d], mask[g][2 * d + 1]};
          count_ones<8>(counts[g][i], strip.bits[c + d][i], words);
        }
  }
  std::int32_t base[per_lane];
  {
    std::int32_t sizes[per_lane];
#pragma unroll
    for (int e = 0; e < per_lane; ++e) sizes[e] = counts[e / 2][F - 1][2 + e % 2];  // of lanes 28 and up
    const std::int32_t last = span.high - first;                                    // its mask, and that of the bin below
    if (find_edges && (first == span.low - 2 || (last > 0 && last <= S::set_bins))) {
      unsigned occupied = 0;  // bit 4 (mask % per_lane) + mask / per_lane
#pragma unroll
      for (int e = 0; e < per_lane; ++e) occupied |= __ballot_sync(~0u, sizes[e] != 0) >> 28 << 4 * e;
      const auto has_rows = [&](std::int32_t mask) { return occupied >> (4 * (mask % per_lane) + mask / per_lane) & 1; };
      if (first == span.low - 2) edges[0] = has_rows(2) ? -1 : has_rows(3) ? 0 : 1;
      if (last > 0 && last <= S::set_bins) edges[1] = has_rows(last) ? -1 : has_rows(last - 1) ? 0 : 1;
    }
    base[0] = __shfl_sync(~0u, sizes[per_lane - 1], 27 + quarter) - plan.target[0];
#pragma unroll
    for (int e = 1; e < per_lane; ++e) base[e] = __shfl_sync(~0u, sizes[e - 1], 28 + quarter) - plan.target[e];
  }
#pragma unroll
  for (int i = 0; i < F; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      std::int32_t positive[per_lane];
#pragma unroll
      for (int e = 0; e < per_lane; ++e) positive[e] = counts[e / 2][i][2 * half + e % 2];
      const std::int32_t before = __shfl_up_sync(~0u, positive[per_lane - 1], 1), after = __shfl_down_sync(~0u, positive[0], 1);
      z[i][half] -= plan.target_sum;
#pragma unroll
      for (int e = 0; e < per_lane; ++e) {
        const std::int32_t below = e == 0 ? before : positive[e - 1], above = e == per_lane - 1 ? after : positive[e + 1];
        z[i][half] += abs(base[e] + above - below) * plan.weight[e];
      }
    }
}

/// Barriers of so many threads of a block: the tables are written, parts of z, keys of a block alone. Barrier 0 is __syncthreads().
enum class Among : int { tables = 1, terms = 2, keys = 3 };
template <Among Which, int Threads>
__device__ __forceinline__ void meet() {
  asm volatile("barrier.sync.aligned %0, %1;" ::"n"(static_cast<int>(Which)), "n"(Threads) : "memory");
}
template <Among Which, int Threads>
__device__ __forceinline__ void arrive() {
  asm volatile("barrier.arrive.aligned %0, %1;" ::"n"(static_cast<int>(Which)), "n"(Threads) : "memory");
}

/// Mapping: `searches.blocks` blocks a search, one block or a cluster. The last warp of a block keeps the progress of the search and its
/// solutions, beside the others: it reads the keys and nothing else, and the others do not pass the barrier of the next terms before.
template <class S>
__global__ void __launch_bounds__(S::threads, 1)
    planes_kernel(const __grid_constant__ Matrix matrix, const __grid_constant__ PlanesLayout layout,
                  const __grid_constant__ Searches searches, const Rules rules) {
  __shared__ alignas(16) cuda::Word messages[2][S::most_keys];
  __shared__ alignas(8) std::uint64_t arrival_words[2];
  __shared__ std::int32_t edges[2];
  __shared__ std::int32_t range[2];
  const auto blocks = searches.blocks, search = static_cast<std::int32_t>(blockIdx.x) / blocks,
             block = static_cast<std::int32_t>(blockIdx.x) % blocks, thread = static_cast<std::int32_t>(threadIdx.x);
  local_search::SearchProgress& all_progress = searches.all_progress[search];
  std::uint32_t* const current = searches.current + static_cast<std::size_t>(search) * matrix.words_per_row;
  std::uint32_t* const best = searches.best + static_cast<std::size_t>(search) * matrix.words_per_row;
  std::int32_t* const tabu_times = searches.tabu_until + static_cast<std::size_t>(search) * searches.tabu_entries;
  Course course{all_progress};
  auto& [t, z, best_z, ended, moved, taken, column] = course;

  // --- set up ---
  std::uint16_t* const positive = shared_at<std::uint16_t>(layout.terms);
  std::int32_t* const terms = shared_at<std::int32_t>(layout.terms);
  if (thread == 0) {
    range[0] = matrix.n;
    range[1] = 0;
  }
  const cuda::StepArrivals arrivals{static_cast<std::uint32_t>(__cvta_generic_to_shared(arrival_words))};
  if (thread < 2) arrivals.init(static_cast<unsigned>(thread));
  if (layout.in_shared)
    for (std::int32_t k = thread; k < matrix.n * matrix.words_per_column; k += S::threads)
      shared_at<std::uint32_t>(layout.bits)[k] =
          __ldg(matrix.by_column + k / matrix.words_per_column * matrix.column_pitch + k % matrix.words_per_column);
  for (std::int32_t bin = thread; bin <= matrix.n; bin += S::threads) {
    const std::int32_t v = 2 * bin - matrix.n;
    shared_at<std::uint16_t>(layout.target)[bin] = v < 1 ? 0 : static_cast<std::uint16_t>(matrix.target[v]);
  }
  for (std::int32_t k = thread; k < S::mask_words; k += S::threads) shared_at<std::uint32_t>(layout.tables)[24 * S::mask_words + k] = 0;
  __syncthreads();
  for (std::int32_t row = thread; row < matrix.m; row += S::threads) {
    std::int32_t count = 0;
    for (std::int32_t word = 0; word < matrix.words_per_row; ++word)
      count += __popc(matrix.by_row[static_cast<std::size_t>(word) * matrix.m + row] ^ current[word]);
    // beyond n all bits are zero
    positive[row] = static_cast<std::uint16_t>(count);
    atomicMin(&range[0], count);
    atomicMax(&range[1], count);
  }
  __syncthreads();
  Planes<S> planes{matrix, layout};
  planes.init(positive);
  Span span{range[0], range[1]};
  const std::int32_t strip_number = warp() / S::sets, set = warp() % S::sets, first_column = block * S::columns;
  Strip<S> strip;
  strip.load(matrix, first_column + strip_number * S::strip_columns, current);
  const bool is_key_warp = warp() < S::key_warps, keeps_progress = warp() == S::warps;
  const std::int32_t my_place = 32 * warp() + lane(), my_column = first_column + my_place;
  const bool is_move = is_key_warp && my_place < S::columns && my_column < matrix.n;
  std::int32_t tabu = is_move ? tabu_times[my_column] : 0;
  unsigned my_negative = is_move ? current[my_column / 32] >> my_column % 32 & 1 : 0;
  const std::int32_t keys = blocks * S::key_warps;
  const auto messages_address = static_cast<std::uint32_t>(__cvta_generic_to_shared(messages));
  __syncthreads();
  for (std::int32_t k = thread; k < S::columns * S::term_pitch; k += S::threads) terms[k] = 0;
  if (blocks > 1) cuda::barrier_of_all<true>();
  __syncthreads();

  // --- search ---
  // The least key of a step, once it is there.
  const auto wait = [&](unsigned step) {
    if (blocks == 1)
      meet<Among::keys, S::threads>();
    else
      arrivals.wait(step);
    cuda::Word least = lane() < keys ? messages[step & 1][lane()] : ~cuda::Word{0};
    if (lane() + 32 < keys) least = min(least, messages[step & 1][lane() + 32]);
    least = cuda::warp_min(least);
    const MoveKey key{static_cast<unsigned>(least >> 32), static_cast<unsigned>(least)};
    course.take(key, static_cast<std::int32_t>(key.low >> 1), rules);
    return true;
  };
  const auto end = [&] {
    if (blocks > 1) cuda::barrier_of_all<true>();  // all have read `current`, and no keys are on their way
    __syncthreads();
  };
  if (keeps_progress) {
    keep_progress(
        all_progress, current, best, matrix.words_per_row, block, rules, course, wait, [] { arrive<Among::terms, S::threads>(); }, end);
    return;
  }
  Plan<S> plan{matrix, layout, span.low - 2 + S::set_bins * set, span};
  for (unsigned step = 1; !ended && t < rules.limit; ++step) {
    if (moved) planes.flip(column, taken.low & 1);
    const bool wide = span.high - span.low + 3 > S::round_bins;
    std::int32_t z_parts[S::fragments][2] = {};
    for (std::int32_t bin = span.low - 1; bin <= span.high + 1; bin += S::round_bins) {
      if (bin != span.low - 1) meet<Among::tables, S::workers>();
      planes.write_tables(bin - 1, wide);
      if (moved && bin == span.low - 1) {
        strip.flip(column - first_column - strip_number * S::strip_columns);
        if (column == my_column) {
          if (rules.method == local_search::Method::tabu) tabu = static_cast<std::int32_t>(local_search::tabu_until(t - 1, rules.tenure));
          my_negative ^= 1;
        }
      }
      meet<Among::tables, S::workers>();
      const std::int32_t end = min(span.high + 1, bin + S::round_bins - 1);
      for (std::int32_t first = bin - 1 + S::set_bins * set; first < end; first += S::set_bins * S::sets) {
        if (first != plan.first) plan = Plan<S>{matrix, layout, first, span};
        count_set<S>(plan, strip, span, strip_number == 0, edges, z_parts);
      }
    }
#pragma unroll
    for (int i = 0; i < S::fragments; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        z_parts[i][half] += __shfl_xor_sync(~0u, z_parts[i][half], 1);
        const std::int32_t at = 16 * i + 8 * half + lane() / 4;
        if (lane() % 2 == 0 && at < S::strip_columns)
          terms[(strip_number * S::strip_columns + at) * S::term_pitch + 2 * set + lane() % 4 / 2] = z_parts[i][half];
      }
    meet<Among::terms, S::threads>();
    if (is_key_warp) {
      MoveKey mine = cuda::no_key<MoveKey>();
      if (is_move) {
        std::int32_t sum = matrix.target_sum;
        const int4* const from = reinterpret_cast<const int4*>(terms + my_place * S::term_pitch);
#pragma unroll
        for (int k = 0; k < S::term_quads; ++k) {
          const int4 four = from[k];
          sum += four.x + four.y + four.z + four.w;
        }
        mine = {high_of(sum, tabu, t, best_z), 2 * static_cast<unsigned>(my_column) + (my_negative ^ 1)};
      }
      const MoveKey of_warp = cuda::warp_argmin(mine);
      const cuda::Word word = static_cast<cuda::Word>(of_warp.high) << 32 | of_warp.low;
      const std::int32_t at = block * S::key_warps + warp();
      if (blocks == 1) {
        if (lane() == 0) messages[step & 1][at] = word;
      } else {
        if (lane() < blocks)
          cuda::store_counted(
              cuda::address_in_block(messages_address + 8 * static_cast<std::uint32_t>(static_cast<int>(step & 1) * S::most_keys + at),
                                     lane()),
              cuda::address_in_block(arrivals.of(step).address, lane()), word);
        if (thread == 0) arrivals.of(step).expect(8 * static_cast<std::uint32_t>(keys));
      }
    }
    // the first and last bins that have rows, and one more after the flip
    span.low += edges[0];
    span.high -= edges[1];
    plan = Plan<S>{matrix, layout, span.low - 2 + S::set_bins * set, span};
    wait(step);
    best_z = min(best_z, z);
  }
  if (moved && !ended && column == my_column && rules.method == local_search::Method::tabu)
    tabu = static_cast<std::int32_t>(local_search::tabu_until(t - 1, rules.tenure));
  if (is_move) tabu_times[my_column] = tabu;
  end();
}

// --- host -----------------------------------------------------------------------------------------------------------------------

/// For Engine.
template <class S>
struct PlanesSearch {
  static constexpr int flips = 1, threads = S::threads;

  /// One block or a cluster has all moves and rows.
  [[nodiscard]] static bool holds(const ppp::Ppp& instance, const local_search::Task& task) {
    if (instance.rows() > 256 * S::chunks || instance.columns() > S::most_columns) return false;
    const auto policy = SearchPolicy<PlanesSearch>::of(instance, task);
    return policy.blocks == 1 || policy.in_cluster;
  }
  [[nodiscard]] static PlanesLayout layout(std::int32_t m, std::int32_t n) { return planes_layout<S>(m, n); }
  [[nodiscard]] static std::int64_t shares(std::int32_t n) { return divide_up(n, S::columns); }
  [[nodiscard]] static std::size_t tabu_entries(std::int32_t n) { return static_cast<std::size_t>(n); }
  [[nodiscard]] static Policy record(const PlanesLayout& layout) { return {{"columns_in_shared", layout.in_shared}}; }
};
}  // namespace

template <class S>
inline constexpr auto kernel_of<PlanesSearch<S>> = &planes_kernel<S>;

namespace {

/// By the first of these shapes for which a block or a cluster holds the search.
template <class Shape, class... Others>
[[nodiscard]] std::unique_ptr<Run> run_by_planes(const local_search::PppFlip<1>& neighborhood, const local_search::Task& task) {
  if (PlanesSearch<Shape>::holds(neighborhood.instance(), task)) return make_run<PlanesSearch<Shape>>(neighborhood, task);
  if constexpr (sizeof...(Others) > 0)
    return run_by_planes<Others...>(neighborhood, task);
  else
    return run_by_tiles(neighborhood, task);
}

}  // namespace
}  // namespace perceptron

std::unique_ptr<Run> tuned_run(const local_search::PppFlip<1>& neighborhood, const local_search::Task& task) {
  using namespace perceptron;
  using Small = PlanesShape<3, 2, 3, 1>;
  if (task.restarts > 1 && neighborhood.instance().columns() > Small::columns) return run_by_tiles(neighborhood, task);
  const ppp::Ppp& instance = neighborhood.instance();
  if (instance.rows() > 512 && 2 * instance.columns() <= 3 * instance.rows())  // fewer rows, or more columns: all are counted as soon
    if (std::unique_ptr<Run> run = run_by_bounds(neighborhood, task)) return run;
  return run_by_planes<Small, PlanesShape<1, 2, 5, 2>, PlanesShape<1, 3, 5, 4>, PlanesShape<2, 2, 5, 4>, PlanesShape<2, 3, 5, 4>>(
      neighborhood, task);
}

}  // namespace vicinity::lsm
