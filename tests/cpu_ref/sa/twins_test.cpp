#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/problems/qap/qap.hpp"
#include "tests/support/runs.hpp"
#include "tests/support/sa_twins.hpp"

namespace vicinity::sa {
namespace {

const Implementation& reference() {
  static const std::vector<Implementation> all = cpu_annealing_implementations();
  return all.front();
}

TEST(SaCpu, TheReferenceComesFirst) { EXPECT_EQ(reference().name, systems::sa().reference); }

TEST(SaCpu, RandomTwins) { expect_twins(reference(), cpu_annealing_implementations(), random_trials(100)); }

TEST(SaCpu, EdgeTwins) { expect_twins(reference(), cpu_annealing_implementations(), edge_trials()); }

TEST(SaCpu, SlicesGiveTheSame) {
  const std::map<std::string, Value> cold{{"t0", 0.02}, {"tf", 0.01}};
  const std::map<std::string, Value> chains{{"chains", std::int64_t{3}}, {"threads", std::int64_t{2}}};
  expect_twins(reference(), cpu_annealing_implementations(),
               {trial(7, 1), trial(30, 5000), trial(65, 20000, cold), trial(130, 9000), trial(20, 3000, chains)}, in_slices);
}

TEST(SaCpu, OneRunIsAsGoodAsANewOne) {
  const Trial one = trial(40, 20000);
  for (const Implementation& implementation : cpu_annealing_implementations()) {
    const auto run = implementation.prepare(one.c, *one.instance);
    const std::uint64_t first = expect_seeds_decide(*run, implementation.name);
    run->reset(1);
    static_cast<void>(run->execute({.seconds = 0}));
    run->execute();
    EXPECT_EQ(first, run->outcome().digest) << implementation.name;
    run->reset(1);
    EXPECT_FALSE(run->outcome().feasible) << implementation.name << ": a run that did nothing passed";
  }
}

TEST(SaCpu, AChainIsTheRunWithItsSeed) {
  const Trial many = trial(20, 4000, {{"chains", std::int64_t{4}}, {"threads", std::int64_t{4}}});
  for (const Implementation& implementation : cpu_annealing_implementations()) {
    std::int64_t best = std::numeric_limits<std::int64_t>::max(), accepted = 0;
    for (std::uint64_t c = 0; c < 4; ++c) {
      const Outcome chain = outcome_of(implementation, trial(20, 4000), at_once, 11 + c);
      best = std::min(best, *chain.objective);
      accepted += chain.counters.at("accepted");
    }
    const Outcome outcome = outcome_of(implementation, many, at_once);
    EXPECT_EQ(*outcome.objective, best) << implementation.name;
    EXPECT_EQ(outcome.counters.at("accepted"), accepted) << implementation.name;
  }
}

/// Warm enough that all rows are brought up to date by the team, then cold enough that it scans ahead.
TEST(SaCpu, TheThreadsDoNotMatter) {
  std::vector<Trial> trials;
  for (const std::int64_t threads : {2, 5})
    for (const auto& [size, iterations, hot, cold] :
         {std::tuple(150, 60000, 4000.0, 2500.0), std::tuple(200, 100000, 2000.0, 1000.0), std::tuple(190, 220000, 100.0, 50.0)})
      trials.push_back(trial(size, iterations, {{"t0", hot}, {"tf", cold}, {"threads", threads}}));
  expect_twins(reference(), {cpu_annealing_implementations().back()}, trials);
  expect_twins(reference(), {cpu_annealing_implementations().back()}, trials, in_slices);
}

TEST(SaCpu, ElementsAreAsNarrowAsTheInstanceAllows) {
  const auto policy = [](const char* name, const Entries& range) {
    const Trial one{trial(12, 100).c, random_qap(1, 12, range, true), ""};
    return named(cpu_annealing_implementations(), name).prepare(one.c, *one.instance)->policy();
  };
  const std::pair<Entries, std::int64_t> widths[]{{{0, 99, 0, 99}, 16},
                                                  {{-30000, 2000, 0, 99}, 16},
                                                  {{-30000, 30000, 0, 99}, 32},
                                                  {{0, 100000, 0, 99}, 32},
                                                  {{0, 100000, 0, 100000}, 64}};
  for (const auto& [range, bits] : widths) {
    EXPECT_EQ(policy("cpu-delta", range).at("element_bits"), bits);
    EXPECT_EQ(policy("cpu-delta-matrix", range).at("entry_bits"), std::min<std::int64_t>(bits, 32));
    EXPECT_EQ(policy("cpu-delta-matrix", range).at("delta_bits"), std::max<std::int64_t>(bits, 32));
  }
}

TEST(SaCpu, WorkGrowsWithWhatWasDone) {
  for (const Implementation& implementation : cpu_annealing_implementations()) {
    double before = 0;
    for (const std::int64_t iterations : {1000, 4000}) {
      const Trial one = trial(30, iterations, {{"threads", std::int64_t{1}}});
      const auto run = implementation.prepare(one.c, *one.instance);
      run->reset(1);
      run->execute();
      EXPECT_GT(run->work().at(Ceiling::cpu_integer_core), 1.5 * before) << implementation.name;
      before = run->work().at(Ceiling::cpu_integer_core);
    }
  }
}

TEST(SaCpu, PrefixesAreTheSame) { expect_prefix_twins(cpu_annealing_implementations(), random_trials(40)); }

TEST(SaCpu, PrefixesOfPortfoliosAreTheSame) { expect_prefix_twins_in_rounds(cpu_portfolio_implementations()); }

}  // namespace
}  // namespace vicinity::sa
