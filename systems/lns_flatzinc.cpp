#include "systems/lns_flatzinc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <iostream>
#include <iterator>
#include <limits>
#include <mutex>
#include <ostream>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/methods/lns/cp_search.hpp"
#include "core/methods/lns/repair.hpp"
#include "core/methods/lns/task.hpp"
#include "core/problems/cp/compile.hpp"
#include "core/problems/cp/oracle.hpp"
#include "core/util/error.hpp"
#include "cpu_ref/lns/implementations.hpp"
#include "data/formats/flatzinc.hpp"

namespace vicinity::lns {
namespace {

using Clock = std::chrono::steady_clock;

/// Milliseconds of a limit: some 35 years, which clocks can add. Threads: as many as the solver's settings allow.
constexpr std::int64_t longest = std::int64_t{1} << 40, most_threads = 4096;

std::int64_t number_of(std::string_view option, std::string_view word, std::int64_t least) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || value < least)
    throw InputError(fmt::format("{} expects a whole number from {} on, found '{}'", option, least, word));
  return value;
}

double seconds_between(Clock::time_point from, Clock::time_point to) { return std::chrono::duration<double>(to - from).count(); }

/// Raises a flag when the deadline has come or `stop` is raised: propagation looks at flags, not at clocks.
class Watchdog {
 public:
  Watchdog(Clock::time_point deadline, const std::atomic<bool>& stop)
      : raised_(stop.load()), thread_([this, deadline, &stop] {
          std::unique_lock lock(mutex_);
          while (!done_ && !stop && Clock::now() < deadline)
            changed_.wait_until(lock, std::min(deadline, Clock::now() + std::chrono::milliseconds(20)));
          raised_ = true;
        }) {}
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  [[nodiscard]] const std::atomic<bool>& raised() const noexcept { return raised_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::atomic<bool> raised_;
  std::thread thread_;
};

/// Says that nothing is known and leaves, a while after the limit or `stop`, where no answer has begun by then.
class Leaving {
 public:
  Leaving(const FlatzincOptions& options, std::ostream& out, const std::atomic<bool>& stop, const std::function<void()>& leave) {
    if (!leave) return;
    std::optional<Clock::time_point> limit;
    if (options.milliseconds) limit = Clock::now() + std::chrono::milliseconds(*options.milliseconds);
    thread_ = std::thread([this, limit, &out, &stop, &leave] {
      std::unique_lock lock(mutex_);
      while (!answered_ && !stop && !(limit && Clock::now() >= *limit)) changed_.wait_for(lock, std::chrono::milliseconds(20));
      if (changed_.wait_for(lock, patience, [this] { return answered_; })) return;
      out << "=====UNKNOWN=====\n";
      out.flush();
      leave();
    });
  }
  ~Leaving() {
    answer();
    if (thread_.joinable()) thread_.join();
  }
  Leaving(const Leaving&) = delete;
  Leaving& operator=(const Leaving&) = delete;
  /// Before the answer's first word.
  void answer() {
    const std::lock_guard lock(mutex_);
    answered_ = true;
    changed_.notify_all();
  }

 private:
  static constexpr std::chrono::milliseconds patience{50};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool answered_ = false;
  std::thread thread_;
};

/// One model on its way through the protocol.
class Session {
 public:
  Session(const FlatzincOptions& options, std::ostream& out, std::ostream& err, const std::atomic<bool>& stop, Leaving& leaving)
      : options_(options),
        out_(out),
        err_(err),
        stop_(stop),
        leaving_(leaving),
        started_(Clock::now()),
        model_(options.file == "-" ? read_flatzinc(std::string{std::istreambuf_iterator<char>(std::cin), {}}, "standard input")
                                   : read_flatzinc(std::filesystem::path(options.file))) {}

  void run() {
    if (const std::optional<Directive> directive = directive_of(model_); directive && !options_.free && model_.goal != cp::Goal::satisfy)
      return run_neighborhoods(*directive);
    // Without variables an assignment is empty, which is how neighbourhoods say that there is none.
    if (options_.free && !model_.variables.empty() &&
        (model_.goal != cp::Goal::satisfy || (!options_.all && options_.solutions.value_or(1) == 1)))
      return run_free();
    const cp::CompiledModel compiled = cp::compile(model_);
    const cp::Network& network = *compiled.network;
    if (options_.verbose)
      err_ << fmt::format("{}: {} variables, {} constraints; {} and {} after propagation at the root\n", options_.file,
                          model_.variables.size(), model_.constraints.size(), network.variables(), network.constraints());
    CpSearch search(model_, compiled, strategy_of(model_, compiled), options_.seed, options_.free);
    std::optional<Watchdog> watchdog;
    const SearchLimits limits = limits_until(options_.milliseconds, watchdog);
    ready_ = Clock::now();
    CpSearch::Status status = CpSearch::Status::limit;
    const bool goal = model_.goal != cp::Goal::satisfy, each = goal && (options_.all || options_.intermediate);
    const std::int64_t wanted = options_.solutions.value_or(goal || options_.all ? 0 : 1);  // 0: any number
    for (;;) {
      status = search.next(limits);
      leaving_.answer();
      if (status != CpSearch::Status::solution) break;
      check(compiled, search.values());
      if (!goal || each || wanted > 0) print(search, compiled);
      if (wanted > 0 && search.statistics().solutions >= wanted) break;
    }
    if (goal && search.found() && !each && wanted == 0) print(search, compiled);
    const bool covered = search.found() ? compiled.proves_best(goal ? cp::objective_of(model_, values_) : 0) : compiled.proves_none();
    conclude(status, search.found(), covered);
    if (options_.statistics) statistics(search, network, true);
    out_.flush();
  }

 private:
  [[nodiscard]] SearchLimits limits_until(std::optional<std::int64_t> milliseconds, std::optional<Watchdog>& watchdog) const {
    SearchLimits limits;
    limits.stop = &stop_;
    if (milliseconds) {
      limits.deadline = started_ + std::chrono::milliseconds(*milliseconds);
      limits.stop = &watchdog.emplace(*limits.deadline, stop_).raised();
    }
    return limits;
  }
  /// As the model's lns(...) says, from the first solution that CP search finds. It proves nothing, but that search may.
  void run_neighborhoods(const Directive& directive) {
    const cp::Problem problem(model_);
    Task task = task_of({}, problem);
    task.threads = options_.threads;
    const cp::CompiledModel& compiled = problem.compiled();
    CpSearch search(problem.model(), compiled, strategy_of(problem.model(), compiled), options_.seed, options_.free);
    std::optional<Watchdog> watchdog;
    std::optional<std::int64_t> milliseconds = options_.milliseconds;
    if (directive.seconds > 0) milliseconds = std::min(milliseconds.value_or(directive.seconds * 1000), directive.seconds * 1000);
    const SearchLimits limits = limits_until(milliseconds, watchdog);
    ready_ = Clock::now();
    const CpSearch::Status status = search.next(limits);
    leaving_.answer();
    if (status != CpSearch::Status::solution) return conclude(status, false, compiled.proves_none());
    check(compiled, search.values());
    const auto run = search_from(problem, task, values_);
    run->reset(options_.seed);
    improve(*run, limits);
    if (options_.statistics) statistics(run->outcome());
    out_.flush();
  }
  /// Neighbourhoods and complete search by turns, from whichever first solution is found.
  void run_free() {
    const cp::Problem problem(model_);
    Task task;
    task.subsets = repair::round_neighborhoods;
    task.steps = most_steps;
    task.threads = options_.threads;
    std::optional<Watchdog> watchdog;
    const SearchLimits limits = limits_until(options_.milliseconds, watchdog);
    const auto run = search_by_repair(problem, task);
    run->reset(options_.seed);
    ready_ = Clock::now();
    Budget first;
    first.target = problem.sense() == Sense::minimise ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
    first.stop = limits.stop;
    static_cast<void>(run->execute(first));
    leaving_.answer();
    Outcome outcome = run->outcome();
    if (outcome.feasible) {
      check(outcome.solution);
      improve(*run, limits);
      outcome = run->outcome();
    }
    const bool proved = outcome.counters["proved"] != 0;
    conclude(proved ? CpSearch::Status::exhausted : CpSearch::Status::limit, outcome.feasible, true, model_.goal != cp::Goal::satisfy);
    if (options_.statistics) statistics(outcome);
    out_.flush();
  }
  /// On from values_ to better solutions, printed as the options say.
  void improve(Run& run, const SearchLimits& limits) {
    const bool each = options_.all || options_.intermediate;
    const std::int64_t wanted = options_.solutions.value_or(0), worse = model_.goal == cp::Goal::maximise ? -1 : 1;
    for (std::int64_t solutions = 1;; ++solutions) {
      if (each || wanted > 0) print();
      if (solutions == wanted || model_.goal == cp::Goal::satisfy) break;
      Budget better;
      better.target = cp::objective_of(model_, values_) - worse;
      better.stop = limits.stop;
      static_cast<void>(run.execute(better));
      if (!run.reached_target()) break;
      check(run.outcome().solution);
    }
    if (!each && wanted == 0) print();
  }
  void check(const cp::CompiledModel& compiled, std::span<const std::int32_t> found) {
    std::vector<std::int32_t> values;
    for (const cp::Var x : compiled.variable_of) values.push_back(found[static_cast<std::size_t>(x)]);
    check(std::move(values));
  }
  void check(std::vector<std::int32_t> values) {
    leaving_.answer();
    values_ = std::move(values);
    if (const std::string what = cp::complaint(model_, values_); !what.empty()) throw std::logic_error("a solution that is none: " + what);
  }
  void print(const CpSearch& search, const cp::CompiledModel& compiled) {
    if (options_.statistics) statistics(search, *compiled.network, false);
    print();
  }
  void print() {
    out_ << flatzinc_solution_text(model_, values_);
    out_.flush();
  }
  /// `whole`: what is proved is that no other solution is wanted.
  void conclude(CpSearch::Status status, bool found, bool proves, bool whole = true) {
    leaving_.answer();
    const bool proved = status == CpSearch::Status::exhausted && proves;
    if (proved && (whole || !found))
      out_ << (found ? "==========\n" : "=====UNSATISFIABLE=====\n");
    else if (!found)
      out_ << "=====UNKNOWN=====\n";
  }
  template <class Value>
  void stat(std::string_view name, const Value& value) {
    out_ << fmt::format("%%%mzn-stat: {}={}\n", name, value);
  }
  void statistics(const Outcome& outcome) {
    if (outcome.objective && model_.goal != cp::Goal::satisfy) stat("objective", *outcome.objective);
    stat("initTime", fmt::format("{:.6f}", seconds_between(started_, ready_)));
    stat("solveTime", fmt::format("{:.6f}", seconds_between(ready_, Clock::now())));
    stat("steps", outcome.iterations);
    stat("evaluations", outcome.evaluations);
    out_ << "%%%mzn-stat-end\n";
  }
  void statistics(const CpSearch& search, const cp::Network& network, bool last) {
    const SearchStatistics counts = search.statistics();
    if (model_.goal != cp::Goal::satisfy && search.found()) stat("objective", cp::objective_of(model_, values_));
    if (last) {
      if (model_.goal != cp::Goal::satisfy && search.begun()) stat("objectiveBound", search.root_bound());
      stat("variables", network.variables());
      stat("propagators", network.constraints());
      stat("initTime", fmt::format("{:.6f}", seconds_between(started_, ready_)));
    }
    stat("solveTime", fmt::format("{:.6f}", seconds_between(ready_, Clock::now())));
    stat("solutions", counts.solutions);
    stat("nodes", counts.nodes);
    stat("failures", counts.failures);
    stat("restarts", counts.restarts);
    stat("propagations", counts.propagations);
    stat("peakDepth", counts.depth);
    out_ << "%%%mzn-stat-end\n";
  }

  const FlatzincOptions& options_;
  std::ostream& out_;
  std::ostream& err_;
  const std::atomic<bool>& stop_;
  Leaving& leaving_;
  Clock::time_point started_, ready_;
  cp::Model model_;
  std::vector<std::int32_t> values_;  ///< [variable of the model]
};

}  // namespace

FlatzincOptions flatzinc_options(std::span<const char* const> arguments) {
  FlatzincOptions options;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const std::string_view word = arguments[k];
    const auto value = [&](std::int64_t least) {
      if (k + 1 == arguments.size()) throw InputError(fmt::format("{} expects a value", word));
      return number_of(word, arguments[++k], least);
    };
    if (word == "-a" || word == "--all-solutions")
      options.all = true;
    else if (word == "-i" || word == "--intermediate")
      options.intermediate = true;
    else if (word == "-n" || word == "--num-solutions")
      options.solutions = value(0);
    else if (word == "-s" || word == "--statistics")
      options.statistics = true;
    else if (word == "-v" || word == "--verbose")
      options.verbose = true;
    else if (word == "-f" || word == "--free-search")
      options.free = true;
    else if (word == "-p" || word == "--parallel")
      options.threads = static_cast<int>(std::min(value(1), most_threads));
    else if (word == "-r" || word == "--random-seed")
      options.seed = static_cast<std::uint64_t>(value(std::numeric_limits<std::int64_t>::min()));
    else if (word == "-t" || word == "--time-limit")
      options.milliseconds = std::min(value(0), longest);
    else if (word == "-h" || word == "--help")
      options.help = true;
    else if (word == "--version")
      options.version = true;
    else if (word.starts_with("-") && word != "-")
      throw InputError(fmt::format("unknown option {}", word));
    else if (!options.file.empty())
      throw InputError(fmt::format("a second model, {}", word));
    else
      options.file = word;
  }
  if (options.milliseconds == 0) options.milliseconds.reset();  // MiniZinc's way to say none
  if (options.solutions == 0) options.all = true;
  if (options.file.empty() && !options.help && !options.version) throw InputError("no model; usage: fzn-vicinity [options] model.fzn");
  return options;
}

std::string flatzinc_help() {
  return "usage: fzn-vicinity [options] model.fzn\n"
         "  -a, --all-solutions    print all solutions, or all that improve the objective\n"
         "  -i, --intermediate     print all that improve the objective\n"
         "  -n, --num-solutions N  stop after N solutions (0: all)\n"
         "  -f, --free-search      large neighbourhood search beside a complete one, whatever the model says\n"
         "  -t, --time-limit MS    stop after so many milliseconds\n"
         "  -p, --parallel N       threads of -f and lns(...); a complete search alone uses one\n"
         "  -r, --random-seed N    seed of what the search draws\n"
         "  -s, --statistics       print statistics\n"
         "  -v, --verbose          say on stderr what goes on\n"
         "      --version          print the version\n";
}

void solve_flatzinc(const FlatzincOptions& options, std::ostream& out, std::ostream& err, const std::atomic<bool>& stop,
                    const std::function<void()>& leave) {
  Leaving leaving(options, out, stop, leave);
  Session(options, out, err, stop, leaving).run();
}

}  // namespace vicinity::lns
