// gpu-tuned for the travelling salesman problem with many cities: tabu search and hill climbing that keep the least swap of each row.
//
// Problem: the swaps (i, j) of the cities at positions i < j of the tour. An iteration takes the least of (forbidden, delta, i, j).
// Method: a row stands for one position i and covers swaps of i; every swap is covered by the row of one of its positions or by both. A row
// keeps its least swap that is not tabu, a lower bound of the deltas of its other swaps, and its least tabu swap. A swap of the cities at
// r and s changes six swaps in each row. Their new deltas either replace the row's least swap or lower its bound, so no other swap has to
// be evaluated until the bound of some row comes before the least swap of all rows. Then that row is scanned anew. A row is kept as two
// halves, of two warps: one covers what changes around r, the other what changes around s.
//
// Data layout: a search has one block, up to 16 in a cluster, or with many cities up to 128 of the grid. Each block has all cities in tour
// order (StoredCity), and the rows of consecutive positions. Both are in shared memory, except cities on the grid where they do not fit.
// Tours and tabu times are in device memory. A Bloom filter of the swaps taken, in shared memory, avoids most reads of tabu times.
// Phases of an iteration:
//   1. update_rows: a lane half a row evaluates the changed swaps, repairs the half, and lowers its least key and least bound;
//   2. reduce_keys: the least key of the search in all lanes, and which rows are to be scanned: at most one of each block;
//   3. while there are any, they are scanned, each by all blocks. In a cluster rescan_rows has key and bounds anew: a warp a row. On the
//      grid scan_stale_rows brings the rows up to date, and phase 2 follows: a lane a row;
//   4. take_move: every thread takes the same move. One thread records it while the others go on.
// Synchronisation: two block barriers and one message from each block to each in phase 2. In phase 3 as many each time in a cluster; on the
// grid three barriers, and a message from each block to those whose rows are scanned. Messages of a cluster are stored in shared memory,
// those of the grid in device memory and polled.
// Cost: twelve distances a row and iteration; three distances a swap in scans.
#include <cooperative_groups.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "core/methods/lsm/search.hpp"
#include "core/problems/moves.hpp"
#include "core/util/math.hpp"
#include "kernels/cuda/collective/mailbox.cuh"
#include "kernels/cuda/collective/warp.cuh"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/lsm/device_searches.cuh"
#include "kernels/lsm/tuned/tsp/rows.cuh"
#include "kernels/lsm/tuned/tsp/scan.hpp"
#include "kernels/lsm/tuned/tsp/tours.cuh"
#include "kernels/lsm/tuned/tuned.hpp"

namespace vicinity::lsm {
namespace {

/// Threads of a block. In a cluster and with many cities more warps than have rows help to scan. Else fewer have more registers and wait
/// less for each other.
template <bool Grid, bool InShared>
inline constexpr int row_threads = !Grid || !InShared ? 512 : 256;
inline constexpr int most_warps = 16;
/// Blocks of a search in a cluster at most: one for each lane of half a warp in reduce_keys(); of one on the grid: four for each lane.
inline constexpr int most_blocks = 16, lane_blocks = 4, most_grid_blocks = 32 * lane_blocks;
/// Copies of a block's key message on the grid, so that not all blocks poll the same slices of L2.
inline constexpr int message_copies = 8;
/// From so many cities on a single search has the grid (measured on an H100, kernels/lsm/README.md).
inline constexpr std::int32_t grid_cities = 1800;
/// 32-bit words of the Bloom filter: 2^16 bits.
inline constexpr int filter_words = 2048;

// --- shared memory -----------------------------------------------------------------------------------------------------------

/// What is in shared memory whatever the instance, and the same on the grid. The Bloom filter follows; then rows, and cities, if they fit.
struct ClusterLayout {
  cuda::Four<std::uint32_t> keys[2 * most_blocks];            ///< of CountedMailbox: least key and least bound, high half first
  cuda::Four<cuda::Word> rows[most_blocks][2 * most_blocks];  ///< [row scanned], of CountedMailbox: a block's part, and its bound
  cuda::Word key_arrivals[2], row_arrivals[most_blocks][2];
  std::int32_t warp_rows[most_warps][row_words];
  Key scanned[most_blocks];  ///< [row scanned]: its least key
  Key bounds[most_blocks];   ///< [block]
};
struct GridLayout {
  Key best;
  std::int32_t stale_count;                       ///< rows to be scanned
  std::int32_t stale[most_grid_blocks];           ///< their positions
  std::int32_t parts[most_warps][row_words][32];  ///< [warp][word][row]: of the rows that are scanned
};
struct alignas(16) Keys {
  Key best, bound;
};
template <bool Integral, bool Grid>
struct alignas(16) SharedLayout : std::conditional_t<Grid, GridLayout, ClusterLayout> {
  StoredStretch<Integral> windows[most_warps][2];  ///< [warp]
  Keys of_warps[most_warps];
  local_search::SearchProgress progress;
};

/// Bytes of shared memory of a block; `in_shared`: with all cities.
template <bool Integral>
[[nodiscard]] constexpr std::size_t shared_bytes(std::int32_t n, std::int32_t block_rows, bool grid, bool in_shared) {
  const std::size_t fixed = (grid ? sizeof(SharedLayout<Integral, true>) : sizeof(SharedLayout<Integral, false>)) +
                            filter_words * sizeof(std::uint32_t) + 2 * static_cast<std::size_t>(block_rows) * sizeof(Row);
  return fixed + (in_shared ? static_cast<std::size_t>(n) * sizeof(StoredCity<Integral>) : 0);
}

// --- the search --------------------------------------------------------------------------------------------------------------

/// One search, as each thread of its blocks sees it.
template <bool Integral, bool Grid, bool InShared>
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
        tasks_(2 * divide_up(last_ - first_, warp_positions)),
        warps_with_rows_(min(warps, max(tasks_, divide_up(last_ - first_, 32)))),
        first_task_(task_of(warp())),
        shared_(*reinterpret_cast<SharedLayout<Integral, Grid>*>(shared)),
        filter_(reinterpret_cast<std::uint32_t*>(shared + sizeof(SharedLayout<Integral, Grid>))),
        rows_(reinterpret_cast<Row*>(filter_ + filter_words)),
        cities_(InShared ? reinterpret_cast<StoredCity<Integral>*>(rows_ + 2 * searches.block_rows)
                         : searches.cities + (search_ * static_cast<std::size_t>(searches.blocks) + static_cast<std::size_t>(rank_)) * n_),
        swap_{n_} {}

  __device__ __forceinline__ void run(local_search::SearchProgress& progress, local_search::Method method, std::int64_t limit) {
    load(progress);
    Key best, bound;
    read_keys(best, bound);
    while (true) {
      reduce_keys(best, bound);
      if constexpr (Grid) {
        if (shared_.stale_count > 0) {
          scan_stale_rows();
          read_keys(best, bound);
          continue;
        }
      } else {
        while (__any_sync(~0u, bound < best)) rescan_rows(best, bound);
      }
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
  static constexpr int threads = row_threads<Grid, InShared>, warps = threads / 32;

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
  };
  /// In the k-th task of all warps.
  [[nodiscard]] __device__ __forceinline__ Task task_of(std::int32_t k) const {
    const std::int32_t first = first_ + warp_positions * (k / 2);
    return {k % 2, lane_position(first, lane(), n_), lane() >= 1 && lane() <= warp_positions && first + lane() - 1 < last_};
  }
  /// `row` covers all swaps that the halves of the row cover.
  __device__ __forceinline__ void set_row(std::int32_t position, const Row& row) const {
    row_at(position, 0) = row;
    row_at(position, 1) = Row{};
  }

  // --- start and end of a launch

  __device__ __forceinline__ void load(const local_search::SearchProgress& progress) {
    const int thread = static_cast<int>(threadIdx.x);
    if constexpr (!Grid) {
      if (thread < 2) key_mailbox().arrivals.init(thread);
      if (thread < 2 * most_blocks) row_mailbox(thread / 2).arrivals.init(thread % 2);
    }
    if constexpr (InShared) {
      for (std::int32_t p = thread; p < n_; p += threads) cities_[p] = searches_.cities[search_ * n_ + p];
    }
    for (std::int32_t i = first_ + thread; i < last_; i += threads) set_row(i, searches_.rows[search_ * n_ + i]);
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
    barrier_of_blocks();  // no block writes to the shared memory of one of its cluster that has ended
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t* stored_filter() const {
    return searches_.filters + (search_ * static_cast<std::size_t>(searches_.blocks) + static_cast<std::size_t>(rank_)) * filter_words;
  }
  __device__ __forceinline__ void barrier_of_blocks() const {
#if __CUDA_ARCH__ >= 900
    if (!Grid && searches_.blocks > 1) cooperative_groups::this_cluster().sync();
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

  // --- phases of an iteration

  /// The least key and the least bound of this thread's rows, without an update and without the row of position `left_out`.
  __device__ __forceinline__ void read_keys(Key& best, Key& bound, std::int32_t left_out = -1) const {
    best = bound = no_key;
    for (std::int32_t i = first_ + static_cast<std::int32_t>(threadIdx.x); i < last_; i += threads)
      for (int half = 0; half < 2; ++half)
        if (i != left_out) row_at(i, half).lower_keys(i, aspiration_, best, bound);
  }

  /// The least key of all blocks in all lanes, and the rows to be scanned: in a cluster the least bound of block b in lane b, on the grid
  /// `stale` in shared memory. Between the barriers no warp reads cities and tabu times: there the last warp stores the last swap. In a
  /// cluster every warp waits for the messages itself, on the grid warp 0.
  __device__ __forceinline__ void reduce_keys(Key& best, Key& bound) {
    best = warp_min(best);
    bound = warp_min(bound);
    if (lane() == 0) shared_.of_warps[warp()] = {best, bound};
    __syncthreads();
    ++step_;
    if (warp() == 0) {
      best = bound = no_key;
#pragma unroll 1
      for (int first = 0; first < warps_with_rows_; first += 4) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          const Keys of_warp = shared_.of_warps[first + k];
          best = min(best, of_warp.best);
          bound = min(bound, of_warp.bound);
        }
      }
      if constexpr (Grid)
        exchange_keys(best, bound);
      else
        send_keys(best, bound);
    } else if (warp() == warps - 1 && unrecorded_) {
      swap_.store_touched(cities_);
      if (lane() == 0) set_until();
    }
    __syncthreads();
    if (is_progress_thread() && unrecorded_) record_move();
    __syncwarp();
    unrecorded_ = false;
    if constexpr (Grid)
      best = shared_.best;
    else
      receive_keys(best, bound);
  }

  // --- messages in a cluster

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
  __device__ __forceinline__ void send_keys(Key best, Key bound) const {
    const cuda::Four<std::uint32_t> message{{static_cast<std::uint32_t>(best >> 32), static_cast<std::uint32_t>(best),
                                             static_cast<std::uint32_t>(bound >> 32), static_cast<std::uint32_t>(bound)}};
    if (searches_.blocks > 1)
      key_mailbox().send(message, step_);
    else if (lane() == 0)
      shared_.keys[step_ & 1] = message;
  }
  __device__ __forceinline__ void receive_keys(Key& best, Key& bound) const {
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
    if (lane() == 0) shared_.of_warps[warp()].bound = others;
    __syncthreads();
    if (warp() < count) {
      const std::int32_t position = position_of(warp());
      Row mine;
      if (lane() < parts) mine = row_of(shared_.warp_rows[warp() + count * lane()]);
      mine = merged(mine);
      others = warp_min(lane() < warps ? shared_.of_warps[lane() % warps].bound : no_key);
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

  // --- messages on the grid
  // The last number of a message is the step, or ends in it. A block sends the messages of a step when it has read all of the one before.

  /// This lane's messages *at(k) of blocks k = lane, lane + 32, ... in all, once all are of the step; beyond the last block its message.
  /// All are asked for before any is looked at. By a whole warp.
  template <int Count, class At>
  __device__ __forceinline__ void wait_for(cuda::Four<std::uint32_t> (&messages)[Count], std::uint32_t step, std::uint32_t mask,
                                           const At& at) const {
    bool waiting = true;
    while (__any_sync(~0u, waiting)) {
#pragma unroll
      for (int k = 0; k < Count; ++k) messages[k] = cuda::read_relaxed(at(k));
      waiting = false;
#pragma unroll
      for (int k = 0; k < Count; ++k) waiting |= ((messages[k].v[3] ^ step) & mask) != 0;
    }
  }
  /// The block whose k-th message this lane reads.
  [[nodiscard]] __device__ __forceinline__ std::int32_t sender(int k) const { return min(lane() + 32 * k, searches_.blocks - 1); }

  /// Sends the least key and the least bound of the block, and writes the least key of all blocks to shared memory, and where a bound comes
  /// before it, the rows whose bounds do or soon will. By warp 0.
  __device__ __forceinline__ void exchange_keys(Key best, Key bound) const {
    cuda::Four<std::uint32_t>* const set = searches_.key_messages + (step_ & 1) * message_copies * most_grid_blocks;
    if (lane() < message_copies)
      cuda::write_relaxed(set + lane() * most_grid_blocks + rank_,
                          {{static_cast<std::uint32_t>(best >> 32), static_cast<std::uint32_t>(best),
                            static_cast<std::uint32_t>(bound >> 32), static_cast<std::uint32_t>(bound) << 16 | (step_ & 0xFFFF)}});
    const cuda::Four<std::uint32_t>* const from = set + rank_ % message_copies * most_grid_blocks;
    cuda::Four<std::uint32_t> messages[lane_blocks];
    wait_for(messages, step_, 0xFFFF, [&](int k) { return from + sender(k); });
    best = no_key;
    std::uint32_t least = ~0u;
#pragma unroll
    for (const cuda::Four<std::uint32_t>& message : messages) {
      best = min(best, static_cast<Key>(message.v[0]) << 32 | message.v[1]);
      least = min(least, message.v[2]);
    }
    best = warp_min(best);
    int count = 0;
    if (__any_sync(~0u, least < best >> 32)) {
      const auto limit = static_cast<std::uint32_t>(before_long(best) >> 32);
#pragma unroll
      for (int k = 0; k < lane_blocks; ++k) {
        const bool is_stale = (messages[k].v[2] < limit) & (lane() + 32 * k < searches_.blocks);
        const unsigned stale = __ballot_sync(~0u, is_stale);
        if (is_stale) shared_.stale[count + __popc(stale & ((1u << lane()) - 1))] = static_cast<std::int32_t>(messages[k].v[3] >> 16);
        count += __popc(stale);
      }
    }
    if (lane() == 0) {
      shared_.best = best;
      shared_.stale_count = count;
    }
  }

  /// Scans the rows `stale`, at most one of each block: a lane a row. Each block scans the columns of its own positions, each warp some of
  /// them, and sends its part to the block of the row, where the last warp merges all parts.
  __device__ __forceinline__ void scan_stale_rows() {
    ++scans_;
    const std::int32_t count = shared_.stale_count, columns = divide_up(last_ - first_, warps);
    const std::int32_t from = first_ + warp() * columns, to = min(from + columns, last_);
    std::int32_t own = -1;
    for (std::int32_t k = lane(); k < divide_up(count, 32) * 32; k += 32) {
      const std::int32_t i = shared_.stale[min(k, count - 1)];
      if (has_row(i)) own = i;
      const Row of_warp = scan_columns(i, from, to);
#pragma unroll
      for (int w = 0; w < row_words; ++w) shared_.parts[warp()][w][lane()] = word_of(of_warp, w);
      __syncthreads();
      if (warp() == 0) {
        Row row;
        for (std::int32_t other = 0; other < warps; ++other) add(row, [&](int w) { return shared_.parts[other][w][lane()]; });
        cuda::Four<std::uint32_t>* const to_block = row_messages(i / searches_.block_rows) + 2 * rank_;
        const auto word = [&](int w) { return static_cast<std::uint32_t>(word_of(row, w)); };
        if (k < count) {
          cuda::write_relaxed(to_block, {{word(0), word(1), word(2), scans_}});
          cuda::write_relaxed(to_block + 1, {{word(3), word(4), word(5), scans_}});
        }
        __syncwarp();
      }
      __syncthreads();
    }
#if __CUDA_ARCH__ >= 800
    own = __reduce_max_sync(~0u, own);
#else
    own = -cuda::warp_min(-own);
#endif
    if (own >= 0 && warp() == warps - 1) {
      const Row row = received_row();
      if (lane() == 0) set_row(own, row);
    }
    __syncthreads();
  }
  /// Adds to `row` what another row of the same position covers, whose words are word(0), ...
  template <class Word>
  static __device__ __forceinline__ void add(Row& row, const Word& word) {
    row.insert(word(0), word(1), word(2));
    if (word(4) != no_delta) row.insert_tabu(word(4), word(5), word(3));
  }
  /// Scans a part of the row of each lane's position i: columns from .. to - 1. Three distances a column: of i and the next one, and of the
  /// neighbours of i and the column; those of i and two columns before are known.
  [[nodiscard]] __device__ __forceinline__ Row scan_columns(std::int32_t i, std::int32_t from, std::int32_t to) const {
    Row mine;
    if (from >= to) return mine;
    const std::int32_t before_i = before(i, n_), after_i = after(i, n_);
    const City<Integral> own = cities_[i].city();
    const unsigned hash = filter_hash(i);
    City<Integral> column = cities_[from].city();
    const Point<Integral> owns[3]{own.point, cities_[before_i].city().point, cities_[after_i].city().point};
    std::int32_t last = distance(own.point, cities_[before(from, n_)].city().point), current = distance(own.point, column.point);
    for (std::int32_t j = from; j < to; ++j) {
      const City<Integral> next = cities_[after(j, n_)].city();
      const Point<Integral> others[3]{next.point, column.point, column.point};
      std::int32_t d[3];
      distances(owns, others, d);
      std::int32_t delta = last + d[0] + d[1] + d[2] - own.edges - column.edges;
      if ((j == before_i) | (j == after_i)) delta += 2 * current;  // the edge between neighbours stays
      if (j == i) delta = no_delta;
      if ((delta < mine.bound) & in_filter(hash + filter_hash(j))) {
        const std::int32_t end = *until_of(i, j);
        if (end > now_) {
          mine.insert_tabu(delta, j, end);
          delta = no_delta;
        }
      }
      __syncwarp();
      mine.insert(delta, j, no_delta);
      last = current;
      current = d[0];
      column = next;
    }
    return mine;
  }
  /// Of all blocks, for this block's row.
  [[nodiscard]] __device__ __forceinline__ Row received_row() const {
    const cuda::Four<std::uint32_t>* const from = row_messages(rank_);
    cuda::Four<std::uint32_t> messages[2 * lane_blocks];
    wait_for(messages, scans_, ~0u, [&](int k) { return from + 2 * sender(k / 2) + k % 2; });
    Row mine;
#pragma unroll
    for (int k = 0; k < lane_blocks; ++k) {
      if (lane() + 32 * k >= searches_.blocks) continue;
      add(mine, [&](int w) { return static_cast<std::int32_t>(messages[2 * k + w / 3].v[w % 3]); });
    }
    __syncwarp();
    return merged(mine);
  }
  [[nodiscard]] __device__ __forceinline__ cuda::Four<std::uint32_t>* row_messages(std::int32_t block) const {
    return searches_.row_messages + 2 * block * most_grid_blocks;
  }

  // --- moves

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
  /// three changed swaps that belong to it. A row needs repair only if a changed swap comes before its bound, or one of its own swaps has
  /// changed or ceases to be tabu. Whatever does not need the distances is computed beside them.
  __device__ __forceinline__ void update_rows(Key& best, Key& bound) {
    best = bound = no_key;
    if (warp() >= tasks_ && warp() == warps - 1) swap_.load_window(cities_);
    Task task = first_task_;
    for (std::int32_t k = warp(); k < tasks_; k += warps, task = task_of(k)) {
      const City<Integral> own = cities_[swap_.source(task.position)].city();
      swap_.load_points(cities_, shared_.windows[warp()]);
      const bool touched = swap_.touches(task.position);
      Row row;  // of a touched position all swaps have changed
      if (task.active && !touched) row = row_at(task.position, task.half);
      const std::int32_t center = task.half == 0 ? swap_.r : swap_.s, columns[]{before(center, n_), center, after(center, n_)};
      bool taken[3];
#pragma unroll
      for (int c = 0; c < 3; ++c) taken[c] = in_filter(filter_hash(task.position) + filter_hash(columns[c]));
      std::int32_t d[6], deltas[3];
      swap_.changed_distances(shared_.windows[warp()][task.half], own.point, d);
      const bool least = swap_.touches(row.column), least_tabu = swap_.touches(row.tabu_column);
      bool changed = touched | least | least_tabu | (row.tabu_end <= now_);
      row.remove(least, least_tabu);
      row.end_tabu(now_);
      swap_.changed_deltas(task.half, d, own.edges, touched, task.position, deltas);
      const bool inserts = task.active && min(min(deltas[0], deltas[1]), deltas[2]) <= row.bound;
      if (__any_sync(~0u, inserts)) {
        insert(row, task.position, columns, deltas, taken, inserts);
        changed |= inserts;
      }
      if (task.active && changed) row_at(task.position, task.half) = row;
      if (task.active) row.lower_keys(task.position, aspiration_, best, bound);
    }
    __syncwarp();
  }
  /// Puts the changed swaps with the positions `columns` into the row, if it `inserts` any; those that may have been taken before are
  /// `taken`. By a whole warp, without branches but for swaps that may be tabu: one row of a warp takes as long as all of them.
  __device__ __forceinline__ void insert(Row& row, std::int32_t position, const std::int32_t (&columns)[3], std::int32_t (&deltas)[3],
                                         bool (&taken)[3], bool inserts) const {
    // The other position of the last swap, which is not yet in the filter.
    const std::int32_t last = tours_.until == nullptr ? -1 : position == swap_.r ? swap_.s : position == swap_.s ? swap_.r : -1;
#pragma unroll
    for (int k = 0; k < 3; ++k) taken[k] = inserts & (deltas[k] <= row.bound) & (deltas[k] != no_delta) & ((columns[k] == last) | taken[k]);
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
  const int rank_;                      ///< of the block in the search
  const std::int32_t first_, last_;     ///< the block's rows
  const std::int32_t tasks_;            ///< of all warps in update_rows()
  const std::int32_t warps_with_rows_;  ///< whose keys reduce_keys() compares
  const Task first_task_;               ///< of this warp
  SharedLayout<Integral, Grid>& shared_;
  std::uint32_t* const filter_;
  Row* const rows_;                     ///< [half][position - first_]
  StoredCity<Integral>* const cities_;  ///< [position]
  std::int32_t now_ = 0;                ///< the next iteration
  std::int32_t aspiration_ = 0;         ///< tabu swaps with deltas below this are not forbidden
  std::int64_t value_ = 0, best_value_ = 0;
  unsigned step_ = 0, scans_ = 0;  ///< numbers of the messages; scans_: in a cluster of this warp's
  CitySwap<Integral> swap_;        ///< the last
  bool unrecorded_ = false;        ///< the last swap is not yet in cities, tour and progress
  bool unsaved_ = false;           ///< the tour is the best, and not yet saved as such
  bool saves_ = false;             ///< it was, and in block 0 is saved before the last swap is in it
};

/// Mapping: `blocks` blocks a search, a cluster if more than one, or the grid; a lane a row.
template <bool Integral, bool Grid, bool InShared>
__global__ void __launch_bounds__(row_threads<Grid, InShared>, 1)
    tsp_row_minima_kernel(const __grid_constant__ RowSearches<Integral> searches, local_search::SearchProgress* all_progress,
                          local_search::Method method, std::int64_t limit) {
  extern __shared__ __align__(16) unsigned char row_minima_shared[];
  local_search::SearchProgress& progress = all_progress[blockIdx.x / static_cast<unsigned>(searches.blocks)];
  if (progress.done(limit)) return;
  RowMinimaSearch<Integral, Grid, InShared>(searches, row_minima_shared).run(progress, method, limit);
}

// --- launch ------------------------------------------------------------------------------------------------------------------

template <bool Integral>
[[nodiscard]] auto kernel_of(bool grid, bool in_shared) {
  return !grid       ? &tsp_row_minima_kernel<Integral, false, true>
         : in_shared ? &tsp_row_minima_kernel<Integral, true, true>
                     : &tsp_row_minima_kernel<Integral, true, false>;
}

/// Numbers of blocks that a search in a block or a cluster may have, the largest first; none if it is to have the grid. More blocks are
/// faster as long as each has more than 12 rows (measured on an H100, kernels/lsm/README.md).
[[nodiscard]] std::vector<std::int32_t> block_counts(std::int32_t n, const local_search::Task& task) {
  if (task.blocks > most_blocks || (task.blocks == 0 && task.restarts == 1 && n >= grid_cities)) return {};
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
  bool grid = false;       ///< else in a block or a cluster
  bool in_shared = false;  ///< all cities; else in device memory
  std::size_t shared_bytes = 0;
  std::int64_t batch_size = 0;  ///< searches at the same time

  [[nodiscard]] cuda::Shape shape(std::int64_t searches) const {
    return {
        .blocks = searches * blocks, .threads = threads, .shared_bytes = shared_bytes, .cluster = grid ? 1 : blocks, .cooperative = grid};
  }
  [[nodiscard]] Policy record() const {
    return {{"blocks", blocks},
            {"threads", threads},
            {"coordinate_bits", coordinate_bits},
            {"grid", grid ? 1 : 0},
            {"places_in_shared", in_shared ? 1 : 0},
            {"shared_bytes", static_cast<std::int64_t>(shared_bytes)},
            {"together", batch_size}};
  }
};

/// So many blocks of a block or a cluster a search, or of the grid; no batch_size if they do not fit.
template <bool Integral>
[[nodiscard]] RowMinimaPolicy policy_of(std::int32_t n, std::int32_t blocks, bool grid) {
  const std::int32_t block_rows = divide_up(n, blocks);
  const auto bytes = [&](bool in_shared) { return shared_bytes<Integral>(n, block_rows, grid, in_shared); };
  const bool in_shared = !grid || bytes(true) <= cuda::most_shared();
  RowMinimaPolicy policy{.blocks = grid ? divide_up(n, block_rows) : blocks,
                         .block_rows = block_rows,
                         .threads = !grid       ? row_threads<false, true>
                                    : in_shared ? row_threads<true, true>
                                                : row_threads<true, false>,
                         .coordinate_bits = Integral ? 16 : 64,
                         .grid = grid,
                         .in_shared = in_shared,
                         .shared_bytes = bytes(in_shared)};
  if (policy.shared_bytes > cuda::most_shared()) return policy;
  const auto kernel = kernel_of<Integral>(grid, in_shared);
  cuda::allow_shared(kernel, policy.shared_bytes);
  policy.batch_size = grid ? 1 : blocks == 1 ? cuda::multiprocessors() : cuda::clusters_at_a_time(policy.shape(1), kernel);
  return policy;
}

/// The grid, where a single search has many cities. Else the most blocks with which all restarts run at the same time; if there is no such
/// number, the fewest, as these run the most restarts at the same time. The grid again where no cluster has room for the cities.
template <bool Integral>
[[nodiscard]] RowMinimaPolicy row_minima_policy(const local_search::TspSwap& neighborhood, const local_search::Task& task) {
  constexpr std::int64_t most_tabu_bytes = std::int64_t{1} << 30;  // tabu times of all searches
  const std::int32_t n = neighborhood.instance().size();
  RowMinimaPolicy policy;
  for (const std::int32_t blocks : block_counts(n, task)) {
    const RowMinimaPolicy next = policy_of<Integral>(n, blocks, false);
    if (next.batch_size == 0) continue;
    policy = next;
    if (policy.batch_size >= task.restarts) break;
  }
  if (policy.batch_size == 0) {
    const std::int64_t most = std::min<std::int64_t>(most_grid_blocks, cuda::multiprocessors());
    policy = policy_of<Integral>(n, static_cast<std::int32_t>(task.blocks > 0 ? std::min(task.blocks, most) : most), true);
  }
  if (policy.batch_size == 0)
    throw DoesNotFit(std::to_string(n) + " cities need more than the " + std::to_string(cuda::most_shared()) +
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
    searches_ = {memory_.view(), cities_.data(), rows_.data(), filters_.data(), policy_.blocks, policy_.block_rows, nullptr, nullptr};
    if (policy_.grid) {
      messages_ = cuda::DeviceBuffer<cuda::Four<std::uint32_t>>(key_messages + row_messages);
      searches_.key_messages = messages_.data();
      searches_.row_messages = messages_.data() + key_messages;
    }
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
    messages_.fill(0, stream_);
    VICINITY_CUDA_CHECK(cuda::launch(policy_.shape(count_), stream_, kernel_of<Integral>(policy_.grid, policy_.in_shared), searches_,
                                     all_progress, method_, limit));
  }
  void finish(std::vector<State::Result>& searches) { memory_.finish(searches); }
  void poison() {
    memory_.poison();
    filters_.fill(0xA5, stream_);
    rows_.fill(0xA5, stream_);
    cities_.fill(0xA5, stream_);
  }
  [[nodiscard]] Ceiling synchronization() const {
    return policy_.grid ? Ceiling::grid_barrier : policy_.blocks > 1 ? Ceiling::cluster_barrier : Ceiling::block_barrier;
  }
  [[nodiscard]] Policy policy() const { return policy_.record(); }

 private:
  static constexpr std::size_t key_messages = 2 * message_copies * most_grid_blocks, row_messages = 2 * most_grid_blocks * most_grid_blocks;

  const cuda::Stream& stream_;
  const local_search::Method method_;
  const RowMinimaPolicy policy_;
  const std::int32_t copies_;  ///< of a search's cities
  unsigned count_ = 0;         ///< searches under way
  TourMemory<Integral> memory_;
  cuda::DeviceBuffer<std::uint32_t> filters_;
  cuda::DeviceBuffer<Row> rows_;
  cuda::DeviceBuffer<StoredCity<Integral>> cities_;
  cuda::DeviceBuffer<cuda::Four<std::uint32_t>> messages_;  ///< of a grid: keys, rows
  RowSearches<Integral> searches_{};
};

}  // namespace

std::unique_ptr<Run> tuned_run(const local_search::TspSwap& neighborhood, const local_search::Task& task) {
  if (std::unique_ptr<Run> run = task.blocks > 0 ? nullptr : tsp_scan_run(neighborhood, task)) return run;
  if (neighborhood.instance().integral()) return std::make_unique<DeviceRun<RowMinimaEngine<true>>>(neighborhood, task);
  return std::make_unique<DeviceRun<RowMinimaEngine<false>>>(neighborhood, task);
}

}  // namespace vicinity::lsm
