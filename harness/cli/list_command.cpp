#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "core/api/device.hpp"
#include "core/util/error.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/experiments.hpp"
#include "harness/cli/text.hpp"
#include "harness/describe/descriptor.hpp"
#include "harness/describe/plan.hpp"
#include "harness/record/environment.hpp"
#include "harness/record/record.hpp"
#include "harness/solve/solve.hpp"

namespace vicinity {
namespace {

/// What `vicinity solve` takes when nobody says which: a list for each result, of which the first that takes the instance is meant.
std::vector<std::vector<std::string>> default_implementations(const System& system) {
  std::vector<std::vector<std::string>> groups;
  const Implementation* before = nullptr;
  for (const Implementation* i : candidates(system, "", device::info().has_value())) {
    if (before == nullptr || i->reference != before->reference) groups.emplace_back();
    if (groups.back().empty() || !(i->pace ? i->pace->anytime : system.solver->anytime)) groups.back().push_back(i->name);
    before = i;
  }
  return groups;
}

std::string default_text(const System& system) {
  std::vector<std::string> texts;
  for (const auto& names : default_implementations(system)) texts.push_back((names.size() > 1 ? "the fastest here of " : "") + join(names));
  return fmt::format("{}", fmt::join(texts, "; else "));
}

Json solver_json(const System& system) {
  if (!system.solver) return nullptr;
  const Solver& solver = *system.solver;
  return {{"format", solver.format},
          {"families", solver.families},
          {"solution_suffix", solver.solution_suffix},
          {"work_axis", solver.work_axis},
          {"unit", solver.unit},
          {"default_work", solver.default_work},
          {"settings", solver.settings},
          {"implementations", default_implementations(system)}};
}

void print_solver(const System& system) {
  if (!system.solver) return;
  const Solver& solver = *system.solver;
  fmt::print("  solve: vicinity solve {} --instance FILE --{} N\n", system.name, solver.work_axis);
  fmt::print("    reads {}{}, writes {}; default: {}, {} {}; --set: {}\n", solver.format,
             solver.families.empty() ? "" : fmt::format(" or a name of the catalogue ({})", join(solver.families)), solver.solution_suffix,
             default_text(system), solver.default_work, solver.work_axis, join(solver.settings));
}

Json system_json(const System& system) {
  Json json{{"name", system.name},
            {"title", system.title},
            {"reference", system.reference},
            {"problems", Json::array()},
            {"implementations", Json::array()},
            {"solver", solver_json(system)}};
  for (const Problem& problem : system.problems) {
    Json axes = Json::array();
    for (const Axis& axis : problem.axes) axes.push_back({{"name", axis.name}, {"meaning", axis.meaning}});
    json["problems"].push_back({{"name", problem.name}, {"meaning", problem.meaning}, {"axes", axes}});
  }
  for (const Implementation& i : system.implementations) {
    json["implementations"].push_back({{"name", i.name},
                                       {"backend", i.backend == Backend::gpu ? "gpu" : "cpu"},
                                       {"summary", i.summary},
                                       {"limit", i.limit},
                                       {"reference", i.reference.empty() ? system.reference : i.reference},
                                       {"sources", sources_of(system.name, i.name)},
                                       {"built", true},
                                       {"absence", i.absence},
                                       {"over_ranks", i.over_ranks},
                                       {"runnable", runs_here(i, device::info().has_value())}});
  }
  return json;
}

Json experiment_json(const Descriptor& descriptor) {
  Json json{{"experiment", descriptor.experiment},
            {"title", descriptor.title},
            {"paper", descriptor.paper},
            {"path", descriptor.path},
            {"cases", Json::object()}};
  for (const auto& [name, profile] : descriptor.profiles) json["cases"][name] = expand(descriptor, profile, {}).size();
  json["implementations"] = descriptor.profiles.at("full").implementations;
  json["watched"] = Json::object();
  for (const auto& [tool, watch] : descriptor.watched) {
    Json set = Json::object();
    for (const auto& [axis, value] : watch.set) set[axis] = to_json(value);
    json["watched"][tool] = {{"leave_out", watch.leave_out}, {"set", set}, {"note", watch.note}};
  }
  return json;
}

void print_system(const System& system) {
  fmt::print("{}: {}\n", system.name, system.title);
  for (const Problem& problem : system.problems) {
    fmt::print("  problem {}: {}\n", problem.name, problem.meaning);
    for (const Axis& axis : problem.axes) fmt::print("    {:<16} {}\n", axis.name, axis.meaning);
  }
  fmt::print("  implementations (compared with {}):\n", system.reference);
  for (const Implementation& i : system.implementations) {
    const std::string own = i.reference.empty() ? "" : fmt::format(" (compared with {})", i.reference);
    const std::string absence = !i.absence.empty() ? i.absence : runs_here(i, device::info().has_value()) ? "" : "built, but no GPU here";
    fmt::print("    {:<16} {}{}{}\n", i.name, i.summary, own, absence.empty() ? "" : fmt::format("  [{}]", absence));
  }
  if (!device::built()) fmt::print("    gpu-*, mpi-gpu-* {}\n", device::absence());
  print_solver(system);
}

void print_experiment(const Descriptor& descriptor) {
  std::vector<std::string> sizes;
  for (const auto& [name, profile] : descriptor.profiles)
    sizes.push_back(fmt::format("{} {}", name, expand(descriptor, profile, {}).size()));
  fmt::print("  {:<22} {}\n  {:<22} {}; cases: {}\n", descriptor.experiment, descriptor.title, "", descriptor.path, join(sizes));
}

/// The systems and the descriptors of these names: a system's has all of its experiments, `system/name` is one. All without any name.
/// Throws InputError for one that is neither.
std::pair<std::vector<System>, std::vector<std::string>> chosen(const std::vector<std::string>& names, const std::vector<System>& systems) {
  std::vector<std::string> paths = all_descriptors();
  if (names.empty()) return {systems, paths};
  const auto named = [&](const std::string& name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  std::vector<std::string> known = system_names(systems);
  const std::string allowed = join(known);
  for (const std::string& path : paths) known.push_back(experiment_name(path));
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const auto meant = nearest(name, known);
    throw InputError(
        fmt::format("no system or experiment '{}'; {}systems: {}", name, meant ? fmt::format("did you mean '{}'? ", *meant) : "", allowed));
  }
  std::vector<System> own;
  std::copy_if(systems.begin(), systems.end(), std::back_inserter(own), [&](const System& system) { return named(system.name); });
  std::erase_if(paths, [&](const std::string& path) {
    const std::string name = experiment_name(path);
    return !named(name) && !named(name.substr(0, name.find('/')));
  });
  return {own, paths};
}

}  // namespace

std::string deviceless_note(const std::vector<std::string>& implementations) {
  const std::string why = device::built() ? "no GPU here" : "GPU code is not built";
  return fmt::format("{}: {}, rows come from recorded results", join(implementations), why);
}

int list_command(const Options& options, const std::vector<System>& all_systems) {
  const auto [systems, paths] = chosen(options.names, all_systems);
  if (options.only_names) {
    for (const std::string& path : paths) fmt::print("{}\n", experiment_name(path));
    return exit_ok;
  }
  std::vector<Descriptor> descriptors;
  for (const std::string& path : paths) descriptors.push_back(load_descriptor(path, all_systems));
  if (options.json) {
    Json json{{"schema", 1},
              {"gpu_built", device::built()},
              {"gpu", device::info().has_value()},
              {"systems", Json::array()},
              {"experiments", Json::array()}};
    for (const System& system : systems) json["systems"].push_back(system_json(system));
    for (const Descriptor& descriptor : descriptors) json["experiments"].push_back(experiment_json(descriptor));
    fmt::print("{}\n", json.dump(2));
    return exit_ok;
  }
  for (const System& system : systems) print_system(system);
  if (options.names.empty()) {
    const auto gpu = device::info();
    fmt::print("\nGPU: {}\n", gpu ? gpu->name : device::absence());
  }
  if (!descriptors.empty()) fmt::print("{}experiments (vicinity run NAME --profile smoke|quick|full):\n", systems.empty() ? "" : "\n");
  for (const Descriptor& descriptor : descriptors) print_experiment(descriptor);
  return exit_ok;
}

}  // namespace vicinity
