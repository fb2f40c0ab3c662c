#pragma once
// What the tests ask of implementations over several processes: the result of one process, for any number of ranks.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/util/error.hpp"
#include "tests/support/runs.hpp"

namespace vicinity {

inline constexpr std::int64_t rank_counts[]{1, 2, 3, 4, 7};

/// For each number of ranks, all trials one after the other, so that the ranks are started once.
inline void expect_rank_twins(const Implementation& reference, const Implementation& implementation, const std::vector<Trial>& trials,
                              const std::function<void(Run&)>& go = at_once) {
  for (const std::int64_t ranks : rank_counts)
    for (Trial trial : trials) {
      trial.c.values["ranks"] = ranks;
      expect_twins(reference, {implementation}, {trial}, go);
      if (testing::Test::HasFailure()) return;  // starting ranks takes its time
    }
}

/// The first of them that cannot run here says why; empty when all can.
[[nodiscard]] inline std::string absence_of(const std::vector<Implementation>& implementations) {
  for (const Implementation& implementation : implementations)
    if (!implementation.absence.empty()) return implementation.absence;
  return "";
}

/// Over all ranks: one run serves several starts, a run that did nothing does not pass, a prefix is that of the reference, and the rest of
/// it gives the whole run's result.
inline void expect_rank_runs(const Implementation& reference, const Implementation& implementation, Trial trial) {
  for (const std::int64_t ranks : {2, 5}) {
    trial.c.values["ranks"] = ranks;
    expect_a_run_is_as_good_as_new({implementation}, trial);
    expect_prefix_twins({reference, implementation}, {trial});
    EXPECT_EQ(implementation.prepare(trial.c, *trial.instance)->policy().at("ranks"), ranks);
  }
}

/// A start that is no solution is said, and the ranks serve the next run.
inline void expect_a_bad_start_is_said(const Implementation& reference, const Implementation& implementation, const Trial& one,
                                       const Solution& start) {
  const auto run = implementation.prepare(one.c, *one.instance);
  run->reset({1, start});
  EXPECT_THROW(run->execute(), InputError) << implementation.name;
  expect_twins(reference, {implementation}, {one});
}

}  // namespace vicinity
