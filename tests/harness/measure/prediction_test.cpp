#include "harness/measure/prediction.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "harness/measure/measurement.hpp"
#include "tests/harness/fake_system.hpp"

namespace vicinity {
namespace {

using Series = std::array<std::vector<double>, 3>;

constexpr std::array<std::int64_t, 3> lengths{10, 20, 30};

/// Three equal samples at each length.
Series equal(double shortest, double middle, double longest) {
  const auto three = [](double seconds) { return std::vector<double>(3, seconds); };
  return {three(shortest), three(middle), three(longest)};
}

TEST(Prediction, WhatARunCostsOnceIsNotScaled) {
  const Fit found = fit(equal(3, 4, 5), lengths, 1000);  // 2 s once, 0.1 s each; 30 of 1000 in proportion would be 167 s
  EXPECT_EQ(found.doubt, "");
  ASSERT_EQ(found.whole.size(), 3U);
  for (const double seconds : found.whole) EXPECT_NEAR(seconds, 102, 1e-9);
  EXPECT_NEAR(found.fixed, 2, 1e-12);
  EXPECT_NEAR(found.slope, 0.1, 1e-12);
  EXPECT_NEAR(found.change, 0, 1e-12);
}

/// Else the interval would be that of the short runs, a small part of the true one.
TEST(Prediction, EachSampleHasItsOwnLineSoThatNoiseGrowsWithTheLength) {
  const Fit found = fit({{{2.99, 3, 3.01}, {4, 4, 4}, {5.01, 5, 4.99}}}, lengths, 1000);
  EXPECT_EQ(found.doubt, "");
  EXPECT_NEAR(found.whole[0], 5.01 + 0.101 * 970, 1e-9);
  EXPECT_NEAR(found.whole[2], 4.99 + 0.099 * 970, 1e-9);
}

TEST(Prediction, AsManySamplesAsEachLengthHas) {
  EXPECT_EQ(fit({{{3, 3, 3, 3}, {4, 4, 4}, {5, 5, 5, 5, 5}}}, lengths, 1000).whole.size(), 3U);
  EXPECT_EQ(fit({{{3, 3}, {4, 4, 4}, {5, 5, 5}}}, lengths, 1000).doubt, "fewer than three samples tell no slope from noise");
  EXPECT_NE(fit({}, lengths, 1000).doubt, "");
}

TEST(Prediction, ASlopeWithinItsNoiseIsDoubted) {
  const std::string noise = "between lengths 10 and 30 its time does not grow by more than the noise";
  EXPECT_EQ(fit(equal(3, 3, 3), lengths, 1000).doubt, noise);
  EXPECT_EQ(fit(equal(5, 4, 3), lengths, 1000).doubt, noise);
  EXPECT_EQ(fit({{{3, 3, 5.5}, {4, 4, 4}, {5, 5, 5}}}, lengths, 1000).doubt, noise) << "one of three falls";
  EXPECT_EQ(fit({{{3, 4, 4.9}, {4, 4.5, 4.95}, {5, 5, 5}}}, lengths, 1000).doubt, noise) << "each rises, by anything from 0.1 to 2";
  EXPECT_EQ(fit({{{3, 3.1, 2.9}, {4, 4, 4}, {5, 5, 5}}}, lengths, 1000).doubt, "");
}

TEST(Prediction, ACostThatChangesAlongTheRunIsDoubted) {
  EXPECT_EQ(fit(equal(3, 4, 5.25), lengths, 1000).doubt, "from length 20 on a unit costs +22 %");
  EXPECT_EQ(fit(equal(3, 4.2, 5.2), lengths, 1000).doubt, "from length 20 on a unit costs -18 %");
  const Fit slight = fit(equal(3, 4, 5.08), lengths, 1000);
  EXPECT_EQ(slight.doubt, "");
  EXPECT_NEAR(slight.change, 0.08 / 1.04, 1e-12);
  const Fit noisy = fit({{{3, 3, 3}, {4, 4, 4}, {5.25, 5.05, 5.45}}}, lengths, 1000);
  EXPECT_NE(noisy.doubt, "") << "by more than twice the error";
  EXPECT_EQ(fit({{{3, 3, 3}, {4, 4, 4}, {5.15, 5.0, 5.3}}}, lengths, 1000).doubt, "") << "14 %, give or take 16 %";
  EXPECT_NE(fit({{{3, 3, 3}, {4, 4, 4}, {5.25, 5.0, 5.5}}}, lengths, 1000).doubt, "") << "22 % is too much whatever the noise";
}

TEST(Prediction, TheMostThatAWholeRunMayTake) {
  EXPECT_NEAR(fit(equal(3, 3, 3), lengths, 1000).most, 100, 1e-9) << "in proportion to the longest";
  EXPECT_NEAR(fit(equal(3, 4, 6), lengths, 1000).most, 6 + 0.2 * 970, 1e-9) << "as steep as the steepest half";
}

/// Of an implementation that says 2 s + 0.5 s each (cpu-straight), or 2 s + 10 ms for the square (cpu-bent).
Result measured(const std::string& implementation, double whole_under, double most_seconds, std::int64_t size = 10'000) {
  const Case c{"count", "", {{"size", size}}};
  Job job{.asked = c, .executed = c, .implementation = &fake::find(implementation)};
  job.scaling = {.axis = "size", .at = {10, 13, 16}, .to = size, .whole_under = whole_under, .most_seconds = most_seconds};
  Protocol protocol;
  protocol.repetitions = 3;
  Referee referee(fake::systems().front(), {.reference = "cpu-serial"});
  return measure(referee, job, protocol);
}

TEST(Prediction, OfTimesAndOfWhatTheWorkAsksFor) {
  const Result result = measured("cpu-straight", 60, 300);
  ASSERT_EQ(result.status, Status::ok) << result.message;
  ASSERT_TRUE(result.prediction);
  EXPECT_EQ(result.prediction->axis, "size");
  EXPECT_EQ(result.prediction->at, (std::array<std::int64_t, 3>{10, 13, 16}));
  EXPECT_EQ(result.prediction->to, 10'000);
  EXPECT_NEAR(result.prediction->fixed_seconds, 2, 1e-9);
  EXPECT_NEAR(result.prediction->seconds_per_unit, 0.5, 1e-9);
  EXPECT_NEAR(result.prediction->change, 0, 1e-9);
  ASSERT_EQ(result.samples.at("kernel").size(), 3U);
  EXPECT_NEAR(result.samples.at("kernel")[1], 5002, 1e-6);
  EXPECT_NEAR(result.samples.at("clone")[1], 2501, 1e-6);
  EXPECT_EQ(result.outcome->iterations, 10'000);
  EXPECT_EQ(result.outcome->evaluations, 1'000'000);
  EXPECT_NEAR(result.work.at(Ceiling::integer), 10'000, 1e-9);
}

TEST(Prediction, WhatTakesLessThanTheProfileSaysIsRunWhole) {
  for (const double whole_under : {5003.0, 5001.0}) {
    const Result result = measured("cpu-straight", whole_under, 1e6);
    ASSERT_EQ(result.status, Status::ok) << result.message;
    EXPECT_EQ(result.prediction.has_value(), whole_under < 5002) << whole_under;
    EXPECT_NEAR(result.samples.at("kernel")[0], 5002, 1e-6);
    EXPECT_EQ(result.outcome->objective, whole_under < 5002 ? 160 : 100'000) << "the whole run's, or that of the longest";
  }
}

TEST(Prediction, WhatIsNoStraightLineIsRunWholeOrHasNoTime) {
  const Result whole = measured("cpu-bent", 60, 1e9);
  ASSERT_EQ(whole.status, Status::ok) << whole.message;
  EXPECT_FALSE(whole.prediction);
  EXPECT_NEAR(whole.samples.at("kernel")[0], 2 + 1e6, 1e-3);
  const Result none = measured("cpu-bent", 60, 300);
  EXPECT_EQ(none.status, Status::skipped);
  EXPECT_TRUE(none.samples.empty());
  EXPECT_FALSE(none.prediction);
  EXPECT_EQ(none.message,
            "unmeasurable: its time cannot be predicted from size = 10 to 16 (from length 13 on a unit costs +23 %), and run whole it may "
            "take 2900 s");
}

TEST(Prediction, ATimeThatDoesNotGrowIsRunWhole) {
  const Result result = measured("cpu-openmp", 60, 300);
  ASSERT_EQ(result.status, Status::ok) << result.message;
  EXPECT_FALSE(result.prediction);
  EXPECT_EQ(result.outcome->iterations, 10'000);
}

Protocol kernel_once() {
  Protocol protocol;
  protocol.repetitions = 1;
  return protocol;
}
const Protocol once = kernel_once();

/// Of a thousand, which would take too long.
Job thousand() {
  const Case c{"count", "", {{"size", std::int64_t{1000}}}};
  Job job{.asked = c, .executed = c, .implementation = &fake::find("cpu-serial")};
  job.scaling = {.axis = "size", .at = lengths, .to = 1000, .whole_under = 1, .most_seconds = 2};
  return job;
}
double size_of(const Job& job) { return static_cast<double>(std::get<std::int64_t>(job.executed.values.at("size"))); }

/// Runs whose first times do not grow with the length: one bad round is noise among six.
TEST(Prediction, DoubtIsMeasuredAgainBeforeItStands) {
  const Job job = thousand();
  for (const int good_from : {1, 4, 1000}) {
    int runs = 0;
    const Result result = predict(job, once, [&](const Job& run, int) {
      Result one;
      one.status = Status::ok;
      const bool good = ++runs >= good_from;
      one.samples["kernel"] = {good ? 0.1 * size_of(run) : 1};
      one.outcome.emplace();
      return one;
    });
    EXPECT_EQ(runs, 3 * (good_from == 1 ? fewest_to_predict : good_from == 4 ? 6 : most_rounds)) << good_from;
    EXPECT_EQ(result.prediction.has_value(), good_from != 1000) << good_from;
    EXPECT_EQ(result.samples.empty(), good_from == 1000) << good_from;
    if (good_from == 4) {
      EXPECT_EQ(result.samples.at("kernel").size(), 6U) << "none is dropped";
    }
  }
}

/// Of a machine that becomes slower from round to round: each line is of its round.
TEST(Prediction, TheLengthsTakeTurns) {
  const Job job = thousand();
  constexpr std::array each{0.1, 0.12, 0.14};  // seconds a unit, by round
  std::vector<int> rounds;
  const Result result = predict(job, once, [&](const Job& run, int round) {
    rounds.push_back(round);
    Result one;
    one.status = Status::ok;
    one.samples["kernel"] = {each.at(round) * size_of(run)};
    one.outcome.emplace();
    return one;
  });
  EXPECT_EQ(rounds, (std::vector<int>{0, 0, 0, 1, 1, 1, 2, 2, 2}));
  ASSERT_TRUE(result.prediction);
  ASSERT_EQ(result.samples.at("kernel").size(), 3U);
  EXPECT_NEAR(result.samples.at("kernel")[0], 100, 1e-9);
  EXPECT_NEAR(result.samples.at("kernel")[2], 140, 1e-9);
}

TEST(Prediction, EachLengthPassesItsCheckFirst) {
  const Result wrong = measured("cpu-wrong", 0, 0);  // at 13, the middle length
  EXPECT_EQ(wrong.status, Status::invalid);
  EXPECT_EQ(wrong.message.substr(0, 21), "at size = 13: digest ");
  EXPECT_TRUE(wrong.samples.empty());
  EXPECT_EQ(measured("cpu-big", 0, 0).message, "does not fit: needs 1 TB");
}

}  // namespace
}  // namespace vicinity
