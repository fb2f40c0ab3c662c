#pragma once
// System `hunt`: a search for `vicinity solve`, as slow as a test wants. A number is the instance, its solution counts down from it: step k
// takes `microseconds` and finds size - k / 10, never below 0.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "core/api/system.hpp"
#include "core/util/digest.hpp"
#include "core/util/error.hpp"
#include "systems/file_extras.hpp"

namespace vicinity::fake {

struct Quarry : Instance {
  std::int64_t size = 0;  ///< the worst solution, where searches begin
  [[nodiscard]] std::uint64_t hash() const override { return static_cast<std::uint64_t>(size); }
};

class Hunt : public Run {
 public:
  Hunt(const Quarry& quarry, const Case& c, bool infeasible, std::int64_t drifts_after = 1'000'000'000)
      : quarry_(quarry),
        steps_(c.integer("steps", 1, 1'000'000)),
        pause_(c.integer_or("microseconds", 0, 0, 100'000'000)),
        infeasible_(infeasible),
        drifts_after_(drifts_after) {}

  void reset(const Start& start) override {
    seed_ = start.seed;
    from_ = start.solution ? start.solution->front() : quarry_.size;
    done_ = 0;
    trace_.clear();
  }
  bool execute(const Budget& budget) override {
    if (const char* begun = std::getenv("FAKE_BEGUN")) std::ofstream{begun};  // tells a test that the search is under way
    const Stopwatch watch;
    while (done_ < steps_ && (!budget.iterations || done_ < *budget.iterations)) {
      if (pause_.count() > 0) std::this_thread::sleep_for(pause_);
      ++done_;
      if (reaches(budget) || (budget.seconds && watch.seconds() > *budget.seconds)) break;
    }
    reached_ = reaches(budget);
    trace_.push_back({.seconds = watch.seconds(), .iterations = done_, .objective = best(), .digest = digest()});
    return done_ < steps_;
  }
  [[nodiscard]] Times times() const override { return {{Part::kernel, {1e-3, TimeSource::host}}}; }
  [[nodiscard]] Outcome outcome() override {
    Outcome outcome;
    outcome.digest = digest();
    outcome.objective = best();
    outcome.feasible = !infeasible_;
    outcome.complaint = infeasible_ ? "it got away" : "";
    outcome.iterations = outcome.evaluations = done_;
    outcome.counters = {{"caught", done_ / 10}};
    outcome.solution = {static_cast<std::int32_t>(*outcome.objective)};
    return outcome;
  }

  [[nodiscard]] bool reached_target() const override { return reached_; }
  [[nodiscard]] Trace trace() const override { return trace_; }

 private:
  [[nodiscard]] bool reaches(const Budget& budget) const { return budget.target && Objective(best()).reaches(*budget.target); }
  [[nodiscard]] std::int64_t best() const { return std::max<std::int64_t>(0, from_ - done_ / 10); }
  [[nodiscard]] std::uint64_t digest() const {
    Digest digest;
    digest.add(seed_);
    digest.add(static_cast<std::uint64_t>(done_ > drifts_after_));
    return digest.value();
  }

  const Quarry& quarry_;
  std::int64_t steps_;
  std::chrono::microseconds pause_;
  bool infeasible_;
  std::int64_t drifts_after_;  ///< takes another path from then on
  std::uint64_t seed_ = 0;
  std::int64_t done_ = 0, from_ = 0;
  Trace trace_;
  bool reached_ = false;
};

/// The one whole number in a file.
inline std::int64_t number_in(const std::string& file) {
  std::ifstream in(file);
  std::int64_t number = 0;
  if (!in) throw InputError(file + ": cannot be opened");
  if (!(in >> number) || number < 0) throw InputError(file + ":1: not a number");
  return number;
}

/// `pace`: of the time a step takes by the case.
inline Implementation hunter(const std::string& name, Backend backend = Backend::cpu, double pace = 1) {
  return {name, backend, "a fake search", "nothing", [name, pace](const Case& c, const Instance& instance) -> std::unique_ptr<Run> {
            if (name == "cpu-openmp") throw DoesNotFit("needs 1 TB");
            Case paced = c;
            paced.values["microseconds"] = std::llround(pace * static_cast<double>(c.integer_or("microseconds", 0, 0, 100'000'000)));
            return std::make_unique<Hunt>(dynamic_cast<const Quarry&>(instance), paced, name == "cpu-blind",
                                          name == "cpu-drifting" ? 30 : 1'000'000'000);
          }};
}

class QuarryFiles final : public FileFormat, public FurtherSearches {
 public:
  [[nodiscard]] std::shared_ptr<const Instance> read(const std::string& file) const override {
    auto quarry = std::make_shared<Quarry>();
    quarry->size = number_in(file);
    return quarry;
  }
  [[nodiscard]] std::string problem_of(const Instance&) const override { return "quarry"; }
  [[nodiscard]] std::string size_of(const Instance& instance) const override { return fmt::format("from {}", size(instance)); }
  [[nodiscard]] std::optional<std::int64_t> best_known_of(const Instance& instance) const override {
    return size(instance) % 2 == 0 ? std::optional(size(instance) / 2) : std::nullopt;
  }
  [[nodiscard]] std::string solution_suffix(const Instance&) const override { return ".caught"; }
  [[nodiscard]] Solution read_solution(const Instance&, const std::string& file) const override {
    return {static_cast<std::int32_t>(number_in(file))};
  }
  [[nodiscard]] Objective objective_of(const Instance&, const Solution& solution) const override { return solution.front(); }
  [[nodiscard]] std::string text_of(const Instance&, const Solution& solution) const override {
    return fmt::format("{}\n", solution.front());
  }
  [[nodiscard]] Case further(const Case& c, const Instance&, const std::atomic<bool>&) const override { return c; }

 private:
  [[nodiscard]] static std::int64_t size(const Instance& instance) { return dynamic_cast<const Quarry&>(instance).size; }
};

inline Solver hunt_solver() {
  Solver solver;
  solver.files = std::make_shared<QuarryFiles>();
  solver.format = "a number";
  solver.solution_suffix = ".caught";
  solver.work_axis = "steps";
  solver.unit = "steps";
  solver.default_work = 1000;
  solver.most_work = 1'000'000;
  solver.settings = {"microseconds"};
  solver.preference = {"gpu-tuned", "cpu-openmp"};
  solver.whole_work = [](const Case& c) { return c.integer("steps", 1, 1'000'000); };
  return solver;
}

inline System hunt() {
  System system;
  system.name = "hunt";
  system.title = "a fake search";
  system.problems = {{"quarry", "a number", {{"steps", "how many"}, {"microseconds", "of a step"}}}};
  system.reference = "cpu-serial";
  system.instance = [](const Case&) -> std::shared_ptr<const Instance> { throw InputError("only from files"); };
  system.implementations = {hunter("cpu-serial"), hunter("cpu-openmp"), hunter("cpu-blind"), hunter("cpu-drifting"),
                            hunter("gpu-tuned", Backend::gpu)};
  system.solver = hunt_solver();
  return system;
}

}  // namespace vicinity::fake
