#pragma once
// The tuned local search for the travelling salesman: rows of the move matrix are kept, and a swap changes of each row but six moves.
#include <cooperative_groups.h>

#include <cstdint>

#include "kernels/lsm/tsp_view.cuh"

namespace vicinity::lsm {

inline constexpr int tsp_threads = 512, tsp_warps = tsp_threads / 32;
/// The most blocks of a search: one a half of a warp, and one of a block's warps for each in a rescan.
inline constexpr int tsp_most_blocks = 16;
/// 2^16 bits.
inline constexpr int filter_words = 2048;
inline constexpr int row_words = 6;

/// Rows in shared memory fill whole 16 bytes.
[[nodiscard]] VICINITY_HD constexpr std::size_t row_slots(std::int32_t share) { return (static_cast<std::size_t>(share) + 1) / 2 * 2; }

/// Room that does not depend on the instance.
template <bool Integral>
struct TspRoom {
  sa::Word keys[2][4][tsp_most_blocks];        ///< [parity][word][block]: best move and least bound, high half first
  sa::Word parts[tsp_most_blocks][row_words];  ///< [block]: its part of the row that this block has scanned anew
  std::int32_t partial[tsp_most_blocks][tsp_warps][row_words];
  Key best[tsp_warps], bound[tsp_warps];
  Center<Integral> centers[tsp_warps][10];  ///< places r-2 .. r+2 and s-2 .. s+2 after the swap of r and s; or those of a scan
  local_search::Ledger ledger;
};

/// Bytes of shared memory for the rows of a block and all places; rows and places are in device memory unless `resident`.
template <bool Integral>
[[nodiscard]] constexpr std::size_t tsp_shared_bytes(std::int32_t n, std::int32_t share, bool resident) {
  const std::size_t fixed = sizeof(TspRoom<Integral>) + filter_words * sizeof(std::uint32_t);
  return fixed + (resident ? row_slots(share) * sizeof(Row) + static_cast<std::size_t>(n) * sizeof(Place<Integral>) : 0);
}

[[nodiscard]] __device__ __forceinline__ std::int32_t word_of(const Row& row, std::int32_t word) {
  const std::int32_t tabu = word == 4 ? row.tabu_delta : row.tabu_column;
  return word == 0 ? row.delta : word == 1 ? row.column : word == 2 ? row.rest : word == 3 ? row.wake : tabu;
}
[[nodiscard]] __device__ __forceinline__ Row row_of(const std::int32_t (&words)[row_words]) {
  return {words[0], words[1], words[2], words[3], words[4], words[5]};
}

/// One search, by a block or the blocks of a cluster. Each keeps all places, and the rows of its share of them.
template <bool Integral, bool Resident>
class TspSearch {
 public:
  __device__ __forceinline__ TspSearch(const TspView<Integral>& view, unsigned char* shared)
      : view_(view),
        n_(view.tsp.n),
        search_(blockIdx.x / static_cast<unsigned>(view.blocks)),
        rank_(static_cast<int>(blockIdx.x) % view.blocks),
        first_(min(rank_ * view.share, n_)),
        last_(min(first_ + view.share, n_)),
        room_(*reinterpret_cast<TspRoom<Integral>*>(shared)),
        filter_(reinterpret_cast<std::uint32_t*>(shared + sizeof(TspRoom<Integral>))),
        rows_(Resident ? reinterpret_cast<Row*>(filter_ + filter_words) : view.rows + search_ * n_ + first_),
        places_(Resident ? reinterpret_cast<Place<Integral>*>(rows_ + row_slots(view.share))
                         : view.places + (search_ * static_cast<std::size_t>(view.blocks) + static_cast<std::size_t>(rank_)) * n_) {}

  __device__ __forceinline__ void run(local_search::Ledger& ledger, local_search::Method method, std::int64_t limit) {
    load(ledger);
    Key best = no_key, bound = no_key;
    propose(best, bound);
    while (true) {
      exchange(best, bound);
      if (const unsigned stale = __ballot_sync(~0u, lane() >= 16 && bound < best) >> 16; stale != 0) {
        rescan(stale, static_cast<std::int32_t>(bound));
      } else if (best == no_key) {  // every move is tabu
        threshold_ = no_delta;
      } else {
        const bool goes_on = take(best, method, limit);
        if (!goes_on) break;
        const auto move = move_of_key(best);
        update(move.at[0], move.at[1], best, bound);
        continue;
      }
      propose(best, bound);
    }
    store(ledger);
  }

 private:
  [[nodiscard]] static __device__ __forceinline__ std::int32_t lane() { return static_cast<std::int32_t>(threadIdx.x % 32); }
  [[nodiscard]] static __device__ __forceinline__ std::int32_t warp() { return static_cast<std::int32_t>(threadIdx.x / 32); }
  [[nodiscard]] __device__ __forceinline__ bool clerk() const { return rank_ == 0 && threadIdx.x == tsp_threads - 32; }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t* own_filter() const {
    return view_.filters + (search_ * static_cast<std::size_t>(view_.blocks) + static_cast<std::size_t>(rank_)) * filter_words;
  }
  [[nodiscard]] static __device__ __forceinline__ unsigned hash(std::int32_t a, std::int32_t b) {
    return (static_cast<unsigned>(min(a, b)) * 0x9E3779B1u ^ static_cast<unsigned>(max(a, b)) * 0x85EBCA77u) >> 16;
  }

  __device__ __forceinline__ void load(const local_search::Ledger& ledger) {
    const int thread = static_cast<int>(threadIdx.x);
    for (std::size_t k = thread; k < sizeof room_.keys / sizeof(sa::Word); k += tsp_threads) (&room_.keys[0][0][0])[k] = 0;
    for (std::size_t k = thread; k < sizeof room_.parts / sizeof(sa::Word); k += tsp_threads) (&room_.parts[0][0])[k] = 0;
    if constexpr (Resident) {
      for (std::int32_t p = thread; p < n_; p += tsp_threads) places_[p] = view_.places[search_ * n_ + p];
      for (std::int32_t i = first_ + thread; i < last_; i += tsp_threads) rows_[i - first_] = view_.rows[search_ * n_ + i];
    }
    for (int k = thread; k < filter_words; k += tsp_threads) filter_[k] = own_filter()[k];
    if (clerk()) room_.ledger = ledger;
    now_ = static_cast<std::int32_t>(ledger.iterations);
    value_ = ledger.value;
    best_value_ = ledger.best_value;
    set_threshold();
    meet();
  }
  __device__ __forceinline__ void store(local_search::Ledger& ledger) {
    if (rank_ == 0 && unsaved_) save_best();
    for (int k = static_cast<int>(threadIdx.x); k < filter_words; k += tsp_threads) own_filter()[k] = filter_[k];
    if (clerk()) ledger = room_.ledger;
    meet();  // nobody writes to the shared memory of a block that has left
  }
  /// All blocks of the search.
  __device__ __forceinline__ void meet() const {
#if __CUDA_ARCH__ >= 900
    if (view_.blocks > 1) cooperative_groups::this_cluster().sync();
#endif
    __syncthreads();
  }
  __device__ __forceinline__ void set_threshold() {
    const std::int64_t gap = best_value_ - value_;
    threshold_ = gap < -no_delta ? -no_delta : static_cast<std::int32_t>(gap);
  }

  /// Iteration that move (a, b) is tabu before. Taken moves have bits in the filter.
  [[nodiscard]] __device__ __forceinline__ std::int32_t until(std::int32_t a, std::int32_t b) const {
    const unsigned bit = hash(a, b);
    if ((filter_[bit / 32] >> bit % 32 & 1) == 0) return 0;
    return *view_.until_of(search_, a, b);
  }

  /// Keys of the lane's rows as they are.
  __device__ __forceinline__ void propose(Key& best, Key& bound) const {
    best = bound = no_key;
    for (std::int32_t i = first_ + static_cast<std::int32_t>(threadIdx.x); i < last_; i += tsp_threads)
      rows_[i - first_].propose(i, threshold_, best, bound);
  }

  /// The least of the keys of all blocks: `best` in all lanes, `bound` of block b in lane 16 + b. Places that the last swap changed are
  /// written here, where no warp reads any.
  __device__ __forceinline__ void exchange(Key& best, Key& bound) {
    const Key warp_best = warp_min(best), warp_bound = warp_min(bound);
    if (lane() == 0) {
      room_.best[warp()] = warp_best;
      room_.bound[warp()] = warp_bound;
    }
    __syncthreads();
    ++step_;
    sa::Word(*const board)[tsp_most_blocks] = room_.keys[step_ & 1];
    const int block = lane() % 16, half = lane() / 16;
    if (warp() == 0) {
      if (moved_ && (lane() % 5 != 0 && lane() % 5 != 4) && lane() < 10) {
        const Center<Integral>& center = room_.centers[0][lane()];
        places_[center.place] = Place<Integral>::of({center.x, center.y}, center.edges);
      }
      __threadfence_block();
      const Key block_best = warp_min(lane() < tsp_warps ? room_.best[lane() % tsp_warps] : no_key);
      const Key block_bound = warp_min(lane() < tsp_warps ? room_.bound[lane() % tsp_warps] : no_key);
      if (block < view_.blocks) {
        sa::Word* to = sa::in_block(&board[2 * half][rank_], block);
        const Key key = half == 0 ? block_best : block_bound;
        sa::send_word(to, static_cast<unsigned>(key >> 32), step_);
        sa::send_word(to + tsp_most_blocks, static_cast<unsigned>(key), step_);
      }
      __syncwarp();
    }
    moved_ = false;
    Key key = no_key;
    if (block < view_.blocks) {
      unsigned words[2];
      sa::receive(words, &board[2 * half][block], tsp_most_blocks, step_);
      key = static_cast<Key>(words[0]) << 32 | words[1];
    }
    __threadfence_block();
    best = warp_min(half == 0 ? key : no_key);
    bound = key;
  }

  /// Scans the rows that the blocks in `stale` named: lane 16 + b holds that of block b. Each block takes the columns of its places, and
  /// sends what it found to the block that has the row.
  __device__ __forceinline__ void rescan(unsigned stale, std::int32_t named) {
    Center<Integral>* around = room_.centers[warp()];
    int count = 0;
    for (unsigned left = stale; left != 0; left &= left - 1, ++count) {
      const std::int32_t i = __shfl_sync(~0u, named, 16 + __ffs(static_cast<int>(left)) - 1);
      if (lane() < 3) {
        const std::int32_t at = wrapped(i - 1 + lane(), n_);
        around[lane()] = center_of(places_[at], at);
      }
      __syncwarp();
      Row mine;
      for (std::int32_t first = first_ + lane_places * warp(); first < last_; first += lane_places * tsp_warps) {
        const std::int32_t place = lane_place(first, lane(), n_);
        const Place<Integral> own = places_[place];
        std::int32_t delta[1];
        swap_deltas<Integral, 1>(around, own.point(), static_cast<std::int32_t>(own.edges), place, n_, delta);
        if (lane() >= 1 && lane() <= lane_places && first + lane() - 1 < last_)
          mine.insert(delta[0], place, now_, [&] { return until(i, place); });
      }
      const Row all = merged(mine);
      if (lane() < row_words) room_.partial[count][warp()][lane()] = word_of(all, lane());
      __syncwarp();
    }
    __syncthreads();
    ++scans_;
    if (warp() < count) {
      Row mine;
      if (lane() < tsp_warps) mine = row_of(room_.partial[warp()][lane()]);
      const Row all = merged(mine);
      if (lane() < row_words) {
        const int owner = static_cast<int>(__fns(stale, 0, warp() + 1));
        sa::send_word(sa::in_block(&room_.parts[rank_][lane()], owner), static_cast<unsigned>(word_of(all, lane())), scans_);
      }
    }
    if (warp() == 0 && (stale >> rank_ & 1) != 0) {
      const std::int32_t i = __shfl_sync(~0u, named, 16 + rank_);
      Row mine;
      if (lane() < view_.blocks) {
        std::int32_t words[row_words];
        sa::receive(words, room_.parts[lane()], 1, scans_);
        mine = row_of(words);
      }
      const Row all = merged(mine);
      if (lane() == 0) rows_[i - first_] = all;
    }
    __syncthreads();
  }

  /// Writes the tour to where the best is kept; all threads of the first block.
  __device__ __forceinline__ void save_best() const {
    const std::size_t base = search_ * static_cast<std::size_t>(n_);
    __syncthreads();  // the last swap is written
    for (std::int32_t p = static_cast<std::int32_t>(threadIdx.x); p < n_; p += tsp_threads) view_.best[base + p] = view_.tour[base + p];
    __syncthreads();
  }
  /// Takes the move of `key`, unless a hill climbing ends here. Returns whether the search goes on.
  __device__ __forceinline__ bool take(Key key, local_search::Method method, std::int64_t limit) {
    const auto move = move_of_key(key);
    const std::int32_t r = move.at[0], s = move.at[1], delta = delta_of(key);
    const bool ends = method == local_search::Method::hill && delta >= 0;
    const std::int64_t value = value_ + delta;
    if (rank_ == 0 && unsaved_ && !ends && value >= best_value_) save_best();
    if (clerk()) {
      room_.ledger.take({value, moves::index<2>(n_, move), false}, method);
      if (!ends) {
        std::int32_t* tour = view_.tour + search_ * static_cast<std::size_t>(n_);
        const std::int32_t at_r = tour[r], at_s = tour[s];
        tour[r] = at_s;
        tour[s] = at_r;
      }
    }
    if (ends) return false;
    ++now_;
    value_ = value;
    unsaved_ = value < best_value_;
    best_value_ = min(best_value_, value);
    set_threshold();
    if (view_.until != nullptr && threadIdx.x == 0 && (has(r) || has(s))) {
      *view_.until_of(search_, r, s) = tabu_end();
      const unsigned bit = hash(r, s);
      atomicOr(&filter_[bit / 32], 1u << bit % 32);
    }
    return now_ < limit;
  }
  [[nodiscard]] __device__ __forceinline__ bool has(std::int32_t place) const { return place >= first_ && place < last_; }
  /// Of the move taken last.
  [[nodiscard]] __device__ __forceinline__ std::int32_t tabu_end() const {
    return static_cast<std::int32_t>(local_search::tabu_until(now_ - 1, view_.tenure));
  }

  /// Places r and s swapped. Brings the rows up to date, and proposes.
  __device__ __forceinline__ void update(std::int32_t r, std::int32_t s, Key& best, Key& bound) {
    Center<Integral>* centers = room_.centers[warp()];
    gather(r, s, centers);
    best = bound = no_key;
    for (std::int32_t first = first_ + lane_places * warp(); first < last_; first += lane_places * tsp_warps) {
      const std::int32_t place = lane_place(first, lane(), n_);
      const bool near_r = within(place, r - 1, 3, n_), near_s = within(place, s - 1, 3, n_);
      Place<Integral> own = places_[place];
      Point<Integral> point = own.point();
      auto edges = static_cast<std::int32_t>(own.edges);
      if (near_r || near_s) {
        const Center<Integral>& center = near_r ? centers[1 + wrapped(place - r + 1, n_)] : centers[6 + wrapped(place - s + 1, n_)];
        point = {center.x, center.y};
        edges = center.edges;
      }
      std::int32_t at_r[3], at_s[3];
      swap_deltas<Integral, 3>(centers, point, edges, place, n_, at_r);
      swap_deltas<Integral, 3>(centers + 5, point, edges, place, n_, at_s);
      if (lane() < 1 || lane() > lane_places || first + lane() - 1 >= last_) continue;
      Row row;
      if (!near_r && !near_s) {
        row = rows_[place - first_];
        row.forget([&](std::int32_t column) { return within(column, r - 1, 3, n_) || within(column, s - 1, 3, n_); });
        row.expire(now_);
      }
#pragma unroll
      for (int k = 0; k < 6; ++k) {
        const std::int32_t column = centers[k < 3 ? 1 + k : 3 + k].place;
        row.insert(k < 3 ? at_r[k] : at_s[k - 3], column, now_, [&] {
          if (min(place, column) == r && max(place, column) == s) return view_.until != nullptr ? tabu_end() : 0;
          return until(place, column);
        });
      }
      rows_[place - first_] = row;
      row.propose(place, threshold_, best, bound);
    }
    moved_ = true;
  }
  /// Places r-2 .. r+2 and s-2 .. s+2 after the swap, with the edges of all but the outermost.
  __device__ __forceinline__ void gather(std::int32_t r, std::int32_t s, Center<Integral>* centers) const {
    const int k = min(lane(), 9);
    const std::int32_t at = wrapped(k < 5 ? r - 2 + k : s - 7 + k, n_);
    const Point<Integral> point = places_[at == r ? s : at == s ? r : at].point();
    const std::int32_t after = distance(__shfl_down_sync(~0u, point.x, 1) - point.x, __shfl_down_sync(~0u, point.y, 1) - point.y);
    const std::int32_t before = __shfl_up_sync(~0u, after, 1);
    __syncwarp();
    if (lane() < 10) centers[k] = {point.x, point.y, before + after, at};
    __syncwarp();
  }

  const TspView<Integral>& view_;
  const std::int32_t n_;
  const std::size_t search_;
  const int rank_;
  const std::int32_t first_, last_;  ///< its places
  TspRoom<Integral>& room_;
  std::uint32_t* const filter_;
  Row* const rows_;
  Place<Integral>* const places_;
  std::int32_t now_ = 0;        ///< the iteration to come
  std::int32_t threshold_ = 0;  ///< tabu moves with differences below this may be taken
  std::int64_t value_ = 0, best_value_ = 0;
  unsigned step_ = 0, scans_ = 0;
  bool moved_ = false;    ///< places do not know of the last swap
  bool unsaved_ = false;  ///< the tour is the best, and not yet written down as such
};

/// Mapping: view.blocks blocks a search, in a cluster if more than one; rows in shares of consecutive places, a lane a row.
/// Synchronisation: a block barrier and a message from each block to each an iteration; two more barriers and messages where rows are
/// scanned anew. Cost: ten distances a row and iteration; three a move in scans.
template <bool Integral, bool Resident>
__global__ void __launch_bounds__(tsp_threads, 1) tsp_kernel(const __grid_constant__ TspView<Integral> view, local_search::Ledger* ledgers,
                                                             local_search::Method method, std::int64_t limit) {
  extern __shared__ __align__(16) unsigned char tsp_shared[];
  local_search::Ledger& ledger = ledgers[blockIdx.x / static_cast<unsigned>(view.blocks)];
  if (ledger.done(limit)) return;
  TspSearch<Integral, Resident>(view, tsp_shared).run(ledger, method, limit);
}

}  // namespace vicinity::lsm
