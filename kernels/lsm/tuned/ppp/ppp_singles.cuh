#pragma once
// All flips of one sign of 32 columns by sorted rows, for products too far apart for Masks: a row of product v goes to v - 2 when
// its entry is positive, to v + 2 otherwise.
#include <cstdint>

#include "kernels/lsm/tuned/ppp/ppp_groups.cuh"

namespace vicinity::lsm::perceptron {

struct Singles {
  const Sorter<1>& sorter;
  std::int32_t first;  ///< of the columns
  bool resident;       ///< their bits lie in shared memory

  /// The columns' bits, for later calls with the same columns. Ends without a barrier.
  __device__ __forceinline__ void load_bits() const {
    if (!resident) return;
    const Matrix& matrix = sorter.matrix;
    for (std::int32_t row = static_cast<std::int32_t>(threadIdx.x); row < matrix.m; row += blockDim.x)
      in_pool<std::uint32_t>(sorter.room.bits)[row] = bits_of(row);
  }

  /// Adds to z[column]. Mapping: a lane a column; a warp a range of the places of either parity, whose groups it counts one after the
  /// other, the two parities side by side. Cost: a transposition of 32 x 32 bits a word.
  __device__ __forceinline__ void evaluate(std::int32_t* z) const {
    const Groups& groups = sorter.groups;
    std::int32_t begins[2], ends[2], group[2];  // place k lies between the groups k - 1 and k of its parity
    Counts before[2], here[2];
    const std::int32_t border = start_of(warp() + lane() % 2), begin = __shfl_sync(~0u, border, 0), end = __shfl_sync(~0u, border, 1);
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      begins[c] = warp() == 0 ? 0 : (begin - groups.low - c + 1) / 2;
      ends[c] = warp() + 1 == warps() ? (groups.high - groups.low - c + 2) / 2 + 1 : (end - groups.low - c + 1) / 2;
      group[c] = begins[c] < ends[c] ? groups.low + c + 2 * begins[c] - 2 : 0;
    }
    std::int32_t sum = 0;
    count(group, before);
    for (std::int32_t k = 0; k < max(ends[0] - begins[0], ends[1] - begins[1]); ++k) {
#pragma unroll
      for (int c = 0; c < 2; ++c) group[c] = begins[c] + k < ends[c] ? group[c] + 2 : 0;
      count(group, here);
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        if (group[c] == 0) continue;
        const std::int32_t v = product_at(group[c], sorter.matrix.n), target = sorter.target_at(group[c] - 1);
        const std::int32_t negative = here[c].all - here[c].positive;
        if (v > 2) sum += abs_difference_plus(before[c].all - before[c].positive + here[c].positive, target, -target);
        sum += here[c].positive * ppp::sign_cost(v - 2) + negative * ppp::sign_cost(v + 2);
        before[c] = here[c];
      }
    }
    atomicAdd(&z[lane()], sum);
  }

 private:
  /// From two units.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t joined(std::uint32_t unit, std::uint32_t next) const {
    return __funnelshift_r(unit, next, first % 32);
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t bits_of(std::int32_t row) const {
    const Matrix& matrix = sorter.matrix;
    const std::uint32_t* unit = matrix.by_row + static_cast<std::size_t>(first / 32) * matrix.m + row;
    return joined(unit[0], first / 32 + 1 < matrix.units ? unit[matrix.m] : 0);
  }
  /// Rows of a group, and how many of them are positive in this lane's column.
  struct Counts {
    std::int32_t all, positive;
  };
  /// Where the share of a warp begins: shares have about equally many rows, and a place counts as half a word of them.
  [[nodiscard]] __device__ __forceinline__ std::int32_t start_of(std::int32_t of_warp) const {
    constexpr std::int32_t a_place = 16;
    const Groups& groups = sorter.groups;
    const std::int32_t goal = (sorter.matrix.m + a_place * (groups.high + 1 - groups.low)) * of_warp / warps();
    std::int32_t low = groups.low, high = groups.high + 1;
    while (low < high) {
      const std::int32_t middle = (low + high) / 2, before = static_cast<std::int32_t>(sorter.histogram()[middle] & 0xFFFFu);
      if (before + a_place * (middle - groups.low) < goal)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  /// Of two groups; place 0 has no rows.
  __device__ __forceinline__ void count(const std::int32_t (&place)[2], Counts (&counts)[2]) const {
    const Room& room = sorter.room;
    const std::uint32_t* negative = in_pool<std::uint32_t>(room.negative) + first / 32;
    const std::uint32_t signs = joined(negative[0], first / 32 + 1 < sorter.matrix.units ? negative[1] : 0);
    std::int32_t start[2];
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const unsigned group = sorter.histogram()[place[c]];
      counts[c] = {static_cast<std::int32_t>(group >> 16), 0};
      start[c] = static_cast<std::int32_t>(group & 0xFFFFu);
    }
    for (std::int32_t k = lane(); k - lane() < max(counts[0].all, counts[1].all); k += 32)
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        std::uint32_t bits = 0;
        if (k < counts[c].all) {
          const std::int32_t row = in_pool<std::uint16_t>(room.order)[start[c] + k];
          bits = signs ^ (resident ? in_pool<std::uint32_t>(room.bits)[row] : bits_of(row));
        }
        counts[c].positive += __popc(transposed(bits));
      }
  }
};

}  // namespace vicinity::lsm::perceptron
