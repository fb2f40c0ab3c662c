#pragma once
// A search by rounds (repair.hpp) but for its neighbourhoods, which a Searchers searches: on threads of the host, or on a device. What is
// around them is here once: the relaxation, the first solution, draws, the share of the proof, exchanges, what is learnt.
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/api/run.hpp"
#include "core/methods/lns/exchanges.hpp"
#include "core/methods/lns/feasibility_jump.hpp"
#include "core/methods/lns/repair.hpp"
#include "core/methods/lns/task.hpp"
#include "core/util/digest.hpp"
#include "core/util/interruption.hpp"

namespace vicinity::lns::repair {

/// What is minimised.
struct CostOf {
  cp::Var objective;
  std::int64_t sign;  ///< 0: the model has no goal

  [[nodiscard]] std::int64_t operator()(std::span<const std::int32_t> values) const {
    return sign == 0 ? 0 : sign * values[static_cast<std::size_t>(objective)];
  }
};

/// Of a neighbourhood, or of the proof's share.
struct Found {
  bool exhausted = false;
  std::int64_t nodes = 0, failures = 0;
  std::int64_t cost = inconsistent;
  std::vector<std::int32_t> values;  ///< [variable of the network]
};

/// A neighbourhood of the incumbent.
struct Drawn {
  std::size_t arm = 0, dive = 0;  ///< dives.size(): sideways, of no dive
  std::vector<cp::Var> kept;
  std::int64_t bound = 0;  ///< the worst objective that is acceptable
  Dive how{};
  std::uint64_t seed = 0;
  bool one = false;  ///< a first solution is enough
};

/// The neighbourhoods of a round, and what goes beside.
struct Round {
  std::span<const std::int32_t> incumbent;         ///< [variable of the network]
  const std::function<Drawn(std::int64_t)>& draw;  ///< neighbourhood k; by any thread
  std::span<Found> found;                          ///< [neighbourhood]
  std::int64_t others;                             ///< pieces of work; the first takes about as long as a few neighbourhoods
  const std::function<void(std::int64_t)>& other;  ///< piece k; by any thread
};

class Searchers {
 public:
  Searchers() = default;
  virtual ~Searchers() = default;
  Searchers(const Searchers&) = delete;
  Searchers& operator=(const Searchers&) = delete;

  /// Before all rounds. The caller keeps both alive.
  virtual void set_up(const cp::Problem& problem, const cp::CompiledModel& compiled) = 0;
  /// All neighbourhoods and all other work. Throws Interrupted.
  virtual void search(const Round& round, const Interruption& interruption) = 0;
};

/// Each neighbourhood by one of these.
[[nodiscard]] std::unique_ptr<CpSearch> searcher(const cp::Problem& problem, const cp::CompiledModel& compiled);
/// By one thread of the host. Throws Interrupted.
[[nodiscard]] Found search_neighborhood(CpSearch& search, const Drawn& drawn, std::span<const std::int32_t> incumbent, const CostOf& cost,
                                        const Interruption& interruption);
[[nodiscard]] CostOf cost_of(const cp::Problem& problem, const cp::CompiledModel& compiled);

struct Result {
  Search search;
  bool proved = false;  ///< nothing is better than the best, or nothing is a solution
  std::int64_t nodes = 0, failures = 0, neighborhoods = 0;
};

/// A search under way. Its steps are rounds, and slices until there is a solution.
class Rounds {
 public:
  /// The caller keeps the problem and the searchers alive.
  Rounds(const cp::Problem& problem, const Task& task, const Start& start, Searchers& searchers);

  /// What takes long before the first step.
  void set_up(const Interruption& interruption);
  /// One step. After an interruption none follows.
  void step(const Interruption& interruption);
  [[nodiscard]] bool done() const { return result_.proved || steps() == task_.whole(); }
  [[nodiscard]] std::int64_t steps() const { return result_.search.steps; }
  [[nodiscard]] TracePoint progress() const;
  [[nodiscard]] Result result() const;

 private:
  void strengthen(const Interruption& interruption);
  [[nodiscard]] bool satisfies() const { return cost_of_.sign == 0; }
  [[nodiscard]] std::int64_t sign() const { return cost_of_.sign; }

  void find_first(const Interruption& interruption);
  [[nodiscard]] Found round_relaxation(const Interruption& interruption);
  [[nodiscard]] std::vector<std::int32_t> complete(std::span<const std::int32_t> values, const Interruption& interruption);
  void begin_with(std::vector<std::int32_t> first);
  void note_best();
  [[nodiscard]] std::vector<std::int32_t> of_model(std::span<const std::int32_t> values) const;

  void round(const Interruption& interruption);
  [[nodiscard]] Drawn draw(std::int64_t k) const;
  [[nodiscard]] std::int64_t deviation() const;
  [[nodiscard]] Found prove(std::int64_t nodes, std::int64_t failures, const Interruption& interruption);
  struct Chosen {
    std::size_t arm, dive;
  };
  void merge(const std::vector<Found>& all, const std::vector<Chosen>& chosen);
  void count(const Found& found);
  void learn(const Found& found, const Chosen& chosen);

  const cp::Problem* problem_;
  cp::CompiledModel strengthened_;
  const cp::CompiledModel* compiled_;  ///< the problem's, or the strengthened one
  CostOf cost_of_;
  std::vector<std::int32_t> relaxed_;  ///< [variable of the network] the relaxation's values, rounded; empty: none
  Task task_;
  std::uint64_t seed_;
  std::optional<Solution> given_;
  Searchers* searchers_;
  std::unique_ptr<CpSearch> proof_, completion_;
  std::unique_ptr<FeasibilityJump> jumps_;  ///< until there is a solution
  std::vector<std::unique_ptr<Exchanges>> exchanges_;
  std::optional<Neighborhoods> neighborhoods_;
  std::vector<Arm> arms_;
  Roulette arm_scores_, dive_scores_;
  std::vector<std::int32_t> incumbent_, best_;  ///< [variable of the network]
  std::int64_t cost_ = inconsistent;            ///< of the incumbent
  std::int64_t round_nodes_ = 0;                ///< of the last round's neighbourhoods; of many, of as many as are usual
  std::int64_t stagnation_ = 0, exchanges_a_node_ = 4, idle_slices_ = 0;
  bool opening_ = true;  ///< the first round is yet to come
  Digest digest_;
  Result result_;
};

/// Of the one search of a case, or of none.
[[nodiscard]] Outcome judge(const cp::Problem& problem, const std::vector<Result>& results);

}  // namespace vicinity::lns::repair
