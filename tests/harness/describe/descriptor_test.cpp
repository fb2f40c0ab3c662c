#include "harness/describe/descriptor.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "core/util/error.hpp"
#include "tests/harness/fake_system.hpp"
#include "tests/support/complaint.hpp"
#include "tests/support/scratch.hpp"

namespace vicinity {
namespace {

constexpr char good[] = R"(schema: 1
title: "A table"
paper: fang
system: fake
problem: count
published:
  csv: fang_table1.csv
  axes: {states: size}
  metric: time
axes:
  size: [10, 13]
  mode: [fast, "7", 0.5]
implementations: [cpu-serial, gpu]
protocol:
  statistic: mean
  repetitions: 20
  flush_l2: true
  seeds: {first: 5, count: 3}
  max_seconds: 1.5
check: {kind: tolerance, tolerance: 0.01, reference: cpu-openmp}
profiles:
  smoke: {axes: {size: [2]}, implementations: [cpu-wrong], protocol: {repetitions: 3, seeds: [9, 2]}}
  quick: {extrapolate: {axis: size, at: [2, 5], implementations: [cpu-serial]}}
  full: {}
)";

class DescriptorTest : public testing::Test {
 protected:
  [[nodiscard]] Descriptor load(const std::string& text) const {
    return load_descriptor(folder_.write("table.yaml", text), fake::systems());
  }

  /// The good descriptor with `from` replaced; the error it gives, without the folder.
  [[nodiscard]] std::string error(const std::string& from, const std::string& to) const {
    std::string text = good;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return error_of(text.replace(at, from.size(), to));
  }
  [[nodiscard]] std::string error_of(const std::string& text) const {
    try {
      static_cast<void>(load(text));
    } catch (const InputError& error) {
      const std::string message = error.what();
      EXPECT_EQ(message.find('\n'), std::string::npos);
      const auto name = message.find("table.yaml");
      return name == std::string::npos ? message : message.substr(name);
    }
    return "no error";
  }

  TemporaryFolder folder_;
};

TEST_F(DescriptorTest, ReadsEveryKey) {
  const Descriptor d = load(good);
  EXPECT_EQ(d.experiment, "fake/table");
  EXPECT_EQ(d.title, "A table");
  EXPECT_EQ(d.problem, "count");
  EXPECT_EQ(d.hash.size(), 16U);
  EXPECT_EQ(d.published->csv, "fang_table1.csv");
  EXPECT_EQ(d.published->axes.at("states"), "size");
  EXPECT_EQ(d.check.kind, Check::Kind::tolerance);
  EXPECT_DOUBLE_EQ(d.check.tolerance, 0.01);
  EXPECT_EQ(d.check.reference, "cpu-openmp");
  const Profile& full = d.profile("full");
  ASSERT_EQ(full.axes.size(), 2U);
  EXPECT_EQ(full.axes[0].first, "size");
  EXPECT_EQ(full.axes[0].second, (std::vector<Value>{std::int64_t{10}, std::int64_t{13}}));
  EXPECT_EQ(full.axes[1].second, (std::vector<Value>{std::string("fast"), std::string("7"), 0.5}));
  EXPECT_EQ(full.protocol.statistic, "mean");
  EXPECT_EQ(full.protocol.repetitions, 20);
  EXPECT_EQ(full.protocol.warmup, 3);
  EXPECT_TRUE(full.protocol.flush_l2);
  EXPECT_EQ(full.protocol.seeds, (std::vector<std::uint64_t>{5, 6, 7}));
  EXPECT_DOUBLE_EQ(full.protocol.max_seconds, 1.5);
}

TEST_F(DescriptorTest, ItsFileNameIsThatOfRecords) {
  const auto refusal = [](const std::string& path) {
    return complaint<InputError>([&] { static_cast<void>(parse_descriptor(good, path, fake::systems())); });
  };
  for (const char* path : {"a.yaml", "my folder/T_1.2+x-y.yaml", "/dev/stdin", "x.shard-1.yaml"}) EXPECT_EQ(refusal(path), "") << path;
  for (const char* path : {"ad 4.yaml", "-x.yaml", ".yaml", "gr\u00f6\u00dfe.yaml", "a\nb.yaml"})
    EXPECT_EQ(refusal(path), std::string(path) +
                                 ": a descriptor's file name is at most 100 letters, digits, '_', '.', '+' and '-', the first a letter, a "
                                 "digit or '_'; rename the file");
  EXPECT_NE(refusal(std::string(101, 'a') + ".yaml"), "");
  EXPECT_EQ(refusal("t.shard-1-of-2.yaml"), "t.shard-1-of-2.yaml: named like the records of a shard (.shard-I-of-N); rename the file");
}

TEST_F(DescriptorTest, IsOneDocument) {
  const std::string text = good;
  const auto lines = std::count(text.begin(), text.end(), '\n');
  for (const std::string more : {"---\nschema: 1\n", "...\njunk\n", "---\n"})
    EXPECT_EQ(error_of(text + more),
              fmt::format("table.yaml:{}: a second document; a descriptor is one", lines + (more.starts_with("...") ? 2 : 1)))
        << more;
  EXPECT_EQ(error_of("---\n" + text + "...\n# the end\n"), "no error");
  EXPECT_EQ(error_of(",aaa"), "table.yaml:1: a second document; a descriptor is one");
}

TEST_F(DescriptorTest, WhenRepetitionsEndAndHowManyProcesses) {
  std::string text = good;
  text.replace(text.find("full: {}"), 8, "full: {protocol: {min_repetitions: 4, precision: 0.01, processes: 5}}");
  const Descriptor d = load(text);
  const Protocol &full = d.profile("full").protocol, &quick = d.profile("quick").protocol;
  EXPECT_EQ(full.min_repetitions, 4);
  EXPECT_DOUBLE_EQ(full.precision, 0.01);
  EXPECT_EQ(full.processes, 5);
  EXPECT_EQ(quick.min_repetitions, 3);
  EXPECT_EQ(quick.precision, 0);
  EXPECT_EQ(quick.processes, 1);
}

TEST_F(DescriptorTest, ProfilesOverride) {
  const Descriptor d = load(good);
  const Profile& smoke = d.profile("smoke");
  EXPECT_EQ(smoke.axes[0].second, (std::vector<Value>{std::int64_t{2}}));
  EXPECT_EQ(smoke.axes[1].second.size(), 3U);
  EXPECT_EQ(smoke.implementations, std::vector<std::string>{"cpu-wrong"});
  EXPECT_EQ(smoke.protocol.repetitions, 3);
  EXPECT_EQ(smoke.protocol.seeds, (std::vector<std::uint64_t>{9, 2}));
  EXPECT_TRUE(smoke.extrapolations.empty());
  ASSERT_EQ(d.profile("quick").extrapolations.size(), 1U);
  EXPECT_EQ(d.profile("quick").extrapolations[0].shorter, 2);
  EXPECT_EQ(d.profile("quick").extrapolations[0].longer, 5);
  EXPECT_TRUE(d.profile("full").extrapolations.empty());
}

TEST_F(DescriptorTest, SeveralExtrapolationsEachForSomeCases) {
  const std::string from = "{axis: size, at: [2, 5], implementations: [cpu-serial]}";
  const std::string to = "[{axis: size, at: [1, 3], implementations: [cpu-serial], where: {size: [13], mode: [fast]}}, " + from + "]";
  std::string text = good;
  const Descriptor d = load(text.replace(text.find(from), from.size(), to));
  const auto& found = d.profile("quick").extrapolations;
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].where.at("size"), std::vector<Value>{std::int64_t{13}});
  EXPECT_EQ(found[0].where.at("mode"), std::vector<Value>{std::string("fast")});
  EXPECT_TRUE(found[1].where.empty());
  EXPECT_EQ(error("[cpu-serial]}}", "[cpu-serial], where: {sise: [13]}}}"),
            "table.yaml:23: axis 'sise' is not one of this descriptor; did you mean 'size'? allowed: size, mode");
  EXPECT_EQ(error("[cpu-serial]}}", "[cpu-serial], where: {size: [14]}}}"), "table.yaml:23: no case of the profile has size = 14");
}

TEST_F(DescriptorTest, ATimeIsPredictedFromTwoLengthsBelowTheCase) {
  const std::string two = "table.yaml:23: two lengths are needed, [short, long]: a time is what a run costs once, and a slope";
  for (const char* wrong : {"at: 5", "at: [5]", "at: [1, 3, 5]"}) EXPECT_EQ(error("at: [2, 5]", wrong), two) << wrong;
  const std::string apart = ": the second length must exceed the first by at least 2, for a third between them";
  EXPECT_EQ(error("[2, 5]", "[5, 5]"), "table.yaml:23: [5, 5]" + apart);
  EXPECT_EQ(error("[2, 5]", "[5, 2]"), "table.yaml:23: [5, 2]" + apart);
  EXPECT_EQ(error("[2, 5]", "[4, 5]"), "table.yaml:23: [4, 5]" + apart);
  EXPECT_EQ(error("[2, 5]", "[2, 13]"), "table.yaml:23: no case it applies to has size above 13");
  EXPECT_EQ(error("[2, 5], implementations: [cpu-serial]", "[2, 10], implementations: [cpu-serial], where: {size: [10]}"),
            "table.yaml:23: no case it applies to has size above 10");
  EXPECT_EQ(error("[2, 5]", "[0, 5]").substr(0, 14), "table.yaml:23:");
  EXPECT_EQ(error("  flush_l2: true\n", "  trace: true\n"),
            "table.yaml:23: a run that ends by a budget, or whose trace is recorded, is run whole");
}

TEST_F(DescriptorTest, WhatIsShortIsRunWholeWhateverADescriptorSays) {
  const Descriptor d = load(good);
  EXPECT_EQ(d.profile("smoke").whole_under, 0);
  EXPECT_EQ(d.profile("quick").whole_under, 1);
  EXPECT_EQ(d.profile("full").whole_under, 60);
  EXPECT_EQ(d.profile("full").most_seconds, 300);
  std::string text = good;
  const std::string was = "  full: {}\n";
  const Descriptor more = load(text.replace(text.find(was), was.size(), "  full: {whole_under: 90, most_seconds: 100}\n"));
  EXPECT_EQ(more.profile("full").whole_under, 90);
  EXPECT_EQ(more.profile("full").most_seconds, 100);
  EXPECT_EQ(error("full: {}", "full: {whole_under: 59}"), "table.yaml:24: whole_under: '59' is not a number from 60 to 1000000");
  EXPECT_EQ(error("full: {}", "full: {most_seconds: 59}"), "table.yaml:24: most_seconds: '59' is not a number from 60 to 1000000");
  EXPECT_EQ(error("quick: {", "quick: {whole_under: 0.5, "), "table.yaml:23: whole_under: '0.5' is not a number from 1 to 1000000");
  EXPECT_EQ(error("full: {}", "full: {}\n  other: {whole_under: 1}").substr(0, 27), "table.yaml:25: whole_under:");
}

TEST_F(DescriptorTest, UnknownProfileHints) {
  const Descriptor d = load(good);
  try {
    static_cast<void>(d.profile("quik"));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'quick'?"), std::string::npos) << error.what();
  }
}

TEST_F(DescriptorTest, ErrorsNameLineAndWhatIsAllowed) {
  EXPECT_EQ(error("paper: fang\n", "papr: fang\n").substr(0, 62), "table.yaml:3: unknown key 'papr' in the descriptor; did you me");
  EXPECT_EQ(error("  size: [10, 13]", "  sise: [10, 13]"),
            "table.yaml:11: unknown axis 'sise' of count; did you mean 'size'? allowed: size, milliseconds, mode");
  EXPECT_EQ(error("system: fake", "system: fang"), "table.yaml:4: unknown system 'fang'; allowed: fake, hunt");
  EXPECT_EQ(error("problem: count", "problem: cuont"), "table.yaml:5: unknown problem 'cuont'; did you mean 'count'? allowed: count");
  EXPECT_EQ(error("statistic: mean", "statistic: average"), "table.yaml:15: unknown statistic 'average'; allowed: median, mean, min");
  EXPECT_EQ(error("repetitions: 20", "repetitions: many"), "table.yaml:16: repetitions: 'many' is not a whole number from 1 to 1000000");
  EXPECT_EQ(error("repetitions: 20", "repetitions: 0"), "table.yaml:16: repetitions: '0' is not a whole number from 1 to 1000000");
  EXPECT_EQ(error("flush_l2: true", "flush_l2: perhaps"), "table.yaml:17: flush_l2 must be true or false");
  EXPECT_EQ(error("size: [10, 13]", "size: 10"), "table.yaml:11: size must be a list with at least one element, like [a, b]");
  EXPECT_EQ(error("size: [10, 13]", "size: [10, 10]"), "table.yaml:11: value 10 appears twice");
  EXPECT_EQ(error("size: [10, 13]", "size: [10, abc]"), "table.yaml:11: value abc is no number, as 10 is");
  EXPECT_EQ(error("size: [10, 13]", "size: [10, '13']"), "table.yaml:11: value 13 is no number, as 10 is");
  EXPECT_EQ(error("{size: [2]}", "{size: [abc]}"), "table.yaml:22: value abc is no number, as 10 is");
  EXPECT_EQ(error("implementations: [cpu-serial, gpu]", "sweeps: [{size: [x]}]\nimplementations: [cpu-serial]"),
            "table.yaml:13: value x is no number, as 10 is");
  EXPECT_EQ(error("schema: 1", "schema: 2"), "table.yaml:1: schema: '2' is not a whole number from 1 to 1");
  EXPECT_EQ(error("{states: size}", "{states: sizes}"), "table.yaml:8: unknown axis 'sizes'; did you mean 'size'? allowed: size, mode");
  EXPECT_EQ(error("{states: size}", "{stats: size}"), "table.yaml:8: no row of fang_table1.csv has a parameter 'stats'");
  EXPECT_EQ(error("metric: time", "metric: tmie"), "table.yaml:9: no row of fang_table1.csv has the metric 'tmie'");
  EXPECT_EQ(error("csv: fang_table1.csv", "csv: fang_table9.csv"), "table.yaml:7: 'fang_table9.csv' is not a file of data/published/");
  EXPECT_EQ(error("kind: tolerance", "kind: identical"), "table.yaml:20: tolerance must be 0, or the kind 'tolerance'");
  EXPECT_EQ(error("  full: {}\n", ""), "table.yaml:21: profile 'full' is missing; every descriptor has smoke, quick and full");
  EXPECT_EQ(error("{size: [2]}", "{milliseconds: [2]}"),
            "table.yaml:22: axis 'milliseconds' is not one of this descriptor; allowed: size, mode");
  EXPECT_EQ(error("axis: size, at", "axis: mode, at"), "table.yaml:23: axis 'mode' has values that are not whole numbers");
  EXPECT_EQ(error("title: \"A table\"\n", "").substr(0, 41), "table.yaml:1: the descriptor lacks the ke");
}

TEST_F(DescriptorTest, UnknownImplementationHints) {
  const std::string message = error("[cpu-serial, gpu]", "[cpu-seriall, gpu]");
  EXPECT_EQ(message.substr(0, 60), "table.yaml:13: unknown implementation 'cpu-seriall' of fake;");
  EXPECT_NE(message.find("did you mean 'cpu-serial'?"), std::string::npos);
}

TEST_F(DescriptorTest, UnknownInstanceHints) {
  const std::string message = error("problem: count", "problem: count\ninstances: [2-Insertions_4]");
  EXPECT_EQ(message.substr(0, 46), "table.yaml:6: unknown instance '2-Insertions_4");
  EXPECT_NE(message.find("did you mean '1-Insertions_4'?"), std::string::npos);
}

TEST_F(DescriptorTest, SweepsNameInstancesOfTheDescriptor) {
  const std::string message = error("problem: count", "problem: count\ninstances: [1-Insertions_4]\nsweeps: [{instance: [tai30a]}]");
  EXPECT_EQ(message.substr(0, 40), "table.yaml:7: unknown instance 'tai30a';");
}

TEST_F(DescriptorTest, BrokenFiles) {
  EXPECT_EQ(error_of(""), "table.yaml:1: the file is empty");
  EXPECT_EQ(error_of("schema: 1\ntitle: [1, 2\n").substr(0, 13), "table.yaml:3:");
  EXPECT_EQ(error_of("- a\n- b\n"), "table.yaml:1: the descriptor must be a map of 'key: value' lines");
  EXPECT_EQ(error_of("schema: 1\nschema: 1\n"), "table.yaml:2: key 'schema' appears twice");
  EXPECT_THROW(static_cast<void>(load_descriptor("/nonexistent/x.yaml", fake::systems())), InputError);
  EXPECT_THROW(static_cast<void>(load_descriptor("/tmp", fake::systems())), InputError);  // a folder
}

TEST_F(DescriptorTest, SeedsAreAList) {
  const auto with = [](const std::string& seeds) {
    std::string text = good;
    const std::string was = "seeds: {first: 5, count: 3}";
    return text.replace(text.find(was), was.size(), "seeds: " + seeds);
  };
  EXPECT_EQ(load(with("[4]")).profile("full").protocol.seeds, std::vector<std::uint64_t>{4});
  const Protocol protocol = load(with("{first: 1, count: 3, divided: true, under: 0.5}")).profile("full").protocol;
  EXPECT_EQ(protocol.seeds, (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_TRUE(protocol.seeds_divided);
  EXPECT_DOUBLE_EQ(protocol.seeds_under, 0.5);
  EXPECT_FALSE(load(good).profile("full").protocol.seeds_divided);
  EXPECT_EQ(load(good).profile("full").protocol.seeds_under, 0);
  for (const char* wrong : {"[4, 4]", "[]", "[-1]", "{first: 1}", "{first: 1, count: 0}", "{first: 1, count: 2, under: 0}",
                            "{first: 1, count: 2, divided: 2}", "{first: 1, count: 2, shared: true}"})
    EXPECT_THROW(static_cast<void>(load(with(wrong))), InputError) << wrong;
}

TEST_F(DescriptorTest, ProcessesMayBeForWhatIsShort) {
  const auto with = [](const std::string& processes) {
    std::string text = good;
    const std::string was = "seeds: {first: 5, count: 3}";
    return text.replace(text.find(was), was.size(), was + "\n  processes: " + processes);
  };
  EXPECT_EQ(load(with("4")).profile("full").protocol.processes, 4);
  EXPECT_EQ(load(with("4")).profile("full").protocol.processes_under, 0);
  const Protocol protocol = load(with("{count: 5, under: 10}")).profile("full").protocol;
  EXPECT_EQ(protocol.processes, 5);
  EXPECT_DOUBLE_EQ(protocol.processes_under, 10);
  for (const char* wrong :
       {"0", "[3]", "{count: 5}", "{under: 10}", "{count: 0, under: 10}", "{count: 5, under: 0}", "{count: 5, above: 1}"})
    EXPECT_THROW(static_cast<void>(load(with(wrong))), InputError) << wrong;
}

TEST_F(DescriptorTest, WhatAToolChangesWhenItWatches) {
  const auto with = [](const std::string& watched) { return std::string(good) + "watched:\n  " + watched + "\n"; };
  EXPECT_TRUE(load(good).watched.empty());
  const Descriptor d = load(with("racecheck: {leave_out: [gpu], set: {size: 2}, note: slow}"));
  const Watch& watch = d.watched.at("racecheck");
  EXPECT_EQ(watch.leave_out, std::vector<std::string>{"gpu"});
  EXPECT_EQ(watch.set.at("size"), Value(std::int64_t{2}));
  EXPECT_EQ(watch.note, "slow");
  const std::string at = fmt::format("table.yaml:{}: ", std::count(std::begin(good), std::end(good), '\n') + 2);
  EXPECT_EQ(error_of(with("rasecheck: {note: slow}")).substr(0, at.size() + 23), at + "unknown key 'rasecheck'");
  EXPECT_EQ(error_of(with("racecheck: {set: {sise: 2}, note: slow}")),
            at + "unknown axis 'sise' of count; did you mean 'size'? allowed: size, milliseconds, mode");
  EXPECT_EQ(error_of(with("racecheck: {leave_out: [gpu], set: {size: 2}}")).substr(0, at.size()), at);  // no note
}

TEST_F(DescriptorTest, WhatIsLeftOutHasAReason) {
  const auto with = [](const std::string& entry) { return std::string(good) + "left_out:\n  - " + entry + "\n"; };
  EXPECT_TRUE(load(good).left_out.empty());
  const Descriptor d = load(with("{where: {size: [10]}, implementations: [cpu-slow, cpu-big], reason: it takes a day}"));
  ASSERT_EQ(d.left_out.size(), 1U);
  EXPECT_EQ(d.left_out[0].implementations, (std::vector<std::string>{"cpu-slow", "cpu-big"}));
  EXPECT_EQ(d.left_out[0].where.at("size"), std::vector<Value>{std::int64_t{10}});
  EXPECT_EQ(d.left_out[0].reason, "it takes a day");
  const std::string at = fmt::format("table.yaml:{}: ", std::count(std::begin(good), std::end(good), '\n') + 2);
  const auto complaint = [&](const std::string& entry) { return error_of(with(entry)); };
  EXPECT_EQ(complaint("{implementations: [cpu-slow]}").substr(0, at.size()), at);
  EXPECT_EQ(complaint("{reason: none}"), at + "'where', 'implementations' or both say what is left out");
  EXPECT_EQ(complaint("{implementations: [cpu-slo], reason: x}").substr(0, at.size() + 32), at + "unknown implementation 'cpu-slo'");
  EXPECT_EQ(complaint("{where: {size: [11]}, implementations: [cpu-slow], reason: x}"), at + "no case of the profile has size = 11");
  EXPECT_EQ(complaint("{where: {sise: [10]}, implementations: [cpu-slow], reason: x}").substr(0, at.size() + 11), at + "axis 'sise'");
  const std::string measured = complaint("{where: {size: [13]}, reason: x}");
  EXPECT_EQ(measured.substr(0, at.size() + 26), at + "the profile full measures ") << measured;
  EXPECT_EQ(load(with("{where: {size: [13]}, implementations: [cpu-serial], reason: x}")).left_out.size(), 1U);
}

TEST_F(DescriptorTest, ABudgetNeedsACheckOfAPrefix) {
  std::string text = good;
  const std::string scaled = "{extrapolate: {axis: size, at: [2, 5], implementations: [cpu-serial]}}";
  text.replace(text.find(scaled), scaled.size(), "{}");
  const std::string was = "check: {kind: tolerance, tolerance: 0.01, reference: cpu-openmp}";
  const auto with = [&](const std::string& check, const std::string& budget) {
    std::string changed = text;
    changed.replace(changed.find(was), was.size(), "check: " + check);
    return changed.replace(changed.find("  flush_l2: true\n"), 0, "  budget: " + budget + "\n");
  };
  const Descriptor d = load(with("{kind: prefix, iterations: 20, reference: cpu-openmp}", "{seconds: 2, target: 7}"));
  EXPECT_EQ(d.check.kind, Check::Kind::prefix);
  EXPECT_EQ(d.check.iterations, 20);
  EXPECT_DOUBLE_EQ(d.profile("full").protocol.budget.seconds.value(), 2);
  EXPECT_EQ(d.profile("full").protocol.budget.target, 7);
  const std::string prefix = "{kind: prefix, iterations: 20, reference: cpu-openmp}";
  EXPECT_DOUBLE_EQ(load(with(prefix, "{seconds: 2, gap: 0.5}")).profile("full").protocol.gap.value(), 0.5);
  for (const char* budget : {"{gap: 0.5}", "{target: 7, gap: 0.5}", "{seconds: 2, target: 7, gap: 0.5}", "{seconds: 2, gap: -1}"})
    EXPECT_THROW(static_cast<void>(load(with(prefix, budget))), InputError) << budget;
  EXPECT_THROW(static_cast<void>(load(with("{kind: identical, reference: cpu-openmp}", "{seconds: 2}"))), InputError);
  EXPECT_THROW(static_cast<void>(load(with("{kind: prefix, reference: cpu-openmp}", "{seconds: 2}"))), InputError);
  EXPECT_THROW(static_cast<void>(load(with("{kind: prefix, iterations: 3, reference: cpu-openmp}", "{}"))), InputError);
}

}  // namespace
}  // namespace vicinity
