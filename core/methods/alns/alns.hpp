#pragma once
// The contract of adaptive large neighbourhood search for the DCVRP (Bach, Hasle, Schulz 2019; what they leave open: Pisinger and Ropke
// 2007, docs/errata.md): what an iteration of a process removes and inserts, how ties break, what is accepted, how scores and history
// change. Everything follows from (seed, process, iteration) and from the state at the last boundary, so that any implementation takes the
// same path.
//
// Nodes: 0 is the depot, 1 .. n the requests, n + 1 + t the start of tour t of m (section 3.2). A position is the node that a request is
// inserted after: a request in the solution, or the start of a tour. Of the empty tours only the one of least number offers a position.
// A call is 100 iterations of every process; at its end, the boundary, scores change and history and incumbents are merged.
#include <cstdint>

#include "core/problems/vrp/vrp.hpp"
#include "core/util/hd.hpp"
#include "core/util/metropolis.hpp"
#include "core/util/rng.hpp"
#include "core/util/unfused.hpp"

namespace vicinity::alns {

// --- operators ---------------------------------------------------------------------------------------------------------

enum class Destroy : std::int32_t { random, worst, related, historical, cluster };
enum class Repair : std::int32_t { greedy, regret };
inline constexpr std::int32_t destroy_operators = 5, repair_operators = 2, operator_pairs = destroy_operators * repair_operators;

VICINITY_HD Destroy destroy_of(std::int32_t pair) { return static_cast<Destroy>(pair / repair_operators); }
VICINITY_HD Repair repair_of(std::int32_t pair) { return static_cast<Repair>(pair % repair_operators); }

inline constexpr std::int32_t iterations_a_call = 100;  ///< section 3.1

/// Fewest and most requests an iteration removes (Pisinger and Ropke 2007, 6.1.1).
VICINITY_HD std::int32_t fewest_removed(std::int32_t n) {
  const std::int32_t tenth = n / 10 < 30 ? n / 10 : 30;
  return tenth < 1 ? 1 : tenth;
}
VICINITY_HD std::int32_t most_removed(std::int32_t n) {
  const std::int32_t share = 2 * n / 5 < 60 ? 2 * n / 5 : 60;
  return share < fewest_removed(n) ? fewest_removed(n) : share;
}

// --- random numbers ----------------------------------------------------------------------------------------------------

/// Draws of an iteration. `request` is the first of a sequence: draw a is request + a.
enum class Draw : std::uint32_t { removed, pair, acceptance, request };

/// 64 random bits for iteration i of process p, counted from the start of the run.
VICINITY_HD std::uint64_t bits(std::uint64_t seed, std::int64_t i, std::int32_t p, Draw draw, std::uint32_t a = 0) {
  return random_bits(seed, static_cast<std::uint64_t>(i), static_cast<std::uint32_t>(p), static_cast<std::uint32_t>(draw) + a);
}
/// A request, each equally likely.
VICINITY_HD std::int32_t request_of(std::uint64_t random, std::int32_t n) {
  return 1 + static_cast<std::int32_t>(scale_to(random, static_cast<std::uint64_t>(n)));
}
/// How many requests an iteration removes.
VICINITY_HD std::int32_t removed_of(std::uint64_t random, std::int32_t n) {
  const std::int32_t fewest = fewest_removed(n);
  return fewest + static_cast<std::int32_t>(scale_to(random, static_cast<std::uint64_t>(most_removed(n) - fewest + 1)));
}

// --- destroy -----------------------------------------------------------------------------------------------------------
// random:     draws of requests, those already removed skipped, until k are removed.
// worst:      k times the request with the greatest saving d(prev, r) + d(r, next) - d(prev, next); the least of equals.
// related:    the k requests nearest to the first request drawn, itself included: least (distance, request) (section 3.4).
// historical: the k requests with the greatest sum of remembered(prev, r) + remembered(r, next) in the solution as it was; the least
//             of equals.
// cluster:    draws of requests: the cluster around a request that is still in the solution is removed, whole or, from its first
//             request on, as far as k allows; a cluster that is all that is left of a tour stays. Ends with k removed or after
//             cluster_draws draws.

inline constexpr std::int32_t cluster_draws = 8;

/// Is the edge between two requests of a tour longer than 3/2 of the mean of such edges in it? `sum` and `count` are of the tour when the
/// iteration began, and so are the clusters: what a cut separates.
VICINITY_HD bool cuts(std::int32_t distance, std::int64_t sum, std::int32_t count) { return std::int64_t{2} * distance * count > 3 * sum; }

/// The history keeps the cost of the best solution that had an edge; never_seen: none had.
inline constexpr std::int32_t never_seen = 0x7FFFFFFF;
/// Of an edge of the current solution, which is itself one that has it. `kept`: as of the last boundary.
VICINITY_HD std::int32_t remembered(std::int32_t kept, std::int32_t current_cost) { return kept < current_cost ? kept : current_cost; }
/// Place of the edge between two nodes (0: depot) in a table of (n + 1)^2.
VICINITY_HD std::int64_t edge_index(std::int32_t n, std::int32_t a, std::int32_t b) {
  return a < b ? std::int64_t{a} * (n + 1) + b : std::int64_t{b} * (n + 1) + a;
}

// --- repair ------------------------------------------------------------------------------------------------------------
// greedy: of all requests removed and all positions the cheapest feasible insertion, least (delta, position, request), again and again.
// regret: of the requests removed the one with the greatest regret, least (delta, position) of its best, then request; at its best
// position. The solution is complete when every request is served and every tour is within the limit: where a detour is shorter than the
// way itself, removals may make tours longer, beyond the limit, and insertions shorter again. What is not complete is dropped: its cost is
// 0, the history does not see it, and its operators get no points.

/// (delta, position) in one word, whose order is the order of ties; no_insertion is above all.
VICINITY_HD std::int64_t insertion_key(std::int32_t delta, std::int32_t position) {
  return (static_cast<std::int64_t>(delta) << 32) | static_cast<std::int64_t>(position);
}
inline constexpr std::int64_t no_insertion = 0x7FFFFFFFFFFFFFFF;
VICINITY_HD std::int32_t delta_of(std::int64_t key) { return static_cast<std::int32_t>(key >> 32); }
VICINITY_HD std::int32_t position_of(std::int64_t key) { return static_cast<std::int32_t>(key & 0xFFFFFFFF); }

/// What is lost when a request does not go to its best position `first` but to `second`, the best one in another tour; the greatest of all
/// when there is none.
VICINITY_HD std::int64_t regret_of(std::int64_t first, std::int64_t second) {
  return second == no_insertion ? no_insertion : static_cast<std::int64_t>(delta_of(second)) - delta_of(first);
}

// --- acceptance --------------------------------------------------------------------------------------------------------

inline constexpr double cooling = 0.99975;                   ///< T <- c T, each iteration
inline constexpr std::int64_t schedule_iterations = 25'000;  ///< then T starts again; Pisinger and Ropke's number

/// T0: a solution 0.5 % worse than the first is accepted with probability 1/2: at Pisinger and Ropke's 5 % the stopping rule of 3.5 ends
/// searches that are still hot.
VICINITY_HD double first_temperature(std::int64_t cost) { return times(to_double(cost), 0.0072134752044448170); }

/// The temperature of the iteration after one of temperature T, `done` iterations after the schedule's first start.
VICINITY_HD double next_temperature(double temperature, double first, std::int64_t done) {
  return done % schedule_iterations == 0 ? first : times(temperature, cooling);
}
/// The Metropolis test exp(-delta / T) >= u, in single precision. `inverse`: inverse_of() a temperature.
VICINITY_HD float inverse_of(double temperature) { return static_cast<float>(over(1.0, temperature)); }
VICINITY_HD bool accepts(std::int64_t delta, float inverse, float threshold) {
  return delta <= 0 || times(static_cast<float>(delta), inverse) <= threshold;
}
VICINITY_HD bool accepts(std::int64_t delta, double temperature, std::uint64_t random) {
  return delta <= 0 || accepts(delta, inverse_of(temperature), threshold(static_cast<std::uint32_t>(random)));
}

// --- scores ------------------------------------------------------------------------------------------------------------

/// Points of an iteration (Pisinger and Ropke 2007): better than the process' incumbent, than its current solution, accepted, none of
/// these.
inline constexpr std::int32_t points_best = 33, points_better = 9, points_accepted = 13;

/// Weights are in units of 2^-16. Pairs of weight w are drawn with probability w over the sum.
inline constexpr std::int32_t first_weight = 1 << 16, least_weight = 1 << 10;
/// At a boundary: nine tenths of the old and one tenth of the mean points of the call's `uses`; never below 1/64, so that no pair is lost.
VICINITY_HD std::int32_t next_weight(std::int32_t weight, std::int32_t points, std::int32_t uses) {
  if (uses == 0) return weight;
  const std::int64_t next = weight - weight / 10 + (static_cast<std::int64_t>(points) << 16) / (10 * static_cast<std::int64_t>(uses));
  return next < least_weight ? least_weight : static_cast<std::int32_t>(next);
}
/// The pair that a random number in [0, sum of weights) falls to.
template <class Weights>
VICINITY_HD std::int32_t drawn_pair(const Weights& weights, std::uint64_t random) {
  std::uint64_t sum = 0;
  for (std::int32_t pair = 0; pair < operator_pairs; ++pair) sum += static_cast<std::uint64_t>(weights[pair]);
  std::uint64_t left = scale_to(random, sum);
  std::int32_t pair = 0;
  while (left >= static_cast<std::uint64_t>(weights[pair])) left -= static_cast<std::uint64_t>(weights[pair++]);
  return pair;
}

// --- first solutions ---------------------------------------------------------------------------------------------------
// Start s of a run: 0 greedy insertion of all requests; odd s: a random number of draws of (request, position) are carried out where they
// are feasible, the rest is greedy; other s: as many requests as vehicles are needed at least, each the farthest from depot and chosen ones
// (the first drawn), begin tours of their own, the rest is greedy (maximum dispersion).

enum class Construction : std::int32_t { greedy, random, dispersion };
VICINITY_HD Construction construction_of(std::int64_t s) {
  return s == 0 ? Construction::greedy : s % 2 == 1 ? Construction::random : Construction::dispersion;
}
/// Draw a of start s.
VICINITY_HD std::uint64_t start_bits(std::uint64_t seed, std::int64_t s, std::uint64_t a) {
  return random_bits(seed, a, static_cast<std::uint32_t>(s), start_stream);
}

}  // namespace vicinity::alns
