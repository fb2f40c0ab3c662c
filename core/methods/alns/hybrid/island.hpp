#pragma once
// An island of the hybrid search between two generations: what each of its lines is to do, and what becomes of what they hand back. On the
// host, the same for all twins, which do the work of a line.
//
// An island has 128 lines, the last one of a search maybe fewer, a population and penalties. What it does in a generation depends on no
// other island. Three lines of four are genetic: each makes a child and improves it. The fourth anneals: it goes on with steps of string
// removal from where it was, until a cycle ends.
//
// A genetic line cuts `order` into routes by split under its penalties, and improves them by local search; of an infeasible optimum it goes
// on under ten times the penalties, and then under the strictest, while it stays infeasible. It hands back the last solution.
//
// An annealing line which begins takes `routes`, or cuts `order` and improves it by local search under its penalties; from then on it has
// penalties of its own (hybrid.hpp). It makes steps_of() steps. When a cycle ends, it hands back the best feasible solution of the cycle,
// or, where there was none, its current one, improved by local search under the strictest penalties.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "core/methods/alns/hybrid/granular.hpp"
#include "core/methods/alns/hybrid/hybrid.hpp"
#include "core/methods/alns/hybrid/population.hpp"
#include "core/problems/vrp/vrp.hpp"

namespace vicinity::alns::hybrid {

inline constexpr std::int32_t lines_of_island = 128, lines_of_kind = 4;
/// Does line b anneal?
[[nodiscard]] constexpr bool anneals(std::int32_t b) { return b % lines_of_kind == lines_of_kind - 1; }

/// Children of an island that are cuts of drawn orders, after a start; children without a better solution after which a start ends, twice
/// as many where two were joined.
inline constexpr std::int64_t first_children = 24, most_idle_children = 6'000;

/// Lines of a search that names no number, on the CPU.
inline constexpr std::int32_t default_lines = 16;

/// What an infeasible local optimum is improved under: ten times the penalties, and then the strictest.
[[nodiscard]] VICINITY_HD Penalties stricter(const Penalties& penalties) {
  return {10 * penalties.load < most_penalty ? 10 * penalties.load : most_penalty,
          10 * penalties.duration < most_penalty ? 10 * penalties.duration : most_penalty};
}
[[nodiscard]] VICINITY_HD Penalties strictest() { return {most_penalty, most_penalty}; }

/// Of a line's best solution while there is none.
inline constexpr std::int64_t no_distance = std::numeric_limits<std::int64_t>::max();

/// What a line is to do in a generation.
struct Job {
  std::vector<std::int32_t> order;  ///< to be cut into routes; empty: not
  Routes routes;                    ///< to begin with as they are; empty: not
  Penalties penalties{};            ///< of the island
  double temperature = 0, cooling = 0;
  std::int64_t steps = 0;  ///< of string removal
  bool ends = false;       ///< an annealing line's cycle

  [[nodiscard]] bool begins() const noexcept { return !order.empty() || !routes.empty(); }
};

/// What a line hands back: a genetic one in every generation, an annealing one at the end of a cycle.
struct Handed {
  Routes routes;
  bool load_feasible = false, duration_feasible = false;  ///< the first local optimum of a child
  std::int64_t distance = 0;                              ///< of a genetic line's routes; of an annealing one's best, in every generation
};

/// A feasible solution, the least (distance, generation, place): which one is the best does not depend on who offers first.
struct Incumbent {
  std::int64_t distance = no_distance, generation = 0, place = 0;
  Routes routes = {};  ///< empty: it is known elsewhere, or there is none

  [[nodiscard]] bool before(const Incumbent& other) const {
    return std::tie(distance, generation, place) < std::tie(other.distance, other.generation, other.place);
  }
};

class Island {
 public:
  /// Lines first .. first + lines - 1 of the search. `granular` outlives it.
  Island(const vrp::Vrp& vrp, const Granular& granular, const Pace& pace, std::uint64_t seed, std::int32_t first, std::int32_t lines);

  [[nodiscard]] std::int32_t first() const noexcept { return first_; }
  [[nodiscard]] std::int32_t lines() const noexcept { return static_cast<std::int32_t>(fresh_.size()); }
  /// Whole ones.
  [[nodiscard]] std::int64_t generations() const noexcept { return generations_; }

  // --- a generation ------------------------------------------------------------------------------------------------------------------

  /// It begins.
  void next();
  /// Of line b of the search. May be called by several threads.
  [[nodiscard]] Job job(std::int32_t b) const;
  /// Does what line b hands back count in this generation?
  [[nodiscard]] bool hands_over(std::int32_t b) const { return !anneals(b) || schedule_.ends(); }
  /// Would a feasible solution of line b be the best one known here? `handed`: it is what the line hands back, else an annealing line's
  /// best.
  [[nodiscard]] bool improves(std::int32_t b, bool handed, std::int64_t distance) const { return key(b, handed, distance).before(best_); }
  /// Takes it if so.
  void offer(std::int32_t b, bool handed, std::int64_t distance, const Routes& routes);
  /// f(i) for i of [0, count), by one thread or several.
  using Each = std::function<void(std::size_t count, const std::function<void(std::size_t)>& f)>;
  /// The generation ends: takes in handed(k), what line k of the island hands back, asked for once; routes that do not count are not read.
  void merge(const std::function<Handed(std::size_t k)>& handed, const Each& each);

  // --- with others -------------------------------------------------------------------------------------------------------------------

  [[nodiscard]] const Population& population() const noexcept { return population_; }
  /// Distances that lines handed back in merge() since the last call, [generation][line].
  [[nodiscard]] std::vector<std::int64_t> take_distances() { return std::exchange(distances_, {}); }
  /// The best one known here; it has routes if it was offered here since know().
  [[nodiscard]] const Incumbent& best() const noexcept { return best_; }
  /// That of all islands.
  void know(const Incumbent& best) { best_ = {best.distance, best.generation, best.place}; }
  /// A solution from elsewhere, which an island does not take that has just begun, or begun anew until it is joined.
  void welcome(Individual individual);
  /// One to begin with.
  void begin_with(const Individual& individual);

 private:
  [[nodiscard]] Incumbent key(std::int32_t b, bool handed, std::int64_t distance) const {
    return {distance, generations_, 2 * std::int64_t{b} + (handed ? 1 : 0)};
  }
  [[nodiscard]] std::vector<std::int32_t> first_order(bool around_depot, Stream& stream) const;
  void align(Handed handed, std::size_t k);
  void add(std::size_t k, const Each& each);
  void end_generation();
  void end_start();

  /// What a start came to that waits for another of its patience.
  struct Ended {
    std::int64_t patience;
    std::vector<Individual> members;
  };

  vrp::View vrp_;
  const Granular* granular_;
  std::uint64_t seed_;
  std::int32_t first_;
  bool hastens_;
  Schedule schedule_;
  Population population_;
  std::vector<std::optional<Population::Arrival>> arrivals_;  ///< [line]
  std::vector<Handed> handed_;                                ///< [line] without routes
  std::vector<char> fresh_;                                   ///< [line] an annealing line that began its cycle with no other's solution
  std::vector<std::int64_t> distances_;                       ///< of take_distances()
  std::int64_t generations_ = 0;
  std::int64_t children_ = 0;                  ///< since its start
  std::int64_t idle_ = 0;                      ///< since its best was found
  std::int64_t patience_ = 1;                  ///< starts that were joined
  std::vector<Ended> ended_;                   ///< of falling patience
  bool begun_anew_ = false;                    ///< ever
  std::optional<std::int64_t> distance_ = {};  ///< of its best since its start
  Incumbent best_;                             ///< known here; with routes if it was offered here
};

}  // namespace vicinity::alns::hybrid
