#pragma once
// What the tests of every FANG implementation ask: twins, edge cases, the distribution of the choices.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "cpu_ref/fang/implementations.hpp"
#include "kernels/fang/implementations.hpp"
#include "systems/fang_instances.hpp"
#include "systems/list.hpp"

namespace vicinity::fang {

/// The sizes and patterns at which an implementation could go wrong: one variable, one possibility, around the warp, nothing
/// allowed, one weight far above the others, sums beyond 32 and 47 bits.
inline std::vector<Case> edge_cases() {
  std::vector<Case> cases;
  for (const std::int64_t possibilities : {1, 31, 32, 33, 1025})
    for (const std::int64_t variables : {1, 33}) {
      const std::map<std::string, Value> sizes{{"states", std::int64_t{3}}, {"variables", variables}, {"possibilities", possibilities}};
      for (const char* pattern : {"mixed", "zeros", "one-huge", "huge"}) {
        cases.push_back({"signed-ratings", "", sizes});
        cases.back().values["pattern"] = std::string(pattern);
      }
      cases.push_back({"all-different", "", sizes});
      cases.push_back({"grid-path", "", sizes});
      cases.back().values["load"] = std::int64_t{2};
    }
  cases.push_back({"signed-ratings",
                   "",
                   {{"states", std::int64_t{1}},
                    {"variables", std::int64_t{2}},
                    {"possibilities", std::int64_t{98304}},
                    {"pattern", std::string("huge")}}});
  cases.push_back({"grid-path",
                   "",
                   {{"states", std::int64_t{2}},
                    {"variables", std::int64_t{2}},
                    {"possibilities", std::int64_t{98304}},
                    {"load", std::int64_t{64}},
                    {"grid", std::int64_t{16384}}}});
  cases.push_back({"all-different",
                   "",
                   {{"states", std::int64_t{2}},
                    {"variables", std::int64_t{5000}},
                    {"possibilities", std::int64_t{40}},
                    {"order", std::string("permuted")}}});
  cases.push_back({"grid-path",
                   "",
                   {{"states", std::int64_t{4}},
                    {"variables", std::int64_t{8}},
                    {"possibilities", std::int64_t{8}},
                    {"load", std::int64_t{1}},
                    {"active_percent", std::int64_t{0}}}});
  return cases;
}

inline std::vector<Case> random_cases(int count) {
  const System fang = systems::fang();
  std::vector<Case> cases;
  for (int i = 0; i < count; ++i) cases.push_back(fang.random_case(static_cast<std::uint64_t>(i)));
  return cases;
}

inline Outcome outcome_of(const Implementation& implementation, const Case& c, std::uint64_t seed) {
  const auto instance = make_instance(c);
  const auto run = implementation.prepare(c, *instance);
  run->reset(seed);
  run->execute();
  return run->outcome();
}

/// Every implementation gives what the reference gives, and the oracle accepts it.
inline void expect_twins(const Implementation& reference, const std::vector<Implementation>& implementations,
                         const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    const Outcome expected = outcome_of(reference, c, 11);
    EXPECT_TRUE(expected.feasible) << c.key() << ": " << expected.complaint;
    for (const Implementation& implementation : implementations) {
      const Outcome outcome = outcome_of(implementation, c, 11);
      EXPECT_EQ(outcome.digest, expected.digest) << c.key() << " " << implementation.name;
      EXPECT_EQ(outcome.objective, expected.objective) << c.key() << " " << implementation.name;
      EXPECT_TRUE(outcome.feasible) << c.key() << " " << implementation.name << ": " << outcome.complaint;
    }
  }
}

/// Over `draws` seeds the chosen possibilities follow the weights: chi-square over the distinct ratings of a single variable,
/// against a bound that a right implementation misses less than once in a million.
inline void expect_choices_follow_weights(const Implementation& implementation, std::int64_t possibilities, int draws) {
  const Case c{"signed-ratings", "", {{"states", std::int64_t{1}}, {"variables", std::int64_t{1}}, {"possibilities", possibilities}}};
  const auto instance = make_instance(c);
  const auto& domain = std::get<SignedRatings>(instance->domain);
  std::int64_t largest = 0;
  for (const std::int64_t rating : domain.ratings) largest = std::max(largest, rating);
  std::map<std::int64_t, double> weights, counts;
  double total = 0;
  for (const std::int64_t rating : domain.ratings) {
    const auto weight = static_cast<double>(rating >= 0 ? rating : largest - rating);  // Figure 3
    weights[rating] += weight;
    total += weight;
  }
  const auto run = implementation.prepare(c, *instance);
  for (int draw = 0; draw < draws; ++draw) {
    run->reset(static_cast<std::uint64_t>(draw));
    run->execute();
    ++counts[*run->outcome().objective];
  }
  double statistic = 0, degrees = -1;
  for (const auto& [rating, weight] : weights) {
    if (weight == 0) {
      EXPECT_EQ(counts[rating], 0) << "a forbidden rating was chosen by " << implementation.name;
      continue;
    }
    const double expected = draws * weight / total;
    statistic += (counts[rating] - expected) * (counts[rating] - expected) / expected;
    ++degrees;
  }
  // Wilson-Hilferty: the cube root of chi-square / degrees is nearly normal; 4.9 standard deviations are one in a million.
  const double spread = 2 / (9 * degrees), bound = degrees * std::pow(1 - spread + 4.9 * std::sqrt(spread), 3);
  EXPECT_LT(statistic, bound) << implementation.name << " with " << degrees << " degrees of freedom";
}

}  // namespace vicinity::fang
