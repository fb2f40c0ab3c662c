#pragma once
// Neighbourhoods that change K of n elements (flip K bits, exchange K places of a permutation): the moves are the K-subsets of 0..n-1 in
// lexicographic order, numbered from 0. Two-to-one and one-to-two are Propositions 1 and 2 of Luong, Melab and Talbi; three-to-one and
// one-to-three follow from the same idea (their appendix A.3). Exact for every n up to `most_elements`: roots are estimated in single
// precision and corrected in integers.
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/util/hd.hpp"

namespace vicinity::moves {

inline constexpr std::int32_t most_elements = 60000;  ///< moves and a stride beyond fit 32 bits

/// A move: K distinct elements, ascending.
template <int K>
struct Move {
  std::int32_t at[K];
};

VICINITY_HD constexpr std::int64_t choose2(std::int64_t x) { return x * (x - 1) / 2; }
VICINITY_HD constexpr std::int64_t choose3(std::int64_t x) { return x * (x - 1) / 2 * (x - 2) / 3; }

/// Number of moves.
template <int K>
VICINITY_HD constexpr std::int64_t count(std::int64_t n) {
  static_assert(1 <= K && K <= 3);
  return K == 1 ? n : K == 2 ? choose2(n) : choose3(n);
}

/// floor(sqrt(x)) for x < 2^47.
VICINITY_HD std::int64_t integer_root(std::int64_t x) {
#if defined(__CUDA_ARCH__)
  auto root = static_cast<std::int64_t>(__fsqrt_rn(static_cast<float>(x)));
#else
  auto root = static_cast<std::int64_t>(std::sqrt(static_cast<float>(x)));
#endif
  while (root * root > x) --root;
  while ((root + 1) * (root + 1) <= x) ++root;
  return root;
}

/// The largest a with choose3(a) <= x, for 0 <= x < choose3(most_elements).
VICINITY_HD std::int64_t tetrahedral_root(std::int64_t x) {
  auto a = static_cast<std::int64_t>(cbrtf(6.0f * static_cast<float>(x))) + 1;
  while (choose3(a) > x) --a;
  while (choose3(a + 1) <= x) ++a;
  return a;
}

/// Number of a move. For K = 2 Proposition 1.
template <int K>
VICINITY_HD std::int64_t index(std::int32_t n, const Move<K>& move) {
  const std::int64_t i = move.at[0];
  if constexpr (K == 1) {
    return i;
  } else if constexpr (K == 2) {
    return i * (n - 1) + (move.at[1] - 1) - i * (i + 1) / 2;
  } else {  // counted from the end, where n-1-i > n-1-j > n-1-k is a combination in colexicographic order
    return choose3(n) - 1 - (choose3(n - 1 - i) + choose2(n - 1 - move.at[1]) + (n - 1 - move.at[2]));
  }
}

/// Move number `f`, 0 <= f < count<K>(n). For K = 2 Proposition 2.
template <int K>
VICINITY_HD Move<K> at(std::int32_t n, std::int64_t f) {
  if constexpr (K == 1) {
    return {{static_cast<std::int32_t>(f)}};
  } else if constexpr (K == 2) {
    const std::int64_t i = n - 2 - (integer_root(8 * (choose2(n) - f - 1) + 1) - 1) / 2;
    return {{static_cast<std::int32_t>(i), static_cast<std::int32_t>(f - i * (n - 1) + i * (i + 1) / 2 + 1)}};
  } else {
    const std::int64_t from_end = choose3(n) - 1 - f, a = tetrahedral_root(from_end), rest = from_end - choose3(a);
    const std::int64_t b = (integer_root(8 * rest + 1) + 1) / 2;
    return {{static_cast<std::int32_t>(n - 1 - a), static_cast<std::int32_t>(n - 1 - b),
             static_cast<std::int32_t>(n - 1 - (rest - choose2(b)))}};
  }
}

/// The move after `move`, to walk a slice without roots. After the last move comes nothing that may be used.
template <int K>
VICINITY_HD Move<K> next(std::int32_t n, Move<K> move) {
  int digit = K - 1;
  while (digit > 0 && move.at[digit] == n - K + digit) --digit;
  ++move.at[digit];
  for (int later = digit + 1; later < K; ++later) move.at[later] = move.at[later - 1] + 1;
  return move;
}

/// The exchange a move means in a permutation: place at[0] gets what at[1] had, ..., the last place what at[0] had. K = 2 swaps two places,
/// K = 3 rotates three; the rotation the other way round is a different neighbour, and not in the neighbourhood.
template <int K, class P>
VICINITY_HD void exchange(P& p, const Move<K>& move) {
  const auto first = p[static_cast<std::size_t>(move.at[0])];
  for (int t = 0; t + 1 < K; ++t) p[static_cast<std::size_t>(move.at[t])] = p[static_cast<std::size_t>(move.at[t + 1])];
  p[static_cast<std::size_t>(move.at[K - 1])] = first;
}

}  // namespace vicinity::moves
