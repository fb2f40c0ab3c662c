#pragma once
// The host's part of gpu-hybrid: what lines are given, and what becomes of what they hand back, in memory that is copied in one piece each
// way. Threads share jobs and islands. Ranks share lines: each gives its own ones what they are to do, and takes in what all hand back.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "core/api/team.hpp"
#include "core/methods/alns/hybrid/islands.hpp"
#include "core/methods/alns/task.hpp"
#include "core/util/digest.hpp"
#include "kernels/alns/hybrid/memory.hpp"
#include "kernels/alns/hybrid/workers.hpp"

namespace vicinity::alns::hybrid::block {

class Generations {
 public:
  /// `team`: ranks share the lines, rank after rank having consecutive ones; null: this process has all. It outlives this.
  Generations(const vrp::Vrp& vrp, const Task& task, std::uint64_t seed, std::optional<Routes> given, Team* team = nullptr)
      : n_(vrp.size()),
        calls_(task.calls),
        seed_(seed),
        islands_(vrp, task.processes, task.removals, seed, std::move(given), true),
        nodes_(Packed::nodes(n_, routes())),
        team_(team),
        first_(own_part(task.processes, team, 0)),
        end_(own_part(task.processes, team, 1)),
        jobs(static_cast<std::size_t>(task.processes)),
        inputs(jobs.size() * nodes_),
        states(jobs.size()),
        handed(inputs.size()),
        best(team != nullptr ? inputs.size() : 0) {}

  [[nodiscard]] const Granular& granular() const { return islands_.granular(); }
  [[nodiscard]] std::int32_t routes() const { return islands_.granular().routes; }
  /// Of a solution at rest.
  [[nodiscard]] std::size_t nodes() const { return nodes_; }
  /// Lines first_line() .. first_line() + own_lines() - 1 are this rank's.
  [[nodiscard]] std::size_t first_line() const { return first_; }
  [[nodiscard]] std::size_t own_lines() const { return end_ - first_; }
  [[nodiscard]] std::int64_t count() const { return islands_.generations(); }
  [[nodiscard]] bool done() const { return calls_ > 0 ? count() >= calls_ : islands_.idle_cycles() >= most_idle_cycles; }

  /// The next generation: makes jobs and inputs of this rank's lines.
  void prepare() {
    islands_.next();
    workers_.each(own_lines(), [&](std::size_t k) { prepare(first_ + k); });
  }
  /// After `states` and `handed` of this rank's lines have come back. best_of(b) gives the customers and ends of an annealing line's best.
  template <class BestOf>
  void finish(const BestOf& best_of) {
    if (team_ != nullptr) exchange(best_of);
    for (std::size_t b = 0; b < jobs.size(); ++b) {
      const LineState& state = states[b];
      digest_.add(static_cast<std::uint64_t>(annealing(b) ? state.best_distance : state.handed_distance));
      if (improves(b)) islands_.offer(unpacked(team_ != nullptr ? &best[b * nodes_] : best_of(b)), state.best_distance);
      if (hands_over(b) && state.handed_feasible && better(state.handed_distance))
        islands_.offer(unpacked(&handed[b * nodes_]), state.handed_distance);
    }
    std::vector<Handed> back(jobs.size());
    workers_.each(jobs.size(), [&](std::size_t b) {
      if (hands_over(b)) back[b] = {unpacked(&handed[b * nodes_]), states[b].load_feasible, states[b].duration_feasible};
    });
    islands_.merge(back, [&](std::size_t count, const auto& f) { workers_.each(count, f); });
    islands_.end();
  }

  [[nodiscard]] Objective objective() const {
    return islands_.best_distance() ? Objective(*islands_.best_distance()) : Objective::infeasible();
  }
  [[nodiscard]] std::uint64_t digest() const { return digest_.value(); }
  [[nodiscard]] Search result() const {
    std::int64_t evaluations = 0;
    if (count() > 0)
      for (const LineState& state : states) evaluations += state.evaluations;
    return {count(), islands_.cycles(), evaluations, digest(), islands_.best_distance().value_or(0), islands_.best()};
  }

 private:
  /// Lines before the rank that is `behind` this one.
  [[nodiscard]] static std::size_t own_part(std::int64_t lines, const Team* team, std::int64_t behind) {
    return static_cast<std::size_t>(team != nullptr ? lines * (team->rank() + behind) / team->size() : behind * lines);
  }
  [[nodiscard]] static bool annealing(std::size_t b) { return anneals(static_cast<std::int32_t>(b)); }
  /// Does what line b hands back count in this generation?
  [[nodiscard]] bool hands_over(std::size_t b) const { return !annealing(b) || islands_.cycle_ends(); }
  /// Would the best solution of line b, an annealing one, be taken?
  [[nodiscard]] bool improves(std::size_t b) const {
    return annealing(b) && states[b].best_distance < no_distance && better(states[b].best_distance);
  }

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
  /// States, what is handed back and better solutions of all ranks' lines come here.
  template <class BestOf>
  void exchange(const BestOf& best_of) {
    std::vector<std::int64_t> mine;
    for (std::size_t b = first_; b < end_; ++b) {
      append(&states[b], 1, mine);
      if (hands_over(b)) append(&handed[b * nodes_], nodes_, mine);
      if (improves(b)) append(best_of(b), nodes_, mine);
    }
    std::size_t b = 0;
    for (const std::vector<std::int64_t>& of_rank : team_->gathered(mine))
      for (const std::int64_t* word = of_rank.data(); word != of_rank.data() + of_rank.size(); ++b) {
        take(word, &states[b], 1);
        if (hands_over(b)) take(word, &handed[b * nodes_], nodes_);
        if (improves(b)) take(word, &best[b * nodes_], nodes_);
      }
  }
  template <class T>
  [[nodiscard]] static std::size_t words(std::size_t count) {
    return (count * sizeof(T) + sizeof(std::int64_t) - 1) / sizeof(std::int64_t);
  }
  template <class T>
  static void append(const T* from, std::size_t count, std::vector<std::int64_t>& to) {
    to.resize(to.size() + words<T>(count));
    std::memcpy(&to[to.size() - words<T>(count)], from, count * sizeof(T));
  }
  /// What append() put there; `word` is then behind it.
  template <class T>
  static void take(const std::int64_t*& word, T* to, std::size_t count) {
    std::memcpy(to, word, count * sizeof(T));
    word += words<T>(count);
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
  Team* team_;
  std::size_t first_, end_;  ///< lines of this rank
  Digest digest_;
  Workers workers_;

 public:
  std::vector<LineJob> jobs;      ///< [line]
  std::vector<Node> inputs;       ///< [line][nodes()]
  std::vector<LineState> states;  ///< [line]
  std::vector<Node> handed;       ///< [line][nodes()]
  std::vector<Node> best;         ///< [line][nodes()] of annealing lines; where ranks share them
};

}  // namespace vicinity::alns::hybrid::block
