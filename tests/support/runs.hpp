#pragma once
// What the tests ask of a run of any system.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/api/system.hpp"

namespace vicinity {

/// Digest of a whole execution from `seed`.
[[nodiscard]] inline std::uint64_t digest_of(Run& run, std::uint64_t seed) {
  run.reset(seed);
  run.execute();
  return run.outcome().digest;
}

/// Another seed gives another result, and the first seed its own again, on one and the same run. Returns the digest of seed 1.
inline std::uint64_t expect_seeds_decide(Run& run, const std::string& name) {
  const std::uint64_t first = digest_of(run, 1);
  EXPECT_NE(first, digest_of(run, 2)) << name;
  EXPECT_EQ(first, digest_of(run, 1)) << name;
  return first;
}

/// A case and its instance, which need not be one that cases can name.
struct Trial {
  Case c;
  std::shared_ptr<const Instance> instance;
  std::string name;
  std::optional<Solution> start = std::nullopt;
};

/// The system's own random cases, on one to three threads.
inline std::vector<Trial> random_trials(const System& system, int count) {
  std::vector<Trial> trials;
  for (int i = 0; i < count; ++i) {
    Case c = system.random_case(static_cast<std::uint64_t>(i));
    c.values["threads"] = std::int64_t{1 + i % 3};
    trials.push_back({c, system.instance(c), c.key()});
  }
  return trials;
}

/// The implementation called `name`, which must be there.
inline const Implementation& named(const std::vector<Implementation>& all, const char* name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Implementation& one) { return one.name == name; });
  if (found == all.end()) throw std::out_of_range(std::string("no implementation ") + name);
  return *found;
}

/// The outcome of a run, which `go` takes from its reset() to its end.
inline Outcome outcome_of(const Implementation& implementation, const Trial& trial, const std::function<void(Run&)>& go,
                          std::uint64_t seed = 11) {
  const auto run = implementation.prepare(trial.c, *trial.instance);
  run->reset({seed, trial.start});
  go(*run);
  return run->outcome();
}
inline void at_once(Run& run) { run.execute(); }
inline void in_slices(Run& run) {
  while (run.execute({.seconds = 0})) {
  }
}

/// Interrupted five times within its second iteration.
inline void interrupted(Run& run) {
  const std::atomic<bool> stop = true;
  EXPECT_TRUE(run.execute({.iterations = 1}));
  for (int k = 0; k < 5; ++k) EXPECT_TRUE(run.execute({.stop = &stop}));
  run.execute();
}

inline void expect_same(const Outcome& outcome, const Outcome& expected, const std::string& name) {
  EXPECT_TRUE(outcome.feasible) << name << ": " << outcome.complaint;
  EXPECT_EQ(outcome.digest, expected.digest) << name;
  EXPECT_EQ(outcome.objective, expected.objective) << name;
  EXPECT_EQ(outcome.counters, expected.counters) << name;
  EXPECT_EQ(outcome.evaluations, expected.evaluations) << name;
  EXPECT_EQ(outcome.iterations, expected.iterations) << name;
}

/// Every implementation gives what the reference gives, and the oracle accepts it.
inline void expect_twins(const Implementation& reference, const std::vector<Implementation>& implementations,
                         const std::vector<Trial>& trials, const std::function<void(Run&)>& go = at_once) {
  for (const Trial& trial : trials) {
    const Outcome expected = outcome_of(reference, trial, at_once);
    EXPECT_TRUE(expected.feasible) << trial.name << ": " << expected.complaint;
    for (const Implementation& implementation : implementations)
      expect_same(outcome_of(implementation, trial, go), expected, trial.name + " " + implementation.name);
  }
}

/// A Run that was used gives what a new one gives; one that did nothing does not pass, at first and later.
inline void expect_a_run_is_as_good_as_new(const std::vector<Implementation>& implementations, const Trial& one) {
  for (const Implementation& implementation : implementations) {
    const auto run = implementation.prepare(one.c, *one.instance);
    run->reset(1);
    EXPECT_FALSE(run->outcome().feasible) << implementation.name << ": a run that did nothing passed";
    expect_seeds_decide(*run, implementation.name);
    run->reset(1);
    EXPECT_FALSE(run->outcome().feasible) << implementation.name << ": a run that did nothing passed";
  }
}

/// A target that the whole run from seed 11 reaches ends a run, one beyond does not.
inline void expect_a_target_ends_it(const Implementation& implementation, const Trial& one) {
  const Outcome whole_run = outcome_of(implementation, one, at_once);
  const auto run = implementation.prepare(one.c, *one.instance);
  run->reset(11);
  static_cast<void>(run->execute({.target = *whole_run.objective}));
  EXPECT_TRUE(run->reached_target()) << implementation.name;
  EXPECT_EQ(run->outcome().objective, whole_run.objective) << implementation.name;
  EXPECT_LE(run->outcome().iterations, whole_run.iterations) << implementation.name;
  run->reset(11);
  EXPECT_FALSE(run->execute({.target = *whole_run.objective - 1})) << implementation.name;
  EXPECT_FALSE(run->reached_target()) << implementation.name;
}

/// The trace of the run at iteration `prefix` of its first search; the rest of it afterwards gives the `whole` run's digest.
inline TracePoint point_at(const Implementation& implementation, const Trial& trial, std::int64_t prefix, std::uint64_t whole) {
  const auto run = implementation.prepare(trial.c, *trial.instance);
  run->reset({11, trial.start});
  const bool left = run->execute({.iterations = prefix});
  const TracePoint point = run->trace().back();
  if (left) run->execute();
  EXPECT_EQ(run->outcome().digest, whole) << trial.name << " " << implementation.name;
  return point;
}

/// Every implementation has the first one's digest at some iteration in the middle; searches make `step` iterations at a time.
inline void expect_prefix_twins(const std::vector<Implementation>& implementations, const std::vector<Trial>& trials,
                                std::int64_t step = 1) {
  for (const Trial& trial : trials) {
    const Implementation& reference = implementations.front();
    const Outcome at_the_end = outcome_of(reference, trial, at_once);
    const std::int64_t prefix = 1 + at_the_end.iterations / 3;
    const TracePoint expected = point_at(reference, trial, prefix, at_the_end.digest);
    EXPECT_LT(expected.iterations, prefix + step);
    for (const Implementation& implementation : implementations) {
      const TracePoint point = point_at(implementation, trial, prefix, at_the_end.digest);
      EXPECT_EQ(point.iterations, expected.iterations) << trial.name << " " << implementation.name;
      EXPECT_EQ(point.digest, expected.digest) << trial.name << " " << implementation.name;
      EXPECT_EQ(point.objective, expected.objective) << trial.name << " " << implementation.name;
    }
  }
}

}  // namespace vicinity
