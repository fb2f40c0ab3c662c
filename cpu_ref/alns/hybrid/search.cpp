// The search of cpu-hybrid: generations of lines, each a thread's work, and what is merged between them in the order of lines.
//
// What a line does, and what becomes of it, says core/methods/alns/hybrid/islands.hpp. Within a generation no line looks at another, so
// that threads share nothing but the populations, which they only read. Cost: a genetic line makes one local search, an annealing one 2n
// steps of string removal, each of which takes the same time at any number of customers.
#include "cpu_ref/alns/hybrid/search.hpp"

#include <omp.h>

#include <algorithm>
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

GeneticSearch::GeneticSearch(const vrp::Vrp& vrp, const Task& task, const Start& start, int threads)
    : vrp_(vrp.view()),
      task_(task),
      seed_(start.seed),
      islands_(vrp, task.processes, start.seed, given_routes(start)),
      lines_(static_cast<std::size_t>(task.processes)) {
  const auto most = std::min<std::int64_t>(threads, task.processes);
  for (std::int64_t t = 0; t < most; ++t) workspaces_.push_back(std::make_unique<Workspace>(vrp_, islands_.granular()));
}

bool GeneticSearch::done() const { return task_.calls > 0 ? generations() >= task_.calls : islands_.idle_cycles() >= most_idle_cycles; }

void GeneticSearch::advance(bool briefly, const Interruption& interruption) {
  const auto count = static_cast<std::int32_t>(lines_.size()), threads = static_cast<std::int32_t>(workspaces_.size());
  if (next_line_ == 0) islands_.next();
  const std::int32_t end = briefly ? std::min(count, next_line_ + threads) : count;
  const auto offer_all = [&] {
    for (std::int32_t b = next_line_; b < end; ++b) offer(b);
  };
  try {
    for_each_in_parallel(end - next_line_, threads, [&](std::int64_t k) {
      work(next_line_ + static_cast<std::int32_t>(k), *workspaces_[static_cast<std::size_t>(omp_get_thread_num())], interruption);
    });
  } catch (const Interrupted&) {
    offer_all();
    throw;
  }
  offer_all();
  next_line_ = end;
  if (end < count) return;
  next_line_ = 0;
  merge();
}

/// Generation of line b.
void GeneticSearch::work(std::int32_t b, Workspace& workspace, const Interruption& interruption) {
  Line& line = lines_[static_cast<std::size_t>(b)];
  const std::int64_t before = workspace.search.evaluations() + workspace.strings.evaluations();
  const Job job = islands_.job(b);
  if (anneals(b))
    anneal(b, job, line, workspace, interruption);
  else
    make_child(job, line, workspace, interruption);
  line.evaluations += workspace.search.evaluations() + workspace.strings.evaluations() - before;
}

void GeneticSearch::make_child(const Job& job, Line& line, Workspace& workspace, const Interruption& interruption) const {
  Tours& tours = workspace.tours;
  tours.load_all(split(vrp_, islands_.granular(), job.penalties, job.order));
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
    tours.load_all(job.order.empty() ? job.routes : split(vrp_, islands_.granular(), job.penalties, job.order));
    if (!job.order.empty()) workspace.search.improve(tours, job.penalties, interruption);
    line.current = tours.routes();
    line.best = feasible(tours) ? line.current : Routes(line.current.size());
    line.best_distance = feasible(tours) ? tours.distance() : no_distance;
    line.penalties = job.penalties;
  }
  Stream stream(seed_, 2 * generations() + 1, b);
  workspace.strings.anneal(line.current, line.best, line.best_distance, line.penalties, stream, steps_of(vrp_.n), job.temperature,
                           job.cooling, interruption);
  if (!job.ends) return;
  tours.load_all(line.best_distance < no_distance ? line.best : line.current);
  workspace.search.improve(tours, strictest(), interruption);
  hand_over(line, workspace);
}

void GeneticSearch::hand_over(Line& line, const Workspace& workspace) const {
  line.handed.routes = workspace.tours.routes();
  line.handed_distance = workspace.tours.distance();
  line.handed_feasible = feasible(workspace.tours);
}

// --- between generations -----------------------------------------------------------------------------------------------

/// What line b found so far.
void GeneticSearch::offer(std::int32_t b) {
  const Line& line = lines_[static_cast<std::size_t>(b)];
  if (anneals(b) && line.best_distance < no_distance) islands_.offer(line.best, line.best_distance);
  if ((!anneals(b) || islands_.cycle_ends()) && line.handed_feasible) islands_.offer(line.handed.routes, line.handed_distance);
}

void GeneticSearch::merge() {
  std::vector<Handed> handed;
  for (std::size_t b = 0; b < lines_.size(); ++b) {
    Line& line = lines_[b];
    digest_.add(static_cast<std::uint64_t>(anneals(static_cast<std::int32_t>(b)) ? line.best_distance : line.handed_distance));
    handed.push_back(std::move(line.handed));
  }
#pragma omp parallel for num_threads(static_cast <int>(workspaces_.size())) schedule(dynamic, 1) if (islands_.size() > 1)
  for (std::size_t i = 0; i < islands_.size(); ++i) islands_.merge(i, handed);
  islands_.end();
}

TracePoint GeneticSearch::progress() const {
  const auto& distance = islands_.best_distance();
  return {.iterations = generations(), .objective = distance ? Objective(*distance) : Objective::infeasible(), .digest = digest_.value()};
}

Search GeneticSearch::result() const {
  std::int64_t evaluations = 0;
  for (const Line& line : lines_) evaluations += line.evaluations;
  return {generations(), islands_.cycles(), evaluations, digest_.value(), islands_.best_distance().value_or(0), islands_.best()};
}

}  // namespace vicinity::alns::hybrid
