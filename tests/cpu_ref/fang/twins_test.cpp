#include "tests/support/fang_twins.hpp"

#include <cstdint>

#include "tests/support/runs.hpp"

namespace vicinity::fang {
namespace {

TEST(FangCpu, RandomTwins) { expect_twins(cpu_implementations().front(), cpu_implementations(), random_cases(200)); }

TEST(FangCpu, EdgeTwins) { expect_twins(cpu_implementations().front(), cpu_implementations(), edge_cases()); }

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
