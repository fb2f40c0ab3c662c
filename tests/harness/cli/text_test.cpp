#include "harness/cli/text.hpp"

#include <gtest/gtest.h>

#include "harness/measure/cpu.hpp"
#include "harness/measure/nvml.hpp"
#include "harness/record/ceilings.hpp"
#include "harness/record/environment.hpp"
#include "tests/support/scratch.hpp"

namespace vicinity {
namespace {

TEST(Text, HintsAtTheNearestName) {
  EXPECT_EQ(hint("staets", {"load", "states"}), "did you mean 'states'? allowed: load, states");
  EXPECT_EQ(hint("zzzzzz", {"load", "states"}), "allowed: load, states");
}

TEST(Text, NeighboursExchangedAreOneEdit) {
  EXPECT_EQ(nearest("ab", {"xb", "ba"}), "xb");       // one edit each; the first counts
  EXPECT_EQ(nearest("acb", {"abcd", "abc"}), "abc");  // one edit; two without exchanges, as the other has
  EXPECT_EQ(nearest("gup", {"gpu", "cpu"}), "gpu");
  EXPECT_EQ(nearest("", {"a"}), "a");
  EXPECT_EQ(nearest("abc", {}), std::nullopt);
}

TEST(Text, TheNearestFileIsInTheSameFolder) {
  const TemporaryFolder folder;
  folder.write("mine.dat", "");
  EXPECT_EQ(nearest_file(folder / "mien.dat"), (folder / "mine.dat").string());
  EXPECT_EQ(nearest_file(folder / "another"), std::nullopt);
  EXPECT_EQ(nearest_file(folder / "none" / "mine.dat"), std::nullopt);
}

TEST(Text, Counts) {
  EXPECT_EQ(human_count(0), "0");
  EXPECT_EQ(human_count(812), "812");
  EXPECT_EQ(human_count(48.1e6), "48.1 M");
  EXPECT_EQ(human_count(3.25e9), "3.25 G");
  EXPECT_EQ(human_count(999.4), "999");
  EXPECT_EQ(human_count(999.7), "1 k");
  EXPECT_EQ(human_count(999'700), "1 M");
  EXPECT_EQ(human_count(1234e12), "1234 T");
}

TEST(Text, Units) {
  EXPECT_EQ(human_seconds(1.234e-3), "1.23 ms");
  EXPECT_EQ(human_seconds(5e-6), "5 us");
  EXPECT_EQ(human_seconds(123.4), "123 s");
  EXPECT_EQ(human_seconds(0.9994), "999 ms");
  EXPECT_EQ(human_seconds(0.9996), "1 s");
  EXPECT_EQ(human_seconds(999.7e-9), "1 us");
  EXPECT_EQ(human_seconds(999.7), "1000 s");
  EXPECT_EQ(human_seconds(12345), "12345 s");
  EXPECT_EQ(clock_text(7), "0:07");
  EXPECT_EQ(clock_text(3725), "1:02:05");
  EXPECT_EQ(hex16(255), "00000000000000ff");
}

TEST(Text, PrintableIsOneLineThatActsOnNoTerminal) {
  EXPECT_EQ(printable("größe, as it is"), "größe, as it is");
  EXPECT_EQ(printable("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(printable("\x1b[31m\x7f"), "\\x1b[31m\\x7f");
  EXPECT_EQ(printable("\u009b|\u202e|\u2066|\u2028"), "\\x9b|\\u202e|\\u2066|\\u2028");
}

TEST(Text, Slug) {
  EXPECT_EQ(slug("NVIDIA H100 80GB HBM3"), "nvidia-h100-80gb-hbm3");
  EXPECT_EQ(slug("Intel(R) Core(TM) i9 "), "intel-r-core-tm-i9");
  EXPECT_EQ(slug("../../x"), "x");
  EXPECT_EQ(slug(""), "unknown");
}

TEST(Text, Median) {
  EXPECT_DOUBLE_EQ(median({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_DOUBLE_EQ(median({1}), 1);
}

TEST(Nvml, NamesReasons) {
  EXPECT_TRUE(nvml::reason_names(0x1).empty());  // idle
  EXPECT_EQ(nvml::reason_names(0x4 | 0x40), (std::vector<std::string>{"sw_power_cap", "hw_thermal_slowdown"}));
  EXPECT_FALSE(nvml::is_throttling(0x1 | 0x2 | 0x10));
  EXPECT_TRUE(nvml::is_throttling(0x80));
}

TEST(Cpu, Ranges) {
  EXPECT_EQ(ranges({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
  EXPECT_EQ(ranges({}), "");
  EXPECT_GE(cpu_info().cores, 1);
}

TEST(Ceilings, Units) {
  EXPECT_EQ(ceiling_unit("copy_bandwidth"), "B/s");
  EXPECT_EQ(ceiling_unit("launch"), "s");
  EXPECT_EQ(ceiling_unit("grid_barrier"), "s");
  EXPECT_EQ(ceiling_unit("popcount"), "op/s");
}

TEST(Environment, KeepsCeilings) {
  const TemporaryFolder folder;
  const Identity identity = identify("Some Machine");
  EXPECT_EQ(identity.machine, "some-machine");
  EXPECT_EQ(identity.sources.size(), 16U);
  EXPECT_EQ(sources_of("shared").size(), 16U);
  EXPECT_NE(sources_of("shared"), identity.sources);
  EXPECT_EQ(sources_of("of somebody else"), identity.sources);
  EXPECT_EQ(sources_of("of somebody else", "gpu"), identity.sources);
  EXPECT_EQ(sources_of("sa", "cpu-delta"), sources_of("sa", "cpu-openmp"));
  EXPECT_NE(sources_of("sa", "gpu-tuned"), sources_of("sa", "cpu-openmp"));
  EXPECT_NE(sources_of("sa", "gpu-tuned"), sources_of("lsm", "gpu-tuned"));
  store_environment(folder / "results", identity, ceilings_json({{"launch", 3e-6}}));
  store_environment(folder / "results", identity);
  const Json json = Json::parse(contents(folder / "results/some-machine/environment.json"));
  EXPECT_EQ(json["ceilings"]["launch"]["unit"], "s");
  EXPECT_DOUBLE_EQ(json["ceilings"]["launch"]["value"], 3e-6);
  for (const char* field : {"schema", "machine", "time", "commit", "dirty", "sources", "version", "gpu", "cpu", "memory_bytes", "os",
                            "kernel", "compilers", "libraries", "ceilings"})
    EXPECT_TRUE(json.contains(field)) << field;
}

TEST(Environment, KeepsEveryBuild) {
  const TemporaryFolder folder;
  const Identity first = identify("m");
  const auto path = folder / "results/m/environment.json";
  const auto stored = [&] { return Json::parse(contents(path)); };
  store_environment(folder / "results", first);
  EXPECT_EQ(stored()["builds"].size(), 1U);
  EXPECT_EQ(stored()["builds"][first.build]["compilers"], stored()["compilers"]);
  EXPECT_EQ(stored()["builds"][first.build]["sources"], first.sources);
  Identity second = first;
  second.sources = "changed", second.build = "0123456789abcdef";
  store_environment(folder / "results", second);
  store_environment(folder / "results", second);
  EXPECT_EQ(stored()["build"], second.build);
  EXPECT_EQ(stored()["builds"].size(), 2U);
  EXPECT_EQ(stored()["builds"][first.build]["sources"], first.sources);
  EXPECT_EQ(stored()["builds"][second.build]["sources"], "changed");
}

/// A file of a version that did not list builds: its flags are those of its own sources, and are kept as such.
TEST(Environment, KeepsTheBuildOfAnOlderFile) {
  const TemporaryFolder folder;
  folder.write("results/m/environment.json",
               R"({"schema": 1, "sources": "old", "version": "0.1.0", "compilers": {"cxx_flags": "-O1"}, "ceilings": {}})");
  const Identity identity = identify("m");
  store_environment(folder / "results", identity);
  const Json builds = Json::parse(contents(folder / "results/m/environment.json"))["builds"];
  ASSERT_EQ(builds.size(), 2U);
  EXPECT_TRUE(builds.contains(identity.build));
  for (const auto& [hash, build] : builds.items()) {
    EXPECT_EQ(hash.size(), 16U);
    if (hash == identity.build) continue;
    EXPECT_EQ(build["compilers"]["cxx_flags"], "-O1");
    EXPECT_EQ(build["sources"], "old");
  }
}

TEST(Environment, ABuildIsTheSameOnEveryMachine) { EXPECT_EQ(identify("m").build, identify("another").build); }

TEST(Environment, CommitFromTheEnvironment) {
  const ScopedEnvironment commit("VICINITY_COMMIT", "abc-dirty");
  const Identity identity = identify("m");
  EXPECT_EQ(identity.commit, "abc");
  EXPECT_TRUE(identity.dirty);
}

}  // namespace
}  // namespace vicinity
