#pragma once
// What the CPU implementations share: walkers, steps and passes of the contract (core/methods/lns/lns.hpp). An engine keeps an assignment
// and knows what it costs.
//
// Data: an engine and a store of domains a thread; the subsets of a step; of the walkers, the best result a thread. Walkers are dealt to
// threads one by one: what they cost differs. Synchronisation: one barrier a step.
#include <omp.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/methods/lns/task.hpp"
#include "core/problems/cp/propagation.hpp"
#include "core/util/digest.hpp"
#include "cpu_ref/run/search_run.hpp"

namespace vicinity::lns {

/// Keeps values of all slots; made from the problem.
template <class E>
concept Engine = requires(E& engine, const E& constant, std::span<const std::int32_t> values, std::int32_t slot) {
  engine.load(values);                                             // of all variables of the model
  engine.set(slot, slot);                                          // a free variable's slot, its value
  { constant.get(slot) } -> std::same_as<std::int32_t>;            // of a free variable
  { engine.cost() } -> std::same_as<std::int64_t>;                 // of the assignment; `inconsistent` where it breaks a constraint
  { engine.values() } -> std::same_as<std::vector<std::int32_t>>;  // of all variables, after cost()
};

/// Starting points by CP: the free variables of a subset get random values one after the other, what follows is propagated.
class CpStarts {
 public:
  explicit CpStarts(const cp::Problem& problem)
      : problem_(&problem), store_(*problem.compiled().network), propagation_(*problem.compiled().network) {
    if (!propagation_.all(store_)) store_.forget();
  }

  /// Fixes all free variables outside the subset as the incumbent has them.
  void release(std::span<const std::int32_t> incumbent, std::span<const std::int32_t> subset) {
    while (store_.level() > 0) store_.undo();
    store_.push();
    std::vector<bool> released(static_cast<std::size_t>(problem_->free_variables().count), false);
    for (const std::int32_t d : subset) released[static_cast<std::size_t>(d)] = true;
    bool consistent = true;
    for (std::int32_t d = 0; d < problem_->free_variables().count && consistent; ++d)
      if (!released[static_cast<std::size_t>(d)]) consistent = store_.assign(variable(d), incumbent[static_cast<std::size_t>(slot(d))]);
    if (!consistent || !propagation_.changed(store_)) store_.forget();  // never: the incumbent is a solution
  }
  /// Attempt `a`: the values found in the order of the subset. False: it failed.
  [[nodiscard]] bool attempt(const Draws& draws, std::int64_t a, std::span<const std::int32_t> subset, std::vector<std::int32_t>& values) {
    store_.push();
    bool consistent = true;
    for (std::size_t k = 0; k < subset.size() && consistent; ++k) {
      const cp::Var x = variable(subset[k]);
      const auto draw = static_cast<std::uint64_t>(a) * subset.size() + k;
      consistent = store_.assign(x, element(x, draws.below(draw, store_.size(x)))) && propagation_.changed(store_);
      values[k] = static_cast<std::int32_t>(store_.lower(x));
    }
    store_.undo();
    return consistent;
  }

 private:
  [[nodiscard]] std::int32_t slot(std::int32_t d) const { return problem_->free_variables().variables[d].slot; }
  [[nodiscard]] cp::Var variable(std::int32_t d) const { return problem_->compiled().variable_of[static_cast<std::size_t>(slot(d))]; }
  /// Value number k of a domain, ascending.
  [[nodiscard]] std::int64_t element(cp::Var x, std::int64_t k) const {
    if (!store_.masked(x)) return store_.lower(x) + k;
    std::int64_t value = store_.lower(x);
    for (; k > 0; --k) value = store_.next(x, value + 1);
    return value;
  }

  const cp::Problem* problem_;
  cp::Store store_;
  cp::Propagation propagation_;
};

/// The least (cost, walker) of some walkers, and what they add up to.
struct Results {
  std::int64_t cost = inconsistent, walker = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int32_t> values;  ///< of the subset's free variables
  std::uint64_t tally = 0;
  std::int64_t evaluations = 0, started = 0;

  void merge(Results& other) {
    if (std::pair(other.cost, other.walker) < std::pair(cost, walker)) {
      cost = other.cost;
      walker = other.walker;
      values.swap(other.values);
    }
    tally += other.tally;
    evaluations += other.evaluations;
    started += other.started;
  }
};

/// Walks, one walker after the other. `E` is kept at the incumbent between them.
template <Engine E>
class Walker {
 public:
  Walker(const cp::Problem& problem, const Task& task)
      : free_(problem.free_variables()), sense_(problem.sense()), task_(&task), engine_(problem), starts_(problem) {}

  /// Walks until then throw Interrupted when that is wanted, and leave nothing that the next step would not overwrite.
  void begin_step(std::span<const std::int32_t> incumbent, const Interruption& interruption) {
    incumbent_ = incumbent;
    interruption_ = interruption;
    engine_.load(incumbent);
    loaded_ = -1;
    results_ = {};
  }
  void walk(const Draws& draws, std::span<const std::int32_t> subset) {
    subset_ = subset;
    draws_ = draws;
    best_ = inconsistent;
    current_.resize(subset.size());
    best_values_.resize(subset.size());
    if (task_->search == LocalSearch::complete)
      enumerate();
    else if (start())
      search();
    for (std::size_t k = 0; k < subset.size(); ++k) engine_.set(slot(k), incumbent_[static_cast<std::size_t>(slot(k))]);
    results_.tally += tally(draws.walker, best_);
    if (best_ == inconsistent) return;
    Results one;
    one.cost = best_;
    one.walker = draws.walker;
    one.values.swap(best_values_);
    results_.merge(one);
  }
  [[nodiscard]] Results& results() { return results_; }
  [[nodiscard]] E& engine() { return engine_; }

 private:
  [[nodiscard]] std::int64_t n() const { return static_cast<std::int64_t>(subset_.size()); }
  [[nodiscard]] std::int32_t slot(std::size_t k) const { return free_.variables[subset_[k]].slot; }
  [[nodiscard]] std::int64_t size(std::size_t k) const { return free_.variables[subset_[k]].size; }
  [[nodiscard]] std::int32_t random_value(std::size_t k, std::uint64_t draw) const {
    return free_.value(subset_[k], draws_.below(draw, size(k)));
  }
  void set(std::size_t k, std::int32_t value) {
    current_[k] = value;
    engine_.set(slot(k), value);
  }
  /// Evaluates the assignment and keeps it where it is the best so far.
  std::int64_t cost() {
    if (++results_.evaluations % 16 == 0) interruption_.check();
    const std::int64_t found = engine_.cost();
    if (found < best_) {
      best_ = found;
      best_values_ = current_;
    }
    return found;
  }

  /// False: the walker has no starting point.
  [[nodiscard]] bool start() {
    const bool found = task_->start == StartingPoint::cp ? start_by_cp() : start_at_once();
    results_.started += best_ != inconsistent ? 1 : 0;
    return found;
  }
  [[nodiscard]] bool start_at_once() {
    for (std::size_t k = 0; k < subset_.size(); ++k)
      set(k, task_->start == StartingPoint::random ? random_value(k, k) : incumbent_[static_cast<std::size_t>(slot(k))]);
    cost_ = cost();
    return true;
  }
  [[nodiscard]] bool start_by_cp() {
    if (const std::int64_t subset = draws_.walker / task_->starts; subset != loaded_) {
      starts_.release(incumbent_, subset_);
      loaded_ = subset;
    }
    for (std::int64_t a = 0; a < start_attempts; ++a) {
      interruption_.check();
      if (!starts_.attempt(draws_, a, subset_, current_)) continue;
      for (std::size_t k = 0; k < subset_.size(); ++k) set(k, current_[k]);
      cost_ = cost();
      if (cost_ != inconsistent) return true;
    }
    return false;
  }

  void search() {
    switch (task_->search) {
      case LocalSearch::random_labeling:
        return label();
      case LocalSearch::random_permutation:
        return permute();
      case LocalSearch::two_exchange:
        return exchange();
      case LocalSearch::gibbs:
        return sample();
      case LocalSearch::conditional_mode:
        return improve();
      case LocalSearch::complete:
        return;
    }
  }
  void label() {
    for (std::int64_t r = 0; r < task_->repetitions; ++r) {
      for (std::size_t k = 0; k < subset_.size(); ++k) set(k, random_value(k, search_draw(n(), r, n(), static_cast<std::int64_t>(k))));
      cost();
    }
  }
  /// Knuth's shuffle, of what the repetition before has left.
  void permute() {
    for (std::int64_t r = 0; r < task_->repetitions; ++r) {
      std::vector<std::int32_t>& values = shuffled_;
      values = current_;
      for (std::int64_t k = n() - 1; k > 0; --k)
        std::swap(values[static_cast<std::size_t>(k)], values[static_cast<std::size_t>(draws_.below(search_draw(n(), r, n(), k), k + 1))]);
      for (std::size_t k = 0; k < subset_.size(); ++k) set(k, values[k]);
      cost();
    }
  }
  void exchange() {
    const std::int64_t pair = draws_.walker % task_->starts;
    if (pair >= pairs_of(n())) return;
    const auto [first, second] = pair_of(n(), pair);
    const std::int32_t value = current_[static_cast<std::size_t>(first)];
    set(static_cast<std::size_t>(first), current_[static_cast<std::size_t>(second)]);
    set(static_cast<std::size_t>(second), value);
    cost();
  }
  void sample() {
    for (std::int64_t r = 0; r < task_->repetitions; ++r)
      for (std::size_t k = 0; k < subset_.size(); ++k) {
        const std::int32_t old = current_[k];
        const std::uint64_t draw = search_draw(n(), r, 2 * n(), 2 * static_cast<std::int64_t>(k));
        const std::int64_t other = draws_.below(draw, size(k) - 1);
        set(k, free_.value(subset_[k], other + (other >= free_.number_of(subset_[k], old) ? 1 : 0)));
        const std::int64_t found = cost();
        if (accepts(cost_, found, sense_, draws_.bits(draw + 1)))
          cost_ = found;
        else
          set(k, old);
      }
  }
  void improve() {
    for (std::int64_t r = 0; r < task_->repetitions; ++r)
      for (std::size_t k = 0; k < subset_.size(); ++k) {
        std::int32_t chosen = current_[k];
        std::int64_t least = inconsistent;
        for (std::int64_t j = 0; j < size(k); ++j) {
          set(k, free_.value(subset_[k], j));
          if (const std::int64_t found = cost(); found < least) {
            least = found;
            chosen = current_[k];
          }
        }
        set(k, chosen);
      }
  }
  /// The first free variable of the subset is the last digit of a combination's number.
  void enumerate() {
    std::int64_t combinations = 1;
    for (std::size_t k = 0; k < subset_.size(); ++k) combinations *= size(k);
    for (std::int64_t c = draws_.walker % task_->starts; c < combinations; c += task_->starts) {
      std::int64_t rest = c;
      for (std::size_t k = 0; k < subset_.size(); rest /= size(k), ++k) set(k, free_.value(subset_[k], rest % size(k)));
      cost();
    }
    results_.started += best_ != inconsistent ? 1 : 0;
  }

  cp::FreeVariablesView free_;
  Sense sense_;
  const Task* task_;
  E engine_;
  CpStarts starts_;
  Interruption interruption_;
  std::span<const std::int32_t> incumbent_, subset_;
  std::int64_t loaded_ = -1;  ///< the subset that starts_ has released
  Draws draws_{};
  std::vector<std::int32_t> current_, best_values_, shuffled_;  ///< [free variable of the subset]
  std::int64_t cost_ = inconsistent, best_ = inconsistent;
  Results results_;
};

/// A search under way.
template <Engine E>
class LnsState {
 public:
  LnsState(const cp::Problem& problem, const Task& task, const Start& start, int threads)
      : problem_(&problem),
        task_(task),
        seed_(start.seed),
        given_(start.solution),
        released_(released_of(task, problem)),
        threads_(threads) {}

  [[nodiscard]] const std::optional<Solution>& given() const { return given_; }

  void begin_at(std::vector<std::int32_t> first) {
    first_ = std::move(first);
    if (first_.empty()) return;  // nothing to search from
    for (int k = 0; k < threads_; ++k) walkers_.push_back(std::make_unique<Walker<E>>(*problem_, task_));
    E& engine = walkers_.front()->engine();
    engine.load(first_);
    search_.first = search_.cost = cost_ = engine.cost();
    search_.best = incumbent_ = first_;
    subsets_.resize(static_cast<std::size_t>(task_.subsets * released_));
    order_.resize(static_cast<std::size_t>(problem_->free_variables().count));
  }

  [[nodiscard]] bool done() const { return first_.empty() || search_.steps == task_.whole(); }
  [[nodiscard]] std::int64_t steps() const { return search_.steps; }
  /// Interrupted, it has done nothing.
  void step(const Interruption& interruption) {
    if (search_.steps > 0 && search_.steps % task_.steps == 0) {  // the next pass
      incumbent_ = first_;
      cost_ = search_.first;
    }
    release_subsets();
    Results found = walk(interruption);
    digest_.add(static_cast<std::uint64_t>(found.cost));
    digest_.add(static_cast<std::uint64_t>(found.walker));
    digest_.add(found.tally);
    search_.evaluations += found.evaluations;
    search_.started += found.started;
    if (found.cost < cost_) accept(found);
    ++search_.steps;
  }
  [[nodiscard]] TracePoint progress() const {
    const bool none = first_.empty();
    const Objective best = none ? Objective::infeasible(problem_->sense())
                                : Objective(problem_->sense() == Sense::maximise ? -search_.cost : search_.cost, problem_->sense());
    return {.iterations = search_.steps, .objective = best, .digest = digest_.value()};
  }
  [[nodiscard]] Search result() const {
    Search search = search_;
    search.digest = digest_.value();
    return search;
  }

 private:
  [[nodiscard]] std::span<const std::int32_t> subset(std::int64_t i) const {
    return std::span(subsets_).subspan(static_cast<std::size_t>(i * released_), static_cast<std::size_t>(released_));
  }
  void release_subsets() {
    for (std::int64_t i = 0; i < task_.subsets; ++i) {
      std::iota(order_.begin(), order_.end(), 0);
      std::int32_t* order = order_.data();
      release({seed_, search_.steps, task_.walkers() + i}, problem_->free_variables().count, released_, order);
      std::copy_n(order_.begin(), released_, subsets_.begin() + static_cast<std::ptrdiff_t>(i * released_));
    }
  }
  [[nodiscard]] Results walk(const Interruption& interruption) {
    const auto mine = [this]() -> Walker<E>& { return *walkers_[static_cast<std::size_t>(omp_get_thread_num())]; };
    for_each_in_parallel(
        task_.walkers(), static_cast<int>(walkers_.size()), [&] { mine().begin_step(incumbent_, interruption); },
        [&](std::int64_t w) {
          mine().walk({seed_, search_.steps, w}, subset(w / task_.starts));
        });
    Results all;
    for (const auto& walker : walkers_) all.merge(walker->results());
    return all;
  }
  void accept(const Results& found) {
    const auto released = subset(found.walker / task_.starts);
    E& engine = walkers_.front()->engine();
    for (std::size_t k = 0; k < released.size(); ++k) engine.set(problem_->free_variables().variables[released[k]].slot, found.values[k]);
    cost_ = engine.cost();
    incumbent_ = engine.values();
    if (cost_ >= search_.cost) return;
    search_.cost = cost_;
    search_.best = incumbent_;
  }

  const cp::Problem* problem_;
  Task task_;
  std::uint64_t seed_;
  std::optional<Solution> given_;
  std::int64_t released_;
  int threads_;
  std::vector<std::int32_t> first_, incumbent_;      ///< [variable]
  std::int64_t cost_ = inconsistent;                 ///< of the incumbent
  std::vector<std::unique_ptr<Walker<E>>> walkers_;  ///< [thread]
  std::vector<std::int32_t> subsets_, order_;
  Digest digest_;
  Search search_;
};

/// The one search of a case, for SearchRun. Its iterations are steps.
template <Engine E>
class LnsSearch {
 public:
  struct Method {
    int threads;
  };
  using State = LnsState<E>;
  using Result = Search;

  /// `first`: a first solution; without it, that of CP search.
  LnsSearch(const cp::Problem& problem, const Task& task, std::optional<std::vector<std::int32_t>> first)
      : problem_(&problem), task_(task), first_(std::move(first)) {}

  [[nodiscard]] static std::int64_t count() { return 1; }
  [[nodiscard]] std::unique_ptr<State> begin(Method& method, const Start& start, std::int64_t) const {
    check_start(*problem_, start);
    return std::make_unique<State>(*problem_, task_, start, method.threads);
  }
  void set_up(Method&, State& state, const Interruption& interruption) {
    if (state.given()) return state.begin_at(*state.given());
    if (!first_) {
      std::vector<std::int32_t> found = first_solution(*problem_, interruption.flag());
      interruption.check();
      first_ = std::move(found);
    }
    state.begin_at(*first_);
  }
  static void step(Method&, State& state, const StepLimit& limit) {
    if (!state.done() && state.steps() < limit.iterations) state.step(limit.interruption);
  }
  [[nodiscard]] static bool done(const State& state) { return state.done(); }
  [[nodiscard]] static TracePoint progress(const State& state) { return state.progress(); }
  [[nodiscard]] static Result result(const State& state) { return state.result(); }
  [[nodiscard]] Outcome judge(const std::vector<Result>& searches, bool) const { return lns::judge(*problem_, searches); }
  [[nodiscard]] static Policy policy(const Method& method, std::size_t) { return {{"threads", method.threads}}; }
  [[nodiscard]] static Work work(const Method&, const std::vector<Result>&, std::size_t) { return {}; }

 private:
  const cp::Problem* problem_;
  Task task_;
  /// Found when a run begins for the first time, and kept: in the run that is checked, before the clock runs, as the paper's Table 2 has
  /// it.
  std::optional<std::vector<std::int32_t>> first_;
};

/// The caller keeps the problem alive.
template <Engine E>
[[nodiscard]] std::unique_ptr<Run> cpu_run(const cp::Problem& problem, const Task& task, std::optional<std::vector<std::int32_t>> first,
                                           int threads) {
  using Searches = LnsSearch<E>;
  std::vector<std::unique_ptr<typename Searches::Method>> methods;
  methods.push_back(std::make_unique<typename Searches::Method>(threads));
  return std::make_unique<SearchRun<Searches>>(Searches(problem, task, std::move(first)), std::move(methods));
}

}  // namespace vicinity::lns
