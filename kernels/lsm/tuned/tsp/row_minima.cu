// gpu-tuned for the travelling salesman problem with many cities: tabu search and hill climbing that keep the least swap of each row.
//
// Problem: the swaps (i, j) of the cities at positions i < j of the tour. An iteration takes the least of (forbidden, delta, i, j).
// Method: a row stands for one position i and covers swaps of i; every swap is covered by the row of one of its positions or by both. A row
// keeps its least swap that is not tabu, a lower bound of the deltas of its other swaps, and its least tabu swap. A swap of the cities at
// r and s changes six swaps in each row. Their new deltas either replace the row's least swap or lower its bound, so no other swap has to
// be evaluated until the bound of some row comes before the least swap of all rows. Then that row is scanned anew. Where blocks have few
// rows, a row is kept as two halves, of two warps: one covers what changes around r, the other what changes around s.
//
// Data layout: a search has one block, or up to 16 in a cluster. Each block has all cities in tour order (StoredCity), and the rows of
// consecutive positions; both are in shared memory, or in device memory if they do not fit. Tours and tabu times are in device memory. A
// Bloom filter of the swaps taken, in shared memory, avoids most reads of tabu times.
// Phases of an iteration:
//   1. update_rows: a lane a row, or half of it, evaluates the changed swaps, repairs the row, and lowers its least key and least bound;
//   2. reduce_keys: the least key of the search in all lanes, and the least bound of each block;
//   3. while a bound comes before the least key: rescan_rows scans one row a block, which all blocks share, and has key and bounds anew;
//   4. take_move: every thread takes the same move. One thread records it while the others go on.
// Synchronisation: two block barriers and one message from each block to each in phase 2, and as many each time in phase 3.
// Cost: ten distances a row and iteration; three distances a swap in scans.
#include <cooperative_groups.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/methods/lsm/search.hpp"
#include "core/problems/moves.hpp"
#include "core/util/math.hpp"
#include "kernels/cuda/collective/mailbox.cuh"
#include "kernels/cuda/collective/warp.cuh"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/lsm/device_searches.cuh"
#include "kernels/lsm/tuned/tsp/scan.hpp"
#include "kernels/lsm/tuned/tsp/tours.cuh"
#include "kernels/lsm/tuned/tuned.hpp"

namespace vicinity::lsm {
namespace {

using cuda::warp_min;

/// Threads of a block: a warp for each of the rows that are scanned at the same time.
inline constexpr int row_threads = 512;
/// Blocks of a search at most: one for each lane of half a warp in reduce_keys().
inline constexpr int most_blocks = 16;
/// 32-bit words of the Bloom filter: 2^16 bits.
inline constexpr int filter_words = 2048;

// --- keys and rows -----------------------------------------------------------------------------------------------------------

/// A swap or a bound in one word. Keys compare by (delta, i, j); a bound comes before swaps with its delta.
using Key = unsigned long long;
inline constexpr Key no_key = ~0ull;
/// no_key for no_delta.
[[nodiscard]] __device__ __forceinline__ Key key_of(std::int32_t delta, std::uint32_t is_swap, std::uint32_t low) {
  const std::uint32_t high = static_cast<std::uint32_t>(delta + (1 << 30)) << 1 | is_swap;
  return delta == no_delta ? no_key : static_cast<Key>(high) << 32 | low;
}
[[nodiscard]] __device__ __forceinline__ Key bound_key(std::int32_t delta, std::int32_t row) {
  return key_of(delta, 0, static_cast<std::uint32_t>(row));
}
[[nodiscard]] __device__ __forceinline__ Key swap_key(std::int32_t delta, std::int32_t a, std::int32_t b) {
  return key_of(delta, 1, static_cast<std::uint32_t>(min(a, b)) << 16 | static_cast<std::uint32_t>(max(a, b)));
}
[[nodiscard]] __device__ __forceinline__ std::int32_t delta_of(Key key) { return static_cast<std::int32_t>(key >> 33) - (1 << 30); }
/// Above `best` by a part of its delta: in a descent bounds below this soon come before the least swap, and the more rows are scanned at
/// the same time, the fewer times.
[[nodiscard]] __device__ __forceinline__ Key before_long(Key best) {
  return max(best, best + (static_cast<Key>(abs(delta_of(best)) / 32) << 33));
}
[[nodiscard]] __device__ __forceinline__ moves::Move<2> swap_of(Key key) {
  return {{static_cast<std::int32_t>(key >> 16 & 0xFFFF), static_cast<std::int32_t>(key & 0xFFFF)}};
}

/// What is known of the swaps that a row covers. The column of a swap is its other position. Among swaps with the same delta the one with
/// the lesser column comes first. Each covered swap other than (delta, column)
///   has a delta of `bound` or more, or
///   is tabu until `tabu_end` or longer and has a delta of `tabu_delta` or more.
/// Column -1: the delta is a lower bound only.
struct Row {
  std::int32_t delta = no_delta, column = -1;
  std::int32_t bound = no_delta;
  std::int32_t tabu_end = no_delta;
  std::int32_t tabu_delta = no_delta, tabu_column = -1;

  /// Adds swaps that are not tabu, and that the row does not cover, or no longer since remove(): the first of them is (d, c), and the
  /// deltas of the others are `second` or more. Here and below, `&` and `|` where `&&` and `||` would branch.
  __device__ __forceinline__ void insert(std::int32_t d, std::int32_t c, std::int32_t second) {
    const bool first = (d < delta) | ((d == delta) & (c < column));
    bound = first ? min(delta, second) : min(bound, d);  // with column -1, `delta` is `bound`
    column = first ? c : column;
    delta = min(delta, d);
  }
  /// Adds the swap (d, c), which is tabu before iteration `end`.
  __device__ __forceinline__ void insert_tabu(std::int32_t d, std::int32_t c, std::int32_t end) {
    const bool first = (d < tabu_delta) | ((d == tabu_delta) & (c < tabu_column));
    tabu_end = min(tabu_end, end);
    tabu_column = first ? c : tabu_column;
    tabu_delta = min(tabu_delta, d);
  }
  /// Removes its least swap, its least tabu swap.
  __device__ __forceinline__ void remove(bool least, bool least_tabu) {
    if (least) {
      delta = bound;
      column = -1;
    }
    if (least_tabu) tabu_column = -1;
  }
  /// Makes tabu swaps ordinary ones if the tabu time of one of them may end before iteration `now`.
  __device__ __forceinline__ void end_tabu(std::int32_t now) {
    if (tabu_end > now) return;
    bound = min(bound, tabu_delta);
    if (bound <= delta) {
      delta = bound;
      column = -1;
    }
    tabu_end = tabu_delta = no_delta;
    tabu_column = -1;
  }
  /// Lowers `best` to the row's least swap and `least_bound` to its least bound. Tabu swaps count below `aspiration` only.
  __device__ __forceinline__ void lower_keys(std::int32_t row, std::int32_t aspiration, Key& best, Key& least_bound) const {
    const bool known = column >= 0, tabu_known = tabu_column >= 0, aspires = tabu_delta < aspiration;
    const std::int32_t d = known ? delta : no_delta, tabu_d = aspires & tabu_known ? tabu_delta : no_delta;
    const bool tabu_first = (tabu_d < d) | ((tabu_d == d) & (tabu_column < column));
    best = min(best, swap_key(min(d, tabu_d), row, tabu_first ? tabu_column : column));
    least_bound = min(least_bound, bound_key(min(known ? no_delta : delta, aspires & !tabu_known ? tabu_delta : no_delta), row));
  }
};

/// A row in words.
inline constexpr int row_words = 6;
[[nodiscard]] __device__ __forceinline__ std::int32_t word_of(const Row& row, std::int32_t word) {
  const std::int32_t tabu = word == 4 ? row.tabu_delta : row.tabu_column;
  return word == 0 ? row.delta : word == 1 ? row.column : word == 2 ? row.bound : word == 3 ? row.tabu_end : tabu;
}
[[nodiscard]] __device__ __forceinline__ Row row_of(const std::int32_t (&words)[row_words]) {
  return {words[0], words[1], words[2], words[3], words[4], words[5]};
}

/// The row that covers what the rows of all lanes cover, which have different columns of the same position; in all lanes.
[[nodiscard]] __device__ __forceinline__ Row merged(const Row& mine) {
  Row all;
  all.delta = warp_min(mine.delta);
  all.column = static_cast<std::int32_t>(warp_min(static_cast<unsigned>(mine.delta == all.delta ? mine.column : -1)));
  all.bound = warp_min(mine.column == all.column ? mine.bound : mine.delta);
  if (__any_sync(~0u, mine.tabu_delta != no_delta)) {
    all.tabu_delta = warp_min(mine.tabu_delta);
    all.tabu_column = static_cast<std::int32_t>(warp_min(static_cast<unsigned>(mine.tabu_delta == all.tabu_delta ? mine.tabu_column : -1)));
    all.tabu_end = warp_min(mine.tabu_end);
  }
  return all;
}

/// Scans a part of the row of position i, by a warp: the columns first .. first + warp_positions - 1, the same `step` columns further, and
/// so on, before `last`. Swap (i, j) is tabu before iteration until(j), which is called where the row depends on it and taken(j).
template <bool Integral, std::predicate<std::int32_t> Taken, std::invocable<std::int32_t> Until>
[[nodiscard]] __device__ __forceinline__ Row scan_row(const StoredCity<Integral>* cities, std::int32_t n, std::int32_t i,
                                                      std::int32_t first, std::int32_t last, std::int32_t step, std::int32_t now,
                                                      const Taken& taken, const Until& until) {
  const auto lane = static_cast<std::int32_t>(threadIdx.x % 32);
  const StoredCity<Integral> around = cities[wrapped(i - 1 + min(lane, 2), n)];
  const Stretch<1, Integral> window = stretch_of<1>(around.city(), 0);
  const bool halo = lane == 0 || lane > warp_positions;
  Row mine;
  for (; first < last; first += step) {
    const std::int32_t position = lane_position(first, lane, n);
    const StoredCity<Integral> own = cities[position];
    std::int32_t delta[1];
    swap_deltas<1>(window, i, own.city(), position, n, delta);
    std::int32_t d = halo | (first + lane > last) ? no_delta : delta[0];
    const bool enters = (d < mine.bound) | ((d == mine.delta) & (position < mine.column));
    if (enters & taken(position)) {
      const std::int32_t end = until(position);
      if (end > now) {
        mine.insert_tabu(d, position, end);
        d = no_delta;
      }
    }
    __syncwarp();
    mine.insert(d, position, no_delta);
  }
  return merged(mine);
}

// --- the searches of a launch, and their rows at its start -------------------------------------------------------------------

template <bool Integral>
struct RowSearches {
  Tours<Integral> tours;
  StoredCity<Integral>* cities;  ///< [search][position]; [search][block][position] if blocks do not keep them in shared memory
  Row* rows;                     ///< [search][position]
  std::uint32_t* filters;        ///< [search][block][word]: a bit for each swap taken that has a position of the block
  std::int32_t blocks;           ///< of a search
  std::int32_t block_rows;       ///< block b has the rows from b block_rows on
};

inline constexpr int setup_threads = 256;

/// Mapping: a thread a position; blockIdx.y: the search. Cost: reads three cities, writes one.
template <bool Integral>
__global__ void __launch_bounds__(setup_threads)
    tsp_cities_kernel(const __grid_constant__ RowSearches<Integral> searches, std::int32_t copies) {
  const std::int32_t n = searches.tours.tsp.n, p = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (p >= n) return;
  const StoredCity<Integral> city = searches.tours.city(blockIdx.y, p);
  for (std::int32_t copy = 0; copy < copies; ++copy) searches.cities[(std::size_t{blockIdx.y} * copies + copy) * n + p] = city;
}

/// Row i covers all swaps (i, j), i < j. Mapping: a warp a row; blockIdx.y: the search. Cost: three distances a swap, and a tabu time where
/// a lane finds one of its least two deltas.
template <bool Integral>
__global__ void __launch_bounds__(setup_threads) tsp_rows_kernel(const __grid_constant__ RowSearches<Integral> searches,
                                                                 const local_search::SearchProgress* all_progress, std::int32_t copies) {
  const Tours<Integral>& tours = searches.tours;
  const std::int32_t n = tours.tsp.n, i = static_cast<std::int32_t>(blockIdx.x * (setup_threads / 32) + threadIdx.x / 32);
  if (i >= n) return;
  const auto now = static_cast<std::int32_t>(all_progress[blockIdx.y].iterations);
  const Row row = scan_row(
      searches.cities + std::size_t{blockIdx.y} * copies * n, n, i, i + 1, n, warp_positions, now,
      [&](std::int32_t) { return tours.until != nullptr && now > 0; }, [&](std::int32_t j) { return *tours.until_of(blockIdx.y, i, j); });
  if (threadIdx.x % 32 == 0) searches.rows[std::size_t{blockIdx.y} * n + i] = row;
}

// --- shared memory -----------------------------------------------------------------------------------------------------------

/// The part of shared memory that does not depend on the instance. The Bloom filter follows; then rows and cities, if they fit.
template <bool Integral>
struct alignas(16) SharedLayout {
  cuda::Four<std::uint32_t> keys[2 * most_blocks];            ///< of CountedMailbox: least key and least bound, high half first
  cuda::Four<cuda::Word> rows[most_blocks][2 * most_blocks];  ///< [row scanned], of CountedMailbox: a block's part, and its bound
  cuda::Word key_arrivals[2], row_arrivals[most_blocks][2];
  StoredStretch<Integral> windows[row_threads / 32][2];  ///< [warp]
  std::int32_t warp_rows[row_threads / 32][row_words];
  Key warp_best[row_threads / 32], warp_bound[row_threads / 32];
  Key scanned[most_blocks];  ///< [row scanned]: its least key
  Key bounds[most_blocks];   ///< [block]
  local_search::SearchProgress progress;
};

/// Two halves of each row in shared memory, if no warp of a block then has more than one task; else one that covers all.
[[nodiscard]] VICINITY_HD constexpr std::int32_t halves_of(std::int32_t block_rows) {
  return 2 * divide_up(block_rows, warp_positions) <= row_threads / 32 ? 2 : 1;
}
/// Rows in shared memory fill whole 16 bytes.
[[nodiscard]] VICINITY_HD constexpr std::size_t stored_rows(std::int32_t block_rows) {
  return (static_cast<std::size_t>(halves_of(block_rows) * block_rows) + 1) / 2 * 2;
}

/// Bytes of shared memory of a block; `in_shared`: with its rows and all cities.
template <bool Integral>
[[nodiscard]] constexpr std::size_t shared_bytes(std::int32_t n, std::int32_t block_rows, bool in_shared) {
  const std::size_t fixed = sizeof(SharedLayout<Integral>) + filter_words * sizeof(std::uint32_t);
  return fixed + (in_shared ? stored_rows(block_rows) * sizeof(Row) + static_cast<std::size_t>(n) * sizeof(StoredCity<Integral>) : 0);
}

// --- the search --------------------------------------------------------------------------------------------------------------

/// One search, as each thread of its blocks sees it.
template <bool Integral, bool InShared>
class RowMinimaSearch {
 public:
  __device__ __forceinline__ RowMinimaSearch(const RowSearches<Integral>& searches, unsigned char* shared)
      : searches_(searches),
        tours_(searches.tours),
        n_(searches.tours.tsp.n),
        search_(blockIdx.x / static_cast<unsigned>(searches.blocks)),
        rank_(static_cast<int>(blockIdx.x) % searches.blocks),
        first_(min(rank_ * searches.block_rows, n_)),
        last_(min(first_ + searches.block_rows, n_)),
        halves_(InShared ? halves_of(searches.block_rows) : 1),
        tasks_(halves_ * divide_up(last_ - first_, warp_positions)),
        shared_(*reinterpret_cast<SharedLayout<Integral>*>(shared)),
        filter_(reinterpret_cast<std::uint32_t*>(shared + sizeof(SharedLayout<Integral>))),
        rows_(InShared ? reinterpret_cast<Row*>(filter_ + filter_words) : searches.rows + search_ * n_ + first_),
        cities_(InShared ? reinterpret_cast<StoredCity<Integral>*>(rows_ + stored_rows(searches.block_rows))
                         : searches.cities + (search_ * static_cast<std::size_t>(searches.blocks) + static_cast<std::size_t>(rank_)) * n_),
        swap_{n_} {}

  __device__ __forceinline__ void run(local_search::SearchProgress& progress, local_search::Method method, std::int64_t limit) {
    load(progress);
    Key best, bound;
    read_keys(best, bound);
    while (true) {
      reduce_keys(best, bound);
      while (__any_sync(~0u, bound < best)) rescan_rows(best, bound);
      if (best == no_key) {  // all swaps are tabu: the least of them is taken
        aspiration_ = no_delta;
        read_keys(best, bound);
      } else {
        const bool goes_on = take_move(best, method, limit);
        if (goes_on) update_rows(best, bound);
        if (saves_) save_best();
        if (!goes_on) break;
      }
    }
    store(progress);
  }

 private:
  static constexpr int threads = row_threads, warps = threads / 32;

  [[nodiscard]] static __device__ __forceinline__ std::int32_t lane() { return static_cast<std::int32_t>(threadIdx.x % 32); }
  [[nodiscard]] static __device__ __forceinline__ std::int32_t warp() { return static_cast<std::int32_t>(threadIdx.x / 32); }
  /// One thread of the search keeps its progress and its tour.
  [[nodiscard]] __device__ __forceinline__ bool is_progress_thread() const { return rank_ == 0 && threadIdx.x == threads - 32; }
  [[nodiscard]] __device__ __forceinline__ bool has_row(std::int32_t position) const { return position >= first_ && position < last_; }
  [[nodiscard]] __device__ __forceinline__ Row& row_at(std::int32_t position, int half) const {
    return rows_[half * searches_.block_rows + position - first_];
  }
  /// A lane's part in updating a row, or half of it.
  struct Task {
    std::int32_t half, position;
    bool active;
    Row* row;
  };
  /// In the k-th task of all warps.
  [[nodiscard]] __device__ __forceinline__ Task task_of(std::int32_t k) const {
    const std::int32_t half = halves_ == 2 ? k & 1 : 0, first = first_ + warp_positions * (k >> (halves_ - 1));
    const std::int32_t position = lane_position(first, lane(), n_);
    return {half, position, lane() >= 1 && lane() <= warp_positions && first + lane() - 1 < last_, &row_at(position, half)};
  }
  /// `row` covers all swaps that the halves of the row cover.
  __device__ __forceinline__ void set_row(std::int32_t position, const Row& row) const {
    row_at(position, 0) = row;
    if (halves_ == 2) row_at(position, 1) = Row{};
  }

  // --- start and end of a launch

  __device__ __forceinline__ void load(const local_search::SearchProgress& progress) {
    const int thread = static_cast<int>(threadIdx.x);
    if (thread < 2) key_mailbox().init(thread);
    if (thread < 2 * most_blocks) row_mailbox(thread / 2).init(thread % 2);
    if constexpr (InShared) {
      for (std::int32_t p = thread; p < n_; p += threads) cities_[p] = searches_.cities[search_ * n_ + p];
      for (std::int32_t i = first_ + thread; i < last_; i += threads) set_row(i, searches_.rows[search_ * n_ + i]);
    }
    for (int k = thread; k < filter_words; k += threads) filter_[k] = stored_filter()[k];
    if (is_progress_thread()) shared_.progress = progress;
    now_ = static_cast<std::int32_t>(progress.iterations);
    value_ = progress.value;
    best_value_ = progress.best_value;
    set_aspiration();
    barrier_of_blocks();
  }
  __device__ __forceinline__ void store(local_search::SearchProgress& progress) {
    if (warp() == warps - 1 && lane() == 0 && unrecorded_) set_until();
    if (is_progress_thread() && unrecorded_) record_move();
    __syncthreads();  // the filter has the last move
    if (rank_ == 0 && unsaved_) save_best();
    for (int k = static_cast<int>(threadIdx.x); k < filter_words; k += threads) stored_filter()[k] = filter_[k];
    if (is_progress_thread()) progress = shared_.progress;
    barrier_of_blocks();  // no block writes to the shared memory of one that has ended
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t* stored_filter() const {
    return searches_.filters + (search_ * static_cast<std::size_t>(searches_.blocks) + static_cast<std::size_t>(rank_)) * filter_words;
  }
  __device__ __forceinline__ void barrier_of_blocks() const {
#if __CUDA_ARCH__ >= 900
    if (searches_.blocks > 1) cooperative_groups::this_cluster().sync();
#endif
    __syncthreads();
  }
  /// Copies the tour to the best tour; by all threads of block 0.
  __device__ __forceinline__ void save_best() const {
    const std::size_t base = search_ * static_cast<std::size_t>(n_);
    __syncthreads();  // the last swap is in the tour
    for (std::int32_t p = static_cast<std::int32_t>(threadIdx.x); p < n_; p += threads) tours_.best[base + p] = tours_.tour[base + p];
    __syncthreads();
  }
  /// Adds the last swap to the progress and the tour; by the progress thread.
  __device__ __forceinline__ void record_move() {
    shared_.progress.take({value_, moves::index<2>(n_, {{swap_.r, swap_.s}}), false}, local_search::Method::tabu);
    std::int32_t* tour = tours_.tour + search_ * static_cast<std::size_t>(n_);
    const std::int32_t at_r = tour[swap_.r], at_s = tour[swap_.s];
    tour[swap_.r] = at_s;
    tour[swap_.s] = at_r;
  }

  // --- tabu times and aspiration

  __device__ __forceinline__ void set_aspiration() {
    const std::int64_t gap = best_value_ - value_;
    aspiration_ = gap < -no_delta ? -no_delta : static_cast<std::int32_t>(gap);
  }
  /// Swap (a, b) has bit filter_hash(a) + filter_hash(b) >> 16 of the filter: of squares too, as swaps of like distances have like sums.
  [[nodiscard]] static __device__ __forceinline__ unsigned filter_hash(std::int32_t position) {
    const auto p = static_cast<unsigned>(position);
    return p * (p * 0x9E3779B1u + 0x85EBCA77u);
  }
  [[nodiscard]] __device__ __forceinline__ bool in_filter(unsigned hash) const {
    return (filter_[hash >> 21] >> (hash >> 16) % 32 & 1) != 0;
  }
  /// The tabu time of swap (a, b). Positions have 16 bits, and so 32 are enough for moves::index().
  [[nodiscard]] __device__ __forceinline__ std::int32_t* until_of(std::int32_t a, std::int32_t b) const {
    const auto i = static_cast<unsigned>(min(a, b)), j = static_cast<unsigned>(max(a, b));
    return tours_.until_of(search_, std::int64_t{i * (2 * static_cast<unsigned>(n_) - i - 1) / 2 + j - i - 1});
  }
  /// The iteration before which the last swap is tabu.
  [[nodiscard]] __device__ __forceinline__ std::int32_t until_of_last() const {
    return static_cast<std::int32_t>(local_search::tabu_until(now_ - 1, tours_.tenure));
  }
  /// Makes the last swap tabu, in the blocks that ask for its time; by one thread of each.
  __device__ __forceinline__ void set_until() const {
    if (tours_.until == nullptr || !(has_row(swap_.r) || has_row(swap_.s))) return;
    *until_of(swap_.r, swap_.s) = until_of_last();
    const unsigned hash = filter_hash(swap_.r) + filter_hash(swap_.s);
    filter_[hash >> 21] |= 1u << (hash >> 16) % 32;
  }

  // --- messages

  [[nodiscard]] static __device__ __forceinline__ std::uint32_t address(const void* shared) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  }
  [[nodiscard]] __device__ __forceinline__ cuda::CountedMailbox<std::uint32_t> key_mailbox() const {
    return {address(shared_.keys), {address(shared_.key_arrivals)}, searches_.blocks, rank_};
  }
  /// For the k-th of the rows that are scanned at the same time; warp k's.
  [[nodiscard]] __device__ __forceinline__ cuda::CountedMailbox<cuda::Word> row_mailbox(int k) const {
    return {address(shared_.rows[k]), {address(shared_.row_arrivals[k])}, searches_.blocks, rank_};
  }

  // --- phases of an iteration

  /// The least key and the least bound of this thread's rows, without an update and without the row of position `left_out`.
  __device__ __forceinline__ void read_keys(Key& best, Key& bound, std::int32_t left_out = -1) const {
    best = bound = no_key;
    for (std::int32_t i = first_ + static_cast<std::int32_t>(threadIdx.x); i < last_; i += threads)
      for (int half = 0; half < halves_; ++half)
        if (i != left_out) row_at(i, half).lower_keys(i, aspiration_, best, bound);
  }

  /// The least key of all blocks in all lanes, and the least bound of block b in lane b. Between the barriers no warp reads cities and tabu
  /// times: there the last warp stores the last swap. Every warp waits for the messages itself.
  __device__ __forceinline__ void reduce_keys(Key& best, Key& bound) {
    best = warp_min(best);
    bound = warp_min(bound);
    if (lane() == 0) {
      shared_.warp_best[warp()] = best;
      shared_.warp_bound[warp()] = bound;
    }
    __syncthreads();
    ++step_;
    if (warp() == 0) {
      best = warp_min(lane() < warps ? shared_.warp_best[lane() % warps] : no_key);
      bound = warp_min(lane() < warps ? shared_.warp_bound[lane() % warps] : no_key);
      const cuda::Four<std::uint32_t> message{{static_cast<std::uint32_t>(best >> 32), static_cast<std::uint32_t>(best),
                                               static_cast<std::uint32_t>(bound >> 32), static_cast<std::uint32_t>(bound)}};
      if (searches_.blocks > 1)
        key_mailbox().send(message, step_);
      else if (lane() == 0)
        shared_.keys[step_ & 1] = message;
    } else if (warp() == warps - 1 && unrecorded_) {
      swap_.store_touched(cities_);
      if (lane() == 0) set_until();
    }
    __syncthreads();
    if (is_progress_thread() && unrecorded_) record_move();
    __syncwarp();
    unrecorded_ = false;
    const cuda::Four<std::uint32_t>* const messages = searches_.blocks > 1 ? key_mailbox().wait(step_) : &shared_.keys[step_ & 1];
    best = bound = no_key;
    if (lane() < searches_.blocks) {
      const cuda::Four<std::uint32_t> message = messages[lane()];
      best = static_cast<Key>(message.v[0]) << 32 | message.v[1];
      bound = static_cast<Key>(message.v[2]) << 32 | message.v[3];
    }
    best = warp_min(best);
  }

  /// Scans the row of the least bound of each block, where that comes before `best` or soon will, and brings `best` and `bound` up to date:
  /// as reduce_keys() leaves them. Each block scans the columns of its own positions, a warp or several a row. A row's parts go to all
  /// blocks, each with the least bound of the block's other rows.
  __device__ __forceinline__ void rescan_rows(Key& best, Key& bound) {
    const unsigned stale = __ballot_sync(~0u, bound < before_long(best));
    const int count = __popc(stale), number = __popc(stale & ((1u << lane()) - 1));
    const auto position_of = [&](int k) {  // of the k-th row
      const unsigned block = __ballot_sync(~0u, (stale >> lane() & 1) != 0 && number == k);
      return __shfl_sync(~0u, static_cast<std::int32_t>(bound), __ffs(static_cast<int>(block)) - 1);
    };
    const float per_warp = __fdividef(1.0f, static_cast<float>(count));  // quotients of such small numbers are exact
    const int part = static_cast<int>((static_cast<float>(warp()) + 0.5f) * per_warp);
    const int parts = static_cast<int>((static_cast<float>(warps) + 0.5f) * per_warp);
    const std::int32_t i = position_of(warp() - part * count);
    if (part < parts) {
      const unsigned hash = filter_hash(i);
      const Row of_warp = scan_row(
          cities_, n_, i, first_ + warp_positions * part, last_, warp_positions * parts, now_,
          [&](std::int32_t j) { return in_filter(hash + filter_hash(j)); }, [&](std::int32_t j) { return *until_of(i, j); });
      if (lane() < row_words) shared_.warp_rows[warp()][lane()] = word_of(of_warp, lane());
    }
    const std::int32_t own = __shfl_sync(~0u, static_cast<std::int32_t>(bound), rank_);
    Key unused, others;
    read_keys(unused, others, (stale >> rank_ & 1) != 0 ? own : -1);
    others = warp_min(others);
    if (lane() == 0) shared_.warp_bound[warp()] = others;
    __syncthreads();
    if (warp() < count) {
      const std::int32_t position = position_of(warp());
      Row mine;
      if (lane() < parts) mine = row_of(shared_.warp_rows[warp() + count * lane()]);
      mine = merged(mine);
      others = warp_min(lane() < warps ? shared_.warp_bound[lane() % warps] : no_key);
      if (searches_.blocks > 1) exchange(mine, others);
      if (lane() == 0) {
        if (has_row(position)) set_row(position, mine);
        Key none = no_key;
        shared_.scanned[warp()] = no_key;
        mine.lower_keys(position, aspiration_, shared_.scanned[warp()], none);
      }
      if (warp() == 0 && lane() < searches_.blocks) shared_.bounds[lane()] = others;
    }
    __syncthreads();
    best = min(best, warp_min(lane() < count ? shared_.scanned[lane()] : no_key));
    bound = lane() < searches_.blocks ? shared_.bounds[lane()] : no_key;
  }
  /// The row of which each block has a part, in all lanes, and the bound of block b in lane b; by a warp of each block.
  __device__ __forceinline__ void exchange(Row& row, Key& bound) {
    const auto pair = [](std::int32_t high, std::int32_t low) {
      return static_cast<cuda::Word>(static_cast<std::uint32_t>(high)) << 32 | static_cast<std::uint32_t>(low);
    };
    const cuda::CountedMailbox<cuda::Word> mailbox = row_mailbox(warp());
    mailbox.send({{pair(row.delta, row.column), pair(row.bound, row.tabu_end), pair(row.tabu_delta, row.tabu_column), bound}}, ++scans_);
    const cuda::Four<cuda::Word>* const messages = mailbox.wait(scans_);
    row = Row{};
    if (lane() < searches_.blocks) {
      const cuda::Four<cuda::Word> message = messages[lane()];
      const auto high = [&](int k) { return static_cast<std::int32_t>(message.v[k] >> 32); };
      const auto low = [&](int k) { return static_cast<std::int32_t>(message.v[k]); };
      row = {high(0), low(0), high(1), low(1), high(2), low(2)};
      bound = message.v[3];
    }
    row = merged(row);
  }

  /// Takes the swap of `key`, unless a hill climbing ends here. Returns whether the search goes on.
  __device__ __forceinline__ bool take_move(Key key, local_search::Method method, std::int64_t limit) {
    const auto move = swap_of(key);
    const std::int64_t value = value_ + delta_of(key);
    swap_.r = move.at[0];
    swap_.s = move.at[1];
    unrecorded_ = method != local_search::Method::hill || value < value_;
    saves_ = rank_ == 0 && unsaved_ && unrecorded_ && value >= best_value_;
    if (!unrecorded_) {
      if (is_progress_thread()) shared_.progress.take({value, moves::index<2>(n_, move), false}, method);
      return false;
    }
    ++now_;
    value_ = value;
    unsaved_ = value < best_value_;
    best_value_ = min(best_value_, value);
    set_aspiration();
    return now_ < limit;
  }

  /// Updates the rows after the last swap, and finds their least key and bound. A warp takes 30 positions: of one half of their rows the
  /// three changed swaps that belong to it, or all six where rows are not halved. A row needs repair only if a changed swap comes before
  /// its bound, or one of its own swaps has changed or ceases to be tabu.
  __device__ __forceinline__ void update_rows(Key& best, Key& bound) {
    best = bound = no_key;
    if (warp() >= tasks_ && warp() == warps - 1) swap_.load_window(cities_);
    for (std::int32_t k = warp(); k < tasks_; k += warps) {
      const Task task = task_of(k);
      const bool touched = swap_.touches(task.position);
      const StoredCity<Integral> stored = cities_[task.position];
      Row row;  // of a touched position all swaps have changed
      if (task.active && !touched) row = *task.row;
      swap_.load_window(cities_);  // here its latencies overlap with those of the row
      swap_.store_window(shared_.windows[warp()]);
      const City<Integral> own = swap_.swapped(stored.city(), task.position, touched);
      const bool least = swap_.touches(row.column), least_tabu = swap_.touches(row.tabu_column);
      bool changed = touched | least | least_tabu | (row.tabu_end <= now_);
      row.remove(least, least_tabu);
      row.end_tabu(now_);
#pragma unroll
      for (int center = 0; center < 2; ++center) {
        if (halves_ == 2 && center != task.half) continue;
        std::int32_t deltas[3];
        swap_deltas<3>(window(center), center == 0 ? swap_.r : swap_.s, own, task.position, n_, deltas);
        const bool inserts = task.active && min(min(deltas[0], deltas[1]), deltas[2]) <= row.bound;
        if (__any_sync(~0u, inserts)) {
          insert(row, task.position, center == 0 ? swap_.r : swap_.s, deltas, inserts);
          changed |= inserts;
        }
      }
      if (task.active && changed) *task.row = row;
      if (task.active) row.lower_keys(task.position, aspiration_, best, bound);
    }
    __syncwarp();
  }
  /// The cities around r, or around s, after the last swap.
  [[nodiscard]] __device__ __forceinline__ Stretch<3, Integral> window(int center) const {
    const StoredStretch<Integral> stored = shared_.windows[warp()][center];
    Stretch<3, Integral> stretch;
#pragma unroll
    for (int k = 0; k < 5; ++k) stretch.points[k] = stored.point(k);
#pragma unroll
    for (int k = 0; k < 3; ++k) stretch.edges[k] = stored.edges[k];
    return stretch;
  }
  /// Puts the changed swaps with the positions around `center` into the row, if it `inserts` any. By a whole warp, without branches but for
  /// swaps that may be tabu: one row of a warp takes as long as all of them.
  __device__ __forceinline__ void insert(Row& row, std::int32_t position, std::int32_t center, std::int32_t (&deltas)[3],
                                         bool inserts) const {
    const std::int32_t columns[]{before(center, n_), center, after(center, n_)};
    // The other position of the last swap, which is not yet in the filter.
    const std::int32_t last = tours_.until == nullptr ? -1 : position == swap_.r ? swap_.s : position == swap_.s ? swap_.r : -1;
    const unsigned hash = filter_hash(position);
    bool taken[3];
#pragma unroll
    for (int k = 0; k < 3; ++k)
      taken[k] =
          inserts & (deltas[k] <= row.bound) & (deltas[k] != no_delta) & ((columns[k] == last) | in_filter(hash + filter_hash(columns[k])));
    if (taken[0] | taken[1] | taken[2]) {
#pragma unroll
      for (int k = 0; k < 3; ++k) {
        if (!taken[k]) continue;
        const std::int32_t end = columns[k] == last ? until_of_last() : *until_of(position, columns[k]);
        if (end <= now_) continue;
        row.insert_tabu(deltas[k], columns[k], end);
        deltas[k] = no_delta;
      }
    }
    __syncwarp();
    const std::int32_t low = min(deltas[0], deltas[1]), least = min(low, deltas[2]);
    std::int32_t column = no_delta;
#pragma unroll
    for (int k = 0; k < 3; ++k) column = min(column, deltas[k] == least ? columns[k] : no_delta);
    if (inserts) row.insert(least, column, max(min(max(deltas[0], deltas[1]), deltas[2]), low));
  }

  const RowSearches<Integral>& searches_;
  const Tours<Integral>& tours_;
  const std::int32_t n_;
  const std::size_t search_;
  const int rank_;                   ///< of the block in the search
  const std::int32_t first_, last_;  ///< the block's rows
  const std::int32_t halves_;        ///< of a row
  const std::int32_t tasks_;         ///< of all warps in update_rows()
  SharedLayout<Integral>& shared_;
  std::uint32_t* const filter_;
  Row* const rows_;                     ///< [half][position - first_]
  StoredCity<Integral>* const cities_;  ///< [position]
  std::int32_t now_ = 0;                ///< the next iteration
  std::int32_t aspiration_ = 0;         ///< tabu swaps with deltas below this are not forbidden
  std::int64_t value_ = 0, best_value_ = 0;
  unsigned step_ = 0, scans_ = 0;  ///< numbers of the messages; scans_: of this warp's
  CitySwap<Integral> swap_;        ///< the last
  bool unrecorded_ = false;        ///< the last swap is not yet in cities, tour and progress
  bool unsaved_ = false;           ///< the tour is the best, and not yet saved as such
  bool saves_ = false;             ///< it was, and in block 0 is saved before the last swap is in it
};

/// Mapping: `blocks` blocks a search, a cluster if more than one; a lane a row.
template <bool Integral, bool InShared>
__global__ void __launch_bounds__(row_threads, 1)
    tsp_row_minima_kernel(const __grid_constant__ RowSearches<Integral> searches, local_search::SearchProgress* all_progress,
                          local_search::Method method, std::int64_t limit) {
  extern __shared__ __align__(16) unsigned char row_minima_shared[];
  local_search::SearchProgress& progress = all_progress[blockIdx.x / static_cast<unsigned>(searches.blocks)];
  if (progress.done(limit)) return;
  RowMinimaSearch<Integral, InShared>(searches, row_minima_shared).run(progress, method, limit);
}

// --- launch ------------------------------------------------------------------------------------------------------------------

template <bool Integral>
[[nodiscard]] auto kernel_of(bool in_shared) {
  return in_shared ? &tsp_row_minima_kernel<Integral, true> : &tsp_row_minima_kernel<Integral, false>;
}

/// Numbers of blocks that a search may have, the largest first. More blocks are faster as long as each has more than 12 rows (measured on
/// an H100, kernels/lsm/README.md).
[[nodiscard]] std::vector<std::int32_t> block_counts(std::int32_t n, const local_search::Task& task) {
  if (task.blocks > 0) return {static_cast<std::int32_t>(task.blocks)};
  const bool clusters = cuda::device_attribute(cudaDevAttrClusterLaunch) != 0;
  std::vector<std::int32_t> counts{1};
  for (std::int32_t blocks = 2; clusters && blocks <= most_blocks; blocks *= 2)
    if (n > 12 * blocks) counts.insert(counts.begin(), blocks);
  return counts;
}

struct RowMinimaPolicy {
  std::int32_t blocks = 0;  ///< of a search
  std::int32_t block_rows = 0;
  std::int32_t threads = 0, coordinate_bits = 0;
  bool in_shared = false;  ///< rows and cities; else in device memory
  std::size_t shared_bytes = 0;
  std::int64_t batch_size = 0;  ///< searches at the same time

  [[nodiscard]] cuda::Shape shape(std::int64_t searches) const {
    return {.blocks = searches * blocks, .threads = threads, .shared_bytes = shared_bytes, .cluster = blocks};
  }
  [[nodiscard]] Policy record() const {
    return {{"blocks", blocks},
            {"threads", threads},
            {"coordinate_bits", coordinate_bits},
            {"places_in_shared", in_shared ? 1 : 0},
            {"shared_bytes", static_cast<std::int64_t>(shared_bytes)},
            {"together", batch_size}};
  }
};

/// The most blocks a search with which all restarts run at the same time. If there is no such number: the fewest, as these run the most
/// restarts at the same time.
template <bool Integral>
[[nodiscard]] RowMinimaPolicy row_minima_policy(const local_search::TspSwap& neighborhood, const local_search::Task& task) {
  constexpr std::int64_t most_tabu_bytes = std::int64_t{1} << 30;  // tabu times of all searches
  const std::int32_t n = neighborhood.instance().size();
  const std::size_t most_shared = cuda::most_shared();
  RowMinimaPolicy policy;
  for (const std::int32_t blocks : block_counts(n, task)) {
    RowMinimaPolicy next{
        .blocks = blocks, .block_rows = divide_up(n, blocks), .threads = row_threads, .coordinate_bits = Integral ? 16 : 64};
    next.in_shared = shared_bytes<Integral>(n, next.block_rows, true) <= most_shared;
    next.shared_bytes = shared_bytes<Integral>(n, next.block_rows, next.in_shared);
    if (next.shared_bytes > most_shared) continue;
    cuda::allow_shared(kernel_of<Integral>(next.in_shared), next.shared_bytes);
    next.batch_size = blocks == 1 ? cuda::multiprocessors() : cuda::clusters_at_a_time(next.shape(1), kernel_of<Integral>(next.in_shared));
    if (next.batch_size == 0) continue;
    policy = next;
    if (policy.batch_size >= task.restarts) break;
  }
  if (policy.batch_size == 0)
    throw DoesNotFit(std::to_string(n) + " cities need more than the " + std::to_string(most_shared) +
                     " bytes of shared memory a block that this GPU has");
  const auto tabu_bytes = static_cast<std::int64_t>(sizeof(std::int32_t)) * neighborhood.moves();
  if (task.method == local_search::Method::tabu)
    policy.batch_size = std::min(policy.batch_size, std::max<std::int64_t>(1, most_tabu_bytes / tabu_bytes));
  policy.batch_size = std::min(policy.batch_size, task.restarts);
  return policy;
}

/// A SearchEngine (kernels/lsm/device_searches.cuh).
template <bool Integral>
class RowMinimaEngine {
 public:
  using Neighborhood = local_search::TspSwap;
  using State = local_search::SearchState<Neighborhood>;

  RowMinimaEngine(const Neighborhood& neighborhood, const local_search::Task& task, const cuda::Stream& stream)
      : stream_(stream),
        method_(task.method),
        policy_(row_minima_policy<Integral>(neighborhood, task)),
        copies_(policy_.in_shared ? 1 : policy_.blocks),
        memory_(neighborhood, task, policy_.batch_size, stream) {
    const auto searches = static_cast<std::size_t>(policy_.batch_size), n = static_cast<std::size_t>(neighborhood.instance().size());
    rows_ = cuda::DeviceBuffer<Row>(searches * n);
    cities_ = cuda::DeviceBuffer<StoredCity<Integral>>(searches * static_cast<std::size_t>(copies_) * n);
    filters_ = cuda::DeviceBuffer<std::uint32_t>(searches * static_cast<std::size_t>(policy_.blocks) * filter_words);
    searches_ = {memory_.view(), cities_.data(), rows_.data(), filters_.data(), policy_.blocks, policy_.block_rows};
  }

  [[nodiscard]] std::int64_t batch_size() const { return policy_.batch_size; }

  void begin(const std::vector<State>& states) {
    count_ = static_cast<unsigned>(states.size());
    memory_.begin(states);
    filters_.fill(0, stream_);
  }
  void launch(local_search::SearchProgress* all_progress, std::int64_t limit) {
    const std::int32_t n = searches_.tours.tsp.n;
    const auto grid = [&](std::int32_t items) { return dim3(static_cast<unsigned>(divide_up(n, items)), count_); };
    tsp_cities_kernel<Integral><<<grid(setup_threads), setup_threads, 0, stream_.get()>>>(searches_, copies_);
    VICINITY_CUDA_CHECK(cudaGetLastError());
    tsp_rows_kernel<Integral><<<grid(setup_threads / 32), setup_threads, 0, stream_.get()>>>(searches_, all_progress, copies_);
    VICINITY_CUDA_CHECK(cudaGetLastError());
    VICINITY_CUDA_CHECK(
        cuda::launch(policy_.shape(count_), stream_, kernel_of<Integral>(policy_.in_shared), searches_, all_progress, method_, limit));
  }
  void finish(std::vector<State::Result>& searches) { memory_.finish(searches); }
  void poison() {
    memory_.poison();
    filters_.fill(0xA5, stream_);
    rows_.fill(0xA5, stream_);
    cities_.fill(0xA5, stream_);
  }
  [[nodiscard]] Ceiling synchronization() const { return policy_.blocks > 1 ? Ceiling::cluster_barrier : Ceiling::block_barrier; }
  [[nodiscard]] Policy policy() const { return policy_.record(); }

 private:
  const cuda::Stream& stream_;
  const local_search::Method method_;
  const RowMinimaPolicy policy_;
  const std::int32_t copies_;  ///< of a search's cities
  unsigned count_ = 0;         ///< searches under way
  TourMemory<Integral> memory_;
  cuda::DeviceBuffer<std::uint32_t> filters_;
  cuda::DeviceBuffer<Row> rows_;
  cuda::DeviceBuffer<StoredCity<Integral>> cities_;
  RowSearches<Integral> searches_{};
};

}  // namespace

std::unique_ptr<Run> tuned_run(const local_search::TspSwap& neighborhood, const local_search::Task& task) {
  if (std::unique_ptr<Run> run = task.blocks > 0 ? nullptr : tsp_scan_run(neighborhood, task)) return run;
  if (neighborhood.instance().integral()) return std::make_unique<DeviceRun<RowMinimaEngine<true>>>(neighborhood, task);
  return std::make_unique<DeviceRun<RowMinimaEngine<false>>>(neighborhood, task);
}

}  // namespace vicinity::lsm
