#pragma once
// The host's part of gpu-hybrid: what lines are given, and what becomes of what they hand back, in memory that is copied in one piece each
// way. Islands go on by themselves until they tell each other something (core/methods/alns/hybrid/islands.hpp), and threads share what is
// to be done for lines.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/api/team.hpp"
#include "core/methods/alns/hybrid/islands.hpp"
#include "core/methods/alns/task.hpp"
#include "core/util/parallel.hpp"
#include "kernels/alns/hybrid/memory.hpp"
#include "kernels/alns/hybrid/workers.hpp"

namespace vicinity::alns::hybrid::block {

/// Its lambdas name what they capture: nvcc writes [&] with members anew, and they come in another order than in the objects of the host's
/// compiler, with which one program has them in common.
class Generations {
 public:
  /// `team`: of Islands.
  Generations(const vrp::Vrp& vrp, const Task& task, std::uint64_t seed, std::optional<Routes> given, Team* team = nullptr)
      : n_(vrp.size()),
        calls_(task.calls),
        seed_(seed),
        islands_(vrp, task.processes, task.removals, seed, std::move(given), true, team),
        nodes_(Packed::nodes(n_, routes())),
        jobs(static_cast<std::size_t>(task.processes)),
        inputs(jobs.size() * nodes_),
        states(jobs.size()),
        handed(inputs.size()),
        best(inputs.size()),
        workers_(worker_count()) {}

  [[nodiscard]] const Granular& granular() const { return islands_.granular(); }
  [[nodiscard]] std::int32_t routes() const { return islands_.granular().routes; }
  /// Of a solution at rest.
  [[nodiscard]] std::size_t nodes() const { return nodes_; }
  /// Lines first .. first + count - 1.
  struct Lines {
    std::size_t first, count;
  };
  /// Of this rank.
  [[nodiscard]] Lines own_lines() const { return lines_between(islands_.first_line(), islands_.end_line()); }
  /// Islands that have lines of this rank; its lines of island i of those.
  [[nodiscard]] std::size_t islands() { return islands_.here().size(); }
  [[nodiscard]] Lines lines(std::size_t i) {
    const Island& island = islands_.here()[i];
    return lines_between(std::max(island.first(), islands_.first_line()), std::min(island.first() + island.lines(), islands_.end_line()));
  }

  // --- generations of island i, beside what others do --------------------------------------------------------------------------------

  /// So many it may make before end().
  [[nodiscard]] std::int64_t until_end() const { return islands_.until_end(); }
  /// The next one: makes jobs and inputs of this rank's lines.
  void prepare(std::size_t i) {
    islands_.here()[i].next();
    const Lines own = lines(i);
    workers_.each(own.count, [this, &own](std::size_t k) { prepare_line(own.first + k); });
  }
  /// When `states` of this rank's lines have come back: is the best solution of line b, an annealing one, wanted?
  [[nodiscard]] bool improves(std::size_t b) const {
    return annealing(b) && island_of(b).improves(line(b), false, states[b].best_distance);
  }
  /// When `states` and `handed` have come back, and `best` of the lines that improve.
  void finish(std::size_t i) {
    Island& island = islands_.here()[i];
    const Lines own = lines(i);
    for (std::size_t b = own.first; b < own.first + own.count; ++b) {
      const LineState& state = states[b];
      if (improves(b)) island.offer(line(b), false, state.best_distance, unpacked(&best[b * nodes_]));
      if (island.hands_over(line(b)) && state.handed_feasible && island.improves(line(b), true, state.handed_distance))
        island.offer(line(b), true, state.handed_distance, unpacked(&handed[b * nodes_]));
    }
    if (!islands_.shared()) merge(island, [this, &island](std::size_t b) { return handed_back(island, b); });
  }
  Workers& workers() { return workers_; }

  // --- all islands -------------------------------------------------------------------------------------------------------------------

  /// After each has made `made` generations.
  void end(std::int64_t made) {
    if (islands_.shared()) merge_shared();
    islands_.end(made, evaluations());
  }
  /// What was found since the last end() counts.
  void agree_on_best() { islands_.agree_on_best(evaluations()); }
  [[nodiscard]] std::int64_t count() const { return islands_.generations(); }
  [[nodiscard]] bool done() const { return calls_ > 0 ? count() >= calls_ : islands_.idle_cycles() >= most_idle_cycles; }
  [[nodiscard]] Objective objective() const {
    return islands_.best_distance() ? Objective(*islands_.best_distance()) : Objective::infeasible();
  }
  [[nodiscard]] std::uint64_t digest() const { return islands_.digest(); }
  [[nodiscard]] Search result() const {
    return {count(), islands_.cycles(), islands_.evaluations(), digest(), islands_.best_distance().value_or(0), islands_.best()};
  }

 private:
  [[nodiscard]] static std::int32_t line(std::size_t b) { return static_cast<std::int32_t>(b); }
  [[nodiscard]] static bool annealing(std::size_t b) { return anneals(line(b)); }
  [[nodiscard]] static Lines lines_between(std::int32_t first, std::int32_t end) {
    return {static_cast<std::size_t>(first), static_cast<std::size_t>(end - first)};
  }
  [[nodiscard]] const Island& island_of(std::size_t b) const { return islands_.of(line(b)); }
  [[nodiscard]] std::int64_t evaluations() const {
    std::int64_t evaluations = 0;
    for (const LineState& state : states) evaluations += state.evaluations;
    return evaluations;
  }
  [[nodiscard]] Handed handed_back(const Island& island, std::size_t b) const {
    const LineState& state = states[b];
    return {island.hands_over(line(b)) ? unpacked(&handed[b * nodes_]) : Routes(), state.load_feasible, state.duration_feasible,
            annealing(b) ? state.best_distance : state.handed_distance};
  }
  /// More only wait for each other. A rank is bound to its share of the host's cores; one thread watches the streams, another puts pooled
  /// routes together.
  static constexpr std::size_t most_workers = 16, other_threads = 2;
  [[nodiscard]] static std::size_t worker_count() {
    const std::size_t cores = usable_cores();
    return cores > other_threads ? std::min(cores - other_threads, most_workers) : 1;
  }
  /// back(b): what line b hands back.
  template <class Back>
  void merge(Island& island, const Back& back) {
    island.merge([&island, &back](std::size_t k) { return back(static_cast<std::size_t>(island.first()) + k); },
                 [this](std::size_t count, const auto& f) { workers_.each(count, f); });
  }
  void merge_shared() {
    std::vector<Handed> back(jobs.size());
    const auto [first, count] = own_lines();
    for (std::size_t b = first; b < first + count; ++b) back[b] = handed_back(island_of(b), b);
    islands_.exchange(back);
    for (Island& island : islands_.here()) merge(island, [&back](std::size_t b) { return std::move(back[b]); });
  }
  void prepare_line(std::size_t b) {
    const Island& island = island_of(b);
    const Job job = island.job(line(b));
    jobs[b] = {job.penalties, job.temperature, job.cooling,        seed_,   island.generations(), job.steps, line(b),
               annealing(b),  job.begins(),    !job.order.empty(), job.ends};
    Node* const input = &inputs[b * nodes_];
    for (std::size_t i = 0; i < job.order.size(); ++i) input[i] = static_cast<Node>(job.order[i]);
    std::size_t at = 0;
    for (std::size_t r = 0; r < job.routes.size(); ++r) {
      for (const std::int32_t c : job.routes[r]) input[at++] = static_cast<Node>(c);
      input[static_cast<std::size_t>(n_) + r] = static_cast<Node>(at);
    }
  }
  [[nodiscard]] Routes unpacked(const Node* nodes) const {
    Routes made(static_cast<std::size_t>(routes()));
    std::int32_t from = 0;
    for (std::int32_t r = 0; r < routes(); ++r) {
      const std::int32_t end = nodes[n_ + r];
      made[static_cast<std::size_t>(r)].assign(nodes + from, nodes + end);
      from = end;
    }
    return made;
  }

  std::int32_t n_;
  std::int64_t calls_;
  std::uint64_t seed_;
  Islands islands_;
  std::size_t nodes_;

 public:
  std::vector<LineJob> jobs;      ///< [line]
  std::vector<Node> inputs;       ///< [line][nodes()]
  std::vector<LineState> states;  ///< [line]
  std::vector<Node> handed;       ///< [line][nodes()]
  std::vector<Node> best;         ///< [line][nodes()] of lines that improve

 private:
  Workers workers_;  // last: what is posted uses the others
};

}  // namespace vicinity::alns::hybrid::block
