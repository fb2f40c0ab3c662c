// vicinity peer: programs of others on the cases of an experiment, in the records beside ours.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <system_error>

#include "core/util/digest.hpp"
#include "core/util/error.hpp"
#include "data/input_file.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/interrupt.hpp"
#include "harness/cli/text.hpp"
#include "harness/peer/peer.hpp"
#include "harness/record/environment.hpp"
#include "harness/record/recorder.hpp"
#include "harness/solve/solve.hpp"

namespace vicinity {
namespace {

namespace fs = std::filesystem;

/// Where instances and solutions pass between us and an adapter.
class ExchangeFolder {
 public:
  ExchangeFolder() {
    std::string pattern = (fs::temp_directory_path() / "vicinity-peer-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw EnvironmentError(pattern + ": cannot be made");
    path_ = pattern;
  }
  ~ExchangeFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ExchangeFolder(const ExchangeFolder&) = delete;
  ExchangeFolder& operator=(const ExchangeFolder&) = delete;

  [[nodiscard]] fs::path instance() const { return path_ / "instance"; }
  [[nodiscard]] fs::path solution() const { return path_ / "solution"; }

 private:
  fs::path path_;
};

/// One experiment: its cases and seeds, one peer after the other on each.
class PeerExperiment {
 public:
  PeerExperiment(const Options& options, const std::string& path, const std::vector<Peer>& peers, const std::vector<System>& systems)
      : options_(options), descriptor_(load_descriptor(path, systems)), profile_(descriptor_.profile(options.profile)), peers_(peers) {
    const Protocol& protocol = profile_.protocol;
    if (!descriptor_.system->solver || !protocol.budget.seconds || protocol.time != "wall")
      throw InputError(fmt::format("{}: peers are measured where a search has a budget in seconds and its wall time counts", path));
    std::erase_if(peers_, [&](const Peer& peer) { return peer.reads != descriptor_.system->solver->format; });
    descriptor_.check = {};  // the oracle's word is the whole check
    cases_ = expand(descriptor_, profile_, {{}, parse_where(options.where)});
  }

  int run() {
    const Identity identity = identify(options_.machine);
    Recorder recorder(machine_folder(options_.results, identity) / (descriptor_.experiment + ".jsonl"));
    std::set<std::string> known;
    if (!options_.fresh)
      for (const Json& record : recorder.existing()) known.insert(resume_key(record));
    std::vector<PeerJob> jobs = all_jobs(identity);
    const std::size_t all = jobs.size();
    std::erase_if(jobs, [&](const PeerJob& job) { return known.contains(job.key); });
    print_stderr("{} [{}]: {} of {} to measure, {} recorded; about {}\n", descriptor_.experiment, options_.profile, jobs.size(), all,
                 all - jobs.size(), clock_text(static_cast<double>(jobs.size()) * *profile_.protocol.budget.seconds));
    if (jobs.empty()) return exit_ok;
    store_environment(options_.results, identity);
    return measure_all(jobs, recorder);
  }

 private:
  struct PeerJob {
    const Peer* peer;
    Implementation implementation;
    RunContext context;
    Case asked;
    std::uint64_t seed;
    std::string key;

    [[nodiscard]] Job job() const { return {.asked = asked, .executed = asked, .implementation = &implementation, .seed = seed}; }
  };

  /// What computes is the peer, so its version stands for the sources.
  [[nodiscard]] std::vector<PeerJob> all_jobs(const Identity& identity) const {
    std::vector<PeerJob> jobs;
    for (const Case& c : cases_)
      for (const std::uint64_t seed : profile_.protocol.seeds)
        for (const Peer& peer : peers_) {
          PeerJob& one = jobs.emplace_back();
          one.peer = &peer;
          one.implementation.name = fmt::format("{} {}", peer.name, peer.version);
          one.context = {.profile = options_.profile,
                         .machine = identity.machine,
                         .commit = identity.commit,
                         .dirty = identity.dirty,
                         .sources = one.implementation.name,
                         .reference_sources = {},
                         .version = identity.version,
                         .build = identity.build,
                         .started = utc_now(),
                         .process = 1,
                         .slowdown = 1};
          one.asked = c;
          one.seed = seed;
          one.key = resume_key(one.context, descriptor_, one.job(), profile_.protocol);
        }
    return jobs;
  }

  int measure_all(const std::vector<PeerJob>& jobs, Recorder& recorder) const {
    const ExchangeFolder folder;
    bool failed = false;
    for (const PeerJob& one : jobs) {
      const Result result = measure(one, folder);
      if (interrupted()) return exit_interrupted;
      Json record = to_record(one.context, descriptor_, one.job(), profile_.protocol, result);
      record["system"] = "peer";
      record["peer"] = {{"name", one.peer->name}, {"version", one.peer->version}, {"program", one.peer->program}};
      for (const char* twin : {"reference", "reference_digest"}) record.erase(twin);  // it has none
      recorder.append(record);
      tell(one, result);
      failed |= result.status == Status::invalid;
    }
    return failed ? exit_check_failed : exit_ok;
  }

  void tell(const PeerJob& one, const Result& result) const {
    const std::string text =
        result.status != Status::ok
            ? fmt::format("{}: {}", result.status == Status::invalid ? "INVALID" : "skipped", result.message)
            : fmt::format("{} in {}", objective_text(*result.outcome->objective, 1), human_seconds(result.samples.at("wall").front()));
    fmt::print("{}  {}  {}\n", describe(one.job(), profile_), one.implementation.name, text);
    std::fflush(stdout);
  }

  [[nodiscard]] Result measure(const PeerJob& one, const ExchangeFolder& folder) const {
    const FileFormat& files = *descriptor_.system->solver->files;
    Result result;
    PeerTask task{.instance = folder.instance(), .solution = folder.solution()};
    try {
      result.instance = descriptor_.system->instance(one.asked);
      const std::string text = instance_text(one.asked, *result.instance);
      if (text.empty()) {
        result.message = fmt::format("system {} hands out no instances, and there is no file of {}", descriptor_.system->name,
                                     one.asked.instance.empty() ? "this one" : one.asked.instance);
        return result;
      }
      write_atomically(task.instance, text);
    } catch (const MissingInput& error) {
      result.missing_input = true;
      result.message = error.what();
      return result;
    }
    std::error_code none;
    fs::remove(task.solution, none);
    task.scale = files.scale_of(*result.instance);
    task.seconds = *profile_.protocol.budget.seconds;
    task.seed = one.seed;
    if (one.asked.values.contains("threads")) task.threads = one.asked.integer("threads", 1, 4096);
    result.policy["threads"] = task.threads;
    const LinuxCounts counts;
    const SystemCounts before = counts.system();
    const PeerAnswer answer = ask(*one.peer, task);
    judge(answer, task, result);
    if (result.status != Status::ok) return result;
    const SystemCounts after = counts.system();
    const Disturbance met{.wall = answer.seconds, .waited = answer.waited};
    result.contention = {{met}, before, after};
    result.contention->samples.front().contended = waited_too_long(met) || held_back(before, after);
    return result;
  }

  /// As its system writes it, else its file, whose contents are those of the catalogue; empty where there is none.
  [[nodiscard]] std::string instance_text(const Case& asked, const Instance& instance) const {
    std::string text = descriptor_.system->solver->files->instance_text(asked, instance);
    if (!text.empty() || asked.instance.empty()) return text;
    const fs::path path = instance_path(asked.instance);
    return path.empty() ? text : read_input_file(path);
  }

  /// By the oracle, from the file that the adapter wrote.
  void judge(const PeerAnswer& answer, const PeerTask& task, Result& result) const {
    result.status = Status::invalid;
    if (!answer.failure.empty()) {
      result.message = answer.failure;
      return;
    }
    if (!fs::exists(task.solution)) {
      result.status = answer.trace.empty() ? Status::skipped : Status::invalid;
      result.message = answer.trace.empty() ? fmt::format("no solution within {} s", task.seconds) : "it claims a solution and writes none";
      return;
    }
    const FileFormat& files = *descriptor_.system->solver->files;
    Outcome outcome;
    try {
      outcome.solution = files.read_solution(*result.instance, task.solution.string());
    } catch (const InputError& error) {
      result.message = fmt::format("the oracle rejects its solution: {}", error.what());
      return;
    }
    outcome.objective = files.objective_of(*result.instance, outcome.solution);
    outcome.feasible = true;
    outcome.iterations = answer.iterations;
    Digest digest;
    digest.add(outcome.solution);
    outcome.digest = digest.value();
    result.trace = improvements(answer.trace, outcome.objective.sense());
    if (std::string doubt = doubts(result.trace, outcome.objective); !doubt.empty()) {
      result.message = std::move(doubt);
    } else {
      result.status = Status::ok;
      result.samples["wall"] = {answer.seconds};
      result.time_source["wall"] = "host";
      result.trace.push_back({answer.seconds, answer.iterations, outcome.objective, outcome.digest});
    }
    result.outcome = std::move(outcome);
  }

  /// Of what it told.
  [[nodiscard]] static Trace improvements(const Trace& told, Sense sense) {
    Trace better;
    for (TracePoint point : told) {
      point.objective = Objective(*point.objective, sense);
      if (better.empty() || point.objective.better_than(better.back().objective)) better.push_back(point);
    }
    return better;
  }

  /// What it told on the way must be what it arrived at, up to the rounding of printed numbers.
  [[nodiscard]] static std::string doubts(const Trace& trace, const Objective& found) {
    constexpr double tolerance = 1e-4;
    if (trace.empty()) return "";
    const auto told = static_cast<double>(*trace.back().objective), judged = static_cast<double>(*found);
    if (std::abs(told - judged) <= std::max(1.0, tolerance * std::abs(judged))) return "";
    return fmt::format("it tells an objective of {}, the oracle finds {}", *trace.back().objective, *found);
  }

  const Options& options_;
  Descriptor descriptor_;
  Profile profile_;
  std::vector<Peer> peers_;  ///< that read this system's instances
  std::vector<Case> cases_;
};

}  // namespace

int peer_command(const Options& options, const std::vector<System>& systems) {
  std::vector<Peer> peers;
  try {
    for (const std::string& adapter : options.adapters) peers.push_back(introduced(adapter));
  } catch (const EnvironmentError&) {
    if (interrupted()) return exit_interrupted;
    throw;
  }
  std::vector<PeerExperiment> experiments;  // all mistakes before any work
  for (const std::string& path : options.descriptors) experiments.emplace_back(options, path, peers, systems);
  int worst = exit_ok;
  for (PeerExperiment& experiment : experiments) {
    const int code = experiment.run();
    if (code == exit_interrupted) return code;
    worst = std::max(worst, code);
  }
  return worst;
}

}  // namespace vicinity
