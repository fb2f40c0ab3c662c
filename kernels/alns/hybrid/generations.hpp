#pragma once
// The host's part of gpu-hybrid: what lines are given, and what becomes of what they hand back, in memory that is copied in one piece each
// way. Threads share jobs and islands.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/methods/alns/hybrid/islands.hpp"
#include "core/methods/alns/task.hpp"
#include "core/util/digest.hpp"
#include "kernels/alns/hybrid/memory.hpp"
#include "kernels/alns/hybrid/workers.hpp"

namespace vicinity::alns::hybrid::block {

class Generations {
 public:
  Generations(const vrp::Vrp& vrp, const Task& task, std::uint64_t seed, std::optional<Routes> given)
      : n_(vrp.size()),
        calls_(task.calls),
        seed_(seed),
        islands_(vrp, task.processes, task.removals, seed, std::move(given), true),
        nodes_(Packed::nodes(n_, routes())),
        jobs(static_cast<std::size_t>(task.processes)),
        inputs(jobs.size() * nodes_),
        states(jobs.size()),
        handed(inputs.size()) {}

  [[nodiscard]] const Granular& granular() const { return islands_.granular(); }
  [[nodiscard]] std::int32_t routes() const { return islands_.granular().routes; }
  /// Of a solution at rest.
  [[nodiscard]] std::size_t nodes() const { return nodes_; }
  [[nodiscard]] std::int64_t count() const { return islands_.generations(); }
  [[nodiscard]] bool done() const { return calls_ > 0 ? count() >= calls_ : islands_.idle_cycles() >= most_idle_cycles; }

  /// The next generation: makes jobs and inputs.
  void prepare() {
    islands_.next();
    workers_.each(jobs.size(), [&](std::size_t b) { prepare(b); });
  }
  /// After `states` and `handed` have come back. best_of(b) gives the customers and ends of an annealing line's best.
  template <class BestOf>
  void finish(const BestOf& best_of) {
    for (std::size_t b = 0; b < jobs.size(); ++b) {
      const LineState& state = states[b];
      const bool annealing = jobs[b].anneals;
      digest_.add(static_cast<std::uint64_t>(annealing ? state.best_distance : state.handed_distance));
      if (annealing && state.best_distance < no_distance && better(state.best_distance))
        islands_.offer(unpacked(best_of(b)), state.best_distance);
      if ((!annealing || jobs[b].ends) && state.handed_feasible && better(state.handed_distance))
        islands_.offer(unpacked(&handed[b * nodes_]), state.handed_distance);
    }
    std::vector<Handed> back(jobs.size());
    workers_.each(jobs.size(), [&](std::size_t b) {
      if (!jobs[b].anneals || jobs[b].ends) back[b] = {unpacked(&handed[b * nodes_]), states[b].load_feasible, states[b].duration_feasible};
    });
    islands_.merge(back, [&](std::size_t count, const auto& f) { workers_.each(count, f); });
    islands_.end();
  }

  [[nodiscard]] Objective best() const { return islands_.best_distance() ? Objective(*islands_.best_distance()) : Objective::infeasible(); }
  [[nodiscard]] std::uint64_t digest() const { return digest_.value(); }
  [[nodiscard]] Search result() const {
    std::int64_t evaluations = 0;
    if (count() > 0)
      for (const LineState& state : states) evaluations += state.evaluations;
    return {count(), islands_.cycles(), evaluations, digest(), islands_.best_distance().value_or(0), islands_.best()};
  }

 private:
  void prepare(std::size_t b) {
    const Job job = islands_.job(static_cast<std::int32_t>(b));
    const auto line = static_cast<std::int32_t>(b);
    jobs[b] = {job.penalties, job.temperature, job.cooling,        seed_,   count(), job.steps, line,
               anneals(line), job.begins(),    !job.order.empty(), job.ends};
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
  [[nodiscard]] bool better(std::int64_t distance) const { return !islands_.best_distance() || distance < *islands_.best_distance(); }

  std::int32_t n_;
  std::int64_t calls_;
  std::uint64_t seed_;
  Islands islands_;
  std::size_t nodes_;
  Digest digest_;
  Workers workers_;

 public:
  std::vector<LineJob> jobs;      ///< [line]
  std::vector<Node> inputs;       ///< [line][nodes()]
  std::vector<LineState> states;  ///< [line]
  std::vector<Node> handed;       ///< [line][nodes()]
};

}  // namespace vicinity::alns::hybrid::block
