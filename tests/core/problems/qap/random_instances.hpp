#pragma once
// Random instances of the QAP for properties of deltas.
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/problems/qap/qap.hpp"
#include "core/util/rng.hpp"

namespace vicinity::qap {

struct Draws {
  std::uint64_t seed;
  std::uint64_t next = 0;

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(scale_to(random_bits(seed, next++, 0, 0), static_cast<std::uint64_t>(high - low + 1)));
  }
};

inline std::vector<std::int32_t> matrix(Draws& draws, std::int32_t n, std::int64_t low, std::int64_t high, bool symmetric) {
  const auto size = static_cast<std::size_t>(n);
  std::vector<std::int32_t> entries(size * size);
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < size; ++j)
      entries[i * size + j] = symmetric && j < i ? entries[j * size + i] : static_cast<std::int32_t>(draws.between(low, high));
  return entries;
}

inline Permutation permutation(Draws& draws, std::int32_t n) {
  Permutation p(static_cast<std::size_t>(n));
  std::iota(p.begin(), p.end(), 0);
  for (std::size_t i = p.size() - 1; i > 0; --i)
    std::swap(p[i], p[static_cast<std::size_t>(draws.between(0, static_cast<std::int64_t>(i)))]);
  return p;
}

inline Permutation swapped(Permutation p, std::int32_t r, std::int32_t s) {
  std::swap(p[static_cast<std::size_t>(r)], p[static_cast<std::size_t>(s)]);
  return p;
}

struct Entries {
  std::int64_t low_a, high_a, low_b, high_b;
};
/// Bytes, negative entries, 16 bits and just beyond in one matrix, deltas at the edge of 32 bits and beyond.
inline const std::vector<Entries> entry_ranges{{0, 9, 0, 9},
                                               {0, 255, 0, 255},
                                               {-50, 50, -7, 3},
                                               {-32767, 0, 0, 40},
                                               {0, 32767, -9, 20},
                                               {-16384, 16384, 0, 3},
                                               {0, 100000, 0, 9},
                                               {-5, 5, -40000, 40000},
                                               {0, 0, 0, 1 << 30},
                                               {0, 2000, -2000, 2000},
                                               {-(1 << 20), 1 << 20, 0, 1 << 20}};

/// Small and large entries, negative ones, diagonals; symmetric and not.
template <class Check>
void for_random_instances(Check check) {
  const std::pair<std::int64_t, std::int64_t> ranges[]{{0, 9}, {-100, 100}, {0, 255}, {-(1 << 25), 1 << 25}, {-3, 1 << 24}};
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Draws draws{seed};
    const auto n = static_cast<std::int32_t>(draws.between(2, 11));
    const auto [low_a, high_a] = ranges[draws.between(0, 4)];
    const auto [low_b, high_b] = ranges[draws.between(0, 4)];
    const bool symmetric_a = draws.between(0, 2) > 0, symmetric_b = draws.between(0, 2) > 0;
    const Qap qap("random", n, matrix(draws, n, low_a, high_a, symmetric_a), matrix(draws, n, low_b, high_b, symmetric_b));
    check(qap, permutation(draws, n));
  }
}

}  // namespace vicinity::qap
