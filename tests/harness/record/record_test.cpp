#include "harness/record/record.hpp"

#include <cstdint>

#include <gtest/gtest.h>

#include "tests/harness/fake_system.hpp"

namespace vicinity {
namespace {

class RecordTest : public testing::Test {
 protected:
  RecordTest() {
    descriptor_.experiment = "fake/table";
    descriptor_.hash = "00112233445566aa";
    descriptor_.paper = "fang";
    descriptor_.system = &fake::systems().front();
    descriptor_.check.reference = "cpu-serial";
    job_.asked = job_.executed = {"count", "", {{"size", std::int64_t{100}}, {"mode", std::string("a")}}};
    job_.implementation = &fake::find("cpu-openmp");
    context_ = {.profile = "quick",
                .machine = "m",
                .commit = "c",
                .dirty = false,
                .sources = "s",
                .reference_sources = "r",
                .version = "1",
                .build = "b",
                .started = "t",
                .slowdown = 1};
    result_.status = Status::ok;
    result_.samples = {{"wall", {1, 2}}, {"kernel", {0.5, 0.25}}};
    Outcome outcome;
    outcome.digest = 0xabc;
    outcome.objective = 7;
    outcome.feasible = true;
    result_.outcome = result_.reference = outcome;
  }
  [[nodiscard]] Json record() const { return to_record(context_, descriptor_, job_, protocol_, result_); }
  [[nodiscard]] std::string key() const { return resume_key(context_, descriptor_, job_, protocol_); }

  Descriptor descriptor_;
  Job job_;
  RunContext context_;
  Protocol protocol_;
  Result result_;
};

TEST_F(RecordTest, HasEveryFieldOfTheSchema) {
  const Json json = record();
  for (const char* field :
       {"schema",     "experiment", "system",           "paper",     "profile",      "case",       "case_key",    "implementation",
        "backend",    "status",     "message",          "machine",   "commit",       "dirty",      "sources",     "build",
        "descriptor", "version",    "process",          "protocol",  "seeds",        "batch",      "samples",     "verified",
        "reference",  "digest",     "reference_digest", "objective", "feasible",     "iterations", "evaluations", "counters",
        "policy",     "work",       "clocks",           "throttled", "extrapolated", "control",    "contended",   "contention"})
    EXPECT_TRUE(json.contains(field)) << field;
  EXPECT_EQ(json["case_key"], "problem=count;mode=a;size=100");
  EXPECT_EQ(json["case"]["size"], 100);
  EXPECT_TRUE(json["case"]["instance"].is_null());
  EXPECT_EQ(json["digest"], "0000000000000abc");
  EXPECT_EQ(json["samples"]["kernel"], Json({0.5, 0.25}));
  EXPECT_TRUE(json["extrapolated"].is_null());
  EXPECT_EQ(json["build"], "b");
  EXPECT_TRUE(json["clocks"].is_null());
  EXPECT_TRUE(json["control"].is_null());
  EXPECT_TRUE(json["counters"].is_object());
  EXPECT_EQ(Json::parse(json.dump()), json);
}

TEST_F(RecordTest, APredictedTimeSaysFromWhat) {
  result_.prediction = {.axis = "size", .at = {10, 20, 30}, .to = 100, .fixed_seconds = 0.5, .seconds_per_unit = 0.25, .change = 0.125};
  EXPECT_EQ(
      record()["extrapolated"],
      Json({{"axis", "size"}, {"at", {10, 20, 30}}, {"to", 100}, {"fixed_seconds", 0.5}, {"seconds_per_unit", 0.25}, {"change", 0.125}}));
}

TEST_F(RecordTest, ClocksAndThrottling) {
  const nvml::State cool{.sm_mhz = 1980, .reasons = {}, .throttled = false};
  const nvml::State hot{.sm_mhz = 1200, .reasons = {"hw_thermal_slowdown"}, .throttled = true};
  result_.clocks = {cool, hot};
  const Json json = record();
  EXPECT_EQ(json["clocks"]["sm_mhz_after"], 1200);
  EXPECT_EQ(json["clocks"]["throttle_after"][0], "hw_thermal_slowdown");
  EXPECT_TRUE(json["clocks"]["throttle_before"].empty());
  EXPECT_EQ(json["throttled"], true);
}

TEST_F(RecordTest, EnergyWhereItIsKnown) {
  EXPECT_FALSE(record().contains("gpu_joules"));
  result_.gpu_joules = 512.25;
  EXPECT_EQ(record()["gpu_joules"], 512.25);
}

TEST_F(RecordTest, SaysWhoseSources) {
  EXPECT_EQ(record()["sources"], "s");
  EXPECT_EQ(record()["reference_sources"], "r");
  context_.reference_sources.clear();  // of a peer
  EXPECT_FALSE(record().contains("reference_sources"));
}

TEST_F(RecordTest, ResumesAtEqualKeysOnly) {
  const Json json = record();
  EXPECT_EQ(resume_key(json), key());
  const std::string before = key();
  context_.commit = "another";  // sources identify the code, not the commit
  EXPECT_EQ(key(), before);
  context_.sources = "changed";
  EXPECT_NE(key(), before);
  context_.sources = "s";
  descriptor_.hash = "changed";
  EXPECT_NE(key(), before);
  descriptor_.hash = "00112233445566aa";
  protocol_.repetitions = 5;
  EXPECT_NE(key(), before);
  protocol_.repetitions = 30;
  for (const auto& [fewest, precision] : {std::pair(30, 0.0), std::pair(3, 0.01)}) {
    protocol_.min_repetitions = fewest;
    protocol_.precision = precision;
    EXPECT_NE(key(), before);
    EXPECT_EQ(resume_key(record()), key());
  }
  protocol_.precision = 0;
  context_.process = 2;
  EXPECT_NE(key(), before);
  EXPECT_EQ(resume_key(record()), key());
  context_.process = 1;
  Json older = json;  // of a program that knew one process only
  older["process"].erase("number");
  EXPECT_EQ(resume_key(older), before);
  context_.slowdown = 2;
  EXPECT_NE(key(), before);
  EXPECT_EQ(resume_key(record()), key());
}

TEST_F(RecordTest, InvalidResultsAndMissingFilesAreMeasuredAgain) {
  result_.status = Status::skipped;
  EXPECT_EQ(resume_key(record()), key());
  EXPECT_FALSE(record().contains("missing_input"));
  result_.missing_input = true;
  EXPECT_EQ(resume_key(record()), "");
  result_.status = Status::invalid;
  EXPECT_EQ(resume_key(record()), "");
  EXPECT_EQ(record()["verified"], false);
  EXPECT_EQ(resume_key(Json::object()), "");
  Json future = record();
  future["schema"] = 2;
  EXPECT_EQ(resume_key(future), "");
}

}  // namespace
}  // namespace vicinity
