// Assignments side by side, as `gpu-tuned` has them, on the host: teams of one thread or of many find what the CPU's walkers find.
#include "kernels/lns/lanes.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "data/generators/models.hpp"
#include "tests/support/lns_tuned.hpp"

namespace vicinity::lns {
namespace {

constexpr auto fetch = [](const LaneInstruction* from) { return *from; };

/// Subsets of RL and CE in parts of as many walkers as there are threads, or `most`; walkers of ICM one by one.
class LaneSearch final : public TunedSearch {
 public:
  LaneSearch(const cp::Problem& problem, const Task& task, std::int32_t threads, std::int32_t most)
      : TunedSearch(problem, task, 1, std::size_t{1} << 23),
        lanes_(view_),
        lane_view_(lanes_.view()),
        lane_threads_(threads),
        most_(std::min(most, threads)) {}
  /// With these numbers of threads?
  [[nodiscard]] bool fits() const {
    if (LaneImprover<Alone>::walks(task_.search, task_.start)) return lanes_.fits(1);
    return LaneWalkers<Alone>::walks(task_.search, task_.start) && lanes_.fits(released_of(task_, host_.problem));
  }

 private:
  template <class Work>
  void do_all(const Work& work) const {
    lane_threads_ == 1 ? work(Alone()) : Played::do_all(lane_threads_, work);
  }
  void walk(std::uint64_t seed, std::int64_t begin, std::int64_t end) override {
    if (task_.search == LocalSearch::conditional_mode) return improve(seed, begin, end);
    for (std::int64_t w = begin; w < end;) {
      const std::int64_t subset = w / task_.starts, last = std::min({end, (subset + 1) * task_.starts, w + most_});
      part(seed, subset, w, static_cast<std::int32_t>(last - w));
      w = last;
    }
  }
  void part(std::uint64_t seed, std::int64_t subset_number, std::int64_t first, std::int32_t count) {
    const WalkView task = host_.walk(task_);
    const auto subset = host_.subset(task_, seed, steps, subset_number);
    std::vector<LaneInstruction> program(instructions_.longest(task.released));
    std::vector<std::uint32_t> ends(static_cast<std::size_t>(lanes_.view().segment_count)),
        memory(LaneProgramMaker<Alone>::words_of(view_), 0xA5A5A5A5u), counts(lane_count());
    std::vector<std::uint64_t> values = memory_of(LaneWalkers<Alone>::bytes(lanes_.slots(task.released)) * lane_count());
    std::vector<std::int64_t> costs(costs_.size(), -7), evaluated(costs_.size(), -7);
    std::vector<std::int32_t> assignments(costs_.size() * static_cast<std::size_t>(task.released), -7);
    do_all([&](const auto& team) {
      using T = std::remove_cvref_t<decltype(team)>;
      const LaneProgram made = LaneProgramMaker<T>(team, view_, lane_view_, memory.data(), counts.data())
                                   .make(subset.data(), task.released, base_.data(), program.data(), ends.data());
      team.sync();
      EXPECT_LE(static_cast<std::size_t>(ends.back()), program.size());
      StopWord stop(&go_on, true);
      LaneWalkers<T>(team, host_.view, task, view_, lane_view_, values.data())
          .walk({seed, steps, first}, count, incumbent_.data(), subset.data(), made, stop,
                {costs.data(), evaluated.data(), assignments.data()}, fetch);
    });
    for (auto w = static_cast<std::size_t>(first); w < static_cast<std::size_t>(first + count); ++w) {
      costs_[w] = costs[w];
      const auto from = assignments.begin() + static_cast<std::ptrdiff_t>(w) * task.released;
      assignments_[w].assign(from, from + task.released);
      evaluations += evaluated[w] / 2;
      started += evaluated[w] % 2;
    }
  }
  void improve(std::uint64_t seed, std::int64_t begin, std::int64_t end) {
    const WalkView task = host_.walk(task_);
    const WalkerMemory::Sizes sizes{instructions_.sizes().total(), static_cast<std::size_t>(task.released), host_.domains()};
    const std::size_t longest = instructions_.longest(1);
    std::vector<std::uint64_t> memory = memory_of(sizes.bytes());
    std::vector<std::max_align_t> lanes(LaneValues<Alone>::bytes(longest, lanes_.view(), lane_threads_) / sizeof(std::max_align_t) + 1);
    do_all([&](const auto& team) {
      using T = std::remove_cvref_t<decltype(team)>;
      const WalkerMemory mine(reinterpret_cast<unsigned char*>(memory.data()), sizes);
      ProgramEngine<T> engine(team, view_, mine.state);
      LaneValues<T> values(team, view_, lane_view_, reinterpret_cast<unsigned char*>(lanes.data()), longest);
      engine.use(view_.all);
      StopWord stop(&go_on, team.rank() == 0);
      for (std::int64_t w = begin; w < end; ++w) {
        const auto subset = host_.subset(task_, seed, steps, w / task_.starts);
        if (w == begin || w % task_.starts == 0) engine.load(base_.data(), base_.size());
        LaneImprover<T> walker(team, host_.view, task, mine, engine, values, stop);
        const WalkerResult result = walker.walk({seed, steps, w}, incumbent_.data(), subset.data());
        take(team, w, result, mine.best);
      }
    });
  }
  [[nodiscard]] std::size_t lane_count() const { return static_cast<std::size_t>(lane_threads_); }

  LaneSlots lanes_;
  LaneSlotsView lane_view_;
  std::int32_t lane_threads_, most_;
};

/// Whether lanes can take it.
bool expect_lanes_find_it(const Trial& one, std::int32_t threads, std::int32_t most) {
  const auto& problem = dynamic_cast<const cp::Problem&>(*one.instance);
  const Task task = task_of(one.c, problem);
  if (first_solution(problem).empty() || !HostProblem(problem).on_the_device(task)) return false;
  LaneSearch search(problem, task, threads, most);
  if (!search.fits()) return false;
  expect_the_search_of_the_cpu(one, task, search);
  return true;
}

const std::vector<std::string>& strategies_of_lanes() {
  static const std::vector<std::string> all{"RL", "ICM", "CE"};
  return all;
}

/// The first of at least that seed which CP search solves.
std::string solved_model(std::uint64_t seed, int variables, int definitions) {
  for (;; ++seed) {
    const std::string text = linear_model(seed, variables, definitions, true);
    if (!first_solution(cp::Problem(read_flatzinc(text, "m.fzn"))).empty()) return text;
  }
}

Trial lane_trial(const std::string& text, const std::string& strategy, const char* start, std::int64_t released, std::int64_t starts) {
  return trial(text, {{"strategy", strategy},
                      {"start", std::string(start)},
                      {"released", strategy == "CE" ? std::min<std::int64_t>(released, 2) : released},
                      {"repetitions", std::int64_t{strategy == "CE" ? 1 : 2}},
                      {"subsets", std::int64_t{2}},
                      {"starts", starts},
                      {"steps", std::int64_t{3}}});
}

TEST(LnsLanes, LinearModels) {
  int run = 0, asked = 0;
  for (std::uint64_t seed = 0; seed < 70; ++seed) {
    const std::string text = linear_model(seed, 2 + static_cast<int>(seed % 9), static_cast<int>(seed % 40), seed % 5 != 0);
    for (const std::string& strategy : strategies_of_lanes()) {
      const Trial one = lane_trial(text, strategy, seed % 2 == 0 ? "random" : "current", 1 + static_cast<std::int64_t>(seed % 5),
                                   1 + static_cast<std::int64_t>(seed % 7));
      run += expect_lanes_find_it(one, 1 + static_cast<std::int32_t>(seed % 4) * 5, 4) ? 1 : 0;
      ++asked;
    }
  }
  EXPECT_GT(2 * run, asked);
}

TEST(LnsLanes, EachNumberOfWalkersAndThreads) {
  const std::string text = solved_model(3, 12, 40);
  for (const std::int64_t starts : {1, 33, 70})
    for (const std::int32_t threads : {1, 80})
      for (const std::string& strategy : strategies_of_lanes())
        EXPECT_TRUE(expect_lanes_find_it(lane_trial(text, strategy, "random", 4, starts), threads, 32)) << strategy;
}

TEST(LnsLanes, Distances) {
  for (const std::string& strategy : strategies_of_lanes())
    for (const char* start : {"random", "current"})
      EXPECT_TRUE(expect_lanes_find_it(lane_trial(differences(9), strategy, start, 5, 20), 32, 32)) << strategy;
}

TEST(LnsLanes, WhatTheyCannotTake) {
  for (const char* strategy : {"RL", "ICM"}) EXPECT_FALSE(expect_lanes_find_it(lane_trial(differences(7), strategy, "cp", 3, 5), 8, 8));
  for (const char* strategy : {"GS", "RP", "2P"})
    EXPECT_FALSE(expect_lanes_find_it(lane_trial(differences(7), strategy, "current", 3, 5), 8, 8));
  for (const std::string& text : {permutation(), sums(1)}) {
    const cp::Problem problem(read_flatzinc(text, "m.fzn"));
    const Instructions instructions(problem, false);
    EXPECT_FALSE(LaneSlots(instructions.view()).fits(2));
  }
  const cp::Problem problem(read_flatzinc(differences(9), "m.fzn"));
  const Instructions instructions(problem, false), without(problem, false, 0);
  EXPECT_TRUE(LaneSlots(instructions.view()).fits(5));
  EXPECT_FALSE(LaneSlots(instructions.view()).fits(1024));
  EXPECT_FALSE(LaneSlots(without.view()).fits(5));
}

TEST(LnsLanes, RandomCases) {
  for (const Trial& one : random_trials(systems::lns(), 300)) expect_lanes_find_it(one, 6, 3);
  for (std::int64_t k = 0; k < 100; ++k)
    for (const Trial& one : trials_of_all_strategies(k)) expect_lanes_find_it(one, 5, 5);
}

}  // namespace
}  // namespace vicinity::lns
