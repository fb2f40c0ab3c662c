#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/util/error.hpp"
#include "cpu_ref/alns/run.hpp"
#include "tests/support/alns_twins.hpp"

namespace vicinity::alns {
namespace {

TEST(AlnsCpu, TheReferenceComesFirst) { EXPECT_EQ(reference().name, systems::alns().reference); }

TEST(AlnsCpu, RandomTwins) { expect_twins(reference(), cpu_implementations(), random_trials(systems::alns(), 30)); }

TEST(AlnsCpu, EdgeTwins) {
  std::vector<Trial> trials;
  for (const Kind kind :
       {Kind::plain, Kind::coincident, Kind::full, Kind::one_vehicle, Kind::bound, Kind::all_same, Kind::detours, Kind::lengthening})
    for (const std::int32_t n : {1, 2, 3, 12, 47, 80}) trials.push_back(trial(static_cast<std::uint64_t>(n), n, kind, 3, 2));
  expect_twins(reference(), cpu_implementations(), trials);
}

TEST(AlnsCpu, TwinsAgreeWhereVehiclesMayNotSuffice) {
  expect_twins_where_vehicles_may_not_suffice(reference(), cpu_implementations(), 40, 2, 1);
}

TEST(AlnsCpu, NoTourIsLeftAboveTheLimit) { expect_twins(reference(), cpu_implementations(), lengthening_trials(1)); }

TEST(AlnsCpu, TheStoppingRuleEndsTheSearch) {
  const Trial one = trial(5, 40, Kind::plain, 6, 0);
  const Outcome outcome = outcome_of(reference(), one, at_once);
  EXPECT_GE(outcome.iterations, 5);
  expect_twins(reference(), cpu_implementations(), {one});
}

TEST(AlnsCpu, SlicesGiveTheSame) {
  expect_twins(reference(), cpu_implementations(), {trial(1, 30, Kind::plain, 3, 4), trial(2, 25, Kind::bound, 2, 3)}, in_slices);
}

TEST(AlnsCpu, OneRunIsAsGoodAsANewOne) { expect_a_run_is_as_good_as_new(cpu_implementations(), trial(3, 40, Kind::plain, 2, 2)); }

TEST(AlnsCpu, StartsAreNeverMadeWorse) {
  Trial one = trial(4, 30, Kind::plain, 2, 1);
  const auto& vrp = dynamic_cast<const vrp::Vrp&>(*one.instance);
  one.start = outcome_of(reference(), trial(4, 30, Kind::plain, 4, 20), at_once).solution;
  const std::int64_t given = vrp::cost(vrp, *one.start);
  for (const Implementation& implementation : cpu_implementations())
    EXPECT_LE(*outcome_of(implementation, one, at_once).objective, given) << implementation.name;
  one.start->push_back(1);
  EXPECT_THROW(static_cast<void>(outcome_of(reference(), one, at_once)), InputError);
}

TEST(AlnsCpu, TwoOptEndsInALocalOptimum) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Trial one = trial(seed, 25, Kind::one_vehicle, 1, 1);
    const auto& vrp = dynamic_cast<const vrp::Vrp&>(*one.instance);
    Tours tours(1);
    for (std::int32_t r = 1; r <= 25; ++r) tours.front().push_back(r);
    const std::int64_t before = vrp::cost(vrp, vrp::encoded(tours)), change = two_opt(vrp.view(), tours);
    const std::int64_t after = vrp::cost(vrp, vrp::encoded(tours));
    EXPECT_EQ(after - before, change);
    for (std::size_t i = 0; i < 25; ++i) {
      for (std::size_t j = i + 1; j < 25; ++j) {
        Tours other = tours;
        std::reverse(other.front().begin() + static_cast<std::ptrdiff_t>(i), other.front().begin() + static_cast<std::ptrdiff_t>(j) + 1);
        EXPECT_GE(vrp::cost(vrp, vrp::encoded(other)), after);
      }
    }
  }
}

}  // namespace
}  // namespace vicinity::alns
