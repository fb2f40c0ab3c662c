#pragma once
// The contract of `cpu-ils`, an iterated local search on tours: which tours a search goes through. A tour is a cycle: neither a first city
// nor a direction is part of it, so that implementations may keep it as they like.
//
// Set-up. Each city has a list of 10 that lie near it (core/problems/tsp/neighbors.hpp). The search starts at the greedy tour, or at a
// given one. From then on cities are numbered by their position in that start.
//
// Local search. Cities wait in a queue, each at most once; at first all of them wait, in their order. The first is taken out, as t1, and
// its moves are looked at (t1..t4: 2-opt, or t1..t6: sequential 3-opt, of which Or-opt is a case):
//
//   t2  a neighbour of t1 in the tour, the lower number first. "Forward" is the direction from t1 to t2.
//   t3  of t2's list in its order, while the gain d(t1,t2) - d(t2,t3) is above 0; no neighbour of t2 in the tour.
//   t4  the one before t3, and the tour may be closed: 2-opt; after that the one behind t3.
//   t5  of t4's list in its order, while the gain with d(t3,t4) - d(t4,t5) is above 0; not t1, no neighbour of t4 in the tour.
//   t6  where t4 is before t3: the one behind t5 if t5 lies from t2 to t4, else the one before t5.
//       where t4 is behind t3: t5 must lie from t2 to t3. The one behind t5; then, unless t5 is t2, the one before it.
//
// A move removes the edges t1-t2, t3-t4, t5-t6 and adds t2-t3, t4-t5, t6-t1 (2-opt: t1-t2, t3-t4 for t2-t3, t4-t1). The first t3 with a
// move that shortens the tour ends the search; of its moves the one with the greatest gain is made, of equals the first found. Then t1, t2,
// ... wait again, in this order.
//
// Kick. A double bridge of three short neighbouring segments: p X Y Z q becomes p Z Y X q. Its ends wait (p, then first and last of X, Y
// and Z, then q) and local search follows. If the tour is now shorter than before the kick, it is kept; if it is longer by d, with the
// probability exp(-d / T), T the temperature of the round (Cooling). Else all of it is undone.
//
// Round. Walkers 0..W-1 start from the same tour, each makes K kicks in its part of it. What they kept is then joined, walker by walker and
// kick by kick: a kick with the moves that followed is a sequence of exchanges, and is taken over when each of these finds its two edges in
// the tour, in the direction it needs; otherwise it is dropped. The gain of a sequence depends on its edges alone, so lengths add up.
// The result is the shortest of the tours that rounds end with, the first of equals. Where a cycle of the cooling begins, so does the
// search anew, at that tour.
#include <cstdint>
#include <string>
#include <vector>

#include "core/api/outcome.hpp"
#include "core/api/run.hpp"
#include "core/problems/tsp/tsp.hpp"
#include "core/util/digest.hpp"
#include "core/util/hd.hpp"
#include "core/util/math.hpp"
#include "core/util/metropolis.hpp"
#include "core/util/rng.hpp"
#include "core/util/unfused.hpp"

namespace vicinity::tour_search {

inline constexpr std::int32_t list_length = 10;
/// Cities of a segment that a kick moves.
inline constexpr std::int32_t longest_segment = 30;
/// Draws that decide on acceptance; those of kicks leave the bit unset.
inline constexpr std::uint32_t acceptance_draws = 0x80000000u;
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

/// A move of the local search; without t5 it is a 2-opt move.
struct Move {
  std::int32_t gain = 0;
  std::int32_t t1, t2, t3, t4, t5 = -1, t6 = -1;
  bool behind = false;  ///< t4 is behind t3
  bool swaps = false;   ///< and t6 behind t5: two paths change places
};

/// emit(exchange) for those a move consists of. cities(first, last) counts those of the path from `first` to `last` in its direction
/// before the move.
template <class Cities, class Emit>
VICINITY_HD void exchanges_of(const Move& m, const Cities& cities, const Emit& emit) {
  if (!m.behind) {
    emit(Exchange{m.t1, m.t2, m.t4, m.t3});
    if (m.t5 >= 0) emit(Exchange{m.t1, m.t4, m.t6, m.t5});
    return;
  }
  if (!m.swaps) {
    emit(Exchange{m.t1, m.t2, m.t6, m.t5});
    emit(Exchange{m.t2, m.t5, m.t3, m.t4});
    return;
  }
  // The tour is [t2 .. t5] [t6 .. t3] [t4 .. t1]: any two of the paths that follow each other may change places. The longest stays, of
  // equals the last.
  struct Path {
    std::int32_t first, last, length;
  };
  Path u{m.t2, m.t5, cities(m.t2, m.t5)}, v{m.t6, m.t3, cities(m.t6, m.t3)}, w{m.t4, m.t1, cities(m.t4, m.t1)};
  while (w.length < u.length || w.length < v.length) {
    const Path first = u;
    u = v;
    v = w;
    w = first;
  }
  emit(Exchange{w.last, u.first, v.last, w.first});
  emit(Exchange{w.last, v.last, v.first, u.last});
  emit(Exchange{v.last, u.last, u.first, w.first});
}

/// Where a kick strikes.
struct Kick {
  std::int32_t place;      ///< of p, in the tour that the round began with
  bool up;                 ///< X is on the side of p's neighbour with the higher number
  std::int32_t length[3];  ///< of X, Y and Z
};

/// Kick number `kick` of a walker. Places count from city 0 on, towards its neighbour with the lower number.
VICINITY_HD Kick kick_of(const Task& task, std::uint64_t seed, std::int64_t round, std::int32_t walker, std::int32_t kick, std::int32_t n) {
  const std::uint64_t bits =
      random_bits(seed, static_cast<std::uint64_t>(round), static_cast<std::uint32_t>(walker), static_cast<std::uint32_t>(kick));
  const std::int64_t first = static_cast<std::int64_t>(n) * walker / task.walkers,
                     last = static_cast<std::int64_t>(n) * (walker + 1) / task.walkers;
  Kick k{static_cast<std::int32_t>(first + static_cast<std::int64_t>(scale_to(bits, static_cast<std::uint64_t>(last - first)))),
         (bits & 1) != 0,
         {}};
  const std::int32_t most = (n - 2) / 3 < longest_segment ? (n - 2) / 3 : longest_segment;
  for (int i = 0; i < 3; ++i)
    k.length[i] = 1 + static_cast<std::int32_t>((bits >> (1 + 10 * i) & 1023) * static_cast<std::uint64_t>(most) >> 10);
  return k;
}

/// The ends of a kick: p, X, Y, Z and q.
struct Ends {
  std::int32_t p, x1, x2, y1, y2, z1, z2, q;
};

/// ahead(i) is the i-th city from p = ahead(0) on, on the side that the kick says.
template <class Ahead>
VICINITY_HD Ends ends_of(const Kick& k, const Ahead& ahead) {
  const std::int32_t x = k.length[0], y = x + k.length[1], z = y + k.length[2];
  return {ahead(0), ahead(1), ahead(x), ahead(x + 1), ahead(y), ahead(y + 1), ahead(z), ahead(z + 1)};
}

/// emit(exchange) for the four of a kick: the whole is turned round, then each of its segments.
template <class Emit>
VICINITY_HD void exchanges_of(const Ends& e, const Emit& emit) {
  emit(Exchange{e.p, e.x1, e.z2, e.q});
  emit(Exchange{e.p, e.z2, e.z1, e.y2});
  emit(Exchange{e.z2, e.y2, e.y1, e.x2});
  emit(Exchange{e.y2, e.x2, e.x1, e.q});
}

/// The temperature of each round. It is 0 for 10 n kicks; then follow cycles of 20 n, 40 n, 80 n ... kicks, in each of which it falls
/// linearly towards 0: in cycle c = 1, 2, ... from 1 - (3/4)^c times the mean edge of the first local optimum, since a longer cycle has the
/// time to cool from higher. So the length of the search needs not be known: a shorter one is the beginning of a longer one, and from
/// 30 n kicks on more than a quarter of all are of one cycle that came to its end. Annealing of local optima: Martin, Otto, Felten,
/// "Large-step Markov chains for the traveling salesman problem", Complex Systems 5 (1991).
class Cooling {
 public:
  Cooling() = default;
  /// `length` is that of the first local optimum of `n` cities.
  Cooling(const Task& task, std::int32_t n, std::int64_t length)
      : next_cycle_(rounds_of(task, 20, n)),
        cycle_(rounds_of(task, 10, n)),
        left_(cycle_),
        mean_edge_(static_cast<float>(length) / static_cast<float>(n)) {}

  /// Of the round to come, in units of length.
  [[nodiscard]] float temperature() const {
    return times(times(share_, mean_edge_), static_cast<float>(left_) / static_cast<float>(cycle_));
  }
  /// A round is over. Does a cycle begin?
  [[nodiscard]] bool advance() {
    if (--left_ > 0) return false;
    left_ = cycle_ = next_cycle_;
    next_cycle_ *= 2;
    share_ = plus(0.25f, times(0.75f, share_));
    return true;
  }

 private:
  /// With `sweeps` n kicks in all.
  static std::int64_t rounds_of(const Task& task, std::int64_t sweeps, std::int32_t n) {
    return divide_up(sweeps * n, std::int64_t{task.walkers} * task.kicks);
  }

  std::int64_t next_cycle_ = 1, cycle_ = 1, left_ = 1;  ///< rounds
  float mean_edge_ = 0;
  float share_ = 0;  ///< of it, where the cycle begins
};

/// Is a kick kept that made the tour longer by `loss`, shorter where that is negative?
VICINITY_HD bool keeps(float temperature, std::int64_t loss, std::uint64_t seed, std::int64_t round, std::int32_t walker,
                       std::int32_t kick) {
  if (loss <= 0 || !(temperature > 0)) return loss < 0;
  const std::uint64_t bits = random_bits(seed, static_cast<std::uint64_t>(round), static_cast<std::uint32_t>(walker),
                                         static_cast<std::uint32_t>(kick) | acceptance_draws);
  return static_cast<float>(loss) <= times(temperature, threshold(static_cast<std::uint32_t>(bits)));
}

/// What a search has found.
struct Result {
  tsp::Tour tour;  ///< from city 0 on towards its neighbour with the lower number
  std::int64_t length = 0;
  std::int64_t rounds = 0;
  std::int64_t evaluations = 0;        ///< closed tours that were rated
  std::int64_t kept = 0, dropped = 0;  ///< kicks that walkers kept; of these, dropped when walkers were joined
  Digest digest;                       ///< of each round's length
};

/// Rotates and turns a tour so that it begins with city 0, then its neighbour with the lower number.
[[nodiscard]] tsp::Tour canonical(tsp::Tour tour);

/// The outcome of a case: the best of its restarts, the first of equals. Unfinished searches pass unless `whole`.
[[nodiscard]] Outcome judge(const tsp::Tsp& tsp, const Task& task, const std::vector<Result>& searches, bool whole);

}  // namespace vicinity::tour_search
