#pragma once
// What happens between two generations of the hybrid search: what each line is to do, and what becomes of what it hands back. On the host,
// the same for all twins, which do the work of a line.
//
// Lines belong to islands of 128, the last of which may be smaller; every island has its population and penalties. In a generation three
// lines of four are genetic: each makes a child and improves it. The fourth anneals: it goes on with steps of string removal from where it
// was, until a cycle ends.
//
// A genetic line cuts `order` into routes by split under its penalties, and improves them by local search; of an infeasible optimum it goes
// on under ten times the penalties, and then under the strictest, while it stays infeasible. It hands back the last solution.
//
// An annealing line which begins takes `routes`, or cuts `order` and improves it by local search under its penalties; from then on it has
// penalties of its own (hybrid.hpp). It makes steps_of() steps. When a cycle ends, it hands back the best feasible solution of the cycle,
// or, where there was none, its current one, improved by local search under the strictest penalties.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "core/methods/alns/hybrid/granular.hpp"
#include "core/methods/alns/hybrid/hybrid.hpp"
#include "core/methods/alns/hybrid/population.hpp"
#include "core/problems/vrp/vrp.hpp"

namespace vicinity::alns::hybrid {

inline constexpr std::int32_t lines_of_island = 128, lines_of_kind = 4;
/// Does line b anneal?
[[nodiscard]] constexpr bool anneals(std::int32_t b) { return b % lines_of_kind == lines_of_kind - 1; }

/// Children of an island that are cuts of drawn orders, after a start; children without a better solution after which it starts anew, and
/// that it makes from then on before it takes in others' best, which would end it: both double with each start; generations between two
/// migrations.
inline constexpr std::int64_t first_children = 24, most_idle_children = 6'000, secluded_children = 5'000, migration = 10;
/// Generations between two recombinations of pooled routes, and until the result of one counts.
inline constexpr std::int64_t recombination = 50;

/// Lines of a search that names no number, on the CPU, and of any the removals of an annealing line in a generation (steps_of()); cycles
/// without a better solution that end a search without a limit.
inline constexpr std::int32_t default_lines = 16, default_removals = 20;
inline constexpr std::int64_t most_idle_cycles = 6;

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
};

class Islands {
 public:
  /// `removals`: of steps_of(); `given`: a feasible solution to begin with. `beside`: routes are recombined by a thread of their own beside
  /// the generations, to the same result.
  Islands(const vrp::Vrp& vrp, std::int32_t lines, std::int32_t removals, std::uint64_t seed, std::optional<Routes> given, bool beside);
  ~Islands() { stop_ = true; }
  Islands(const Islands&) = delete;
  Islands& operator=(const Islands&) = delete;

  [[nodiscard]] const Granular& granular() const noexcept { return granular_; }
  /// The next generation begins.
  void next();
  /// Of line b in this generation. May be called by several threads.
  [[nodiscard]] Job job(std::int32_t b) const;
  /// f(i) for i of [0, count), by one thread or several.
  using Each = std::function<void(std::size_t count, const std::function<void(std::size_t)>& f)>;
  /// Islands take in what their lines hand back; `handed` has an element for each line, that of an annealing line within a cycle unread.
  void merge(std::span<Handed> handed, const Each& each);
  /// The generation ends, after all islands have merged.
  void end();
  /// Takes a feasible solution if it is the best so far.
  void offer(const Routes& routes, std::int64_t distance);

  /// Islands.
  [[nodiscard]] std::size_t size() const noexcept { return islands_.size(); }
  /// Whole ones.
  [[nodiscard]] std::int64_t generations() const noexcept { return generations_; }
  [[nodiscard]] std::int64_t cycles() const noexcept { return schedule_.cycle(); }
  [[nodiscard]] bool cycle_ends() const noexcept { return schedule_.ends(); }
  /// Cycles without a better solution.
  [[nodiscard]] std::int64_t idle_cycles() const noexcept { return idle_cycles_; }
  [[nodiscard]] const Routes& best() const noexcept { return best_; }
  [[nodiscard]] const std::optional<std::int64_t>& best_distance() const noexcept { return best_distance_; }

 private:
  struct Island {
    Population population;
    std::int64_t children = 0;                  ///< since its start
    std::int64_t secluded = first_children;     ///< children before it takes in others' best
    std::int64_t idle = 0;                      ///< since its best was found
    std::int64_t patience = 1;                  ///< 2^starts
    std::optional<std::int64_t> distance = {};  ///< of its best since its start
  };

  [[nodiscard]] std::vector<std::int32_t> first_order(bool around_depot, Stream& stream) const;
  void merge(std::size_t i, std::span<const Handed> handed, std::span<std::optional<Population::Arrival>> arrivals);
  void migrate();
  void recombine();

  vrp::View vrp_;
  std::uint64_t seed_;
  Granular granular_;
  Schedule schedule_;
  std::vector<Island> islands_;
  std::vector<std::optional<Population::Arrival>> arrivals_;  ///< [b]
  RoutePool pool_;
  std::vector<char> fresh_;  ///< [b] an annealing line that began its cycle with no other's solution
  std::int64_t generations_ = 0;
  Routes best_;
  std::optional<std::int64_t> best_distance_;
  std::int64_t idle_cycles_ = 0;
  bool improved_ = false;  ///< in this cycle
  bool beside_;
  std::atomic<bool> stop_ = false;  ///< the recombination under way
  std::future<Routes> recombined_;  // last: it waits for what reads the others
};

}  // namespace vicinity::alns::hybrid
