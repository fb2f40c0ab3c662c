#pragma once
// The tuned local search for the travelling salesman: rows of the move matrix are kept, and a swap changes of each row but six moves.
#include <cstdint>

#include "kernels/lsm/tuned/tsp/tsp_state.cuh"

namespace vicinity::lsm {

/// One search, by a block or the blocks of a cluster.
template <bool Integral, bool Resident>
class TspSearch : private TspState<Integral, Resident> {
  using State = TspState<Integral, Resident>;
  using State::best_value_;
  using State::clerk;
  using State::filter_;
  using State::first_;
  using State::has;
  using State::hash;
  using State::lane;
  using State::last_;
  using State::load;
  using State::moved_;
  using State::n_;
  using State::now_;
  using State::places_;
  using State::rank_;
  using State::room_;
  using State::rows_;
  using State::save_best;
  using State::scans_;
  using State::search_;
  using State::set_threshold;
  using State::step_;
  using State::store;
  using State::swap_;
  using State::tabu_end;
  using State::threads;
  using State::threshold_;
  using State::unsaved_;
  using State::until;
  using State::value_;
  using State::view_;
  using State::warp;
  using State::warps;
  using State::write_down;

 public:
  using State::State;

  __device__ __forceinline__ void run(local_search::SearchProgress& progress, local_search::Method method, std::int64_t limit) {
    load(progress);
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
    store(progress);
  }

 private:
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
    cuda::Word(*const board)[tsp_most_blocks] = room_.keys[step_ & 1];
    const int block = lane() % 16, half = lane() / 16;
    if (warp() == 0) {
      if (moved_) swap_.write(places_);
      const Key block_best = warp_min(lane() < warps ? room_.best[lane() % warps] : no_key);
      const Key block_bound = warp_min(lane() < warps ? room_.bound[lane() % warps] : no_key);
      if (block < view_.blocks) {
        cuda::Word* to = cuda::in_block(&board[2 * half][rank_], block);
        const Key key = half == 0 ? block_best : block_bound;
        cuda::send_word(to, static_cast<unsigned>(key >> 32), step_);
        cuda::send_word(to + tsp_most_blocks, static_cast<unsigned>(key), step_);
      }
    }
    __syncthreads();  // places are written and the warps' keys are read, while words are under way
    if (clerk() && moved_) write_down();
    __syncwarp();
    moved_ = false;
    std::int32_t words[2];
    const bool from_block = receive(words, &board[2 * half][block], tsp_most_blocks, block < view_.blocks, step_);
    const Key key = from_block ? static_cast<Key>(static_cast<unsigned>(words[0])) << 32 | static_cast<unsigned>(words[1]) : no_key;
    best = warp_min(half == 0 ? key : no_key);
    bound = key;
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
        cuda::send_word(cuda::in_block(&room_.parts[rank_][lane()], named_by(warp())), static_cast<unsigned>(word_of(all, lane())), scans_);
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

  /// Takes the move of `key`, unless a hill climbing ends here. Returns whether the search goes on.
  __device__ __forceinline__ bool take(Key key, local_search::Method method, std::int64_t limit) {
    const auto move = move_of_key(key);
    const std::int32_t r = move.at[0], s = move.at[1];
    const std::int64_t value = value_ + delta_of(key);
    const bool ends = method == local_search::Method::hill && value >= value_;
    if (rank_ == 0 && unsaved_ && !ends && value >= best_value_) save_best();
    moved_ = !ends;
    swap_.r = r;
    swap_.s = s;
    if (ends) {
      if (clerk()) room_.progress.take({value, moves::index<2>(n_, move), false}, method);
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
  /// Brings the rows up to date after the last swap, and proposes.
  __device__ __forceinline__ void update(Key& best, Key& bound) {
    swap_.gather(places_);
    best = bound = no_key;
    for (std::int32_t first = first_ + lane_places * warp(); first < last_; first += lane_places * warps) {
      const std::int32_t place = lane_place(first, lane(), n_);
      const bool active = lane() >= 1 && lane() <= lane_places && first + lane() - 1 < last_;
      const bool near = swap_.touched(place);
      const Place<Integral> kept = places_[place];
      Row row;
      if (active && !near) row = rows_[place - first_];
      const Center<Integral> own = swap_.after({kept.point(), static_cast<std::int32_t>(kept.edges)}, place, near);
      std::int32_t at_r[3], at_s[3];
      swap_deltas<3>(swap_.center, 0, swap_.center_place(0), own.point, own.edges, place, n_, at_r);
      swap_deltas<3>(swap_.center, 5, swap_.center_place(5), own.point, own.edges, place, n_, at_s);
      const std::int32_t least = min(min(min(at_r[0], at_r[1]), min(at_r[2], at_s[0])), min(at_s[1], at_s[2]));
      const bool event = active && (least <= row.rest || swap_.touched(row.column) || swap_.touched(row.tabu_column) || row.wake <= now_);
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
    row.forget([&](std::int32_t column) { return swap_.touched(column); });
    row.expire(now_);
    std::int32_t column = no_delta, others = no_delta;
#pragma unroll
    for (int k = 0; k < 6; ++k)
      if ((k < 3 ? at_r[k] : at_s[k - 3]) == least) column = min(column, swap_.center_place(k < 3 ? 1 + k : 3 + k));
#pragma unroll
    for (int k = 0; k < 6; ++k) {
      const std::int32_t delta = k < 3 ? at_r[k] : at_s[k - 3];
      if (delta != least || swap_.center_place(k < 3 ? 1 + k : 3 + k) != column) others = min(others, delta);
    }
    row.insert(least, column, others, now_, [&] {
      if (min(place, column) == swap_.r && max(place, column) == swap_.s) return view_.until != nullptr ? tabu_end() : 0;
      return until(place, column);
    });
  }
};

/// Mapping: view.blocks blocks a search, in a cluster if more than one; rows in shares of consecutive places, a lane a row.
/// Synchronisation: two block barriers and a message from each block to each an iteration; two more barriers and messages where rows are
/// scanned anew. Cost: ten distances a row and iteration; three a move in scans.
template <bool Integral, bool Resident>
__global__ void __launch_bounds__(tsp_threads<Integral>, 1)
    tsp_kernel(const __grid_constant__ TspView<Integral> view, local_search::SearchProgress* all_progress, local_search::Method method,
               std::int64_t limit) {
  extern __shared__ __align__(16) unsigned char tsp_shared[];
  local_search::SearchProgress& progress = all_progress[blockIdx.x / static_cast<unsigned>(view.blocks)];
  if (progress.done(limit)) return;
  TspSearch<Integral, Resident>(view, tsp_shared).run(progress, method, limit);
}

}  // namespace vicinity::lsm
