#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>

#include "core/api/device.hpp"
#include "core/util/error.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/interrupt.hpp"
#include "harness/cli/process.hpp"
#include "harness/cli/progress.hpp"
#include "harness/cli/text.hpp"
#include "harness/describe/yaml_reader.hpp"
#include "harness/record/environment.hpp"
#include "harness/record/recorder.hpp"

namespace vicinity {
namespace {

/// "IMPL=FACTOR" as a pair; {"", 1} when not given.
std::pair<std::string, double> parse_slowdown(const std::string& text) {
  if (text.empty()) return {"", 1};
  const auto equals = text.find('=');
  const Value factor = equals == std::string::npos ? Value() : parse_value(text.substr(equals + 1));
  const double number = std::holds_alternative<double>(factor)         ? std::get<double>(factor)
                        : std::holds_alternative<std::int64_t>(factor) ? static_cast<double>(std::get<std::int64_t>(factor))
                                                                       : 0;
  if (number < 1) throw InputError(fmt::format("--test-slowdown: '{}' is not IMPLEMENTATION=FACTOR with a factor of at least 1", text));
  return {text.substr(0, equals), number};
}

/// A case that was skipped for want of its file, and still is: one line in the results is enough.
bool said_before(const Recorder& recorder, const Json& record) {
  const auto same = [&](const Json& other) {
    const auto equal = [&](const char* name) { return other.value(name, "") == record.value(name, ""); };
    return equal("case_key") && equal("implementation") && equal("profile") && equal("sources") && equal("descriptor") && equal("message");
  };
  return record.value("missing_input", false) && std::any_of(recorder.existing().begin(), recorder.existing().end(), same);
}

/// Which seeds after the first a case and implementation is run with: all, unless Protocol::seeds_under says otherwise.
class MoreSeeds {
 public:
  explicit MoreSeeds(double under) : under_(under) {}

  /// Of jobs in the order of the plan: the first seed's record counts.
  void note(const Job& job, const Json& record) {
    if (under_ > 0) first_.emplace(key(job), chosen_median(record));
  }
  [[nodiscard]] bool wanted(const Job& job) const {
    const auto first = first_.find(key(job));
    return under_ <= 0 || first == first_.end() || first->second < under_;  // no time is a NaN: not wanted
  }

 private:
  static std::string key(const Job& job) { return job.asked.key() + " " + job.implementation->name; }

  double under_;
  std::map<std::string, double> first_;
};

/// One experiment, in this process.
class Experiment {
 public:
  Experiment(const Options& options, const std::vector<System>& systems)
      : options_(options),
        descriptor_(load_descriptor(options.descriptors.front(), systems)),
        profile_(descriptor_.profile(options.profile)),
        slowdown_(parse_slowdown(options.slowdown)) {
    Protocol& protocol = profile_.protocol;
    if (options.repetitions) {
      protocol.repetitions = *options.repetitions;
      protocol.precision = 0;
    }
    protocol.processes = options.processes.value_or(protocol.processes);
    more_seeds_ = MoreSeeds(protocol.seeds_under);
    if (!slowdown_.first.empty() && !known_implementation(*descriptor_.system, slowdown_.first))
      throw InputError(fmt::format("--test-slowdown: unknown implementation '{}' of {}; {}", slowdown_.first, descriptor_.system->name,
                                   hint(slowdown_.first, implementation_names(*descriptor_.system))));
    plan_ = make_plan(descriptor_, profile_, {options.implementations, parse_where(options.where)}, device::info().has_value(), process());
  }

  [[nodiscard]] int processes() const noexcept { return profile_.protocol.processes; }

  int run() {
    const Identity identity = identify(options_.machine);
    context_ = {.profile = options_.profile,
                .machine = identity.machine,
                .commit = identity.commit,
                .dirty = identity.dirty,
                .sources = identity.sources,
                .version = identity.version,
                .build = identity.build,
                .started = utc_now(),
                .process = process(),
                .slowdown = 1};
    if (!plan_.deviceless.empty()) fmt::print(stderr, "{}\n", deviceless_note(plan_.deviceless));
    Recorder recorder(machine_folder(options_.results, identity) / (descriptor_.experiment + ".jsonl"));
    if (process() == 1) tell(recorder.damaged());
    const std::vector<Job> jobs = unfinished(recorder);
    announce(jobs.size());
    if (jobs.empty()) return exit_ok;
    store_environment(options_.results, identity);
    return measure_all(jobs, recorder);
  }

 private:
  [[nodiscard]] int process() const noexcept { return std::max(1, options_.process); }

  [[nodiscard]] RunContext context_of(const Job& job) const {
    RunContext context = context_;
    if (job.implementation->name == slowdown_.first) context.slowdown = slowdown_.second;
    return context;
  }

  [[nodiscard]] std::vector<Job> unfinished(const Recorder& recorder) {
    std::map<std::string, const Json*> known;
    if (!options_.fresh)
      for (const Json& record : recorder.existing()) known[resume_key(record)] = &record;
    std::vector<Job> jobs;
    for (const Job& job : plan_.jobs) {
      const auto record = known.find(resume_key(context_of(job), descriptor_, job, profile_.protocol));
      if (record != known.end())
        more_seeds_.note(job, *record->second);
      else if (more_seeds_.wanted(job))
        jobs.push_back(job);
    }
    return jobs;
  }

  /// Each damaged line; of very many the first, and how many more there are.
  static void tell(const std::vector<std::string>& damaged) {
    constexpr std::size_t most = 20;
    for (std::size_t k = 0; k < std::min(most, damaged.size()); ++k)
      fmt::print(stderr, "vicinity: warning: {}; the line is left out: mend or remove it\n", printable(damaged[k]));
    if (damaged.size() > most) fmt::print(stderr, "vicinity: warning: {} more damaged lines are left out\n", damaged.size() - most);
  }

  void announce(std::size_t count) const {
    const double most = profile_.protocol.max_seconds * 1.25 * static_cast<double>(count);  // a quarter for the warm-up
    const std::string which = processes() > 1 ? fmt::format(", process {} of {}", process(), processes()) : "";
    fmt::print(stderr, "{} [{}{}]: {} of {} to measure, {} recorded{}\n", descriptor_.experiment, options_.profile, which, count,
               plan_.jobs.size(), plan_.jobs.size() - count,
               count > 0 && most > 0 ? fmt::format("; about {} at most, and the checks", clock_text(most)) : "");
  }

  int measure_all(const std::vector<Job>& jobs, Recorder& recorder) {
    Referee referee(*descriptor_.system, descriptor_.check);
    Progress progress(descriptor_, profile_, jobs);
    for (const Json& record : recorder.existing()) {
      if (record.value("profile", "") == options_.profile && record.value("sources", "") == context_.sources) progress.recall(record);
    }
    bool failed = false;
    for (const Job& job : jobs) {
      if (!more_seeds_.wanted(job)) {
        progress.pass();
        continue;
      }
      progress.begin(job);
      const RunContext context = context_of(job);
      const Result result = measure_one(referee, job, context.slowdown);
      const Json record = to_record(context, descriptor_, job, profile_.protocol, result);
      if (!said_before(recorder, record)) recorder.append(record);
      more_seeds_.note(job, record);
      progress.finish(job, record);
      failed |= result.status == Status::invalid;
    }
    return failed ? exit_check_failed : exit_ok;
  }

  /// Errors in a case get the descriptor's name.
  Result measure_one(Referee& referee, const Job& job, double slowdown) const {
    try {
      return measure(referee, job, profile_.protocol, {.control = options_.control, .slowdown = slowdown});
    } catch (const InputError& error) {
      const std::string message = error.what();
      if (message.starts_with(descriptor_.path)) throw;
      throw InputError(fmt::format("{}: case {}: {}", descriptor_.path, describe(job, profile_), message));
    }
  }

  const Options& options_;
  Descriptor descriptor_;
  Profile profile_;
  std::pair<std::string, double> slowdown_;
  Plan plan_;
  MoreSeeds more_seeds_{0};
  RunContext context_;
};

/// The command line of one process for one descriptor.
std::vector<std::string> child_arguments(const Options& options, const std::string& descriptor, int process) {
  std::vector<std::string> arguments{"run", descriptor, "--profile", options.profile, "--results", options.results};
  const auto add = [&](const std::string& flag, const std::string& value) {
    if (!value.empty()) arguments.insert(arguments.end(), {flag, value});
  };
  for (const std::string& name : options.implementations) add("--implementation", name);
  for (const std::string& condition : options.where) add("--where", condition);
  add("--machine", options.machine);
  add("--repetitions", options.repetitions ? std::to_string(*options.repetitions) : "");
  add("--processes", options.processes ? std::to_string(*options.processes) : "");
  add("--process", std::to_string(process));
  add("--test-slowdown", options.slowdown);
  if (options.fresh) arguments.emplace_back("--fresh");
  if (options.control) arguments.emplace_back("--control");
  return arguments;
}

}  // namespace

int run_command(const Options& options, const std::vector<System>& systems) {
  if (options.process > 0) return Experiment(options, systems).run();
  std::vector<std::pair<std::string, int>> runs;         // descriptor and process
  for (const std::string& path : options.descriptors) {  // all mistakes before any work
    Options one = options;
    one.descriptors = {path};
    const int processes = Experiment(one, systems).processes();
    for (int process = 1; process <= processes; ++process) runs.emplace_back(path, process);
  }
  if (runs.size() == 1) return Experiment(options, systems).run();
  int worst = exit_ok;
  for (const auto& [path, process] : runs) {
    const int code = run_again(child_arguments(options, path, process), path);
    if (interrupted() || code == exit_interrupted) return exit_interrupted;
    worst = std::max(worst, code);
  }
  return worst;
}

}  // namespace vicinity
