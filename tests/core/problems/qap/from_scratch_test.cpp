#include "core/problems/qap/from_scratch.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/core/problems/qap/random_instances.hpp"

namespace vicinity::qap {
namespace {

void expect_delta_law(const Qap& qap, const Permutation& p) {
  const FromScratch from_scratch(qap);
  const std::int64_t before = cost(qap, p);
  for (std::int32_t r = 0; r < qap.size(); ++r)
    for (std::int32_t s = 0; s < qap.size(); ++s)
      if (r != s) {
        ASSERT_EQ(from_scratch.delta(p, r, s), cost(qap, swapped(p, r, s)) - before) << r << " " << s;
      }
}

TEST(FromScratch, DeltaLaw) { for_random_instances(expect_delta_law); }

TEST(FromScratch, DeltaLawAtTheEdgeOfEveryWidth) {
  Draws draws{5};
  for (const Entries& range : entry_ranges)
    for (const bool symmetric : {true, false}) {
      const Qap random("random", 19, matrix(draws, 19, range.low_a, range.high_a, symmetric),
                       matrix(draws, 19, range.low_b, range.high_b, symmetric));
      expect_delta_law(random, permutation(draws, 19));
    }
}

}  // namespace
}  // namespace vicinity::qap
