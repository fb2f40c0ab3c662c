#pragma once
// The permuted perceptron problem (Pointcheval 1995; paper, section 6.2, definition 1): given a matrix A of +-1, m x n, and a multiset of m
// non-negative numbers, find a vector V of +-1 such that the products S = A V are that multiset. Minimised is, as the authors' group
// wrote it,
//   z = 30 * sum_i (|S_i| - S_i) + sum_{v=1..n} |H_v - H'_v|
// where H counts how often v is asked for and H' how often it occurs in S. Only positive products are counted.
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "core/api/run.hpp"
#include "core/problems/moves.hpp"
#include "core/util/hd.hpp"

namespace vicinity::ppp {

/// V: n entries, each -1 or 1.
using Signs = std::vector<std::int8_t>;

/// Weight of the sign part.
inline constexpr std::int32_t sign_weight = 30;

/// Part of a row whose product is `s` in the sign part of z.
VICINITY_HD constexpr std::int32_t sign_cost(std::int32_t s) { return s < 0 ? -2 * sign_weight * s : 0; }

/// The matrix column by column, since a neighbour needs K whole columns; `target` has n+1 entries, [0] is unused. Both are indexable.
template <class Matrix, class Target>
struct BasicView {
  Matrix a;
  Target target;
  std::int32_t m, n;

  VICINITY_HD std::int32_t at(std::int32_t row, std::int32_t column) const {
    return a[static_cast<std::size_t>(column) * static_cast<std::size_t>(m) + static_cast<std::size_t>(row)];
  }
};
using View = BasicView<const std::int8_t*, const std::int32_t*>;

/// z after the K signs of `move` are flipped, in O(m K + n), from the products S = A V before. `histogram` is room for n+1 counters,
/// all zero, and so again afterwards.
template <int K, class Matrix, class Target, class Products, class V, class Histogram>
VICINITY_HD std::int32_t flipped_cost(const BasicView<Matrix, Target>& ppp, const Products& products, const V& v,
                                      const moves::Move<K>& move, Histogram& histogram) {
  std::int32_t cost = 0;
  for (std::int32_t row = 0; row < ppp.m; ++row) {
    std::int32_t s = products[row];
    for (int t = 0; t < K; ++t) s -= 2 * ppp.at(row, move.at[t]) * v[move.at[t]];
    cost += sign_cost(s);
    if (s > 0) ++histogram[s];
  }
  for (std::int32_t value = 1; value <= ppp.n; ++value) {
    const std::int32_t surplus = histogram[value] - ppp.target[value];
    cost += surplus < 0 ? -surplus : surplus;
    histogram[value] = 0;
  }
  return cost;
}

/// An instance: immutable matrix and target.
class Ppp final : public Instance {
 public:
  /// `a` has m*n entries of +-1, column by column; `target` n+1 counts, of which [0] is ignored. Throws InputError for sizes outside
  /// [1, 20000], sizes with which z could leave 32 bits, and entries that are something else.
  Ppp(std::string name, std::int32_t m, std::int32_t n, std::vector<std::int8_t> a, std::vector<std::int32_t> target);

  [[nodiscard]] std::uint64_t hash() const override;
  [[nodiscard]] View view() const noexcept { return {a_.data(), target_.data(), m_, n_}; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::int32_t rows() const noexcept { return m_; }
  [[nodiscard]] std::int32_t columns() const noexcept { return n_; }

 private:
  std::string name_;
  std::int32_t m_, n_;
  std::vector<std::int8_t> a_;
  std::vector<std::int32_t> target_;
};

/// An instance that a planted solution satisfies (z = 0): A and V uniform, rows negated so that A V >= 0, the target the histogram of A V.
[[nodiscard]] Ppp planted(std::string name, std::int32_t m, std::int32_t n, std::uint64_t seed);

/// S = A V.
[[nodiscard]] std::vector<std::int32_t> products(const Ppp& ppp, std::span<const std::int8_t> v);
/// z of a vector with these products.
[[nodiscard]] std::int64_t cost_of_products(const Ppp& ppp, std::span<const std::int32_t> products);

/// The oracle: z from its definition. Shares no code with flipped_cost or cost_of_products. Throws InputError unless v has n entries of
/// +-1.
[[nodiscard]] std::int64_t cost(const Ppp& ppp, std::span<const std::int8_t> v);

/// What keeps `v` from being a vector of signs, in one line; empty when nothing does.
[[nodiscard]] std::string complaint(const Ppp& ppp, std::span<const std::int8_t> v);

}  // namespace vicinity::ppp
