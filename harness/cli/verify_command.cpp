#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include "core/api/device.hpp"
#include "core/util/digest.hpp"
#include "core/util/error.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/experiments.hpp"
#include "harness/cli/text.hpp"
#include "harness/measure/measurement.hpp"
#include "harness/record/environment.hpp"
#include "harness/record/recorder.hpp"

namespace vicinity {
namespace {

/// Outcome of one group of comparisons.
struct Tally {
  std::string name;
  std::string sources;  ///< of the system
  std::vector<std::string> implementations;
  int cases = 0, comparisons = 0, failed = 0, skipped = 0;
  Digest digest;  ///< of all outcomes: equal before and after a change that must not change results
};

class Verifier {
 public:
  Verifier(const Options& options, const std::vector<System>& systems)
      : options_(options), has_device_(device::info().has_value()), settings_(parse_settings(options.settings, systems)) {}

  void experiment(const std::string& path, const std::vector<System>& systems) {
    const Descriptor descriptor = load_descriptor(path, systems);
    if (options_.descriptors.empty() && !options_.system.empty() && descriptor.system->name != options_.system) return;
    const Profile& profile = descriptor.profile(options_.profile);
    const Plan plan = make_plan(descriptor, profile, {options_.implementations, parse_where(options_.where)}, has_device_);
    note_deviceless(plan.deviceless);
    for (const std::string& note : plan.absent) print_stderr("{}\n", note);
    begin(*descriptor.system, fmt::format("twins {} {}", descriptor.experiment, options_.profile));
    Referee referee(*descriptor.system, descriptor.check);
    std::string previous;
    for (Job job : plan.jobs) {
      set(*descriptor.system, job.asked);
      set(*descriptor.system, job.executed);
      if (job.asked.key() != previous) ++tally().cases;
      previous = job.asked.key();
      compare(referee, job, "");
    }
    finish();
  }

  /// Implementations over ranks that nobody asked for take one case in so many.
  static constexpr int cases_a_launch_of_ranks = 10;

  void random(const System& system, int cases, std::uint64_t seed) {
    const std::vector<const Implementation*> implementations = runnable(system);
    const bool asked_for = !options_.implementations.empty();
    begin(system, fmt::format("twins random {}", system.name));
    for (int index = 0; index < cases; ++index) {
      const std::uint64_t own_seed = seed + static_cast<std::uint64_t>(index);
      Referee referee(system, {.kind = Check::Kind::identical, .tolerance = 0, .iterations = 0, .reference = system.reference});
      Case c = system.random_case(own_seed);
      set(system, c);
      ++tally().cases;
      say_where(index, cases);
      std::string again = fmt::format(" (again: vicinity verify --system {} --random 1 --seed {}", system.name, own_seed);
      for (const std::string& setting : options_.settings) again += " --set " + setting;
      again += ")";
      for (const Implementation* implementation : implementations) {
        if (implementation->over_ranks && !asked_for && index % cases_a_launch_of_ranks != 0) continue;
        const Job job{.asked = c, .executed = c, .scaling = std::nullopt, .implementation = implementation, .seed = own_seed};
        compare(referee, job, again);
      }
    }
    finish();
  }

  [[nodiscard]] bool ok() const {
    return std::all_of(tallies_.begin(), tallies_.end(), [](const Tally& t) { return t.failed == 0; });
  }

  [[nodiscard]] Json json() const {
    const auto gpu = device::info();
    const Identity identity = identify(options_.machine);
    Json json{{"schema", 1},
              {"machine", identity.machine},
              {"commit", identity.commit},
              {"dirty", identity.dirty},
              {"sources", identity.sources},
              {"time", utc_now()},
              {"gpu", gpu ? Json(gpu->name) : Json()},
              {"checks", Json::array()},
              {"ok", ok()}};
    for (const Tally& t : tallies_) {
      json["checks"].push_back({{"name", t.name},
                                {"sources", t.sources},
                                {"cases", t.cases},
                                {"comparisons", t.comparisons},
                                {"failed", t.failed},
                                {"skipped", t.skipped},
                                {"digest", hex16(t.digest.value())},
                                {"implementations", t.implementations}});
    }
    return json;
  }

 private:
  Tally& tally() { return tallies_.back(); }

  static std::map<std::string, Value> parse_settings(const std::vector<std::string>& arguments, const std::vector<System>& systems) {
    std::vector<std::string> axes;
    for (const System& system : systems)
      for (const Problem& problem : system.problems)
        for (const Axis& axis : problem.axes)
          if (std::find(axes.begin(), axes.end(), axis.name) == axes.end()) axes.push_back(axis.name);
    std::map<std::string, Value> settings;
    for (const auto& [axis, values] : parse_where(arguments, "--set")) {
      if (std::find(axes.begin(), axes.end(), axis) == axes.end())
        throw InputError(fmt::format("--set: unknown axis '{}'; {}", axis, hint(axis, axes)));
      if (values.size() > 1) throw InputError(fmt::format("--set: {} is given twice", axis));
      settings[axis] = values.front();
    }
    return settings;
  }

  /// Gives a case the values of --set, of those axes that its problem has.
  void set(const System& system, Case& c) const {
    for (const Problem& problem : system.problems) {
      if (problem.name != c.problem) continue;
      for (const Axis& axis : problem.axes)
        if (const auto found = settings_.find(axis.name); found != settings_.end()) c.values[axis.name] = found->second;
    }
  }

  void begin(const System& system, const std::string& name) {
    tallies_.push_back({.name = name, .sources = sources_of(system.name), .implementations = {}, .digest = {}});
  }

  void finish() {
    say_where(0, 0);
    const Tally& t = tally();
    fmt::print("{:<28} {} cases, {} comparisons, {} failed, {} skipped ({})\n", t.name, t.cases, t.comparisons, t.failed, t.skipped,
               join(t.implementations));
    std::fflush(stdout);
  }

  void compare(Referee& referee, const Job& job, const std::string& again) {
    const std::string& name = job.implementation->name;
    auto& names = tally().implementations;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    const Result result = verify(referee, job);
    if (result.status == Status::skipped) {
      ++tally().skipped;
      if (result.missing_input && missing_.insert(result.message).second) fmt::print("skipped {}: {}\n", job.asked.key(), result.message);
      return;
    }
    ++tally().comparisons;
    tally().digest.add(result.outcome->digest);
    if (result.status == Status::ok) return;
    ++tally().failed;
    fmt::print("FAILED {} {}: {}{}\n", name, job.executed.key(), result.message, again);
  }

  [[nodiscard]] std::vector<const Implementation*> runnable(const System& system) {
    std::vector<const Implementation*> list;
    std::vector<std::string> deviceless;
    for (const std::string& name : options_.implementations) {
      if (!known_implementation(system, name))
        throw InputError(fmt::format("--implementation: unknown implementation '{}' of {}; {}", name, system.name,
                                     hint(name, implementation_names(system))));
    }
    for (const Implementation& i : system.implementations) {
      const auto& wanted = options_.implementations;
      if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), i.name) == wanted.end()) continue;
      if (i.backend == Backend::gpu && !has_device_) {
        deviceless.push_back(i.name);
      } else if (!i.absence.empty()) {
        print_stderr("{}: {}\n", i.name, i.absence);
      } else {
        list.push_back(&i);
      }
    }
    note_deviceless(deviceless);
    return list;
  }

  static void note_deviceless(const std::vector<std::string>& names) {
    if (!names.empty()) print_stderr("{}: not verified, {}\n", join(names), device::built() ? "no GPU here" : "GPU code is not built");
  }

  /// On a terminal only; cleared with all = 0.
  static void say_where(int index, int all) {
    if (isatty(STDERR_FILENO) == 0) return;
    print_stderr("\r\033[K");
    if (all > 0) print_stderr("[{}/{}]", index, all);
    std::fflush(stderr);
  }

  const Options& options_;
  bool has_device_;
  std::map<std::string, Value> settings_;
  std::vector<Tally> tallies_;
  std::set<std::string> missing_;  ///< instance files already said to be missing
};

}  // namespace

int verify_command(const Options& options, const std::vector<System>& systems) {
  Verifier verifier(options, systems);
  const auto known = [&](const System& system) { return system.name == options.system; };
  if (!options.system.empty() && std::none_of(systems.begin(), systems.end(), known))
    throw InputError(fmt::format("--system: unknown system '{}'; {}", options.system, hint(options.system, system_names(systems))));
  const bool everything = options.descriptors.empty() && options.random_cases == 0;
  for (const std::string& path : everything ? all_descriptors() : options.descriptors) verifier.experiment(path, systems);
  for (const System& system : systems) {
    if (options.random_cases > 0 && system.random_case && (options.system.empty() || known(system)))
      verifier.random(system, options.random_cases, options.seed);
  }
  if (!options.json_file.empty()) write_output(options.json_file, verifier.json().dump(2) + "\n");
  return verifier.ok() ? exit_ok : exit_check_failed;
}

}  // namespace vicinity
