// A raised flag ends a step before its end, leaves a result to judge, and changes nothing of later runs.
#include "cpu_ref/run/interruption.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "core/util/error.hpp"
#include "core/util/permutation.hpp"
#include "systems/list.hpp"
#include "tests/support/runs.hpp"

namespace vicinity {
namespace {

const System& system_named(const std::string& name) {
  for (const System& system : all_systems())
    if (system.name == name) return system;
  throw std::out_of_range("no system " + name);
}

Trial trial_of(const System& system, const std::string& problem, const std::map<std::string, Value>& values) {
  const Case c{.problem = problem, .instance = "", .values = values};
  return {c, system.instance(c), c.key()};
}

/// Those on the CPU that take the case.
std::vector<const Implementation*> cpu_implementations(const System& system, const Case& c, const Instance& instance) {
  std::vector<const Implementation*> all;
  for (const Implementation& one : system.implementations) {
    if (one.backend != Backend::cpu) continue;
    try {
      static_cast<void>(one.prepare(c, instance));
      all.push_back(&one);
    } catch (const DoesNotFit&) {
    }
  }
  return all;
}

/// Raises a flag after a while, from beside.
class Later {
 public:
  Later()
      : thread_([this] {
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
          flag_ = true;
        }) {}
  ~Later() { thread_.join(); }
  Later(const Later&) = delete;
  Later& operator=(const Later&) = delete;
  [[nodiscard]] const std::atomic<bool>* flag() const { return &flag_; }

 private:
  std::atomic<bool> flag_ = false;
  std::thread thread_;
};

struct Long {
  std::string system, problem;
  std::map<std::string, Value> values;
};
Value whole(std::int64_t value) { return value; }

/// What none of these finishes before the test's own time limit, or not within the step that the flag finds it in.
const std::vector<Long>& long_ones() {
  static const std::vector<Long> all{
      {"sa", "qap", {{"size", whole(60)}, {"iterations", whole(10'000'000'000)}, {"samples", whole(10'000'000'000)}}},
      {"sa", "qap", {{"size", whole(60)}, {"iterations", whole(1'000'000'000'000)}}},
      {"sa", "qap", {{"size", whole(60)}, {"iterations", whole(1'000'000'000'000)}, {"chains", whole(3)}, {"threads", whole(2)}}},
      {"lsm", "qap", {{"size", whole(1200)}, {"iterations", whole(1'000'000)}}},
      {"lsm", "ppp", {{"m", whole(400)}, {"n", whole(400)}, {"neighborhood", std::string("hamming3")}, {"iterations", whole(1'000'000)}}},
      {"lsm", "weierstrass", {{"dimension", whole(64)}, {"neighbors", whole(1 << 22)}, {"iterations", whole(1'000'000)}}},
      {"lsm", "tsp", {{"size", whole(30'000)}, {"iterations", whole(1'000'000)}}},
      {"lsm", "tsp", {{"size", whole(300)}, {"iterations", whole(1'000'000'000)}, {"kicks", whole(1'000'000)}}},
      {"alns", "vrp", {{"size", whole(1200)}, {"processes", whole(4)}, {"calls", whole(1'000'000)}}},
      {"lns",
       "random",
       {{"variables", whole(100)},
        {"constraints", whole(60)},
        {"domain", whole(200)},
        {"instance_seed", whole(1)},
        {"strategy", std::string("ICM")},
        {"released", whole(40)},
        {"repetitions", whole(100'000)}}},
  };
  return all;
}

TEST(Interruption, ReachesInsideAStep) {
  for (const Long& one : long_ones()) {
    const System& system = system_named(one.system);
    const Trial trial = trial_of(system, one.problem, one.values);
    for (const Implementation* implementation : cpu_implementations(system, trial.c, *trial.instance)) {
      const auto run = implementation->prepare(trial.c, *trial.instance);
      run->reset(3);
      const Later later;
      EXPECT_TRUE(run->execute({.stop = later.flag()})) << trial.name << " " << implementation->name;  // comes back at all
      const Outcome outcome = run->outcome();
      EXPECT_TRUE(outcome.feasible || outcome.solution.empty()) << trial.name << " " << implementation->name << ": " << outcome.complaint;
    }
  }
}

TEST(Interruption, BeforeTheFirstStepTheStartIsTheResult) {
  const std::atomic<bool> raised = true;
  for (const Long& one : long_ones()) {
    if (one.system == "alns" || one.system == "lns") continue;  // they make their first solutions themselves
    const System& system = system_named(one.system);
    const Trial trial = trial_of(system, one.problem, one.values);
    Start start(3);
    if (one.problem == "tsp") start.solution = shuffled(static_cast<std::int32_t>(trial.c.integer("size", 3, 30'000)), 3, 0);
    for (const Implementation* implementation : cpu_implementations(system, trial.c, *trial.instance)) {
      const auto run = implementation->prepare(trial.c, *trial.instance);
      run->reset(start);
      EXPECT_TRUE(run->execute({.stop = &raised}));
      EXPECT_TRUE(run->execute({.stop = &raised}));  // and goes no further
      const Outcome outcome = run->outcome();
      EXPECT_TRUE(outcome.feasible) << trial.name << " " << implementation->name << ": " << outcome.complaint;
      EXPECT_FALSE(outcome.solution.empty());
    }
  }
}

TEST(Interruption, AResetForgetsIt) {
  const std::atomic<bool> raised = true;
  for (const char* name : {"sa", "lsm", "alns", "lns"}) {
    const System& system = system_named(name);
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const Case c = system.random_case(seed);
      const auto instance = system.instance(c);
      for (const Implementation* implementation : cpu_implementations(system, c, *instance)) {
        const auto fresh = implementation->prepare(c, *instance), run = implementation->prepare(c, *instance);
        const std::uint64_t expected = digest_of(*fresh, 7);
        run->reset(7);
        static_cast<void>(run->execute({.stop = &raised}));
        EXPECT_EQ(digest_of(*run, 7), expected) << c.key() << " " << implementation->name;
        run->reset(7);
        static_cast<void>(run->execute({.iterations = 1}));
        static_cast<void>(run->execute({.stop = &raised}));
        EXPECT_EQ(digest_of(*run, 7), expected) << c.key() << " " << implementation->name;
      }
    }
  }
}

TEST(Interruption, AnInterruptedAlnsKeepsWhatItsProcessesFound) {
  const System& system = system_named("alns");
  const Trial trial = trial_of(system, "vrp", {{"size", whole(60)}, {"processes", whole(3)}, {"calls", whole(1'000'000)}});
  for (const Implementation* implementation : cpu_implementations(system, trial.c, *trial.instance)) {
    const auto run = implementation->prepare(trial.c, *trial.instance);
    run->reset(3);
    ASSERT_TRUE(run->execute({.iterations = 1}));
    const Outcome before = run->outcome();
    const Later later;
    EXPECT_TRUE(run->execute({.stop = later.flag()}));
    const Outcome after = run->outcome();
    EXPECT_TRUE(after.feasible) << after.complaint;
    EXPECT_FALSE(before.objective.better_than(after.objective));
  }
}

TEST(Interruption, NobodyWaitsForTwoOptOfAnAlnsCutShort) {
  const System& system = system_named("alns");
  const Trial trial = trial_of(system, "vrp", {{"size", whole(300)}, {"processes", whole(1)}, {"calls", whole(1'000)}});
  const std::atomic<bool> raised = true;
  for (const Implementation* implementation : cpu_implementations(system, trial.c, *trial.instance)) {
    if (implementation->reference != system.reference) continue;  // the others have no 2-opt at their end, or one inside
    const auto ended = implementation->prepare(trial.c, *trial.instance), cut = implementation->prepare(trial.c, *trial.instance);
    ended->reset(3);
    cut->reset(3);
    ASSERT_TRUE(ended->execute({.iterations = 1}));
    ASSERT_TRUE(cut->execute({.iterations = 1}));
    EXPECT_TRUE(cut->execute({.stop = &raised}));
    const Outcome outcome = cut->outcome();
    EXPECT_TRUE(outcome.feasible) << outcome.complaint;
    EXPECT_TRUE(ended->outcome().objective.better_than(outcome.objective)) << implementation->name;  // by 2-opt
  }
}

TEST(ForEachInParallel, AnInterruptedBodyEndsAll) {
  std::atomic<int> begun = 0;
  std::atomic<bool> over = false;
  EXPECT_THROW(for_each_in_parallel(1000, 2,
                                    [&](std::int64_t k) {
                                      ++begun;
                                      if (k == 3) {
                                        over = true;
                                        throw Interrupted();
                                      }
                                      while (k > 3 && !over) std::this_thread::yield();  // the other thread may be late
                                      std::this_thread::sleep_for(std::chrono::milliseconds(1));
                                    }),
               Interrupted);
  EXPECT_LT(begun, 1000);
  begun = 0;
  for_each_in_parallel(100, 2, [&](std::int64_t) { ++begun; });
  EXPECT_EQ(begun, 100);
}

}  // namespace
}  // namespace vicinity
