// The variants that take paths of their own: every engine, and any number of threads, takes the same.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cpu_ref/alns/run.hpp"
#include "tests/support/alns_twins.hpp"

namespace vicinity::alns {
namespace {

struct Of {
  const char* name;
  Variant variant;
};
constexpr Of variants[] = {{"cpu-genetic", Variant::genetic}, {"cpu-local-search", Variant::local_search}};

const Implementation& twin(const Of& of) {
  static const std::vector<Implementation> all = cpu_variants();
  return named(all, of.name);
}
/// The variant on the reference's engine, which shares no search with the twin's.
Implementation recomputing(Variant variant) {
  return {"recompute", Backend::cpu, "", "",
          [=](const Case& c, const Instance& instance) { return prepare_recompute(task_of(c, variant), instance); }};
}
void expect_variant_twins(const std::vector<Trial>& trials, const std::function<void(Run&)>& go = at_once) {
  for (const Of& of : variants) expect_twins(recomputing(of.variant), {twin(of)}, trials, go);
}
std::vector<Trial> edge_trials(std::int64_t processes, std::int64_t calls) {
  std::vector<Trial> trials;
  for (const Kind kind : {Kind::plain, Kind::coincident, Kind::full, Kind::one_vehicle, Kind::bound, Kind::all_same, Kind::matrix,
                          Kind::detours, Kind::lengthening})
    for (const std::int32_t n : {1, 2, 3, 12, 33}) trials.push_back(trial(static_cast<std::uint64_t>(n), n, kind, processes, calls));
  return trials;
}

TEST(AlnsVariants, EachIsItsOwnReference) {
  for (const Implementation& implementation : cpu_variants()) EXPECT_EQ(implementation.reference, implementation.name);
}

TEST(AlnsVariants, RandomTwins) { expect_variant_twins(random_trials(systems::alns(), 30)); }

TEST(AlnsVariants, EdgeTwins) { expect_variant_twins(edge_trials(3, 7)); }

TEST(AlnsVariants, EdgeTwinsInSlices) { expect_variant_twins(edge_trials(2, 6), in_slices); }

TEST(AlnsVariants, NoTourIsLeftAboveTheLimit) {
  expect_variant_twins(lengthening_trials(1));
  expect_variant_twins(lengthening_trials(7));
}

TEST(AlnsVariants, TheStoppingRuleEndsTheSearch) { expect_variant_twins({trial(5, 30, Kind::plain, 4, 0)}); }

TEST(AlnsVariants, TwinsAgreeWhereVehiclesMayNotSuffice) {
  for (const Of& of : variants) expect_twins_where_vehicles_may_not_suffice(recomputing(of.variant), {twin(of)}, 20, 3, 11);
}

TEST(AlnsVariants, OneRunIsAsGoodAsANewOne) {
  for (const Of& of : variants) expect_a_run_is_as_good_as_new({twin(of)}, trial(3, 40, Kind::plain, 2, 6));
}

TEST(AlnsVariants, ChildrenComeAtTheFifthCall) {
  const auto child_count = [](std::int64_t processes, std::int64_t calls) {
    const Outcome outcome = outcome_of(twin(variants[0]), trial(3, 40, Kind::plain, processes, calls), at_once);
    return outcome.counters.contains("children") ? outcome.counters.at("children") : 0;
  };
  const auto digest = [](const Implementation& of, std::int64_t processes, std::int64_t calls) {
    return outcome_of(of, trial(3, 40, Kind::plain, processes, calls), at_once).digest;
  };
  EXPECT_EQ(child_count(4, 5), 0) << "the search is over";
  EXPECT_EQ(child_count(4, 6), 1);
  EXPECT_EQ(child_count(4, 16), 3);
  EXPECT_EQ(child_count(1, 16), 0);
  EXPECT_EQ(digest(twin(variants[0]), 4, 5), digest(reference(), 4, 5)) << "until then it is the published path";
  EXPECT_EQ(digest(twin(variants[0]), 1, 16), digest(reference(), 1, 16)) << "one process has no mate";
  EXPECT_NE(digest(twin(variants[0]), 4, 6), digest(reference(), 4, 6));
}

/// Long enough that processes start again from starts and from children.
TEST(AlnsVariants, RestartsAndChildrenTakeTurns) {
  const Trial one = trial(7, 30, Kind::plain, 8, 130);
  const Outcome genetic = outcome_of(twin(variants[0]), one, at_once);
  EXPECT_GT(genetic.counters.at("restarts"), 0);
  EXPECT_EQ(genetic.counters.at("children"), 25);
  EXPECT_GT(outcome_of(twin(variants[1]), one, at_once).counters.at("restarts"), 0);
  expect_variant_twins({one});
}

/// The first call is the published one, so that 2-opt of all incumbents ends no worse than that of the best; and the global incumbent is a
/// local optimum at every boundary.
TEST(AlnsVariants, LocalSearchEndsEveryCall) {
  int pending = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Trial one = trial(seed, 40, seed % 2 == 0 ? Kind::one_vehicle : Kind::plain, 3, 1);
    const Outcome published = outcome_of(reference(), one, at_once), found = outcome_of(twin(variants[1]), one, at_once);
    EXPECT_LE(*found.objective, *published.objective) << seed;
    EXPECT_EQ(found.evaluations, published.evaluations) << seed;
    const auto gain = [&](const Implementation& of) {
      const auto run = of.prepare(one.c, *one.instance);
      run->reset(seed);
      run->execute();
      return *run->trace().back().objective - *run->outcome().objective;
    };
    EXPECT_EQ(gain(twin(variants[1])), 0) << seed;
    pending += static_cast<int>(gain(reference()) > 0);
  }
  EXPECT_GT(pending, 0) << "2-opt has something to do";
}

}  // namespace
}  // namespace vicinity::alns
