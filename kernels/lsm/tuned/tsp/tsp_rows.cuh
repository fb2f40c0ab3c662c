#pragma once
// What is known of the moves of one place, its row: the best move that is not tabu, a bound on the others, the best that is tabu; and the
// order of candidates among rows.
#include <cstdint>

#include "core/problems/moves.hpp"
#include "kernels/cuda/warp.cuh"
#include "kernels/lsm/tuned/tsp/tsp_places.cuh"

namespace vicinity::lsm {

using cuda::warp_min;

/// A move and its difference in one word whose order is (difference, i, j); ~0: none. A bound comes before moves of the same difference.
using Key = unsigned long long;
inline constexpr Key no_key = ~0ull;
[[nodiscard]] __device__ __forceinline__ Key bound_key(std::int32_t delta, std::int32_t row) {
  return static_cast<Key>(static_cast<std::uint32_t>(delta + (1 << 30))) << 33 | static_cast<std::uint32_t>(row);
}
[[nodiscard]] __device__ __forceinline__ Key move_key(std::int32_t delta, std::int32_t a, std::int32_t b) {
  const std::uint32_t i = static_cast<std::uint32_t>(min(a, b)), j = static_cast<std::uint32_t>(max(a, b));
  return static_cast<Key>(static_cast<std::uint32_t>(delta + (1 << 30))) << 33 | 1ull << 32 | i << 16 | j;
}
[[nodiscard]] __device__ __forceinline__ std::int32_t delta_of(Key key) { return static_cast<std::int32_t>(key >> 33) - (1 << 30); }
[[nodiscard]] __device__ __forceinline__ moves::Move<2> move_of_key(Key key) {
  return {{static_cast<std::int32_t>(key >> 16 & 0xFFFF), static_cast<std::int32_t>(key & 0xFFFF)}};
}

/// The moves of a row that it covers; every move is covered by the row of one of its places, or by both. Columns are the other places, -1:
/// none is named, and the difference is a bound. Among equal differences the lower column comes first, as its move does.
/// Each covered move but (delta, column) has a difference of `rest` or more, or it is tabu, until `wake` or longer, and has a difference of
/// tabu_delta or more.
struct Row {
  std::int32_t delta = no_delta, column = -1;
  std::int32_t rest = no_delta;
  std::int32_t wake = no_delta;
  std::int32_t tabu_delta = no_delta, tabu_column = -1;

  /// Moves that the row did not cover yet, or whose differences changed since forget(): the least is (d, c), the others have a difference
  /// of `others` or more. `until` is asked for its tabu time where that matters: it is tabu before that iteration.
  template <class Until>
  __device__ __forceinline__ void insert(std::int32_t d, std::int32_t c, std::int32_t others, std::int32_t now, const Until& until) {
    if (d >= rest && !(d == delta && c < column)) return;
    const std::int32_t end = until();
    if (end > now) {
      wake = min(wake, end);
      if (d < tabu_delta || (d == tabu_delta && c < tabu_column)) {
        tabu_delta = d;
        tabu_column = c;
      }
      rest = min(rest, others);
      if (others <= delta) {
        delta = rest;
        column = -1;
      }
    } else if (d < delta || (d == delta && c < column)) {
      if (column >= 0) rest = delta;
      rest = min(rest, others);
      delta = d;
      column = c;
    } else {
      rest = d;
    }
  }
  /// The moves for which changed(column) changed their differences; changed(-1) is asked as well.
  template <class Changed>
  __device__ __forceinline__ void forget(const Changed& changed) {
    if (changed(column)) {
      delta = rest;
      column = -1;
    }
    if (changed(tabu_column)) tabu_column = -1;
  }
  /// Tabu times end before iteration `now`.
  __device__ __forceinline__ void expire(std::int32_t now) {
    if (wake > now) return;
    rest = min(rest, tabu_delta);
    if (rest <= delta) {
      delta = rest;
      column = -1;
    }
    wake = tabu_delta = no_delta;
    tabu_column = -1;
  }
  /// Lowers the keys to those of this row's best move and best bound, if it may be taken: moves that are tabu below `threshold` only.
  __device__ __forceinline__ void propose(std::int32_t row, std::int32_t threshold, Key& best, Key& bound) const {
    if (delta != no_delta) {
      if (column >= 0)
        best = min(best, move_key(delta, row, column));
      else
        bound = min(bound, bound_key(delta, row));
    }
    if (tabu_delta < threshold) {
      if (tabu_column >= 0)
        best = min(best, move_key(tabu_delta, row, tabu_column));
      else
        bound = min(bound, bound_key(tabu_delta, row));
    }
  }
};

/// What the lanes found in different columns of the same row, in all of them.
[[nodiscard]] __device__ __forceinline__ Row merged(const Row& mine) {
  Row all;
  all.delta = warp_min(mine.delta);
  all.column = static_cast<std::int32_t>(warp_min(static_cast<unsigned>(mine.delta == all.delta ? mine.column : -1)));
  all.rest = warp_min(mine.column == all.column ? mine.rest : mine.delta);
  if (__any_sync(~0u, mine.tabu_delta != no_delta)) {
    all.tabu_delta = warp_min(mine.tabu_delta);
    all.tabu_column = static_cast<std::int32_t>(warp_min(static_cast<unsigned>(mine.tabu_delta == all.tabu_delta ? mine.tabu_column : -1)));
    all.wake = warp_min(mine.wake);
  }
  return all;
}

}  // namespace vicinity::lsm
