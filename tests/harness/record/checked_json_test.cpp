// The good and bad inputs that all readers must agree on: tests/vectors/*.json (docs/schema/README.md).
#include "harness/record/checked_json.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/util/error.hpp"
#include "harness/record/recorder.hpp"
#include "tests/support/complaint.hpp"
#include "tests/support/scratch.hpp"

namespace vicinity {
namespace {

struct Vector {
  std::string name, text, verdict, field;
};

/// The characters up to U+00FF as bytes.
std::string latin1(const std::string& utf8) {
  std::string bytes;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto first = static_cast<unsigned char>(utf8[i]);
    bytes += first < 0x80 ? utf8[i] : static_cast<char>((first & 0x03u) << 6 | (static_cast<unsigned char>(utf8[++i]) & 0x3Fu));
  }
  return bytes;
}

std::vector<Vector> vectors(const std::string& kind) {
  const Json table = Json::parse(contents("tests/vectors/" + kind + ".json"));
  std::vector<Vector> all;
  for (const Json& one : table["vectors"]) {
    std::string text = one.contains("line") ? one["line"].get<std::string>() : table["base"].get<std::string>();
    if (one.contains("replace")) {
      const std::string old = one["replace"][0], by = one["replace"][1];
      const std::size_t at = text.find(old);
      if (at == std::string::npos) throw std::out_of_range("the base of " + kind + " has no " + old);
      text.replace(at, old.size(), by);
    }
    if (one.value("encoding", "utf-8") == "latin-1") text = latin1(text);
    all.push_back({one["name"], text, one["verdict"], one.value("field", "")});
  }
  return all;
}

TEST(Vectors, RecordsGetTheVerdictsOfTheAnalysis) {
  const TemporaryFolder folder;
  const std::string base = Json::parse(contents("tests/vectors/record.json"))["base"];
  for (const Vector& vector : vectors("record")) {
    const std::string path = folder.write("m/fang/table1.jsonl", base + "\n" + vector.text + "\n" + base + "\n");
    const Recorder recorder(path);
    EXPECT_EQ(recorder.existing().size(), vector.verdict == "good" ? 3U : 2U) << vector.name;
    ASSERT_EQ(recorder.damaged().size(), vector.verdict == "damaged" ? 1U : 0U) << vector.name;
    if (vector.verdict != "damaged") continue;
    const std::string place = path + ":2: ", what = recorder.damaged().front();
    ASSERT_TRUE(what.starts_with(place)) << what;
    const std::string rest = what.substr(place.size());
    if (!vector.field.empty())
      EXPECT_TRUE(rest.starts_with(vector.field + ": ")) << vector.name << ": " << rest;
    else
      EXPECT_TRUE(rest.starts_with("not JSON: ") || rest.starts_with("not UTF-8") || rest.starts_with("[] is not of type"))
          << vector.name << ": " << rest;
  }
}

TEST(Vectors, EnvironmentsGetTheVerdictsOfTheAnalysis) {
  const TemporaryFolder folder;
  for (const Vector& vector : vectors("environment")) {
    const auto path = folder.write("environment.json", vector.text);
    const std::string what = complaint<EnvironmentError>([&] { static_cast<void>(read_environment(path)); });
    if (vector.verdict == "good") {
      EXPECT_EQ(what, "") << vector.name;
      continue;
    }
    const std::string place = path.string() + ":1: " + vector.field;
    EXPECT_TRUE(what.starts_with(place)) << vector.name << ": " << what;
    EXPECT_TRUE(what.ends_with("mend or remove the file")) << what;
  }
}

TEST(CheckedJson, TheLineOfAField) {
  const TemporaryFolder folder;
  const auto path =
      folder.write("environment.json", "{\n \"schema\": 1,\n \"cpu\": {\n  \"model\": \"x\",\n  \"cores\": \"many\"\n }\n}\n");
  EXPECT_EQ(complaint<EnvironmentError>([&] { static_cast<void>(read_environment(path)); }),
            path.string() + ":5: cpu.cores: 'many' is not of type integer or null; mend or remove the file");
  EXPECT_EQ(read_environment(folder / "none.json"), nullptr);
  EXPECT_NE(complaint<EnvironmentError>([&] { static_cast<void>(read_environment(folder.path())); }).find("Is a directory"),
            std::string::npos);
}

TEST(CheckedJson, RecordedResultsAreWhole) {
  int lines = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("results")) {
    if (entry.path().extension() != ".jsonl") continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line); ++lines) {
      const ParsedJson parsed = parse_json(line);
      ASSERT_FALSE(parsed.fault) << entry.path();
      const auto fault = record_fault(parsed.value);
      ASSERT_FALSE(fault) << entry.path() << ": " << fault->text();
    }
  }
  EXPECT_GT(lines, 1000);
}

TEST(JsonSchema, WhatItDoesNotKnowIsRefused) {
  EXPECT_THROW(JsonSchema(R"({"oneOf": []})"), std::logic_error);
  EXPECT_THROW(JsonSchema(R"({"properties": {"a": {"multipleOf": 2}}})"), std::logic_error);
  EXPECT_THROW(JsonSchema(R"({"pattern": "a|b"})"), std::logic_error);
}

TEST(JsonSchema, SchemasOfTheRepositoryAreKnown) {
  for (const char* name : {"record", "environment", "verification", "descriptor"})
    EXPECT_NO_THROW(JsonSchema(contents("docs/schema/" + std::string(name) + ".json"))) << name;
}

TEST(JsonSchema, Patterns) {
  EXPECT_TRUE(matches("^[A-Za-z0-9_][a-z.+-]*/[a-z]*$", "Az-./"));
  EXPECT_FALSE(matches("^[A-Za-z0-9_][a-z.+-]*/[a-z]*$", "/a"));
  EXPECT_FALSE(matches("^[a-z]*$", "a\n"));
  EXPECT_TRUE(matches("^[^\\u0000-\\u001f\\u007f]*$", "größe"));
  EXPECT_FALSE(matches("^[^\\u0000-\\u001f\\u007f]*$", std::string("a\0b", 3)));
  EXPECT_TRUE(matches("^[a-c]*[b]$", "abcb"));  // no greedy dead end
}

}  // namespace
}  // namespace vicinity
