#include "core/methods/alns/hybrid/islands.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "core/methods/alns/hybrid/crossover.hpp"

namespace vicinity::alns::hybrid {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// How an annealing line begins a cycle: of four, one with a drawn order, one with a member as it is, two with children.
constexpr std::int32_t ways = 4, way_fresh = 0, way_member = 1;

std::int32_t way_of(const Population& population, Stream& stream) {
  const std::int32_t way = stream.below(ways);
  return population.empty() ? way_fresh : way;
}

}  // namespace

Islands::Islands(const vrp::Vrp& vrp, std::int32_t lines, std::int32_t removals, std::uint64_t seed, std::optional<Routes> given,
                 bool beside)
    : vrp_(vrp.view()), seed_(seed), granular_(vrp), schedule_(vrp.size(), removals), pool_(vrp_), fresh_(at(lines), 0), beside_(beside) {
  if (given) granular_.routes = std::max(granular_.routes, static_cast<std::int32_t>(given->size()));
  for (std::int32_t first = 0; first < lines; first += lines_of_island) islands_.push_back({.population = Population(vrp, granular_)});
  if (!given) return;
  given->resize(at(granular_.routes));
  const Individual individual = individual_of(vrp_, std::move(*given));
  for (Island& island : islands_) {
    island.population.add(individual);
    island.population.rank();
  }
  offer(individual.routes, individual.distance);
}

void Islands::next() {
  schedule_.next();
  if (!schedule_.begins()) return;
  for (std::int32_t b = 0; b < static_cast<std::int32_t>(fresh_.size()); ++b) {
    Stream stream(seed_, 2 * generations_, b);
    fresh_[at(b)] = static_cast<char>(way_of(islands_[at(b / lines_of_island)].population, stream) == way_fresh);
  }
}

Job Islands::job(std::int32_t b) const {
  const Island& island = islands_[at(b / lines_of_island)];
  Job job;
  job.penalties = island.population.penalties();
  if (anneals(b)) {
    const double hot = fresh_[at(b)] != 0 ? hottest : reheated;
    job.temperature = schedule_.temperature(hot, granular_.spread);
    job.cooling = schedule_.cooling(hot);
    job.steps = schedule_.steps();
    job.ends = schedule_.ends();
    if (!schedule_.begins()) return job;
  }
  Stream stream(seed_, 2 * generations_, b);
  const bool drawn = anneals(b) ? fresh_[at(b)] != 0 : island.children < first_children || island.population.empty();
  const std::int32_t way = anneals(b) ? way_of(island.population, stream) : ways;
  if (drawn) {
    job.order = first_order(anneals(b), stream);
  } else {
    const Individual& first = island.population.parent(stream);
    if (way == way_member) {
      job.routes = first.routes;
    } else {
      const Individual& second = island.population.parent(stream);
      job.order = order_crossover(giant_tour(vrp_, granular_, first.routes), giant_tour(vrp_, granular_, second.routes), stream);
    }
  }
  return job;
}

/// At random, or around the depot from a drawn customer on.
std::vector<std::int32_t> Islands::first_order(bool around_depot, Stream& stream) const {
  std::vector<std::int32_t> order(at(vrp_.n));
  for (std::int32_t c = 1; c <= vrp_.n; ++c) order[at(granular_.rank[at(c)])] = c;
  if (around_depot)
    std::rotate(order.begin(), order.begin() + stream.below(vrp_.n), order.end());
  else
    for (std::int32_t i = vrp_.n - 1; i > 0; --i) std::swap(order[at(i)], order[at(stream.below(i + 1))]);
  return order;
}

void Islands::offer(const Routes& routes, std::int64_t distance) {
  if (best_distance_ && distance >= *best_distance_) return;
  best_ = routes;
  best_distance_ = distance;
  improved_ = true;
}

void Islands::merge(std::span<Handed> handed, const Each& each) {
  const auto lines = [&](std::size_t i) {
    return std::span(arrivals_)
        .subspan(i * at(lines_of_island))
        .first(std::min(at(lines_of_island), handed.size() - i * at(lines_of_island)));
  };
  arrivals_.resize(handed.size());
  for (Island& island : islands_) island.population.expect();
  each(handed.size(), [&](std::size_t b) {
    arrivals_[b].reset();
    if (anneals(static_cast<std::int32_t>(b)) && !schedule_.ends()) return;
    arrivals_[b] = islands_[b / at(lines_of_island)].population.arrival(individual_of(vrp_, std::move(handed[b].routes)));
  });
  each(handed.size(), [&](std::size_t b) {
    const std::size_t i = b / at(lines_of_island);
    if (arrivals_[b]) islands_[i].population.measure(lines(i), b % at(lines_of_island));
  });
  each(islands_.size(), [&](std::size_t i) { merge(i, handed, lines(i)); });
}

void Islands::merge(std::size_t i, std::span<const Handed> handed, std::span<std::optional<Population::Arrival>> arrivals) {
  Island& island = islands_[i];
  std::int64_t children = 0, load_feasible = 0, duration_feasible = 0;
  for (std::size_t k = 0; k < arrivals.size(); ++k) {
    if (!arrivals[k]) continue;
    const std::size_t b = i * at(lines_of_island) + k;
    if (const Individual& individual = arrivals[k]->individual;
        individual.feasible() && (!island.distance || individual.distance < *island.distance)) {
      island.distance = individual.distance;
      island.idle = 0;
    }
    island.population.add(arrivals, k);
    if (anneals(static_cast<std::int32_t>(b))) continue;
    ++children;
    load_feasible += static_cast<std::int64_t>(handed[b].load_feasible);
    duration_feasible += static_cast<std::int64_t>(handed[b].duration_feasible);
  }
  island.children += children;
  island.idle += children;
  if (children > 0) island.population.adapt(children, load_feasible, duration_feasible);
  island.population.rank();
  if (island.idle < most_idle_children * island.patience) return;
  island.population.clear();
  island.children = island.idle = 0;
  island.patience *= 2;
  island.secluded = secluded_children * island.patience;
  island.distance.reset();
}

void Islands::end() {
  if (schedule_.ends()) {
    idle_cycles_ = improved_ ? 0 : idle_cycles_ + 1;
    improved_ = false;
  }
  ++generations_;
  if (islands_.size() > 1 && generations_ % migration == 0) migrate();
  if (generations_ % recombination == 0) recombine();
}

/// Of the routes that members have, or had, what is cheaper than the best. What the last one made goes to one island after the other.
void Islands::recombine() {
  Routes made = recombined_.valid() ? recombined_.get() : Routes();
  for (const Island& island : islands_) island.population.pool_routes(pool_);
  if (best_distance_)
    recombined_ = std::async(beside_ ? std::launch::async : std::launch::deferred,
                             [this, known = best_] { return pool_.recombined(known, granular_.routes, stop_); });
  if (made.empty()) return;
  made.resize(at(granular_.routes));
  Individual individual = individual_of(vrp_, std::move(made));
  offer(individual.routes, individual.distance);
  Island& to = islands_[at(generations_ / recombination) % islands_.size()];
  if (to.children < to.secluded) return;
  to.population.add(std::move(individual));
  to.population.rank();
}

/// The best of each island goes on to the next one, but not to one that has just begun.
void Islands::migrate() {
  std::vector<std::optional<Individual>> leaving;
  for (const Island& island : islands_) leaving.push_back(island.population.cheapest());
  for (std::size_t i = 0; i < islands_.size(); ++i) {
    Island& to = islands_[(i + 1) % islands_.size()];
    if (!leaving[i] || to.children < to.secluded) continue;
    to.population.add(std::move(*leaving[i]));
    to.population.rank();
  }
}

}  // namespace vicinity::alns::hybrid
