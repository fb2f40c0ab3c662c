#include "harness/describe/plan.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "core/util/error.hpp"
#include "tests/harness/fake_system.hpp"
#include "tests/support/complaint.hpp"

namespace vicinity {
namespace {

Descriptor descriptor() {
  Descriptor d;
  d.path = "x.yaml";
  d.system = &fake::systems().front();
  d.problem = "count";
  Profile profile;
  profile.axes = {{"size", {std::int64_t{4}, std::int64_t{100}}}, {"mode", {std::string("a"), std::string("b")}}};
  profile.implementations = {"cpu-serial", "gpu"};
  profile.extrapolations = {{.axis = "size", .shorter = 3, .longer = 8, .implementations = {"cpu-serial"}, .where = {}}};
  profile.whole_under = 1;
  profile.most_seconds = 7;
  d.profiles["quick"] = profile;
  return d;
}

TEST(Plan, ExpandsInOrderLastAxisFastest) {
  const Descriptor d = descriptor();
  std::vector<std::string> keys;
  for (const Case& c : expand(d, d.profile("quick"), {})) keys.push_back(describe({.asked = c}, d.profile("quick")));
  EXPECT_EQ(keys, (std::vector<std::string>{"size=4 mode=a", "size=4 mode=b", "size=100 mode=a", "size=100 mode=b"}));
}

/// The values hold on every machine and in every version: shards of which some are recorded must stay what they are.
TEST(Plan, ShardsAreStable) {
  std::string found;
  for (const std::int64_t size : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
    for (const Shard& shard : {Shard{1, 4}, Shard{2, 4}, Shard{3, 4}, Shard{4, 4}})
      if (shard.has({.problem = "count", .instance = "\u00e9", .values = {{"size", size}}}, "cpu-serial"))
        found += std::to_string(shard.number);
  EXPECT_EQ(found, "1223324313");
}

TEST(Plan, AShardIsWrittenAsTwoNumbers) {
  const Shard shard = parse_shard("12/40");
  EXPECT_EQ(shard.number, 12U);
  EXPECT_EQ(shard.suffix(), ".shard-12-of-40");
  EXPECT_EQ(parse_shard("1/1").suffix(), "");
  EXPECT_THROW((void)parse_shard("41/40"), InputError);
}

TEST(Plan, SeedsAreANumberOrTwo) {
  using Seeds = std::pair<std::uint64_t, std::uint64_t>;
  EXPECT_EQ(parse_seeds("3"), Seeds(0, 3));
  EXPECT_EQ(parse_seeds("4-10"), Seeds(3, 10));
  EXPECT_EQ(parse_seeds("4-4"), Seeds(3, 4));
  for (const char* wrong : {"", "0", "-", "-3", "3-", "0-3", "4-3", "1-2-3", "3 ", "x", "99999999999999999999"})
    EXPECT_THROW((void)parse_seeds(wrong), InputError) << wrong;
}

TEST(Plan, InstancesAreTheSlowestAxis) {
  Descriptor d = descriptor();
  d.profiles["quick"].instances = {"i1", "i2"};
  const auto cases = expand(d, d.profile("quick"), {});
  ASSERT_EQ(cases.size(), 8U);
  EXPECT_EQ(cases[3].instance, "i1");
  EXPECT_EQ(cases[4].instance, "i2");
  EXPECT_EQ(cases[0].key(), "problem=count;instance=i1;mode=a;size=4");
}

TEST(Plan, SweepsAreAUnionWithoutRepeats) {
  Descriptor d = descriptor();
  Profile& profile = d.profiles["quick"];
  profile.axes = {{"size", {std::int64_t{4}}}, {"mode", {std::string("a")}}};
  profile.sweeps = {{{"size", {std::int64_t{1}, std::int64_t{4}}}}, {{"mode", {std::string("a"), std::string("b")}}}};
  std::vector<std::string> keys;
  for (const Case& c : expand(d, profile, {})) keys.push_back(describe({.asked = c}, profile));
  EXPECT_EQ(keys, (std::vector<std::string>{"size=1 mode=a", "size=4 mode=a", "size=4 mode=b"}));
  EXPECT_EQ(values_of(profile, "size"), (std::vector<Value>{std::int64_t{4}, std::int64_t{1}}));
  EXPECT_EQ(expand(d, profile, {.implementations = {}, .where = parse_where({"size=1"})}).size(), 1U);
}

TEST(Plan, SweepsMayBeForSomeInstances) {
  Descriptor d = descriptor();
  Profile& profile = d.profiles["quick"];
  profile.axes = {{"size", {std::int64_t{9}}}};
  profile.instances = {"one", "two"};
  profile.sweeps = {{{"instance", {std::string("two"), std::string("none here")}}, {"size", {std::int64_t{1}}}},
                    {{"instance", {std::string("one")}}, {"size", {std::int64_t{4}}}}};
  std::vector<std::string> found;
  for (const Case& c : expand(d, profile, {}))
    found.push_back(c.instance + "/" + std::to_string(std::get<std::int64_t>(c.values.at("size"))));
  EXPECT_EQ(found, (std::vector<std::string>{"two/1", "one/4"}));
}

TEST(Plan, WhatIsTooManyIsCountedAndNotMade) {
  Descriptor d = descriptor();
  Profile& profile = d.profiles["quick"];
  std::vector<Value> many;
  for (std::int64_t k = 0; k < 10'000; ++k) many.emplace_back(k);
  profile.axes = {{"size", many}, {"a", many}, {"b", many}, {"c", many}};  // 10^16 cases
  const auto refusal = [&](const Filter& filter) {
    return complaint<InputError>([&] { static_cast<void>(make_plan(d, profile, filter, false)); });
  };
  EXPECT_EQ(refusal({}), "x.yaml: 10000000000000000 cases; at most 100000 are planned at a time: choose some by --where");
  const Filter few{.implementations = {"cpu-serial"}, .where = parse_where({"size=7", "a=3", "a=4", "b=9999", "c=1"})};
  EXPECT_EQ(refusal(few), "");
  EXPECT_EQ(make_plan(d, profile, few, false).jobs.size(), 2U);
  EXPECT_EQ(first_case(d, profile, few.where)->key(), "problem=count;a=3;b=9999;c=1;size=7");
  EXPECT_FALSE(first_case(d, profile, {{"size", {std::string("none")}}}));
  profile.protocol.seeds.assign(100'000, 1);
  profile.axes = {{"size", std::vector<Value>(many.begin(), many.begin() + 11)}};
  EXPECT_EQ(refusal({.implementations = {"cpu-serial"}, .where = {}}),
            "x.yaml: 1100000 measurements; at most 1000000 are planned at a time: choose some by --where or --implementation");
}

TEST(Plan, ProcessesShareSeedsOrHaveAllOfThem) {
  Protocol protocol;
  protocol.seeds = {1, 2, 3, 4, 5};
  protocol.processes = 2;
  using Seeds = std::vector<std::uint64_t>;
  EXPECT_EQ(seeds_of(protocol, 2), protocol.seeds);
  protocol.seeds_divided = true;
  EXPECT_EQ(seeds_of(protocol, 1), (Seeds{1, 3, 5}));
  EXPECT_EQ(seeds_of(protocol, 2), (Seeds{2, 4}));
  protocol.processes = 7;
  EXPECT_EQ(seeds_of(protocol, 5), Seeds{5});
  EXPECT_EQ(seeds_of(protocol, 7), Seeds{});
  Descriptor d = descriptor();
  d.profiles["quick"].protocol = protocol;
  for (const Job& job : make_plan(d, d.profile("quick"), {}, true, 3).jobs) EXPECT_EQ(job.seed, 3);
}

/// What is measured in parts, by --seeds, is what would be measured at once.
TEST(Plan, ASeedKeepsItsProcess) {
  Descriptor d = descriptor();
  Protocol& protocol = d.profiles["quick"].protocol;
  protocol.seeds = {1, 2, 3, 4, 5, 6, 7};
  using Seeds = std::vector<std::uint64_t>;
  EXPECT_EQ(seeds_of(protocol, 1, parse_seeds("4-6")), (Seeds{4, 5, 6}));
  protocol.seeds_divided = true;
  protocol.processes = 3;
  EXPECT_EQ(seeds_of(protocol, 1, parse_seeds("4-6")), Seeds{4});
  EXPECT_EQ(seeds_of(protocol, 3, parse_seeds("4-6")), Seeds{6});
  EXPECT_EQ(seeds_of(protocol, 1, parse_seeds("6-6")), Seeds{});
  EXPECT_EQ(seeds_of(protocol, 3, parse_seeds("6-9")), Seeds{6});
  const Filter sixth{.implementations = {"cpu-serial"}, .where = {}, .seeds = parse_seeds("6-6")};
  EXPECT_TRUE(make_plan(d, d.profile("quick"), sixth, true, 1).jobs.empty());
  EXPECT_EQ(make_plan(d, d.profile("quick"), sixth, true, 3).jobs.size(), 4U);
  EXPECT_EQ(estimate(d, d.profile("quick"), sixth).measurements, 4U);
}

TEST(Plan, AnImplementationAskedForTwiceIsMeasuredOnce) {
  const Descriptor d = descriptor();
  const Filter twice{.implementations = {"gpu", "cpu-serial", "gpu"}, .where = {}};
  const Plan plan = make_plan(d, d.profile("quick"), twice, true);
  ASSERT_EQ(plan.jobs.size(), 8U);
  EXPECT_EQ(plan.jobs[0].implementation->name, "gpu");
  EXPECT_EQ(make_plan(d, d.profile("quick"), twice, false).deviceless, std::vector<std::string>{"gpu"});
  EXPECT_EQ(estimate(d, d.profile("quick"), twice).measurements, 8U);
}

TEST(Plan, WhereKeepsMatchingCases) {
  const Descriptor d = descriptor();
  EXPECT_EQ(expand(d, d.profile("quick"), {.implementations = {}, .where = parse_where({"size=100"})}).size(), 2U);
  EXPECT_EQ(expand(d, d.profile("quick"), {.implementations = {}, .where = parse_where({"size=100", "size=4", "mode=b"})}).size(), 2U);
  EXPECT_EQ(expand(d, d.profile("quick"), {.implementations = {}, .where = parse_where({"size=4.0"})}).size(), 2U);
}

TEST(Plan, WhereRefusesTypingMistakes) {
  const Descriptor d = descriptor();
  for (const char* wrong : {"size", "=4", "size=", "sise=4", "size=5", "instance=x"})
    EXPECT_THROW(static_cast<void>(expand(d, d.profile("quick"), {.implementations = {}, .where = parse_where({wrong})})), InputError)
        << wrong;
}

TEST(Plan, ExtrapolatesOnlyLargerCasesOfNamedImplementations) {
  const Descriptor d = descriptor();
  const Plan plan = make_plan(d, d.profile("quick"), {}, true);
  ASSERT_EQ(plan.jobs.size(), 8U);
  const Job& small = plan.jobs[0];
  EXPECT_FALSE(small.scaling);
  const Job& large = plan.jobs[4];
  EXPECT_EQ(large.implementation->name, "cpu-serial");
  ASSERT_TRUE(large.scaling);
  EXPECT_EQ(large.scaling->axis, "size");
  EXPECT_EQ(large.scaling->at, (std::array<std::int64_t, 3>{3, 5, 8}));
  EXPECT_EQ(large.scaling->to, 100);
  EXPECT_EQ(large.scaling->whole_under, 1);
  EXPECT_EQ(large.scaling->most_seconds, 7);
  EXPECT_EQ(large.asked.values.at("size"), Value(std::int64_t{100}));
  EXPECT_EQ(large.executed.values.at("size"), Value(std::int64_t{8}));
  EXPECT_EQ(plan.jobs[5].implementation->name, "gpu");
  EXPECT_FALSE(plan.jobs[5].scaling);
}

TEST(Plan, ACaseNoLongerThanTheThreeLengthsIsRunWhole) {
  const Profile profile = descriptor().profile("quick");
  const auto scaled = [&](std::int64_t size) {
    return make_job({"count", "", {{"size", size}}}, fake::find("cpu-serial"), profile, 1).scaling.has_value();
  };
  EXPECT_FALSE(scaled(16));  // 3 + 5 + 8
  EXPECT_TRUE(scaled(17));
}

TEST(Plan, RunsOfAScaledJob) {
  const Job job = make_job({"count", "", {{"size", std::int64_t{100}}}}, fake::find("cpu-serial"), descriptor().profile("quick"), 4);
  const Job part = run_of_length(job, 5), whole = run_of_whole(job);
  for (const Job& run : {part, whole}) {
    EXPECT_FALSE(run.scaling);
    EXPECT_EQ(run.asked.key(), job.asked.key());
    EXPECT_EQ(run.seed, 4U);
  }
  EXPECT_EQ(part.executed.values.at("size"), Value(std::int64_t{5}));
  EXPECT_EQ(whole.executed.key(), job.asked.key());
}

TEST(Plan, TheFirstExtrapolationThatAppliesCounts) {
  Descriptor d = descriptor();
  Profile profile = d.profile("quick");
  profile.extrapolations.insert(
      profile.extrapolations.begin(),
      {.axis = "size", .shorter = 1, .longer = 3, .implementations = {"cpu-serial"}, .where = {{"mode", {std::string("b")}}}});
  const Plan plan = make_plan(d, profile, {.implementations = {"cpu-serial"}, .where = {}}, true);
  std::vector<Value> sizes;
  for (const Job& job : plan.jobs) sizes.push_back(job.executed.values.at("size"));
  EXPECT_EQ(sizes, (std::vector<Value>{std::int64_t{4}, std::int64_t{4}, std::int64_t{8}, std::int64_t{3}}));
}

TEST(Plan, SomeImplementationsOfSomeCasesAreLeftOut) {
  Descriptor d = descriptor();
  d.left_out = {
      {.implementations = {"cpu-serial"}, .where = {{"size", {std::int64_t{100}}}, {"mode", {std::string("b")}}}, .reason = "hours"},
      {.implementations = {}, .where = {{"size", {std::int64_t{4}}}}, .reason = "never in a plan of full"}};
  std::vector<std::string> jobs;
  for (const Job& job : make_plan(d, d.profile("quick"), {}, true).jobs)
    jobs.push_back(job.implementation->name + " " + describe(job, d.profile("quick")));
  EXPECT_EQ(jobs.size(), 7U);
  EXPECT_EQ(std::count(jobs.begin(), jobs.end(), "cpu-serial size=100 mode=b"), 0) << fmt::format("{}", fmt::join(jobs, ", "));
  EXPECT_EQ(std::count(jobs.begin(), jobs.end(), "gpu size=100 mode=b"), 1);
  EXPECT_EQ(estimate(d, d.profile("quick"), {}).measurements, 7U);
}

TEST(Plan, GpuNeedsADevice) {
  const Descriptor d = descriptor();
  const Plan plan = make_plan(d, d.profile("quick"), {}, false);
  EXPECT_EQ(plan.jobs.size(), 4U);
  EXPECT_EQ(plan.deviceless, std::vector<std::string>{"gpu"});
  EXPECT_THROW(static_cast<void>(make_plan(d, d.profile("quick"), {.implementations = {"cpu-serail"}, .where = {}}, true)), InputError);
}

TEST(Plan, AJobForEachSeed) {
  Descriptor d = descriptor();
  d.profiles["quick"].implementations = {"cpu-serial", "cpu-openmp"};
  d.profiles["quick"].protocol.seeds = {7, 3};
  const Plan plan = make_plan(d, d.profile("quick"), {}, false);
  ASSERT_EQ(plan.jobs.size(), 16U);
  EXPECT_EQ(plan.jobs[0].seed, 7U);
  EXPECT_EQ(plan.jobs[1].seed, 7U);
  EXPECT_EQ(plan.jobs[1].implementation->name, "cpu-openmp");
  EXPECT_EQ(plan.jobs[2].seed, 3U);
  EXPECT_EQ(plan.jobs[2].asked.key(), plan.jobs[0].asked.key());
  EXPECT_EQ(describe(plan.jobs[2], d.profile("quick")), "size=4 mode=a seed 3");
}

TEST(Plan, EachProcessBeginsACaseWithTheNextImplementation) {
  const Descriptor d = descriptor();
  const auto order = [&](int process) {
    std::vector<std::string> names;
    for (const Job& job : make_plan(d, d.profile("quick"), {}, true, process).jobs) names.push_back(job.implementation->name);
    return names;
  };
  const std::vector<std::string> first{"cpu-serial", "gpu", "cpu-serial", "gpu", "cpu-serial", "gpu", "cpu-serial", "gpu"};
  const std::vector<std::string> second{"gpu", "cpu-serial", "gpu", "cpu-serial", "gpu", "cpu-serial", "gpu", "cpu-serial"};
  EXPECT_EQ(order(1), first);
  EXPECT_EQ(order(2), second);
  EXPECT_EQ(order(3), first);
  const auto cases = [&](int process) {
    std::vector<std::string> keys;
    for (const Job& job : make_plan(d, d.profile("quick"), {}, true, process).jobs) keys.push_back(job.asked.key());
    return keys;
  };
  EXPECT_EQ(cases(1), cases(2));
}

TEST(Plan, RanksAreSeenByThoseWhoHaveThem) {
  Descriptor d = descriptor();
  Profile& profile = d.profiles["quick"];
  profile.axes = {
      {"size", {std::int64_t{4}}}, {"ranks", {std::int64_t{1}, std::int64_t{2}, std::int64_t{4}}}, {"gpus", {std::string("own")}}};
  profile.implementations = {"cpu-serial", "cpu-openmp"};
  profile.protocol.seeds = {1, 2};
  const auto jobs = [&](const System& system) {
    d.system = &system;
    std::string told;
    for (const Job& job : make_plan(d, d.profile("quick"), {}, false).jobs)
      told += fmt::format("{}{}.{} ", job.implementation->name == "cpu-openmp" ? "m" : "s", job.asked.integer("ranks", 1, 9), job.seed);
    return told;
  };
  System system = fake::systems().front();
  EXPECT_EQ(jobs(system), "s1.1 m1.1 s1.2 m1.2 s2.1 m2.1 s2.2 m2.2 s4.1 m4.1 s4.2 m4.2 ");  // the axis may mean anything
  for (Implementation& i : system.implementations) i.over_ranks = i.name == "cpu-openmp";
  EXPECT_EQ(jobs(system), "s1.1 m1.1 s1.2 m1.2 m2.1 m2.2 m4.1 m4.2 ");
}

TEST(Plan, ASearchTakesItsBudget) {
  Protocol protocol;
  protocol.max_seconds = 2;
  EXPECT_DOUBLE_EQ(likely_seconds(protocol), 2.5);
  EXPECT_DOUBLE_EQ(likely_seconds(protocol, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(likely_seconds(protocol, 10), 30) << "the fewest repetitions are made, however long one takes";
  protocol.repetitions = 3;
  protocol.budget.seconds = 60;
  EXPECT_DOUBLE_EQ(likely_seconds(protocol), 180);
  EXPECT_DOUBLE_EQ(likely_seconds(Protocol(), 10), 0);
}

}  // namespace
}  // namespace vicinity
