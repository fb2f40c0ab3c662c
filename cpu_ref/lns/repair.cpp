// cpu-lns: neighbourhoods repaired by propagation, dealt to all cores (contract: core/methods/lns/repair.hpp).
//
// Data: a CP search (store, trail, queues) a thread for neighbourhoods, and one for the proof; scores and sizes of arms. Synchronisation:
// one barrier a round. Cost: of a neighbourhood, propagation of what it keeps and of some tens of failures; copies of the incumbent beside
// it.
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/methods/lns/relaxation.hpp"
#include "core/methods/lns/repair.hpp"
#include "core/util/digest.hpp"
#include "cpu_ref/lns/exchanges.hpp"
#include "cpu_ref/lns/feasibility_jump.hpp"
#include "cpu_ref/lns/implementations.hpp"
#include "cpu_ref/run/search_run.hpp"

namespace vicinity::lns {
namespace {

using repair::Roulette;

/// Until there is a solution, a step is a slice of CP search and one of feasibility jumps.
constexpr std::int64_t slice_failures = 1'000, slice_jumps = 2'000, least_proof_nodes = 500;
/// Searches by exchange. After the first solution they go on without neighbourhoods until so many slices have not improved it. Then each
/// makes at least a slice a round, and so many exchanges for each node of the last round: the more, the more often they are what improves
/// the best.
constexpr std::int64_t exchangers = 2, slice_exchanges = 5'000, most_idle_slices = 20, most_exchanges_a_node = 16;

struct RepairResult {
  Search search;
  bool proved = false;  ///< nothing is better than the best, or nothing is a solution
  std::int64_t nodes = 0, failures = 0, neighborhoods = 0;
};

/// Of a neighbourhood, or of the proof's share.
struct Found {
  std::size_t arm = 0, dive = 0;
  bool exhausted = false;
  std::int64_t nodes = 0, failures = 0;
  std::int64_t cost = inconsistent;
  std::vector<std::int32_t> values;  ///< [variable of the network]
};

class RepairState {
 public:
  RepairState(const cp::Problem& problem, const Task& task, const Start& start, int threads)
      : problem_(&problem),
        compiled_(&problem.compiled()),
        task_(task),
        seed_(start.seed),
        given_(start.solution),
        threads_(threads),
        dive_scores_(repair::dives.size()) {}
  /// What takes long before the first step.
  void set_up(const Interruption& interruption) {
    if (!satisfies()) strengthen(interruption);
    proof_ = search();
    for (int k = 0; k < threads_; ++k) searches_.push_back(search());
    neighborhoods_.emplace(problem_->model(), *compiled_, problem_->evaluation().free_variables(), relaxed_);
    arms_ = neighborhoods_->arms();
    arm_scores_ = Roulette(arms_.size());
    if (!satisfies() && Exchanges::possible(*problem_))
      for (std::int64_t k = 0; k < exchangers; ++k)
        exchanges_.push_back(
            std::make_unique<Exchanges>(*problem_, random_bits(seed_, 0, start_stream + 2, static_cast<std::uint32_t>(k))));
  }

  [[nodiscard]] bool done() const { return result_.proved || result_.search.steps == task_.whole(); }
  [[nodiscard]] std::int64_t steps() const { return result_.search.steps; }
  void step(const Interruption& interruption) {
    if (incumbent_.empty())
      find_first(interruption);
    else
      round(interruption);
    ++result_.search.steps;
  }
  [[nodiscard]] TracePoint progress() const {
    const Search& search = result_.search;
    const bool most = problem_->sense() == Sense::maximise;
    return {.iterations = search.steps,
            .objective = search.best.empty() ? Objective::infeasible(problem_->sense())
                                             : Objective(most ? -search.cost : search.cost, problem_->sense()),
            .digest = digest_.value()};
  }
  [[nodiscard]] RepairResult result() const {
    RepairResult all = result_;
    all.search.digest = digest_.value();
    return all;
  }

 private:
  [[nodiscard]] std::unique_ptr<CpSearch> search() const {
    return std::make_unique<CpSearch>(problem_->model(), *compiled_, strategy_of(problem_->model(), *compiled_), seed_, true);
  }
  /// The surrogate is worth its propagation where it bounds the objective better than the root does.
  void strengthen(const Interruption& interruption) {
    const bool most = problem_->sense() == Sense::maximise;
    Relaxation relaxation = relax(*compiled_, most, interruption.flag());
    interruption.check();
    if (relaxation.arguments.empty()) return;
    cp::CompiledModel more = with_surrogate(*compiled_, relaxation);
    const auto bound = [most](const cp::CompiledModel& compiled) {
      const cp::NetworkView view = compiled.network->view();
      return most ? -view.upper[compiled.objective] : view.lower[compiled.objective];
    };
    if (!more.network->failed() && bound(more) <= bound(*compiled_)) return;
    strengthened_ = std::move(more);
    compiled_ = &strengthened_;
    for (const double value : relaxation.values) relaxed_.push_back(static_cast<std::int32_t>(std::lround(value)));
  }
  [[nodiscard]] bool satisfies() const { return problem_->model().goal == cp::Goal::satisfy; }
  [[nodiscard]] std::int64_t sign() const { return problem_->sense() == Sense::maximise ? -1 : 1; }
  [[nodiscard]] std::int64_t cost(std::span<const std::int32_t> values) const {
    return satisfies() ? 0 : sign() * values[static_cast<std::size_t>(compiled_->objective)];
  }

  // --- the first solution

  void find_first(const Interruption& interruption) {
    if (given_) return begin_with(complete(*given_, interruption));
    if (result_.search.steps == 0 && !relaxed_.empty()) {
      Found rounded = round_relaxation(interruption);
      if (!rounded.values.empty()) {
        count(rounded);
        return begin_with(std::move(rounded.values));
      }
    }
    Found found;
    std::vector<std::int32_t> jumped;
    if (result_.search.steps > 0 && !jumps_) jumps_ = std::make_unique<FeasibilityJump>(*problem_, seed_);
    for_each_in_parallel(jumps_ ? 2 : 1, static_cast<int>(std::min<std::size_t>(2, searches_.size())), [&](std::int64_t k) {
      if (k == 0)
        found = prove(std::numeric_limits<std::int64_t>::max(), slice_failures, interruption);
      else
        jumped = jumps_->search(slice_jumps, interruption);
    });
    count(found);
    result_.proved = found.exhausted;
    if (found.values.empty() && !jumped.empty()) found.values = complete(jumped, interruption);
    begin_with(std::move(found.values));
  }
  /// A dive that keeps of the relaxation's values what can be kept.
  [[nodiscard]] Found round_relaxation(const Interruption& interruption) {
    CpSearch& search = *searches_.front();
    const SearchStatistics before = search.statistics();
    search.open({relaxed_, neighborhoods_->all(), std::nullopt, true, RepairValues::incumbent, seed_});
    SearchLimits limits;
    limits.failures = before.failures + slice_failures;
    return go(search, limits, 1, interruption);
  }
  /// A solution of the model in the variables of the network.
  [[nodiscard]] std::vector<std::int32_t> complete(std::span<const std::int32_t> values, const Interruption& interruption) {
    std::vector<std::int32_t> all(static_cast<std::size_t>(compiled_->network->variables()), 0);
    for (std::size_t x = 0; x < compiled_->variable_of.size(); ++x) all[static_cast<std::size_t>(compiled_->variable_of[x])] = values[x];
    SearchLimits limits;
    limits.stop = interruption.flag();
    searches_.front()->open({all, compiled_->variable_of, std::nullopt, false, RepairValues::strategy, seed_});
    if (searches_.front()->next(limits) != CpSearch::Status::solution) return {};
    return {searches_.front()->values().begin(), searches_.front()->values().end()};
  }
  void begin_with(std::vector<std::int32_t> first) {
    if (first.empty()) return;
    incumbent_ = best_ = std::move(first);
    cost_ = cost(incumbent_);
    result_.search.first = cost_;
    note_best();
    result_.proved |= satisfies();
    jumps_.reset();
  }
  void note_best() {
    result_.search.cost = cost_;
    best_ = incumbent_;
    result_.search.best.clear();
    result_.search.best = of_model(best_);
    proof_->tighten(best_);
  }

  /// Values of the model's variables.
  [[nodiscard]] std::vector<std::int32_t> of_model(std::span<const std::int32_t> values) const {
    std::vector<std::int32_t> all;
    for (const cp::Var x : compiled_->variable_of) all.push_back(values[static_cast<std::size_t>(x)]);
    return all;
  }

  // --- rounds

  void round(const Interruption& interruption) {
    const bool alone = idle_slices_ < most_idle_slices && !exchanges_.empty();
    const std::int64_t count = alone || neighborhoods_->none() ? 0 : task_.subsets;
    const auto others = static_cast<std::int64_t>(exchanges_.size());
    const std::int64_t slice = alone ? slice_exchanges : std::max(slice_exchanges, exchanges_a_node_ * round_nodes_);
    std::vector<std::vector<std::int32_t>> exchanged(exchanges_.size());
    const std::vector<std::int32_t> best = others > 0 ? of_model(best_) : std::vector<std::int32_t>();
    std::vector<Found> all(static_cast<std::size_t>(count) + 1);
    const std::int64_t share = alone ? least_proof_nodes / 5 : std::max(least_proof_nodes, round_nodes_ / repair::proof_share);
    std::atomic<std::size_t> next = 0;  // each thread takes a search of its own
    std::vector<std::atomic<bool>> taken(searches_.size());
    for_each_in_parallel(count + 1 + others, static_cast<int>(searches_.size()), [&](std::int64_t k) {
      if (k > count) {
        const auto e = static_cast<std::size_t>(k - count - 1);
        exchanged[e] = exchanges_[e]->search(slice, best, interruption);
        return;
      }
      Found& found = all[static_cast<std::size_t>(k)];
      if (k == 0) {
        found = prove(share, std::numeric_limits<std::int64_t>::max(), interruption);
        return;
      }
      std::size_t mine = next++ % searches_.size();
      while (taken[mine].exchange(true)) mine = (mine + 1) % searches_.size();
      found = repair_one(*searches_[mine], k - 1, interruption);
      taken[mine] = false;
    });
    for (const auto& values : exchanged)
      if (!values.empty()) add_exchanged(all, values, interruption);
    merge(all, static_cast<std::size_t>(count));
    idle_slices_ = stagnation_ == 0 && alone ? 0 : idle_slices_ + 1;
    if (result_.neighborhoods == 0 && !std::all_of(exchanges_.begin(), exchanges_.end(), [](const auto& e) { return e->fruitful(); }))
      exchanges_.clear();
  }
  void add_exchanged(std::vector<Found>& all, std::span<const std::int32_t> values, const Interruption& interruption) {
    Found& found = all.emplace_back();
    found.values = complete(values, interruption);
    if (!found.values.empty()) found.cost = cost(found.values);
  }
  [[nodiscard]] Found prove(std::int64_t nodes, std::int64_t failures, const Interruption& interruption) {
    const SearchStatistics before = proof_->statistics();
    const auto after = [](std::int64_t now, std::int64_t more) {
      return more > std::numeric_limits<std::int64_t>::max() - now ? std::numeric_limits<std::int64_t>::max() : now + more;
    };
    SearchLimits limits;
    limits.nodes = after(before.nodes, nodes);
    limits.failures = after(before.failures, failures);
    return go(*proof_, limits, satisfies() ? 1 : std::numeric_limits<std::int64_t>::max(), interruption);
  }
  /// On to better and better solutions, at most so many.
  [[nodiscard]] Found go(CpSearch& search, SearchLimits limits, std::int64_t solutions, const Interruption& interruption) const {
    const SearchStatistics before = search.statistics();
    limits.stop = interruption.flag();
    Found found;
    CpSearch::Status status = CpSearch::Status::solution;
    for (; status == CpSearch::Status::solution && solutions > 0; --solutions) {
      status = search.next(limits);
      if (status != CpSearch::Status::solution) break;
      found.values.assign(search.values().begin(), search.values().end());
      found.cost = cost(found.values);
      if (incumbent_.empty()) break;  // the first solution is enough of a slice
    }
    interruption.check();
    found.exhausted = status == CpSearch::Status::exhausted;
    found.nodes = search.statistics().nodes - before.nodes;
    found.failures = search.statistics().failures - before.failures;
    return found;
  }
  [[nodiscard]] std::int64_t deviation() const {
    const std::int64_t level = stagnation_ / repair::patience % repair::deviations;
    return level * std::max<std::int64_t>(1, std::abs(result_.search.cost) / repair::deviation_part);
  }
  [[nodiscard]] Found repair_one(CpSearch& search, std::int64_t k, const Interruption& interruption) const {
    repair::Draws draws(seed_, result_.search.steps, k);
    const std::size_t arm = arm_scores_.draw(draws), dive = dive_scores_.draw(draws);
    const repair::Arm& chosen = arms_[arm];
    const std::int64_t size = neighborhoods_->size(chosen.set);
    const std::int64_t released =
        neighborhoods_->adaptive()
            ? std::clamp<std::int64_t>(
                  chosen.released / 2 + static_cast<std::int64_t>(draws.below(static_cast<std::size_t>(chosen.released) + 1)),
                  std::min<std::int64_t>(2, size), size)
            : chosen.released;
    const bool sideways = draws.below(repair::sideways_one_in) == 0;
    const std::int64_t worst = std::max(sideways ? cost_ : cost_ - 1, result_.search.cost + deviation() - (deviation() == 0 ? 1 : 0));
    const std::vector<cp::Var> kept = neighborhoods_->kept(chosen, released, incumbent_, draws);
    const repair::Dive how = sideways ? repair::Dive{true, RepairValues::random} : repair::dives[dive];
    const SearchStatistics before = search.statistics();
    search.open({incumbent_, kept, sign() * worst, how.guided, how.values, draws.bits()});
    SearchLimits limits;
    limits.nodes = before.nodes + repair::most_nodes;
    limits.failures = before.failures + repair::most_failures;
    Found found = go(search, limits, sideways ? 1 : std::numeric_limits<std::int64_t>::max(), interruption);
    found.arm = arm;
    found.dive = sideways ? repair::dives.size() : dive;
    return found;
  }

  /// In the order of the neighbourhoods; the proof's share comes next, then what exchanges have found.
  void merge(std::vector<Found>& all, std::size_t neighborhoods) {
    std::rotate(all.begin(), all.begin() + 1, all.begin() + 1 + static_cast<std::ptrdiff_t>(neighborhoods));
    const Found* least = nullptr;
    const std::int64_t acceptable = std::max(cost_, result_.search.cost + deviation());
    round_nodes_ = 0;
    for (std::size_t k = 0; k < all.size(); ++k) {
      const Found& found = all[k];
      count(found);
      if (found.cost <= acceptable && (least == nullptr || found.cost < least->cost)) least = &found;
      if (k >= neighborhoods) continue;
      round_nodes_ += found.nodes;
      learn(found);
    }
    result_.neighborhoods += static_cast<std::int64_t>(neighborhoods);
    result_.proved = all[neighborhoods].exhausted;
    ++stagnation_;
    if (least != nullptr) {
      incumbent_ = least->values;
      cost_ = least->cost;
    }
    digest_.add(static_cast<std::uint64_t>(cost_));
    digest_.add(incumbent_);
    if (cost_ < result_.search.cost && least != nullptr) {
      const bool exchanged = least > &all[neighborhoods];
      exchanges_a_node_ = std::clamp<std::int64_t>(exchanged ? 2 * exchanges_a_node_ : exchanges_a_node_ / 2, 1, most_exchanges_a_node);
    }
    if (cost_ < result_.search.cost) {
      note_best();
      stagnation_ = 0;
    } else if (stagnation_ % (repair::patience * repair::deviations) == 0) {
      incumbent_ = best_;
      cost_ = result_.search.cost;
    }
  }
  void count(const Found& found) {
    result_.nodes += found.nodes;
    result_.failures += found.failures;
    for (const std::int64_t word : {found.nodes, found.failures, found.cost}) digest_.add(static_cast<std::uint64_t>(word));
  }
  void learn(const Found& found) {
    const std::int64_t reward = found.cost < result_.search.cost ? Roulette::best : found.cost < cost_ ? Roulette::improved : 0;
    arm_scores_.reward(found.arm, reward);
    if (found.dive < repair::dives.size()) dive_scores_.reward(found.dive, reward);
    if (!neighborhoods_->adaptive() || reward > 0) return;
    repair::Arm& arm = arms_[found.arm];
    const std::int64_t change = 1 + arm.released / 32, size = neighborhoods_->size(arm.set);
    arm.released = std::clamp(arm.released + (found.exhausted ? change : -change), std::min<std::int64_t>(2, size), size);
  }

  const cp::Problem* problem_;
  cp::CompiledModel strengthened_;
  const cp::CompiledModel* compiled_;  ///< the problem's, or the strengthened one
  std::vector<std::int32_t> relaxed_;  ///< [variable of the network] the relaxation's values, rounded; empty: none
  Task task_;
  std::uint64_t seed_;
  std::optional<Solution> given_;
  int threads_;
  std::unique_ptr<CpSearch> proof_;
  std::vector<std::unique_ptr<CpSearch>> searches_;  ///< [thread]
  std::unique_ptr<FeasibilityJump> jumps_;           ///< until there is a solution
  std::vector<std::unique_ptr<Exchanges>> exchanges_;
  std::optional<repair::Neighborhoods> neighborhoods_;
  std::vector<repair::Arm> arms_;
  Roulette arm_scores_, dive_scores_;
  std::vector<std::int32_t> incumbent_, best_;  ///< [variable of the network]
  std::int64_t cost_ = inconsistent;            ///< of the incumbent
  std::int64_t stagnation_ = 0, round_nodes_ = 0, exchanges_a_node_ = 4, idle_slices_ = 0;
  Digest digest_;
  RepairResult result_;
};

/// The one search of a case, for SearchRun. Its iterations are rounds, and slices until there is a solution.
class RepairSearch {
 public:
  struct Method {
    int threads;
  };
  using State = RepairState;
  using Result = RepairResult;

  RepairSearch(const cp::Problem& problem, const Task& task) : problem_(&problem), task_(task) {}

  [[nodiscard]] static std::int64_t count() { return 1; }
  [[nodiscard]] std::unique_ptr<State> begin(Method& method, const Start& start, std::int64_t) const {
    check_start(*problem_, start);
    return std::make_unique<State>(*problem_, task_, start, method.threads);
  }
  static void set_up(Method&, State& state, const Interruption& interruption) { state.set_up(interruption); }
  static void step(Method&, State& state, const StepLimit& limit) {
    if (!state.done() && state.steps() < limit.iterations) state.step(limit.interruption);
  }
  [[nodiscard]] static bool done(const State& state) { return state.done(); }
  [[nodiscard]] static TracePoint progress(const State& state) { return state.progress(); }
  [[nodiscard]] static Result result(const State& state) { return state.result(); }
  [[nodiscard]] Outcome judge(const std::vector<Result>& results, bool) const {
    std::vector<Search> searches;
    for (const Result& result : results) {
      searches.push_back(result.search);
      searches.back().evaluations = result.nodes;
      searches.back().started = result.neighborhoods;
    }
    Outcome outcome = lns::judge(*problem_, searches);
    if (results.empty()) return outcome;
    const bool proved = results.front().proved && !problem_->compiled().clipped;
    outcome.counters["proved"] = proved ? 1 : 0;
    outcome.counters["failures"] = results.front().failures;
    if (results.front().search.best.empty()) outcome.complaint = proved ? "the model has no solution" : "no first solution is found";
    return outcome;
  }
  [[nodiscard]] static Policy policy(const Method& method, std::size_t) { return {{"threads", method.threads}}; }
  [[nodiscard]] static Work work(const Method&, const std::vector<Result>&, std::size_t) { return {}; }

 private:
  const cp::Problem* problem_;
  Task task_;
};

std::unique_ptr<Run> prepare(const Case& c, const Instance& instance) {
  const auto& problem = dynamic_cast<const cp::Problem&>(instance);
  Task task = task_of(c, problem);
  if (!c.values.contains("subsets")) task.subsets = repair::round_neighborhoods;
  return search_by_repair(problem, task);
}

}  // namespace

std::unique_ptr<Run> search_by_repair(const cp::Problem& problem, const Task& task) {
  const std::int64_t wanted = task.threads > 0 ? task.threads : omp_get_max_threads();
  std::vector<std::unique_ptr<RepairSearch::Method>> methods;
  methods.push_back(std::make_unique<RepairSearch::Method>(static_cast<int>(std::min(wanted, task.subsets + 1))));
  return std::make_unique<SearchRun<RepairSearch>>(RepairSearch(problem, task), std::move(methods));
}

std::vector<Implementation> cpu_repair_implementations() {
  return {{.name = "cpu-lns",
           .backend = Backend::cpu,
           .summary = "all cores: ours, adaptive neighbourhoods repaired by propagation, beside a complete search that may prove the best",
           .limit = "latency of caches: propagation of few constraints at a time",
           .prepare = prepare,
           .reference = "cpu-lns"}};
}

}  // namespace vicinity::lns
