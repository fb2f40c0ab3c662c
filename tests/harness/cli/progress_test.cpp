// What is left of a run of several parts.
#include <gtest/gtest.h>

#include "harness/cli/options.hpp"

namespace vicinity {
namespace {

TEST(RunPart, NothingIsKnownBeforeAnythingIsDone) { EXPECT_FALSE((RunPart{.number = 1, .count = 2, .share = 0.5}.left(3, 0))); }

TEST(RunPart, AloneItGoesByItsOwnWork) { EXPECT_DOUBLE_EQ(*RunPart{}.left(3, 0.25), 9); }

TEST(RunPart, WhatCameBeforeCounts) {
  const RunPart part{.number = 2, .count = 3, .seconds = 10, .before = 0.5, .share = 0.25};
  EXPECT_DOUBLE_EQ(*part.left(0, 0), 10);
  EXPECT_DOUBLE_EQ(*part.left(5, 1), 5);
}

}  // namespace
}  // namespace vicinity
