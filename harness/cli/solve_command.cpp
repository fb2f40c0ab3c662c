#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <utility>

#include "core/api/device.hpp"
#include "core/util/error.hpp"
#include "core/util/parallel.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/interrupt.hpp"
#include "harness/cli/text.hpp"
#include "harness/measure/threads.hpp"
#include "harness/record/recorder.hpp"
#include "harness/solve/plot_file.hpp"
#include "harness/solve/solution_file.hpp"
#include "harness/solve/solve.hpp"
#include "harness/solve/solve_progress.hpp"
#include "harness/solve/solve_report.hpp"
#include "systems/file_extras.hpp"

namespace vicinity {
namespace {

/// One search. The constructor finds every mistake; nothing is searched before.
class Solving {
 public:
  Solving(const Options& options, const std::vector<System>& systems)
      : options_(options),
        asked_(options.solve),
        system_(solvable_system(systems, options.system)),
        solver_(*system_.solver),
        case_(case_of(solver_, asked_.settings)),
        start_(options.seed),
        candidates_(candidates(system_, asked_.implementation, device::info().has_value())) {
    if (asked_.seconds && !(*asked_.seconds > 0 && std::isfinite(*asked_.seconds)))
      throw InputError(fmt::format("--time: {} is not a number of seconds above 0", *asked_.seconds));
    if (std::none_of(candidates_.begin(), candidates_.end(), [](const Implementation* i) { return i->pace.has_value(); }))
      case_.values.insert(solver_.better.begin(), solver_.better.end());  // of the solver's own method
    case_.values[solver_.work_axis] = given_work();
    if (work_by_ == WorkBy::time) suit_threads();
    clock_ = Stopwatch();
    constexpr double grace = 0.15;  // a small instance is read whatever the time is
    if (asked_.seconds) set_deadline(*asked_.seconds + grace, "vicinity: error: --time is over before the search begins; give more\n");
    instance_ = instance_of(system_, asked_.instance, systems);
    case_.problem = solver_.files->problem_of(*instance_);
    instance_ = with_settings(instance_);
    set_deadline(INFINITY, "");  // a device takes its time to get ready; then the search has none left
    scale_ = solver_.files->scale_of(*instance_);
    if (!asked_.plot.empty()) static_cast<void>(drawing({}));
    if (asked_.target) target_ = target_in_units(*asked_.target);
    if (!asked_.start.empty()) {
      start_.solution = solver_.files->read_solution(*instance_, asked_.start);
      start_objective_ = solver_.files->objective_of(*instance_, *start_.solution).value();
      if (const std::string what = of_another(asked_.start); !what.empty())
        print_stderr("vicinity: warning: --start: {}; the search begins with it all the same\n", what);
    }
    prepared_ = prepare_first(candidates_, case_, *instance_);
    keep_pace();
  }

  int run() {
    const SolutionFile file(output_path(), instance_path(asked_.instance), asked_.force,
                            [this](const std::string& path) { return objective_in(path); });
    if (!asked_.plot.empty())
      plot_.emplace(asked_.plot, asked_.force,
                    std::vector<std::filesystem::path>{instance_path(asked_.instance), file.path(), asked_.start});
    defer_interrupts("\nvicinity: stopping; once more ends it at once, without a solution\n");
    if (asked_.seconds) set_deadline(*seconds_left(), "");
    if (asked_.implementation.empty() && !anytime()) choose_implementation();
    if (work_by_ == WorkBy::time && !anytime()) choose_work();
    SolveReport report = report_before();
    report.found = searched(report);
    if (goes_on()) go_on(report);
    if (report.found.outcome.feasible) return deliver(file, report);
    return report.found.outcome.solution.empty() && report.found.stop != Stop::done ? stopped_too_soon(report) : invalid(report);
  }

 private:
  void suit_threads() {
    const auto* files = extra_of<TimedSettings>(solver_);
    if (files == nullptr) return;
    const auto given = case_.values.find("threads");
    const auto* const threads = given == case_.values.end() ? nullptr : std::get_if<std::int64_t>(&given->second);
    case_.values.merge(files->timed(candidates_.front()->name, threads != nullptr ? *threads : static_cast<std::int64_t>(usable_cores())));
  }

  [[nodiscard]] std::shared_ptr<const Instance> with_settings(std::shared_ptr<const Instance> instance) const {
    const auto* files = extra_of<InstanceSettings>(solver_);
    if (files == nullptr) return instance;
    try {
      instance = files->with_settings(std::move(instance), case_);
    } catch (const InputError& complaint) {
      throw InputError(std::string("--set: ") + complaint.what());
    }
    if (const std::string what = files->unsolvable(*instance); !what.empty()) throw InputError(asked_.instance + ": " + what);
    return instance;
  }

  [[nodiscard]] std::string drawing(const Solution& solution) const {
    const auto* files = extra_of<SolutionDrawing>(solver_);
    if (files == nullptr) throw InputError(fmt::format("--plot: solutions of '{}' are not drawn", system_.name));
    try {
      return files->drawing_of(*instance_, solution);
    } catch (const InputError& complaint) {
      throw InputError(fmt::format("--plot: {}: {}", asked_.instance, complaint.what()));
    }
  }

  /// Where it was asked for. Why it could not be written; empty: it was, or was not asked for.
  [[nodiscard]] std::string draw(SolveReport& report) const {
    if (!plot_) return "";
    try {
      plot_->write(drawing(report.found.outcome.solution));
    } catch (const EnvironmentError& error) {
      return error.what();
    }
    report.plot = plot_->path();
    return "";
  }

  /// What a solution file says of its instance, where that is another one.
  [[nodiscard]] std::string of_another(const std::string& file) const {
    const auto* files = extra_of<NamedSolutions>(solver_);
    return files == nullptr ? "" : files->of_another(*instance_, file);
  }

  /// Of the file that the solution goes to: another instance's stays what it is.
  [[nodiscard]] Objective objective_in(const std::string& file) const {
    const Solution solution = solver_.files->read_solution(*instance_, file);
    if (const std::string what = of_another(file); !what.empty()) throw InputError(what);
    return solver_.files->objective_of(*instance_, solution);
  }

  [[nodiscard]] std::int64_t target_in_units(double target) const {
    const double units = target * scale_;
    if (!(std::abs(units) < 0x1p62) || std::abs(units - std::round(units)) > 1e-6 * std::max(1.0, std::abs(units)))
      throw InputError(fmt::format("--target: {} is no objective of this instance: they are multiples of {}", target, 1.0 / scale_));
    return std::llround(units);
  }

  /// The work axis; when the time shall decide 1, or what no time suffices for.
  [[nodiscard]] std::int64_t given_work() {
    for (const auto& [axis, text] : asked_.work) {
      if (text.empty()) continue;
      if (axis != solver_.work_axis) throw InputError(fmt::format("--{}: system '{}' counts --{}", axis, system_.name, solver_.work_axis));
      work_by_ = WorkBy::user;
      return parse_work("--" + axis, text, solver_.most_work);
    }
    if (asked_.seconds) work_by_ = WorkBy::time;
    if (asked_.seconds) return solver_.anytime ? solver_.most_work : 1;
    return solver_.default_work;
  }

  /// An implementation may count other work than the system.
  void keep_pace() {
    const auto& pace = prepared_.implementation->pace;
    if (!pace || work_by_ == WorkBy::user) return;
    case_.values[solver_.work_axis] = work_by_ == WorkBy::fallback ? pace->default_work : pace->anytime ? solver_.most_work : 1;
    prepared_.run.reset();  // a device may have no room for both
    prepared_.run = prepared_.implementation->prepare(case_, *instance_);
  }
  [[nodiscard]] bool anytime() const {
    const auto& pace = prepared_.implementation->pace;
    return pace ? pace->anytime : solver_.anytime;
  }

  /// Does the search go on until the time is over, with no work planned?
  [[nodiscard]] bool endless() const {
    if (work_by_ != WorkBy::time) return false;
    if (anytime()) return true;
    const auto* files = extra_of<EndlessSearches>(solver_);
    return files != nullptr && !prepared_.implementation->pace && files->endless(case_);
  }

  [[nodiscard]] std::int64_t whole_work() const {
    const auto& pace = prepared_.implementation->pace;
    return (pace && pace->whole_work != nullptr ? pace->whole_work : solver_.whole_work)(case_);
  }

  /// The user's file, else the instance's name in the current folder.
  [[nodiscard]] std::string output_path() const {
    if (!asked_.output.empty()) return asked_.output;
    return std::filesystem::path(asked_.instance).stem().string() + solver_.files->solution_suffix(*instance_);
  }

  /// Of --time, which counts from the reading of the instance on.
  [[nodiscard]] std::optional<double> seconds_left() const {
    if (!asked_.seconds) return std::nullopt;
    return std::max(0.0, *asked_.seconds - clock_.seconds());
  }

  /// The fastest here, on this instance: which one that is depends on its size, on how many moves are accepted, and on the machine.
  void choose_implementation() {
    constexpr double most_seconds = 0.05;
    std::vector<const Implementation*> twins;
    std::copy_if(candidates_.begin(), candidates_.end(), std::back_inserter(twins),
                 [&](const Implementation* i) { return i->reference == prepared_.implementation->reference; });
    if (twins.size() < 2) return;
    Case whole = case_;
    if (work_by_ == WorkBy::time) whole.values[solver_.work_axis] = solver_.most_work;
    prepared_.run.reset();
    const double seconds = std::min(most_seconds, seconds_left().value_or(INFINITY) / 40);
    prepared_ = prepare_first(fastest_first(twins, solver_, whole, *instance_, options_.seed, seconds), case_, *instance_);
  }

  /// By the time; all that there is where no plan is needed.
  void choose_work() {
    prepared_.run.reset();
    constexpr double first_share = 0.8;  // others go on from it: one that is cut off, as the machine slows down, would be worse
    const double seconds = (goes_on() ? first_share : 1) * *seconds_left();
    const std::int64_t work =
        endless() ? solver_.most_work : work_within(seconds, solver_, *prepared_.implementation, case_, *instance_, options_.seed);
    case_.values[solver_.work_axis] = work;
    prepared_.run = prepared_.implementation->prepare(case_, *instance_);
    if (!asked_.quiet && !endless())
      print_stderr("{}: about {} s allow --{} {}\n", prepared_.implementation->name, *asked_.seconds, solver_.work_axis, work);
  }

  [[nodiscard]] SolveReport report_before() const {
    SolveReport report;
    report.system = &system_;
    report.implementation = prepared_.implementation;
    report.instance = asked_.instance;
    report.size = solver_.files->size_of(*instance_);
    report.c = case_;
    report.seed = options_.seed;
    report.work_by = work_by_;
    report.whole_work = endless() ? 0 : whole_work();
    report.time_limit = asked_.seconds;
    report.target = target_;
    report.start = asked_.start;
    report.scale = scale_;
    report.start_objective = start_objective_;
    report.best_known = solver_.files->best_known_of(*instance_);
    return report;
  }

  [[nodiscard]] Found searched(const SolveReport& report) {
    const std::optional<double> seconds = seconds_left();
    SolveProgress progress({report.whole_work, unit_of(solver_, *prepared_.implementation), seconds, report.best_known, scale_,
                            extra_of<SolutionWords>(solver_)},
                           asked_.quiet);
    const Unbound unbound(prepared_.implementation->backend == Backend::gpu);
    const bool at_start = prepared_.implementation->backend == Backend::cpu && !prepared_.implementation->over_ranks;
    return search(*prepared_.run, start_, seconds, target_, progress, at_start);
  }

  /// May planned work end before the time does, and searches go on from there? Ranks take too long to start.
  [[nodiscard]] bool goes_on() const {
    return work_by_ == WorkBy::time && !endless() && !prepared_.implementation->over_ranks && extra_of<FurtherSearches>(solver_) != nullptr;
  }

  /// Further searches from the best, each as long as most of what is left allows by the speed of the one before, or all of it where that
  /// needs no plan. What they find replaces the best where it is better; what they do is added.
  void go_on(SolveReport& report) {
    constexpr double least_share = 0.01, margin = 0.9;  // of --time, that is worth a search; of what is left
    Found last = report.found;
    if (last.stop != Stop::done || !last.outcome.feasible) return;
    std::int64_t work = case_.integer(solver_.work_axis, 1, solver_.most_work);
    const Case further = extra_of<FurtherSearches>(solver_)->further(case_, *instance_, stop_requested());
    while (last.stop == Stop::done && *seconds_left() > least_share * *asked_.seconds) {
      const double fitting = margin * *seconds_left() * static_cast<double>(work) / std::max(last.seconds, 1e-7);
      case_ = further;
      work = endless() ? solver_.most_work : static_cast<std::int64_t>(std::clamp(fitting, 1.0, static_cast<double>(solver_.most_work)));
      case_.values[solver_.work_axis] = work;
      prepared_.run.reset();
      prepared_.run = prepared_.implementation->prepare(case_, *instance_);
      start_ = Start(start_.seed + 1, report.found.outcome.solution);
      if (!asked_.quiet)
        print_stderr("{}: then from the best{} --seed {}{}\n", prepared_.implementation->name,
                     endless() ? "" : fmt::format(" --{} {}", solver_.work_axis, work), start_.seed, changed_settings(report.c));
      SolveReport part = report_before();
      last = searched(part);
      take(last, part.whole_work, report);
    }
  }

  /// Where a further search is another than `first`: " --set t0=40 tf=5".
  [[nodiscard]] std::string changed_settings(const Case& first) const {
    std::string text;
    for (const auto& [axis, value] : case_.values)
      if (const auto had = first.values.find(axis); axis != solver_.work_axis && (had == first.values.end() || had->second != value))
        text += fmt::format(" {}={}", axis, to_string(value));
    return text.empty() ? "" : " --set" + text;
  }

  static void take(const Found& last, std::int64_t whole_work, SolveReport& report) {
    Found& found = report.found;
    const Outcome before = found.outcome;
    if (!last.outcome.feasible || last.outcome.objective.better_than(before.objective)) found.outcome = last.outcome;
    found.outcome.iterations = before.iterations + last.outcome.iterations;
    found.outcome.evaluations = before.evaluations + last.outcome.evaluations;
    found.seconds += last.seconds;
    found.stop = last.stop;
    report.whole_work = whole_work > 0 ? report.whole_work + whole_work : 0;
  }

  /// Names of files may be no UTF-8.
  static void print_json(const SolveReport& report) {
    fmt::print("{}\n", summary_json(report).dump(-1, ' ', false, Json::error_handler_t::replace));
  }

  int invalid(const SolveReport& report) const {
    if (options_.json) print_json(report);
    std::fflush(stdout);
    print_stderr("vicinity: {}{} found no solution: {}; nothing is written\n",
                 report.found.outcome.solution.empty() ? "" : "INVALID: ", report.implementation->name,
                 report.found.outcome.complaint.empty() ? "the oracle rejects it" : report.found.outcome.complaint);
    return exit_check_failed;
  }

  int stopped_too_soon(SolveReport& report) const {
    const bool by_signal = report.found.stop == Stop::signal;
    report.found.outcome.complaint = fmt::format("{} before a first solution was made", by_signal ? "stopped" : "--time was over");
    if (options_.json) print_json(report);
    std::fflush(stdout);
    print_stderr("vicinity: {}; nothing is written\n", report.found.outcome.complaint);
    return by_signal ? exit_interrupted : exit_input;
  }

  /// Writes the solution and prints what is to be said. A solution that cannot be written after all is printed: it may have cost hours.
  int deliver(const SolutionFile& file, SolveReport& report) const {
    const std::string text = solver_.files->text_of(*instance_, report.found.outcome.solution);
    std::string failure;
    try {
      if (const auto kept = file.replace_if_better(report.found.outcome.objective, text)) report.output_kept = kept->value();
      report.output = file.path();
    } catch (const std::runtime_error& error) {
      failure = error.what();
    }
    const std::string no_plot = draw(report);
    if (options_.json) {
      print_json(report);
    } else if (!asked_.quiet) {
      fmt::print("{}", summary_text(report));
    }
    std::fflush(stdout);
    if (failure.empty() && !no_plot.empty()) throw EnvironmentError(no_plot + "; the solution is written");
    if (failure.empty()) return report.found.stop == Stop::signal ? exit_interrupted : exit_ok;
    if (!options_.json) fmt::print("{}", text);
    throw EnvironmentError(failure + (options_.json ? "" : "; the solution is printed instead"));
  }

  const Options& options_;
  const SolveOptions& asked_;
  Stopwatch clock_;  ///< of --time
  const System& system_;
  const Solver& solver_;
  Case case_;
  Start start_;
  WorkBy work_by_ = WorkBy::fallback;
  std::vector<const Implementation*> candidates_;
  std::shared_ptr<const Instance> instance_;
  std::int32_t scale_ = 1;  ///< of objectives
  std::optional<std::int64_t> target_;
  std::optional<std::int64_t> start_objective_;
  Prepared prepared_;
  std::optional<PlotFile> plot_;
};

}  // namespace

int solve_command(const Options& options, const std::vector<System>& systems) { return Solving(options, systems).run(); }

}  // namespace vicinity
