#pragma once
// Large neighbourhood search by local search from many starting points: the contract (Campeotto et al., sections 3 and 4; open points:
// docs/errata.md, LNS).
//
// A search has s + 1 passes of h steps, each pass from the first solution. A step releases t random subsets of the free variables; each of
// them gets m starting points, and a local search from each: t m walkers, walker w works on subset w / m. All of them see the incumbent of
// the pass as it was at the beginning of the step. Their least (cost, w) becomes the incumbent where it is better.
//
// A walker's result is the first of the best consistent assignments that it evaluates, the starting point included. The cost is the
// objective, negated where it is maximised; an assignment that breaks a constraint has none.
//
// Numbers are drawn by address: (seed, step of the search, walker, draw). Walkers 0 to t m - 1 draw for themselves, t m to t m + t - 1 draw
// the subsets. The first `start_draws` draws of a walker make its starting point. So walkers may run in any order, on any processor.
#include <cstdint>
#include <limits>

#include "core/problems/cp/problem.hpp"
#include "core/util/digest.hpp"
#include "core/util/hd.hpp"
#include "core/util/rng.hpp"

namespace vicinity::lns {

/// Section 4. p: repetitions.
enum class LocalSearch : std::uint8_t {
  random_labeling,     ///< RL: p times, random values of all released variables
  random_permutation,  ///< RP: p times, the values of the released variables shuffled
  two_exchange,        ///< 2P: walker j of a subset exchanges pair j of its values; further walkers have nothing to do
  gibbs,               ///< GS: p times each free variable in turn: a random other value, accepted by accepts()
  conditional_mode,    ///< ICM: p times each free variable in turn gets its best value, the least of several
  complete,            ///< CE: walker j of a subset evaluates the combinations j, j + m, j + 2 m, ... of values
};

/// Do free variables get values of each other?
[[nodiscard]] VICINITY_HD constexpr bool permutes(LocalSearch search) {
  return search == LocalSearch::random_permutation || search == LocalSearch::two_exchange;
}

/// Where walkers start.
enum class StartingPoint : std::uint8_t {
  random,   ///< random values
  cp,       ///< random values one after the other, propagated; up to `start_attempts` times, then the walker has no result
  current,  ///< the incumbent
};

inline constexpr std::int64_t inconsistent = std::numeric_limits<std::int64_t>::max();
inline constexpr std::uint32_t start_attempts = 10;

/// Draws of one walker, or of a subset.
struct Draws {
  std::uint64_t seed;
  std::int64_t step;  ///< of the search, from 0
  std::int64_t walker;

  [[nodiscard]] VICINITY_HD std::uint64_t bits(std::uint64_t draw) const {
    return random_bits(seed, static_cast<std::uint64_t>(step), static_cast<std::uint32_t>(walker), static_cast<std::uint32_t>(draw));
  }
  [[nodiscard]] VICINITY_HD std::int64_t below(std::uint64_t draw, std::int64_t bound) const {
    return static_cast<std::int64_t>(scale_to(bits(draw), static_cast<std::uint64_t>(bound)));
  }
};

/// Of a walker whose subset has `released` free variables.
[[nodiscard]] VICINITY_HD constexpr std::uint64_t start_draws(std::int64_t released) {
  return start_attempts * static_cast<std::uint64_t>(released);
}
/// Draw number `k` of repetition `r` of a local search that makes `draws_each` of them.
[[nodiscard]] VICINITY_HD constexpr std::uint64_t search_draw(std::int64_t released, std::int64_t r, std::int64_t draws_each,
                                                              std::int64_t k) {
  return start_draws(released) + static_cast<std::uint64_t>(r * draws_each + k);
}

/// The first `released` of a shuffle of 0 .. count - 1, which `order` holds before.
template <class Order>
VICINITY_HD void release(const Draws& draws, std::int64_t count, std::int64_t released, Order& order) {
  for (std::int64_t k = 0; k < released; ++k) {
    const std::int64_t other = k + draws.below(static_cast<std::uint64_t>(k), count - k);
    const auto kept = order[k];
    order[k] = order[other];
    order[other] = kept;
  }
}

/// Pair `j` of n: (0,1), (0,2), ..., (0,n-1), (1,2), ...
struct Pair {
  std::int64_t first, second;
};
[[nodiscard]] VICINITY_HD constexpr std::int64_t pairs_of(std::int64_t n) { return n * (n - 1) / 2; }
[[nodiscard]] VICINITY_HD constexpr Pair pair_of(std::int64_t n, std::int64_t j) {
  std::int64_t first = 0;
  for (; j >= n - 1 - first; ++first) j -= n - 1 - first;
  return {first, first + 1 + j};
}

/// Does Gibbs sampling take a candidate? What breaks a constraint is taken only from where one is broken already. A worse one is taken with
/// the ratio of the objectives as probability: new / old where it is maximised, old / new where it is minimised. Without a ratio between 0
/// and 1 it is not.
[[nodiscard]] VICINITY_HD constexpr bool accepts(std::int64_t cost, std::int64_t candidate, Sense sense, std::uint64_t random) {
  if (cost == inconsistent) return true;
  if (candidate == inconsistent) return false;
  if (candidate <= cost) return true;
  const std::int64_t lesser = sense == Sense::maximise ? -candidate : cost, greater = sense == Sense::maximise ? -cost : candidate;
  return lesser > 0 && scale_to(random, static_cast<std::uint64_t>(greater)) < static_cast<std::uint64_t>(lesser);
}

/// Of a walker's result, to be summed over all of them in any order.
[[nodiscard]] VICINITY_HD constexpr std::uint64_t tally(std::int64_t walker, std::int64_t cost) {
  return mix(static_cast<std::uint64_t>(cost) + mix(static_cast<std::uint64_t>(walker)));
}

}  // namespace vicinity::lns
