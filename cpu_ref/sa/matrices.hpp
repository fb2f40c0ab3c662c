#pragma once
// The matrices of an instance as inner products take them (core/problems/qap/inner_products.hpp), with one side wherever that is enough.
//
// Where A is symmetric, F[x][y] = sum over k of A[x][k] (B'[y][k] + B'[k][y]), and the same with A and B exchanged: the other matrix and
// its transpose count as their sum. Such an instance (tai*b, lipa*) takes one product where one of two matrices that are not symmetric
// takes two.
#include <cstdint>
#include <vector>

#include "core/problems/qap/qap.hpp"

namespace vicinity::sa {

class Matrices {
 public:
  /// O(n^2). The caller keeps the instance alive.
  explicit Matrices(const qap::Qap& qap);

  /// Of facilities and of locations, n x n entries. One may be the sum of the instance's and its transpose.
  [[nodiscard]] const std::int32_t* a() const noexcept { return a_sum_.empty() ? qap_->view().a : a_sum_.data(); }
  [[nodiscard]] const std::int32_t* b() const noexcept { return b_sum_.empty() ? qap_->view().b : b_sum_.data(); }
  /// 2: their transposes count, too.
  [[nodiscard]] std::int32_t sides() const noexcept { return sides_; }
  /// Factor of the inner products in a delta: 2 where the other side, which is not taken, is the same.
  [[nodiscard]] std::int32_t scale() const noexcept { return scale_; }
  /// The narrowest of 16, 32 and 64 bits that factors fit. Deltas fit 64 bits, or else 32, and are not their largest number.
  [[nodiscard]] std::int64_t element_bits() const;

 private:
  /// No delta has a larger magnitude. The lesser of Qap::delta_bound and of what sums of rows allow, which is closer where most entries are
  /// small.
  [[nodiscard]] std::int64_t delta_bound() const;

  const qap::Qap* qap_;
  std::vector<std::int32_t> a_sum_, b_sum_;  ///< empty: the instance's own
  std::int32_t sides_ = 1, scale_ = 1;
};

}  // namespace vicinity::sa
