#include "core/methods/sa/calibration.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/core/problems/qap/random_instances.hpp"

namespace vicinity::annealing {
namespace {

Window window_of(const qap::Qap& qap, std::int64_t iterations, const std::atomic<bool>* stop = nullptr) {
  return calibrated(qap::FromScratch(qap), qap.size(), iterations, stop);
}

/// Entries of A and B below 100, those of A times `factor`.
qap::Qap uniform(std::int32_t n, std::int32_t factor = 1) {
  qap::Draws draws{77};
  std::vector<std::int32_t> a = qap::matrix(draws, n, 0, 99, true), b = qap::matrix(draws, n, 0, 99, true);
  for (std::int32_t& entry : a) entry *= factor;
  return {"uniform", n, std::move(a), std::move(b)};
}

TEST(Acceptance, IsTheExponential) {
  EXPECT_EQ(acceptance(0), 1);
  for (double x = 0; x < highest_threshold; x += 0.0137) ASSERT_NEAR(acceptance(x), std::exp(-x), 1e-6 * std::exp(-x)) << x;
  EXPECT_EQ(acceptance(highest_threshold), 0);
  EXPECT_EQ(acceptance(INFINITY), 0);
}

TEST(Calibration, KnownAnswer) {
  const Window window = window_of(uniform(20), 1'000'000);
  EXPECT_DOUBLE_EQ(window.hot, 2605.3829544959999);
  EXPECT_DOUBLE_EQ(window.cold, 1937.4348645718198);
  EXPECT_DOUBLE_EQ(window.hottest, 13187.272000000001);
}

/// A walk accepts as many of its proposals uphill as is asked, about.
TEST(Calibration, AcceptsWhatItAims) {
  const qap::Qap qap = uniform(30);
  const qap::FromScratch from_scratch(qap);
  const Window window = window_of(qap, 10'000'000);
  for (const auto& [t, share] : {std::pair(window.hot / first_part, first_share), std::pair(window.cold, last_share)}) {
    qap::Draws draws{5};
    qap::Permutation p = qap::permutation(draws, 30);
    std::int64_t uphill = 0;
    constexpr std::int64_t settling = 40'000, counted = 200'000;
    for (std::int64_t q = 0; q < settling + counted; ++q) {
      const Swap swap = pair_at(30, q % pairs(30));
      const std::int64_t delta = from_scratch.delta(p, swap.r, swap.s);
      const auto word = static_cast<std::uint32_t>(draws.between(0, 0xFFFFFFFF));
      if (!accepts(delta, static_cast<float>(1 / t), threshold(word))) continue;
      uphill += q >= settling && delta > 0 ? 1 : 0;
      std::swap(p[static_cast<std::size_t>(swap.r)], p[static_cast<std::size_t>(swap.s)]);
    }
    EXPECT_LT(static_cast<double>(uphill) / counted, 2 * share) << t;
    EXPECT_GT(static_cast<double>(uphill) / counted, share / 4) << t;
  }
}

/// Few large flows among many small ones, and places in clusters, as in Taillard's tai*b: acceptance falls slowly with T, and legs begin
/// warm.
TEST(Calibration, BeginsWarmWhereAcceptanceFallsSlowly) {
  constexpr std::int32_t n = 30;
  qap::Draws draws{3};
  std::vector<std::int32_t> flows(n * n), places(n), distances(n * n);
  for (std::int32_t& flow : flows) flow = static_cast<std::int32_t>(std::pow(10, 0.15 * draws.between(0, 100) - 10));
  for (std::int32_t& place : places) place = 1000 * draws.between(0, 3) + draws.between(0, 20);
  for (std::size_t k = 0; k < distances.size(); ++k) distances[k] = std::abs(places[k / n] - places[k % n]);
  const qap::Qap even = uniform(n), spread("spread", n, distances, flows);
  const auto ratio = [](const Window& window) { return window.hot / window.cold; };
  EXPECT_LT(ratio(window_of(even, 1'000'000)), first_part * slow);
  EXPECT_GT(ratio(window_of(spread, 1'000'000)), slow);
}

TEST(Calibration, FollowsTheUnitOfTheCost) {
  const Window one = window_of(uniform(15), 100'000), eight = window_of(uniform(15, 8), 100'000);
  EXPECT_EQ(eight.hot, 8 * one.hot);
  EXPECT_EQ(eight.cold, 8 * one.cold);
  EXPECT_EQ(eight.hottest, 8 * one.hottest);
}

TEST(Calibration, TakesTheSmallestAndShortest) {
  const qap::Qap zeros("zeros", 6, std::vector<std::int32_t>(36), std::vector<std::int32_t>(36));
  EXPECT_EQ(window_of(zeros, 1000).hot, 1);
  EXPECT_EQ(window_of(zeros, 1000).cold, 1);
  const qap::Qap two("two", 2, {0, 1, 0, 0}, {0, 5, 2, 0});
  for (const std::int64_t iterations : {1, 100, 1'000'000})
    for (const qap::Qap& qap : {two, uniform(3), uniform(12)}) {
      const Window window = window_of(qap, iterations);
      EXPECT_GT(window.cold, 0) << qap.name() << " " << iterations;
      EXPECT_GE(window.hot, window.cold) << qap.name() << " " << iterations;
      EXPECT_TRUE(std::isfinite(window.hot)) << qap.name() << " " << iterations;
      EXPECT_GE(window.hottest, window.hot) << qap.name() << " " << iterations;
    }
}

TEST(Calibration, StagesAreShortWhereTheSearchIs) {
  EXPECT_EQ(stage_of(2, 1), 50);
  EXPECT_EQ(stage_of(2, 1'000'000'000), 1000);
  EXPECT_EQ(stage_of(100, 1'000'000), 1000);
  EXPECT_EQ(stage_of(100, 100'000'000), pairs(100));
  EXPECT_EQ(stage_of(5000, 1'000'000'000), 20'000);
}

TEST(Calibration, EndsWhenItIsStopped) {
  const std::atomic<bool> raised = true;
  const Window window = window_of(uniform(15), 1'000'000, &raised);
  EXPECT_GE(window.hot, window.cold);
}

}  // namespace
}  // namespace vicinity::annealing
