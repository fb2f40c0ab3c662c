#include "systems/lsm_solver.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "core/methods/lsm/task.hpp"
#include "data/formats/qaplib.hpp"
#include "data/formats/tsplib.hpp"
#include "data/qaps.hpp"

namespace vicinity::lsm {
namespace {

/// qap(...) or tsp(...), whichever the instance is.
template <class OfQap, class OfTsp>
auto by_problem(const Instance& instance, const OfQap& of_qap, const OfTsp& of_tsp) {
  if (const auto* qap = dynamic_cast<const qap::Qap*>(&instance)) return of_qap(*qap);
  return of_tsp(dynamic_cast<const tsp::Tsp&>(instance));
}

std::shared_ptr<const Instance> read_instance(const std::string& file) {
  const std::filesystem::path path(file);
  if (path.extension() == ".tsp") return std::make_shared<tsp::Tsp>(read_tsplib(path));
  return std::make_shared<qap::Qap>(read_qaplib(path));
}

std::shared_ptr<const Instance> started_from(const Instance& instance, const std::filesystem::path& file) {
  return by_problem(
      instance,
      [&](const qap::Qap& qap) -> std::shared_ptr<const Instance> {
        auto started = std::make_shared<qap::Qap>(qap);
        started->start = read_qaplib_solution(file, qap).permutation;
        return started;
      },
      [&](const tsp::Tsp& tsp) -> std::shared_ptr<const Instance> {
        auto started = std::make_shared<tsp::Tsp>(tsp);
        started->start = read_tsplib_tour(file, tsp);
        return started;
      });
}

}  // namespace

Solver solver() {
  Solver solver;
  solver.families = {"qaplib", "tsplib", "tsp-uniform"};
  solver.format = "QAPLIB .dat, TSPLIB .tsp";
  solver.solution_suffix = ".sln, .tour";
  solver.work_axis = "iterations";
  solver.unit = "moves";
  solver.default_work = 100'000;
  solver.most_work = local_search::most_iterations;
  solver.settings = {"neighborhood", "method", "tenure", "restarts", "threads"};
  solver.preference = {"gpu-tuned", "cpu-openmp", "cpu-serial"};
  solver.read = read_instance;
  solver.variant_of = [](const Instance& instance) {
    return Solver::Variant{problem_of(instance), problem_of(instance) == "tsp" ? ".tour" : ".sln"};
  };
  solver.start_from = [](const Instance& instance, const std::string& file) { return started_from(instance, file); };
  solver.objective_of = [](const Instance& instance, const std::string& file) {
    const std::filesystem::path path(file);
    return by_problem(
        instance, [&](const qap::Qap& qap) { return read_qaplib_solution(path, qap).objective; },
        [&](const tsp::Tsp& tsp) { return tsp::length(tsp, read_tsplib_tour(path, tsp)); });
  };
  solver.solution_text = [](const Instance& instance, const Outcome& outcome) {
    return by_problem(
        instance, [&](const qap::Qap& qap) { return qaplib_solution_text(qap, outcome.solution); },
        [&](const tsp::Tsp& tsp) { return tsplib_tour_text(tsp, outcome.solution); });
  };
  solver.size_text = [](const Instance& instance) {
    return by_problem(
        instance,
        [](const qap::Qap& qap) { return fmt::format("{} facilities, {}", qap.size(), qap.symmetric() ? "symmetric" : "asymmetric"); },
        [](const tsp::Tsp& tsp) { return fmt::format("{} cities", tsp.size()); });
  };
  solver.best_known = [](const Instance& instance) {
    return by_problem(
        instance, [](const qap::Qap& qap) { return best_known_of(qap); }, [](const tsp::Tsp& tsp) { return best_known_of(tsp); });
  };
  solver.whole_work = [](const Case& c) {
    const local_search::Task task = task_of(c);
    return task.limit() * task.restarts;
  };
  return solver;
}

}  // namespace vicinity::lsm
