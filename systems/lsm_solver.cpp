#include "systems/lsm_solver.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "core/methods/lsm/task.hpp"
#include "data/formats/qaplib.hpp"
#include "data/formats/tsplib.hpp"
#include "data/qaps.hpp"
#include "data/search_path.hpp"
#include "systems/file_extras.hpp"

namespace vicinity::lsm {
namespace {

/// qap(...) or tsp(...), whichever the instance is.
template <class OfQap, class OfTsp>
auto by_problem(const Instance& instance, const OfQap& of_qap, const OfTsp& of_tsp) {
  if (const auto* qap = dynamic_cast<const qap::Qap*>(&instance)) return of_qap(*qap);
  return of_tsp(dynamic_cast<const tsp::Tsp&>(instance));
}

template <class OfAny>
auto by_problem(const Instance& instance, const OfAny& of_any) {
  return by_problem(instance, of_any, of_any);
}

class Files final : public FileFormat, public NamedSolutions, public EndlessSearches, public FurtherSearches {
 public:
  [[nodiscard]] std::shared_ptr<const Instance> read(const std::string& file) const override {
    const std::filesystem::path path(file);
    if (has_suffix(path, ".tsp")) return std::make_shared<tsp::Tsp>(read_tsplib(path));
    return std::make_shared<qap::Qap>(read_qaplib(path));
  }
  [[nodiscard]] std::string problem_of(const Instance& instance) const override { return lsm::problem_of(instance); }
  [[nodiscard]] std::string size_of(const Instance& instance) const override {
    return by_problem(
        instance, [](const qap::Qap& qap) { return size_text(qap); },
        [](const tsp::Tsp& tsp) { return fmt::format("{} cities", tsp.size()); });
  }
  [[nodiscard]] std::optional<std::int64_t> best_known_of(const Instance& instance) const override {
    return by_problem(instance, [](const auto& problem) { return vicinity::best_known_of(problem); });
  }
  [[nodiscard]] std::string solution_suffix(const Instance& instance) const override {
    return lsm::problem_of(instance) == "tsp" ? ".tour" : ".sln";
  }
  [[nodiscard]] Solution read_solution(const Instance& instance, const std::string& file) const override {
    const std::filesystem::path path(file);
    return by_problem(
        instance, [&](const qap::Qap& qap) { return read_qaplib_solution(path, qap).permutation; },
        [&](const tsp::Tsp& tsp) { return read_tsplib_tour(path, tsp); });
  }
  [[nodiscard]] std::string of_another(const Instance& instance, const std::string& file) const override {
    return by_problem(
        instance, [](const qap::Qap&) { return std::string(); }, [&](const tsp::Tsp& tsp) { return tsplib_tour_of_another(file, tsp); });
  }
  [[nodiscard]] Objective objective_of(const Instance& instance, const Solution& solution) const override {
    return by_problem(
        instance, [&](const qap::Qap& qap) { return qap::cost(qap, solution); },
        [&](const tsp::Tsp& tsp) { return tsp::length(tsp, solution); });
  }
  [[nodiscard]] std::string text_of(const Instance& instance, const Solution& solution) const override {
    return by_problem(
        instance, [&](const qap::Qap& qap) { return qaplib_solution_text(qap, solution); },
        [&](const tsp::Tsp& tsp) { return tsplib_tour_text(tsp, solution); });
  }
  /// Several tabu searches share the time, by a plan. A hill climbing ends by itself.
  [[nodiscard]] bool endless(const Case& c) const override {
    const local_search::Task task = task_of(c);
    return task.restarts == 1 || task.method == local_search::Method::hill;
  }
  /// One: from the same start all would make the same moves.
  [[nodiscard]] Case further(const Case& c, const Instance&, const std::atomic<bool>&) const override {
    Case further = c;
    further.values["restarts"] = std::int64_t{1};
    return further;
  }
};

}  // namespace

Solver solver() {
  Solver solver;
  solver.files = std::make_shared<Files>();
  solver.families = {"qaplib", "tsplib", "tsp-uniform"};
  solver.format = "QAPLIB .dat, TSPLIB .tsp";
  solver.solution_suffix = ".sln, .tour";
  solver.work_axis = "iterations";
  solver.unit = "moves";
  solver.default_work = 100'000;
  solver.most_work = local_search::most_iterations;
  solver.settings = {"neighborhood", "method", "tenure", "restarts", "threads", "ranks", "walkers", "kicks"};
  solver.preference = {"cpu-ils", "gpu-tuned", "cpu-openmp", "cpu-serial"};
  solver.whole_work = [](const Case& c) {
    const local_search::Task task = task_of(c);
    return task.limit() * task.restarts;
  };
  return solver;
}

}  // namespace vicinity::lsm
