// The domains' rules, by hand-made examples.
#include <gtest/gtest.h>

#include <cstdint>

#include "core/problems/fang_domains/states.hpp"

namespace vicinity::fang {
namespace {

static_assert(LocalHeuristic<StepHeuristic<1>> && LocalHeuristic<StepHeuristic<0>> && LocalHeuristic<SignedHeuristic>);
static_assert(LocalHeuristic<DistinctHeuristic> && LocalHeuristic<VertexHeuristic> && LocalHeuristic<ClassHeuristic>);
static_assert(PackedHeuristic<StepHeuristic<1>> && PackedHeuristic<StepHeuristic<0>> && !PackedHeuristic<VertexHeuristic>);
static_assert(Domain<GridPath<1>> && Domain<SignedRatings> && Domain<AllDifferent> && Domain<Colouring>);

template <class H>
std::vector<std::uint64_t> weights(const H& h, const std::vector<std::int32_t>& state, std::uint32_t variable) {
  const auto context = h.context(state.data(), variable);
  auto aggregate = h.create();
  for (std::uint32_t p = 0; p < h.possibilities(context); ++p) aggregate = h.aggregate(aggregate, h.rate(context, p));
  std::vector<std::uint64_t> result;
  for (std::uint32_t p = 0; p < h.possibilities(context); ++p) result.push_back(h.weight(h.rate(context, p), aggregate));
  return result;
}

TEST(StepHeuristic, NearerCellsWeighMoreAndCellsOutsideNothing) {
  GridPath<1> domain{1, 1, 3, 3, 3, {}, {{2, 0}}, {VariableType{1, 8}}};
  for (const Pair offset : {Pair{-1, -1}, Pair{0, -1}, Pair{1, -1}, Pair{-1, 0}, Pair{1, 0}, Pair{-1, 1}, Pair{0, 1}, Pair{1, 1}})
    domain.offsets.push_back(pack_halves(offset));
  const auto [h] = domain.heuristics(OnHost{});
  // From (1, 1) every cell is inside; distances to (2, 0) are 2 1 0 3 1 4 3 2.
  EXPECT_EQ(weights(h, {pack_halves({1, 1})}, 0), (std::vector<std::uint64_t>{3, 4, 5, 2, 4, 1, 2, 3}));
  // From the corner (0, 0) three cells are inside: (1, 0), (0, 1), (1, 1) at distances 1, 3, 2.
  EXPECT_EQ(weights(h, {0}, 0), (std::vector<std::uint64_t>{0, 0, 0, 0, 3, 0, 1, 2}));
  std::vector<std::int32_t> state{pack_halves({1, 1})};
  h.assign(state.data(), 0, 5);
  EXPECT_EQ(state[0], pack_halves({0, 2}));
}

TEST(StepHeuristic, LoadAddsDistancesToItsGoals) {
  GridPath<0> domain{1, 3, 9, 9, 3, {pack_halves({1, 0})}, {{4, 4}, {0, 0}, {8, 8}}, {VariableType{1, 1}}};
  const auto [h] = domain.heuristics(OnHost{});
  const std::int32_t state = pack_halves({3, 4});
  EXPECT_EQ(h.rate(h.context(&state, 0), 0), 0 + 8 + 8);
  EXPECT_EQ(domain.objective(std::span(&state, 1)), 1 + 7 + 9);
}

/// Both ways of a heuristic that rates two possibilities at a time, at each place of the grid.
template <int Load>
void expect_two_as_one(std::int32_t load, std::uint32_t side) {
  GridPath<Load> domain{1, static_cast<std::uint32_t>(load), side, side, 5, {}, {}, {VariableType{1, 24}}};
  for (std::int32_t y = -2; y <= 2; ++y)
    for (std::int32_t x = -2; x <= 2; ++x)
      if (x != 0 || y != 0) domain.offsets.push_back(pack_halves({x, y}));
  for (std::int32_t goal = 0; goal < load; ++goal) domain.goals.push_back({goal * 3 % static_cast<std::int32_t>(side), goal});
  const auto [h] = domain.heuristics(OnHost{});
  ASSERT_TRUE(h.packs());
  int allowed = 0;
  for (std::int32_t at = 0; at < static_cast<std::int32_t>(side * side); ++at) {
    const auto width = static_cast<std::int32_t>(side);
    const std::vector<std::int32_t> state{pack_halves({at % width, at / width})};
    const auto context = h.context(state.data(), 0);
    const std::vector<std::uint64_t> expected = weights(h, state, 0);
    std::vector<std::uint32_t> twos;
    std::uint32_t both = h.create_two();
    for (std::uint32_t p = 0; p < 24; p += 2) {
      twos.push_back(h.template rate_two<false>(context, p));
      if (h.allows_all(context)) {
        EXPECT_EQ(h.template rate_two<true>(context, p), twos.back());
      }
      both = h.aggregate_two(both, twos.back());
    }
    allowed += h.allows_all(context) ? 1 : 0;
    for (std::uint32_t p = 0; p < 24; ++p)
      EXPECT_EQ(h.weights(twos[p / 2], h.aggregate_of(both)) >> (p % 2 * 16) & 0xFFFFu, expected[p]) << at << ", possibility " << p;
  }
  EXPECT_EQ(allowed, static_cast<int>((side - 4) * (side - 4)));
}
TEST(StepHeuristic, TwoRatingsInAWordAreThoseOfEach) {
  expect_two_as_one<1>(1, 9);
  expect_two_as_one<8>(8, 12);
  expect_two_as_one<0>(3, 7);
}
TEST(StepHeuristic, LongDistancesAreNotPacked) {
  const GridPath<0> domain{1, 64, 1000, 1000, 3, {pack_halves({1, 0})}, {{4, 4}}, {VariableType{1, 1}}};
  const auto [h] = domain.heuristics(OnHost{});
  EXPECT_FALSE(h.packs());
}

TEST(SignedHeuristic, NegativeRatingsOutrankPositiveOnes) {
  const SignedRatings domain{1, 5, {3, -2, 0, 7, -1}, {VariableType{1, 5}}};
  const auto [h] = domain.heuristics(OnHost{});
  EXPECT_EQ(weights(h, {-2}, 0), (std::vector<std::uint64_t>{3, 9, 0, 7, 8}));
}

TEST(DistinctHeuristic, UsedValuesAreForbiddenAndReleasedOnReassignment) {
  const AllDifferent domain{2, 3, {0, 2, 4}, {0, 1, 1, 2}, {5, 6, 7, 8}, {VariableType{2, 3}}};
  const auto [h] = domain.heuristics(OnHost{});
  std::vector<std::int32_t> state{-1, -1, 0, 0};
  h.assign(state.data(), 0, 1);
  EXPECT_EQ(state, (std::vector<std::int32_t>{1, -1, 0b010, 0}));
  EXPECT_EQ(weights(h, state, 1), (std::vector<std::uint64_t>{0, 8}));
  h.assign(state.data(), 0, 0);
  EXPECT_EQ(state, (std::vector<std::int32_t>{0, -1, 0b001, 0}));
  h.could_not_assign(state.data(), 0);
  EXPECT_EQ(state, (std::vector<std::int32_t>{-1, -1, 0, 1}));
}

TEST(Colouring, TypesRateConflicts) {
  // A path 0 - 1 - 2, two colours.
  const Colouring domain{3, 2, {{0, 1}, {1, 2}}, {0, 1, 3, 4}, {1, 0, 2, 1}, {VariableType{3, 2}, VariableType{2, 3}}};
  const auto [vertex, colour_class] = domain.heuristics(OnHost{});
  const std::vector<std::int32_t> state{0, 0, 1, 0, 0};
  EXPECT_EQ(domain.objective(state), 1);
  EXPECT_EQ(weights(vertex, state, 1), (std::vector<std::uint64_t>{0, 1}));           // own colour forbidden
  EXPECT_EQ(weights(colour_class, state, 1), (std::vector<std::uint64_t>{1, 0, 0}));  // only vertex 0 gains by colour 1
}

TEST(Oracle, FindsWhatIsWrong) {
  const SignedRatings domain{2, 3, {1, 0, 2, 0, 0, 0}, {VariableType{2, 3}}};
  const std::vector<std::int32_t> source{-2, -2};
  const auto complaint = [&](std::vector<std::int32_t> target) { return domain.complaint(source, target, AllActive{}); };
  EXPECT_EQ(complaint({2, -1}), "");
  EXPECT_NE(complaint({1, -1}), "");   // forbidden
  EXPECT_NE(complaint({3, -1}), "");   // no such value
  EXPECT_NE(complaint({-1, -1}), "");  // left out though allowed
  EXPECT_NE(complaint({-2, -1}), "");  // never assigned
}

TEST(Order, KeysAreAPermutationOfTheirOwn) {
  std::vector<std::uint64_t> keys;
  for (std::uint32_t v = 0; v < 1000; ++v) keys.push_back(order_key(42, v));
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::unique(keys.begin(), keys.end()), keys.end());
  int first_before_second = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) first_before_second += order_key(seed, 0) < order_key(seed, 1);
  EXPECT_NEAR(first_before_second, 500, 80);
}

}  // namespace
}  // namespace vicinity::fang
