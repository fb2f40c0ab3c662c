#include "tests/support/fang_twins.hpp"

#include <cstdint>

#include "tests/support/runs.hpp"

namespace vicinity::fang {
namespace {

TEST(FangCpu, RandomTwins) { expect_twins(cpu_implementations().front(), cpu_implementations(), random_cases(200)); }

TEST(FangCpu, EdgeTwins) { expect_twins(cpu_implementations().front(), cpu_implementations(), edge_cases()); }

/// Windows whose offsets fit a byte and whose do not; a grid that they reach beyond, and the largest.
TEST(FangCpu, EveryLoadIsVectorisedAndATwin) {
  std::vector<Case> cases;
  for (std::int64_t load = 1; load <= max_load; ++load)
    for (const std::int64_t possibilities : {1, 33, 1224, 65600})
      for (const std::int64_t grid : {std::int64_t{100}, std::int64_t{max_side}}) {
        if (possibilities == 65600 && load % 21 != 1) continue;
        cases.push_back({"grid-path",
                         "",
                         {{"states", std::int64_t{2}},
                          {"variables", std::int64_t{2}},
                          {"possibilities", possibilities},
                          {"load", load},
                          {"grid", grid}}});
      }
  expect_twins(cpu_implementations().front(), cpu_implementations(), cases);
  for (const Case& c : cases) {
    const auto instance = make_instance(c);
    const auto run = cpu_implementations().back().prepare(c, *instance);
    run->reset(1);
    run->execute();
    EXPECT_GT(run->policy().at("vector_lanes"), 1) << c.key();
  }
}

TEST(FangCpu, ChoicesFollowWeights) {
  for (const Implementation& implementation : cpu_implementations())
    for (const std::int64_t possibilities : {5, 70}) expect_choices_follow_weights(implementation, possibilities, 20000);
}

TEST(FangCpu, SeedsGiveDifferentResultsAndTheSameSeedTheSame) {
  const Case c{
      "grid-path",
      "",
      {{"states", std::int64_t{8}}, {"variables", std::int64_t{4}}, {"possibilities", std::int64_t{80}}, {"load", std::int64_t{1}}}};
  const auto instance = make_instance(c);
  for (const Implementation& implementation : cpu_implementations()) {
    const auto run = implementation.prepare(c, *instance);
    static_cast<void>(expect_seeds_decide(*run, implementation.name));
  }
}

TEST(FangCpu, ResetPoisonsTheTargets) {
  const Case c{
      "grid-path",
      "",
      {{"states", std::int64_t{2}}, {"variables", std::int64_t{4}}, {"possibilities", std::int64_t{80}}, {"load", std::int64_t{1}}}};
  const auto instance = make_instance(c);
  for (const Implementation& implementation : cpu_implementations()) {
    const auto run = implementation.prepare(c, *instance);
    run->reset(1);
    run->execute();
    run->reset(1);
    EXPECT_FALSE(run->outcome().feasible) << implementation.name << ": a run that did nothing passed";
  }
}

}  // namespace
}  // namespace vicinity::fang
