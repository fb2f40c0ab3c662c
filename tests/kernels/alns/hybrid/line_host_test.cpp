// The device code of gpu-hybrid, by one thread on the host (host_team.hpp), against cpu-hybrid. Needs no GPU.
#include "kernels/alns/hybrid/line.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "cpu_ref/alns/hybrid/search.hpp"
#include "kernels/alns/hybrid/generations.hpp"
#include "tests/kernels/alns/hybrid/host_team.hpp"
#include "tests/support/alns_twins.hpp"

namespace vicinity::alns::hybrid::block {
namespace {

using alns::Kind;

/// What a launch of a rank does, a line after the other.
class HostLines {
 public:
  HostLines(const vrp::Vrp& vrp, const Generations& generations)
      : granular_(generations.granular()), nearest_(granular_.nearest.begin(), granular_.nearest.end()), nodes_(generations.nodes()) {
    const vrp::View view = vrp.view();
    problem_ = {view, nearest_.data(), granular_.rank.data(), granular_.k, granular_.moves(), granular_.routes, 0};
    for (std::int32_t c = 1; c <= view.n; ++c) problem_.served += view.service[c];
    const auto [first, lines] = generations.own_lines();
    first_ = first;
    states_.resize(lines, {});
    for (auto* solutions : {&current_, &best_, &handed_}) solutions->resize(lines * nodes_, 0xA5A5);
    memory_.resize(Line<HostTeam>::bytes(problem_));
  }
  /// A generation of island i.
  void run(Generations& generations, std::size_t i) {
    generations.prepare(i);
    const auto [first, lines] = generations.lines(i);
    const std::int32_t n = problem_.vrp.n;
    for (std::size_t b = first; b < first + lines; ++b) {
      std::fill(memory_.begin(), memory_.end(), static_cast<unsigned char>(0xA5));
      const std::size_t k = b - first_;
      const auto place = [&](std::vector<Node>& all) { return Packed::at(&all[k * nodes_], n); };
      const LineMemory memory{Packed::at(&generations.inputs[b * nodes_], n), place(current_), place(best_), place(handed_), &states_[k]};
      HostTeam team;
      Line<HostTeam>(problem_, memory_.data()).run(team, generations.jobs[b], memory);
      generations.states[b] = states_[k];
      std::copy_n(&handed_[k * nodes_], nodes_, &generations.handed[b * nodes_]);
      if (generations.improves(b)) std::copy_n(&best_[k * nodes_], nodes_, &generations.best[b * nodes_]);
    }
    generations.finish(i);
  }
  /// `count` generations, as many as may be between two ends, of each island by itself, the last one first.
  void run(Generations& generations, std::int64_t count) {
    while (generations.count() < count) {
      const std::int64_t made = std::min(count - generations.count(), generations.until_end());
      for (std::size_t i = generations.islands(); i-- > 0;)
        for (std::int64_t g = 0; g < made; ++g) run(generations, i);
      generations.end(made);
    }
  }

 private:
  const Granular& granular_;
  std::vector<Node> nearest_;
  std::size_t nodes_, first_ = 0;
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
    host.run(generations, g + 1);
    const Search expected = search.result(), found = generations.result();
    ASSERT_EQ(found.digest, expected.digest) << name << ", generation " << g;
    ASSERT_EQ(found.cost, expected.cost) << name << ", generation " << g;
    ASSERT_EQ(found.evaluations, expected.evaluations) << name << ", generation " << g;
    ASSERT_EQ(found.best, expected.best) << name << ", generation " << g;
  }
}

/// Ranks are threads: what they bring to gathered() meets here.
struct Meeting {
  explicit Meeting(std::int32_t ranks) : all(static_cast<std::size_t>(ranks)), barrier(ranks) {}

  std::vector<std::vector<std::int64_t>> all;
  std::barrier<> barrier;
};
class Member final : public Team {
 public:
  Member(Meeting& meeting, std::int32_t rank) : meeting_(meeting), rank_(rank) {}

  [[nodiscard]] std::int32_t rank() const override { return rank_; }
  [[nodiscard]] std::int32_t size() const override { return static_cast<std::int32_t>(meeting_.all.size()); }
  [[nodiscard]] std::int32_t host_rank() const override { return rank_; }
  [[nodiscard]] std::int32_t host_size() const override { return size(); }
  [[nodiscard]] std::int32_t cores() const override { return 1; }
  [[nodiscard]] std::optional<Offer> least(const std::optional<Offer>& mine) override { return mine; }
  [[nodiscard]] std::vector<std::vector<std::int64_t>> gathered(const std::vector<std::int64_t>& mine) override {
    meeting_.all[static_cast<std::size_t>(rank_)] = mine;
    meeting_.barrier.arrive_and_wait();
    std::vector<std::vector<std::int64_t>> all = meeting_.all;
    meeting_.barrier.arrive_and_wait();
    return all;
  }
  [[nodiscard]] const std::atomic<bool>* stop() const override { return nullptr; }

 private:
  Meeting& meeting_;
  std::int32_t rank_;
};

/// The result of `count` generations, as every rank has it.
std::vector<Search> by_ranks(const vrp::Vrp& instance, const Task& task, std::uint64_t seed, std::int32_t ranks) {
  std::vector<Search> found(static_cast<std::size_t>(ranks));
  Meeting meeting(ranks);
  std::vector<std::jthread> threads;
  for (std::int32_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      Member team(meeting, rank);
      Generations generations(instance, task, seed, std::nullopt, &team);
      HostLines host(instance, generations);
      host.run(generations, task.calls);
      found[static_cast<std::size_t>(rank)] = generations.result();
    });
  threads.clear();
  return found;
}

void expect_ranks_share(const vrp::Vrp& instance, std::int32_t lines, std::int64_t generations) {
  Task task;
  task.processes = lines;
  task.calls = generations;
  GeneticSearch search(instance, task, Start(1), 1);
  while (!search.done()) search.advance(false);
  const Search expected = search.result();
  for (const std::int32_t ranks : {1, 2, 3, 4, 7})
    for (const Search& found : by_ranks(instance, task, 1, ranks)) {
      EXPECT_EQ(found.digest, expected.digest) << ranks;
      EXPECT_EQ(found.cost, expected.cost) << ranks;
      EXPECT_EQ(found.evaluations, expected.evaluations) << ranks;
      EXPECT_EQ(found.best, expected.best) << ranks;
    }
}

/// Uneven parts, more ranks than lines; cycles end.
TEST(HybridLine, RanksShareTheLines) { expect_ranks_share(instance_of(5, 13, Kind::bound), 6, 104); }

/// Ranks with several islands, with one, with part of one and with parts of two; migrants and pooled routes go from rank to rank.
TEST(HybridLine, RanksShareTheIslands) { expect_ranks_share(instance_of(5, 13, Kind::bound), 3 * lines_of_island - 5, 104); }

TEST(HybridLine, HostTwinsOnEdgeCases) {
  for (const Kind kind : {Kind::plain, Kind::coincident, Kind::full, Kind::one_vehicle, Kind::bound, Kind::limited, Kind::all_same,
                          Kind::matrix, Kind::detours})
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
