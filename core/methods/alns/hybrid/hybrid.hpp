#pragma once
// The contract of the hybrid genetic search: synchronous generations of children, each made and improved by itself from the population as
// it was, so that a generation's result depends neither on threads nor on blocks. Everything follows from (seed, generation, child).
#include <cstdint>

#include "core/methods/alns/hybrid/moves.hpp"
#include "core/problems/vrp/vrp.hpp"
#include "core/util/digest.hpp"
#include "core/util/hd.hpp"
#include "core/util/metropolis.hpp"
#include "core/util/rng.hpp"
#include "core/util/unfused.hpp"

namespace vicinity::alns::hybrid {

/// The random numbers of child b of generation g, taken one after the other.
class Stream {
 public:
  VICINITY_HD Stream(std::uint64_t seed, std::int64_t g, std::int32_t b)
      : seed_(seed), g_(static_cast<std::uint64_t>(g)), b_(static_cast<std::uint32_t>(b)) {}

  VICINITY_HD std::uint64_t bits() { return random_bits(seed_, g_, b_, draw_++); }
  /// Leaves out so many.
  VICINITY_HD void skip(std::uint32_t count) { draw_ += count; }
  /// A whole number of [0, bound).
  VICINITY_HD std::int32_t below(std::int32_t bound) {
    return static_cast<std::int32_t>(scale_to(bits(), static_cast<std::uint64_t>(bound)));
  }

 private:
  std::uint64_t seed_, g_;
  std::uint32_t b_, draw_ = 0;
};

// --- string removal (Christiaens and Vanden Berghe 2020, "Slack induction by string removals") -------------------------------------------
// A step draws a customer, and takes strings of customers from its route and those of its nearest neighbours, each at most once; then puts
// all of them back, one after the other, each at its cheapest position, of which some are passed over. Capacity and route limit are soft
// (moves.hpp), under penalties of the line's own; the best solution is the best feasible one. Draws in this order: the
// customer; the number of strings; for each string its length, whether it is split, if so how many customers stay (again and again) and
// where they begin, and its first customer; the order of insertion; the bits of that order; for each customer the bits of its blinks;
// acceptance.

inline constexpr std::int32_t mean_removed = 10, longest_string = 10;

/// Longest string of this step: the mean number of customers of a route, at most 10.
VICINITY_HD std::int32_t string_length(std::int32_t n, std::int32_t routes_used) {
  const std::int32_t mean = n / routes_used;
  return mean < 1 ? 1 : mean < longest_string ? mean : longest_string;
}
/// How many strings, from 64 random bits.
VICINITY_HD std::int32_t strings_of(std::uint64_t random, std::int32_t longest) {
  const std::int32_t most = 4 * mean_removed - 1 - longest;
  return 1 + static_cast<std::int32_t>(scale_to(random, static_cast<std::uint64_t>(most))) / (1 + longest);
}
/// One of a hundred lets one more customer of a split string stay.
VICINITY_HD bool one_more_stays(std::uint64_t random) { return scale_to(random, 100) == 0; }

/// In which order customers are inserted: at random, greatest demand first, farthest from the depot first, nearest first; 4 : 4 : 2 : 1.
enum class Order : std::int32_t { random, demand, far, close };
VICINITY_HD Order order_of(std::uint64_t random) {
  const auto of_eleven = static_cast<std::int32_t>(scale_to(random, 11));
  return of_eleven < 4 ? Order::random : of_eleven < 8 ? Order::demand : of_eleven < 10 ? Order::far : Order::close;
}
/// Customers are inserted by least (this, customer).
VICINITY_HD std::int32_t rank_of(Order order, const vrp::View& vrp, std::int32_t customer, std::uint64_t random) {
  switch (order) {
    case Order::demand:
      return -vrp.demand[customer];
    case Order::far:
      return -vrp(0, customer);
    case Order::close:
      return vrp(0, customer);
    default:
      return static_cast<std::int32_t>(mix(random ^ static_cast<std::uint64_t>(customer)) >> 33);
  }
}
/// Is a position passed over? One of 128 is. `random` belongs to the insertion, `position` is the node before it.
VICINITY_HD bool blinks(std::uint32_t random, std::int32_t position) {
  return ((random ^ static_cast<std::uint32_t>(position) * 0x9E3779B1u) * 0x85EBCA6Bu) >> 25 == 0;
}
// Positions: behind and before each of the insertion_neighbors that stand on a route, and the empty route of least number (never passed
// over); where there is none of them, behind all nodes of all routes, nothing passed over. Least (price, node before it); the start of
// route r counts as node n + 1 + r.
/// Price of an insertion that makes a route longer by `delta` and changes its penalty.
VICINITY_HD std::int64_t insertion_price(std::int32_t delta, std::int64_t penalty_before, std::int64_t penalty_after) {
  return delta + (penalty_after > penalty_before ? penalty_after - penalty_before : 0);
}

/// A penalty of an annealing line after `steps` steps, of which `feasible` began within the capacity (or limit) on all routes.
VICINITY_HD std::int64_t adapted_penalty(std::int64_t penalty, std::int64_t feasible, std::int64_t steps) {
  if (2 * feasible > steps) return penalty * 17 / 20 < 1 ? 1 : penalty * 17 / 20;
  if (10 * feasible < 3 * steps) return penalty * 6 / 5 + 1 > most_penalty ? most_penalty : penalty * 6 / 5 + 1;
  return penalty;
}

/// Is a change of the cost, penalties included, accepted at this temperature?
VICINITY_HD bool accepts(std::int64_t delta, double temperature, std::uint64_t random) {
  if (delta <= 0) return true;
  return times(static_cast<float>(delta), static_cast<float>(over(1.0, temperature))) <= threshold(static_cast<std::uint32_t>(random));
}

}  // namespace vicinity::alns::hybrid
