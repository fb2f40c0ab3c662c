// The hybrid search over several processes on the cores of this host: the result of cpu-hybrid, for any number of ranks.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/methods/alns/hybrid/islands.hpp"
#include "cpu_ref/alns/hybrid/implementations.hpp"
#include "tests/support/alns_twins.hpp"
#include "tests/support/rank_twins.hpp"

namespace vicinity::alns::hybrid {
namespace {

using alns::Kind;

class HybridRanks : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string absence = absence_of(cpu_hybrid_rank_implementations()); !absence.empty()) GTEST_SKIP() << absence;
  }
};

Implementation reference() { return cpu_hybrid_implementations().front(); }
Implementation islands() { return cpu_hybrid_rank_implementations().front(); }

Trial search_of(std::uint64_t seed, std::int32_t n, Kind kind, std::int64_t lines, std::int64_t generations) {
  const std::int64_t threads = 1 + static_cast<std::int64_t>(seed) % 2;
  return {{"vrp", "", {{"processes", lines}, {"calls", generations}, {"threads", threads}}},
          std::make_shared<vrp::Vrp>(instance_of(seed, n, kind)),
          std::to_string(n) + " customers, " + std::to_string(lines) + " lines"};
}

/// More ranks than lines; lines that no number of ranks divides; every kind of instance.
std::vector<Trial> trials() {
  std::vector<Trial> all{search_of(1, 3, Kind::plain, 1, 4), search_of(2, 40, Kind::bound, 4, 11),
                         search_of(3, 30, Kind::coincident, 6, 11)};
  for (const Kind kind : {Kind::full, Kind::one_vehicle, Kind::matrix}) all.push_back(search_of(4, 25, kind, 5, 9));
  return all;
}

TEST_F(HybridRanks, LinesAreTwins) { expect_rank_twins(reference(), islands(), trials()); }
/// A line a thread and step, of which ranks have different numbers.
TEST_F(HybridRanks, LinesAreTwinsInSlicesOfTime) { expect_rank_twins(reference(), islands(), trials(), in_slices); }
/// Two islands, long enough that a cycle ends and that their best ones move on: one a rank, and shared by ranks.
TEST_F(HybridRanks, IslandsAreTwins) {
  for (const std::int64_t ranks : {2, 3}) {
    Trial one = search_of(6, 14, Kind::bound, lines_of_island + 4, 104);
    one.c.values["ranks"] = ranks;
    one.c.values["removals"] = std::int64_t{200};
    expect_twins(reference(), {islands()}, {one});
  }
}

TEST_F(HybridRanks, RunsAreAsGoodAsNew) { expect_rank_runs(reference(), islands(), search_of(2, 40, Kind::bound, 4, 12)); }

TEST_F(HybridRanks, EndsByItself) { expect_twins(reference(), {islands()}, {search_of(4, 3, Kind::plain, 2, 0)}); }

TEST_F(HybridRanks, GoesOnFromAGivenSolution) {
  Trial one = search_of(3, 40, Kind::bound, 3, 10);
  one.start = outcome_of(reference(), one, at_once).solution;
  expect_rank_twins(reference(), islands(), {one});
}

}  // namespace
}  // namespace vicinity::alns::hybrid
