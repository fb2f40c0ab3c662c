#pragma once
// What the CPU implementations share around destroying and repairing: the bookkeeping of processes, calls and boundaries. An engine keeps a
// solution and its candidate, removes and inserts.
#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/methods/alns/alns.hpp"
#include "core/methods/alns/boundary.hpp"
#include "core/methods/alns/genetic.hpp"
#include "core/methods/alns/task.hpp"
#include "core/util/digest.hpp"
#include "cpu_ref/run/search_run.hpp"

namespace vicinity::alns {

/// [edge_index()] cost of the best solution that had the edge: `kept` as of the last boundary, `next` as of now.
class History {
 public:
  explicit History(std::int32_t n)
      : n_(n), kept_(static_cast<std::size_t>(n + 1) * static_cast<std::size_t>(n + 1), never_seen), next_(kept_) {}

  [[nodiscard]] std::int32_t kept(std::int32_t a, std::int32_t b) const { return kept_[static_cast<std::size_t>(edge_index(n_, a, b))]; }
  /// Several threads may note edges at a time.
  void note(std::int32_t a, std::int32_t b, std::int32_t cost) {
    std::atomic_ref<std::int32_t> entry(next_[static_cast<std::size_t>(edge_index(n_, a, b))]);
    std::int32_t old = entry.load(std::memory_order_relaxed);
    while (cost < old && !entry.compare_exchange_weak(old, cost, std::memory_order_relaxed)) {
    }
  }
  void end_call() { kept_ = next_; }

 private:
  std::int32_t n_;
  std::vector<std::int32_t> kept_, next_;
};

/// The draws of requests of one iteration.
struct Draws {
  std::uint64_t seed;
  std::int64_t iteration;
  std::int32_t process;
  std::int32_t n;

  [[nodiscard]] std::int32_t request(std::uint32_t a) const { return request_of(bits(seed, iteration, process, Draw::request, a), n); }
};

/// Keeps a solution, and a candidate that begins as its copy; made from the instance.
template <class E>
concept Engine = requires(E& engine, const E& fixed, const Tours& tours, Destroy destroy, Repair repair, std::int32_t k, const Draws& draws,
                          const History& history, const Interruption& interruption) {
  engine.load(tours);                          // the solution, and the candidate
  engine.begin();                              // the candidate becomes the solution again
  engine.destroy(destroy, k, draws, history);  // takes up to k requests from the candidate
  // inserts all requests removed; false: the candidate is not complete
  { engine.repair(repair, interruption) } -> std::same_as<bool>;
  engine.commit();                                          // the candidate becomes the solution
  { fixed.cost() } -> std::same_as<std::int64_t>;           // of the candidate, which is complete
  { fixed.tours() } -> std::same_as<Tours>;                 // of the candidate
  { fixed.contains(k) } -> std::same_as<bool>;              // the candidate a request
  engine.insert_if_feasible(k, k);                          // request, position
  { fixed.open_position() } -> std::same_as<std::int32_t>;  // of the empty tour of least number; -1: none
  { fixed.tours_used() } -> std::same_as<std::int32_t>;
  fixed.for_each_edge([](std::int32_t, std::int32_t) {});  // visit(node, next node) of the candidate; 0: the depot
  { fixed.evaluations() } -> std::same_as<std::int64_t>;   // requests x positions of all repair steps so far
};

/// Start s of a run; empty when the fleet cannot serve it by this construction.
template <Engine E>
[[nodiscard]] std::optional<Tours> constructed(E& engine, const vrp::View& vrp, std::uint64_t seed, std::int64_t s,
                                               const Interruption& interruption) {
  const std::int32_t n = vrp.n, fewest = fewest_tours(vrp);
  engine.load({});
  if (construction_of(s) == Construction::random) {
    const auto draws = scale_to(start_bits(seed, s, 0), static_cast<std::uint64_t>(n) + 1);
    for (std::uint64_t a = 0; a < draws; ++a) {
      const std::int32_t request = request_of(start_bits(seed, s, 2 * a + 1), n), beside = request_of(start_bits(seed, s, 2 * a + 2), n);
      if (engine.contains(request)) continue;
      if (engine.contains(beside))
        engine.insert_if_feasible(request, beside);
      else if (engine.tours_used() < fewest && engine.open_position() >= 0)
        engine.insert_if_feasible(request, engine.open_position());
    }
  } else if (construction_of(s) == Construction::dispersion) {
    std::vector<std::int32_t> nearest(static_cast<std::size_t>(n) + 1);  // [request] to the depot and those chosen; -1: chosen
    for (std::int32_t r = 1; r <= n; ++r) nearest[static_cast<std::size_t>(r)] = vrp(0, r);
    std::int32_t chosen = request_of(start_bits(seed, s, 0), n);
    for (std::int32_t t = 0; t < fewest && engine.open_position() >= 0; ++t) {
      if (t > 0) chosen = static_cast<std::int32_t>(std::max_element(nearest.begin() + 1, nearest.end()) - nearest.begin());
      if (nearest[static_cast<std::size_t>(chosen)] < 0) break;
      engine.insert_if_feasible(chosen, engine.open_position());
      nearest[static_cast<std::size_t>(chosen)] = -1;
      for (std::int32_t r = 1; r <= n; ++r) {
        std::int32_t& distance = nearest[static_cast<std::size_t>(r)];
        distance = std::min(distance, vrp(chosen, r));
      }
    }
  }
  if (!engine.repair(Repair::greedy, interruption)) return std::nullopt;
  return engine.tours();
}

/// 2-opt to a local optimum (section 3.6), tours one after the other: again and again the best reversal of a part of the tour, least
/// (delta, from, to). O(length^2) a reversal. Returns the change of the cost.
std::int64_t two_opt(const vrp::View& vrp, Tours& tours);

/// One process: its engine, and what the contract keeps beside the solution.
template <Engine E>
class Process {
 public:
  Process(const vrp::View& vrp, const Task& task, std::uint64_t seed, std::int32_t p)
      : vrp_(vrp), n_(vrp.n), variant_(task.variant), seed_(seed), p_(p), engine_(vrp) {}

  /// Begins at a solution, as at the beginning of a schedule.
  void start(const Tours& tours) {
    engine_.load(tours);
    cost_ = incumbent_cost_ = engine_.cost();
    incumbent_ = tours;
    first_temperature_ = temperature_ = first_temperature(cost_);
    since_start_ = 0;
    weights_.fill(first_weight);
  }
  /// 100 iterations; `call` counts from 0. Interrupted it keeps its incumbent.
  void call(std::int64_t call, History& history, const Interruption& interruption) {
    points_.fill(0);
    uses_.fill(0);
    for (std::int64_t i = call * iterations_a_call; i < (call + 1) * iterations_a_call; ++i) iterate(i, history, interruption);
    for (std::size_t pair = 0; pair < operator_pairs; ++pair) weights_[pair] = next_weight(weights_[pair], points_[pair], uses_[pair]);
    if (variant_ == Variant::local_search) improve(history);
  }
  [[nodiscard]] E& engine() { return engine_; }
  [[nodiscard]] const E& engine() const { return engine_; }
  [[nodiscard]] std::int64_t incumbent_cost() const { return incumbent_cost_; }
  [[nodiscard]] const Tours& incumbent() const { return incumbent_; }
  [[nodiscard]] std::uint64_t digest() const { return digest_.value(); }

 private:
  void iterate(std::int64_t i, History& history, const Interruption& interruption) {
    const std::int32_t k = removed_of(bits(seed_, i, p_, Draw::removed), n_);
    const std::int32_t pair = drawn_pair(weights_, bits(seed_, i, p_, Draw::pair));
    engine_.begin();
    engine_.destroy(destroy_of(pair), k, {seed_, i, p_, n_}, history);
    const bool complete = engine_.repair(repair_of(pair), interruption);
    const std::int64_t cost = complete ? engine_.cost() : 0;
    if (complete) note_edges(cost, history);
    const bool accepted = complete && accepts(cost - cost_, temperature_, bits(seed_, i, p_, Draw::acceptance));
    ++uses_[static_cast<std::size_t>(pair)];
    if (accepted) {
      points_[static_cast<std::size_t>(pair)] += cost < incumbent_cost_ ? points_best : cost < cost_ ? points_better : points_accepted;
      engine_.commit();
      cost_ = cost;
      if (cost < incumbent_cost_) {
        incumbent_cost_ = cost;
        incumbent_ = engine_.tours();
      }
    }
    for (const std::int64_t word : {std::int64_t{pair}, std::int64_t{k}, cost, std::int64_t{accepted}})
      digest_.add(static_cast<std::uint64_t>(word));
    temperature_ = next_temperature(temperature_, first_temperature_, ++since_start_);
  }
  /// 2-opt of the incumbent and of the current solution, which may become the incumbent (Variant::local_search).
  void improve(History& history) {
    engine_.begin();
    Tours current = engine_.tours();
    const auto improve_one = [&](Tours& tours, std::int64_t& cost) {
      cost += two_opt(vrp_, tours);
      engine_.load(tours);
      note_edges(cost, history);
    };
    improve_one(incumbent_, incumbent_cost_);
    improve_one(current, cost_);
    if (cost_ < incumbent_cost_) {
      incumbent_cost_ = cost_;
      incumbent_ = std::move(current);
    }
    for (const std::int64_t cost : {cost_, incumbent_cost_}) digest_.add(static_cast<std::uint64_t>(cost));
  }
  void note_edges(std::int64_t cost, History& history) const {
    engine_.for_each_edge([&](std::int32_t a, std::int32_t b) { history.note(a, b, static_cast<std::int32_t>(cost)); });
  }

  vrp::View vrp_;
  std::int32_t n_;
  Variant variant_;
  std::uint64_t seed_;
  std::int32_t p_;
  E engine_;
  std::int64_t cost_ = 0, incumbent_cost_ = 0;
  Tours incumbent_;
  double temperature_ = 0, first_temperature_ = 0;
  std::int64_t since_start_ = 0;  ///< iterations since the last start
  std::array<std::int32_t, operator_pairs> weights_{}, points_{}, uses_{};
  Digest digest_;
};

/// A search of all processes, under way.
template <Engine E>
class ProcessesState {
 public:
  ProcessesState(const vrp::View& vrp, const Task& task, const Start& start, int threads)
      : vrp_(vrp), task_(task), start_(start), threads_(threads), history_(vrp.n) {
    for (std::int32_t p = 0; p < task.processes; ++p) processes_.emplace_back(vrp, task, start.seed, p);
  }
  /// The first solutions. Interrupted it keeps those that are made.
  void set_up(const Interruption& interruption) {
    std::vector<std::optional<Tours>> made(static_cast<std::size_t>(task_.starts()));
    try {
      construct(made, interruption);
    } catch (const Interrupted&) {
      begin(std::move(made));
      throw;
    }
    begin(std::move(made));
  }

  /// 100 iterations of every process, and the boundary. Interrupted it takes the best so far.
  void call(const Interruption& interruption) {
    cut_short_ = false;
    try {
      each_process([&](std::size_t p) { processes_[p].call(boundary_->calls(), history_, interruption); });
    } catch (const Interrupted&) {
      for (const auto& process : processes_) take(process);
      cut_short_ = true;
      throw;
    }
    history_.end_call();
    std::vector<std::int64_t> incumbents;
    for (const auto& process : processes_) incumbents.push_back(process.incumbent_cost());
    boundary_->end_call(incumbents, start_costs_);
    if (const std::int32_t p = boundary_->improved_by(); p >= 0) take(processes_[static_cast<std::size_t>(p)]);
    const auto child = task_.variant == Variant::genetic ? born(incumbents) : std::nullopt;
    for (std::size_t p = 0; p < processes_.size(); ++p)
      if (const std::int64_t s = boundary_->restarts()[p]; s >= 0) processes_[p].start(starts_[static_cast<std::size_t>(s)]);
    if (child) raise(*child);
    if (boundary_->stop()) polish();
  }
  [[nodiscard]] bool done() const { return !boundary_ || boundary_->stop(); }
  [[nodiscard]] std::int64_t calls() const { return boundary_ ? boundary_->calls() : 0; }
  [[nodiscard]] TracePoint progress() const {
    return {.iterations = calls(), .objective = boundary_ ? Objective(best_cost_) : Objective::infeasible(), .digest = digest()};
  }
  [[nodiscard]] Search result() {
    if (!boundary_) return {};
    if (!polished_ && !cut_short_) polish();
    std::int64_t evaluations = 0;
    for (const auto& process : processes_) evaluations += process.engine().evaluations();
    return {calls(), boundary_->restarts_made(), evaluations, digest(), best_cost_ + gain_, polished_.value_or(best_), children_};
  }

 private:
  template <class Body>
  void each_process(const Body& body) {
    for_each_in_parallel(static_cast<std::int64_t>(processes_.size()), threads_,
                         [&](std::int64_t p) { body(static_cast<std::size_t>(p)); });
  }
  /// Process p makes starts p, p + P, ...
  void construct(std::vector<std::optional<Tours>>& made, const Interruption& interruption) {
    each_process([&](std::size_t p) {
      for (std::size_t s = p; s < made.size(); s += processes_.size())
        made[s] = constructed(processes_[p].engine(), vrp_, start_.seed, static_cast<std::int64_t>(s), interruption);
    });
  }
  /// The starts that serve all requests are kept, in order; a given solution comes before them. The processes begin there.
  void begin(std::vector<std::optional<Tours>> made) {
    if (start_.solution) made.insert(made.begin(), vrp::routes_of(*start_.solution));
    for (auto& tours : made) {
      if (!tours) continue;
      processes_.front().engine().load(*tours);
      start_costs_.push_back(processes_.front().engine().cost());
      starts_.push_back(std::move(*tours));
    }
    if (starts_.empty()) return;  // nothing to search from
    for (std::size_t p = 0; p < processes_.size(); ++p) processes_[p].start(starts_[p % starts_.size()]);
    std::vector<std::int64_t> first;
    for (const auto& process : processes_) first.push_back(process.incumbent_cost());
    boundary_.emplace(task_, first);
    best_cost_ = std::numeric_limits<std::int64_t>::max();
    take(processes_[static_cast<std::size_t>(boundary_->improved_by())]);
  }
  /// The process that is to begin again with a child, and the child; its parents are the incumbents as they are now.
  using Child = std::pair<std::int32_t, Tours>;
  [[nodiscard]] std::optional<Child> born(const std::vector<std::int64_t>& incumbents) const {
    if (boundary_->stop()) return std::nullopt;
    const std::optional<Birth> birth = birth_at(start_.seed, calls(), incumbents);
    if (!birth) return std::nullopt;
    const auto incumbent = [&](std::int32_t p) -> const Tours& { return processes_[static_cast<std::size_t>(p)].incumbent(); };
    std::optional<Tours> tours = child_of(vrp_, start_.seed, calls(), incumbent(birth->mother), incumbent(birth->father));
    if (!tours) return std::nullopt;
    return Child{birth->process, std::move(*tours)};
  }
  void raise(const Child& child) {
    const auto& [p, tours] = child;
    auto& process = processes_[static_cast<std::size_t>(p)];
    process.start(tours);
    boundary_->began(p, process.incumbent_cost());
    ++children_;
  }
  /// Its incumbent, where it is better.
  void take(const Process<E>& process) {
    if (process.incumbent_cost() >= best_cost_) return;
    best_cost_ = process.incumbent_cost();
    best_ = process.incumbent();
    polished_.reset();
    gain_ = 0;
  }
  void polish() {
    polished_ = best_;
    gain_ = two_opt(vrp_, *polished_);
  }
  [[nodiscard]] std::uint64_t digest() const {
    Digest digest;
    for (const auto& process : processes_) digest.add(process.digest());
    return digest.value();
  }

  vrp::View vrp_;
  Task task_;
  Start start_;
  int threads_;
  History history_;
  std::vector<Process<E>> processes_;
  std::vector<Tours> starts_;
  std::vector<std::int64_t> start_costs_;
  std::optional<Boundary> boundary_;
  Tours best_;
  std::int64_t best_cost_ = 0;
  std::int64_t children_ = 0;
  bool cut_short_ = false;         ///< in the last call: nobody waits for 2-opt, which takes long on long tours
  std::optional<Tours> polished_;  ///< the best after 2-opt
  std::int64_t gain_ = 0;          ///< of 2-opt, at most 0
};

/// The one search of a case, for SearchRun. Its iterations are calls.
template <Engine E>
class ProcessSearch {
 public:
  struct Method {
    int threads;
  };
  using State = ProcessesState<E>;
  using Result = Search;

  ProcessSearch(const vrp::Vrp& vrp, const Task& task) : vrp_(&vrp), task_(task) {}

  [[nodiscard]] static std::int64_t count() { return 1; }
  [[nodiscard]] std::unique_ptr<State> begin(Method& method, const Start& start, std::int64_t) const {
    check_start(*vrp_, start);
    return std::make_unique<State>(vrp_->view(), task_, start, method.threads);
  }
  static void set_up(Method&, State& state, const Interruption& interruption) { state.set_up(interruption); }
  static void step(Method&, State& state, const StepLimit& limit) {
    if (!state.done() && state.calls() < limit.iterations) state.call(limit.interruption);
  }
  [[nodiscard]] static bool done(const State& state) { return state.done(); }
  [[nodiscard]] static TracePoint progress(const State& state) { return state.progress(); }
  [[nodiscard]] static Result result(State& state) { return state.result(); }
  [[nodiscard]] Outcome judge(const std::vector<Result>& searches, bool) const { return alns::judge(*vrp_, searches); }
  [[nodiscard]] static Policy policy(const Method& method, std::size_t) { return {{"threads", method.threads}}; }
  [[nodiscard]] static Work work(const Method&, const std::vector<Result>&, std::size_t) { return {}; }

 private:
  const vrp::Vrp* vrp_;
  Task task_;
};

/// The caller keeps the instance alive.
template <Engine E>
[[nodiscard]] std::unique_ptr<Run> cpu_run(const Instance& instance, const Task& task, int threads) {
  using Searches = ProcessSearch<E>;
  std::vector<std::unique_ptr<typename Searches::Method>> methods;
  methods.push_back(std::make_unique<typename Searches::Method>(threads));
  return std::make_unique<SearchRun<Searches>>(Searches(dynamic_cast<const vrp::Vrp&>(instance), task), std::move(methods));
}

}  // namespace vicinity::alns
