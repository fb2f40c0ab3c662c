// The walker of the device on the host, by a team of one, with the evaluation of `gpu`: it finds what the CPU's walkers find.
#include "kernels/lns/walker.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/lns/rescan.hpp"
#include "tests/support/lns_walkers.hpp"

namespace vicinity::lns {
namespace {

/// A step of all walkers.
struct Step {
  std::uint64_t digest;
  std::int64_t evaluations, started;
};

template <class T = Alone>
Step walked(const cp::Problem& problem, const Task& task, std::uint64_t seed, bool wide, const T& team = {},
            const std::int32_t& stops = go_on) {
  const HostProblem host(problem);
  const WideOperations wides(problem.evaluation(), [&](const cp::EvaluationView& of, std::int32_t k) {
    return wide && (of.operation[k] <= cp::Operation::sum_ne || of.operation[k] == cp::Operation::different);
  });
  RescanView view{};
  view.evaluation = problem.evaluation().view();
  view.level_begin = problem.evaluation().level_begin().data();
  view.levels = static_cast<std::int32_t>(problem.evaluation().level_begin().size()) - 1;
  view.wide_flags = wides.flags.data();
  view.wide_begin = wides.begin.data();
  view.wide = wides.all.data();
  view.free = host.view.free;
  view.slots = static_cast<std::int32_t>(host.slots.size());
  view.objective = static_cast<std::int32_t>(problem.model().objective.value);
  view.sense = problem.sense();
  const WalkerMemory::Sizes sizes{Parts::rounded(4 * host.slots.size()), static_cast<std::size_t>(released_of(task, problem)),
                                  host.domains()};
  std::vector<std::uint64_t> memory = memory_of(sizes.bytes());
  Digest digest;
  std::int64_t best = inconsistent, winner = std::numeric_limits<std::int64_t>::max();
  std::uint64_t tallies = 0;
  Step step{};
  StopWord stop(&stops, true);
  for (std::int64_t w = 0; w < task.walkers(); ++w) {
    const std::vector<std::int32_t> subset = host.subset(task, seed, 0, w / task.starts);
    const WalkerMemory mine(reinterpret_cast<unsigned char*>(memory.data()), sizes);
    Rescan<T> engine(team, view, mine.state);
    engine.load(host.slots.data(), host.first.data());
    DeviceWalker<T, Rescan<T>> walker(team, host.view, host.walk(task), mine, engine, stop);
    const WalkerResult result = walker.walk({seed, 0, w}, host.first.data(), subset.data(), root_of(host.view));
    tallies += tally(w, result.cost);
    step.evaluations += result.evaluations;
    step.started += result.started ? 1 : 0;
    if (result.cost < best) best = result.cost, winner = w;
  }
  for (const std::uint64_t word : {static_cast<std::uint64_t>(best), static_cast<std::uint64_t>(winner), tallies}) digest.add(word);
  step.digest = digest.value();
  return step;
}

TEST(LnsWalker, AStepIsThatOfTheCpu) {
  int by_cp = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Case c = systems::lns().random_case(seed);
    c.values["steps"] = std::int64_t{1};
    c.values["restarts"] = std::int64_t{0};
    const auto instance = systems::lns().instance(c);
    const auto& problem = dynamic_cast<const cp::Problem&>(*instance);
    const Task task = task_of(c, problem);
    if (!HostProblem(problem).on_the_device(task)) continue;
    by_cp += task.start == StartingPoint::cp ? 1 : 0;
    const Trial one{c, instance, c.key()};
    const auto run = reference().prepare(c, *instance);
    run->reset(11);
    run->execute(Budget{.iterations = 1});
    const Outcome expected = run->outcome();
    for (const bool wide : {false, true}) {
      const Step step = walked(problem, task, 11, wide);
      EXPECT_EQ(step.digest, run->trace().back().digest) << one.name;
      EXPECT_EQ(step.evaluations, expected.evaluations) << one.name;
      EXPECT_EQ(step.started, expected.counters.at("started")) << one.name;
    }
  }
  EXPECT_GT(by_cp, 20);
}

TEST(LnsWalker, AStoppedWalkEndsSoon) {
  int stopped = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Case c = systems::lns().random_case(seed);
    const std::int64_t repetitions = 100000;
    c.values["repetitions"] = repetitions;
    c.values["subsets"] = c.values["starts"] = std::int64_t{1};
    const auto instance = systems::lns().instance(c);
    const auto& problem = dynamic_cast<const cp::Problem&>(*instance);
    const Task task = task_of(c, problem);
    if (!HostProblem(problem).on_the_device(task)) continue;
    std::int32_t meetings = 0, word = 0;
    const Step step = walked(problem, task, 11, false, Stopper{{}, 100, &meetings, &word}, word);
    EXPECT_LT(step.evaluations, 100 + 3 * 16) << c.key();
    stopped += word;
  }
  EXPECT_GT(stopped, 20);
}

}  // namespace
}  // namespace vicinity::lns
