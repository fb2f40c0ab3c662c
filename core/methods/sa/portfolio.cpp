#include "core/methods/sa/portfolio.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>

#include "core/methods/sa/task.hpp"
#include "core/util/error.hpp"
#include "core/util/math.hpp"

namespace vicinity::portfolio {
namespace {

std::int64_t steps_of(std::int32_t n) { return std::min<std::int64_t>(std::int64_t{steps_per_facility} * n, most_steps); }

}  // namespace

std::int64_t swaps_of(const Case& c) { return c.integer("iterations", 1, sa::most_iterations); }

Task task_of(const Case& c, std::int32_t n) {
  for (const char* axis : {"schedule", "t0", "tf", "samples"})
    if (c.values.contains(axis)) throw DoesNotFit(std::string("has no ") + axis + ": that is of annealing");
  Task task;
  task.swaps = swaps_of(c);
  task.searches = c.integer_or("chains", n <= most_on_gpu ? default_searches : default_searches_beyond, 1, 65536);
  task.steps = c.integer_or("leg", std::min(steps_of(n), divide_up(task.swaps, task.searches)), 1, most_steps);
  task.threads = c.integer_or("threads", 0, 0, 4096);
  return task;
}

std::int32_t distance(const qap::Permutation& x, const qap::Permutation& y) {
  std::int32_t count = 0;
  for (std::size_t i = 0; i < x.size(); ++i) count += x[i] != y[i] ? 1 : 0;
  return count;
}

qap::Permutation random_permutation(std::int32_t n, Draws& draws) {
  qap::Permutation p(static_cast<std::size_t>(n));
  std::iota(p.begin(), p.end(), 0);
  for (std::size_t i = p.size(); i > 1; --i) std::swap(p[i - 1], p[static_cast<std::size_t>(draws.below(i))]);
  return p;
}

qap::Permutation crossover(const qap::Permutation& x, const qap::Permutation& y, Draws& draws) {
  const std::size_t n = x.size();
  qap::Permutation child(n, -1);
  std::vector<char> taken(n, 0);
  const auto place = [&](std::size_t facility, std::int32_t location) {
    child[facility] = location;
    taken[static_cast<std::size_t>(location)] = 1;
  };
  for (std::size_t i = 0; i < n; ++i)
    if (x[i] == y[i]) place(i, x[i]);
  const qap::Permutation order = random_permutation(static_cast<std::int32_t>(n), draws);
  for (const std::int32_t facility : order) {
    const auto i = static_cast<std::size_t>(facility);
    if (child[i] >= 0) continue;
    std::int32_t first = x[i], second = y[i];
    if (draws.below(2) == 1) std::swap(first, second);
    if (taken[static_cast<std::size_t>(first)] == 0)
      place(i, first);
    else if (taken[static_cast<std::size_t>(second)] == 0)
      place(i, second);
  }
  std::vector<std::int32_t> free;
  for (std::size_t location = 0; location < n; ++location)
    if (taken[location] == 0) free.push_back(static_cast<std::int32_t>(location));
  for (const std::int32_t facility : order) {
    const auto i = static_cast<std::size_t>(facility);
    if (child[i] >= 0) continue;
    const auto k = static_cast<std::size_t>(draws.below(free.size()));
    child[i] = std::exchange(free[k], free.back());
    free.pop_back();
  }
  return child;
}

Population::Population(const qap::Qap& qap, const Task& task, const Start& start)
    : n_(qap.size()),
      seed_(start.seed),
      most_elites_(std::max(least_elites, divide_up(task.searches, searches_per_elite))),
      steps_(static_cast<std::int32_t>(task.steps > 0 ? task.steps : steps_of(n_))),
      starts_(static_cast<std::size_t>(task.searches)),
      filling_(rounds_of_filling()) {
  for (std::size_t b = 0; b < starts_.size(); ++b) starts_[b] = new_start(static_cast<std::int32_t>(b), 0);
  --filling_;
  if (start.solution) starts_[0] = *start.solution;
  if (const std::string what = qap::complaint(n_, starts_[0]); !what.empty()) throw InputError("the start is no permutation: " + what);
  best_ = {qap::cost(qap, starts_[0]), starts_[0]};
}

std::int64_t Population::rounds_of_filling() const { return divide_up(most_elites_, static_cast<std::int64_t>(starts_.size())); }

qap::Permutation Population::new_start(std::int32_t b, std::int64_t round) const {
  Draws draws(seed_, round, b);
  if (filling_ > 0 || elites_.size() < 2) return random_permutation(n_, draws);
  const auto x = static_cast<std::size_t>(draws.below(elites_.size()));
  auto y = static_cast<std::size_t>(draws.below(elites_.size() - 1));
  if (y >= x) ++y;
  return crossover(elites_[x].p, elites_[y].p, draws);
}

bool Population::insert(const Elite& elite) {
  const bool full = static_cast<std::int64_t>(elites_.size()) == most_elites_;
  if (full && elite.cost >= elites_.back().cost) return false;
  const auto is_near = [&](const Elite& other) { return distance(other.p, elite.p) < least_distance(n_); };
  const auto by_cost = [](const Elite& a, const Elite& b) { return a.cost < b.cost; };
  const auto place = std::upper_bound(elites_.begin(), elites_.end(), elite, by_cost);
  // A child is mostly near those of its own cost, if any: itself.
  if (std::any_of(std::make_reverse_iterator(place), elites_.rend(), is_near)) return false;
  const auto near = std::remove_if(place, elites_.end(), is_near);
  const bool improves = place != elites_.end();
  elites_.erase(near, elites_.end());
  elites_.insert(place, elite);
  if (static_cast<std::int64_t>(elites_.size()) > most_elites_) elites_.pop_back();
  return improves;
}

void Population::add_handed(Digest& digest) const {
  for (const Elite& elite : handed_) {
    digest.add(static_cast<std::uint64_t>(elite.cost));
    digest.add(elite.p);
  }
}

void Population::take_in() {
  if (stale_) {
    stale_ = false;
    return;
  }
  for (const Elite& elite : handed_) idle_ = insert(elite) ? 0 : idle_ + 1;
  if (filling_ > 0 || idle_ < most_idle_per_elite * most_elites_) return;
  elites_.clear();
  idle_ = 0;
  most_elites_ = std::min(growth * most_elites_, std::max(most_elites, most_elites_));
  filling_ = rounds_of_filling();
  stale_ = true;
  ++restarts_;
}

void Population::merge(std::vector<Elite> handed) {
  handed_ = std::move(handed);
  for (const Elite& elite : handed_) offer(elite);
  ++rounds_;
  starts_.swap(next_starts_);
  made_ = false;
}

void Population::offer(const Elite& elite) {
  if (elite.cost < best_.cost) best_ = elite;
}

Result result_of(const Population& population) {
  return {population.rounds(), population.restarts(), population.swaps(), population.digest(), population.best()};
}

Outcome judge(const qap::Qap& qap, const std::vector<Result>& results) {
  Outcome outcome;
  if (results.size() != 1) {
    outcome.complaint = "no search was made";
    return outcome;
  }
  const Result& result = results.front();
  outcome.complaint = qap::complaint(qap.size(), result.best.p);
  if (outcome.complaint.empty() && qap::cost(qap, result.best.p) != result.best.cost) outcome.complaint = "the cost is not as claimed";
  outcome.feasible = outcome.complaint.empty();
  Digest digest;
  for (const std::uint64_t word : {static_cast<std::uint64_t>(result.rounds), result.digest, static_cast<std::uint64_t>(result.best.cost)})
    digest.add(word);
  digest.add(result.best.p);
  outcome.digest = digest.value();
  outcome.iterations = result.swaps;
  outcome.evaluations = result.swaps * moves::count<2>(qap.size());
  outcome.counters = {{"rounds", result.rounds}, {"restarts", result.restarts}};
  if (!outcome.feasible) return outcome;
  outcome.objective = result.best.cost;
  outcome.solution = result.best.p;
  return outcome;
}

}  // namespace vicinity::portfolio
