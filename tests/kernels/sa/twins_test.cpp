// Annealing on the GPU: every implementation gives what the reference gives, whole or in slices.
#include "core/api/device.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "core/util/error.hpp"
#include "tests/support/sa_twins.hpp"

namespace vicinity::sa {
namespace {

class SaGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!device::info()) GTEST_SKIP() << device::absence();
  }
};

/// Never warm enough to climb: freezes after a descent, and whole sweeps pass without a swap.
const std::map<std::string, Value> cold{{"t0", 0.02}, {"tf", 0.01}};

const Implementation& reference() {
  static const std::vector<Implementation> all = cpu_annealing_implementations();
  return all.front();
}

void expect_gpu_twins(const std::vector<Trial>& trials) { expect_twins(reference(), gpu_annealing_implementations(), trials); }

std::int64_t counter(const Implementation& implementation, const Trial& trial, const std::string& name) {
  return outcome_of(implementation, trial, at_once).counters.at(name);
}

TEST_F(SaGpu, TheReferenceIsTheSystemsOwn) { EXPECT_EQ(reference().name, systems::sa().reference); }

/// gpu-chains, for one, takes no large sizes.
bool takes(const Implementation& implementation, const Trial& trial) {
  try {
    return implementation.prepare(trial.c, *trial.instance) != nullptr;
  } catch (const DoesNotFit&) {
    return false;
  }
}

TEST_F(SaGpu, RandomTwins) {
  for (const Implementation& implementation : gpu_annealing_implementations()) {
    std::vector<Trial> trials = random_trials(100);
    std::erase_if(trials, [&](const Trial& trial) { return !takes(implementation, trial); });
    EXPECT_GT(trials.size(), 90u) << implementation.name;
    expect_twins(reference(), {implementation}, trials);
  }
}

TEST_F(SaGpu, EdgeTwins) { expect_gpu_twins(edge_trials()); }

/// So many that they are taken in two slices; raised between them, a flag ends the run with what there is.
TEST_F(SaGpu, SamplesInSlices) {
  const Trial many = trial(64, 100, {{"chains", std::int64_t{2048}}, {"samples", std::int64_t{9000}}});
  expect_gpu_twins({many});
  const Trial hours = trial(64, 100, {{"samples", std::int64_t{10'000'000'000}}});
  const std::atomic<bool> raised = true;
  for (const Implementation& implementation : gpu_annealing_implementations()) {
    const Outcome outcome =
        outcome_of(implementation, hours, [&](vicinity::Run& run) { static_cast<void>(run.execute({.stop = &raised})); });
    EXPECT_TRUE(outcome.feasible) << implementation.name << ": " << outcome.complaint;
  }
}

TEST_F(SaGpu, EdgeTwinsInSlices) { expect_twins(reference(), gpu_annealing_implementations(), edge_trials(), in_slices); }

/// gpu-tuned chooses where a chain runs by its size; here every scope takes every size that fits it.
class SaGpuScope : public SaGpu, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Scopes, SaGpuScope, testing::Values("block", "cluster", "grid"), [](const auto& scope) { return scope.param; });

TEST_P(SaGpuScope, Twins) {
  const std::vector<Implementation> all = gpu_annealing_implementations();
  const Implementation& tuned = named(all, "gpu-tuned");
  std::vector<Trial> trials = edge_trials();
  for (Trial& one : random_trials(20)) trials.push_back(std::move(one));
  // Sweeps without a swap before and after freezing, and a swap every few sweeps.
  for (const double t : {1.0, 30.0, 100.0}) trials.push_back(trial(50, 200000, {{"t0", t}, {"tf", t}}));
  for (Trial& one : trials) one.c.values["scope"] = std::string(GetParam());
  const std::size_t before = trials.size();
  std::erase_if(trials, [&](const Trial& one) { return !takes(tuned, one); });
  if (trials.empty() && GetParam() == std::string("cluster")) GTEST_SKIP() << "no clusters on this GPU";
  EXPECT_GT(trials.size(), before * 9 / 10);
  expect_twins(reference(), {tuned}, trials);
  expect_twins(reference(), {tuned}, trials, in_slices);
}

TEST_F(SaGpu, SaysItsWork) {
  const auto executed = [](const Implementation& implementation, const Trial& trial) {
    auto run = implementation.prepare(trial.c, *trial.instance);
    run->reset(11);
    run->execute();
    return run;
  };
  const Trial some = trial(40, 20000), frozen = trial(40, 20000, cold), several = trial(40, 20000, {{"chains", std::int64_t{3}}});
  const std::vector<Implementation> all = gpu_annealing_implementations();
  for (const Implementation& implementation : all) {
    for (const Trial& one : {some, frozen}) {
      const auto run = executed(implementation, one);
      const double accepted = static_cast<double>(run->outcome().counters.at("accepted"));
      double most = 0;
      for (const auto& [ceiling, count] : run->work()) {
        EXPECT_TRUE(ceiling == Ceiling::block_barrier || ceiling == Ceiling::cluster_barrier || ceiling == Ceiling::grid_barrier)
            << "operations of sa are no limit: " << name_of(ceiling);
        most = std::max(most, count);
      }
      EXPECT_GE(most, (implementation.name == "gpu" ? 3 : 1) * accepted) << implementation.name;
      EXPECT_LE(most, 3 * 20000) << implementation.name;
    }
    EXPECT_EQ(executed(implementation, several)->work().empty(), implementation.name == "gpu-chains") << implementation.name;
  }
  const auto published = executed(named(all, "gpu"), frozen);
  const double accepted = static_cast<double>(published->outcome().counters.at("accepted"));
  EXPECT_GT(published->work().at(Ceiling::grid_barrier), 3 * accepted) << "subsets without a swap have a barrier, too";
}

TEST_F(SaGpu, SizesAroundTilesAndGroupsOfColumns) {
  std::vector<Trial> trials;
  for (const std::int64_t size :
       {31, 32, 33, 47, 48, 49, 63, 64, 65, 66, 96, 97, 108, 109, 116, 117, 191, 192, 193, 255, 256, 257, 352, 353})
    for (const char* matrix : {"symmetric", "asymmetric"}) trials.push_back(trial(size, 3000, {{"matrix", std::string(matrix)}}));
  expect_gpu_twins(trials);
}

/// Facilities on a line, which belong together the closer they are, start in order but for two swaps: hardly anything is accepted.
std::shared_ptr<const Instance> nearly_solved(std::int32_t n) {
  std::vector<std::int32_t> near, far;
  for (std::int32_t i = 0; i < n; ++i)
    for (std::int32_t j = 0; j < n; ++j) {
      far.push_back(std::min(std::abs(i - j), 255));
      near.push_back(255 - far.back());
    }
  return std::make_shared<qap::Qap>("test", n, std::move(near), std::move(far));
}
Solution nearly_best(std::int32_t n) {
  Solution start(static_cast<std::size_t>(n));
  std::iota(start.begin(), start.end(), 0);
  std::swap(start.at(10), start.at(n - 100));
  std::swap(start.at(n / 2), start.at(n / 2 + 1));
  return start;
}

/// Long enough to leave the hot phase: swaps, rows without one, and sweeps without one. By windows of rows, and in a cluster that keeps
/// all inner products.
class SaGpuBehindTheHotPhase : public SaGpu, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Scopes, SaGpuBehindTheHotPhase, testing::Values("", "cluster"),
                         [](const auto& scope) { return scope.param == std::string() ? "window" : scope.param; });

TEST_P(SaGpuBehindTheHotPhase, Twins) {
  const std::vector<Implementation> all = gpu_annealing_implementations(), cpu = cpu_annealing_implementations();
  const Implementation& tuned = named(all, "gpu-tuned");
  std::vector<Trial> trials;
  for (const std::int64_t size : {117, 128, 200, 201, 255, 300}) {
    for (const double t : {5000.0, 9000.0}) trials.push_back(trial(size, 200000, {{"t0", t}, {"tf", t}}));
    trials.push_back(trial(size, 200000, {{"schedule", std::string("acceptance")}, {"leg", std::int64_t{70000}}}));
  }
  for (Trial& one : trials)
    if (GetParam() != std::string()) one.c.values["scope"] = std::string(GetParam());
  expect_twins(named(cpu, "cpu-delta"), {tuned}, trials);
  expect_twins(named(cpu, "cpu-delta"), {tuned}, trials, in_slices);
}

/// Sizes around tiles, stretches and what fits shared memory; equal facilities, entries of all bytes with diagonals, ends amid a row and a
/// window; temperatures that freeze, soon and late, and do not; then windows without a swap, until the cluster goes on.
TEST_F(SaGpu, WindowsOfRows) {
  const std::vector<Implementation> all = gpu_annealing_implementations(), cpu = cpu_annealing_implementations();
  const Implementation& tuned = named(all, "gpu-tuned");
  std::vector<Trial> trials;
  for (const std::int32_t size : {117, 150, 151, 200, 201, 255, 256, 257, 300, 400, 421, 448, 512, 513, 768, 769, 1000, 1023, 1024, 1025}) {
    const double t = 15.0 * size;
    trials.push_back(trial(size, 150000 + size / 3, {{"t0", 2 * t}, {"tf", t}}));
    trials.push_back(trial(size, 60011, {{"t0", 2.0}, {"tf", 1.0}, {"range", std::int64_t{3}}}));
    trials.push_back(trial(size, 60000, {{"t0", 20 * t}, {"tf", 5 * t}}));
    trials.back().instance = random_qap(static_cast<std::uint64_t>(size), size, {0, 255, 0, 255}, true);
  }
  for (const std::int64_t size : {117, 150, 201, 300}) {
    for (const auto& temperatures : {cold, std::map<std::string, Value>{{"t0", 3000.0}, {"tf", 100.0}}})
      trials.push_back(trial(size, 1'000'000, temperatures));
    trials.push_back(trial(size, 1'000'000, {{"t0", 1500.0}, {"tf", 1500.0}}));
  }
  for (const std::int32_t size : {200, 201, 1000}) {
    trials.push_back(trial(size, 3'000'000, cold));
    trials.back().instance = nearly_solved(size);
    trials.back().start = nearly_best(size);
  }
  expect_twins(named(cpu, "cpu-delta"), {tuned}, trials);
  expect_twins(named(cpu, "cpu-delta"), {tuned}, trials, in_slices);
}

TEST_F(SaGpu, SizesOfSixColumnsAThread) {
  const std::vector<Implementation> all = gpu_annealing_implementations(), cpu = cpu_annealing_implementations();
  const Implementation& tuned = named(all, "gpu-tuned");
  std::vector<Trial> trials;
  for (const std::int32_t size : {1056, 1057, 1200}) {
    for (const char* matrix : {"symmetric", "asymmetric"}) trials.push_back(trial(size, 100000, {{"matrix", std::string(matrix)}}));
    trials.push_back(trial(size, 4'000'000, cold));
    trials.back().instance = nearly_solved(size);
    trials.back().start = nearly_best(size);
  }
  std::erase_if(trials, [&](const Trial& one) { return !takes(tuned, one); });
  EXPECT_GE(trials.size(), 6u);
  expect_twins(named(cpu, "cpu-delta"), {tuned}, trials);  // the reference makes every delta anew
}

/// More chains than any GPU has multiprocessors for with a short round: two warps of a block test (SmallPolicy), or a warp takes a chain
/// after another (SmallWarps).
class SaGpuManySmall : public SaGpu, public testing::WithParamInterface<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(Chains, SaGpuManySmall, testing::Values(400, 1000, 3000),
                         [](const auto& chains) { return std::to_string(chains.param); });

TEST_P(SaGpuManySmall, Twins) {
  const std::vector<Implementation> all = gpu_annealing_implementations();
  const std::int64_t share = 1 + GetParam() / 1000;  // of the iterations
  std::vector<Trial> trials;
  for (const std::int64_t size : {2, 17, 30, 32, 33, 50, 64})
    for (const char* matrix : {"symmetric", "asymmetric"}) trials.push_back(trial(size, 6000 / share, {{"matrix", std::string(matrix)}}));
  for (const auto& temperatures : {cold, std::map<std::string, Value>{{"t0", 1e9}, {"tf", 1e8}}})
    for (const std::int64_t size : {20, 40}) trials.push_back(trial(size, 10000 / share, temperatures));
  trials.push_back(trial(21, 8000 / share, {{"schedule", std::string("acceptance")}, {"leg", std::int64_t{700}}}));
  for (const Entries& range : entry_ranges)
    for (const std::int32_t size : {24, 33}) {
      trials.push_back(trial(size, 4000 / share));
      trials.back().instance = random_qap(size, size, range, false);
    }
  for (Trial& one : trials) one.c.values["chains"] = GetParam();
  expect_twins(reference(), {named(all, "gpu-chains")}, trials);
  expect_twins(reference(), {named(all, "gpu-chains")}, trials, in_slices);
}

TEST_F(SaGpu, ZeroMatricesAcceptEverything) {
  for (const std::int64_t size : {2, 33, 130}) {
    const Trial zero = trial(size, 3000, {{"range", std::int64_t{1}}});
    for (const Implementation& implementation : gpu_annealing_implementations())
      EXPECT_EQ(counter(implementation, zero, "accepted"), 3000) << implementation.name;
  }
}

TEST_F(SaGpu, StopsBeforeAtAndBehindTheFreezingProposal) {
  const std::int64_t frozen_at = counter(reference(), trial(20, 20000, cold), "frozen_at");
  ASSERT_GT(frozen_at, 1);
  std::vector<Trial> trials;
  for (std::int64_t iterations = frozen_at - 1; iterations <= frozen_at + 3; ++iterations) trials.push_back(trial(20, iterations, cold));
  expect_gpu_twins(trials);
}

/// The same run in many slices, then at one go.
void expect_slices_add_up(const Implementation& implementation, const Trial& trial) {
  const std::string what = trial.name + " " + implementation.name;
  const auto run = implementation.prepare(trial.c, *trial.instance);
  run->reset(11);
  ASSERT_TRUE(run->execute({.seconds = 0})) << what << ": one slice was all";
  EXPECT_TRUE(run->outcome().feasible) << what << " after a slice: " << run->outcome().complaint;
  in_slices(*run);
  const std::uint64_t sliced = run->outcome().digest;
  EXPECT_EQ(sliced, outcome_of(implementation, trial, at_once).digest) << what;
  run->reset(11);
  run->execute();
  EXPECT_EQ(run->outcome().digest, sliced) << what << " again";
}

TEST_F(SaGpu, SlicesAddUp) {
  const std::int64_t iterations = 100000;  // a first slice has some ten thousand
  for (const Implementation& implementation : gpu_annealing_implementations())
    for (const std::int64_t size : {2, 30, 100})
      for (const auto& values : {std::map<std::string, Value>{}, cold, std::map<std::string, Value>{{"chains", std::int64_t{3}}},
                                 std::map<std::string, Value>{{"matrix", std::string("asymmetric")}}})
        expect_slices_add_up(implementation, trial(size, iterations, values));
}

TEST_F(SaGpu, AChainIsTheRunOfItsSeed) {
  const std::int64_t chains = 4;
  for (const Implementation& implementation : gpu_annealing_implementations()) {
    std::int64_t best = 0, accepted = 0;
    for (std::int64_t chain = 0; chain < chains; ++chain) {
      const Outcome alone = outcome_of(implementation, trial(40, 5000), at_once, 11 + static_cast<std::uint64_t>(chain));
      if (chain == 0 || *alone.objective < best) best = *alone.objective;
      accepted += alone.counters.at("accepted");
    }
    const Outcome all = outcome_of(implementation, trial(40, 5000, {{"chains", chains}}), at_once);
    EXPECT_EQ(all.objective, best) << implementation.name;
    EXPECT_EQ(all.counters.at("accepted"), accepted) << implementation.name;
  }
}

TEST_F(SaGpu, StartsWhereItIsTold) {
  std::vector<Trial> trials{trial(33, 1, {{"t0", 1e-3}, {"tf", 1e-3}}), trial(33, 4000)};
  for (Trial& one : trials) {
    one.start.emplace();
    for (std::int32_t i = 0; i < 33; ++i) one.start->push_back((7 * i + 3) % 33);
  }
  expect_gpu_twins(trials);
}

TEST_F(SaGpu, ARunThatDidNothingDoesNotPass) {
  const Trial some = trial(30, 100);
  for (const Implementation& implementation : gpu_annealing_implementations()) {
    const auto run = implementation.prepare(some.c, *some.instance);
    run->reset(11);
    EXPECT_FALSE(run->outcome().feasible) << implementation.name;
    run->execute();
    run->reset(11);
    EXPECT_FALSE(run->outcome().feasible) << implementation.name;
  }
}

TEST_F(SaGpu, PrefixesAreTheSame) {
  std::vector<Implementation> all{cpu_annealing_implementations().front()};
  for (const Implementation& implementation : gpu_annealing_implementations()) all.push_back(implementation);
  expect_prefix_twins(all, random_trials(40));
}

}  // namespace
}  // namespace vicinity::sa
