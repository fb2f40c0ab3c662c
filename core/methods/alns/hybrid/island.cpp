#include "core/methods/alns/hybrid/island.hpp"

#include <algorithm>
#include <cstddef>

#include "core/methods/alns/hybrid/crossover.hpp"

namespace vicinity::alns::hybrid {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

/// How an annealing line begins a cycle: of four, one with a drawn order, one with a member as it is, two with children.
constexpr std::int32_t ways = 4, way_fresh = 0, way_member = 1;

std::int32_t way_of(const Population& population, Stream& stream) {
  const std::int32_t way = stream.below(ways);
  return population.empty() ? way_fresh : way;
}

}  // namespace

Island::Island(const vrp::Vrp& vrp, const Granular& granular, const Pace& pace, std::uint64_t seed, std::int32_t first, std::int32_t lines)
    : vrp_(vrp.view()),
      granular_(&granular),
      seed_(seed),
      first_(first),
      hastens_(pace.hastens),
      schedule_(vrp.size(), pace),
      population_(vrp, granular),
      arrivals_(at(lines)),
      handed_(at(lines)),
      fresh_(at(lines), 0) {}

// --- what lines are to do ----------------------------------------------------------------------------------------------

void Island::next() {
  schedule_.next();
  if (!schedule_.begins()) return;
  for (std::int32_t k = 0; k < lines(); ++k) {
    Stream stream(seed_, 2 * generations_, first_ + k);
    fresh_[at(k)] = static_cast<char>(way_of(population_, stream) == way_fresh);
  }
}

Job Island::job(std::int32_t b) const {
  const bool fresh = fresh_[at(b - first_)] != 0;
  Job job;
  job.penalties = population_.penalties();
  if (anneals(b)) {
    const double hot = fresh ? hottest : reheated;
    job.temperature = schedule_.temperature(hot, granular_->spread);
    job.cooling = schedule_.cooling(hot);
    job.steps = schedule_.steps();
    job.ends = schedule_.ends();
    if (!schedule_.begins()) return job;
  }
  Stream stream(seed_, 2 * generations_, b);
  const bool drawn = anneals(b) ? fresh : children_ < first_children || population_.empty();
  const std::int32_t way = anneals(b) ? way_of(population_, stream) : ways;
  if (drawn && anneals(b) && hastens_ && generations_ == 0 && !granular_->first.empty()) {
    job.routes = granular_->first;
    job.routes.resize(at(granular_->routes));
  } else if (drawn) {
    job.order = first_order(anneals(b) || (hastens_ && b % lines_of_kind == 0), stream);
  } else {
    const Individual& first = population_.parent(stream);
    if (way == way_member) {
      job.routes = first.routes;
    } else {
      const Individual& second = population_.parent(stream);
      job.order = order_crossover(giant_tour(vrp_, *granular_, first.routes), giant_tour(vrp_, *granular_, second.routes), stream);
    }
  }
  return job;
}

/// At random, or around the depot from a drawn customer on.
std::vector<std::int32_t> Island::first_order(bool around_depot, Stream& stream) const {
  std::vector<std::int32_t> order(at(vrp_.n));
  for (std::int32_t c = 1; c <= vrp_.n; ++c) order[at(granular_->rank[at(c)])] = c;
  if (around_depot)
    std::rotate(order.begin(), order.begin() + stream.below(vrp_.n), order.end());
  else
    for (std::int32_t i = vrp_.n - 1; i > 0; --i) std::swap(order[at(i)], order[at(stream.below(i + 1))]);
  return order;
}

// --- what becomes of what they hand back -------------------------------------------------------------------------------

void Island::offer(std::int32_t b, bool handed, std::int64_t distance, const Routes& routes) {
  if (!improves(b, handed, distance)) return;
  best_ = key(b, handed, distance);
  best_.routes = routes;
}

void Island::merge(const std::function<Handed(std::size_t k)>& handed, const Each& each) {
  population_.expect();
  each(arrivals_.size(), [&](std::size_t k) { align(handed(k), k); });
  each(arrivals_.size(), [&](std::size_t k) {
    if (arrivals_[k]) population_.measure(arrivals_, k);
  });
  for (std::size_t k = 0; k < arrivals_.size(); ++k)
    if (arrivals_[k]) add(k, each);
  end_generation();
}

void Island::align(Handed handed, std::size_t k) {
  arrivals_[k].reset();
  if (hands_over(first_ + static_cast<std::int32_t>(k))) arrivals_[k] = population_.arrival(individual_of(vrp_, std::move(handed.routes)));
  handed_[k] = std::move(handed);
}

void Island::add(std::size_t k, const Each& each) {
  if (const Individual& individual = arrivals_[k]->individual; individual.feasible() && (!distance_ || individual.distance < *distance_)) {
    distance_ = individual.distance;
    idle_ = 0;
  }
  if (population_.leader_changes()) {
    const auto each_left = [&](const auto& f) {
      each(arrivals_.size() - k, [&](std::size_t behind) {
        if (arrivals_[k + behind]) f(k + behind);
      });
    };
    each_left([&](std::size_t i) { population_.renew(*arrivals_[i]); });
    each_left([&](std::size_t i) { population_.measure_anew(arrivals_, k, i); });
  }
  population_.add(arrivals_, k);
}

void Island::end_generation() {
  std::int64_t children = 0, load_feasible = 0, duration_feasible = 0;
  for (std::int32_t k = 0; k < lines(); ++k) {
    const Handed& handed = handed_[at(k)];
    distances_.push_back(handed.distance);
    if (anneals(first_ + k)) continue;
    ++children;
    load_feasible += static_cast<std::int64_t>(handed.load_feasible);
    duration_feasible += static_cast<std::int64_t>(handed.duration_feasible);
  }
  ++generations_;
  children_ += children;
  idle_ += children;
  if (children > 0) population_.adapt(children, load_feasible, duration_feasible);
  population_.rank();
  if (idle_ >= most_idle_children * patience_) end_start();
}

/// As a binary counter: two starts of one patience are joined, and go on with twice of it (1, 1, 2, 1, 1, 2, 4, ...: Luby, Sinclair,
/// Zuckerman 1993).
void Island::end_start() {
  idle_ = 0;
  if (!ended_.empty() && ended_.back().patience == patience_) {
    for (Individual& member : ended_.back().members) population_.add(std::move(member));
    ended_.pop_back();
    population_.rank();
    patience_ *= 2;
    if (const std::optional<Individual> best = population_.cheapest()) distance_ = best->distance;
    return;
  }
  Ended ended{patience_, {}};
  population_.for_each([&](const Individual& member) { ended.members.push_back(member); });
  ended_.push_back(std::move(ended));
  population_.clear();
  children_ = 0;
  patience_ = 1;
  begun_anew_ = true;
  distance_.reset();
}

void Island::welcome(Individual individual) {
  if (children_ < first_children || (begun_anew_ && patience_ == 1)) return;
  population_.add(std::move(individual));
  population_.rank();
}

void Island::begin_with(const Individual& individual) {
  population_.add(individual);
  population_.rank();
}

}  // namespace vicinity::alns::hybrid
