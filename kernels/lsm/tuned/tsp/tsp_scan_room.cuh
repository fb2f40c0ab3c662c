#pragma once
// What the tuned local search for the travelling salesman with few cities keeps in shared memory, and how its threads compare moves.
#include <cstddef>
#include <cstdint>

#include "core/methods/lsm/search.hpp"
#include "core/util/math.hpp"
#include "kernels/lsm/tuned/tsp/tsp_tours.cuh"

namespace vicinity::lsm {

/// Threads of a block at most. Double precision takes more registers.
template <bool Integral>
inline constexpr int scan_threads = Integral ? 1024 : 768;

/// The searches of a launch. Each of `workers` threads of a block has four moves in turn, 4 `rounds` times. One more warp is the clerk.
template <bool Integral>
struct TspScanView : TspTours<Integral> {
  std::int32_t* taken;  ///< [iteration % history]: the move that was taken; -1: again since
  std::int32_t history;
  std::int32_t workers, rounds;

  /// Moves, and places for more.
  [[nodiscard]] __host__ __device__ std::int32_t room() const { return 16 * workers * rounds; }
};

/// A move as a worker compares it with its others, in one word: tabu, difference, slot. The move's number breaks ties, and rises with the
/// slot. Forbidden moves come last as unsigned numbers, first as signed ones.
struct ScanKey {
  static constexpr int slot_bits = 6;
  static constexpr std::int32_t limit = 1 << (30 - slot_bits);  ///< differences are below, in magnitude
  static constexpr std::uint32_t tabu = 1u << 31, slots = (1u << slot_bits) - 1, none = ~0u;

  [[nodiscard]] static __device__ __forceinline__ std::uint32_t of(std::int32_t delta, std::uint32_t marks) {
    return static_cast<std::uint32_t>(delta + limit) << slot_bits | marks;
  }
  /// Without the slot, as moves of different workers compare.
  [[nodiscard]] static __device__ __forceinline__ std::uint32_t value(std::uint32_t key) { return key >> slot_bits; }
  [[nodiscard]] static __device__ __forceinline__ bool forbidden(std::uint32_t value) { return (value & value_of_tabu) != 0; }
  [[nodiscard]] static __device__ __forceinline__ std::int32_t delta(std::uint32_t value) {
    return static_cast<std::int32_t>(value & ~value_of_tabu) - limit;
  }

 private:
  static constexpr std::uint32_t value_of_tabu = tabu >> slot_bits;
};

/// The best move of a worker, a warp or the block: ScanKey::value above the number; and whether a tabu move leads below the best of the
/// search.
using ScanFound = unsigned long long;
inline constexpr ScanFound scan_flag = ScanFound{1} << 31, scan_nothing = ~scan_flag;

/// The moves, the places and the tour follow in shared memory.
struct alignas(16) ScanRoom {
  ScanFound found[2][32];  ///< [parity][warp]
  local_search::SearchProgress progress;
  std::int32_t released, owner;  ///< the move that ceases to be tabu, and the worker that has it; -1: none
};
template <bool Integral>
[[nodiscard]] std::size_t scan_shared_bytes(const TspScanView<Integral>& view) {
  const auto n = static_cast<std::size_t>(view.tsp.n);
  return sizeof(ScanRoom) + static_cast<std::size_t>(view.room()) * sizeof(std::uint32_t) +
         n * (sizeof(Place<Integral>) + sizeof(std::int32_t));
}

/// Each of as many warps brings the moves of 30 places up to date with three of the six places that a swap touches.
[[nodiscard]] VICINITY_HD std::int32_t scan_tasks(std::int32_t n) { return 2 * divide_up(n, lane_places); }

}  // namespace vicinity::lsm
