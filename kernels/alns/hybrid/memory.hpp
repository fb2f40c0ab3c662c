#pragma once
// What a line of gpu-hybrid works on, and how a block's memory is dealt out.
//
// A solution at rest is packed: the customers route after route, and where each route ends, in 16 bits. A block's memory begins with such a
// solution; behind it lie, one in place of the other, what split, local search and string removal need.
#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/methods/alns/hybrid/island.hpp"
#include "core/methods/alns/hybrid/moves.hpp"
#include "core/problems/vrp/vrp.hpp"
#include "core/util/hd.hpp"

namespace vicinity::alns::hybrid::block {

/// A node: depot, customer or start of a route. No solution has more routes than customers, but for a given one.
using Node = std::uint16_t;
static_assert(2 * vrp::most_customers <= std::numeric_limits<Node>::max());

/// An instance as lines see it.
struct Problem {
  vrp::View vrp;
  const Node* nearest;       ///< [customer * k + slot]
  const std::int32_t* rank;  ///< [customer]
  std::int32_t k, moves;     ///< neighbours beside which customers are inserted, and those that moves join
  std::int32_t routes;       ///< of a solution, m
  std::int64_t served;       ///< all service times
};

/// A solution at rest.
struct Packed {
  Node* customers;  ///< [n] route after route
  Node* ends;       ///< [m] of each route

  /// In nodes; a multiple of eight, so that solutions side by side stand at whole words.
  [[nodiscard]] VICINITY_HD static std::size_t nodes(std::int32_t n, std::int32_t m) {
    return static_cast<std::size_t>((n + m + 7) / 8 * 8);
  }
  [[nodiscard]] VICINITY_HD static Packed at(Node* nodes, std::int32_t n) { return {nodes, nodes + n}; }
  [[nodiscard]] VICINITY_HD std::int32_t first(std::int32_t r) const { return r == 0 ? 0 : ends[r - 1]; }
  [[nodiscard]] VICINITY_HD std::int32_t size(std::int32_t r) const { return ends[r] - first(r); }
};

/// What a line is to do in a generation (core/methods/alns/hybrid/island.hpp).
struct LineJob {
  Penalties penalties;
  double temperature, cooling;
  std::uint64_t seed;
  std::int64_t generation, steps;  ///< steps: of string removal
  std::int32_t line;
  bool anneals, begins, cuts, ends;
};

/// What a line keeps, and what the host reads of it.
struct LineState {
  Penalties penalties;           ///< of an annealing line
  std::int64_t best_distance;    ///< of its best
  std::int64_t handed_distance;  ///< of what it hands back
  std::int64_t evaluations;      ///< of all generations
  bool load_feasible, duration_feasible, handed_feasible;
};

/// Pieces of memory one after the other, each at a multiple of 16 bytes. With no memory it only measures.
class Pieces {
 public:
  VICINITY_HD explicit Pieces(unsigned char* memory) : memory_(memory) {}

  template <class T>
  [[nodiscard]] VICINITY_HD T* take(std::int64_t count) {
    const std::size_t at = used_;
    used_ += (sizeof(T) * static_cast<std::size_t>(count) + 15) / 16 * 16;
    return memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + at);
  }
  [[nodiscard]] VICINITY_HD std::size_t used() const { return used_; }

 private:
  unsigned char* memory_;
  std::size_t used_ = 0;
};

/// A key of two words, for the least of a warp.
struct WideKey {
  std::uint64_t high = ~std::uint64_t{0}, low = ~std::uint64_t{0};

  [[nodiscard]] VICINITY_HD bool before(const WideKey& other) const { return high < other.high || (high == other.high && low < other.low); }
};
/// Orders signed numbers as unsigned ones.
VICINITY_HD std::uint64_t ordered(std::int64_t value) { return static_cast<std::uint64_t>(value) ^ std::uint64_t{1} << 63; }
VICINITY_HD std::int64_t value_of(std::uint64_t ordered) { return static_cast<std::int64_t>(ordered ^ std::uint64_t{1} << 63); }

// What lines are written for is a Team: the threads of a block, or what stands in for them in a test. With `i` of [0, count), in any order
// or at the same time, and a barrier at the end:
//   each(count, f)        f(i), by a thread each
//   each_warp(count, f)   f(warp, i), by a warp each
//   each_where(memory, count, holds, f)   f(i) for each i that holds, by a thread each; they are gathered first, in `gathered` numbers a
//                         warp of memory, so that no lane idles
//   each_warp_where(count, holds, f)      f(warp, i) for each i that holds, by a warp each
//   first_warp(f)         f(warp), by one warp
//   once(f)               f(), by one thread
//   lower(place, value), raise(place, bits), add(place, value)   at once, from any of them: minimum, bits set, sum
// and a Warp, which has
//   index                 below Team::warps; those at work at the same time differ
//   each(count, f), once(f)   as above, by lanes
//   least(count, f)       the least of all f(i), keys; of none, no key
//   least_of_few(count, f)    the same of at least one and at most 96 numbers, three a lane at the same time; f changes nothing
//   fetch(count, load, put)   put(i, load(i)); reads of several loads are under way at the same time
//   scan(count, value, put)   put(i, value(0) + ... + value(i)); returns the sum
//   until(count, stop, f)     f(i) for all i below the first for which stop(i)
// What is not within one of these all threads do alike, each for itself.

}  // namespace vicinity::alns::hybrid::block
