#include "core/problems/qap/qap.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/util/digest.hpp"
#include "core/util/error.hpp"

namespace vicinity::qap {
namespace {

struct Range {
  std::int64_t low, high;

  [[nodiscard]] std::int64_t width() const { return high - low; }
  [[nodiscard]] std::int64_t magnitude() const { return std::max(std::abs(low), std::abs(high)); }
};

Range range_of(const std::vector<std::int32_t>& matrix) {
  const auto [low, high] = std::minmax_element(matrix.begin(), matrix.end());
  return {*low, *high};
}

bool is_symmetric(const std::vector<std::int32_t>& matrix, std::int32_t n) {
  const auto size = static_cast<std::size_t>(n);
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (matrix[i * size + j] != matrix[j * size + i]) return false;
  return true;
}

}  // namespace

Qap::Qap(std::string name, std::int32_t n, std::vector<std::int32_t> a, std::vector<std::int32_t> b)
    : name_(std::move(name)), n_(n), a_(std::move(a)), b_(std::move(b)) {
  if (n < 2 || n > 46340) throw InputError("size " + std::to_string(n) + " is outside 2..46340");
  const std::size_t entries = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  if (a_.size() != entries || b_.size() != entries) throw InputError("a matrix does not have size x size entries");
  const Range range_a = range_of(a_), range_b = range_of(b_);
  __extension__ using Wide = __int128;
  // A cost has n*n terms. A delta has at most 4n + 2 differences' products; row products have n terms of full magnitude.
  const Wide largest_cost = Wide{static_cast<std::int64_t>(entries)} * range_a.magnitude() * range_b.magnitude();
  const Wide largest_delta = std::max(Wide{4 * std::int64_t{n} + 2} * range_a.width() * range_b.width(),
                                      Wide{4 * std::int64_t{n} + 2} * range_a.magnitude() * range_b.magnitude());
  constexpr Wide limit = Wide{1} << 61;
  if (largest_cost > limit || largest_delta > limit) throw InputError("entries are so large that costs could leave 64 bits");
  symmetric_ = is_symmetric(a_, n) && is_symmetric(b_, n);
  bytes_ = range_a.low >= 0 && range_b.low >= 0 && range_a.high <= 255 && range_b.high <= 255;
  delta_bound_ = static_cast<std::int64_t>(largest_delta);
}

std::uint64_t Qap::hash() const {
  Digest digest;
  digest.add(static_cast<std::uint64_t>(n_));
  digest.add(a_);
  digest.add(b_);
  return digest.value();
}

std::string complaint(std::int32_t n, std::span<const std::int32_t> p) {
  if (p.size() != static_cast<std::size_t>(n)) return std::to_string(p.size()) + " locations for " + std::to_string(n) + " facilities";
  std::vector<char> taken(p.size());
  for (const std::int32_t location : p) {
    if (location < 0 || location >= n) return "location " + std::to_string(location) + " is outside 0.." + std::to_string(n - 1);
    if (std::exchange(taken[static_cast<std::size_t>(location)], 1) != 0) return "location " + std::to_string(location) + " twice";
  }
  return "";
}

std::int64_t cost(const Qap& qap, std::span<const std::int32_t> p) {
  if (const std::string what = complaint(qap.size(), p); !what.empty()) throw InputError("not a permutation: " + what);
  const auto view = qap.view();
  const auto n = static_cast<std::size_t>(view.n);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      sum += std::int64_t{view.a[i * n + j]} * view.b[static_cast<std::size_t>(p[i]) * n + static_cast<std::size_t>(p[j])];
  return sum;
}

}  // namespace vicinity::qap
