// The search of cpu-hybrid: generations of lines, each a thread's work, and what is merged between them in the order of lines.
//
// A line anneals from its start to the end of a cycle; then all lines hand their best to the population, and begin the next cycle with a
// child of two of it, by order crossover, split and local search, or with one of it as it is. In between no line looks at another, so
// that threads share nothing but the population, which they only read. Cost: a generation of a line is 1000 steps of string removal, which
// take the same time at any number of customers; a cycle begins and ends with a local search.
#include "cpu_ref/alns/hybrid/search.hpp"

#include <omp.h>

#include <algorithm>
#include <utility>

namespace vicinity::alns::hybrid {
namespace {

/// Cycles without a better solution that end a search without a limit.
constexpr std::int64_t most_idle_cycles = 6;

constexpr std::int32_t default_lines = 4;

/// What an infeasible local optimum is improved under.
Penalties stricter(const Penalties& penalties, std::int64_t factor) {
  return {std::min(most_penalty, penalties.load * factor), std::min(most_penalty, penalties.duration * factor)};
}

Penalties strictest() { return {most_penalty, most_penalty}; }

}  // namespace

Task task_of(const Case& c) {
  Task task = alns::task_of(c);
  if (!c.values.contains("processes")) task.processes = default_lines;
  return task;
}

GeneticSearch::GeneticSearch(const vrp::Vrp& vrp, const Task& task, const Start& start, int threads)
    : instance_(&vrp),
      vrp_(vrp.view()),
      task_(task),
      seed_(start.seed),
      granular_(vrp),
      schedule_(vrp.size()),
      population_(vrp, granular_),
      lines_(static_cast<std::size_t>(task.processes)) {
  if (start.solution) {
    given_ = vrp::routes_of(*start.solution);
    granular_.routes = std::max(granular_.routes, static_cast<std::int32_t>(given_->size()));
    given_->resize(static_cast<std::size_t>(granular_.routes));
    best_ = *given_;
    best_distance_ = individual_of(vrp_, *given_).distance;
  }
  const auto most = std::min<std::int64_t>(threads, task.processes);
  for (std::int64_t t = 0; t < most; ++t) workspaces_.push_back(std::make_unique<Workspace>(vrp_, granular_));
}

bool GeneticSearch::done() const { return task_.calls > 0 ? generations_ >= task_.calls : idle_cycles_ >= most_idle_cycles; }

void GeneticSearch::advance(bool briefly, const Interruption& interruption) {
  const auto count = static_cast<std::int32_t>(lines_.size()), threads = static_cast<std::int32_t>(workspaces_.size());
  if (next_line_ == 0) schedule_.next();
  const std::int32_t end = briefly ? std::min(count, next_line_ + threads) : count;
  const auto take_all = [&] {
    for (std::int32_t b = next_line_; b < end; ++b) take_best(lines_[static_cast<std::size_t>(b)]);
  };
  try {
    for_each_in_parallel(end - next_line_, threads, [&](std::int64_t k) {
      work(next_line_ + static_cast<std::int32_t>(k), *workspaces_[static_cast<std::size_t>(omp_get_thread_num())], interruption);
    });
  } catch (const Interrupted&) {
    take_all();
    throw;
  }
  take_all();
  next_line_ = end;
  if (end < count) return;
  next_line_ = 0;
  merge();
}

/// Generation of line b.
void GeneticSearch::work(std::int32_t b, Workspace& workspace, const Interruption& interruption) {
  Line& line = lines_[static_cast<std::size_t>(b)];
  Stream stream(seed_, generations_, b);
  const std::int64_t before = workspace.search.evaluations() + workspace.strings.evaluations();
  if (schedule_.begins() || !line.feasible) begin(b, line, stream, workspace, interruption);
  if (line.feasible) {
    const double hot = line.fresh ? hottest : reheated;
    workspace.strings.anneal(line.current, line.best, line.best_distance, stream, steps_a_generation,
                             schedule_.temperature(hot, granular_.spread), schedule_.cooling(hot), interruption);
    if (schedule_.ends()) polish(line, workspace, interruption);
  }
  line.evaluations += workspace.search.evaluations() + workspace.strings.evaluations() - before;
}

// --- how a line begins a cycle -----------------------------------------------------------------------------------------

void GeneticSearch::begin(std::int32_t b, Line& line, Stream& stream, Workspace& workspace, const Interruption& interruption) const {
  const std::int32_t way = population_.empty() ? 0 : stream.below(4);
  line.fresh = way == 0;
  line.child = way > 1;
  if (line.fresh) {
    educate(line, first_routes(b, stream), workspace, interruption);  // soft limits need fewer routes, and string removal seldom loses one
    return;
  }
  const Individual &first = population_.parent(stream), &second = population_.parent(stream);
  if (line.child || !first.feasible()) {
    line.child = true;
    const auto order = order_crossover(giant_tour(vrp_, granular_, first.routes), giant_tour(vrp_, granular_, second.routes), stream);
    educate(line, split(vrp_, granular_, population_.penalties(), order), workspace, interruption);
    if (line.feasible || !first.feasible()) return;
  }
  adopt(line, first.routes);
}

/// A feasible solution as it is.
void GeneticSearch::adopt(Line& line, Routes routes) const {
  line.best_distance = individual_of(vrp_, routes).distance;
  line.current = line.best = std::move(routes);
  line.feasible = true;
}

/// The given solution, or a cut of the customers around the depot, from a drawn one on.
Routes GeneticSearch::first_routes(std::int32_t b, Stream& stream) const {
  if (b == 0 && given_ && generations_ == 0) return *given_;
  std::vector<std::int32_t> order(static_cast<std::size_t>(vrp_.n));
  for (std::int32_t c = 1; c <= vrp_.n; ++c) order[static_cast<std::size_t>(granular_.rank[static_cast<std::size_t>(c)])] = c;
  std::rotate(order.begin(), order.begin() + stream.below(vrp_.n), order.end());
  return split(vrp_, granular_, population_.penalties(), order);
}

/// Local search; of an infeasible optimum once more under ten times the penalties, then under the strictest.
void GeneticSearch::educate(Line& line, const Routes& routes, Workspace& workspace, const Interruption& interruption) const {
  Tours& tours = workspace.tours;
  tours.load_all(routes);
  workspace.search.improve(tours, population_.penalties(), interruption);
  line.load_feasible = tours.excess_load() == 0;
  line.duration_feasible = tours.excess_duration() == 0;
  line.feasible = line.load_feasible && line.duration_feasible;
  for (const Penalties& penalties : {stricter(population_.penalties(), 10), strictest()}) {
    if (line.feasible) break;
    workspace.search.improve(tours, penalties, interruption);
    line.feasible = tours.excess_load() == 0 && tours.excess_duration() == 0;
  }
  line.current = line.best = tours.routes();
  line.best_distance = tours.distance();
}

void GeneticSearch::polish(Line& line, Workspace& workspace, const Interruption& interruption) const {
  workspace.tours.load_all(line.best);
  workspace.search.improve(workspace.tours, strictest(), interruption);
  line.best = workspace.tours.routes();
  line.best_distance = workspace.tours.distance();
}

// --- between generations -----------------------------------------------------------------------------------------------

void GeneticSearch::take_best(const Line& line) {
  if (!line.feasible || (best_distance_ && line.best_distance >= *best_distance_)) return;
  best_ = line.best;
  best_distance_ = line.best_distance;
  improved_ = true;
}

void GeneticSearch::merge() {
  for (const Line& line : lines_) digest_.add(static_cast<std::uint64_t>(line.best_distance));
  std::int64_t children = 0, load_feasible = 0, duration_feasible = 0;
  for (const Line& line : lines_) {
    if (line.feasible && !schedule_.ends()) continue;  // goes on
    population_.add(individual_of(vrp_, line.best));
    if (!line.child) continue;
    ++children;
    load_feasible += static_cast<std::int64_t>(line.load_feasible);
    duration_feasible += static_cast<std::int64_t>(line.duration_feasible);
  }
  if (children > 0) population_.adapt(children, load_feasible, duration_feasible);
  if (schedule_.ends()) {
    idle_cycles_ = improved_ ? 0 : idle_cycles_ + 1;
    improved_ = false;
  }
  ++generations_;
}

TracePoint GeneticSearch::progress() const {
  return {.iterations = generations_,
          .objective = best_distance_ ? Objective(*best_distance_) : Objective::infeasible(),
          .digest = digest_.value()};
}

Search GeneticSearch::result() const {
  std::int64_t evaluations = 0;
  for (const Line& line : lines_) evaluations += line.evaluations;
  Search search{generations_, schedule_.cycle(), evaluations, digest_.value(), best_distance_.value_or(0), {}};
  if (best_distance_) search.best = best_;
  return search;
}

}  // namespace vicinity::alns::hybrid
