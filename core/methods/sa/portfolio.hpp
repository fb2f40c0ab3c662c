#pragma once
// The contract of the portfolio of searches for the QAP: robust tabu searches (Taillard 1991, "Robust taboo search for the quadratic
// assignment problem") from the children of a population of elites (a memetic algorithm, as Benlic and Hao 2015), in rounds.
//
// A round: each search makes so many swaps from a start that the population gives it: a random permutation while the population fills, else
// the child of two elites. No search looks at another. What they hand back enters the population a round later, in the order of searches:
// so the children of the next round can be made while the searches of this one are under way. All that decides is a whole number, and every
// random number belongs to (seed, round, search, draw): the result of a number of rounds does not depend on who runs the searches.
//
// A search: iteration t = 1, 2, .. takes the swap of facilities i < j that is least by (forbidden, delta, i, j). Putting facility i on
// location l is tabu until iteration until[i][l], which is 0 at first; a swap is tabu in iteration t where both of its placements are:
// min(until[i][p[j]], until[j][p[i]]) > t. A tabu swap is forbidden unless it leads below the search's best cost so far. After the swap of
// r and s in iteration t, the two placements given up are tabu until t + a for that of r and t + b for that of s, (a, b) = tenures(..).
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/api/case.hpp"
#include "core/api/outcome.hpp"
#include "core/api/run.hpp"
#include "core/problems/qap/qap.hpp"
#include "core/util/digest.hpp"
#include "core/util/hd.hpp"
#include "core/util/rng.hpp"

namespace vicinity::portfolio {

// --- what can be tuned (cpu_ref/sa/README.md says what was tried) ---------------------------------------------------------

/// Searches of a round, unless a case says: four blocks on each multiprocessor of an H100 or H200, which is as many as it runs at a time
/// at n = 100. A CPU of few cores does better with 24.
inline constexpr std::int64_t default_searches = 528;
/// More facilities are for CPUs alone: fewer searches then.
inline constexpr std::int32_t most_on_gpu = 259;
inline constexpr std::int64_t default_searches_beyond = 24;
/// Swaps that a search makes in a round, a facility, unless a case says; at most most_steps: iterations and tabu times fit 16 bits.
inline constexpr std::int32_t steps_per_facility = 12, most_steps = 50'000;
/// Elites of the first population: one for so many searches, at least least_elites.
inline constexpr std::int64_t searches_per_elite = 2, least_elites = 24;
/// Any two elites have this many facilities at different locations.
[[nodiscard]] inline std::int32_t least_distance(std::int32_t n) { return std::max(1, 9 * n / 20); }
/// A population begins anew after this many children an elite of which none improved it, and has then `growth` times as many elites, at
/// most most_elites: a small population ends soon, at the best of small instances; a large one ends later and lower.
inline constexpr std::int64_t most_idle_per_elite = 3, growth = 2, most_elites = 1 << 16;

/// Of all searches.
[[nodiscard]] std::int64_t swaps_of(const Case& c);
/// For `vicinity solve`.
inline const Implementation::Pace pace{.unit = "swaps", .default_work = 1'000'000'000, .anytime = true, .whole_work = swaps_of};

// --- a search -------------------------------------------------------------------------------------------------------------

/// Apart from the draws of iterations, which leave this bit unset.
inline constexpr std::uint32_t population_draws = 0x40000000u;

struct Tenures {
  std::int32_t of_r, of_s;
};
/// The longest that tenures() gives.
[[nodiscard]] VICINITY_HD std::int32_t most_tenure(std::int32_t n) { return 11 * n / 10; }
/// Of iteration t of a search in a round: each uniform in [9n/10, 11n/10], at least 1.
[[nodiscard]] VICINITY_HD Tenures tenures(std::uint64_t seed, std::int64_t round, std::int32_t search, std::int32_t t, std::int32_t n) {
  const std::int32_t least = 9 * n / 10 > 1 ? 9 * n / 10 : 1;
  const std::uint64_t bits =
      random_bits(seed, static_cast<std::uint64_t>(round), static_cast<std::uint32_t>(search), static_cast<std::uint32_t>(t));
  const auto span = static_cast<std::uint64_t>(most_tenure(n) - least + 1);
  return {least + static_cast<std::int32_t>((bits & 0xFFFFFFFFu) * span >> 32),
          least + static_cast<std::int32_t>((bits >> 32) * span >> 32)};
}

// --- the population -------------------------------------------------------------------------------------------------------

/// What a case asks for.
struct Task {
  std::int64_t swaps = 0;                    ///< that all searches make, rounded up to whole rounds
  std::int64_t searches = default_searches;  ///< of a round
  std::int64_t steps = 0;                    ///< swaps of a search in a round; 0: by the size
  std::int64_t threads = 0;                  ///< of the CPU; 0: all
};
/// Of a case of n facilities: `chains` are the searches of a round, `leg` the swaps of a search, which are no more by default than one
/// round takes to make all. Throws InputError.
[[nodiscard]] Task task_of(const Case& c, std::int32_t n);

/// A permutation and its cost.
struct Elite {
  std::int64_t cost = 0;
  qap::Permutation p;
};

/// Facilities that two permutations of one size have at different locations.
[[nodiscard]] std::int32_t distance(const qap::Permutation& x, const qap::Permutation& y);

/// Draws for the work of the host between rounds, of one search.
class Draws {
 public:
  Draws(std::uint64_t seed, std::int64_t round, std::int32_t search)
      : seed_(seed), round_(static_cast<std::uint64_t>(round)), search_(static_cast<std::uint32_t>(search)) {}
  /// A whole number of [0, bound).
  [[nodiscard]] std::int32_t below(std::size_t bound) {
    return static_cast<std::int32_t>(scale_to(random_bits(seed_, round_, search_, population_draws + draw_++), bound));
  }

 private:
  std::uint64_t seed_, round_;
  std::uint32_t search_, draw_ = 0;
};

/// A uniform permutation (Fisher and Yates).
[[nodiscard]] qap::Permutation random_permutation(std::int32_t n, Draws& draws);
/// The child of two permutations (uniform crossover of Tate and Smith 1995): keeps what they share; facility by facility in random order
/// takes the location of one or the other, drawn, where it is free, else the other's; the facilities left over share the free locations at
/// random. O(n).
[[nodiscard]] qap::Permutation crossover(const qap::Permutation& x, const qap::Permutation& y, Draws& draws);

/// The elites, and what becomes of what the searches of a round hand back. A round: starts_of_next() at any time while its searches are
/// under way, then merge() of what they hand back.
class Population {
 public:
  /// The first search of the first round starts from `start.solution`, where there is one. Throws InputError when it is no permutation.
  Population(const qap::Qap& qap, const Task& task, const Start& start);

  /// Of this round: where search b starts.
  [[nodiscard]] const qap::Permutation& start_of(std::int32_t b) const { return starts_[static_cast<std::size_t>(b)]; }
  /// Of the next round, once made.
  [[nodiscard]] const qap::Permutation& next_start_of(std::size_t b) const { return next_starts_[b]; }
  /// Swaps that a search makes in a round.
  [[nodiscard]] std::int32_t steps() const noexcept { return steps_; }

  /// Takes in what the round before handed back, and makes the starts of the next: each(count, f) calls f(b) for all b of [0, count), in
  /// any order.
  template <class Each>
  void make_next(const Each& each) {
    if (made_) return;
    add_handed(digest_);
    take_in();
    next_starts_.resize(starts_.size());
    each(starts_.size(), [&](std::size_t b) { next_starts_[b] = new_start(static_cast<std::int32_t>(b), rounds_ + 1); });
    if (filling_ > 0) --filling_;
    made_ = true;
  }
  /// Ends the round, for which make_next() has been called. `handed`: the best of each search.
  void merge(std::vector<Elite> handed);
  /// Takes a solution if it is the best so far. Decides nothing else.
  void offer(const Elite& elite);

  /// Whole ones, and the swaps made in them.
  [[nodiscard]] std::int64_t rounds() const noexcept { return rounds_; }
  [[nodiscard]] std::int64_t swaps() const noexcept { return rounds_ * static_cast<std::int64_t>(starts_.size()) * steps_; }
  [[nodiscard]] std::int64_t restarts() const noexcept { return restarts_; }
  [[nodiscard]] const Elite& best() const noexcept { return best_; }
  /// In order of cost, those of equal cost in the order in which they came. Any two are least_distance() apart.
  [[nodiscard]] std::span<const Elite> elites() const noexcept { return elites_; }
  /// Of all that was handed back.
  [[nodiscard]] std::uint64_t digest() const {
    Digest digest = digest_;
    if (!made_) add_handed(digest);
    return digest.value();
  }

 private:
  void add_handed(Digest& digest) const;
  void take_in();
  /// Where it is better than all elites that are near, it takes their place; and that of the worst where there is no room. Does it improve
  /// the population, by more than to be its worst?
  bool insert(const Elite& elite);
  [[nodiscard]] std::int64_t rounds_of_filling() const;
  /// Of search b.
  [[nodiscard]] qap::Permutation new_start(std::int32_t b, std::int64_t round) const;

  std::int32_t n_;
  std::uint64_t seed_;
  std::int64_t most_elites_;
  std::int32_t steps_;
  std::vector<qap::Permutation> starts_, next_starts_;
  bool made_ = false;          ///< are those of the next round, and is what was handed in the digest?
  std::vector<Elite> handed_;  ///< by the last round
  std::vector<Elite> elites_;
  Elite best_;
  std::int64_t rounds_ = 0, restarts_ = 0;
  std::int64_t filling_;   ///< rounds of random starts to come, the next among them
  bool stale_ = false;     ///< what the next take_in() finds are children of elites that are no more
  std::int64_t idle_ = 0;  ///< children since one improved it
  Digest digest_;          ///< of what has been taken in, which takes long: beside the searches
};

/// What a portfolio has come to.
struct Result {
  std::int64_t rounds = 0, restarts = 0;
  std::int64_t swaps = 0;
  std::uint64_t digest = 0;
  Elite best;
};
[[nodiscard]] Result result_of(const Population& population);
/// Judged by the oracle.
[[nodiscard]] Outcome judge(const qap::Qap& qap, const std::vector<Result>& results);

}  // namespace vicinity::portfolio
