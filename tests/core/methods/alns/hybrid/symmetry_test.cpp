#include "core/methods/alns/hybrid/symmetry.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <set>
#include <vector>

#include "core/methods/alns/hybrid/population.hpp"

namespace vicinity::alns::hybrid {
namespace {

/// Rings of `around` customers, coordinates with four decimals as in files; `heavy`: demand of every fourth customer.
vrp::Vrp rings(std::int32_t around, std::int32_t count, std::int32_t heavy) {
  vrp::Data data;
  data.x = data.y = {0};
  data.demand = {0};
  for (std::int32_t ring = 1; ring <= count; ++ring)
    for (std::int32_t i = 0; i < around; ++i) {
      const double angle = 2 * std::numbers::pi * i / around;
      data.x.push_back(std::round(300'000 * ring * std::cos(angle)) / 10'000);
      data.y.push_back(std::round(300'000 * ring * std::sin(angle)) / 10'000);
      data.demand.push_back(i % 4 == 0 ? heavy : 1);
    }
  data.capacity = 100;
  return vrp::Vrp(data);
}

TEST(HybridSymmetry, RingsTurnAndAreReflected) {
  EXPECT_EQ(symmetries_of(rings(12, 3, 1)).size(), 23u);
  EXPECT_EQ(symmetries_of(rings(12, 3, 5)).size(), 5u);
  EXPECT_EQ(symmetries_of(rings(84, 2, 1)).size(), most_symmetries);
}

TEST(HybridSymmetry, AMatrixNeedNotFitTheDrawing) {
  vrp::Data data = rings(12, 1, 1).data();
  data.matrix.assign(13 * 13, 7);
  for (std::size_t i = 0; i < 13; ++i) data.matrix[i * 13 + i] = 0;
  data.matrix[1 * 13 + 2] = data.matrix[2 * 13 + 1] = 1;
  EXPECT_TRUE(symmetries_of(vrp::Vrp(data)).empty());
}

TEST(HybridSymmetry, ImagesAreAsFarApart) {
  const vrp::Vrp vrp = rings(12, 3, 5);
  const vrp::View view = vrp.view();
  for (const Symmetry& symmetry : symmetries_of(vrp)) {
    EXPECT_EQ(std::set<std::int32_t>(symmetry.begin(), symmetry.end()).size(), symmetry.size());
    for (std::int32_t a = 0; a <= view.n; ++a) {
      const std::int32_t image = symmetry[static_cast<std::size_t>(a)];
      EXPECT_EQ(view.demand[image], view.demand[a]);
      for (std::int32_t b = 0; b <= view.n; ++b) EXPECT_NEAR(view(image, symmetry[static_cast<std::size_t>(b)]), view(a, b), 2);
    }
  }
}

TEST(HybridSymmetry, OthersHaveNone) {
  vrp::Data data = rings(12, 2, 1).data();
  data.x[5] += 1;
  EXPECT_TRUE(symmetries_of(vrp::Vrp(data)).empty());
  data.x = data.y = {0, 1, 1, 0, 0};  // two customers at one place, two at the depot
  data.demand = {0, 1, 1, 1, 1};
  EXPECT_TRUE(symmetries_of(vrp::Vrp(data)).empty());
  data.x = data.y = {0, 0};
  data.demand = {0, 1};
  EXPECT_TRUE(symmetries_of(vrp::Vrp(data)).empty());
}

/// All images of a solution become the same one.
TEST(HybridSymmetry, ImagesAreAligned) {
  const vrp::Vrp vrp = rings(12, 3, 5);
  const std::vector<Symmetry> symmetries = symmetries_of(vrp);
  Routes routes(5);
  for (std::int32_t c = 1; c <= vrp.size(); ++c) routes[static_cast<std::size_t>(c % 12 / 3)].push_back(c);
  const Individual reference = individual_of(vrp.view(), routes);
  Images images(vrp.view(), symmetries);
  images.compare_with(reference);
  EXPECT_FALSE(images.closest(reference));
  for (const Symmetry& symmetry : symmetries) {
    Routes turned = routes;
    for (vrp::Route& route : turned)
      for (std::int32_t& c : route) c = symmetry[static_cast<std::size_t>(c)];
    const Individual image = individual_of(vrp.view(), turned);
    const std::optional<Individual> back = images.closest(image);
    ASSERT_TRUE(back);
    EXPECT_NEAR(static_cast<double>(image.distance), static_cast<double>(reference.distance), 60);
    EXPECT_GT(broken_pairs(image, reference), 0);
    EXPECT_EQ(broken_pairs(*back, reference), 0);
  }
}

}  // namespace
}  // namespace vicinity::alns::hybrid
