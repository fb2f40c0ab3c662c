#pragma once
// What the tests ask of a run of any system.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "core/run.hpp"

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

}  // namespace vicinity
