#include "cpu_ref/sa/from_scratch.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/core/problems/qap/random_instances.hpp"
#include "tests/support/sa_twins.hpp"

namespace vicinity::sa {
namespace {

void expect_delta_law(const qap::Qap& qap, const qap::Permutation& p) {
  const FromScratch from_scratch(qap);
  const std::int64_t before = qap::cost(qap, p);
  for (std::int32_t r = 0; r < qap.size(); ++r)
    for (std::int32_t s = 0; s < qap.size(); ++s)
      if (r != s) {
        ASSERT_EQ(from_scratch.delta(p, r, s), qap::cost(qap, qap::swapped(p, r, s)) - before) << r << " " << s;
      }
}

TEST(SaFromScratch, DeltaLaw) { qap::for_random_instances(expect_delta_law); }

TEST(SaFromScratch, DeltaLawAtTheEdgeOfEveryWidth) {
  qap::Draws draws{5};
  for (const Entries& range : entry_ranges)
    for (const bool symmetric : {true, false}) expect_delta_law(*random_qap(3, 19, range, symmetric), qap::permutation(draws, 19));
}

}  // namespace
}  // namespace vicinity::sa
