#pragma once
// All flips of one sign of a unit of columns: a row of product v goes to v - 2 when its entry is positive, to v + 2 otherwise.
#include <cstdint>

#include "kernels/lsm/ppp_groups.cuh"

namespace vicinity::lsm::perceptron {

struct Singles {
  static constexpr int threads = 512;

  const Sorter<1>& sorter;
  std::int32_t unit;
  bool resident;  ///< the unit's bits lie in shared memory

  /// The unit's bits, for later calls with the same unit. Ends without a barrier.
  __device__ __forceinline__ void load_bits() const {
    if (!resident) return;
    const Matrix& matrix = sorter.matrix;
    for (std::int32_t row = static_cast<std::int32_t>(threadIdx.x); row < matrix.m; row += threads)
      in_pool<std::uint32_t>(sorter.room.bits)[row] = matrix.by_row[static_cast<std::size_t>(unit) * matrix.m + row];
  }

  /// Adds up z of each column, less the constant. Mapping: a lane a column; half of the warps the places of one parity, the rest the
  /// others, each warp a range of them, whose groups it counts one after the other. Cost: a transposition of 32 x 32 bits a word.
  __device__ __forceinline__ void evaluate(std::int32_t* z) const {
    const Groups& groups = sorter.groups;
    const std::int32_t low = groups.low + warp() % 2;  // the first group
    if (low > groups.high) return;
    const std::int32_t count = (groups.high - low) / 2 + 1, teams = warps() / 2, team = warp() / 2;
    const std::int32_t first = (count + 1) * team / teams, last = (count + 1) * (team + 1) / teams;  // place k: from groups k - 1 and k
    if (first == last) return;
    std::int32_t sum = 0, before = first == 0 ? 0 : rows(low + 2 * first - 2) - positives(low + 2 * first - 2);
    for (std::int32_t k = first; k < last; ++k) {
      const std::int32_t group = low + 2 * k, all = k < count ? rows(group) : 0, positive = all == 0 ? 0 : positives(group);
      const std::int32_t v = product_at(group, sorter.matrix.n), target = sorter.target_at(group - 1);
      if (v - 2 >= 1) sum += abs_difference_plus(before + positive, target, -target);
      sum += positive * ppp::sign_cost(v - 2) + (all - positive) * ppp::sign_cost(v + 2);
      before = all - positive;
    }
    atomicAdd(&z[lane()], sum);
  }

 private:
  [[nodiscard]] __device__ __forceinline__ std::int32_t rows(std::int32_t place) const { return sorter.rows_at(place); }
  /// Positive entries of this lane's column among the rows of a group.
  [[nodiscard]] __device__ __forceinline__ std::int32_t positives(std::int32_t place) const {
    const Matrix& matrix = sorter.matrix;
    const Room& room = sorter.room;
    const std::int32_t all = rows(place), end = static_cast<std::int32_t>(sorter.histogram()[place] & 0xFFFFu);
    const std::uint32_t sign = 0u - (in_pool<std::uint32_t>(room.negative)[unit] >> lane() & 1);
    std::int32_t count = 0;
    for (std::int32_t first = end - all; first < end; first += 32) {
      const std::int32_t row = in_pool<std::uint16_t>(room.order)[first + lane()];
      const std::uint32_t bits =
          resident ? in_pool<std::uint32_t>(room.bits)[row] : matrix.by_row[static_cast<std::size_t>(unit) * matrix.m + row];
      const std::uint32_t mask = end - first >= 32 ? ~0u : (1u << (end - first)) - 1;
      count += __popc((transposed(bits) ^ sign) & mask);
    }
    return count;
  }
};

}  // namespace vicinity::lsm::perceptron
