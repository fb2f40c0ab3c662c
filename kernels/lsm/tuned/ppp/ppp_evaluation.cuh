#pragma once
// How a block evaluates its share of the moves.
#include <cstddef>
#include <cstdint>

#include "kernels/lsm/tuned/ppp/ppp_masks.cuh"
#include "kernels/lsm/tuned/ppp/ppp_pairs.cuh"
#include "kernels/lsm/tuned/ppp/ppp_singles.cuh"

namespace vicinity::lsm::perceptron {

/// The searches of a launch, each by `blocks` blocks that follow each other.
struct Searches {
  local_search::SearchProgress* all_progress;  ///< [search]
  std::uint32_t* negative;                     ///< [search][unit]: bits of the signs that are -1
  std::uint32_t* best;                         ///< [search][unit]: of the best solution
  std::int32_t* until;                         ///< [search][until_size]: tabu before this iteration
  Board::Message* boards;                      ///< [search][2][block], zero
  std::uint32_t* scratch;  ///< [block of the grid][Room::scratch_size]: slots and tables that do not fit in shared memory
  std::size_t until_size;
  std::int32_t blocks;
};

/// What a block of a search is made of beside its pool.
template <int Columns>
struct Bench {
  Groups groups;
  std::int32_t linear[Columns];  ///< [column of the tile]; Masks: its parts
  Found found[33];               ///< [warp], and the choice
  int4 edges;                    ///< of Masks
  bool mine;                     ///< the choice was found by this block
  alignas(local_search::SearchProgress) unsigned char books[sizeof(local_search::SearchProgress)];
};

/// Evaluation of K = 1: by masks as long as they fit in shared memory, a tile at a time, else by sorted rows.
template <int K, class Shape>
struct Neighbourhood {
  static constexpr int columns = Masks<Shape>::parts;
  const Sorter<1>& sorter;
  const Searches& searches;
  Bench<columns>& bench;
  std::int32_t* until;
  std::int32_t block;
  Masks<Shape> masks{sorter.matrix, sorter.room, bench.groups, bench.edges};
  bool masked = false;
  std::int32_t loaded = -1;

  __device__ __forceinline__ void begin() { masked = masks.begin(); }
  /// The move before the next evaluation, before `negative` tells.
  __device__ __forceinline__ void announce(const moves::Move<1>& move) {
    if (masked) masks.fetch(move.at[0]);
  }
  /// The choice of this block's moves, in its first warp.
  __device__ __forceinline__ Found evaluate(bool moved, const moves::Move<1>& flipped, std::int32_t t, std::int32_t best_value) {
    if (masked && moved && !masks.follow(flipped.at[0])) {
      masked = moved = false;
      loaded = -1;
      sorter.begin();
    }
    return (masked ? by_masks(t, best_value) : by_sort(moved, flipped, t, best_value)).of_warp();
  }
  __device__ __forceinline__ void wipe(std::int32_t first) const {
    if (!masked) sorter.wipe(first);
  }
  [[nodiscard]] __device__ __forceinline__ std::size_t place_of(unsigned code) const { return code; }

 private:
  /// Both ways take the same tiles, since nobody else sees what a block writes to `until`.
  [[nodiscard]] __device__ __forceinline__ Found by_masks(std::int32_t t, std::int32_t best_value) {
    Found best = Found::nothing();
    for (std::int32_t tile = block; tile * Shape::columns < sorter.matrix.n; tile += searches.blocks) {
      const std::int32_t column = tile * Shape::columns + lane(), end = is_move(column) ? until[column] : 0;
      if (tile != block) __syncthreads();
      if (tile != loaded) masks.load(loaded = tile);
      masks.evaluate(tile, bench.linear);
      __syncthreads();
      if (is_move(column)) better(masks.value(bench.linear), column, end, t, best_value, best);
    }
    return best;
  }
  [[nodiscard]] __device__ __forceinline__ Found by_sort(bool moved, const moves::Move<1>& flipped, std::int32_t t,
                                                         std::int32_t best_value) {
    if (warp() == 0) bench.linear[lane()] = sorter.matrix.whole_target;
    sorter.sort(moved, flipped, 0);
    Found best = Found::nothing();
    for (std::int32_t tile = block; tile * Shape::columns < sorter.matrix.n; tile += searches.blocks) {
      const std::int32_t column = tile * Shape::columns + lane(), end = is_move(column) ? until[column] : 0;
      const Singles singles{sorter, tile * Shape::columns, sorter.room.capacity > 0};
      if (tile != loaded) {
        __syncthreads();
        singles.load_bits();
        if (warp() == 0) bench.linear[lane()] = sorter.matrix.whole_target;
        loaded = tile;
        __syncthreads();
      }
      singles.evaluate(bench.linear);
      __syncthreads();
      if (is_move(column)) better(bench.linear[lane()], column, end, t, best_value, best);
    }
    return best;
  }
  /// Of this lane, whose column of the tile it is.
  [[nodiscard]] __device__ __forceinline__ bool is_move(std::int32_t column) const {
    return warp() == 0 && lane() < Shape::columns && column < sorter.matrix.n;
  }
  static __device__ __forceinline__ void better(std::int32_t value, std::int32_t column, std::int32_t end, std::int32_t t,
                                                std::int32_t best_value, Found& best) {
    const bool forbidden = end > t && value >= best_value;
    const Found found{static_cast<unsigned>(value) | (forbidden ? Found::forbidden : 0u), static_cast<unsigned>(column)};
    if (found.before(best)) best = found;
  }
};

/// Evaluation of K = 2, a tile at a time, and of K = 3, a tile and first column at a time.
template <int K, class Shape>
requires(K > 1) struct Neighbourhood<K, Shape> {
  static constexpr int columns = Shape::columns;
  const Sorter<K>& sorter;
  const Searches& searches;
  Bench<columns>& bench;
  std::int32_t* until;
  std::int32_t block;
  std::int32_t loaded = -1;
  Tile first{};

  /// Slot 0 is zero.
  __device__ __forceinline__ void begin() {
    first = tile_at<Shape>(sorter.matrix.units, K == 2 ? block : block / sorter.matrix.n);
    for (int k = static_cast<int>(threadIdx.x); k < Shape::pitch; k += Shape::threads) {
      if (sorter.room.capacity > 0) in_pool<std::uint32_t>(sorter.room.slots)[k] = 0;
      if (sorter.room.scratch_size > 0) sorter.scratch[k] = 0;
    }
  }
  /// The choice of this block's moves, in its first warp.
  __device__ __forceinline__ Found evaluate(bool moved, const moves::Move<K>& flipped, std::int32_t t, std::int32_t best_value) {
    const std::int32_t n = sorter.matrix.n, tiles = tiles_of<Shape>(sorter.matrix.units), items = K == 2 ? tiles : tiles * n;
    Found best = Found::nothing();
    if constexpr (K == 2) {
      clear_linear();
      sorter.sort(moved, flipped, -1);
    }
    for (std::int32_t item = block; item < items; item += searches.blocks) {
      Tile tile = item == block ? first : tile_at<Shape>(sorter.matrix.units, K == 2 ? item : item / n);
      if constexpr (K == 3) {
        tile.outer = item % n;
        if (32 * (tile.p + Shape::p_units) <= tile.outer + 1) continue;
        sort_again(moved, flipped, tile.outer);
        moved = false;
      } else if (item != block) {
        __syncthreads();
        clear_linear();
        __syncthreads();
      }
      if (sorter.near() && bench.groups.slots <= sorter.room.capacity)
        take<Slots::near>(tile, item, t, best_value, best);
      else if (K == 2 && sorter.near() && !bench.groups.too_long && 2 * Window::shared <= sorter.room.capacity)
        take<Slots::window>(tile, item, t, best_value, best);
      else
        take<Slots::far>(tile, item, t, best_value, best);
    }
    if constexpr (K == 3)
      if (moved) sort_again(true, flipped, 0);  // a block that had nothing to sort still owes the rows the last move
    return of_block(best);
  }
  __device__ __forceinline__ void wipe(std::int32_t first) const { sorter.wipe(first); }
  __device__ __forceinline__ void announce(const moves::Move<K>&) const {}
  [[nodiscard]] __device__ __forceinline__ std::size_t place_of(unsigned code) const {
    if constexpr (K == 3) return code;
    const auto move = move_of<2>(code, sorter.matrix.n);
    const std::int32_t units = sorter.matrix.units;
    std::int32_t tile = 0, p = 0;
    for (; 32 * (p + Shape::p_units) <= move.at[0]; p += Shape::p_units) tile += divide_up(units - p, Shape::q_units);
    const std::int32_t q = (move.at[1] / 32 - p) / Shape::q_units;
    return static_cast<std::size_t>(tile + q) * Shape::threads * Shape::per_thread +
           index_in_tile<Shape>(move.at[0] - 32 * p, move.at[1] - 32 * (p + q * Shape::q_units));
  }

 private:
  [[nodiscard]] __device__ __forceinline__ Found of_block(const Found& found) {
    const Found of_warp = found.of_warp();
    if (lane() == 0) bench.found[warp()] = of_warp;
    __syncthreads();
    if (warp() > 0) return Found::nothing();
    return (lane() < warps() ? bench.found[lane()] : Found::nothing()).of_warp();
  }
  __device__ __forceinline__ void clear_linear() {
    for (int k = static_cast<int>(threadIdx.x); k < columns; k += Shape::threads) bench.linear[k] = 0;
  }
  /// K = 3: after another sort in the same iteration.
  __device__ __forceinline__ void sort_again(bool moved, const moves::Move<K>& flipped, std::int32_t outer) {
    __syncthreads();
    sorter.wipe(0);
    __syncthreads();
    if (threadIdx.x == 0) sorter.reset();
    clear_linear();
    __syncthreads();
    sorter.sort(moved, flipped, outer);
  }
  /// Bits, slots, counts, with barriers between them.
  template <Slots Kind>
  __device__ __forceinline__ void take(const Tile& tile, std::int32_t item, std::int32_t t, std::int32_t best_value, Found& best) {
    Pairs<K, Shape, Kind> pairs{sorter, bench.linear, tile};
    const std::int32_t number = tile.p * sorter.matrix.units + tile.q;
    if (pairs.resident && number != loaded) {
      pairs.load_bits();
      loaded = number;
      __syncthreads();
    }
    typename Pairs<K, Shape, Kind>::Sums z = {};
    if constexpr (Kind == Slots::window) {
      for (std::int32_t slot = 1; slot == 1 || slot < bench.groups.slots; slot = pairs.window.next) {
        if (slot > 1) __syncthreads();
        pairs.window = Window::at(slot, sorter.room.capacity);
        pairs.pack();
        __syncthreads();
        pairs.count(z);
      }
    } else {
      pairs.pack();
      __syncthreads();
      pairs.count(z);
    }
    const std::int32_t* mine = K == 3 ? until : until + static_cast<std::size_t>(item) * Shape::threads * Shape::per_thread;
    pairs.choose(z, mine, t, best_value, best);
  }
};

}  // namespace vicinity::lsm::perceptron
