#include "data/generators/li.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/util/error.hpp"
#include "data/catalogue.hpp"
#include "data/formats/cvrplib.hpp"
#include "data/sha256.hpp"
#include "tests/support/complaint.hpp"

namespace vicinity {
namespace {

using Place = std::pair<double, double>;

std::set<Place> places(const vrp::Data& data) {
  std::set<Place> all;
  for (std::size_t i = 1; i < data.x.size(); ++i) all.emplace(data.x[i], data.y[i]);
  return all;
}

/// With the comments of CVRPLIB's files, which are older costs.
TEST(Li, InstancesAreCvrplibsFilesByteForByte) {
  const std::vector<std::string> comments{"16212.74", "14597.18", "18801.12", "21389.33", "16902.16", "23971.74",
                                          "17488.74", "26565.92", "29154.34", "31742.51", "34330.84", "36919.24"};
  for (std::size_t i = 0; i < comments.size(); ++i) {
    const CatalogueEntry& entry = catalogue().at("Li_" + std::to_string(21 + i));
    const Generator& generator = *entry.generator;
    const vrp::Vrp made(li_rings(entry.name, generator.parameter("per_ring"), generator.parameter("rings"), generator.parameter("capacity"),
                                 generator.parameter("limit")));
    EXPECT_EQ(sha256(cvrplib_text(made, comments[i], 4)), entry.sha256) << entry.name;
  }
}

/// All of Li 21 to 32 have 3040 places; the 2000 of the paper are those of Li 32 and Li 27.
TEST(Li, MergeHasThePapersTwoThousandCustomers) {
  std::set<Place> all, two;
  for (const CatalogueEntry& entry : catalogue().entries()) {
    if (entry.family != "li") continue;
    const auto some = places(li_rings("", entry.generator->parameter("per_ring"), entry.generator->parameter("rings"), 1, 1));
    all.insert(some.begin(), some.end());
    if (entry.name == "Li_27" || entry.name == "Li_32") two.insert(some.begin(), some.end());
  }
  EXPECT_EQ(all.size(), 3040u);
  EXPECT_EQ(two.size(), 2000u);
  EXPECT_EQ(places(li_merged("", 2000, 1, 1, 1)), two);
}

TEST(Li, RandomRemovalIsNestedAndGoesByTheSeed) {
  const auto large = places(li_merged("", 1600, 1, 1, 1)), small = places(li_merged("", 1400, 1, 1, 1));
  EXPECT_EQ(large.size(), 1600u);
  EXPECT_EQ(small.size(), 1400u);
  EXPECT_TRUE(std::includes(large.begin(), large.end(), small.begin(), small.end()));
  EXPECT_NE(places(li_merged("", 1400, 2, 1, 1)), small);
}

TEST(Li, RefusesWhatIsNoInstance) {
  EXPECT_EQ(complaint<InputError>([] { (void)li_rings("", 0, 5, 1, 1); }), "0 customers on each of 5 rings are outside 1..10000");
  EXPECT_EQ(complaint<InputError>([] { (void)li_rings("", 101, 100, 1, 1); }), "101 customers on each of 100 rings are outside 1..10000");
  EXPECT_EQ(complaint<InputError>([] { (void)li_merged("", 2001, 1, 1, 1); }), "2001 customers are outside 1..2000");
  EXPECT_EQ(complaint<InputError>([] { (void)li_merged("", 0, 1, 1, 1); }), "0 customers are outside 1..2000");
}

}  // namespace
}  // namespace vicinity
