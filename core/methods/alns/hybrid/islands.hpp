#pragma once
// All islands of a search, and what they tell each other (island.hpp has what each does by itself): every 25 generations the best of each
// goes on to the next one, every 50 the routes of all members are put together anew.
//
// Ranks share the lines: each has whole islands where there are as many as ranks, else lines. A rank keeps the islands that it has lines
// of, and no others. What travels: of every generation the distances that lines came to, for the digest, and a better solution than the
// best; migrants; members whose routes are pooled, which every rank recombines for itself; and what lines hand back where several ranks
// have lines of an island, which all of them keep. Every rank knows best, digest and counts of the whole search.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <future>
#include <optional>
#include <span>
#include <vector>

#include "core/api/team.hpp"
#include "core/methods/alns/hybrid/granular.hpp"
#include "core/methods/alns/hybrid/island.hpp"
#include "core/methods/alns/hybrid/population.hpp"
#include "core/methods/alns/hybrid/route_pool.hpp"
#include "core/methods/alns/hybrid/words.hpp"
#include "core/problems/vrp/vrp.hpp"
#include "core/util/digest.hpp"

namespace vicinity::alns::hybrid {

/// Generations between two migrations, and between two recombinations of pooled routes, which is how long the result of one takes to count.
inline constexpr std::int64_t migration = 25, recombination = 50;
/// Cycles without a better solution that end a search without a limit.
inline constexpr std::int64_t most_idle_cycles = 6;

class Islands {
 public:
  /// `removals`: of Pace; `given`: a feasible solution to begin with; without one the best is Granular's cut, where it is
  /// feasible, until lines find better ones. `beside`: routes are recombined by a thread of their own beside the generations, to the same
  /// result. `team`: the ranks, which call exchange(), agree_on_best() and end() together; null: this process has all lines. It outlives
  /// this.
  Islands(const vrp::Vrp& vrp, std::int32_t lines, std::int32_t removals, std::uint64_t seed, std::optional<Routes> given, bool beside,
          Team* team = nullptr);
  ~Islands() { stop_ = true; }
  Islands(const Islands&) = delete;
  Islands& operator=(const Islands&) = delete;

  [[nodiscard]] const Granular& granular() const noexcept { return granular_; }
  /// Of this rank: lines first_line() .. end_line() - 1, and the islands that have some of them.
  [[nodiscard]] std::int32_t first_line() const noexcept { return first_line(rank()); }
  [[nodiscard]] std::int32_t end_line() const noexcept { return first_line(rank() + 1); }
  [[nodiscard]] std::span<Island> here() noexcept { return islands_; }
  /// The island of line b, one of those here.
  [[nodiscard]] Island& of(std::int32_t b) { return islands_[static_cast<std::size_t>(b / lines_of_island - first_island_)]; }
  [[nodiscard]] const Island& of(std::int32_t b) const { return islands_[static_cast<std::size_t>(b / lines_of_island - first_island_)]; }

  /// Have several ranks lines of an island? What lines hand back is then to be exchanged before it is merged.
  [[nodiscard]] bool shared() const noexcept { return shared_; }
  /// Generations until islands tell each other something: so many may be ended at once.
  [[nodiscard]] std::int64_t until_end() const;
  /// `handed`: [line]; in place come those of other ranks' lines whose islands are here.
  void exchange(std::span<Handed> handed) const;
  /// After islands have merged `count` generations, at most until_end(). `evaluations`: of this rank's lines so far.
  void end(std::int64_t count, std::int64_t evaluations);
  /// What islands were offered in a generation that has not ended counts.
  void agree_on_best(std::int64_t evaluations);

  // --- of the whole search, as of the last end() or agree_on_best() --------------------------------------------------------------------

  /// Whole ones.
  [[nodiscard]] std::int64_t generations() const noexcept { return generations_; }
  [[nodiscard]] std::int64_t cycles() const noexcept { return schedule_.cycle(); }
  /// Cycles without a better solution.
  [[nodiscard]] std::int64_t idle_cycles() const noexcept { return idle_cycles_; }
  [[nodiscard]] const Routes& best() const noexcept { return best_.routes; }
  [[nodiscard]] std::optional<std::int64_t> best_distance() const noexcept {
    return best_.routes.empty() ? std::nullopt : std::optional(best_.distance);
  }
  [[nodiscard]] std::int64_t evaluations() const noexcept { return evaluations_; }
  /// Of the distances that lines came to, generation by generation.
  [[nodiscard]] std::uint64_t digest() const noexcept { return digest_.value(); }

 private:
  [[nodiscard]] std::int32_t rank() const { return team_ != nullptr ? team_->rank() : 0; }
  [[nodiscard]] std::int32_t ranks() const { return team_ != nullptr ? team_->size() : 1; }
  [[nodiscard]] std::int32_t first_line(std::int32_t rank) const;
  [[nodiscard]] std::int32_t all_islands() const { return (lines_ + lines_of_island - 1) / lines_of_island; }
  [[nodiscard]] bool shared(std::int32_t island) const;
  /// Islands whose first line is this rank's, which speaks for them.
  [[nodiscard]] std::vector<const Island*> own() const;
  [[nodiscard]] std::vector<std::vector<std::int64_t>> gathered(const Words& mine) const;
  void put_best(std::int64_t evaluations, Words& mine) const;
  void take_best(std::span<WordsOf> ranks);
  void offer(Incumbent best);
  void migrate();
  void recombine();

  vrp::View vrp_;
  Team* team_;
  std::int32_t lines_;
  Granular granular_;
  Schedule schedule_;
  std::vector<Island> islands_;  ///< those here
  std::int32_t first_island_;
  bool shared_;
  RoutePool pool_;
  std::int64_t generations_ = 0, evaluations_ = 0;
  Digest digest_;
  Incumbent best_;
  std::int64_t idle_cycles_ = 0;
  std::int64_t before_cycle_ = no_distance;  ///< the best distance when the last cycle ended
  bool beside_;
  std::atomic<bool> stop_ = false;  ///< the recombination under way
  std::future<Routes> recombined_;  // last: it waits for what reads the others
};

}  // namespace vicinity::alns::hybrid
