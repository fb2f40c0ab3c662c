#include "core/methods/lsm/search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/problems/qap/exchange.hpp"
#include "core/problems/tsp/swap.hpp"
#include "core/problems/weierstrass/crowns.hpp"
#include "core/util/rng.hpp"

namespace vicinity::local_search {
namespace {

TEST(Choice, ForbiddenThenValueThenNumber) {
  const std::vector<Choice> ordered{{-5, 0, false}, {-5, 7, false}, {0, 3, false}, {9, 1, false},
                                    {-50, 2, true}, {-50, 4, true}, {1, 0, true},  {}};
  for (std::size_t x = 0; x < ordered.size(); ++x)
    for (std::size_t y = 0; y < ordered.size(); ++y) EXPECT_EQ(better(ordered[x], ordered[y]), x < y) << x << " " << y;
}

TEST(Choice, PackedWordsHaveTheSameOrder) {
  constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min(), most = std::numeric_limits<std::int32_t>::max();
  const std::vector<std::int32_t> differences{least, -1, 0, 1, 77, most};
  std::vector<Choice> choices;
  for (const bool forbidden : {false, true})
    for (const std::int32_t difference : differences)
      for (const std::int64_t move : {std::int64_t{0}, std::int64_t{1}, most_moves - 1}) choices.push_back({difference, move, forbidden});
  for (const Choice& x : choices) {
    const std::uint64_t word = packed(x.forbidden, static_cast<std::int32_t>(x.value), x.move);
    EXPECT_EQ(move_of(word), x.move);
    EXPECT_EQ(difference_of(word), x.value);
    for (const Choice& y : choices) EXPECT_EQ(word < packed(y.forbidden, static_cast<std::int32_t>(y.value), y.move), better(x, y));
  }
}

/// The best of any slices, in any order, is the best of all.
TEST(Choice, SlicesCombine) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    auto below = [&, draw = 0u](std::uint64_t bound) mutable { return scale_to(random_bits(seed, 0, 0, draw++), bound); };
    std::vector<Choice> all;
    for (std::int64_t move = 0; move < 40; ++move) all.push_back({static_cast<std::int64_t>(below(5)), move, below(3) == 0});
    Choice whole;
    for (const Choice& choice : all)
      if (better(choice, whole)) whole = choice;
    std::vector<Choice> parts(7);
    for (const Choice& choice : all)
      if (Choice& part = parts[below(7)]; better(choice, part)) part = choice;
    std::reverse(parts.begin(), parts.end());
    Choice combined;
    for (const Choice& part : parts)
      if (better(part, combined)) combined = part;
    EXPECT_EQ(combined.move, whole.move);
  }
}

TEST(Tabu, AMoveIsForbiddenForItsTenureUnlessItIsBetterThanTheBest) {
  const std::int64_t until = tabu_until(10, 3);
  for (const std::int64_t t : {11, 12, 13}) {
    EXPECT_TRUE(forbids(until, t, 100, 100)) << t;
    EXPECT_FALSE(forbids(until, t, 99, 100)) << t;
  }
  EXPECT_FALSE(forbids(until, 14, 500, 100));
  EXPECT_FALSE(forbids(0, 0, 500, 100));
}

TEST(Tabu, TheTenureIsAnEighthOfTheNeighbourhood) {
  EXPECT_EQ(tenure_of({}, 1), 1);
  EXPECT_EQ(tenure_of({}, 15), 1);
  EXPECT_EQ(tenure_of({}, 4950), 618);
  Task task;
  task.tenure = 7;
  EXPECT_EQ(tenure_of(task, 4950), 7);
}

TEST(FewestOperations, AreThoseOfAnyDesign) {
  const std::vector<double> places(1000);
  const tsp::Tsp tsp("line", places, places);
  EXPECT_EQ(TspSwap(tsp).fewest_operations(), 0);  // not known
  const qap::Qap qap("ones", 4, std::vector<std::int32_t>(16, 1), std::vector<std::int32_t>(16, 1));
  EXPECT_EQ(QapExchange<2>(qap).fewest_operations(), 2 * 6);
  EXPECT_EQ(QapExchange<3>(qap).fewest_operations(), 2 * 4);
  const weierstrass::Weierstrass function(10, 100);
  EXPECT_EQ(WeierstrassCrowns<float>(function).fewest_operations(), 2 * 100 * 10 * 100);
  EXPECT_EQ(WeierstrassCrowns<double>(function).fewest_operations(), 4 * 100 * 10 * 100);
}

}  // namespace
}  // namespace vicinity::local_search
