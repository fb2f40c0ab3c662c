#pragma once
// Large neighbourhood search with repair by propagation: the contract, beyond the paper (Shaw, "Using constraint programming and local
// search methods to solve vehicle routing problems", CP 1998; adaptive choice: Ropke and Pisinger, Transportation Science 40(4), 2006).
//
// A step is a round. All its neighbourhoods begin with the same incumbent and know nothing of each other; so they may be searched in any
// order, on any processor. Neighbourhood w of a round draws by address, (seed, round, w, draw): an arm (a set of decision variables and a
// shape), how many of the variables are released, a dive (the order of decisions). All others are fixed to the incumbent's values in an
// order that is drawn, too; one that would leave nothing acceptable stays open. What is left is searched depth-first with branch and bound
// to a number of failures and nodes. Fixpoints are unique (network.hpp), and choices follow from the fixpoints and the failed decisions: no
// neighbourhood depends on the order of propagation.
//
// After the round, in the order of w: scores of arms and dives, sizes, and the least (objective, w) that is acceptable becomes the
// incumbent. Acceptable is what is at most `deviation` worse than the best (record-to-record travel, Dueck, J. Comp. Phys. 104, 1993):
// nothing while rounds improve, more and more the longer none does, then again from the best.
//
// Beside the neighbourhoods goes the complete search of the whole tree, a share of nodes each round; when it is through, the best is
// proved. Before all, the linear relaxation (relaxation.hpp) is solved once. Its surrogate is one more constraint of all searches where it
// bounds the objective better than the root does, and its values, rounded, are where the first solution is looked for.
#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "core/methods/lns/cp_search.hpp"
#include "core/util/rng.hpp"

namespace vicinity::lns::repair {

/// Which variables are released together.
enum class Shape : std::uint8_t {
  random,
  consecutive,  ///< that stand together in the model
  walk,         ///< on a random walk from variable to variable over the constraints they share
  terms,        ///< near terms of the objective, the more likely the farther a term is from its best value (cost impact)
  values,       ///< whose values are closest to that of one drawn
  support,      ///< of those whose value is not the commonest one; all that have that value as well
  relaxed,      ///< whose values are not the relaxation's (Danna, Rothberg and Le Pape, Mathematical Programming 102, 2005)
};
inline constexpr int shapes = 7;

struct Dive {
  bool guided;
  RepairValues values;
};
inline constexpr std::array<Dive, 6> dives{{{false, RepairValues::strategy},
                                            {true, RepairValues::strategy},
                                            {true, RepairValues::incumbent},
                                            {true, RepairValues::random},
                                            {true, RepairValues::impact},
                                            {false, RepairValues::impact}}};

/// All that is tuned.
inline constexpr std::int64_t round_neighborhoods = 8;  ///< where the case says nothing
inline constexpr std::int64_t most_failures = 60, most_nodes = 20'000;
inline constexpr std::int64_t sideways_one_in = 4;   ///< so many neighbourhoods look for what is merely acceptable
inline constexpr std::int64_t patience = 25;         ///< rounds without improvement until more is accepted
inline constexpr std::int64_t deviations = 4;        ///< steps of acceptance, the first of which is none
inline constexpr std::int64_t deviation_part = 500;  ///< of the best objective, each step
inline constexpr std::int64_t proof_share =
    3;  ///< neighbourhoods, `round_neighborhoods` at most, have so many times the nodes of the proof's share
inline constexpr std::int64_t hops = 30;  ///< of a walk for each variable that it is to release

/// Draws of one neighbourhood, one after the other.
class Draws {
 public:
  Draws(std::uint64_t seed, std::int64_t round, std::int64_t neighborhood)
      : seed_(seed), round_(static_cast<std::uint64_t>(round)), neighborhood_(static_cast<std::uint32_t>(neighborhood)) {}

  [[nodiscard]] std::uint64_t bits() { return random_bits(seed_, round_, neighborhood_, draw_++); }
  [[nodiscard]] std::size_t below(std::size_t bound) { return static_cast<std::size_t>(scale_to(bits(), bound)); }

 private:
  std::uint64_t seed_, round_;
  std::uint32_t neighborhood_, draw_ = 0;
};

/// Chances by success: each keeps seven eighths of its score and gets an eighth of the reward.
class Roulette {
 public:
  static constexpr std::int64_t least = 8, begin = 64, best = 256, improved = 128;

  explicit Roulette(std::size_t count = 0) : scores_(count, begin) {}
  [[nodiscard]] std::size_t draw(Draws& draws) const {
    auto rest =
        static_cast<std::int64_t>(draws.below(static_cast<std::size_t>(std::accumulate(scores_.begin(), scores_.end(), std::int64_t{0}))));
    std::size_t k = 0;
    while (rest >= scores_[k]) rest -= scores_[k++];
    return k;
  }
  void reward(std::size_t k, std::int64_t reward) { scores_[k] = std::max(least, (7 * scores_[k] + reward) / 8); }

 private:
  std::vector<std::int64_t> scores_;
};

/// A set of decision variables, and how many of them a shape releases.
struct Arm {
  std::size_t set;
  Shape shape;
  std::int64_t released;
};

/// What may be released of a model: the variables of its search annotations, its free variables; of `relax_and_reconstruct` its own alone.
class Neighborhoods {
 public:
  Neighborhoods(const cp::Model& model, const cp::CompiledModel& compiled, std::span<const std::int32_t> free_slots,
                std::span<const std::int32_t> relaxed);

  [[nodiscard]] bool none() const noexcept { return sets_.empty(); }
  /// At the beginning.
  [[nodiscard]] std::vector<Arm> arms() const;
  /// What may be released.
  [[nodiscard]] std::span<const cp::Var> all() const { return sets_.empty() ? std::span<const cp::Var>() : sets_.back(); }
  [[nodiscard]] std::int64_t size(std::size_t set) const { return static_cast<std::int64_t>(sets_[set].size()); }
  /// Does a neighbourhood's success change how many are released?
  [[nodiscard]] bool adaptive() const noexcept { return adaptive_; }
  /// The variables of the set that are kept, in a random order. `incumbent`: [variable of the network].
  [[nodiscard]] std::vector<cp::Var> kept(const Arm& arm, std::int64_t released, std::span<const std::int32_t> incumbent,
                                          Draws& draws) const;

 private:
  struct Term {
    cp::Var variable;
    std::int64_t coefficient;  ///< of what is minimised
  };
  class Released;

  void add(std::vector<cp::Var> set);
  void find_terms();
  /// A variable that shares a constraint with x, other than that which defines the objective; x where there is none.
  [[nodiscard]] cp::Var hop(cp::Var x, Draws& draws) const;
  void walk(cp::Var from, Released& released, Draws& draws) const;
  void near_terms(std::span<const std::int32_t> incumbent, Released& released, Draws& draws) const;
  /// Leaves in the order those whose value is not the commonest, and returns how many of them the part is.
  [[nodiscard]] std::int64_t keep_support(std::vector<cp::Var>& order, std::span<const std::int32_t> incumbent, std::int64_t most) const;
  void near_values(std::span<const cp::Var> set, std::span<const std::int32_t> incumbent, Released& released, Draws& draws) const;

  const cp::Network& network_;
  cp::NetworkView view_;
  std::span<const std::int32_t> relaxed_;  ///< [variable of the network]; may be empty
  cp::Var objective_;
  bool maximise_, adaptive_ = true;
  std::vector<std::vector<cp::Var>> sets_;
  std::int64_t share_ = 10;  ///< per cent that are released first
  std::int32_t sum_ = -1;    ///< the constraint that defines the objective
  std::vector<Term> terms_;
};

}  // namespace vicinity::lns::repair
