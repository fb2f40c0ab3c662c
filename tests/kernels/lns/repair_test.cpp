// gpu-lns: neighbourhoods by teams of host threads find what CpSearch finds, in as many nodes and failures; on a device, runs what cpu-lns
// finds.
#include "kernels/lns/repair.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/api/device.hpp"
#include "core/methods/lns/rounds.hpp"
#include "kernels/lns/implementations.hpp"
#include "tests/core/problems/cp/random_models.hpp"
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

/// Constraints of the pool's predicates, `kind` among them, and a weighted sum of its variables that is minimised or maximised.
cp::Model model_with(const std::pair<std::string, cp::Post>& predicate, std::uint64_t seed) {
  cp::Draws draws(seed);
  cp::Pool pool(draws, draws.below(5) == 0);
  const auto all = cp::predicates();
  for (std::int64_t k = draws.from(0, 2); k > 0; --k)
    all[static_cast<std::size_t>(draws.below(static_cast<std::int64_t>(all.size())))].second(pool);
  predicate.second(pool);
  if (draws.below(2) != 0) predicate.second(pool);
  cp::ModelMaker::Values weights;
  std::vector<cp::Expression> terms = pool.integers;
  for (std::size_t k = 0; k < terms.size(); ++k) weights.push_back(draws.from(-4, 4));
  const cp::Expression objective = pool.maker.integer(-30'000, 30'000);
  terms.push_back(objective);
  weights.push_back(-1);
  pool.maker.constraint("int_lin_eq", {pool.maker.numbers(weights), pool.maker.array(terms), cp::Expression::integer(0)});
  pool.maker.goal(draws.below(2) != 0 ? cp::Goal::minimise : cp::Goal::maximise, objective);
  return pool.maker.model();
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

/// Values in 1..n that are all different, with a cost a value each: a quadratic objective on neighbours.
std::string assignment(int n) {
  std::string text, names, costs, ones;
  for (int k = 0; k < n; ++k) {
    text += fmt::format("var 1..{}: x{};\nvar 0..999: c{} :: is_defined_var;\n", n, k, k);
    names += fmt::format("{}x{}", k == 0 ? "" : ",", k);
    costs += fmt::format("c{},", k);
    ones += "1,";
  }
  text += "var 0..99999: z :: is_defined_var;\n";
  for (int k = 0; k < n; ++k) {
    std::string values;
    for (int v = 0; v < n; ++v) values += fmt::format("{}{}", v == 0 ? "" : ",", (37 * k + 61 * v + 11 * k * v) % 97);
    text += fmt::format("constraint array_int_element(x{0},[{1}],c{0}) :: defines_var(c{0});\n", k, values);
  }
  text += fmt::format("constraint fzn_all_different_int([{}]);\n", names);
  return text + fmt::format("constraint int_lin_eq([{}-1],[{}z],0) :: defines_var(z);\nsolve minimize z;\n", ones, costs);
}

/// Sums that all threads propagate, in both directions.
std::string long_sums(int n) {
  std::string text, names, weights, ones;
  for (int k = 0; k < n; ++k) {
    text += fmt::format("var 0..{}: x{};\n", 1 + k % 5, k);
    names += fmt::format("{}x{}", k == 0 ? "" : ",", k);
    weights += fmt::format("{},", (k * 29) % 23 - 9);
    ones += fmt::format("{}{}", k == 0 ? "" : ",", 1 + k % 3);
  }
  text += "var -99999..99999: z :: is_defined_var;\nvar bool: b;\n";
  text += fmt::format("constraint int_lin_le([{}],[{}],{});\n", ones, names, 2 * n);
  text += fmt::format("constraint int_lin_le_reif([{}],[{}],{},b);\n", ones, names, n);
  text += fmt::format("constraint int_lin_eq([{},-3],[{},z],1);\n", weights.substr(0, weights.size() - 1), names);
  return text + "solve maximize z;\n";
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

/// Sets the word when it meets for the two hundredth time.
struct Stopper : Alone {
  [[nodiscard]] bool any(bool flag) const {
    if (++*meetings == 200) *word = 1;
    return flag;
  }
  std::int32_t *meetings, *word;
};

TEST(LnsTeamSearch, AStoppedSearchEndsSoon) {
  const Whole whole(assignment(40));
  std::int32_t meetings = 0, word = 0;
  const Stopper team{{}, &meetings, &word};
  const TeamMemory::Sizes sizes(whole.arrays.view.network, 1);
  const Searched all = by_team(
      whole.arrays, whole.drawn, whole.incumbent, whole.cost, sizes, [&](const auto& work) { work(team); }, word);
  EXPECT_FALSE(all.done);
  EXPECT_EQ(word, 1);
  EXPECT_LT(meetings, 200 + 4 * 16);
}

// --- on the device

class LnsRepairGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!device::info()) GTEST_SKIP() << device::absence();
  }
};

const Implementation& twin() {
  static const std::vector<Implementation> all = cpu_repair_implementations();
  return all.front();
}

Trial rounds(const std::string& text, std::int64_t steps, std::int64_t subsets) {
  return trial(text, {{"steps", steps}, {"subsets", subsets}});
}
std::vector<Trial> larger_models(std::int64_t steps, std::int64_t subsets) {
  std::vector<Trial> all;
  for (const std::string& text :
       {assignment(12), assignment(40), long_sums(70), long_sums(200), sums(3), differences(8), permutation(), chain()})
    all.push_back(rounds(text, steps, subsets));
  return all;
}

TEST_F(LnsRepairGpu, RandomTwins) {
  std::vector<Trial> trials = random_trials(systems::lns(), 100);
  for (Trial& one : trials) one.c.values["steps"] = std::int64_t{4};
  expect_twins(twin(), gpu_repair_implementations(), trials);
}

TEST_F(LnsRepairGpu, TwinsOnTwoHundredModels) {
  for (std::int64_t k = 0; k < 200; ++k) {
    const auto text = random_model(2 + k % 19, 1 + k % 24, 2 + k % 16, static_cast<std::uint64_t>(1000 + k));
    expect_twins(twin(), gpu_repair_implementations(), {rounds(text, 4, 1 + k % 20)});
  }
}

TEST_F(LnsRepairGpu, TwinsWithEachPredicate) {
  for (const auto& predicate : cp::predicates())
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      Trial one = rounds(chain(), 3, 12);
      one.instance = std::make_shared<cp::Problem>(model_with(predicate, seed));
      const Outcome expected = outcome_of(twin(), one, at_once);
      if (!expected.feasible) continue;
      expect_same(outcome_of(gpu_repair_implementations().front(), one, at_once), expected, predicate.first);
    }
}

TEST_F(LnsRepairGpu, TwinsOnLargerModels) { expect_twins(twin(), gpu_repair_implementations(), larger_models(40, 20)); }

TEST_F(LnsRepairGpu, SlicesGiveTheSame) {
  const std::vector<Trial> trials = larger_models(9, 5);
  expect_twins(twin(), gpu_repair_implementations(), trials, in_slices);
  expect_prefix_twins({twin(), gpu_repair_implementations().front()}, trials);
}

TEST_F(LnsRepairGpu, LargeModelsInDeviceMemory) {
  std::string text, names, ones;
  for (int k = 0; k < 2'000; ++k) {  // 136 bytes of domain each
    text += fmt::format("var 0..1000: x{};\n", k);
    names += fmt::format("{}x{}", k == 0 ? "" : ",", k);
    ones += fmt::format("{},", 1 + k % 7);
  }
  text += "var 0..99999999: z :: is_defined_var;\n";
  text += "constraint int_lin_eq([" + ones + "-1],[" + names + ",z],0) :: defines_var(z);\n";
  text += "solve :: int_search([" + names + "],input_order,indomain_min,complete) maximize z;\n";
  const Trial one = rounds(text, 3, 6);
  EXPECT_EQ(gpu_repair_implementations().front().prepare(one.c, *one.instance)->policy().at("shared_bytes"), 0);
  expect_twins(twin(), gpu_repair_implementations(), {one});
}

TEST_F(LnsRepairGpu, OneRunIsAsGoodAsANewOne) {
  expect_a_run_is_as_good_as_new(gpu_repair_implementations(), rounds(assignment(20), 30, 8));
}

TEST_F(LnsRepairGpu, AnInterruptionKeepsWhatWasFound) {
  const Trial one = rounds(assignment(40), 1'000'000, 16);
  const auto run = gpu_repair_implementations().front().prepare(one.c, *one.instance);
  run->reset(1);
  static_cast<void>(run->execute({.iterations = 30}));
  const Objective before = run->trace().back().objective;
  std::atomic<bool> stop = false;
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    stop = true;
  });
  EXPECT_TRUE(run->execute({.stop = &stop}));
  const Outcome outcome = run->outcome();
  EXPECT_TRUE(outcome.feasible) << outcome.complaint;
  EXPECT_FALSE(before.better_than(run->trace().back().objective));
  run->reset(1);
  static_cast<void>(run->execute({.iterations = 30}));
  EXPECT_EQ(run->trace().back().objective, before);
}

TEST_F(LnsRepairGpu, ModelsWithoutChoiceOrSolution) {
  const Trial none = rounds("var 1..9: x;\nconstraint int_ne(x,x);\nsolve minimize x;\n", 5, 4);
  EXPECT_EQ(outcome_of(gpu_repair_implementations().front(), none, at_once).complaint, "the model has no solution");
  const Trial fixed =
      rounds("var 3..3: x;\nvar 1..9: z :: is_defined_var;\nconstraint int_times(x,x,z) :: defines_var(z);\nsolve minimize z;\n", 5, 4);
  const Trial any = rounds("var 1..9: x;\nvar 1..9: y;\nconstraint int_ne(x,y);\nsolve satisfy;\n", 5, 4);
  expect_twins(twin(), gpu_repair_implementations(), {fixed, any});
}

}  // namespace
}  // namespace vicinity::lns::repair
