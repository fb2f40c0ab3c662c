#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

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

/// A result that was equal to the reference's says what the reference gave: it need not run again, in another process, in another
/// experiment, or on another machine.
void recall_reference(const Json& record, Referee& referee) {
  const Json& objective = record.at("objective");
  if (!record.at("verified").get<bool>() || !record.at("extrapolated").is_null() || !objective.is_number_integer()) return;
  if (record.at("digest") != record.at("reference_digest")) return;  // compared otherwise
  Outcome outcome;
  const auto& digest = record.at("digest").get_ref<const std::string&>();
  if (std::from_chars(digest.data(), digest.data() + digest.size(), outcome.digest, 16).ec != std::errc()) return;
  outcome.objective = {objective.get<std::int64_t>(), record.at("objective_sense") == "maximise" ? Sense::maximise : Sense::minimise};
  outcome.feasible = true;
  outcome.iterations = record.at("iterations");
  for (const Json& seed : record.at("seeds")) referee.recall(record.at("reference"), record.at("case_key"), seed, outcome);
}

/// Which seeds after the first, and which processes after the first, a case and implementation is run with: all, unless
/// Protocol::seeds_under or processes_under says otherwise.
class Repeats {
 public:
  static std::string key(const Job& job) { return key(job, job.implementation->name); }
  static std::string key(const Json& record) { return record.value("case_key", "") + " " + record.value("implementation", ""); }

  /// `first`: the first seed of the process, also where it is none of those chosen.
  Repeats(const Protocol& protocol, int process, std::uint64_t first)
      : first_(first), seeds_under_(protocol.seeds_under), processes_under_(process > 1 ? protocol.processes_under : 0) {}

  /// Of a record of the first process; the last one counts.
  void note_first_process(const Json& record) { first_process_[key(record)] = chosen_median(record); }
  /// The first seed's record counts, the last of them.
  void note(const Job& job, const Json& record) {
    if (job.seed == first_) first_seed_[key(job)] = chosen_median(record);
  }
  /// `known`: what the reference gives for the job is. Else it must run for each further seed, and may take three times as long as a job.
  [[nodiscard]] bool wanted(const Job& job, const std::string& reference, bool known) const {
    if (!shorter(first_process_, key(job), processes_under_)) return false;
    if (job.seed == first_) return true;
    if (!shorter(first_seed_, key(job), seeds_under_)) return false;
    if (known || !first_seed_.contains(key(job))) return true;
    const std::string its = key(job, reference);
    return shorter(first_seed_.contains(its) ? first_seed_ : first_process_, its, 3 * seeds_under_);
  }

 private:
  using Times = std::map<std::string, double>;

  static std::string key(const Job& job, const std::string& implementation) { return job.asked.key() + " " + implementation; }
  static bool shorter(const Times& first, const std::string& which, double under) {
    const auto known = first.find(which);
    return under <= 0 || known == first.end() || known->second < under;  // no time is a NaN: not shorter
  }

  std::uint64_t first_;
  double seeds_under_, processes_under_;
  Times first_seed_, first_process_;
};

RunPart part_of(const std::vector<double>& given) {
  if (given.empty()) return {};
  return {static_cast<int>(given[0]), static_cast<int>(given[1]), given[2], given[3], given[4]};
}

/// One experiment, in this process.
class Experiment {
 public:
  Experiment(const Options& options, const std::vector<System>& systems)
      : options_(options),
        part_(part_of(options.part)),
        descriptor_(load_descriptor(options.descriptors.front(), systems)),
        profile_(descriptor_.profile(options.profile)),
        slowdown_(parse_slowdown(options.slowdown)) {
    Protocol& protocol = profile_.protocol;
    if (options.repetitions) {
      protocol.repetitions = protocol.min_repetitions = *options.repetitions;
      protocol.precision = 0;
    }
    protocol.processes = options.processes.value_or(protocol.processes);
    if (!options.seeds.empty()) filter_.seeds = parse_seeds(options.seeds);
    if (filter_.seeds.first >= protocol.seeds.size())
      throw InputError(fmt::format("--seeds: the profile has {} of them", protocol.seeds.size()));
    const std::vector<std::uint64_t> own = seeds_of(protocol, process());
    first_seed_ = own.empty() ? 0 : own.front();
    repeats_ = Repeats(protocol, process(), first_seed_);
    if (!slowdown_.first.empty() && !known_implementation(*descriptor_.system, slowdown_.first))
      throw InputError(fmt::format("--test-slowdown: unknown implementation '{}' of {}; {}", slowdown_.first, descriptor_.system->name,
                                   hint(slowdown_.first, implementation_names(*descriptor_.system))));
    filter_.implementations = options.implementations;
    filter_.where = parse_where(options.where);
    if (!options.shard.empty()) filter_.shard = parse_shard(options.shard);
    plan_ = make_plan(descriptor_, profile_, filter_, device::info().has_value(), process());
  }

  [[nodiscard]] Estimate estimate() const { return vicinity::estimate(descriptor_, profile_, filter_); }
  [[nodiscard]] int processes() const noexcept { return profile_.protocol.processes; }
  /// Of all jobs of a process, for the shares of parts.
  [[nodiscard]] double expected_seconds() const { return planned_seconds(profile_.protocol) * static_cast<double>(plan_.jobs.size()); }

  int run() {
    const Identity identity = identify(options_.machine);
    context_ = {.profile = options_.profile,
                .machine = identity.machine,
                .commit = identity.commit,
                .dirty = identity.dirty,
                .sources = {},
                .reference_sources = {},
                .version = identity.version,
                .build = identity.build,
                .started = utc_now(),
                .process = process(),
                .slowdown = 1};
    for (const std::string& note : plan_.absent) print_stderr("{}\n", note);
    if (!plan_.deviceless.empty()) print_stderr("{}\n", deviceless_note(plan_.deviceless));
    if (plan_.jobs.empty() && filter_.shard.count > 1) {  // a small experiment has fewer pairs than there are shards
      announce({});
      return exit_ok;
    }
    Recorder recorder(machine_folder(options_.results, identity) / (descriptor_.experiment + filter_.shard.suffix() + ".jsonl"));
    if (process() == 1) tell(recorder.damaged());
    Referee referee(*descriptor_.system, descriptor_.check);
    const std::vector<Job> jobs = unfinished(recorder, referee);
    for (const Json& record : recorder.existing()) note_run(record);
    announce(jobs);
    if (jobs.empty()) return exit_ok;
    store_environment(options_.results, identity);
    return measure_all(jobs, recorder, referee);
  }

 private:
  [[nodiscard]] int process() const noexcept { return std::max(1, options_.process); }

  [[nodiscard]] RunContext context_of(const Job& job) const {
    RunContext context = context_;
    context.sources = current(job.implementation->name);
    context.reference_sources = current(reference_of(*descriptor_.system, descriptor_.check, *job.implementation));
    if (job.implementation->name == slowdown_.first) context.slowdown = slowdown_.second;
    return context;
  }

  [[nodiscard]] bool wanted(const Job& job, const Referee& referee) const {
    const std::string reference = reference_of(*descriptor_.system, descriptor_.check, *job.implementation);
    return repeats_.wanted(job, reference, referee.knows(reference, job.executed.key(), job.seed));
  }

  /// Tells the referee what records know of the references of these jobs.
  void recall(const std::vector<Job>& jobs, Referee& referee) const {
    if (options_.fresh || descriptor_.check.kind != Check::Kind::identical) return;
    CaseKeys cases;
    for (const Job& job : jobs) cases.insert(job.executed.key());
    const auto is_current = [&](std::string_view reference, std::string_view sources) {
      return sources == current(std::string(reference));
    };
    for (const Json& record : records_of(options_.results, descriptor_.experiment, is_current, cases)) recall_reference(record, referee);
  }

  /// What is neither recorded nor left out.
  [[nodiscard]] std::vector<Job> unfinished(const Recorder& recorder, Referee& referee) {
    std::map<std::string, const Json*> known;
    const auto record_of = [&](const Job& job) {
      const auto found = known.find(resume_key(context_of(job), descriptor_, job, profile_.protocol));
      return found == known.end() ? nullptr : found->second;
    };
    for (const Json& record : recorder.existing()) {
      if (!options_.fresh) known[resume_key(record)] = &record;
      if (of_first_process(record)) repeats_.note_first_process(record);
    }
    std::vector<Job> jobs;
    for (const Job& job : plan_.jobs) {
      if (record_of(job) == nullptr) jobs.push_back(job);
      Job first = job;  // perhaps none of those chosen
      first.seed = first_seed_;
      if (const Json* record = record_of(first)) repeats_.note(first, *record);
    }
    recorded_ = plan_.jobs.size() - jobs.size();
    recall(jobs, referee);
    std::erase_if(jobs, [&](const Job& job) { return !wanted(job, referee); });
    return jobs;
  }

  /// The sources of an implementation.
  [[nodiscard]] const std::string& current(const std::string& implementation) const {
    auto [found, is_new] = sources_.try_emplace(implementation);
    if (is_new) found->second = sources_of(descriptor_.system->name, implementation);
    return found->second;
  }
  /// Was it recorded in this profile by the sources at hand?
  [[nodiscard]] bool counts(const Json& record) const {
    return record.value("profile", "") == options_.profile && record.value("sources", "") == current(record.value("implementation", ""));
  }
  [[nodiscard]] bool of_first_process(const Json& record) const {
    return counts(record) && record.value("descriptor", "") == descriptor_.hash &&
           record.value("process", Json::object()).value("number", 1) == 1;
  }

  /// Each damaged line; of very many the first, and how many more there are.
  static void tell(const std::vector<std::string>& damaged) {
    constexpr std::size_t most = 20;
    for (std::size_t k = 0; k < std::min(most, damaged.size()); ++k)
      print_stderr("vicinity: warning: {}; the line is left out: mend or remove it\n", printable(damaged[k]));
    if (damaged.size() > most) print_stderr("vicinity: warning: {} more damaged lines are left out\n", damaged.size() - most);
  }

  /// How long one run of a case takes, whoever made it.
  void note_run(const Json& record) {
    const auto seconds = record.value("samples", Json::object()).value("wall", std::vector<double>());
    if (seconds.empty() || !record.value("extrapolated", Json()).is_null()) return;
    run_seconds_[Repeats::key(record)] = median(seconds) * record.value("batch", 1);
  }

  void announce(const std::vector<Job>& jobs) const {
    double likely = 0;
    for (const Job& job : jobs) {
      const auto run = run_seconds_.find(Repeats::key(job));
      likely += likely_seconds(profile_.protocol, run == run_seconds_.end() || job.scaling ? 0 : run->second);
    }
    const std::size_t left_out = plan_.jobs.size() - jobs.size() - recorded_;
    std::string which = filter_.shard.count > 1 ? fmt::format(", shard {} of {}", filter_.shard.number, filter_.shard.count) : "";
    if (processes() > 1) which += fmt::format(", process {} of {}", process(), processes());
    const std::string number = part_.count > 1 ? fmt::format("[{}/{}] ", part_.number, part_.count) : "";
    print_stderr("{}{} [{}{}]: {} of {} to measure, {} recorded{}{}\n", number, descriptor_.experiment, options_.profile, which,
                 jobs.size(), plan_.jobs.size(), recorded_, left_out > 0 ? fmt::format(", {} left out as too long", left_out) : "",
                 likely > 0 ? fmt::format("; about {}, and the checks", clock_text(likely)) : "");
  }

  int measure_all(const std::vector<Job>& jobs, Recorder& recorder, Referee& referee) {
    Progress progress(descriptor_, profile_, jobs, part_);
    for (const Json& record : recorder.existing())
      if (counts(record)) progress.recall(record);
    if (process() == 1) check_values(jobs, referee);
    bool failed = false;
    std::set<std::string> ran;  // cases and implementations
    for (const Job& job : jobs) {
      if (!wanted(job, referee)) {
        progress.pass();
        continue;
      }
      progress.begin(job);
      const RunContext context = context_of(job);
      const bool settled = !ran.insert(Repeats::key(job)).second || profile_.protocol.budget.seconds;
      const Result result = measure_one(
          referee, job, {.control = options_.control, .slowdown = context.slowdown, .long_run = settled ? long_later_run : long_first_run});
      const Json record = to_record(context, descriptor_, job, profile_.protocol, result);
      if (!said_before(recorder, record)) recorder.append(record);
      repeats_.note(job, record);
      progress.finish(job, record);
      failed |= result.status == Status::invalid;
    }
    return failed ? exit_check_failed : exit_ok;
  }

  /// body(); errors in a case get the descriptor's name.
  template <class Body>
  auto in_case(const Job& job, const Body& body) const {
    try {
      return body();
    } catch (const MissingInput&) {
      throw;
    } catch (const InputError& error) {
      const std::string message = error.what();
      if (message.starts_with(descriptor_.path)) throw;
      throw InputError(fmt::format("{}: case {}: {}", descriptor_.path, describe(job, profile_), message));
    }
  }

  /// Makes an instance with each value of each axis: one that no instance can have is said before the first run, not hours later.
  void check_values(const std::vector<Job>& jobs, Referee& referee) const {
    std::set<std::pair<std::string, Value>> made;
    for (const Job& job : jobs) {
      const std::size_t before = made.size();
      made.insert(job.asked.values.begin(), job.asked.values.end());
      if (made.size() == before) continue;
      try {
        in_case(job, [&] { return referee.instance(job.asked); });
      } catch (const MissingInput&) {  // what cannot be made here is skipped when its turn comes
      } catch (const DoesNotFit&) {
      } catch (const std::bad_alloc&) {
      }
    }
  }

  Result measure_one(Referee& referee, const Job& job, const MeasureOptions& options) const {
    return in_case(job, [&] { return measure(referee, job, profile_.protocol, options); });
  }

  const Options& options_;
  RunPart part_;
  Descriptor descriptor_;
  Profile profile_;
  std::pair<std::string, double> slowdown_;
  Filter filter_;
  Plan plan_;
  std::uint64_t first_seed_ = 0;  ///< of this process, chosen or not
  Repeats repeats_{Protocol{}, 1, 0};
  std::size_t recorded_ = 0;                   ///< jobs of the plan
  std::map<std::string, double> run_seconds_;  ///< of cases and implementations
  RunContext context_;
  mutable std::map<std::string, std::string> sources_;  ///< of implementations
};

/// The command line of one process for one descriptor.
std::vector<std::string> child_arguments(const Options& options, const std::string& descriptor, int process, const RunPart& part) {
  std::vector<std::string> arguments{"run", descriptor, "--profile", options.profile, "--results", options.results};
  const auto add = [&](const std::string& flag, const std::string& value) {
    if (!value.empty()) arguments.insert(arguments.end(), {flag, value});
  };
  for (const std::string& name : options.implementations) add("--implementation", name);
  for (const std::string& condition : options.where) add("--where", condition);
  add("--machine", options.machine);
  add("--shard", options.shard);
  add("--repetitions", options.repetitions ? std::to_string(*options.repetitions) : "");
  add("--processes", options.processes ? std::to_string(*options.processes) : "");
  add("--seeds", options.seeds);
  add("--process", std::to_string(process));
  arguments.emplace_back("--part");
  for (const double number : {double(part.number), double(part.count), part.seconds, part.before, part.share})
    arguments.push_back(fmt::format("{}", number));
  add("--test-slowdown", options.slowdown);
  if (options.fresh) arguments.emplace_back("--fresh");
  if (options.control) arguments.emplace_back("--control");
  return arguments;
}

}  // namespace

int run_command(const Options& options, const std::vector<System>& systems) {
  if (options.process > 0) return Experiment(options, systems).run();
  struct Planned {
    std::string path;
    int process;
    double seconds;
  };
  std::vector<Planned> runs;
  double all = 0;
  Estimate expected;
  for (const std::string& path : options.descriptors) {  // all mistakes before any work
    Options one = options;
    one.descriptors = {path};
    const Experiment experiment(one, systems);
    if (options.estimate) expected += experiment.estimate();
    for (int process = 1; process <= experiment.processes(); ++process) {
      runs.push_back({path, process, experiment.expected_seconds()});
      all += runs.back().seconds;
    }
  }
  if (options.estimate) {
    fmt::print("{}\n", Json{{"measurements", expected.measurements}, {"seconds", expected.seconds}, {"gpu", expected.gpu}}.dump());
    return exit_ok;
  }
  if (runs.size() == 1) return Experiment(options, systems).run();
  const Stopwatch watch;
  RunPart part{.number = 0, .count = static_cast<int>(runs.size()), .share = 0};
  int worst = exit_ok;
  for (const auto& [path, process, seconds] : runs) {
    part = {part.number + 1, part.count, watch.seconds(), part.before + part.share, all > 0 ? seconds / all : 0};
    const int code = run_again(child_arguments(options, path, process, part), path);
    if (interrupted() || code == exit_interrupted) return exit_interrupted;
    worst = std::max(worst, code);
  }
  return worst;
}

}  // namespace vicinity
