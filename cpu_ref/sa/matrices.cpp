#include "cpu_ref/sa/matrices.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace vicinity::sa {
namespace {

constexpr std::int64_t most_32 = std::numeric_limits<std::int32_t>::max();

std::size_t at(std::int32_t n, std::int32_t i, std::int32_t j) {
  return static_cast<std::size_t>(i) * static_cast<std::size_t>(n) + static_cast<std::size_t>(j);
}

bool is_symmetric(const std::int32_t* matrix, std::int32_t n) {
  for (std::int32_t i = 0; i < n; ++i)
    for (std::int32_t j = 0; j < i; ++j)
      if (matrix[at(n, i, j)] != matrix[at(n, j, i)]) return false;
  return true;
}

/// A matrix and its transpose; empty where that leaves 32 bits.
std::vector<std::int32_t> sum_with_transpose(const std::int32_t* matrix, std::int32_t n) {
  std::vector<std::int32_t> sum(at(n, n, 0));
  for (std::int32_t i = 0; i < n; ++i)
    for (std::int32_t j = 0; j < n; ++j) {
      const std::int64_t entry = std::int64_t{matrix[at(n, i, j)]} + matrix[at(n, j, i)];
      if (std::abs(entry) > most_32) return {};
      sum[at(n, i, j)] = static_cast<std::int32_t>(entry);
    }
  return sum;
}

struct Amounts {
  std::int64_t low, high;
  std::int64_t row, column;  ///< the largest sum of a row or a column over the least entry

  [[nodiscard]] std::int64_t width() const { return high - low; }
};

Amounts amounts_of(const std::int32_t* matrix, std::int32_t n) {
  const auto [low, high] = std::minmax_element(matrix, matrix + at(n, n, 0));
  Amounts amounts{*low, *high, 0, 0};
  std::vector<std::int64_t> columns(static_cast<std::size_t>(n));
  for (std::int32_t i = 0; i < n; ++i) {
    std::int64_t row = 0;
    for (std::int32_t j = 0; j < n; ++j) {
      const std::int64_t above = matrix[at(n, i, j)] - amounts.low;
      row += above;
      columns[static_cast<std::size_t>(j)] += above;
    }
    amounts.row = std::max(amounts.row, row);
  }
  amounts.column = *std::max_element(columns.begin(), columns.end());
  return amounts;
}

bool fits(const Amounts& amounts, int bits) {
  const std::int64_t most = (std::int64_t{1} << (bits - 1)) - 1;
  return amounts.low >= -most && amounts.high <= most && amounts.width() <= most;
}

}  // namespace

Matrices::Matrices(const qap::Qap& qap) : qap_(&qap) {
  const auto view = qap.view();
  if (qap.symmetric()) {
    scale_ = 2;
    return;
  }
  if (is_symmetric(view.a, view.n))
    b_sum_ = sum_with_transpose(view.b, view.n);
  else if (is_symmetric(view.b, view.n))
    a_sum_ = sum_with_transpose(view.a, view.n);
  if (a_sum_.empty() && b_sum_.empty()) sides_ = 2;
}

std::int64_t Matrices::element_bits() const {
  const Amounts amounts_a = amounts_of(a(), qap_->size()), amounts_b = amounts_of(b(), qap_->size());
  const auto both_fit = [&](int bits) { return fits(amounts_a, bits) && fits(amounts_b, bits); };
  if (delta_bound() >= most_32) return 64;
  return both_fit(16) ? 16 : both_fit(32) ? 32 : 64;
}

std::int64_t Matrices::delta_bound() const {
  const std::int32_t n = qap_->size();
  const Amounts a = amounts_of(this->a(), n), b = amounts_of(this->b(), n);
  // |x[r] - x[s]| summed over a row is at most the sums of both rows; in a product the other factor is at most the width.
  __extension__ using Wide = __int128;
  const auto side = [&](std::int64_t of_a, std::int64_t of_b) { return std::min(Wide{2} * of_a * b.width(), Wide{2} * of_b * a.width()); };
  Wide bound = scale_ * side(a.row, b.row) + Wide{4} * a.width() * b.width();
  if (sides_ == 2) bound += side(a.column, b.column);
  return static_cast<std::int64_t>(std::min(bound, Wide{qap_->delta_bound()}));
}

}  // namespace vicinity::sa
