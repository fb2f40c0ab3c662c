#pragma once
// Searches of `gpu-tuned` on the host.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/lns/incremental.hpp"
#include "tests/support/lns_walkers.hpp"

namespace vicinity::lns {

/// A search as tuned.cu has it, but for its walkers: the best of them, and the state of the incumbent.
class TunedSearch {
 public:
  TunedSearch(const cp::Problem& problem, const Task& task, std::int32_t threads, std::size_t most_own)
      : host_(problem),
        task_(task),
        threads_(threads),
        instructions_(problem, permutes(task.search), most_own),
        view_(instructions_.view()),
        incumbent_(host_.first),
        costs_(static_cast<std::size_t>(task.walkers())),
        assignments_(costs_.size()) {
    std::vector<std::int32_t> values = host_.slots;
    EXPECT_EQ(problem.evaluation().evaluate(values), 0);
    base_ = instructions_.state_of(values);
    first_cost_ = cost_ = cost_of(problem.model(), values);
  }
  virtual ~TunedSearch() = default;

  void step(std::uint64_t seed) {
    if (steps > 0 && steps % task_.steps == 0) {
      incumbent_ = host_.first;
      cost_ = first_cost_;
    }
    settle_base();
    constexpr std::int64_t stretches = 2;
    for (std::int64_t s = 0; s < stretches; ++s) walk(seed, s * task_.walkers() / stretches, (s + 1) * task_.walkers() / stretches);
    std::int64_t best = inconsistent, winner = std::numeric_limits<std::int64_t>::max();
    std::uint64_t tallies = 0;
    for (std::int64_t w = 0; w < task_.walkers(); ++w) {
      const std::int64_t found = costs_[static_cast<std::size_t>(w)];
      tallies += tally(w, found);
      if (found < best) best = found, winner = w;
    }
    for (const std::uint64_t word : {static_cast<std::uint64_t>(best), static_cast<std::uint64_t>(winner), tallies}) digest.add(word);
    if (best < cost_) {
      cost_ = best;
      const auto subset = host_.subset(task_, seed, steps, winner / task_.starts);
      for (std::size_t k = 0; k < subset.size(); ++k)
        incumbent_[static_cast<std::size_t>(subset[k])] = assignments_[static_cast<std::size_t>(winner)][k];
    }
    ++steps;
  }

  Digest digest;
  std::int64_t steps = 0, evaluations = 0, started = 0;

 protected:
  /// Walkers begin .. end - 1 of the step.
  virtual void walk(std::uint64_t seed, std::int64_t begin, std::int64_t end) = 0;
  /// What walker w found; by its team.
  template <class Team>
  void take(const Team& team, std::int64_t w, const WalkerResult& result, const std::int32_t* best) {
    team.sync();
    if (team.rank() == 0) {
      costs_[static_cast<std::size_t>(w)] = result.cost;
      assignments_[static_cast<std::size_t>(w)].assign(best, best + host_.walk(task_).released);
      evaluations += result.evaluations;
      started += result.started ? 1 : 0;
    }
    team.sync();
  }

  HostProblem host_;
  Task task_;
  std::int32_t threads_;
  Instructions instructions_;
  InstructionsView view_;
  std::vector<std::uint64_t> base_;
  std::vector<std::int32_t> incumbent_;
  std::vector<std::int64_t> costs_;
  std::vector<std::vector<std::int32_t>> assignments_;

 private:
  void settle_base() {
    Together::do_all(threads_, [&](const auto& team) {
      ProgramEngine base(team, view_, reinterpret_cast<unsigned char*>(base_.data()));
      base.follow(incumbent_.data());
    });
    std::vector<std::int32_t> values = host_.slots;
    for (std::size_t k = 0; k < incumbent_.size(); ++k) values[static_cast<std::size_t>(host_.view.free.variables[k].slot)] = incumbent_[k];
    EXPECT_EQ(host_.problem.evaluation().evaluate(values), 0);
    EXPECT_EQ(base_, instructions_.state_of(values));
  }
  std::int64_t cost_ = 0, first_cost_ = 0;
};

/// It finds what cpu-openmp finds.
inline void expect_the_search_of_the_cpu(const Trial& one, const Task& task, TunedSearch& search) {
  EXPECT_EQ(cpu_implementations()[1].name, "cpu-openmp");
  const auto run = cpu_implementations()[1].prepare(one.c, *one.instance);
  run->reset(11);
  run->execute(Budget{.iterations = task.whole()});
  const Outcome expected = run->outcome();
  while (search.steps < task.whole()) search.step(11);
  EXPECT_EQ(search.digest.value(), run->trace().back().digest) << one.name;
  EXPECT_EQ(search.evaluations, expected.evaluations) << one.name;
  EXPECT_EQ(search.started, expected.counters.at("started")) << one.name;
}

}  // namespace vicinity::lns
