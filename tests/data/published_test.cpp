// The transcribed tables: complete, and in one schema.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "data/search_path.hpp"

namespace vicinity {
namespace {

using Row = std::vector<std::string>;

const Row schema{"paper",          "table",  "row_key", "instance", "params", "device",      "device_kind",
                 "implementation", "metric", "unit",    "value",    "spread", "spread_kind", "notes"};

/// Observations of each file; the numbers printed in the papers, minus the cells without a number.
const std::map<std::string, std::size_t> expected_rows{
    {"alns_table1.csv", 103},  {"alns_table2.csv", 140},  {"alns_tableB10.csv", 109}, {"alns_tableB3.csv", 164}, {"alns_tableB4.csv", 149},
    {"alns_tableB5.csv", 141}, {"alns_tableB6.csv", 129}, {"alns_tableB7.csv", 141},  {"alns_tableB8.csv", 129}, {"alns_tableB9.csv", 109},
    {"fang_table1.csv", 48},   {"fang_table2.csv", 24},   {"lns_table1.csv", 18},     {"lns_table2.csv", 144},   {"lns_table3.csv", 24},
    {"lns_table4.csv", 18},    {"lsm_table10.csv", 144},  {"lsm_table11.csv", 144},   {"lsm_table2.csv", 112},   {"lsm_table3.csv", 144},
    {"lsm_table4.csv", 144},   {"lsm_table5.csv", 120},   {"lsm_table6.csv", 104},    {"lsm_table7.csv", 116},   {"lsm_table8.csv", 84},
    {"lsm_table9.csv", 90},    {"sa_figures.csv", 18}};

/// The fields of one CSV line; quotes enclose fields with commas.
Row fields(const std::string& line) {
  Row row{""};
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      row.emplace_back();
    } else if (c != '\r') {
      row.back() += c;
    }
  }
  return row;
}

std::vector<Row> rows(const std::filesystem::path& file) {
  std::vector<Row> all;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) all.push_back(fields(line));
  return all;
}

bool is_number(const std::string& text) {
  std::size_t used = 0;
  try {
    (void)std::stod(text, &used);
  } catch (const std::exception&) {
    return false;
  }
  return used == text.size();
}

TEST(Published, EveryFileHasItsRowsInTheSchema) {
  std::size_t total = 0;
  for (const auto& [name, count] : expected_rows) {
    const auto table = rows(data_folder() / "published" / name);
    ASSERT_FALSE(table.empty()) << name;
    EXPECT_EQ(table.front(), schema) << name;
    EXPECT_EQ(table.size() - 1, count) << name;
    total += table.size() - 1;
  }
  EXPECT_EQ(total, 2810u);
}

TEST(Published, NoFileIsUnaccountedFor) {
  for (const auto& file : std::filesystem::directory_iterator(data_folder() / "published")) {
    const bool table = file.path().extension() == ".csv";
    EXPECT_TRUE(!table || expected_rows.contains(file.path().filename().string())) << file.path();
  }
}

TEST(Published, ValuesAreNumbersOfTheFilesOwnPaper) {
  const std::set<std::string> kinds{"", "gpu", "cpu", "cluster", "grid"};
  for (const auto& [name, count] : expected_rows) {
    const auto table = rows(data_folder() / "published" / name);
    for (std::size_t i = 1; i < table.size(); ++i) {
      const Row& row = table[i];
      ASSERT_EQ(row.size(), schema.size()) << name << ":" << i + 1;
      EXPECT_TRUE(name.starts_with(row[0] + "_")) << name << ":" << i + 1;
      EXPECT_TRUE(kinds.contains(row[6])) << name << ":" << i + 1;
      EXPECT_TRUE(is_number(row[10])) << name << ":" << i + 1 << " " << row[10];
      EXPECT_TRUE(row[11].empty() || is_number(row[11])) << name << ":" << i + 1 << " " << row[11];
    }
  }
}

}  // namespace
}  // namespace vicinity
