#pragma once
// The quadratic assignment problem: place n facilities on n locations so that sum A[i][j] * B[p[i]][p[j]] is least
// (Koopmans and Beckmann 1957; Paul, equation 1). Facility i is placed on location p[i]; all indices from 0.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/api/run.hpp"
#include "core/problems/moves.hpp"
#include "core/util/hd.hpp"

namespace vicinity::qap {

/// p[facility] = location.
using Permutation = std::vector<std::int32_t>;

/// Both matrices, row-major, rows `pitch` elements apart. `Matrix` is indexable. Sums are made in `Sum`; an unsigned one gives them modulo
/// its range.
template <class T, class Matrix = const T*, class Sum = std::int64_t>
struct View {
  Matrix a;
  Matrix b;
  std::int32_t n;
  std::int32_t pitch;

  VICINITY_HD Sum a_at(std::int32_t i, std::int32_t j) const { return static_cast<Sum>(a[static_cast<std::size_t>(i) * pitch + j]); }
  VICINITY_HD Sum b_at(std::int32_t i, std::int32_t j) const { return static_cast<Sum>(b[static_cast<std::size_t>(i) * pitch + j]); }
};

/// Change of the cost when facilities r != s swap their locations, in O(n). `P` is indexable: p[facility].
template <class T, class Matrix, class Sum, class P>
VICINITY_HD Sum delta(const View<T, Matrix, Sum>& qap, const P& p, std::int32_t r, std::int32_t s) {
  const std::int32_t pr = p[r], ps = p[s];
  Sum sum = (qap.a_at(r, r) - qap.a_at(s, s)) * (qap.b_at(ps, ps) - qap.b_at(pr, pr)) +
            (qap.a_at(r, s) - qap.a_at(s, r)) * (qap.b_at(ps, pr) - qap.b_at(pr, ps));
  for (std::int32_t k = 0; k < qap.n; ++k) {
    if (k == r || k == s) continue;
    const std::int32_t pk = p[k];
    sum += (qap.a_at(k, r) - qap.a_at(k, s)) * (qap.b_at(pk, ps) - qap.b_at(pk, pr)) +
           (qap.a_at(r, k) - qap.a_at(s, k)) * (qap.b_at(ps, pk) - qap.b_at(pr, pk));
  }
  return sum;
}

/// The delta of swapping i and j after r and s were swapped, from the delta before, in O(1) (Taillard 1991). i and j are
/// neither r nor s, and `p` is the permutation before that swap.
template <class T, class P>
VICINITY_HD std::int64_t updated_delta(const View<T>& qap, const P& p, std::int64_t before, std::int32_t i, std::int32_t j, std::int32_t r,
                                       std::int32_t s) {
  const std::int32_t pi = p[i], pj = p[j], pr = p[r], ps = p[s];
  return before +
         (qap.a_at(r, i) - qap.a_at(r, j) - qap.a_at(s, i) + qap.a_at(s, j)) *
             (qap.b_at(pr, pi) - qap.b_at(pr, pj) - qap.b_at(ps, pi) + qap.b_at(ps, pj)) +
         (qap.a_at(i, r) - qap.a_at(j, r) - qap.a_at(i, s) + qap.a_at(j, s)) *
             (qap.b_at(pi, pr) - qap.b_at(pj, pr) - qap.b_at(pi, ps) + qap.b_at(pj, ps));
}

/// Change of the cost when facility at[0] takes the location of at[1], at[1] that of at[2], ..., the last that of at[0], in O(K n).
template <int K, class T, class Matrix, class Sum, class P>
VICINITY_HD Sum exchange_delta(const View<T, Matrix, Sum>& qap, const P& p, const moves::Move<K>& move) {
  std::int32_t from[K], to[K];
  for (int t = 0; t < K; ++t) {
    from[t] = p[move.at[t]];
    to[t] = p[move.at[(t + 1) % K]];
  }
  Sum sum = 0;
  for (std::int32_t k = 0; k < qap.n; ++k) {
    bool moves = false;
    for (int t = 0; t < K; ++t) moves |= k == move.at[t];
    if (moves) continue;
    const std::int32_t pk = p[k];
    for (int t = 0; t < K; ++t)
      sum += qap.a_at(k, move.at[t]) * (qap.b_at(pk, to[t]) - qap.b_at(pk, from[t])) +
             qap.a_at(move.at[t], k) * (qap.b_at(to[t], pk) - qap.b_at(from[t], pk));
  }
  for (int t = 0; t < K; ++t)
    for (int u = 0; u < K; ++u) sum += qap.a_at(move.at[t], move.at[u]) * (qap.b_at(to[t], to[u]) - qap.b_at(from[t], from[u]));
  return sum;
}

/// An instance: immutable matrices, and what follows from them.
class Qap final : public Instance {
 public:
  /// `a` and `b` have n*n entries each. Throws InputError (without a file's name) for n outside [2, 46340], for matrices of the wrong
  /// size, and when a cost or the sums it is made of could leave 64 bits.
  Qap(std::string name, std::int32_t n, std::vector<std::int32_t> a, std::vector<std::int32_t> b);

  [[nodiscard]] std::uint64_t hash() const override;
  [[nodiscard]] View<std::int32_t> view() const noexcept { return {a_.data(), b_.data(), n_, n_}; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::int32_t size() const noexcept { return n_; }
  [[nodiscard]] bool symmetric() const noexcept { return symmetric_; }
  /// All entries in [0, 255]?
  [[nodiscard]] bool bytes() const noexcept { return bytes_; }
  /// No delta, sum of its parts or inner product of a row of A and a row of B is larger in magnitude.
  [[nodiscard]] std::int64_t delta_bound() const noexcept { return delta_bound_; }
  [[nodiscard]] bool narrow() const noexcept { return delta_bound_ < (std::int64_t{1} << 31); }

 private:
  std::string name_;
  std::int32_t n_;
  std::vector<std::int32_t> a_, b_;
  bool symmetric_ = false, bytes_ = false;
  std::int64_t delta_bound_ = 0;
};

/// The oracle: the cost from its definition. Shares no code with delta. Throws InputError unless p is a permutation of 0..n-1.
[[nodiscard]] std::int64_t cost(const Qap& qap, std::span<const std::int32_t> p);

/// What keeps `p` from being a permutation of 0..n-1, in one line; empty when nothing does.
[[nodiscard]] std::string complaint(std::int32_t n, std::span<const std::int32_t> p);

}  // namespace vicinity::qap
