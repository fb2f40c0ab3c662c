#pragma once
// The contract of the local searches of Luong, Melab and Talbi: which move is taken. A search is a sequence of move numbers that follows
// from instance, neighbourhood, method and seed alone; how the neighbourhood is evaluated, in which order and by whom, does not matter.
//
// A neighbourhood has M moves, numbered from 0 (core/problems/moves.hpp). The solution a move leads to has a value: a whole number, less is
// better. Each iteration evaluates all M and takes the least of (forbidden, value, number). Best improvement throughout.
//
// Tabu search (paper, section 6; what it leaves open is chosen here). Recency memory a move: a move taken in iteration t is tabu in
// iterations t+1 .. t+tenure, tenure = max(1, M/8) unless given (M/8 is what the authors' group used). A tabu move whose value is below
// the best value found so far is not forbidden (aspiration). When every move is forbidden the order above still names one: the best of
// them. Ends after `iterations`, of which each takes one move.
//
// Hill climbing (section 6.7): the least of (value, number) is taken as long as its value is below the current one; then the climb ends.
// `iterations` counts the moves taken, and the last evaluation of the neighbourhood, which takes none, counts as well.
//
// Restart k of a case is the search with seed + k; restarts know nothing of each other.
#include <cstdint>
#include <limits>

#include "core/util/digest.hpp"
#include "core/util/hd.hpp"

namespace vicinity::local_search {

/// No neighbourhood is larger: moves are numbered in 32 bits.
inline constexpr std::int64_t most_moves = std::numeric_limits<std::int32_t>::max();
/// Iteration numbers and ends of tabu times fit 32 bits.
inline constexpr std::int64_t most_iterations = 1'000'000'000, most_tenure = 1'000'000'000;

enum class Method : std::int32_t { tabu, hill };

/// What a case asks for.
struct Task {
  Method method = Method::tabu;
  std::int64_t iterations = 0;  ///< of a tabu search; the most of a hill climbing (0: until the local optimum)
  std::int64_t restarts = 1;    ///< restart k is the search with seed + k
  std::int64_t tenure = 0;      ///< 0: max(1, M/8)
  std::int64_t threads = 0;     ///< of cpu-openmp; 0: all
  std::int64_t blocks = 0;      ///< of gpu-tuned on tours: a search by rows in so many; 0: as the number of cities asks for

  [[nodiscard]] std::uint64_t seed(std::uint64_t run, std::int64_t restart) const { return run + static_cast<std::uint64_t>(restart); }
  /// The most moves a search may take.
  [[nodiscard]] std::int64_t limit() const { return iterations > 0 ? iterations : most_iterations; }
};

/// Iterations for which a move stays tabu.
VICINITY_HD std::int64_t tenure_of(const Task& task, std::int64_t moves) {
  if (task.tenure > 0) return task.tenure;
  return moves < 8 ? 1 : moves / 8;
}

/// The move that an iteration takes, or the best of a slice [first, last) of the moves: slices combine by better(), in any order.
struct Choice {
  std::int64_t value = std::numeric_limits<std::int64_t>::max();
  std::int64_t move = -1;
  bool forbidden = true;
};

/// The order of choices. Anything is better than no move.
VICINITY_HD bool better(const Choice& x, const Choice& y) {
  if (x.move < 0 || y.move < 0) return x.move >= 0 && y.move < 0;
  if (x.forbidden != y.forbidden) return y.forbidden;
  if (x.value != y.value) return x.value < y.value;
  return x.move < y.move;
}

/// Is a move that is tabu until iteration `until` (exclusive) forbidden in iteration `t`?
VICINITY_HD bool forbids(std::int64_t until, std::int64_t t, std::int64_t value, std::int64_t best_value) {
  return until > t && !(value < best_value);
}

/// What a move taken in iteration `t` is tabu until (exclusive).
VICINITY_HD std::int64_t tabu_until(std::int64_t t, std::int64_t tenure) { return t + 1 + tenure; }

/// (forbidden, difference, number) in one word whose unsigned order is that of better(), for values that are `difference` above the
/// current one: a minimum over any slices, in any order, names the choice. For problems whose differences fit 32 bits.
VICINITY_HD std::uint64_t packed(bool forbidden, std::int32_t difference, std::int64_t move) {
  // 1 bit + 32 bits with the sign turned + 31 bits
  const std::uint64_t ordered = static_cast<std::uint32_t>(difference) ^ 0x80000000u;
  return static_cast<std::uint64_t>(forbidden) << 63 | ordered << 31 | static_cast<std::uint64_t>(move);
}
VICINITY_HD std::int64_t move_of(std::uint64_t packed) { return static_cast<std::int64_t>(packed & 0x7FFFFFFFu); }
VICINITY_HD std::int32_t difference_of(std::uint64_t packed) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(packed >> 31) ^ 0x80000000u);
}

/// How far a search has come, without its solutions.
struct SearchProgress {
  std::int64_t iterations = 0;                ///< moves taken
  std::int64_t neighborhood_evaluations = 0;  ///< neighbourhoods evaluated
  std::int64_t value = 0;                     ///< of the current solution
  std::int64_t best_value = 0;                ///< of the best
  std::int64_t best_iteration = 0;            ///< moves taken when the best was found; 0: the start
  Digest digest;                              ///< of the numbers of the moves taken, in order
  bool at_optimum = false;                    ///< a hill climbing that found no better neighbour

  enum class Step { ended, moved, improved };

  /// The best of all moves is known. It is taken unless a hill climbing ends here.
  VICINITY_HD Step take(const Choice& choice, Method method) {
    ++neighborhood_evaluations;
    if (method == Method::hill && choice.value >= value) {
      at_optimum = true;
      return Step::ended;
    }
    digest.add(static_cast<std::uint64_t>(choice.move));
    value = choice.value;
    ++iterations;
    if (value >= best_value) return Step::moved;
    best_value = value;
    best_iteration = iterations;
    return Step::improved;
  }
  /// Nothing is left to do before iteration `limit`.
  VICINITY_HD bool done(std::int64_t limit) const { return at_optimum || iterations >= limit; }
};

}  // namespace vicinity::local_search
