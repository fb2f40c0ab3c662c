// The device code of gpu-hybrid, by one thread on the host (host_team.hpp), against cpu-hybrid. Needs no GPU.
#include "kernels/alns/hybrid/line.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cpu_ref/alns/hybrid/search.hpp"
#include "kernels/alns/hybrid/generations.hpp"
#include "tests/kernels/alns/hybrid/host_team.hpp"
#include "tests/support/alns_twins.hpp"

namespace vicinity::alns::hybrid::block {
namespace {

using alns::Kind;

/// What a launch does, a line after the other.
class HostLines {
 public:
  HostLines(const vrp::Vrp& vrp, const Generations& generations)
      : granular_(generations.granular()), nearest_(granular_.nearest.begin(), granular_.nearest.end()), nodes_(generations.nodes()) {
    const vrp::View view = vrp.view();
    problem_ = {view, nearest_.data(), granular_.rank.data(), granular_.k, granular_.moves(), granular_.routes, 0};
    for (std::int32_t c = 1; c <= view.n; ++c) problem_.served += view.service[c];
    const std::size_t lines = generations.jobs.size();
    states_.resize(lines, {});
    for (auto* solutions : {&current_, &best_, &handed_}) solutions->resize(lines * nodes_, 0xA5A5);
    memory_.resize(Line<HostTeam>::bytes(problem_));
  }
  void run(Generations& generations) {
    const std::int32_t n = problem_.vrp.n;
    for (std::size_t b = 0; b < states_.size(); ++b) {
      std::fill(memory_.begin(), memory_.end(), static_cast<unsigned char>(0xA5));
      const auto place = [&](std::vector<Node>& all) { return Packed::at(&all[b * nodes_], n); };
      const LineMemory memory{place(generations.inputs), place(current_), place(best_), place(handed_), &states_[b]};
      HostTeam team;
      Line<HostTeam>(problem_, memory_.data()).run(team, generations.jobs[b], memory);
    }
    generations.states = states_;
    generations.handed = handed_;
  }
  [[nodiscard]] const Node* best(std::size_t b) const { return &best_[b * nodes_]; }

 private:
  const Granular& granular_;
  std::vector<Node> nearest_;
  std::size_t nodes_;
  Problem problem_{};
  std::vector<LineState> states_;
  std::vector<Node> current_, best_, handed_;
  std::vector<unsigned char> memory_;
};

void expect_the_same(const vrp::Vrp& instance, std::int32_t lines, std::int64_t count, std::uint64_t seed, const std::string& name) {
  Task task;
  task.processes = lines;
  task.calls = count;
  GeneticSearch search(instance, task, Start(seed), 1);
  Generations generations(instance, task, seed, std::nullopt);
  HostLines host(instance, generations);
  for (std::int64_t g = 0; g < count; ++g) {
    search.advance(false);
    generations.prepare();
    host.run(generations);
    generations.finish([&](std::size_t b) { return host.best(b); });
    const Search expected = search.result(), found = generations.result();
    ASSERT_EQ(found.digest, expected.digest) << name << ", generation " << g;
    ASSERT_EQ(found.cost, expected.cost) << name << ", generation " << g;
    ASSERT_EQ(found.evaluations, expected.evaluations) << name << ", generation " << g;
    ASSERT_EQ(found.best, expected.best) << name << ", generation " << g;
  }
}

TEST(HybridLine, HostTwinsOnEdgeCases) {
  for (const Kind kind :
       {Kind::plain, Kind::coincident, Kind::full, Kind::one_vehicle, Kind::bound, Kind::limited, Kind::all_same, Kind::matrix})
    for (const std::int32_t n : {1, 2, 3, 12, 47})
      expect_the_same(instance_of(static_cast<std::uint64_t>(n), n, kind), 5, 12, 3,
                      "kind " + std::to_string(static_cast<int>(kind)) + ", n " + std::to_string(n));
}

TEST(HybridLine, HostTwinsWhereVehiclesMayNotSuffice) {
  for (std::uint64_t seed = 0; seed < 30; ++seed)
    expect_the_same(instance_of(seed, 5 + static_cast<std::int32_t>(seed), Kind::limited), 4, 4, seed, "seed " + std::to_string(seed));
}

/// Cycles end, islands exchange their best.
TEST(HybridLine, HostTwinsOverACycle) { expect_the_same(instance_of(5, 13, Kind::bound), lines_of_island + 6, 104, 1, "two islands"); }

TEST(HybridLine, HostTwinsOfManyCustomers) {
  for (const Kind kind : {Kind::plain, Kind::bound, Kind::one_vehicle})
    expect_the_same(instance_of(7, 260, kind), 4, 3, 2, "kind " + std::to_string(static_cast<int>(kind)));
}

}  // namespace
}  // namespace vicinity::alns::hybrid::block
