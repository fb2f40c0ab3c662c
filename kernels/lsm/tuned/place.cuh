#pragma once
// Where a search of resident.cuh lives. A Place has
//   Element                       of a solution
//   width                         threads that evaluate a neighbour together, all with its value afterwards: 1, or 32, a warp
//   most_threads                  of a block
//   enter(from, n, seed, room)    the block takes the solution of n elements over, and its shared memory at `room`
//   value(f, t, current)          of the solution that move f leads to in iteration t; the current one has value `current`
//   apply(t, f)                   the block makes the move
//   copy_to(to, n)                the block copies the solution
// Block barriers stand before and after each but value(). Every block that searches has a copy of the solution for itself, and of what is
// kept beside it. A Residence owns the device memory of the places; Residence(neighborhood, places, stream).
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kernels/cuda/runtime/memory.cuh"

namespace vicinity::lsm {

/// Copies n elements, a thread of the block one at a time.
template <class To, class From>
__device__ __forceinline__ void copy_by_block(To* to, const From* from, std::int32_t n) {
  for (std::int32_t i = static_cast<std::int32_t>(threadIdx.x); i < n; i += static_cast<std::int32_t>(blockDim.x))
    to[i] = static_cast<To>(from[i]);
}

/// A solution in device memory.
template <class E>
struct SolutionPlace {
  using Element = E;
  static constexpr int width = 1, most_threads = 1024;

  Element* solution;  ///< [block][element], and of this block once entered

  __device__ __forceinline__ void enter(const Element* from, std::int32_t n, std::uint64_t, uint4*) {
    solution += std::int64_t{blockIdx.x} * n;
    copy_by_block(solution, from, n);
  }
  __device__ __forceinline__ void copy_to(Element* to, std::int32_t n) const { copy_by_block(to, solution, n); }
};

/// What the residences of one thread a neighbour and no shared memory have in common.
struct ThinResidence {
  template <class Neighborhood>
  [[nodiscard]] static std::int64_t most_threads(const Neighborhood&, std::size_t) {
    return std::numeric_limits<std::int64_t>::max();
  }
  template <class Neighborhood>
  [[nodiscard]] static std::size_t shared_bytes(const Neighborhood&, std::int32_t) {
    return 0;
  }
};

}  // namespace vicinity::lsm
