// The search of cpu-hybrid: generations of lines, each a thread's work, and what is merged between them in the order of lines.
//
// What a line does, and what becomes of it, says core/methods/alns/hybrid/islands.hpp. Within a generation no line looks at another, so
// that threads share nothing but the populations, which they only read. Ranks share lines likewise: each has all populations, and merges
// what all lines hand back, which ranks tell each other once a generation (n numbers a line). Cost: a genetic line makes one local search,
// an annealing one n / 5 steps of string removal (axis removals), each of which takes the same time at any number of customers.
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

void append(const Routes& routes, std::vector<std::int64_t>& words) {
  words.push_back(static_cast<std::int64_t>(routes.size()));
  for (const auto& route : routes) {
    words.push_back(static_cast<std::int64_t>(route.size()));
    words.insert(words.end(), route.begin(), route.end());
  }
}
/// What append() put there; `word` is then behind it.
Routes taken(std::vector<std::int64_t>::const_iterator& word) {
  Routes routes(static_cast<std::size_t>(*word++));
  for (auto& route : routes) {
    const std::int64_t count = *word++;
    route.assign(word, word + count);
    word += count;
  }
  return routes;
}

}  // namespace

Task task_of(const Case& c) {
  Task task = alns::task_of(c);
  if (!c.values.contains("processes")) task.processes = default_lines;
  if (!c.values.contains("removals")) task.removals = default_removals;
  return task;
}

GeneticSearch::GeneticSearch(const vrp::Vrp& vrp, const Task& task, const Start& start, int threads, Team* team)
    : vrp_(vrp.view()),
      task_(task),
      seed_(start.seed),
      islands_(vrp, task.processes, task.removals, start.seed, given_routes(start), false),
      lines_(static_cast<std::size_t>(task.processes)),
      team_(team),
      last_line_(task.processes) {
  if (team_ != nullptr) {
    const std::int64_t lines = task.processes;
    first_line_ = static_cast<std::int32_t>(lines * team_->rank() / team_->size());
    last_line_ = static_cast<std::int32_t>(lines * (team_->rank() + 1) / team_->size());
  }
  const auto most = std::clamp(last_line_ - first_line_, 1, threads);
  for (std::int32_t t = 0; t < most; ++t) workspaces_.push_back(std::make_unique<Workspace>(vrp_, islands_.granular()));
}

/// Does what line b hands back count in this generation?
bool GeneticSearch::hands_over(std::int32_t b) const { return !anneals(b) || islands_.cycle_ends(); }
/// Would the best solution of line b, an annealing one, be taken?
bool GeneticSearch::improves(std::int32_t b, std::int64_t distance) const {
  return anneals(b) && distance < islands_.best_distance().value_or(no_distance);
}

bool GeneticSearch::done() const { return task_.calls > 0 ? generations() >= task_.calls : islands_.idle_cycles() >= most_idle_cycles; }

void GeneticSearch::advance(bool briefly, const Interruption& interruption) {
  if (next_line_ < 0) {
    islands_.next();
    next_line_ = first_line_;
  }
  const auto threads = static_cast<std::int32_t>(workspaces_.size());
  const std::int32_t first = next_line_, end = briefly ? std::min(last_line_, first + threads) : last_line_;
  bool interrupted = false, complete = end == last_line_;
  try {
    for_each_in_parallel(end - first, threads, [&](std::int64_t k) {
      work(first + static_cast<std::int32_t>(k), *workspaces_[static_cast<std::size_t>(omp_get_thread_num())],
           team_ == nullptr ? interruption : Interruption(team_->stop()));
    });
  } catch (const Interrupted&) {
    interrupted = true;
  }
  if (team_ == nullptr) {
    offer(first, end);
  } else {
    agree(interrupted, complete);
    if (interrupted || complete) {
      exchange();
      offer(0, static_cast<std::int32_t>(lines_.size()));
    }
  }
  next_line_ = end;
  if (interrupted) throw Interrupted();
  if (!complete) return;
  next_line_ = -1;
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
  workspace.strings.anneal(line.current, line.best, line.best_distance, line.penalties, stream, job.steps, job.temperature, job.cooling,
                           interruption);
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

/// What lines first .. end - 1 found so far.
void GeneticSearch::offer(std::int32_t first, std::int32_t end) {
  for (std::int32_t b = first; b < end; ++b) {
    const Line& line = lines_[static_cast<std::size_t>(b)];
    if (anneals(b) && line.best_distance < no_distance) islands_.offer(line.best, line.best_distance);
    if (hands_over(b) && line.handed_feasible) islands_.offer(line.handed.routes, line.handed_distance);
  }
}

void GeneticSearch::merge() {
  std::vector<Handed> handed;
  for (std::size_t b = 0; b < lines_.size(); ++b) {
    Line& line = lines_[b];
    digest_.add(static_cast<std::uint64_t>(anneals(static_cast<std::int32_t>(b)) ? line.best_distance : line.handed_distance));
    handed.push_back(std::move(line.handed));
  }
  const auto threads = static_cast<std::int32_t>(workspaces_.size());
  islands_.merge(handed, [&](std::size_t count, const std::function<void(std::size_t)>& f) {
    for_each_in_parallel(static_cast<std::int64_t>(count), threads, [&](std::int64_t i) { f(static_cast<std::size_t>(i)); });
  });
  islands_.end();
}

// --- ranks -------------------------------------------------------------------------------------------------------------

/// Was any rank interrupted, have all come to the end of their lines?
void GeneticSearch::agree(bool& interrupted, bool& complete) {
  const Team::Offer mine{complete ? 1 : 0, 0, 0};
  const std::optional<Team::Offer> least = team_->least(interrupted ? std::nullopt : std::optional(mine));
  interrupted = !least;
  complete = least && least->front() == 1;
}

/// What lines of other ranks hand back and found comes here: what is merged, offered and digested, no more.
void GeneticSearch::exchange() {
  std::vector<std::int64_t> mine;
  for (std::int32_t b = first_line_; b < last_line_; ++b) {
    const Line& line = lines_[static_cast<std::size_t>(b)];
    mine.insert(mine.end(), {line.evaluations, line.best_distance, line.handed_distance, line.handed_feasible ? 1 : 0,
                             line.handed.load_feasible ? 1 : 0, line.handed.duration_feasible ? 1 : 0});
    append(improves(b, line.best_distance) ? line.best : Routes(), mine);
    append(hands_over(b) ? line.handed.routes : Routes(), mine);
  }
  std::int32_t b = 0;
  for (const std::vector<std::int64_t>& of_rank : team_->gathered(mine))
    for (auto word = of_rank.begin(); word != of_rank.end(); ++b) {
      Line other;
      other.evaluations = *word++;
      other.best_distance = *word++;
      other.handed_distance = *word++;
      other.handed_feasible = *word++ != 0;
      other.handed.load_feasible = *word++ != 0;
      other.handed.duration_feasible = *word++ != 0;
      other.best = taken(word);
      other.handed.routes = taken(word);
      if (b < first_line_ || b >= last_line_) lines_[static_cast<std::size_t>(b)] = std::move(other);
    }
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
