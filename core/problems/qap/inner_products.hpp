#pragma once
// Deltas of a QAP in O(1) from inner products that are kept between moves. All searches that keep them use this notation.
//
// p is the permutation, B'[x][y] = B[p[x]][p[y]]. Kept is
//   F[x][y] = sum over k of A[x][k] B'[y][k] + A[k][x] B'[k][y]:
// what facility x would cost at the location of y, all others staying. Expand the cost after facilities i and j swapped: F has the terms of
// all k, and what it has wrong at k = i and k = j is one product. So
//   delta(i, j) = F[i][j] + F[j][i] - F[i][i] - F[j][j] + alpha[i][j] beta[i][j],                                        (swap_delta)
//   alpha[x][y] = A[x][x] + A[y][y] - A[x][y] - A[y][x],   beta the same of B'.                                          (pair_factor)
// An exchange of any number of facilities, t going to the location of s(t), costs, t and u over those that move,
//   sum over t of F[t][s(t)] - F[t][t]  +  sum over t, u of A[t][u] (B'[s(t)][s(u)] - B'[s(t)][u] - B'[t][s(u)] + B'[t][u]).
//
// When r and s have swapped, with B' as it is from then on,
//   F[x][y] = F before[x][y with r and s exchanged] + d[x] e[y] + d*[x] e*[y],                                           (product)
//   d[x] = A[r][x] - A[s][x],   e[y] = B'[r][y] - B'[s][y],   d* and e* the same of the transposes.                      (swap_difference)
// Two columns change places and each element has a product added. No row is special, unlike in the matrix of deltas (Taillard 1991), where
// the pairs of r and s take O(n) each. The delta of a pair that neither r nor s is in changes by products alone           (delta_change).
// Where both matrices are symmetric both products are equal: there is one side, and d is doubled.
//
// By facility (F[x][y]), the columns of r and s change places. By location, F[x][y] lies in column p[y]: nothing changes places, and
// e[l] = B[q][l] - B[u][l] for r, s at locations u, q before the swap.
//
// All sums are whole numbers: they may wrap around as long as deltas fit (Qap::delta_bound).
#include <cstdint>

#include "core/util/hd.hpp"

namespace vicinity::qap {

/// alpha[x][y] of a matrix m, from m[x][x], m[y][y], m[x][y], m[y][x].
template <class T>
[[nodiscard]] VICINITY_HD T pair_factor(T xx, T yy, T xy, T yx) {
  return xx + yy - xy - yx;
}

/// delta(i, j) from F and alpha[i][j] beta[i][j].
template <class T>
[[nodiscard]] VICINITY_HD T swap_delta(T f_ij, T f_ji, T f_ii, T f_jj, T pair_product) {
  return f_ij + f_ji - f_ii - f_jj + pair_product;
}

/// What a swap of r and s means for facility x: d and e, then d* and e* where matrices are not symmetric.
template <class T, int Sides>
struct alignas(2 * sizeof(T)) SwapDifference {
  T d[Sides], e[Sides];
};

/// Of facility x, at location `q` after the swap, which has put r at `new_r` and s at `new_s`. a(side, row, column) is an entry of A, on
/// side 1 of its transpose, as a T; b the same of B.
template <class T, int Sides, class A, class B>
[[nodiscard]] VICINITY_HD SwapDifference<T, Sides> swap_difference(const A& a, const B& b, std::int32_t r, std::int32_t s,
                                                                   std::int32_t new_r, std::int32_t new_s, std::int32_t x, std::int32_t q) {
  SwapDifference<T, Sides> difference;
  for (int side = 0; side < Sides; ++side) {
    difference.d[side] = a(side, r, x) - a(side, s, x);
    difference.e[side] = b(side, new_r, q) - b(side, new_s, q);
  }
  if constexpr (Sides == 1) difference.d[0] *= 2;
  return difference;
}

/// Added to F[x][y].
template <class T, int Sides>
[[nodiscard]] VICINITY_HD T product(const SwapDifference<T, Sides>& x, const SwapDifference<T, Sides>& y) {
  T sum = x.d[0] * y.e[0];
  if constexpr (Sides == 2) sum += x.d[1] * y.e[1];
  return sum;
}

/// Added to the delta of swapping x and y, neither of which is r or s: product(x, y) + product(y, x) - product(x, x) - product(y, y).
template <class T, int Sides>
[[nodiscard]] VICINITY_HD T delta_change(const SwapDifference<T, Sides>& x, const SwapDifference<T, Sides>& y) {
  T sum = (x.d[0] - y.d[0]) * (y.e[0] - x.e[0]);
  if constexpr (Sides == 2) sum += (x.d[1] - y.d[1]) * (y.e[1] - x.e[1]);
  return sum;
}

}  // namespace vicinity::qap
