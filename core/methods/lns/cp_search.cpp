#include "core/methods/lns/cp_search.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/util/rng.hpp"

namespace vicinity::lns {
namespace {

constexpr Restarts usual_restarts{Restarts::Kind::geometric, 1.2, 200};

}  // namespace

CpSearch::CpSearch(const cp::Model& model, const cp::CompiledModel& compiled, Strategy strategy, std::uint64_t seed, bool free)
    : model_(model),
      compiled_(compiled),
      network_(*compiled.network),
      strategy_(std::move(strategy)),
      store_(network_),
      propagation_(network_),
      weights_(static_cast<std::size_t>(network_.variables())),
      hints_(weights_.size()),
      hinted_(weights_.size(), false),
      seed_(seed),
      free_(free) {
  for (std::size_t x = 0; x < weights_.size(); ++x) weights_[x] = network_.degree(static_cast<cp::Var>(x));
  for (const auto& [x, value] : strategy_.hints) {
    hints_[static_cast<std::size_t>(x)] = static_cast<std::int32_t>(value);
    hinted_[static_cast<std::size_t>(x)] = true;
  }
  if (free_) {
    // The model's own variables by failures, values of the best solution first, then the rest as it stands.
    for (const Phase& phase : strategy_.phases) free_phases_.push_back({phase.variables, VariableChoice::dom_w_deg, phase.value});
    for (const cp::Output& output : model_.outputs)
      if (std::vector<cp::Var> array = variables_of(model_, compiled_, output); array.size() > 1)
        dive_phases_.push_back({std::move(array), VariableChoice::dom_w_deg});
    arrays_ = dive_phases_.size();
    dive_phases_.insert(dive_phases_.end(), free_phases_.begin(), free_phases_.end());
    if (strategy_.restarts.kind == Restarts::Kind::none) strategy_.restarts = usual_restarts;
  }
  const auto opened = [](const std::vector<Phase>& all) {
    std::vector<OpenPhase> open;
    for (const Phase& phase : all) {
      std::vector<std::int32_t> order(phase.variables.size());
      std::iota(order.begin(), order.end(), 0);
      open.push_back({&phase, order, static_cast<std::int32_t>(order.size()), 0});
    }
    return open;
  };
  phases_ = opened(strategy_.phases);
  guided_ = opened(free_phases_);
  diving_ = opened(dive_phases_);
}

SearchStatistics CpSearch::statistics() const {
  SearchStatistics all = statistics_;
  all.propagations = propagation_.propagations();
  return all;
}

CpSearch::Status CpSearch::next(const SearchLimits& limits) {
  if (exhausted_) return Status::exhausted;
  propagation_.limit(std::numeric_limits<std::int64_t>::max(), limits.stop);
  if (begun_ && !fresh_ && model_.goal == cp::Goal::satisfy) leave_introduced();
  bool consistent = begun_ ? backtrack() : begin();
  if (std::exchange(tightened_, false) && consistent) {
    consistent = bounded();
    if (!consistent) store_.forget();
    consistent = (consistent && propagate()) || backtrack();
  }
  for (;;) {
    while (!consistent) {
      if (!neighborhood_ || repair_ || !restart()) {
        exhausted_ = true;
        return Status::exhausted;
      }
      consistent = true;
    }
    if (propagation_.cut_short()) return Status::limit;
    if (spent(limits)) {
      fresh_ = true;  // the next call goes on from here
      return Status::limit;
    }
    if (!repair_ && statistics_.failures - failures_at_restart_ >= cutoff_) {
      consistent = restart();
      if (propagation_.cut_short()) return Status::limit;
      if (!consistent) {
        exhausted_ = true;
        return Status::exhausted;
      }
    }
    const std::optional<Decision> decision = choose();
    if (!decision) {
      note_solution();
      return Status::solution;
    }
    consistent = descend(*decision) || backtrack();
  }
}

bool CpSearch::begin() {
  begun_ = true;
  cutoff_ = strategy_.restarts.cutoff(0);
  if (network_.failed() || !propagation_.all(store_)) return false;
  const bool most = model_.goal == cp::Goal::maximise;
  root_bound_ = most ? store_.upper(compiled_.objective) : store_.lower(compiled_.objective);
  return true;
}

bool CpSearch::spent(const SearchLimits& limits) {
  if (statistics_.nodes >= limits.nodes || statistics_.failures >= limits.failures || (limits.stop != nullptr && *limits.stop)) return true;
  return limits.deadline && statistics_.nodes % 16 == 0 && std::chrono::steady_clock::now() >= *limits.deadline;
}

bool CpSearch::propagate() {
  if (propagation_.changed(store_)) return true;
  ++statistics_.failures;
  if (repair_) {
    ++weights_[static_cast<std::size_t>(decided_)];
    return false;
  }
  const std::int32_t c = propagation_.failed();
  const std::size_t arguments = cp::scope_of(network_.view(), c).arguments.size();
  for (std::size_t k = 0; k < arguments; ++k) ++weights_[static_cast<std::size_t>(network_.variable(c, k))];
  return false;
}

std::int64_t CpSearch::objective_of(std::span<const std::int32_t> solution) const {
  return solution[static_cast<std::size_t>(compiled_.objective)];
}

/// The objective has to be acceptable.
bool CpSearch::bounded() {
  if (!bound_ || model_.goal == cp::Goal::satisfy) return true;
  return model_.goal == cp::Goal::minimise ? store_.cut(compiled_.objective, *bound_) : store_.raise(compiled_.objective, *bound_);
}

void CpSearch::tighten(std::span<const std::int32_t> solution) {
  best_.assign(solution.begin(), solution.end());
  bound_ = objective_of(solution) - (model_.goal == cp::Goal::minimise ? 1 : -1);
  tightened_ = true;
}

void CpSearch::open(const Neighborhood& neighborhood) {
  exhausted_ = exhausted_ && !repair_;  // for good, where the whole tree is
  if (!begun_ && !begin()) exhausted_ = true;
  if (exhausted_) return;
  to_root();
  best_.assign(neighborhood.incumbent.begin(), neighborhood.incumbent.end());
  bound_ = neighborhood.bound;
  repair_ = neighborhood.values;
  seed_ = neighborhood.seed;
  draws_ = 0;
  current_ = neighborhood.guided ? &guided_ : &phases_;
  for (std::size_t x = 0; x < weights_.size(); ++x) weights_[x] = network_.degree(static_cast<cp::Var>(x));
  store_.push();
  neighborhood_ = fresh_ = true;
  exhausted_ = !bounded() || !propagation_.changed(store_);
  if (exhausted_) return store_.forget();
  fix(neighborhood.kept);
}

/// As many at once as can be; what fails is halved until one alone does.
void CpSearch::fix(std::span<const cp::Var> kept) {
  for (std::size_t count = kept.size(); !kept.empty() && !propagation_.cut_short();) {
    count = std::min(count, kept.size());
    store_.push();
    const auto assigned = [&](cp::Var x) { return store_.assign(x, best_[static_cast<std::size_t>(x)]); };
    if (std::all_of(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(count), assigned) && propagation_.changed(store_)) {
      kept = kept.subspan(count);
      count *= 2;
      continue;
    }
    store_.undo();
    if (count == 1) kept = kept.subspan(1);
    count = (count + 1) / 2;
  }
}

bool CpSearch::descend(const Decision& decision) {
  ++statistics_.nodes;
  decided_ = decision.variable;
  const OpenPhase& phase = (*current_)[phase_];
  nodes_.push_back({decision, phase_, phase.open, phase.first});
  statistics_.depth = std::max(statistics_.depth, static_cast<std::int64_t>(nodes_.size()));
  store_.push();
  return decision.apply(store_) && propagate();
}

/// Takes decisions back until the opposite of one can hold.
bool CpSearch::backtrack() {
  if (std::exchange(fresh_, false)) return true;  // nothing has failed
  while (!nodes_.empty()) {
    const Node node = nodes_.back();
    nodes_.pop_back();
    store_.undo();
    for (std::size_t later = node.phase + 1; later <= phase_; ++later) {  // all of these are open again
      OpenPhase& phase = (*current_)[later];
      phase.open = static_cast<std::int32_t>(phase.order.size());
      phase.first = 0;
    }
    phase_ = node.phase;
    (*current_)[phase_].open = node.open;
    (*current_)[phase_].first = node.first;
    decided_ = node.decision.variable;
    if (node.decision.opposite().apply(store_) && bounded()) {
      if (propagate()) return true;
    } else {
      store_.forget();
    }
  }
  return false;
}

/// Takes back the decisions on introduced variables: with others the solution would be the same.
void CpSearch::leave_introduced() {
  while (!nodes_.empty() && nodes_.back().phase + 1 == current_->size()) {
    store_.undo();
    nodes_.pop_back();
  }
}

void CpSearch::to_root() {
  while (store_.level() > 0) store_.undo();
  nodes_.clear();
  neighborhood_ = false;
  for (auto* all : {&phases_, &guided_, &diving_})
    for (OpenPhase& phase : *all) {
      phase.open = static_cast<std::int32_t>(phase.order.size());
      phase.first = 0;
    }
  phase_ = 0;
}

/// False: there is nothing left to search.
bool CpSearch::restart() {
  to_root();
  failures_at_restart_ = statistics_.failures;
  cutoff_ = strategy_.restarts.cutoff(++statistics_.restarts);
  // A free search takes turns between the strategy's own order and its own.
  if (free_) current_ = statistics_.restarts % 2 == 1 ? &guided_ : &phases_;
  // Without annotations its own order is that of the strategy.
  const bool dives = strategy_.annotated == 0 ? statistics_.restarts % 2 == 0 : statistics_.restarts % 4 == 3;
  if (free_ && best_.empty() && arrays_ > 0 && dives) dive();
  if (!bounded() || !propagate()) return false;
  if (!best_.empty() && !strategy_.relaxed.empty())
    for (int attempts = 100; attempts > 0 && !reconstruct(); --attempts) ++statistics_.restarts;  // where all fail: the whole tree, once
  return true;
}

/// Until there is a solution: the arrays of the model in a random order, as often as not by random values. Where some follow from others,
/// no order of single variables says which.
void CpSearch::dive() {
  const auto draw = [this](std::size_t k) {
    return random_bits(seed_, static_cast<std::uint64_t>(statistics_.restarts), 2, static_cast<std::uint32_t>(k));
  };
  for (std::size_t k = arrays_; k > 1; --k) std::swap(diving_[k - 1], diving_[scale_to(draw(k), k)]);
  const ValueChoice value = (draw(0) >> 63) != 0 ? ValueChoice::random : ValueChoice::min;
  for (std::size_t k = 0; k < arrays_; ++k) dive_phases_[k].value = value;
  current_ = &diving_;
}

/// Fixes a random part of the best solution. False: then nothing better is left, and nothing is fixed.
bool CpSearch::reconstruct() {
  store_.push();
  neighborhood_ = true;
  for (std::size_t k = 0; k < strategy_.relaxed.size() && neighborhood_; ++k) {
    const cp::Var x = strategy_.relaxed[k];
    const std::uint64_t random = random_bits(seed_, static_cast<std::uint64_t>(statistics_.restarts), 1, static_cast<std::uint32_t>(k));
    const bool kept = static_cast<std::int64_t>(scale_to(random, 100)) < strategy_.kept_percent;
    neighborhood_ = !kept || store_.assign(x, best_[static_cast<std::size_t>(x)]);
  }
  if (neighborhood_ && propagation_.changed(store_)) return true;
  store_.undo();
  return neighborhood_ = false;
}

std::optional<Decision> CpSearch::choose() {
  for (; phase_ < current_->size(); ++phase_) {
    OpenPhase& phase = (*current_)[phase_];
    const cp::Var x = select(phase);
    if (x < 0) continue;
    const auto index = static_cast<std::size_t>(x);
    ValueChoice choice = phase.phase->value;
    std::int64_t saved = 0;
    if (repair_) {
      if (*repair_ == RepairValues::impact)
        if (const auto decision = decision_by_impact(x)) return decision;
      if (*repair_ == RepairValues::random) choice = ValueChoice::random;
      if (*repair_ == RepairValues::incumbent) choice = ValueChoice::saved;
      saved = best_[index];
    } else if (!best_.empty() && free_) {
      choice = ValueChoice::saved;
      saved = best_[index];
    } else if (best_.empty() && hinted_[index]) {
      choice = ValueChoice::saved;
      saved = hints_[index];
    }
    if (choice == ValueChoice::saved && !store_.contains(x, saved)) choice = phase.phase->value;
    const bool draws = choice == ValueChoice::random || choice == ValueChoice::split_random;
    return decision_on(store_, x, choice, draws ? random_bits(seed_, draws_++, 0, 0) : 0, saved);
  }
  phase_ = current_->size() - 1;
  return std::nullopt;
}

/// Each value is tried: one node each. None: the domain is too large, or no value is left.
std::optional<Decision> CpSearch::decision_by_impact(cp::Var x) {
  const std::int64_t last = store_.upper(x);
  if (store_.size(x) > most_tried) return std::nullopt;
  const bool least = model_.goal != cp::Goal::maximise;
  std::optional<std::int64_t> best, value;
  for (std::int64_t v = store_.lower(x); v <= last; ++v) {
    v = store_.next(x, v);
    ++statistics_.nodes;
    store_.push();
    if (store_.assign(x, v) && propagation_.changed(store_)) {
      const std::int64_t bound = least ? store_.lower(compiled_.objective) : -store_.upper(compiled_.objective);
      if (!best || bound < *best) {
        best = bound;
        value = v;
      }
    }
    store_.undo();
  }
  if (!value) return std::nullopt;
  return decision_on(store_, x, ValueChoice::saved, 0, *value);
}

/// The next variable of a phase; -1: all are fixed.
cp::Var CpSearch::select(OpenPhase& phase) {
  const std::vector<cp::Var>& variables = phase.phase->variables;
  const VariableChoice choice = phase.phase->variable;
  if (choice == VariableChoice::input_order) {
    const auto n = static_cast<std::int32_t>(variables.size());
    while (phase.first < n && store_.is_fixed(variables[static_cast<std::size_t>(phase.first)])) ++phase.first;
    return phase.first < n ? variables[static_cast<std::size_t>(phase.first)] : -1;
  }
  std::int32_t best = -1;
  for (std::int32_t k = 0; k < phase.open;) {
    const std::int32_t position = phase.order[static_cast<std::size_t>(k)];
    const cp::Var x = variables[static_cast<std::size_t>(position)];
    if (store_.is_fixed(x)) {
      std::swap(phase.order[static_cast<std::size_t>(k)], phase.order[static_cast<std::size_t>(--phase.open)]);
      continue;
    }
    ++k;
    if (best < 0) {
      best = position;
      continue;
    }
    const cp::Var y = variables[static_cast<std::size_t>(best)];
    if (better(choice, x, y) || (position < best && !better(choice, y, x))) best = position;
  }
  return best < 0 ? -1 : variables[static_cast<std::size_t>(best)];
}

/// Does x come before y?
bool CpSearch::better(VariableChoice choice, cp::Var x, cp::Var y) const {
  const auto regret = [this](cp::Var v) { return store_.next(v, store_.lower(v) + 1) - store_.lower(v); };
  switch (choice) {
    case VariableChoice::input_order:
      return false;
    case VariableChoice::first_fail:
      return store_.size(x) < store_.size(y);
    case VariableChoice::anti_first_fail:
      return store_.size(x) > store_.size(y);
    case VariableChoice::smallest:
      return store_.lower(x) < store_.lower(y);
    case VariableChoice::largest:
      return store_.upper(x) > store_.upper(y);
    case VariableChoice::occurrence:
      return network_.degree(x) > network_.degree(y);
    case VariableChoice::most_constrained:
      return store_.size(x) != store_.size(y) ? store_.size(x) < store_.size(y) : network_.degree(x) > network_.degree(y);
    case VariableChoice::max_regret:
      return regret(x) > regret(y);
    case VariableChoice::dom_w_deg: {
      __extension__ using Wide = __int128;
      return Wide{store_.size(x)} * weights_[static_cast<std::size_t>(y)] < Wide{store_.size(y)} * weights_[static_cast<std::size_t>(x)];
    }
  }
  return false;
}

void CpSearch::note_solution() {
  ++statistics_.solutions;
  if (model_.goal == cp::Goal::satisfy) cutoff_ = std::numeric_limits<std::int64_t>::max();  // a restart would find it again
  best_.resize(weights_.size());
  for (std::size_t x = 0; x < best_.size(); ++x) best_[x] = static_cast<std::int32_t>(store_.lower(static_cast<cp::Var>(x)));
  bound_ = objective_of(best_) - (model_.goal == cp::Goal::minimise ? 1 : -1);
}

}  // namespace vicinity::lns
