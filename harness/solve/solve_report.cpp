#include "harness/solve/solve_report.hpp"

#include <fmt/format.h>

#include "harness/cli/text.hpp"
#include "harness/solve/solve_progress.hpp"

namespace vicinity {
namespace {

const char* stop_name(Stop stop) {
  switch (stop) {
    case Stop::done:
      return "done";
    case Stop::time:
      return "time";
    case Stop::target:
      return "target";
    case Stop::signal:
      return "signal";
  }
  return "done";
}

std::string work_text(const SolveReport& report) {
  const Outcome& outcome = report.found.outcome;
  std::string text = fmt::format("{}", outcome.iterations);
  if (report.whole_work > 0 && outcome.iterations != report.whole_work) text += fmt::format(" of {}", report.whole_work);
  std::string end;
  if (report.found.stop == Stop::done && report.whole_work > 0 && outcome.iterations < report.whole_work) end = ": ended by itself";
  if (report.found.stop == Stop::time) end = ": stopped by --time";
  if (report.found.stop == Stop::target) end = ": reached --target";
  if (report.found.stop == Stop::signal) end = ": INTERRUPTED";
  if (report.target && !outcome.objective.reaches(*report.target))
    end += fmt::format("{} --target {} not reached", end.empty() ? ":" : ",", objective_text(*report.target, report.scale));
  return text + end;
}

std::string output_text(const SolveReport& report) {
  if (report.output.empty()) return "not written";
  if (!report.output_kept) return report.output;
  return fmt::format("{} keeps its own, which costs {} (--force replaces it)", report.output,
                     objective_text(*report.output_kept, report.scale));
}

/// In units of the problem's files.
template <class Maybe>
Json objective_or_null(const Maybe& objective, std::int32_t scale) {
  if (!objective || scale == 1) return or_null(objective);
  return static_cast<double>(*objective) / scale;
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json settings_json(const SolveReport& report) {
  Json json = Json::object();
  for (const auto& [axis, value] : report.c.values) {
    if (axis != report.system->solver->work_axis) json[axis] = to_json(value);
  }
  return json;
}

void add_found(const SolveReport& report, Json& json) {
  const Outcome& outcome = report.found.outcome;
  json["feasible"] = outcome.feasible;
  json["complaint"] = text_or_null(outcome.complaint);
  json["objective"] = objective_or_null(outcome.objective, report.scale);
  json["best_known"] = objective_or_null(report.best_known, report.scale);
  json["gap_percent"] = or_null(gap_percent(outcome.objective, report.best_known));
  json["counters"] = Json::object();
  for (const auto& [name, value] : outcome.counters) json["counters"][name] = value;
  json["digest"] = hex16(outcome.digest);
  json["seconds"] = report.found.seconds;
  json["per_second"] = report.found.speed();
  json["stopped_by"] = stop_name(report.found.stop);
  json["interrupted"] = report.found.stop == Stop::signal;
  json["solution"] = outcome.feasible ? Json(outcome.solution) : Json();
}

}  // namespace

std::string summary_text(const SolveReport& report) {
  const Outcome& outcome = report.found.outcome;
  std::string text;
  const auto add = [&](const std::string& name, const std::string& value) { text += fmt::format("{:<15} {}\n", name, value); };
  add("instance", report.size.empty() ? report.instance : fmt::format("{} ({})", report.instance, report.size));
  add("implementation", fmt::format("{}, seed {}", report.implementation->name, report.seed));
  if (report.start_objective) add("start", fmt::format("{} ({})", objective_text(*report.start_objective, report.scale), report.start));
  const auto* words = extra_of<SolutionWords>(*report.system->solver);
  add("best found", objective_text(outcome.objective, report.best_known, report.scale) + solution_text(words, outcome));
  if (report.best_known) add("best known", objective_text(*report.best_known, report.scale));
  add(unit_of(*report.system->solver, *report.implementation), work_text(report));
  add("time", fmt::format("{}, {} {}/s", human_seconds(report.found.seconds), human_count(report.found.speed()),
                          unit_of(*report.system->solver, *report.implementation)));
  add("solution", output_text(report));
  if (!report.plot.empty()) add("drawing", report.plot);
  return text;
}

Json summary_json(const SolveReport& report) {
  const Solver& solver = *report.system->solver;
  constexpr const char* chosen_by[]{"user", "time", "default"};
  Json json{{"schema", 1},
            {"system", report.system->name},
            {"instance", report.instance},
            {"size", text_or_null(report.size)},
            {"implementation", report.implementation->name},
            {"seed", report.seed},
            {solver.work_axis, report.c.integer(solver.work_axis, 1, solver.most_work)},
            {solver.work_axis + "_chosen_by", chosen_by[static_cast<int>(report.work_by)]},
            {"settings", settings_json(report)},
            {"time_limit", or_null(report.time_limit)},
            {"start", text_or_null(report.start)},
            {"start_objective", objective_or_null(report.start_objective, report.scale)},
            {"unit", unit_of(solver, *report.implementation)},
            {"asked", report.whole_work > 0 ? Json(report.whole_work) : Json()},
            {"done", report.found.outcome.iterations}};
  add_found(report, json);
  json["output"] = text_or_null(report.output);
  json["plot"] = text_or_null(report.plot);
  json["output_kept"] = report.output_kept.has_value();
  return json;
}

}  // namespace vicinity
