// The search of cpu-hybrid: generations of lines, each a thread's work, and what is merged between them in the order of lines.
//
// What a line does, and what becomes of it, says core/methods/alns/hybrid/island.hpp. Within a generation no line looks at another, so
// that threads share nothing but the populations, which they only read. Ranks share lines likewise (islands.hpp). Cost: a genetic line
// makes one local search, an annealing one as many steps of string removal as Pace says (axis removals), each of which is the same work at
// any number of customers.
#include "cpu_ref/alns/hybrid/search.hpp"

#include <omp.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "cpu_ref/alns/hybrid/split.hpp"

namespace vicinity::alns::hybrid {
namespace {

std::optional<Routes> given_routes(const Start& start) {
  if (!start.solution) return std::nullopt;
  return vrp::routes_of(*start.solution);
}

bool feasible(const Tours& tours) { return tours.excess_load() == 0 && tours.excess_duration() == 0; }

}  // namespace

Task task_of(const Case& c) {
  Task task = alns::task_of(c);
  if (!c.values.contains("processes")) task.processes = default_lines;
  return task;
}

GeneticSearch::GeneticSearch(const vrp::Vrp& vrp, const Task& task, const Start& start, int threads, Team* team)
    : vrp_(vrp.view()),
      task_(task),
      seed_(start.seed),
      islands_(vrp, task.processes, task.removals, start.seed, given_routes(start), false, team),
      lines_(static_cast<std::size_t>(task.processes)),
      team_(team) {
  const auto most = std::clamp(islands_.end_line() - islands_.first_line(), 1, threads);
  for (std::int32_t t = 0; t < most; ++t) workspaces_.push_back(std::make_unique<Workspace>(vrp_, islands_.granular()));
}

bool GeneticSearch::done() const { return task_.calls > 0 ? generations() >= task_.calls : islands_.idle_cycles() >= most_idle_cycles; }

void GeneticSearch::advance(bool briefly, const Interruption& interruption) {
  if (next_line_ < 0) {
    for (Island& island : islands_.here()) island.next();
    next_line_ = islands_.first_line();
  }
  const auto threads = static_cast<std::int32_t>(workspaces_.size());
  const std::int32_t first = next_line_, last = islands_.end_line(), end = briefly ? std::min(last, first + threads) : last;
  bool interrupted = false, complete = end == last;
  try {
    for_each_in_parallel(end - first, threads, [&](std::int64_t k) {
      work(first + static_cast<std::int32_t>(k), *workspaces_[static_cast<std::size_t>(omp_get_thread_num())],
           team_ == nullptr ? interruption : Interruption(team_->stop()));
    });
  } catch (const Interrupted&) {
    interrupted = true;
  }
  next_line_ = end;
  offer(first, end);
  if (team_ != nullptr) agree(interrupted, complete);
  if (interrupted || (team_ == nullptr && !complete)) islands_.agree_on_best(evaluations());
  if (interrupted) throw Interrupted();
  if (!complete) return;
  next_line_ = -1;
  merge();
}

/// Generation of line b.
void GeneticSearch::work(std::int32_t b, Workspace& workspace, const Interruption& interruption) {
  Line& line = lines_[static_cast<std::size_t>(b)];
  const std::int64_t before = workspace.search.evaluations() + workspace.strings.evaluations();
  const Job job = islands_.of(b).job(b);
  if (anneals(b))
    anneal(b, job, line, workspace, interruption);
  else
    make_child(job, line, workspace, interruption);
  line.evaluations += workspace.search.evaluations() + workspace.strings.evaluations() - before;
}

void GeneticSearch::make_child(const Job& job, Line& line, Workspace& workspace, const Interruption& interruption) const {
  Tours& tours = workspace.tours;
  tours.load_all(split(vrp_, islands_.granular(), job.penalties, job.order, interruption));
  workspace.search.improve(tours, job.penalties, interruption);
  line.handed.load_feasible = tours.excess_load() == 0;
  line.handed.duration_feasible = tours.excess_duration() == 0;
  for (const Penalties& penalties : {stricter(job.penalties), strictest()})
    if (!feasible(tours)) workspace.search.improve(tours, penalties, interruption);
  hand_over(line, workspace);
}

void GeneticSearch::anneal(std::int32_t b, const Job& job, Line& line, Workspace& workspace, const Interruption& interruption) const {
  Tours& tours = workspace.tours;
  if (job.begins()) {
    tours.load_all(job.order.empty() ? job.routes : split(vrp_, islands_.granular(), job.penalties, job.order, interruption));
    if (!job.order.empty()) workspace.search.improve(tours, job.penalties, interruption);
    line.current = tours.routes();
    line.best = feasible(tours) ? line.current : Routes(line.current.size());
    line.best_distance = feasible(tours) ? tours.distance() : no_distance;
    line.penalties = job.penalties;
  }
  Stream stream(seed_, 2 * generations() + 1, b);
  workspace.strings.anneal(line.current, line.best, line.best_distance, line.penalties, stream, job.steps, job.temperature, job.cooling,
                           interruption);
  if (!job.ends) return;
  tours.load_all(line.best_distance < no_distance ? line.best : line.current);
  workspace.search.improve(tours, strictest(), interruption);
  hand_over(line, workspace);
}

void GeneticSearch::hand_over(Line& line, const Workspace& workspace) const {
  line.handed.routes = workspace.tours.routes();
  line.handed.distance = workspace.tours.distance();
  line.handed_feasible = feasible(workspace.tours);
}

// --- between generations -----------------------------------------------------------------------------------------------

/// What lines first .. end - 1 found so far.
void GeneticSearch::offer(std::int32_t first, std::int32_t end) {
  for (std::int32_t b = first; b < end; ++b) {
    Line& line = lines_[static_cast<std::size_t>(b)];
    Island& island = islands_.of(b);
    if (anneals(b)) island.offer(b, false, line.best_distance, line.best);
    if (island.hands_over(b) && line.handed_feasible) island.offer(b, true, line.handed.distance, line.handed.routes);
  }
}

/// Was any rank interrupted, have all come to the end of their lines?
void GeneticSearch::agree(bool& interrupted, bool& complete) {
  const Team::Offer mine{complete ? 1 : 0, 0, 0};
  const std::optional<Team::Offer> least = team_->least(interrupted ? std::nullopt : std::optional(mine));
  interrupted = !least;
  complete = least && least->front() == 1;
}

void GeneticSearch::merge() {
  std::vector<Handed> handed(lines_.size());
  for (std::int32_t b = islands_.first_line(); b < islands_.end_line(); ++b) {
    Line& line = lines_[static_cast<std::size_t>(b)];
    if (anneals(b)) line.handed.distance = line.best_distance;
    handed[static_cast<std::size_t>(b)] = std::move(line.handed);
    line.handed_feasible = false;
  }
  if (islands_.shared()) islands_.exchange(handed);
  const auto threads = static_cast<std::int32_t>(workspaces_.size());
  const Island::Each each = [&](std::size_t count, const std::function<void(std::size_t)>& f) {
    for_each_in_parallel(static_cast<std::int64_t>(count), threads, [&](std::int64_t i) { f(static_cast<std::size_t>(i)); });
  };
  for (Island& island : islands_.here())
    island.merge([&](std::size_t k) { return std::move(handed[static_cast<std::size_t>(island.first()) + k]); }, each);
  islands_.end(1, evaluations());
}

/// Of this rank's lines.
std::int64_t GeneticSearch::evaluations() const {
  std::int64_t evaluations = 0;
  for (const Line& line : lines_) evaluations += line.evaluations;
  return evaluations;
}

TracePoint GeneticSearch::progress() const {
  const auto distance = islands_.best_distance();
  return {.iterations = generations(), .objective = distance ? Objective(*distance) : Objective::infeasible(), .digest = islands_.digest()};
}

Search GeneticSearch::result() const {
  return {generations(),  islands_.cycles(), islands_.evaluations(), islands_.digest(), islands_.best_distance().value_or(0),
          islands_.best()};
}

}  // namespace vicinity::alns::hybrid
