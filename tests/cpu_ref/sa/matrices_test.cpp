#include "cpu_ref/sa/matrices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "core/util/permutation.hpp"
#include "tests/support/sa_twins.hpp"

namespace vicinity::sa {
namespace {

constexpr std::pair<bool, bool> symmetries[]{{true, true}, {true, false}, {false, true}, {false, false}};

TEST(SaMatrices, OneSideWhereOneMatrixIsSymmetric) {
  for (const auto& [symmetric_a, symmetric_b] : symmetries) {
    const auto qap = random_qap(1, 12, {0, 99, 0, 99}, symmetric_a, symmetric_b);
    const Matrices matrices(*qap);
    EXPECT_EQ(matrices.sides(), symmetric_a || symmetric_b ? 1 : 2);
    EXPECT_EQ(matrices.scale(), symmetric_a && symmetric_b ? 2 : 1);
    EXPECT_EQ(matrices.a() == qap->view().a, symmetric_a || !symmetric_b);
    EXPECT_EQ(matrices.b() == qap->view().b, symmetric_b || !symmetric_a);
  }
}

TEST(SaMatrices, SumsThatLeave32BitsAreNotTaken) {
  const auto qap = random_qap(1, 12, {0, 1, 0, std::int64_t{1} << 30}, true, false);
  EXPECT_EQ(Matrices(*qap).sides(), 1);
  const auto beyond = random_qap(1, 12, {0, 1, 0, (std::int64_t{1} << 31) - 1}, true, false);
  EXPECT_EQ(Matrices(*beyond).sides(), 2);
  EXPECT_EQ(Matrices(*beyond).element_bits(), 64);
}

/// Large entries that are few: tai*b in small.
qap::Qap sparse_qap(std::int32_t n, std::int32_t most) {
  std::vector<std::int32_t> a = random_matrix(3, n, 0, 2000, true), b = random_matrix(4, n, 0, 9, false);
  for (std::size_t k = 0; k < b.size(); k += static_cast<std::size_t>(n) + 3) b[k] = most;
  return {"sparse", n, std::move(a), std::move(b)};
}

TEST(SaMatrices, FewLargeEntriesLeaveElementsNarrow) {
  const qap::Qap qap = sparse_qap(100, 8000);
  EXPECT_FALSE(qap.narrow());
  EXPECT_EQ(Matrices(qap).element_bits(), 16);
  EXPECT_EQ(Matrices(sparse_qap(100, 200'000)).element_bits(), 64) << "deltas beyond 32 bits";
}

/// Of large deltas: a row of A full and another empty, which meet the same of B.
TEST(SaMatrices, NoDeltaIsBeyondItsBits) {
  constexpr std::int32_t n = 40;
  for (const auto& [symmetric_a, symmetric_b] : symmetries)
    for (const std::int32_t large : {2000, 2600, 3700, 5200, 7400, 10400}) {
      std::vector<std::int32_t> a(n * n, 0), b(n * n, 0);
      for (std::int32_t k = 2; k < n; ++k) {
        a[k] = b[n + k] = large;
        if (symmetric_a) a[k * n] = large;
        if (symmetric_b) b[k * n + 1] = large;
      }
      const qap::Qap qap("extreme", n, a, b);
      qap::Permutation p(n);
      for (std::int32_t k = 0; k < n; ++k) p[static_cast<std::size_t>(k)] = k;
      const std::int64_t delta = std::abs(qap::delta(qap.view(), p, 0, 1));
      ASSERT_GE(delta, std::int64_t{large} * large * (n - 2));
      if (delta >= (std::int64_t{1} << 31) - 1) {
        EXPECT_EQ(Matrices(qap).element_bits(), 64) << large;
      }
    }
}

}  // namespace
}  // namespace vicinity::sa
