// The walker of the device on the host, by a team of one: it finds what the CPU's walkers find.
#include "kernels/lns/walker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "tests/support/lns_twins.hpp"

namespace vicinity::lns {
namespace {

/// One thread that does everything.
struct Alone {
  [[nodiscard]] static std::int32_t rank() { return 0; }
  [[nodiscard]] static std::int32_t size() { return 1; }
  static void sync() {}
  [[nodiscard]] static bool any(bool flag) { return flag; }
  [[nodiscard]] static std::int64_t sum(std::int64_t number) { return number; }
};

/// A step of all walkers.
struct Step {
  std::uint64_t digest;
  std::int64_t evaluations, started;
};

Step walked(const cp::Problem& problem, const Task& task, std::uint64_t seed, bool wide) {
  const cp::Network& network = *problem.compiled().network;
  const cp::RootDomains root = cp::root_domains(network);
  EXPECT_FALSE(root.failed);
  std::vector<std::int32_t> variable, incumbent, wides;
  const auto first = first_solution(problem);
  std::vector<std::int32_t> slots = problem.evaluation().slots();
  std::copy(first.begin(), first.end(), slots.begin());
  ProblemView view{};
  view.evaluation = problem.evaluation().view();
  view.level_begin = problem.evaluation().level_begin().data();
  view.levels = static_cast<std::int32_t>(problem.evaluation().level_begin().size()) - 1;
  for (std::int32_t k = 0; k < view.evaluation.operations; ++k)
    wides.push_back(wide && view.evaluation.operation[k] <= cp::Operation::sum_ne ? 1 : 0);
  view.wide = wides.data();
  view.free = problem.free_variables();
  for (std::int32_t k = 0; k < view.free.count; ++k) {
    const auto slot = static_cast<std::size_t>(view.free.variables[k].slot);
    variable.push_back(problem.compiled().variable_of[slot]);
    incumbent.push_back(slots[slot]);
  }
  view.network_variable = variable.data();
  view.network = network.view();
  view.network.upper = root.upper.data();
  view.network.mask = root.mask.data();
  view.root_lower = root.lower.data();
  view.slots = static_cast<std::int32_t>(slots.size());
  view.objective = static_cast<std::int32_t>(problem.model().objective.value);
  view.sense = problem.sense();
  const auto released = static_cast<std::int32_t>(released_of(task, problem));
  const WalkView walk{task.search, task.start, task.repetitions, task.starts, released};
  const WalkerMemory::Sizes sizes{slots.size(), static_cast<std::size_t>(released), static_cast<std::size_t>(network.variables()),
                                  static_cast<std::size_t>(network.view().mask_words), static_cast<std::size_t>(network.constraints())};
  std::vector<std::uint64_t> memory(sizes.bytes() / 8 + 1, 0xA5A5A5A5A5A5A5A5ull);
  Digest digest;
  std::int64_t best = inconsistent, winner = std::numeric_limits<std::int64_t>::max();
  std::uint64_t tallies = 0;
  Step step{};
  for (std::int64_t w = 0; w < task.walkers(); ++w) {
    std::vector<std::int32_t> order(incumbent.size());
    std::iota(order.begin(), order.end(), 0);
    std::int32_t* subset = order.data();
    release({seed, 0, task.walkers() + w / task.starts}, view.free.count, released, subset);
    const WalkerMemory mine(reinterpret_cast<unsigned char*>(memory.data()), sizes);
    const WalkerResult result = DeviceWalker<Alone>(Alone(), view, walk, mine).walk({seed, 0, w}, slots.data(), incumbent.data(), subset);
    tallies += tally(w, result.cost);
    step.evaluations += result.evaluations;
    step.started += result.started ? 1 : 0;
    if (result.cost < best) best = result.cost, winner = w;
  }
  for (const std::uint64_t word : {static_cast<std::uint64_t>(best), static_cast<std::uint64_t>(winner), tallies}) digest.add(word);
  step.digest = digest.value();
  return step;
}

bool on_the_device(const cp::Problem& problem, const Task& task) {
  const cp::NetworkView network = problem.compiled().network->view();
  return task.start != StartingPoint::cp ||
         std::all_of(network.kind, network.kind + network.constraints, [](cp::Kind kind) { return kind <= cp::Kind::element_var; });
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
    if (!on_the_device(problem, task)) continue;
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

}  // namespace
}  // namespace vicinity::lns
