#pragma once
// System `hunt`: a search for `vicinity solve`, as slow as a test wants. A number is the instance, its solution counts down from it: step k
// takes `microseconds` and finds size - k / 10, never below 0.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <thread>

#include "core/api/run.hpp"
#include "core/util/digest.hpp"
#include "core/util/error.hpp"

namespace vicinity::fake {

struct Quarry : Instance {
  std::int64_t size = 0;   ///< the worst solution
  std::int64_t start = 0;  ///< where searches begin
  [[nodiscard]] std::uint64_t hash() const override { return static_cast<std::uint64_t>(size); }
};

class Hunt : public Run {
 public:
  Hunt(const Quarry& quarry, const Case& c, bool infeasible)
      : quarry_(quarry),
        steps_(c.integer("steps", 1, 1'000'000)),
        pause_(c.integer_or("microseconds", 0, 0, 1'000'000)),
        infeasible_(infeasible) {}

  void reset(std::uint64_t seed) override {
    seed_ = seed;
    done_ = 0;
  }
  void execute() override {
    while (advance(1)) {
    }
  }
  [[nodiscard]] bool advance(double seconds) override {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (done_ < steps_) {
      if (pause_.count() > 0) std::this_thread::sleep_for(pause_);
      ++done_;
      if (std::chrono::steady_clock::now() > end) break;
    }
    return done_ < steps_;
  }
  [[nodiscard]] Times times() const override { return {{"kernel", 1e-3}}; }
  [[nodiscard]] Outcome outcome() override {
    Digest digest;
    digest.add(seed_);
    Outcome outcome;
    outcome.digest = digest.value();
    outcome.objective = std::max<std::int64_t>(0, quarry_.start - done_ / 10);
    outcome.feasible = !infeasible_;
    outcome.complaint = infeasible_ ? "it got away" : "";
    outcome.iterations = outcome.evaluations = done_;
    outcome.counters = {{"caught", done_ / 10}};
    outcome.solution = {static_cast<std::int32_t>(*outcome.objective)};
    return outcome;
  }

 private:
  const Quarry& quarry_;
  std::int64_t steps_;
  std::chrono::microseconds pause_;
  bool infeasible_;
  std::uint64_t seed_ = 0;
  std::int64_t done_ = 0;
};

/// The one whole number in a file.
inline std::int64_t number_in(const std::string& file) {
  std::ifstream in(file);
  std::int64_t number = 0;
  if (!in) throw InputError(file + ": cannot be opened");
  if (!(in >> number) || number < 0) throw InputError(file + ":1: not a number");
  return number;
}

inline Implementation hunter(const std::string& name, Backend backend = Backend::cpu) {
  return {name, backend, "a fake search", "nothing", [name](const Case& c, const Instance& instance) -> std::unique_ptr<Run> {
            if (name == "cpu-openmp") throw DoesNotFit("needs 1 TB");
            return std::make_unique<Hunt>(dynamic_cast<const Quarry&>(instance), c, name == "cpu-blind");
          }};
}

inline Solver hunt_solver() {
  Solver solver;
  solver.problem = "quarry";
  solver.format = "a number";
  solver.solution_suffix = ".caught";
  solver.work_axis = "steps";
  solver.unit = "steps";
  solver.default_work = 1000;
  solver.most_work = 1'000'000;
  solver.settings = {"microseconds"};
  solver.preference = {"gpu-tuned", "cpu-openmp"};
  solver.read = [](const std::string& file) {
    auto quarry = std::make_shared<Quarry>();
    quarry->size = quarry->start = number_in(file);
    return quarry;
  };
  solver.start_from = [](const Instance& instance, const std::string& file) {
    auto quarry = std::make_shared<Quarry>(dynamic_cast<const Quarry&>(instance));
    quarry->start = number_in(file);
    return quarry;
  };
  solver.objective_of = [](const Instance&, const std::string& file) { return number_in(file); };
  solver.solution_text = [](const Instance&, const Outcome& outcome) { return fmt::format("{}\n", outcome.solution.front()); };
  solver.size_text = [](const Instance& instance) { return fmt::format("from {}", dynamic_cast<const Quarry&>(instance).size); };
  solver.best_known = [](const Instance& instance) -> std::optional<std::int64_t> {
    const std::int64_t size = dynamic_cast<const Quarry&>(instance).size;
    return size % 2 == 0 ? std::optional(size / 2) : std::nullopt;
  };
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
  system.implementations = {hunter("cpu-serial"), hunter("cpu-openmp"), hunter("cpu-blind"), hunter("gpu-tuned", Backend::gpu)};
  system.solver = hunt_solver();
  return system;
}

}  // namespace vicinity::fake
