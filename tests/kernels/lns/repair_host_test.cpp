// gpu-lns: neighbourhoods by teams of host threads find what CpSearch finds, in as many nodes and failures.
#include "kernels/lns/repair.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/methods/lns/rounds.hpp"
#include "tests/core/problems/cp/random_models.hpp"
#include "tests/support/lns_models.hpp"
#include "tests/support/lns_walkers.hpp"

namespace vicinity::lns::repair {
namespace {

/// Threads of teams that work at the same time; others have one thread that plays them.
constexpr std::int32_t at_the_same_time = 2;

/// What a team finds; not done: all else means nothing.
struct Searched {
  Found found;
  bool done = false;
};

/// work(team) by `teams`, which is a number of threads or a team of one.
Searched by_team(const ModelArrays& arrays, const Drawn& drawn, std::span<const std::int32_t> incumbent, const CostOf& cost,
                 const TeamMemory::Sizes& sizes, const auto& do_all, const std::int32_t& word = go_on) {
  std::vector<std::uint64_t> near = memory_of(sizes.near_bytes()), far = memory_of(sizes.far_bytes());
  const TeamMemory memory(reinterpret_cast<unsigned char*>(near.data()), reinterpret_cast<unsigned char*>(far.data()), sizes);
  const Job job{
      drawn.kept.data(), static_cast<std::int32_t>(drawn.kept.size()), drawn.bound, drawn.seed, drawn.how.values, drawn.how.guided,
      drawn.one};
  Searched all;
  do_all([&](const auto& team) {
    StopWord stop(&word, team.rank() == 0);
    TeamSearch search(team, arrays.view, memory, sizes, stop);
    const JobResult result = search.search(job, incumbent.data());
    if (team.rank() != 0) return;
    all.done = result.done;
    all.found.nodes = result.nodes;
    all.found.failures = result.failures;
    all.found.exhausted = result.exhausted;
    if (!result.found) return;
    all.found.values.assign(memory.best, memory.best + incumbent.size());
    all.found.cost = cost(all.found.values);
  });
  return all;
}
Searched by_team(const ModelArrays& arrays, const Drawn& drawn, std::span<const std::int32_t> incumbent, const CostOf& cost,
                 std::int32_t threads) {
  const TeamMemory::Sizes sizes(arrays.view.network, static_cast<std::size_t>(threads));
  return by_team(arrays, drawn, incumbent, cost, sizes, [&](const auto& work) {
    if (threads == at_the_same_time)
      Together::do_all(threads, work);
    else if (threads == 1)
      work(Alone());
    else
      Played::do_all(threads, work);
  });
}

/// What has been seen of a kind of neighbourhoods.
struct Seen {
  std::int64_t solved = 0, exhausted = 0, failures = 0, nodes = 0;
};

/// Neighbourhoods of all dives, of first solutions of the model and of what is found in them.
void expect_same_neighborhoods(const std::string& name, const cp::Problem& problem, std::uint64_t seed, std::int64_t count,
                               std::initializer_list<std::int32_t> teams, Seen& seen) {
  if (problem.model().goal == cp::Goal::satisfy) return;
  const cp::CompiledModel& compiled = problem.compiled();
  const ModelArrays arrays(problem.model(), compiled);
  if (arrays.root.failed) return;
  const CostOf cost = cost_of(problem, compiled);
  CpSearch first(problem.model(), compiled, strategy_of(problem.model(), compiled), seed, true);
  SearchLimits limits;
  limits.failures = 2000;
  if (first.next(limits) != CpSearch::Status::solution) return;
  std::vector<std::int32_t> incumbent(first.values().begin(), first.values().end());
  const Neighborhoods neighborhoods(problem.model(), compiled, problem.evaluation().free_variables(), {});
  if (neighborhoods.none()) return;
  const std::vector<Arm> arms = neighborhoods.arms();
  const auto host = searcher(problem, compiled);
  for (std::int64_t k = 0; k < count; ++k) {
    Draws draws(seed, k, 0);
    Drawn drawn;
    const Arm& arm = arms[draws.below(arms.size())];
    drawn.kept = neighborhoods.kept(arm, static_cast<std::int64_t>(1 + draws.below(static_cast<std::size_t>(neighborhoods.size(arm.set)))),
                                    incumbent, draws);
    drawn.how = dives[static_cast<std::size_t>(k) % dives.size()];
    drawn.one = draws.below(4) == 0;
    drawn.bound = cost.sign * (cost(incumbent) - 1 + static_cast<std::int64_t>(draws.below(6)));
    drawn.seed = draws.bits();
    const Found expected = search_neighborhood(*host, drawn, incumbent, cost, Interruption());
    for (const std::int32_t threads : teams) {
      const auto& [found, done] = by_team(arrays, drawn, incumbent, cost, threads);
      ASSERT_TRUE(done) << name;
      ASSERT_EQ(found.nodes, expected.nodes) << name << " neighbourhood " << k << " threads " << threads;
      ASSERT_EQ(found.failures, expected.failures) << name << " neighbourhood " << k << " threads " << threads;
      ASSERT_EQ(found.exhausted, expected.exhausted) << name << " neighbourhood " << k << " threads " << threads;
      ASSERT_EQ(found.cost, expected.cost) << name << " neighbourhood " << k << " threads " << threads;
      ASSERT_EQ(found.values, expected.values) << name << " neighbourhood " << k << " threads " << threads;
    }
    seen.nodes += expected.nodes;
    seen.failures += expected.failures;
    seen.exhausted += expected.exhausted ? 1 : 0;
    seen.solved += expected.values.empty() ? 0 : 1;
    if (!expected.values.empty()) incumbent = expected.values;
  }
}

TEST(LnsTeamSearch, NeighborhoodsOfRandomModels) {
  Seen seen;
  for (std::int64_t k = 0; k < 200; ++k) {
    const auto seed = static_cast<std::uint64_t>(1000 + k);
    const Trial one = trial(random_model(2 + k % 19, 1 + k % 24, 2 + k % 16, seed), {});
    const std::string name = fmt::format("model {}", k);
    const auto& problem = dynamic_cast<const cp::Problem&>(*one.instance);
    expect_same_neighborhoods(name, problem, seed, 18, {1}, seen);
    if (k % 5 == 0) expect_same_neighborhoods(name, problem, seed, 4, {3, 32}, seen);
    if (k % 20 == 0) expect_same_neighborhoods(name, problem, seed, 2, {at_the_same_time}, seen);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(seen.solved, 300);
  EXPECT_GT(seen.exhausted, 300);
  EXPECT_GT(seen.failures, 1000);
  EXPECT_GT(seen.nodes, 3000);
}

TEST(LnsTeamSearch, NeighborhoodsWithEachPredicate) {
  std::set<cp::Kind> kinds;
  Seen seen;
  for (const auto& predicate : cp::predicates()) {
    for (std::uint64_t seed = 0; seed < 25; ++seed) {
      const cp::Problem problem(model_with(predicate, seed));
      const cp::NetworkView network = problem.compiled().network->view();
      kinds.insert(network.kind, network.kind + network.constraints);
      expect_same_neighborhoods(predicate.first, problem, seed, 12, {1}, seen);
      expect_same_neighborhoods(predicate.first, problem, seed, 4, {3, 32}, seen);
      if (seed == 0) expect_same_neighborhoods(predicate.first, problem, seed, 1, {at_the_same_time}, seen);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(seen.solved, 1000);
  EXPECT_GT(seen.failures, 200);
  EXPECT_GE(kinds.size(), static_cast<std::size_t>(cp::kinds) - 1) << "hardly a kind is missing";
}

TEST(LnsTeamSearch, NeighborhoodsOfLargerModels) {
  const std::string texts[] = {assignment(12), assignment(40), long_sums(70), long_sums(200), sums(3), sums(4), differences(8)};
  for (const std::string& text : texts) {
    Seen seen;
    const Trial one = trial(text, {});
    const auto& problem = dynamic_cast<const cp::Problem&>(*one.instance);
    expect_same_neighborhoods(text.substr(0, 400), problem, 7, 18, {1, 64}, seen);
    expect_same_neighborhoods(text.substr(0, 400), problem, 8, 1, {at_the_same_time}, seen);
    if (HasFatalFailure()) return;
    EXPECT_GT(seen.solved, 2) << text.substr(0, 400);
    EXPECT_GT(seen.failures, 0) << text.substr(0, 400);
  }
}

/// A neighbourhood of all variables at the first solution of a model.
struct Whole {
  explicit Whole(const std::string& text)
      : one(trial(text, {})),
        problem(dynamic_cast<const cp::Problem&>(*one.instance)),
        arrays(problem.model(), problem.compiled()),
        cost(cost_of(problem, problem.compiled())) {
    const auto host = searcher(problem, problem.compiled());
    EXPECT_EQ(host->next({}), CpSearch::Status::solution);
    incumbent.assign(host->values().begin(), host->values().end());
    drawn.bound = cost.sign * (cost(incumbent) - 1);
    drawn.how = dives[1];
  }
  Trial one;
  const cp::Problem& problem;
  ModelArrays arrays;
  CostOf cost;
  std::vector<std::int32_t> incumbent;
  Drawn drawn;
};

TEST(LnsTeamSearch, WithoutMemoryItIsUndone) {
  const Whole whole(assignment(12));
  const auto alone = [](const auto& work) { work(Alone()); };
  const TeamMemory::Sizes enough(whole.arrays.view.network, 1);
  EXPECT_TRUE(by_team(whole.arrays, whole.drawn, whole.incumbent, whole.cost, enough, alone).done);
  for (const bool trail : {true, false}) {
    TeamMemory::Sizes sizes = enough;
    (trail ? sizes.trail : sizes.nodes) = 3;
    EXPECT_FALSE(by_team(whole.arrays, whole.drawn, whole.incumbent, whole.cost, sizes, alone).done);
  }
}

TEST(LnsTeamSearch, AStoppedSearchEndsSoon) {
  const Whole whole(assignment(40));
  std::int32_t meetings = 0, word = 0;
  const Stopper team{{}, 200, &meetings, &word};
  const TeamMemory::Sizes sizes(whole.arrays.view.network, 1);
  const Searched all = by_team(
      whole.arrays, whole.drawn, whole.incumbent, whole.cost, sizes, [&](const auto& work) { work(team); }, word);
  EXPECT_FALSE(all.done);
  EXPECT_EQ(word, 1);
  EXPECT_LT(meetings, 200 + 4 * 16);
}

}  // namespace
}  // namespace vicinity::lns::repair
