#pragma once
// What the two searches of the QAP in a block share (block.cu, small.cu): a pair as threads keep it, and what all threads know.
#include <cstdint>
#include <type_traits>

#include "kernels/lsm/tuned/qap/searches.cuh"

namespace vicinity::lsm {

/// A pair's delta, slot (row of its thread) and tabu mark in one unsigned number, in the order of choices, to which the change of a delta
/// can be added. The kernel computes with deltas and F scaled by 2^slot_bits. Tabu keys are above free ones, and below them as signed
/// numbers. `garbage`, which stands where there is no pair or its delta is not known at present, is above both, and above tabu ones as a
/// signed number, whatever swaps add to it: deltas are below `limit` in magnitude, and what is added in all below twice that.
template <class D, int Rows>
struct PairKeys {
  using Delta = D;
  using Key = std::make_unsigned_t<D>;
  static constexpr int slot_bits = Rows <= 4 ? 2 : Rows <= 8 ? 3 : Rows <= 16 ? 4 : 5;
  static constexpr Delta scale = Delta{1} << slot_bits;
  static constexpr Key bias = Key{1} << (8 * sizeof(Delta) - 4), tabu = 8 * bias, garbage = 14 * bias;
  static constexpr Delta limit = static_cast<Delta>(bias >> slot_bits);

  /// Beside the scaled delta.
  static constexpr Key slot_mask = static_cast<Key>(scale - 1), marks = tabu | slot_mask;
  [[nodiscard]] static __device__ __forceinline__ Key of(Delta scaled, Key marks_of_pair) {
    return static_cast<Key>(scaled) + bias + marks_of_pair;
  }
  [[nodiscard]] static __device__ __forceinline__ Delta scaled(Key key) { return static_cast<Delta>((key & ~marks) - bias); }

  /// Without the slot, as keys of different threads compare.
  [[nodiscard]] static __device__ __forceinline__ Key value(Key key) { return key >> slot_bits; }
  [[nodiscard]] static __device__ __forceinline__ Delta delta(Key value) { return scaled(value << slot_bits) >> slot_bits; }
};

/// A pair i < j as threads keep and send it.
template <class Delta>
struct alignas(2 * sizeof(Delta)) PairState {
  std::make_unsigned_t<Delta> key;
  Delta f;  ///< F[i][j], scaled
};

/// What every thread knows of its search: the last swap, and what decides whether it goes on.
template <class Keys>
struct ReplicatedState {
  using Delta = typename Keys::Delta;
  using Key = typename Keys::Key;

  std::int32_t r = -1, s = -1;  ///< the last swap, r < s; none: -1
  std::int32_t moves_taken;
  std::int32_t limit;   ///< of moves
  std::int32_t tenure;  ///< 0: a hill climbing
  Delta gap;            ///< best value - current value
  bool improved = false;

  [[nodiscard]] __device__ __forceinline__ bool is_tabu_search() const { return tenure > 0; }
  /// Keys below lead below the best value of the search: such a pair is not forbidden although it is tabu.
  [[nodiscard]] __device__ __forceinline__ Key aspiration() const { return gap <= -Keys::limit ? 0 : Keys::of(gap * Keys::scale, 0); }
  [[nodiscard]] __device__ __forceinline__ std::int32_t until() const { return moves_taken + tenure; }

  __device__ __forceinline__ void take(std::uint32_t pair, Delta delta) {
    const moves::Move<2> swap = BestPair<Key>::swap_of(pair);
    r = swap.at[0];
    s = swap.at[1];
    ++moves_taken;
    gap -= delta;
    improved = gap > 0;
    if (improved) gap = 0;
  }
};

}  // namespace vicinity::lsm
