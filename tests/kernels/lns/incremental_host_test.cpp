// `gpu-tuned` on the host: the functions of its kernels, by a team of one thread or of three, find what the CPU's walkers find.
#include "kernels/lns/incremental.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "data/generators/models.hpp"
#include "tests/support/lns_tuned.hpp"

namespace vicinity::lns {
namespace {

/// Programs of the subsets and domains, walkers in stretches of one memory each.
class StretchSearch final : public TunedSearch {
 public:
  using TunedSearch::TunedSearch;

 private:
  void walk(std::uint64_t seed, std::int64_t begin, std::int64_t end) override {
    const WalkView task = host_.walk(task_);
    const WalkerMemory::Sizes sizes{instructions_.sizes().total(), static_cast<std::size_t>(task.released), host_.domains()};
    std::vector<std::uint64_t> memory = memory_of(sizes.bytes()), domain_memory = memory_of(sizes.domains.bytes());
    std::vector<Instruction> program(instructions_.longest(task.released));
    std::vector<std::uint32_t> level_end(static_cast<std::size_t>(view_.levels)), bits(ProgramMaker<Alone>::words_of(view_)),
        counts(static_cast<std::size_t>(threads_));
    std::vector<std::int32_t> sorted(static_cast<std::size_t>(task.released));
    bool failed = false;
    Together::do_all(threads_, [&](const auto& team) {
      using T = std::remove_cvref_t<decltype(team)>;
      const WalkerMemory mine(reinterpret_cast<unsigned char*>(memory.data()), sizes);
      ProgramEngine engine(team, view_, mine.state);
      std::int64_t loaded = -1;
      StopWord stop(&go_on, team.rank() == 0);
      for (std::int64_t w = begin; w < end; ++w) {
        const auto subset = host_.subset(task_, seed, steps, w / task_.starts);
        Parts parts(reinterpret_cast<unsigned char*>(domain_memory.data()));
        const DomainMemory domains(parts, sizes.domains);
        if (loaded != w / task_.starts) {
          loaded = w / task_.starts;
          if (view_.own != nullptr)
            ProgramMaker(team, view_, bits.data(), counts.data()).make(subset.data(), task.released, program.data(), level_end.data());
          if (task.start == StartingPoint::cp) {
            load_domains(team, host_.view.network, root_of(host_.view), domains);
            if (team.rank() == 0)
              failed = !fix_others(host_.view, incumbent_.data(), subset.data(), task.released, sorted.data(), domains, stop);
          }
          engine.load(base_.data(), base_.size());
          engine.use(view_.own == nullptr ? view_.all : ProgramView{program.data(), level_end.data()});
        }
        DeviceWalker<T, ProgramEngine<T>> walker(team, host_.view, task, mine, engine, stop);
        const WalkerResult result =
            walker.walk({seed, steps, w}, incumbent_.data(), subset.data(), {domains.lower, domains.upper, domains.mask, true, failed});
        take(team, w, result, mine.best);
      }
    });
  }
};

/// Whether it was run.
bool expect_a_search_of_the_cpu(const Trial& one, std::int32_t threads, std::size_t most_own) {
  const auto& problem = dynamic_cast<const cp::Problem&>(*one.instance);
  const Task task = task_of(one.c, problem);
  if (first_solution(problem).empty() || !HostProblem(problem).on_the_device(task)) return false;
  StretchSearch search(problem, task, threads, most_own);
  expect_the_search_of_the_cpu(one, task, search);
  return true;
}

constexpr std::size_t plenty = std::size_t{1} << 23;

TEST(LnsIncremental, RandomCases) {
  int run = 0;
  for (const Trial& one : random_trials(systems::lns(), 300)) run += expect_a_search_of_the_cpu(one, 1, plenty) ? 1 : 0;
  EXPECT_GT(run, 200);
}

TEST(LnsIncremental, AllStrategiesOnTwoHundredModels) {
  for (std::int64_t k = 0; k < 200; ++k)
    for (const Trial& one : trials_of_all_strategies(k)) expect_a_search_of_the_cpu(one, 1, plenty);
}

TEST(LnsIncremental, ThreadsThatWalkTogether) {
  for (std::int64_t k = 0; k < 12; ++k)
    for (const Trial& one : trials_of_all_strategies(k)) expect_a_search_of_the_cpu(one, 3, plenty);
}

TEST(LnsIncremental, ProgramsOfAllInstructions) {
  for (std::int64_t k = 0; k < 40; ++k)
    for (const Trial& one : trials_of_all_strategies(k)) expect_a_search_of_the_cpu(one, 1, 0);
}

TEST(LnsIncremental, KeptSumsAndDistances) {
  const cp::Problem problem(read_flatzinc(sums(1), "m.fzn"));
  const Instructions instructions(problem, false);
  EXPECT_EQ(instructions.sizes().sums, 3U);
  const InstructionsView view = instructions.view();
  EXPECT_EQ(std::count_if(view.all.instructions, view.all.instructions + view.count,
                          [](const Instruction& one) { return one.code == Code::distance; }),
            12);
  for (std::int64_t seed = 1; seed < 8; ++seed)
    for (const std::string& strategy : strategies())
      for (const char* start : {"random", "cp", "current"})
        for (const std::int32_t threads : {1, 3})
          EXPECT_TRUE(expect_a_search_of_the_cpu(trial(sums(seed), {{"strategy", strategy},
                                                                    {"start", start},
                                                                    {"released", std::int64_t{3}},
                                                                    {"subsets", std::int64_t{3}},
                                                                    {"starts", std::int64_t{5}},
                                                                    {"steps", std::int64_t{3}}}),
                                                 threads, plenty));
}

TEST(LnsIncremental, DistinctValues) {
  const cp::Problem problem(read_flatzinc(permutation(), "m.fzn"));
  for (const std::string& strategy : strategies())
    EXPECT_TRUE(expect_a_search_of_the_cpu(
        trial(permutation(), {{"strategy", strategy}, {"start", "current"}, {"released", std::int64_t{2}}, {"steps", std::int64_t{5}}}), 3,
        plenty));
}

}  // namespace
}  // namespace vicinity::lns
