#include "core/problems/ppp/ppp.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/util/digest.hpp"
#include "core/util/error.hpp"
#include "core/util/rng.hpp"

namespace vicinity::ppp {
namespace {

bool is_sign(std::int8_t x) { return x == 1 || x == -1; }

void check_size(std::int32_t m, std::int32_t n) {
  const std::string size = "size " + std::to_string(m) + " x " + std::to_string(n);
  if (m < 1 || n < 1 || m > 20000 || n > 20000) throw InputError(size + " is outside 1..20000");
  if (2 * sign_weight * std::int64_t{m} * n + 2 * m >= std::int64_t{1} << 30) throw InputError(size + ": costs could leave 32 bits");
}

}  // namespace

Ppp::Ppp(std::string name, std::int32_t m, std::int32_t n, std::vector<std::int8_t> a, std::vector<std::int32_t> target)
    : name_(std::move(name)), m_(m), n_(n), a_(std::move(a)), target_(std::move(target)) {
  check_size(m, n);
  if (static_cast<std::int64_t>(a_.size()) != std::int64_t{m} * n) throw InputError("the matrix does not have m x n entries");
  if (static_cast<std::int64_t>(target_.size()) != n + 1) throw InputError("the target does not have n + 1 counts");
  if (!std::all_of(a_.begin(), a_.end(), is_sign)) throw InputError("an entry of the matrix is neither 1 nor -1");
  std::int64_t asked = 0;
  for (std::int32_t v = 1; v <= n; ++v) {
    const std::int32_t count = target_[static_cast<std::size_t>(v)];
    if (count < 0) throw InputError("the target has a negative count");
    asked += count;
  }
  if (asked > m) throw InputError("the target asks for more than m products");
  target_[0] = 0;
}

std::uint64_t Ppp::hash() const {
  Digest digest;
  digest.add(static_cast<std::uint64_t>(m_));
  digest.add(static_cast<std::uint64_t>(n_));
  digest.add(a_);
  digest.add(target_);
  return digest.value();
}

Ppp planted(std::string name, std::int32_t m, std::int32_t n, std::uint64_t seed) {
  check_size(m, n);
  const auto rows = static_cast<std::size_t>(m), columns = static_cast<std::size_t>(n);
  // Bit i of word (column, i / 64); column n holds V.
  const auto sign = [&](std::size_t column, std::size_t i) {
    return (random_bits(seed, i / 64, static_cast<std::uint32_t>(column), 0) >> (i % 64) & 1) != 0 ? std::int8_t{1} : std::int8_t{-1};
  };
  std::vector<std::int8_t> a(rows * columns), v(columns);
  for (std::size_t c = 0; c < columns; ++c) v[c] = sign(columns, c);
  std::vector<std::int32_t> s(rows), target(columns + 1);
  for (std::size_t c = 0; c < columns; ++c)
    for (std::size_t r = 0; r < rows; ++r) s[r] += (a[c * rows + r] = sign(c, r)) * v[c];
  for (std::size_t r = 0; r < rows; ++r) {
    if (s[r] < 0)
      for (std::size_t c = 0; c < columns; ++c) a[c * rows + r] = static_cast<std::int8_t>(-a[c * rows + r]);
    ++target[static_cast<std::size_t>(std::abs(s[r]))];
  }
  return {std::move(name), m, n, std::move(a), std::move(target)};
}

std::vector<std::int32_t> products(const Ppp& ppp, std::span<const std::int8_t> v) {
  const View view = ppp.view();
  std::vector<std::int32_t> s(static_cast<std::size_t>(view.m));
  for (std::int32_t column = 0; column < view.n; ++column)
    for (std::int32_t row = 0; row < view.m; ++row)
      s[static_cast<std::size_t>(row)] += view.at(row, column) * v[static_cast<std::size_t>(column)];
  return s;
}

std::int64_t cost_of_products(const Ppp& ppp, std::span<const std::int32_t> products) {
  const View view = ppp.view();
  std::vector<std::int32_t> surplus(static_cast<std::size_t>(view.n) + 1);
  for (std::size_t value = 1; value < surplus.size(); ++value) surplus[value] = -view.target[value];
  std::int64_t cost = 0;
  for (const std::int32_t s : products) {
    cost += sign_cost(s);
    if (s > 0) ++surplus[static_cast<std::size_t>(s)];
  }
  for (const std::int32_t count : surplus) cost += std::abs(count);
  return cost;
}

std::string complaint(const Ppp& ppp, std::span<const std::int8_t> v) {
  if (v.size() != static_cast<std::size_t>(ppp.columns()))
    return std::to_string(v.size()) + " signs for " + std::to_string(ppp.columns()) + " columns";
  if (!std::all_of(v.begin(), v.end(), is_sign)) return "a sign is neither 1 nor -1";
  return "";
}

std::int64_t cost(const Ppp& ppp, std::span<const std::int8_t> v) {
  if (const std::string what = complaint(ppp, v); !what.empty()) throw InputError("not a solution: " + what);
  const View view = ppp.view();
  std::map<std::int64_t, std::int64_t> surplus;  // of each positive product
  for (std::int32_t value = 1; value <= view.n; ++value) surplus[value] = -std::int64_t{view.target[value]};
  std::int64_t z = 0;
  for (std::size_t row = 0; row < static_cast<std::size_t>(view.m); ++row) {
    std::int64_t s = 0;
    for (std::size_t column = 0; column < v.size(); ++column)
      s += std::int64_t{view.a[column * static_cast<std::size_t>(view.m) + row]} * v[column];
    z += 30 * (std::abs(s) - s);
    if (s > 0) ++surplus[s];
  }
  for (const auto& [value, count] : surplus) z += std::abs(count);
  return z;
}

}  // namespace vicinity::ppp
