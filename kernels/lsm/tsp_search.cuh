#pragma once
// The tuned local search for the travelling salesman: rows of the move matrix are kept, and a swap changes of each row but six moves.
#include <cooperative_groups.h>

#include <cstdint>

#include "kernels/lsm/tsp_view.cuh"

namespace vicinity::lsm {

/// Threads of a block. Double precision takes more registers.
template <bool Integral>
inline constexpr int tsp_threads = Integral ? 768 : 512;
/// The most blocks of a search: one a lane of half a warp, and a row in a scan of each.
inline constexpr int tsp_most_blocks = 16;
/// 2^16 bits.
inline constexpr int filter_words = 2048;
inline constexpr int row_words = 6;

/// Rows in shared memory fill whole 16 bytes.
[[nodiscard]] VICINITY_HD constexpr std::size_t row_slots(std::int32_t share) { return (static_cast<std::size_t>(share) + 1) / 2 * 2; }

/// Room that does not depend on the instance.
template <bool Integral>
struct alignas(16) TspRoom {
  sa::Word keys[2][4][tsp_most_blocks];        ///< [parity][word][block]: best move and least bound, high half first
  sa::Word parts[tsp_most_blocks][row_words];  ///< [block]: its part of the row that this block has scanned anew
  std::int32_t partial[tsp_threads<Integral> / 32][row_words];
  Key best[tsp_threads<Integral> / 32], bound[tsp_threads<Integral> / 32];
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
  static constexpr int threads = tsp_threads<Integral>, warps = threads / 32;

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
        if (!take(best, method, limit)) break;
        update(best, bound);
        continue;
      }
      propose(best, bound);
    }
    store(ledger);
  }

 private:
  [[nodiscard]] static __device__ __forceinline__ std::int32_t lane() { return static_cast<std::int32_t>(threadIdx.x % 32); }
  [[nodiscard]] static __device__ __forceinline__ std::int32_t warp() { return static_cast<std::int32_t>(threadIdx.x / 32); }
  [[nodiscard]] __device__ __forceinline__ bool clerk() const { return rank_ == 0 && threadIdx.x == threads - 32; }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t* own_filter() const {
    return view_.filters + (search_ * static_cast<std::size_t>(view_.blocks) + static_cast<std::size_t>(rank_)) * filter_words;
  }
  [[nodiscard]] static __device__ __forceinline__ unsigned hash(std::int32_t a, std::int32_t b) {
    return (static_cast<unsigned>(min(a, b)) * 0x9E3779B1u ^ static_cast<unsigned>(max(a, b)) * 0x85EBCA77u) >> 16;
  }

  __device__ __forceinline__ void load(const local_search::Ledger& ledger) {
    const int thread = static_cast<int>(threadIdx.x);
    for (std::size_t k = thread; k < sizeof room_.keys / sizeof(sa::Word); k += threads) (&room_.keys[0][0][0])[k] = 0;
    for (std::size_t k = thread; k < sizeof room_.parts / sizeof(sa::Word); k += threads) (&room_.parts[0][0])[k] = 0;
    if constexpr (Resident) {
      for (std::int32_t p = thread; p < n_; p += threads) places_[p] = view_.places[search_ * n_ + p];
      for (std::int32_t i = first_ + thread; i < last_; i += threads) rows_[i - first_] = view_.rows[search_ * n_ + i];
    }
    for (int k = thread; k < filter_words; k += threads) filter_[k] = own_filter()[k];
    if (clerk()) room_.ledger = ledger;
    now_ = static_cast<std::int32_t>(ledger.iterations);
    value_ = ledger.value;
    best_value_ = ledger.best_value;
    set_threshold();
    meet();
  }
  __device__ __forceinline__ void store(local_search::Ledger& ledger) {
    if (clerk() && moved_) write_down();
    __syncthreads();  // the filter has the last move
    if (rank_ == 0 && unsaved_) save_best();
    for (int k = static_cast<int>(threadIdx.x); k < filter_words; k += threads) own_filter()[k] = filter_[k];
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
    for (std::int32_t i = first_ + static_cast<std::int32_t>(threadIdx.x); i < last_; i += threads)
      rows_[i - first_].propose(i, threshold_, best, bound);
  }

  /// The least of the keys of all blocks: `best` in all lanes, `bound` of block b in lane 16 + b. What the last swap changed is written
  /// down here, where no warp reads places.
  __device__ __forceinline__ void exchange(Key& best, Key& bound) {
    best = warp_min(best);
    bound = warp_min(bound);
    if (lane() == 0) {
      room_.best[warp()] = best;
      room_.bound[warp()] = bound;
    }
    __syncthreads();
    ++step_;
    sa::Word(*const board)[tsp_most_blocks] = room_.keys[step_ & 1];
    const int block = lane() % 16, half = lane() / 16;
    if (warp() == 0) {
      if (moved_ && lane() < 10 && lane() % 5 != 0 && lane() % 5 != 4)
        places_[center_place(lane())] = Place<Integral>::of(center_.point, center_.edges);
      fence();
      const Key block_best = warp_min(lane() < warps ? room_.best[lane() % warps] : no_key);
      const Key block_bound = warp_min(lane() < warps ? room_.bound[lane() % warps] : no_key);
      if (block < view_.blocks) {
        sa::Word* to = sa::in_block(&board[2 * half][rank_], block);
        const Key key = half == 0 ? block_best : block_bound;
        sa::send_word(to, static_cast<unsigned>(key >> 32), step_);
        sa::send_word(to + tsp_most_blocks, static_cast<unsigned>(key), step_);
      }
      __syncwarp();
    }
    if (clerk() && moved_) write_down();
    __syncwarp();
    moved_ = false;
    std::int32_t words[2];
    const bool from_block = receive(words, &board[2 * half][block], tsp_most_blocks, block < view_.blocks, step_);
    const Key key = from_block ? static_cast<Key>(static_cast<unsigned>(words[0])) << 32 | static_cast<unsigned>(words[1]) : no_key;
    fence();
    best = warp_min(half == 0 ? key : no_key);
    bound = key;
  }
  static __device__ __forceinline__ void fence() { asm volatile("fence.acq_rel.cta;" ::: "memory"); }
  /// The contents of words `stride` apart in this block's shared memory, once they have the number of the step; of lanes that are
  /// `waiting`, which is returned. The warp leaves as one: lanes that left a loop of polls one by one would stay apart.
  template <int Count>
  static __device__ __forceinline__ bool receive(std::int32_t (&contents)[Count], const sa::Word* from, int stride, bool waiting,
                                                 unsigned step) {
    const auto address = static_cast<unsigned>(__cvta_generic_to_shared(from));
    bool missing = true;
    while (__any_sync(~0u, missing)) {
      missing = false;
#pragma unroll
      for (int k = 0; k < Count; ++k) {
        sa::Word word;
        asm volatile("ld.volatile.shared.u64 %0, [%1];" : "=l"(word) : "r"(address + 8 * k * stride) : "memory");
        contents[k] = static_cast<std::int32_t>(word >> 32);
        missing |= waiting && !sa::fresh(word, step);
      }
    }
    return waiting;
  }

  /// Scans the rows that the blocks in `stale` named: lane 16 + b holds that of block b. Each block takes the columns of its places, a row
  /// a warp, and sends what it found to the block that has the row.
  __device__ __forceinline__ void rescan(unsigned stale, std::int32_t named) {
    const int count = __popc(stale), teams = warps / count;
    const auto named_by = [&](int k) {  // the k-th block in `stale`
      unsigned left = stale;
      for (; k > 0; --k) left &= left - 1;
      return __ffs(static_cast<int>(left)) - 1;
    };
    const std::int32_t i = __shfl_sync(~0u, named, 16 + named_by(warp() % count));
    if (warp() < teams * count) {
      const Row all = scanned(places_, n_, i, first_ + lane_places * (warp() / count), last_, lane_places * teams, now_,
                              [&](std::int32_t a, std::int32_t b) { return until(a, b); });
      if (lane() < row_words) room_.partial[warp()][lane()] = word_of(all, lane());
    }
    __syncthreads();
    ++scans_;
    if (warp() < count) {
      Row mine;
      if (lane() < teams) mine = row_of(room_.partial[warp() + count * lane()]);
      const Row all = merged(mine);
      if (lane() < row_words)
        sa::send_word(sa::in_block(&room_.parts[rank_][lane()], named_by(warp())), static_cast<unsigned>(word_of(all, lane())), scans_);
      __syncwarp();
    }
    if (warp() == warps - 1 && (stale >> rank_ & 1) != 0) {
      const std::int32_t own = __shfl_sync(~0u, named, 16 + rank_);
      std::int32_t words[row_words];
      Row mine;
      if (receive(words, room_.parts[lane() % tsp_most_blocks], 1, lane() < view_.blocks, scans_)) mine = row_of(words);
      const Row all = merged(mine);
      if (lane() == 0) rows_[own - first_] = all;
    }
    __syncthreads();
  }

  /// Writes the tour to where the best is kept; all threads of the first block.
  __device__ __forceinline__ void save_best() const {
    const std::size_t base = search_ * static_cast<std::size_t>(n_);
    __syncthreads();  // the last swap is written
    for (std::int32_t p = static_cast<std::int32_t>(threadIdx.x); p < n_; p += threads) view_.best[base + p] = view_.tour[base + p];
    __syncthreads();
  }
  /// Takes the move of `key`, unless a hill climbing ends here. Returns whether the search goes on.
  __device__ __forceinline__ bool take(Key key, local_search::Method method, std::int64_t limit) {
    const auto move = move_of_key(key);
    const std::int32_t r = move.at[0], s = move.at[1];
    const std::int64_t value = value_ + delta_of(key);
    const bool ends = method == local_search::Method::hill && value >= value_;
    if (rank_ == 0 && unsaved_ && !ends && value >= best_value_) save_best();
    moved_ = !ends;
    r_ = r;
    s_ = s;
    if (ends) {
      if (clerk()) room_.ledger.take({value, moves::index<2>(n_, move), false}, method);
      return false;
    }
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

  /// The clerk's account of the last swap.
  __device__ __forceinline__ void write_down() {
    room_.ledger.take({value_, moves::index<2>(n_, {{r_, s_}}), false}, local_search::Method::tabu);
    std::int32_t* tour = view_.tour + search_ * static_cast<std::size_t>(n_);
    const std::int32_t at_r = tour[r_], at_s = tour[s_];
    tour[r_] = at_s;
    tour[s_] = at_r;
  }

  /// Center k = 0 .. 9: places r-2 .. r+2 and s-2 .. s+2.
  [[nodiscard]] __device__ __forceinline__ std::int32_t center_place(int k) const { return wrapped(k < 5 ? r_ - 2 + k : s_ - 7 + k, n_); }
  /// Is the place one of r-1 .. r+1 or s-1 .. s+1, whose moves changed?
  [[nodiscard]] __device__ __forceinline__ bool touched(std::int32_t place) const {
    return within(place, r_ - 1, 3, n_) || within(place, s_ - 1, 3, n_);
  }
  /// The centers of lanes 0 .. 9 after the swap, with the edges of all but the outermost.
  __device__ __forceinline__ void gather() {
    const std::int32_t at = center_place(min(lane(), 9));
    center_.point = places_[at == r_ ? s_ : at == s_ ? r_ : at].point();
    const std::int32_t after =
        distance(__shfl_down_sync(~0u, center_.point.x, 1) - center_.point.x, __shfl_down_sync(~0u, center_.point.y, 1) - center_.point.y);
    center_.edges = __shfl_up_sync(~0u, after, 1) + after;
  }
  /// Brings the rows up to date after the last swap, and proposes.
  __device__ __forceinline__ void update(Key& best, Key& bound) {
    gather();
    best = bound = no_key;
    for (std::int32_t first = first_ + lane_places * warp(); first < last_; first += lane_places * warps) {
      const std::int32_t place = lane_place(first, lane(), n_);
      const bool active = lane() >= 1 && lane() <= lane_places && first + lane() - 1 < last_;
      const bool near = touched(place);
      const Place<Integral> kept = places_[place];
      Center<Integral> own{kept.point(), static_cast<std::int32_t>(kept.edges)};
      Row row;
      if (active && !near) row = rows_[place - first_];
      if (__any_sync(~0u, near)) {
        const std::int32_t after_r = wrapped(place - r_ + 1, n_), from = after_r < 3 ? 1 + after_r : 6 + wrapped(place - s_ + 1, n_);
        const Point<Integral> point = of_lane(center_.point, from % 32);
        const std::int32_t edges = __shfl_sync(~0u, center_.edges, from % 32);
        if (near) own = {point, edges};
      }
      std::int32_t at_r[3], at_s[3];
      swap_deltas<3>(center_, 0, center_place(0), own.point, own.edges, place, n_, at_r);
      swap_deltas<3>(center_, 5, center_place(5), own.point, own.edges, place, n_, at_s);
      const std::int32_t least = min(min(min(at_r[0], at_r[1]), min(at_r[2], at_s[0])), min(at_s[1], at_s[2]));
      const bool event = active && (least <= row.rest || touched(row.column) || touched(row.tabu_column) || row.wake <= now_);
      if (__any_sync(~0u, event)) {
        if (event) {
          repair(row, place, at_r, at_s, least);
          rows_[place - first_] = row;
        }
        __syncwarp();
      }
      if (active) row.propose(place, threshold_, best, bound);
    }
    __syncwarp();
  }
  /// `least` of the new differences at_r and at_s; of a touched place no others remain.
  __device__ __forceinline__ void repair(Row& row, std::int32_t place, const std::int32_t (&at_r)[3], const std::int32_t (&at_s)[3],
                                         std::int32_t least) const {
    row.forget([&](std::int32_t column) { return touched(column); });
    row.expire(now_);
    std::int32_t column = no_delta, others = no_delta;
#pragma unroll
    for (int k = 0; k < 6; ++k)
      if ((k < 3 ? at_r[k] : at_s[k - 3]) == least) column = min(column, center_place(k < 3 ? 1 + k : 3 + k));
#pragma unroll
    for (int k = 0; k < 6; ++k) {
      const std::int32_t delta = k < 3 ? at_r[k] : at_s[k - 3];
      if (delta != least || center_place(k < 3 ? 1 + k : 3 + k) != column) others = min(others, delta);
    }
    row.insert(least, column, others, now_, [&] {
      if (min(place, column) == r_ && max(place, column) == s_) return view_.until != nullptr ? tabu_end() : 0;
      return until(place, column);
    });
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
  std::int32_t r_ = 0, s_ = 0;  ///< the last swap, r < s
  Center<Integral> center_{};   ///< of this lane
  bool moved_ = false;          ///< the last swap is not yet written down
  bool unsaved_ = false;        ///< the tour is the best, and not yet written down as such
};

/// Mapping: view.blocks blocks a search, in a cluster if more than one; rows in shares of consecutive places, a lane a row.
/// Synchronisation: a block barrier and a message from each block to each an iteration; two more barriers and messages where rows are
/// scanned anew. Cost: ten distances a row and iteration; three a move in scans.
template <bool Integral, bool Resident>
__global__ void __launch_bounds__(tsp_threads<Integral>, 1)
    tsp_kernel(const __grid_constant__ TspView<Integral> view, local_search::Ledger* ledgers, local_search::Method method,
               std::int64_t limit) {
  extern __shared__ __align__(16) unsigned char tsp_shared[];
  local_search::Ledger& ledger = ledgers[blockIdx.x / static_cast<unsigned>(view.blocks)];
  if (ledger.done(limit)) return;
  TspSearch<Integral, Resident>(view, tsp_shared).run(ledger, method, limit);
}

}  // namespace vicinity::lsm
