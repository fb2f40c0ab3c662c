#include "harness/solve/solve.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>

#include "core/util/error.hpp"
#include "harness/record/recorder.hpp"
#include "harness/solve/solve_progress.hpp"
#include "harness/solve/solve_report.hpp"
#include "tests/harness/fake_system.hpp"
#include "tests/support/scratch.hpp"

namespace vicinity {
namespace {

const System& hunt() { return fake::systems().back(); }

/// What a call complains of.
template <class Call>
std::string complaint(Call call) {
  try {
    static_cast<void>(call());
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

fake::Quarry quarry(std::int64_t size) {
  fake::Quarry quarry;
  quarry.size = size;
  return quarry;
}

Case hunting(std::int64_t steps, std::int64_t microseconds) { return {"quarry", "", {{"steps", steps}, {"microseconds", microseconds}}}; }

struct Watcher : SearchObserver {
  void on_progress(Run& run, double) override { iterations.push_back(run.outcome().iterations); }
  std::vector<std::int64_t> iterations;
};

TEST(SolveSystem, MustSearch) {
  EXPECT_EQ(solvable_system(fake::systems(), "hunt").name, "hunt");
  EXPECT_EQ(complaint([] { return solvable_system(fake::systems(), "fake").name; }),
            "system 'fake' does not search for a solution; allowed: hunt");
  EXPECT_EQ(complaint([] { return solvable_system(fake::systems(), "hund").name; }),
            "unknown system 'hund'; did you mean 'hunt'? allowed: hunt");
}

TEST(SolveWork, IsAWholeNumberHoweverWritten) {
  EXPECT_EQ(parse_work("--steps", "100000000", 1'000'000'000), 100'000'000);
  EXPECT_EQ(parse_work("--steps", "1e8", 1'000'000'000), 100'000'000);
  EXPECT_EQ(parse_work("--steps", "2.5e6", 1'000'000'000), 2'500'000);
  for (const char* bad : {"0", "-1", "2.5", "1e10", "x", "", "1e8x", "inf", "nan", "1e300"})
    EXPECT_TRUE(
        complaint([&] { return parse_work("--steps", bad, 1'000'000'000); }).starts_with("--steps: '" + std::string(bad) + "' is not"))
        << bad;
}

TEST(SolveCase, TakesSettingsOfTheSolverOnly) {
  const Solver& solver = *hunt().solver;
  EXPECT_EQ(case_of(solver, {"microseconds=2e3"}).integer("microseconds", 0, 10'000), 2000);
  EXPECT_EQ(complaint([&] { return case_of(solver, {"microsecond=1"}); }),
            "--set: unknown axis 'microsecond'; did you mean 'microseconds'? allowed: microseconds");
  EXPECT_EQ(complaint([&] { return case_of(solver, {"steps=1"}); }), "--set: steps has an option of its own: --steps");
  EXPECT_EQ(complaint([&] { return case_of(solver, {"seed=1"}); }), "--set: seed has an option of its own: --seed");
  EXPECT_EQ(complaint([&] { return case_of(solver, {"microseconds=1", "microseconds=2"}); }), "--set: microseconds is given twice");
  for (const char* bad : {"microseconds", "=1", "microseconds="})
    EXPECT_EQ(complaint([&] { return case_of(solver, {bad}); }), "--set: '" + std::string(bad) + "' is not of the form axis=value");
}

TEST(SolveImplementation, PrefersTheFirstThatCanRun) {
  const auto names = [](bool has_device) {
    std::vector<std::string> list;
    for (const Implementation* i : candidates(hunt(), "", has_device)) list.push_back(i->name);
    return list;
  };
  EXPECT_EQ(names(true), (std::vector<std::string>{"gpu-tuned", "cpu-openmp", "cpu-serial"}));
  EXPECT_EQ(names(false), (std::vector<std::string>{"cpu-openmp", "cpu-serial"}));
  const auto instance = quarry(10);
  EXPECT_EQ(prepare_first(candidates(hunt(), "", false), hunting(1, 0), instance).implementation->name,
            "cpu-serial");  // cpu-openmp does not fit
  EXPECT_THROW(static_cast<void>(prepare_first(candidates(hunt(), "cpu-openmp", false), hunting(1, 0), instance)), DoesNotFit);
  EXPECT_THROW(static_cast<void>(prepare_first(candidates(hunt(), "", false), hunting(-1, 0), instance)), InputError);
}

TEST(SolveImplementation, TheFastestHereGoesFirst) {
  const std::vector<Implementation> all{fake::hunter("cpu-openmp"), fake::hunter("cpu-serial"),
                                        fake::hunter("cpu-quick", Backend::cpu, 0.25)};
  const auto instance = quarry(100);
  std::vector<std::string> names;
  for (const Implementation* i : fastest_first({&all[0], &all[1], &all[2]}, *hunt().solver, hunting(1'000'000, 2000), instance, 1, 0.02))
    names.push_back(i->name);
  EXPECT_EQ(names, (std::vector<std::string>{"cpu-quick", "cpu-serial", "cpu-openmp"}));  // cpu-openmp does not fit
}

/// Its set-up ends only when it is asked to.
class EndlessSetUp final : public fake::Hunt {
 public:
  using Hunt::Hunt;
  bool execute(const Budget& budget) override {
    while (!*budget.stop) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return true;
  }
};

TEST(SolveImplementation, WhatMakesNoMoveInItsTrialGoesLast) {
  Implementation endless = fake::hunter("cpu-openmp");
  endless.prepare = [](const Case& c, const Instance& instance) {
    return std::make_unique<EndlessSetUp>(dynamic_cast<const fake::Quarry&>(instance), c, false);
  };
  const Implementation other = fake::hunter("cpu-serial");
  const auto instance = quarry(100);
  const auto first_of = [&](const std::vector<const Implementation*>& twins) {
    return fastest_first(twins, *hunt().solver, hunting(1'000'000, 10), instance, 1, 0.02).front()->name;
  };
  EXPECT_EQ(first_of({&endless, &other}), "cpu-serial");
  EXPECT_EQ(first_of({&endless, &endless}), "cpu-openmp");
}

TEST(SolveImplementation, NamedMustBeAbleToRun) {
  EXPECT_EQ(candidates(hunt(), "cpu-blind", false).size(), 1U);
  EXPECT_TRUE(complaint([] { return candidates(hunt(), "cpu-seril", false); }).find("did you mean 'cpu-serial'?") != std::string::npos);
  EXPECT_THROW(static_cast<void>(candidates(hunt(), "gpu-tuned", false)), EnvironmentError);
}

TEST(SolveSearch, GoesToTheEnd) {
  const auto instance = quarry(100);
  fake::Hunt run(instance, hunting(500, 0), false);
  Watcher watcher;
  const Found found = search(run, 7, std::nullopt, std::nullopt, watcher);
  EXPECT_EQ(found.stop, Stop::done);
  EXPECT_EQ(found.outcome.iterations, 500);
  EXPECT_EQ(found.outcome.objective, 50);
}

TEST(SolveSearch, StopsWhenTheTimeIsOver) {
  const auto instance = quarry(1'000'000);
  fake::Hunt run(instance, hunting(1'000'000, 1000), false);
  Watcher watcher;
  const Found found = search(run, 1, 1.0, std::nullopt, watcher);
  EXPECT_EQ(found.stop, Stop::time);
  EXPECT_GE(found.seconds, 1);
  EXPECT_GT(found.outcome.iterations, 0);
  EXPECT_LT(found.outcome.iterations, 1100);  // of a millisecond or more
  ASSERT_FALSE(watcher.iterations.empty());   // slices
  EXPECT_LT(watcher.iterations.front(), found.outcome.iterations);
  EXPECT_DOUBLE_EQ(found.speed(), static_cast<double>(found.outcome.iterations) / found.seconds);
}

TEST(SolveSearch, StopsAtTheTarget) {
  const auto instance = quarry(100);
  fake::Hunt run(instance, hunting(500, 0), false);
  Watcher watcher;
  const Found found = search(run, {1, Solution{90}}, std::nullopt, 80, watcher);
  EXPECT_EQ(found.stop, Stop::target);
  EXPECT_EQ(found.outcome.objective, 80);
  EXPECT_EQ(found.outcome.iterations, 100);
  EXPECT_EQ(run.trace().back().objective, 80);
}

TEST(SolveSearch, StopsBeforeTheFirstIterationWhereThatReachesTheTarget) {
  const auto instance = quarry(100);
  fake::Hunt run(instance, hunting(500, 0), false);
  Watcher watcher;
  const Found found = search(run, {1, Solution{80}}, std::nullopt, 80, watcher, true);
  EXPECT_EQ(found.stop, Stop::target);
  EXPECT_EQ(found.outcome.iterations, 0);
  const Found further = search(run, {1, Solution{81}}, std::nullopt, 80, watcher, true);
  EXPECT_EQ(further.stop, Stop::target);
  EXPECT_EQ(further.outcome.iterations, 10);
  EXPECT_EQ(search(run, {1, Solution{80}}, std::nullopt, 80, watcher).outcome.iterations, 1);  // as on a GPU
}

TEST(SolveSearch, WorksALittleEvenWithoutTime) {
  const auto instance = quarry(100);
  fake::Hunt run(instance, hunting(500, 1000), false);
  Watcher watcher;
  const Found found = search(run, 1, -1, std::nullopt, watcher);
  EXPECT_EQ(found.stop, Stop::time);
  EXPECT_GT(found.outcome.iterations, 0);
}

TEST(SolveSearch, WorkThatFitsTheTime) {
  const auto instance = quarry(1'000'000);
  const auto fitting = [&](double seconds) {
    return work_within(seconds, *hunt().solver, hunt().implementations.front(), hunting(1, 1000), instance, 1);
  };
  const std::int64_t work = fitting(1);  // a step takes a millisecond, and the sleep's own delay
  EXPECT_GT(work, 10);
  EXPECT_LT(work, 900);
  const std::int64_t tiny = fitting(1e-4);  // less than a single step
  EXPECT_GE(tiny, 1);
  EXPECT_LE(tiny, 2);
}

TEST(SolveText, Gap) {
  EXPECT_DOUBLE_EQ(*gap_percent(101, 100), 1);
  EXPECT_DOUBLE_EQ(*gap_percent(99, 100), -1);
  EXPECT_DOUBLE_EQ(*gap_percent(-90, -100), 10);
  EXPECT_DOUBLE_EQ(*gap_percent(0, 0), 0);
  EXPECT_FALSE(gap_percent(1, 0).has_value());
  EXPECT_FALSE(gap_percent(1, std::nullopt).has_value());
  EXPECT_DOUBLE_EQ(*gap_percent({99, Sense::maximise}, 100), 1);
  EXPECT_FALSE(gap_percent(Objective(), 1).has_value());
}

TEST(SolveText, ProgressSaysTheNearerEnd) {
  Outcome outcome;
  outcome.iterations = 25'000'000;
  outcome.objective = 101;
  EXPECT_EQ(progress_text({100'000'000, "proposals", std::nullopt, 100}, outcome, 10),
            " 25 %, 0:30 left, best 101 (gap 1.00 %), 2.5 M proposals/s");
  EXPECT_EQ(progress_text({100'000'000, "proposals", 20, std::nullopt}, outcome, 10), " 50 %, 0:10 left, best 101, 2.5 M proposals/s");
}

TEST(SolveText, ProgressSaysWhatPeopleAskOfTheSolution) {
  class Length final : public SolutionWords {
    [[nodiscard]] std::string words_of(const Solution& solution) const override { return std::to_string(solution.size()) + " numbers"; }
  } length;
  Outcome outcome;
  outcome.iterations = 50;
  outcome.objective = 7;
  SolveGoal goal{.whole_work = 100, .unit = "calls", .seconds = {}, .best_known = {}, .words = &length};
  EXPECT_EQ(progress_text(goal, outcome, 10), " 50 %, 0:10 left, best 7, 5 calls/s") << "no solution yet";
  outcome.solution = {1, 2, 3};
  EXPECT_EQ(progress_text(goal, outcome, 10), " 50 %, 0:10 left, best 7, 3 numbers, 5 calls/s");
}

SolveReport report_of(Stop stop, std::int64_t done) {
  SolveReport report;
  report.system = &hunt();
  report.implementation = &hunt().implementations.front();
  report.instance = "some/deer.txt";
  report.size = "from 100";
  report.c = hunting(500, 3);
  report.seed = 9;
  report.whole_work = 500;
  report.best_known = 50;
  report.found.stop = stop;
  report.found.seconds = 2;
  report.found.outcome.iterations = done;
  report.found.outcome.objective = 60;
  report.found.outcome.feasible = true;
  report.found.outcome.solution = {60};
  report.output = "deer.caught";
  return report;
}

TEST(SolveText, Summary) {
  EXPECT_EQ(summary_text(report_of(Stop::done, 500)),
            "instance        some/deer.txt (from 100)\n"
            "implementation  cpu-serial, seed 9\n"
            "best found      60 (gap 20.00 %)\n"
            "best known      50\n"
            "steps           500\n"
            "time            2 s, 250 steps/s\n"
            "solution        deer.caught\n");
  SolveReport report = report_of(Stop::signal, 400);
  report.best_known.reset();
  report.start = "old.caught";
  report.start_objective = 70;
  report.output_kept = 55;
  const std::string text = summary_text(report);
  EXPECT_NE(text.find("start           70 (old.caught)\n"), std::string::npos);
  EXPECT_NE(text.find("steps           400 of 500: INTERRUPTED\n"), std::string::npos);
  EXPECT_NE(text.find("deer.caught keeps its own, which costs 55"), std::string::npos);
  EXPECT_EQ(text.find("best known"), std::string::npos);
  EXPECT_NE(summary_text(report_of(Stop::time, 400)).find("400 of 500: stopped by --time"), std::string::npos);
}

TEST(SolveText, Json) {
  const Json json = summary_json(report_of(Stop::signal, 400));
  EXPECT_EQ(json["steps"], 500);
  EXPECT_EQ(json["steps_chosen_by"], "default");
  EXPECT_EQ(json["asked"], 500);
  EXPECT_EQ(json["done"], 400);
  EXPECT_EQ(json["interrupted"], true);
  EXPECT_EQ(json["gap_percent"], 20);
  EXPECT_EQ(json["settings"], Json({{"microseconds", 3}}));
  EXPECT_EQ(json["solution"], Json::array({60}));
  EXPECT_TRUE(json["start"].is_null());
}

}  // namespace
}  // namespace vicinity
