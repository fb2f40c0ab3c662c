#pragma once
// The contract of `cpu-ils`, an iterated local search on tours: which tours a search goes through. A tour is a cycle: neither a first city nor
// a direction is part of it, so that implementations may keep it as they like.
//
// Set-up. Each city has a list of its 8 nearest (core/problems/tsp/neighbors.hpp). The search starts at the greedy tour, or at a given one.
// From then on cities are numbered by their position in that start.
//
// Local search. Cities wait in a queue, each at most once; at first all of them wait, in their order. The first is taken out, as t1, and
// the best of its moves (t1..t4: 2-opt, or t1..t6: sequential 3-opt, of which Or-opt is a case) is made if it shortens the tour:
//
//   t2  a neighbour of t1 in the tour, the lower number first. "Forward" is the direction from t1 to t2.
//   t3  of t2's list in its order, while the gain d(t1,t2) - d(t2,t3) is above 0; no neighbour of t2 in the tour.
//   t4  the one before t3, and the tour may be closed: 2-opt; after that the one behind t3.
//   t5  of t4's list in its order, while the gain with d(t3,t4) - d(t4,t5) is above 0; not t1, no neighbour of t4 in the tour.
//   t6  where t4 is before t3: the one behind t5 if t5 lies from t2 to t4, else the one before t5.
//       where t4 is behind t3: t5 must lie from t2 to t3. The one behind t5; then, unless t5 is t2, the one before it.
//
// A move removes the edges t1-t2, t3-t4, t5-t6 and adds t2-t3, t4-t5, t6-t1 (2-opt: t1-t2, t3-t4 for t2-t3, t4-t1). The one with the
// greatest gain is made, of equals the first found. Then t1, t2, ... wait again, in this order.
//
// Kick. A double bridge of three short neighbouring segments: p X Y Z q becomes p Z Y X q. Its ends wait (p, then first and last of X, Y and
// Z, then q) and local search follows. When the tour is longer than before the kick, all of it is undone.
//
// Round. Walkers 0..W-1 start from the same tour, each makes K kicks in its part of it. What they kept is then joined, walker by walker and
// kick by kick: a kick with the moves that followed is a sequence of exchanges, and is taken over when each of these finds its two edges in
// the tour, in the direction it needs; otherwise it is dropped. The gain of a sequence depends on its edges alone, so lengths add up.
#include <cstdint>
#include <string>
#include <vector>

#include "core/api/outcome.hpp"
#include "core/api/run.hpp"
#include "core/problems/tsp/tsp.hpp"
#include "core/util/digest.hpp"
#include "core/util/hd.hpp"
#include "core/util/rng.hpp"

namespace vicinity::tour_search {

inline constexpr std::int32_t list_length = 8;
/// Cities of a segment that a kick moves.
inline constexpr std::int32_t longest_segment = 50;
/// The fewest cities that a kick can reorder. Of four or three cities every local optimum is the shortest tour.
inline constexpr std::int32_t fewest_cities = 5;

/// What a case asks for.
struct Task {
  std::int64_t rounds = 0;
  std::int64_t restarts = 1;  ///< restart k is the search with seed + k
  std::int32_t walkers = 0;
  std::int32_t kicks = 0;    ///< of a walker in a round
  std::int64_t threads = 0;  ///< 0: all
};

/// Throws InputError; DoesNotFit for an instance that is no TSP, and for a case that names what only swaps have.
[[nodiscard]] Task task_of(const Case& c, const Instance& instance);

/// The edges a-b and c-d, b following a as d follows c, become a-c and b-d: the path from b to c is reversed.
struct Exchange {
  std::int32_t a, b, c, d;

  [[nodiscard]] VICINITY_HD Exchange undone() const { return {a, c, b, d}; }
};

/// Where a kick strikes.
struct Kick {
  std::int32_t place;      ///< of p, in the tour that the round began with: see place_of()
  bool up;                 ///< X is on the side of p's neighbour with the higher number
  std::int32_t length[3];  ///< of X, Y and Z
};

/// Kick number `kick` of a walker. Places count from city 0 on, towards its neighbour with the lower number.
VICINITY_HD Kick kick_of(const Task& task, std::uint64_t seed, std::int64_t round, std::int32_t walker, std::int32_t kick, std::int32_t n) {
  const std::uint64_t bits = random_bits(seed, static_cast<std::uint64_t>(round), static_cast<std::uint32_t>(walker), static_cast<std::uint32_t>(kick));
  const std::int64_t first = static_cast<std::int64_t>(n) * walker / task.walkers, last = static_cast<std::int64_t>(n) * (walker + 1) / task.walkers;
  Kick k{static_cast<std::int32_t>(first + static_cast<std::int64_t>(scale_to(bits, static_cast<std::uint64_t>(last - first)))), (bits & 1) != 0, {}};
  const std::int32_t most = (n - 2) / 3 < longest_segment ? (n - 2) / 3 : longest_segment;
  for (int i = 0; i < 3; ++i) k.length[i] = 1 + static_cast<std::int32_t>((bits >> (1 + 10 * i) & 1023) * static_cast<std::uint64_t>(most) >> 10);
  return k;
}

/// What a search has found.
struct Result {
  tsp::Tour tour;  ///< from city 0 on towards its neighbour with the lower number
  std::int64_t length = 0;
  std::int64_t rounds = 0;
  std::int64_t evaluations = 0;  ///< closed tours that were rated
  std::int64_t kept = 0, dropped = 0;  ///< kicks that did not make the tour longer; of these, dropped when walkers were joined
  Digest digest;                 ///< of each round's length
};

/// Rotates and turns a tour so that it begins with city 0, then its neighbour with the lower number.
[[nodiscard]] tsp::Tour canonical(tsp::Tour tour);

/// The outcome of a case: the best of its restarts, the first of equals. Unfinished searches pass unless `whole`.
[[nodiscard]] Outcome judge(const tsp::Tsp& tsp, const Task& task, const std::vector<Result>& searches, bool whole);

}  // namespace vicinity::tour_search
