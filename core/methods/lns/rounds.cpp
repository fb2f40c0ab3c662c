#include "core/methods/lns/rounds.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "core/methods/lns/relaxation.hpp"

namespace vicinity::lns::repair {
namespace {

/// Until there is a solution, a step is a slice of CP search and, from the second on, one of feasibility jumps and one of CP search without
/// restarts.
constexpr std::int64_t slice_failures = 1'000, slice_jumps = 2'000, least_proof_nodes = 500, opening_nodes = 2'000;
/// Searches by exchange. After the first solution they go on without neighbourhoods until so many slices have not improved it. Then each
/// makes at least so many a round, and so many for each node of the last round: the more, the more often they are what improves the best.
/// All of this in exchanges of the usual cost; cheap ones are more, costly ones fewer.
constexpr std::int64_t exchangers = 2, slice_exchanges = 5'000, most_idle_slices = 20, least_exchanges = 500, most_exchanges_a_node = 16;
constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();

/// On to better and better solutions, at most so many.
Found go(CpSearch& search, SearchLimits limits, std::int64_t solutions, const CostOf& cost, const Interruption& interruption) {
  const SearchStatistics before = search.statistics();
  limits.stop = interruption.flag();
  Found found;
  CpSearch::Status status = CpSearch::Status::solution;
  for (; status == CpSearch::Status::solution && solutions > 0; --solutions) {
    status = search.next(limits);
    if (status != CpSearch::Status::solution) break;
    found.values.assign(search.values().begin(), search.values().end());
    found.cost = cost(found.values);
  }
  interruption.check();
  found.exhausted = status == CpSearch::Status::exhausted;
  found.nodes = search.statistics().nodes - before.nodes;
  found.failures = search.statistics().failures - before.failures;
  return found;
}

/// The whole tree in the model's order, without restarts: what a model's annotations are made for.
void open_whole(CpSearch& search, const cp::CompiledModel& compiled, std::uint64_t seed) {
  const std::vector<std::int32_t> unused(static_cast<std::size_t>(compiled.network->variables()), 0);
  search.open({unused, {}, std::nullopt, false, RepairValues::strategy, seed});
}

/// On to a solution, for so many failures.
Found go_on(CpSearch& search, std::int64_t failures, const CostOf& cost, const Interruption& interruption) {
  SearchLimits limits;
  limits.failures = search.statistics().failures + failures;
  return go(search, limits, 1, cost, interruption);
}

}  // namespace

CostOf cost_of(const cp::Problem& problem, const cp::CompiledModel& compiled) {
  const bool satisfies = problem.model().goal == cp::Goal::satisfy;
  return {compiled.objective, satisfies ? 0 : problem.sense() == Sense::maximise ? -1 : 1};
}

std::unique_ptr<CpSearch> searcher(const cp::Problem& problem, const cp::CompiledModel& compiled) {
  return std::make_unique<CpSearch>(problem.model(), compiled, strategy_of(problem.model(), compiled), 0, true);
}

Found search_neighborhood(CpSearch& search, const Drawn& drawn, std::span<const std::int32_t> incumbent, const CostOf& cost,
                          const Interruption& interruption) {
  const SearchStatistics before = search.statistics();
  search.open({incumbent, drawn.kept, drawn.bound, drawn.how.guided, drawn.how.values, drawn.seed});
  SearchLimits limits;
  limits.nodes = before.nodes + most_nodes;
  limits.failures = before.failures + most_failures;
  return go(search, limits, drawn.one ? 1 : all, cost, interruption);
}

Rounds::Rounds(const cp::Problem& problem, const Task& task, const Start& start, Searchers& searchers)
    : problem_(&problem),
      compiled_(&problem.compiled()),
      cost_of_(repair::cost_of(problem, problem.compiled())),
      task_(task),
      seed_(start.seed),
      given_(start.solution),
      searchers_(&searchers),
      dive_scores_(dives.size()) {}

void Rounds::set_up(const Interruption& interruption) {
  if (!satisfies()) strengthen(interruption);
  proof_ = std::make_unique<CpSearch>(problem_->model(), *compiled_, strategy_of(problem_->model(), *compiled_), seed_, true);
  completion_ = searcher(*problem_, *compiled_);
  searchers_->set_up(*problem_, *compiled_);
  neighborhoods_.emplace(problem_->model(), *compiled_, problem_->evaluation().free_variables(), relaxed_);
  arms_ = neighborhoods_->arms();
  arm_scores_ = Roulette(arms_.size());
  if (!satisfies() && Exchanges::possible(*problem_))
    for (std::int64_t k = 0; k < exchangers; ++k)
      exchanges_.push_back(std::make_unique<Exchanges>(*problem_, random_bits(seed_, 0, start_stream + 2, static_cast<std::uint32_t>(k))));
}

/// The surrogate is worth its propagation where it bounds the objective better than the root does.
void Rounds::strengthen(const Interruption& interruption) {
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
  cost_of_ = repair::cost_of(*problem_, *compiled_);
  for (const double value : relaxation.values) relaxed_.push_back(static_cast<std::int32_t>(std::lround(value)));
}

void Rounds::step(const Interruption& interruption) {
  if (incumbent_.empty())
    find_first(interruption);
  else
    round(interruption);
  ++result_.search.steps;
}

TracePoint Rounds::progress() const {
  const Search& search = result_.search;
  const bool most = problem_->sense() == Sense::maximise;
  return {.iterations = search.steps,
          .objective = search.best.empty() ? Objective::infeasible(problem_->sense())
                                           : Objective(most ? -search.cost : search.cost, problem_->sense()),
          .digest = digest_.value()};
}

Result Rounds::result() const {
  Result now = result_;
  now.search.digest = digest_.value();
  return now;
}

// --- the first solution

void Rounds::find_first(const Interruption& interruption) {
  if (given_) return begin_with(complete(*given_, interruption));
  if (result_.search.steps == 0 && !relaxed_.empty()) {
    Found rounded = round_relaxation(interruption);
    if (!rounded.values.empty()) {
      count(rounded);
      return begin_with(std::move(rounded.values));
    }
  }
  Found found, straight;
  std::vector<std::int32_t> jumped;
  if (steps() > 0 && !jumps_) {
    jumps_ = std::make_unique<FeasibilityJump>(*problem_, seed_);
    open_whole(*completion_, *compiled_, seed_);
  }
  searchers_->search({{},
                      {},
                      {},
                      jumps_ ? 3 : 1,
                      [&](std::int64_t k) {
                        if (k == 0) found = prove(all, slice_failures, interruption);
                        if (k == 1) jumped = jumps_->search(slice_jumps, interruption);
                        if (k == 2) straight = go_on(*completion_, slice_failures, cost_of_, interruption);
                      }},
                     interruption);
  count(found);
  if (jumps_) count(straight);
  result_.proved = found.exhausted || straight.exhausted;
  if (found.values.empty()) found.values = std::move(straight.values);
  if (found.values.empty() && !jumped.empty()) {
    found.values = complete(jumped, interruption);
    if (found.values.empty()) open_whole(*completion_, *compiled_, seed_);
  }
  begin_with(std::move(found.values));
}

/// A dive that keeps of the relaxation's values what can be kept.
Found Rounds::round_relaxation(const Interruption& interruption) {
  completion_->open({relaxed_, neighborhoods_->all(), std::nullopt, true, RepairValues::incumbent, seed_});
  return go_on(*completion_, slice_failures, cost_of_, interruption);
}

/// A solution of the model in the variables of the network.
std::vector<std::int32_t> Rounds::complete(std::span<const std::int32_t> values, const Interruption& interruption) {
  std::vector<std::int32_t> widened(static_cast<std::size_t>(compiled_->network->variables()), 0);
  for (std::size_t x = 0; x < compiled_->variable_of.size(); ++x) widened[static_cast<std::size_t>(compiled_->variable_of[x])] = values[x];
  SearchLimits limits;
  limits.stop = interruption.flag();
  completion_->open({widened, compiled_->variable_of, std::nullopt, false, RepairValues::strategy, seed_});
  if (completion_->next(limits) != CpSearch::Status::solution) return {};
  return {completion_->values().begin(), completion_->values().end()};
}

void Rounds::begin_with(std::vector<std::int32_t> first) {
  if (first.empty()) return;
  incumbent_ = best_ = std::move(first);
  cost_ = cost_of_(incumbent_);
  result_.search.first = cost_;
  note_best();
  result_.proved |= satisfies();
  jumps_.reset();
}

void Rounds::note_best() {
  result_.search.cost = cost_;
  best_ = incumbent_;
  result_.search.best = of_model(best_);
  proof_->tighten(best_);
  // Nothing is better than the bound at the root; the next round would find that out after its neighbourhoods alone.
  const cp::NetworkView view = compiled_->network->view();
  if (!satisfies())
    result_.proved |=
        cost_ <= (problem_->sense() == Sense::maximise ? -view.upper[compiled_->objective] : view.lower[compiled_->objective]);
}

/// Values of the model's variables.
std::vector<std::int32_t> Rounds::of_model(std::span<const std::int32_t> values) const {
  std::vector<std::int32_t> own;
  for (const cp::Var x : compiled_->variable_of) own.push_back(values[static_cast<std::size_t>(x)]);
  return own;
}

// --- rounds

void Rounds::round(const Interruption& interruption) {
  const bool alone = idle_slices_ < most_idle_slices && !exchanges_.empty();
  // What complete search is soon through with needs no neighbourhoods.
  const bool opening = std::exchange(opening_, false);
  const auto neighborhoods = static_cast<std::size_t>(alone || opening || neighborhoods_->none() ? 0 : task_.subsets);
  const std::int64_t slice = alone ? slice_exchanges : std::max(least_exchanges, exchanges_a_node_ * round_nodes_);
  const std::int64_t share = opening ? opening_nodes
                             : alone ? least_proof_nodes / 5
                                     : std::max(least_proof_nodes, round_nodes_ / proof_share);
  const std::vector<std::int32_t> best = exchanges_.empty() ? std::vector<std::int32_t>() : of_model(best_);
  std::vector<std::vector<std::int32_t>> exchanged(exchanges_.size());
  std::vector<Found> found(neighborhoods + 1);  // the last is the proof's
  std::vector<Chosen> chosen(neighborhoods);
  const std::function<Drawn(std::int64_t)> draw_one = [&](std::int64_t k) {
    Drawn drawn = draw(k);
    chosen[static_cast<std::size_t>(k)] = {drawn.arm, drawn.dive};
    return drawn;
  };
  const std::function<void(std::int64_t)> other = [&](std::int64_t k) {
    if (k == 0) {
      found.back() = prove(share, all, interruption);
    } else {
      const auto e = static_cast<std::size_t>(k - 1);
      exchanged[e] = exchanges_[e]->search(exchanges_[e]->as_long_as(slice), best, interruption);
    }
  };
  searchers_->search({incumbent_, draw_one, std::span(found).first(neighborhoods), static_cast<std::int64_t>(exchanges_.size()) + 1, other},
                     interruption);
  for (const auto& values : exchanged)
    if (!values.empty()) {
      Found& one = found.emplace_back();
      one.values = complete(values, interruption);
      if (!one.values.empty()) one.cost = cost_of_(one.values);
    }
  merge(found, chosen);
  idle_slices_ = stagnation_ == 0 && alone ? 0 : idle_slices_ + 1;
  if (result_.neighborhoods == 0 && !std::all_of(exchanges_.begin(), exchanges_.end(), [](const auto& e) { return e->fruitful(); }))
    exchanges_.clear();
}

Found Rounds::prove(std::int64_t nodes, std::int64_t failures, const Interruption& interruption) {
  const SearchStatistics before = proof_->statistics();
  const auto after = [](std::int64_t now, std::int64_t more) { return more > all - now ? all : now + more; };
  SearchLimits limits;
  limits.nodes = after(before.nodes, nodes);
  limits.failures = after(before.failures, failures);
  // The first solution is enough of a slice.
  return go(*proof_, limits, satisfies() || incumbent_.empty() ? 1 : all, cost_of_, interruption);
}

std::int64_t Rounds::deviation() const {
  const std::int64_t level = stagnation_ / patience % deviations;
  return level * std::max<std::int64_t>(1, std::abs(result_.search.cost) / deviation_part);
}

Drawn Rounds::draw(std::int64_t k) const {
  Draws draws(seed_, result_.search.steps, k);
  Drawn drawn;
  drawn.arm = arm_scores_.draw(draws);
  drawn.dive = dive_scores_.draw(draws);
  const Arm& arm = arms_[drawn.arm];
  const std::int64_t size = neighborhoods_->size(arm.set);
  const std::int64_t released =
      neighborhoods_->adaptive()
          ? std::clamp<std::int64_t>(arm.released / 2 + static_cast<std::int64_t>(draws.below(static_cast<std::size_t>(arm.released) + 1)),
                                     std::min<std::int64_t>(2, size), size)
          : arm.released;
  drawn.one = draws.below(sideways_one_in) == 0;
  const std::int64_t worst = std::max(drawn.one ? cost_ : cost_ - 1, result_.search.cost + deviation() - (deviation() == 0 ? 1 : 0));
  drawn.bound = sign() * worst;
  drawn.kept = neighborhoods_->kept(arm, released, incumbent_, draws);
  drawn.how = drawn.one ? Dive{true, RepairValues::random} : dives[drawn.dive];
  if (drawn.one) drawn.dive = dives.size();
  drawn.seed = draws.bits();
  return drawn;
}

/// In the order of the neighbourhoods; the proof's share comes next, then what exchanges have found.
void Rounds::merge(const std::vector<Found>& found, const std::vector<Chosen>& chosen) {
  const Found* least = nullptr;
  const std::int64_t acceptable = std::max(cost_, result_.search.cost + deviation());
  round_nodes_ = 0;
  for (std::size_t k = 0; k < found.size(); ++k) {
    count(found[k]);
    if (found[k].cost <= acceptable && (least == nullptr || found[k].cost < least->cost)) least = &found[k];
    if (k >= chosen.size()) continue;
    round_nodes_ += found[k].nodes;
    learn(found[k], chosen[k]);
  }
  const auto neighborhoods = static_cast<std::int64_t>(chosen.size());
  if (neighborhoods > round_neighborhoods) round_nodes_ = round_nodes_ * round_neighborhoods / neighborhoods;
  result_.neighborhoods += neighborhoods;
  result_.proved = found[chosen.size()].exhausted;
  ++stagnation_;
  if (least != nullptr) {
    incumbent_ = least->values;
    cost_ = least->cost;
  }
  digest_.add(static_cast<std::uint64_t>(cost_));
  digest_.add(incumbent_);
  if (cost_ < result_.search.cost && least != nullptr) {
    const bool exchanged = least > &found[chosen.size()];
    exchanges_a_node_ = std::clamp<std::int64_t>(exchanged ? 2 * exchanges_a_node_ : exchanges_a_node_ / 2, 1, most_exchanges_a_node);
  }
  if (cost_ < result_.search.cost) {
    note_best();
    stagnation_ = 0;
  } else if (stagnation_ % (patience * deviations) == 0) {
    incumbent_ = best_;
    cost_ = result_.search.cost;
  }
}

void Rounds::count(const Found& found) {
  result_.nodes += found.nodes;
  result_.failures += found.failures;
  for (const std::int64_t word : {found.nodes, found.failures, found.cost}) digest_.add(static_cast<std::uint64_t>(word));
}

void Rounds::learn(const Found& found, const Chosen& chosen) {
  const std::int64_t reward = found.cost < result_.search.cost ? Roulette::best : found.cost < cost_ ? Roulette::improved : 0;
  arm_scores_.reward(chosen.arm, reward);
  if (chosen.dive < dives.size()) dive_scores_.reward(chosen.dive, reward);
  if (!neighborhoods_->adaptive() || reward > 0) return;
  Arm& arm = arms_[chosen.arm];
  const std::int64_t change = 1 + arm.released / 32, size = neighborhoods_->size(arm.set);
  arm.released = std::clamp(arm.released + (found.exhausted ? change : -change), std::min<std::int64_t>(2, size), size);
}

Outcome judge(const cp::Problem& problem, const std::vector<Result>& results) {
  std::vector<Search> searches;
  for (const Result& result : results) {
    searches.push_back(result.search);
    searches.back().evaluations = result.nodes;
    searches.back().started = result.neighborhoods;
  }
  Outcome outcome = lns::judge(problem, searches);
  if (results.empty()) return outcome;
  const bool covered = outcome.feasible ? problem.compiled().proves_best(*outcome.objective) : problem.compiled().proves_none();
  const bool proved = results.front().proved && covered;
  outcome.counters["proved"] = proved ? 1 : 0;
  outcome.counters["failures"] = results.front().failures;
  if (results.front().search.best.empty()) outcome.complaint = proved ? "the model has no solution" : "no first solution is found";
  return outcome;
}

}  // namespace vicinity::lns::repair
