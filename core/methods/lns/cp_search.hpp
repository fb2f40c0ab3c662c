#pragma once
// Depth-first search with propagation, and branch and bound: complete unless a limit ends it or neighbourhoods are searched alone.
//
// Nodes: a decision is tried, propagated to the fixpoint; where that fails, the last decision is taken back and its opposite propagated. A
// solution bounds the objective for all that follows. A restart takes all decisions back; after `restarts` failures, of which failures
// of constraints and the best solution guide later choices; with relax_and_reconstruct it first fixes a random part of the best solution.
// A neighbourhood (repair.hpp) is such a part that is given. There the choices follow from the neighbourhood alone: a failure counts for
// the variable whose decision failed, not for the constraint that happened to be propagated first. Cost of a node: propagation, and a pass
// over the open variables of a phase (of input_order: those from the first open one on).
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/methods/lns/branching.hpp"
#include "core/problems/cp/compile.hpp"
#include "core/problems/cp/propagation.hpp"

namespace vicinity::lns {

struct SearchLimits {
  std::int64_t nodes = std::numeric_limits<std::int64_t>::max();
  std::int64_t failures = std::numeric_limits<std::int64_t>::max();
  std::optional<std::chrono::steady_clock::time_point> deadline;
  const std::atomic<bool>* stop = nullptr;  ///< true: end as soon as possible, and for good where that is amid propagation
};

/// Which values are tried first in a neighbourhood.
enum class RepairValues : std::uint8_t {
  strategy,   ///< as the model says
  incumbent,  ///< that of the incumbent
  random,
  impact,  ///< with which propagation leaves the objective the best bound (Fages and Prud'homme, "Making the first solution good!", ICTAI
           ///< 2017)
};

/// Of larger domains no value is tried for its impact.
inline constexpr std::int64_t most_tried = 64;

struct Neighborhood {
  std::span<const std::int32_t> incumbent;  ///< [variable of the network]
  std::span<const cp::Var> kept;            ///< to be fixed, in this order; what leaves nothing acceptable stays open
  std::optional<std::int64_t> bound;        ///< the worst objective that is acceptable
  bool guided = false;                      ///< variables by domain over failures; else in the model's order
  RepairValues values = RepairValues::strategy;
  std::uint64_t seed = 0;
};

struct SearchStatistics {
  std::int64_t nodes = 0, failures = 0, restarts = 0, solutions = 0, propagations = 0, depth = 0;
};

class CpSearch {
 public:
  enum class Status : std::uint8_t {
    solution,   ///< one is found: values()
    exhausted,  ///< there is no other: the last one, if any, is the best
    limit,
  };

  /// `free`: restarts, failures and the best solution guide the search, where the strategy does not say otherwise.
  CpSearch(const cp::Model& model, const cp::CompiledModel& compiled, Strategy strategy, std::uint64_t seed, bool free);

  /// Goes on to the next solution, which is better than all before if there is a goal.
  [[nodiscard]] Status next(const SearchLimits& limits);
  /// Takes all decisions back and goes into a neighbourhood: next() finds what is acceptable in it, each better than the one before.
  void open(const Neighborhood& neighborhood);
  /// A solution found elsewhere, [variable of the network]: next() looks for a better one.
  void tighten(std::span<const std::int32_t> solution);
  /// Of the last solution: [variable of the network].
  [[nodiscard]] std::span<const std::int32_t> values() const noexcept { return best_; }
  [[nodiscard]] bool found() const noexcept { return statistics_.solutions > 0; }
  [[nodiscard]] SearchStatistics statistics() const;
  [[nodiscard]] bool begun() const noexcept { return begun_; }
  /// What the objective can be at best, as far as the root knows.
  [[nodiscard]] std::int64_t root_bound() const noexcept { return root_bound_; }

 private:
  struct Node {
    Decision decision;
    std::size_t phase;
    std::int32_t open;   ///< of that phase
    std::int32_t first;  ///< of input_order: where its open variables begin
  };
  /// A phase under way: variables with positions below `open` may be open, those behind are fixed.
  struct OpenPhase {
    const Phase* phase;
    std::vector<std::int32_t> order;  ///< positions in the phase
    std::int32_t open;
    std::int32_t first;
  };

  [[nodiscard]] bool begin();
  [[nodiscard]] std::optional<Decision> choose();
  [[nodiscard]] cp::Var select(OpenPhase& phase);
  [[nodiscard]] bool better(VariableChoice choice, cp::Var x, cp::Var y) const;
  [[nodiscard]] bool descend(const Decision& decision);
  [[nodiscard]] bool backtrack();
  [[nodiscard]] bool restart();
  void dive();
  [[nodiscard]] bool reconstruct();
  [[nodiscard]] bool bounded();
  [[nodiscard]] bool propagate();
  void fix(std::span<const cp::Var> kept);
  [[nodiscard]] std::optional<Decision> decision_by_impact(cp::Var x);
  [[nodiscard]] std::int64_t objective_of(std::span<const std::int32_t> solution) const;
  [[nodiscard]] bool spent(const SearchLimits& limits);
  void note_solution();
  void leave_introduced();
  void to_root();

  const cp::Model& model_;
  const cp::CompiledModel& compiled_;
  const cp::Network& network_;
  Strategy strategy_;
  std::vector<Phase> free_phases_, dive_phases_;
  cp::Store store_;
  cp::Propagation propagation_;
  std::vector<OpenPhase> phases_, guided_, diving_;  ///< by the strategy; those of a free search; an array of the model after the other
  std::size_t arrays_ = 0;                           ///< of the last, the first
  std::vector<OpenPhase>* current_ = &phases_;
  std::size_t phase_ = 0;
  std::vector<Node> nodes_;
  cp::Var decided_ = 0;                 ///< by the last decision
  std::optional<std::int64_t> bound_;   ///< the worst objective that is acceptable
  std::optional<RepairValues> repair_;  ///< of the neighbourhood that is given
  std::vector<std::int32_t> best_;
  std::vector<std::int64_t> weights_;  ///< [variable] failures of its constraints
  std::vector<std::int32_t> hints_;
  std::vector<bool> hinted_;
  std::uint64_t seed_;
  bool free_, begun_ = false, exhausted_ = false, fresh_ = false, neighborhood_ = false, tightened_ = false;
  std::int64_t cutoff_ = std::numeric_limits<std::int64_t>::max(), failures_at_restart_ = 0, root_bound_ = 0;
  std::uint64_t draws_ = 0;
  SearchStatistics statistics_;
};

}  // namespace vicinity::lns
