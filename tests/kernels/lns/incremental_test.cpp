// `gpu-tuned` on the host: the functions of its kernels, by a team of one thread or of three, find what the CPU's walkers find.
#include "kernels/lns/incremental.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "data/generators/models.hpp"
#include "tests/support/lns_walkers.hpp"

namespace vicinity::lns {
namespace {

/// A search as tuned.cu has it: programs of the subsets and domains, walkers in stretches of one memory each, the best of them, the state
/// of the incumbent.
class TunedSearch {
 public:
  TunedSearch(const cp::Problem& problem, const Task& task, std::int32_t threads, std::size_t most_own)
      : host_(problem),
        task_(task),
        threads_(threads),
        instructions_(problem, permutes(task.search), most_own),
        view_(instructions_.view()),
        incumbent_(host_.first),
        costs_(static_cast<std::size_t>(task.walkers())),
        assignments_(costs_.size()) {
    std::vector<std::int32_t> values = host_.slots;
    EXPECT_EQ(problem.evaluation().evaluate(values), 0);
    base_ = instructions_.state_of(values);
    first_cost_ = cost_ = cost_of(problem.model(), values);
  }

  void step(std::uint64_t seed) {
    if (steps > 0 && steps % task_.steps == 0) {
      incumbent_ = host_.first;
      cost_ = first_cost_;
    }
    settle_base();
    constexpr std::int64_t stretches = 2;
    for (std::int64_t s = 0; s < stretches; ++s) walk(seed, s * task_.walkers() / stretches, (s + 1) * task_.walkers() / stretches);
    std::int64_t best = inconsistent, winner = std::numeric_limits<std::int64_t>::max();
    std::uint64_t tallies = 0;
    for (std::int64_t w = 0; w < task_.walkers(); ++w) {
      const std::int64_t found = costs_[static_cast<std::size_t>(w)];
      tallies += tally(w, found);
      if (found < best) best = found, winner = w;
    }
    for (const std::uint64_t word : {static_cast<std::uint64_t>(best), static_cast<std::uint64_t>(winner), tallies}) digest.add(word);
    if (best < cost_) {
      cost_ = best;
      const auto subset = host_.subset(task_, seed, steps, winner / task_.starts);
      for (std::size_t k = 0; k < subset.size(); ++k)
        incumbent_[static_cast<std::size_t>(subset[k])] = assignments_[static_cast<std::size_t>(winner)][k];
    }
    ++steps;
  }

  Digest digest;
  std::int64_t steps = 0, evaluations = 0, started = 0;

 private:
  void settle_base() {
    Together::do_all(threads_, [&](const auto& team) {
      ProgramEngine base(team, view_, reinterpret_cast<unsigned char*>(base_.data()));
      base.follow(incumbent_.data());
    });
    std::vector<std::int32_t> values = host_.slots;
    for (std::size_t k = 0; k < incumbent_.size(); ++k) values[static_cast<std::size_t>(host_.view.free.variables[k].slot)] = incumbent_[k];
    EXPECT_EQ(host_.problem.evaluation().evaluate(values), 0);
    EXPECT_EQ(base_, instructions_.state_of(values));
  }
  void walk(std::uint64_t seed, std::int64_t begin, std::int64_t end) {
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
        team.sync();
        if (team.rank() == 0) {
          costs_[static_cast<std::size_t>(w)] = result.cost;
          assignments_[static_cast<std::size_t>(w)].assign(mine.best, mine.best + task.released);
          evaluations += result.evaluations;
          started += result.started ? 1 : 0;
        }
        team.sync();
      }
    });
  }

  HostProblem host_;
  Task task_;
  std::int32_t threads_;
  Instructions instructions_;
  InstructionsView view_;
  std::vector<std::uint64_t> base_;
  std::vector<std::int32_t> incumbent_;
  std::vector<std::int64_t> costs_;
  std::vector<std::vector<std::int32_t>> assignments_;
  std::int64_t cost_ = 0, first_cost_ = 0;
};

/// Whether it was run.
bool expect_a_search_of_the_cpu(const Trial& one, std::int32_t threads, std::size_t most_own) {
  const auto& problem = dynamic_cast<const cp::Problem&>(*one.instance);
  const Task task = task_of(one.c, problem);
  if (first_solution(problem).empty() || !HostProblem(problem).on_the_device(task)) return false;
  const auto run = cpu_implementations()[1].prepare(one.c, *one.instance);
  run->reset(11);
  run->execute(Budget{.iterations = task.whole()});
  const Outcome expected = run->outcome();
  TunedSearch search(problem, task, threads, most_own);
  while (search.steps < task.whole()) search.step(11);
  Digest whole;
  EXPECT_EQ(search.digest.value(), run->trace().back().digest) << one.name;
  EXPECT_EQ(search.evaluations, expected.evaluations) << one.name;
  EXPECT_EQ(search.started, expected.counters.at("started")) << one.name;
  return true;
}

constexpr std::size_t plenty = std::size_t{1} << 23;

TEST(LnsIncremental, RandomCases) {
  EXPECT_EQ(cpu_implementations()[1].name, "cpu-openmp");
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
