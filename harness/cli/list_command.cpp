#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <variant>

#include "build_info.hpp"
#include "core/api/device.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/text.hpp"
#include "harness/describe/descriptor.hpp"
#include "harness/describe/plan.hpp"
#include "harness/record/record.hpp"
#include "harness/solve/solve.hpp"
#include "systems/list.hpp"

namespace vicinity {
namespace {

namespace fs = std::filesystem;

bool runnable(const Implementation& implementation) {
  return implementation.absence.empty() && (implementation.backend == Backend::cpu || device::info().has_value());
}

/// What `vicinity solve` takes when nobody says which; empty when nothing can run here.
std::string default_implementation(const System& system) {
  const auto list = candidates(system, "", device::info().has_value());
  return list.empty() ? "" : list.front()->name;
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
          {"implementation", default_implementation(system)}};
}

void print_solver(const System& system) {
  if (!system.solver) return;
  const Solver& solver = *system.solver;
  fmt::print("  solve: vicinity solve {} --instance FILE --{} N\n", system.name, solver.work_axis);
  fmt::print("    reads {}{}, writes {}; default: {}, {} {}; --set: {}\n", solver.format,
             solver.families.empty() ? "" : fmt::format(" or a name of the catalogue ({})", join(solver.families)), solver.solution_suffix,
             default_implementation(system), solver.default_work, solver.work_axis, join(solver.settings));
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
                                       {"built", true},
                                       {"absence", i.absence},
                                       {"runnable", runnable(i)}});
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
    const std::string absence = !i.absence.empty() ? i.absence : runnable(i) ? "" : "built, but no GPU here";
    fmt::print("    {:<16} {}{}{}\n", i.name, i.summary, own, absence.empty() ? "" : fmt::format("  [{}]", absence));
  }
  if (!device::built()) fmt::print("    gpu, gpu-*       not built: no nvcc was found\n");
  print_solver(system);
}

void print_experiment(const Descriptor& descriptor) {
  std::vector<std::string> sizes;
  for (const auto& [name, profile] : descriptor.profiles)
    sizes.push_back(fmt::format("{} {}", name, expand(descriptor, profile, {}).size()));
  fmt::print("  {:<22} {}\n  {:<22} {}; cases: {}\n", descriptor.experiment, descriptor.title, "", descriptor.path, join(sizes));
}

/// A folder of the repository as it stands below the working directory, where it does.
fs::path nearer(const fs::path& folder) {
  const fs::path here = folder.lexically_relative(build::source_folder);
  return !here.empty() && *here.begin() != ".." && fs::is_directory(here) ? here : folder;
}

}  // namespace

std::vector<std::string> all_descriptors() {
  std::vector<fs::path> folders{build::source_folder};
  folders.insert(folders.end(), system_folders().begin(), system_folders().end());
  std::vector<std::string> paths;
  for (const fs::path& folder : folders) {
    const auto first = static_cast<std::ptrdiff_t>(paths.size());
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(nearer(folder / "experiments"), error)) {
      if (entry.path().extension() == ".yaml") paths.push_back(entry.path().string());
    }
    std::sort(paths.begin() + first, paths.end());
  }
  return paths;
}

std::string deviceless_note(const std::vector<std::string>& implementations) {
  const std::string why = device::built() ? "no GPU here" : "GPU code is not built";
  return fmt::format("{}: {}, rows come from recorded results", join(implementations), why);
}

int list_command(const Options& options, const std::vector<System>& systems) {
  std::vector<Descriptor> descriptors;
  for (const std::string& path : all_descriptors()) descriptors.push_back(load_descriptor(path, systems));
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
  const auto gpu = device::info();
  fmt::print("\nGPU: {}\n", gpu ? gpu->name : device::absence());
  fmt::print("\nexperiments (vicinity run PATH --profile smoke|quick|full):\n");
  for (const Descriptor& descriptor : descriptors) print_experiment(descriptor);
  return exit_ok;
}

}  // namespace vicinity
