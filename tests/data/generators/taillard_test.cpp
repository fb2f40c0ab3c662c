#include "data/generators/taillard.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/util/error.hpp"

namespace vicinity {
namespace {

std::size_t at(std::size_t n, std::size_t i, std::size_t j) { return i * n + j; }

TEST(Taillard, FirstEntriesOfTai100aAreTheFiles) {
  const auto a = TaillardStream(123456789).symmetric(100);
  EXPECT_EQ(std::vector<std::int32_t>(a.begin(), a.begin() + 10), (std::vector<std::int32_t>{0, 21, 95, 82, 56, 41, 6, 25, 10, 4}));
}

TEST(Taillard, SymmetricMatrixIsTheMirroredTriangleOfTheStream) {
  const std::size_t n = 9;
  TaillardStream stream(7);
  const auto matrix = stream.symmetric(n);
  std::int64_t x = 7;
  for (std::size_t i = 0; i < n; ++i) {
    EXPECT_EQ(matrix[at(n, i, i)], 0);
    for (std::size_t j = i + 1; j < n; ++j) {
      x = 16807 * x % 2147483647;
      EXPECT_EQ(matrix[at(n, i, j)], 100 * x / 2147483647);
      EXPECT_EQ(matrix[at(n, j, i)], matrix[at(n, i, j)]);
    }
  }
}

TEST(Taillard, AStreamGoesOnWithTheNextMatrix) {
  TaillardStream stream(123456789), same(123456789);
  const auto first = stream.symmetric(5), second = stream.symmetric(5);
  EXPECT_EQ(same.symmetric(5), first);
  EXPECT_NE(first, second);
}

TEST(Taillard, EntriesFillTheRange) {
  for (const std::int64_t range : {std::int64_t{1}, std::int64_t{2}, std::int64_t{1} << 30}) {
    const auto matrix = TaillardStream(5).asymmetric(60, range);
    EXPECT_GE(*std::min_element(matrix.begin(), matrix.end()), 0);
    EXPECT_LT(*std::max_element(matrix.begin(), matrix.end()), range);
    EXPECT_GE(*std::max_element(matrix.begin(), matrix.end()), range / 2);
  }
}

TEST(Taillard, SeedsOutsideTheGeneratorsAreBadInput) {
  for (const std::int64_t seed : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{2147483647}, std::int64_t{1} << 40}) {
    EXPECT_THROW((void)TaillardStream(seed), InputError);
  }
  EXPECT_NO_THROW((void)TaillardStream(2147483646));
}

}  // namespace
}  // namespace vicinity
