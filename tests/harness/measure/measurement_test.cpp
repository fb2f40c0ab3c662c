#include "harness/measure/measurement.hpp"

#include <cstdint>

#include <gtest/gtest.h>

#include "core/util/error.hpp"
#include "harness/record/record.hpp"
#include "tests/harness/fake_system.hpp"

namespace vicinity {
namespace {

Job job(const std::string& implementation, std::int64_t size) {
  const Case c{"count", "", {{"size", size}}};
  return {.asked = c, .executed = c, .implementation = &fake::find(implementation)};
}

Referee referee(Check check = {.reference = "cpu-serial"}) { return {fake::systems().front(), std::move(check)}; }

Protocol protocol(int repetitions) {
  Protocol p;
  p.repetitions = repetitions;
  return p;
}

TEST(Measurement, KeepsEverySampleOfEveryPart) {
  Referee judge = referee();
  const Result result = measure(judge, job("cpu-openmp", 10), protocol(7));
  EXPECT_EQ(result.status, Status::ok);
  EXPECT_EQ(result.message, "");
  ASSERT_EQ(result.samples.size(), 3U);
  for (const auto& [part, samples] : result.samples) EXPECT_EQ(samples.size(), 7U) << part;
  EXPECT_DOUBLE_EQ(result.samples.at("kernel")[3], 1e-3);
  EXPECT_DOUBLE_EQ(result.samples.at("clone")[6], 0.5e-3);
  EXPECT_EQ(result.outcome->digest, result.reference->digest);
  EXPECT_EQ(result.policy.at("block"), 256);
  EXPECT_EQ(result.batch, 1);
}

TEST(Measurement, WrongResultHasNoTimes) {
  Referee judge = referee();
  const Result wrong = measure(judge, job("cpu-wrong", 13), protocol(3));
  EXPECT_EQ(wrong.status, Status::invalid);
  EXPECT_TRUE(wrong.samples.empty());
  EXPECT_EQ(wrong.message.substr(0, 7), "digest ");
  EXPECT_EQ(measure(judge, job("cpu-wrong", 14), protocol(3)).status, Status::ok);
  const Result infeasible = measure(judge, job("cpu-infeasible", 3), protocol(3));
  EXPECT_EQ(infeasible.status, Status::invalid);
  EXPECT_EQ(infeasible.message, "infeasible: one number too many");
}

TEST(Measurement, ResultThatChangesWhileTimedIsInvalid) {
  Referee judge = referee();
  const Result result = measure(judge, job("cpu-late", 10), protocol(10));
  EXPECT_EQ(result.status, Status::invalid);
  EXPECT_TRUE(result.samples.empty());
  EXPECT_EQ(result.message.substr(0, 33), "after the last repetition: digest");
}

/// cpu-late gives a wrong result from its fifth run on: the check, the warm-up and the repetitions are counted by it.
TEST(Measurement, WithoutWarmUpTheCheckedRunIsTheOnlyOneBefore) {
  Protocol cold = protocol(3), warm = protocol(3);
  cold.warmup = 0;
  warm.warmup = 1;
  Referee judge = referee();
  EXPECT_EQ(measure(judge, job("cpu-late", 10), cold).status, Status::ok);
  EXPECT_EQ(measure(judge, job("cpu-late", 10), warm).status, Status::invalid);
}

/// Nor then where one run is enough and it takes long: it is checked and timed at once.
TEST(Measurement, ALongRunIsCheckedAndTimedAtOnce) {
  Protocol once = protocol(1), thrice = protocol(3);
  once.warmup = thrice.warmup = 3;
  Referee judge = referee();
  const MeasureOptions long_ones{.long_run = 0};
  const Result result = measure(judge, job("cpu-late", 10), once, long_ones);
  EXPECT_EQ(result.status, Status::ok);
  EXPECT_EQ(result.samples.at("kernel").size(), 1U);
  EXPECT_EQ(result.contention->samples.size(), 1U);
  EXPECT_EQ(measure(judge, job("cpu-late", 10), once).status, Status::invalid) << "a run before, three to warm up, and one";
  EXPECT_EQ(measure(judge, job("cpu-late", 10), thrice, long_ones).status, Status::invalid) << "three were asked for";
  EXPECT_EQ(measure(judge, job("cpu-wrong", 13), once, long_ones).status, Status::invalid);
}

TEST(Measurement, ToleranceComparesObjectives) {
  Referee wide = referee({.kind = Check::Kind::tolerance, .tolerance = 0.01, .reference = "cpu-serial"});
  EXPECT_EQ(measure(wide, job("cpu-wrong", 13), protocol(3)).status, Status::ok);  // 131 against 130
  Referee narrow = referee({.kind = Check::Kind::tolerance, .tolerance = 0.001, .reference = "cpu-serial"});
  EXPECT_EQ(measure(narrow, job("cpu-wrong", 13), protocol(3)).status, Status::invalid);
}

/// Of two ways to a wrong result the one that says it takes another path is compared with that.
TEST(Measurement, WhatTakesItsOwnPathHasItsOwnReference) {
  System system = fake::systems().front();
  Implementation own = fake::find("cpu-wrong");
  own.name = "cpu-own";
  own.reference = "cpu-wrong";
  system.implementations.push_back(own);
  Job wrong = job("cpu-wrong", 13), other = wrong;
  other.implementation = &system.implementations.back();
  const Check check{.reference = "cpu-serial"}, near{.kind = Check::Kind::tolerance, .tolerance = 0.01, .reference = "cpu-serial"};
  Referee judge(system, check);
  EXPECT_EQ(measure(judge, wrong, protocol(3)).status, Status::invalid);
  EXPECT_EQ(measure(judge, other, protocol(3)).status, Status::ok);
  EXPECT_EQ(measure(judge, wrong, protocol(3)).status, Status::invalid);
  EXPECT_EQ(reference_of(system, check, own), "cpu-wrong");
  EXPECT_EQ(reference_of(system, check, fake::find("cpu-openmp")), "cpu-serial");
  EXPECT_EQ(reference_of(system, near, own), "cpu-serial") << "costs compare whatever the path";
  EXPECT_EQ(reference_of(system, {.reference = "cpu-own"}, own), "cpu-own") << "the check's is a twin";
}

TEST(Measurement, WhatDoesNotFitIsSkipped) {
  Referee judge = referee();
  const Result big = measure(judge, job("cpu-big", 10), protocol(3));
  EXPECT_EQ(big.status, Status::skipped);
  EXPECT_EQ(big.message, "does not fit: needs 1 TB");
  EXPECT_EQ(measure(judge, job("cpu-picky", 10), protocol(3)).message, "not supported: even sizes only");
  Referee unable = referee({.reference = "cpu-big"});
  EXPECT_EQ(measure(unable, job("cpu-serial", 10), protocol(3)).status, Status::skipped);
}

TEST(Measurement, MissingInstanceIsSkippedAndSaysHowToGetIt) {
  Referee judge = referee();
  const Result result = measure(judge, job("cpu-serial", fake::missing_size), protocol(3));
  EXPECT_EQ(result.status, Status::skipped);
  EXPECT_EQ(result.message, "file of size 404 not found; make it");
  EXPECT_TRUE(result.missing_input);
  EXPECT_TRUE(result.samples.empty());
  EXPECT_TRUE(verify(judge, job("cpu-openmp", fake::missing_size)).missing_input);
  EXPECT_EQ(measure(judge, job("cpu-openmp", 10), protocol(3)).status, Status::ok);
}

TEST(Measurement, BrokenCaseIsAnInputError) {
  Referee judge = referee();
  EXPECT_THROW(static_cast<void>(measure(judge, job("cpu-serial", -1), protocol(3))), InputError);
}

TEST(Measurement, UnknownPartOfTheTimeIsAnInputError) {
  Referee judge = referee();
  Protocol p = protocol(3);
  p.time = "kernle";
  p.time_location = "x.yaml:7";
  try {
    static_cast<void>(measure(judge, job("cpu-serial", 4), p));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(
        error.what(),
        "x.yaml:7: time: cpu-serial does not report the part 'kernle'; did you mean 'kernel'? allowed: total, wall, kernel, clone");
  }
}

TEST(Measurement, ShortGpuKernelsAreBatched) {
  Referee judge = referee();
  EXPECT_EQ(measure(judge, job("gpu", 10), protocol(3)).batch, 40);
  Protocol cold = protocol(3);
  cold.flush_l2 = true;
  EXPECT_EQ(measure(judge, job("gpu", 10), cold).batch, 1);
  EXPECT_EQ(batch_for(Backend::gpu, 19e-6, false), 11);
  EXPECT_EQ(batch_for(Backend::gpu, 20e-6, false), 1);
  EXPECT_EQ(batch_for(Backend::gpu, 0, false), 1000);
  EXPECT_EQ(batch_for(Backend::cpu, 1e-6, false), 1);
}

TEST(Measurement, TimeLimitKeepsThreeRepetitions) {
  Protocol p = protocol(100);
  EXPECT_EQ(repetitions_for(p, 1e6), 100);
  p.max_seconds = 10;
  EXPECT_EQ(repetitions_for(p, 0.1), 100);
  EXPECT_EQ(repetitions_for(p, 0.5), 20);
  EXPECT_EQ(repetitions_for(p, 9), 3);
  p.min_repetitions = 5;
  EXPECT_EQ(repetitions_for(p, 9), 5);
  p.repetitions = 2;
  EXPECT_EQ(repetitions_for(p, 9), 2);
}

TEST(Measurement, APreciseMedianEndsTheRepetitions) {
  Protocol p = protocol(50);
  p.time = "total";  // the fake's parts are constant, the wall clock is not
  p.precision = 0.01;
  Referee judge = referee();
  const auto taken = [&] { return measure(judge, job("cpu-openmp", 10), p).samples.at("kernel").size(); };
  EXPECT_GE(taken(), 6U);
  p.min_repetitions = 50;
  EXPECT_EQ(taken(), 50U);
  p.min_repetitions = 3;
  p.precision = 0;
  EXPECT_EQ(taken(), 50U);
}

TEST(Measurement, SlowdownStretchesEveryPart) {
  Referee judge = referee();
  const Result result = measure(judge, job("cpu-openmp", 10), protocol(3), {.control = false, .slowdown = 2});
  EXPECT_DOUBLE_EQ(result.samples.at("kernel")[0], 2e-3);
}

TEST(Measurement, ControlIsTimedBeforeAndAfter) {
  Referee judge = referee();
  const Result result = measure(judge, job("cpu-openmp", 10), protocol(3), {.control = true, .slowdown = 1});
  ASSERT_TRUE(result.cpu_control);
  EXPECT_GT(result.cpu_control->first, 0);
  EXPECT_GT(result.cpu_control->second, 0);
}

TEST(Measurement, TotalIsTheSumOfTheParts) {
  const std::map<std::string, std::vector<double>> samples{{"wall", {9, 9}}, {"kernel", {1, 2}}, {"clone", {3, 4}}};
  EXPECT_EQ(chosen_times(samples, "total"), (std::vector<double>{4, 6}));
  EXPECT_EQ(chosen_times(samples, "kernel"), (std::vector<double>{1, 2}));
  EXPECT_EQ(chosen_times(samples, "wall"), (std::vector<double>{9, 9}));
}

/// A search that counts steps of no length; without a protocol its check alone.
Result measure_hunt(const std::string& implementation, std::int64_t prefix, const std::optional<Protocol>& protocol,
                    std::optional<std::int64_t> best_known = std::nullopt) {
  System hunt = fake::hunt();
  hunt.best_known = [&](const Case&, const Instance*) { return best_known; };
  hunt.instance = [](const Case&) {
    auto quarry = std::make_shared<fake::Quarry>();
    quarry->size = 1000;
    return std::shared_ptr<const Instance>(quarry);
  };
  const Case c{"quarry", "", {{"steps", std::int64_t{1'000'000}}}};
  const auto& all = hunt.implementations;
  const auto found = std::find_if(all.begin(), all.end(), [&](const Implementation& i) { return i.name == implementation; });
  Referee judge(hunt, {.kind = Check::Kind::prefix, .iterations = prefix, .reference = "cpu-serial"});
  const Job job{.asked = c, .executed = c, .implementation = &*found};
  return protocol ? measure(judge, job, *protocol) : verify(judge, job);
}

TEST(Measurement, TheCheckOfAPrefixEndsWithIt) {
  const Result result = measure_hunt("cpu-serial", 20, std::nullopt);
  EXPECT_EQ(result.status, Status::ok) << result.message;
  EXPECT_EQ(result.outcome->iterations, 20);
  EXPECT_EQ(measure_hunt("cpu-drifting", 40, std::nullopt).status, Status::invalid);
}

TEST(Measurement, ARunTooLongForTheReferenceIsProvedOnAPrefix) {
  Protocol p = protocol(3);
  p.time = "wall";
  p.trace = true;
  const Result result = measure_hunt("cpu-serial", 20, p);
  EXPECT_EQ(result.status, Status::ok) << result.message;
  EXPECT_EQ(result.outcome->iterations, 1'000'000);
  EXPECT_EQ(result.samples.at("wall").size(), 3U);
  ASSERT_EQ(result.trace.size(), 2U);
  EXPECT_EQ(result.trace.front().iterations, 20);
  EXPECT_EQ(measure_hunt("cpu-drifting", 20, p).status, Status::ok);  // what comes after the prefix is the oracle's
  const Result drifting = measure_hunt("cpu-drifting", 40, p);
  EXPECT_EQ(drifting.status, Status::invalid);
  EXPECT_TRUE(drifting.message.ends_with("at iteration 40, cpu-serial has " + drifting.message.substr(drifting.message.size() - 16)))
      << drifting.message;
  EXPECT_EQ(measure_hunt("cpu-blind", 20, p).status, Status::invalid);
}

TEST(Measurement, AReferenceThatTheClockEndsProvesItsPrefixAlone) {
  System hunt = fake::hunt();
  Referee judge(hunt, {.kind = Check::Kind::prefix, .iterations = 20, .reference = "cpu-serial"});
  const Case c{"quarry", "", {}};
  const auto verdict = [](std::int64_t end) {
    Verdict found;
    found.outcome.feasible = true;
    found.trace = {{0.1, 20, {}, 1}, {1, end, {}, 2}};
    return found;
  };
  judge.adopt(c, 1, verdict(700));
  EXPECT_EQ(judge.complaint(verdict(600), judge.reference(c, 1)), "");
}

TEST(Measurement, ABudgetEndsTheRun) {
  Protocol p = protocol(3);
  p.time = "wall";
  p.budget.target = 990;
  const Result result = measure_hunt("cpu-serial", 20, p);
  EXPECT_EQ(result.status, Status::ok) << result.message;
  EXPECT_EQ(result.outcome->objective, 990);
  EXPECT_EQ(result.outcome->iterations, 100);
}

TEST(Measurement, ASearchEndsSoNearTheBestKnown) {
  Protocol p = protocol(3);
  p.time = "wall";
  p.budget.seconds = 60;
  p.gap = 2;
  EXPECT_EQ(measure_hunt("cpu-serial", 20, p, 900).outcome->objective, 918);
  p.gap = 0;
  EXPECT_EQ(measure_hunt("cpu-serial", 20, p, 900).outcome->objective, 900);
  p.budget.seconds = 0.05;
  EXPECT_LT(measure_hunt("cpu-serial", 20, p).outcome->objective.value(), 900);
}

}  // namespace
}  // namespace vicinity
