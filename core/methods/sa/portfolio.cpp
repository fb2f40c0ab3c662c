#include "core/methods/sa/portfolio.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "core/methods/sa/task.hpp"
#include "core/util/error.hpp"
#include "core/util/math.hpp"

namespace vicinity::portfolio {

Task task_of(const Case& c) {
  const annealing::Task given = sa::task_of(c);
  return {.swaps = given.iterations, .searches = c.values.contains("chains") ? given.chains : default_searches, .threads = given.threads};
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
      searches_(task.searches),
      most_elites_(std::max(least_elites, 2 * task.searches)),
      given_(start.solution),
      filling_(divide_up(most_elites_, searches_)) {
  if (given_)
    if (const std::string what = qap::complaint(n_, *given_); !what.empty()) throw InputError("the start is no permutation: " + what);
  best_.p = start_of(0);
  best_.cost = qap::cost(qap, best_.p);
}

qap::Permutation Population::start_of(std::int32_t b) const {
  if (rounds_ == 0 && b == 0 && given_) return *given_;
  Draws draws(seed_, rounds_, b);
  if (filling_ > 0 || elites_.size() < 2) return random_permutation(n_, draws);
  const auto x = static_cast<std::size_t>(draws.below(elites_.size()));
  auto y = static_cast<std::size_t>(draws.below(elites_.size() - 1));
  if (y >= x) ++y;
  return crossover(elites_[x].p, elites_[y].p, draws);
}

bool Population::insert(const Elite& elite) {
  const auto by_cost = [](const Elite& a, const Elite& b) { return a.cost < b.cost; };
  const auto [from, to] = std::equal_range(elites_.begin(), elites_.end(), elite, by_cost);
  if (std::any_of(from, to, [&](const Elite& other) { return other.p == elite.p; })) return false;
  const bool full = static_cast<std::int64_t>(elites_.size()) == most_elites_;
  if (full && to == elites_.end()) return false;
  elites_.insert(to, elite);
  if (full) elites_.pop_back();
  return true;
}

void Population::merge(std::span<const Elite> handed) {
  for (const Elite& elite : handed) {
    digest_.add(static_cast<std::uint64_t>(elite.cost));
    digest_.add(elite.p);
    offer(elite);
    idle_ = insert(elite) ? 0 : idle_ + 1;
  }
  ++rounds_;
  if (filling_ > 0) --filling_;
  if (filling_ > 0 || idle_ < most_idle_per_elite * most_elites_) return;
  elites_.clear();
  idle_ = 0;
  filling_ = divide_up(most_elites_, searches_);
  ++restarts_;
}

void Population::offer(const Elite& elite) {
  if (elite.cost < best_.cost) best_ = elite;
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
