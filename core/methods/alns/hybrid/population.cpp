#include "core/methods/alns/hybrid/population.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <numeric>
#include <tuple>

namespace vicinity::alns::hybrid {
namespace {

/// A distance that none has.
constexpr std::int32_t far = std::numeric_limits<std::int32_t>::max();

constexpr std::array<std::int32_t, closest> no_others = [] {
  std::array<std::int32_t, closest> none{};
  none.fill(far);
  return none;
}();

/// Another one at that distance.
void approach(std::array<std::int32_t, closest>& near, std::int32_t distance) {
  if (distance >= near.back()) return;
  std::size_t place = closest - 1;
  for (; place > 0 && near[place - 1] > distance; --place) near[place] = near[place - 1];
  near[place] = distance;
}

}  // namespace

// --- cycles ------------------------------------------------------------------------------------------------------------

void Schedule::next() {
  if (++position_ < length_) return;
  position_ = 0;
  ++cycle_;
  length_ = length_of(cycle_);
}

double Schedule::temperature(double hot, std::int32_t spread) const {
  return times(times(hot, power(over(coldest, hot), position_, length_)), static_cast<double>(spread));
}

double Schedule::cooling(double hot) const { return power(over(coldest, hot), 1, length_ * steps_); }

double power(double base, std::int64_t part, std::int64_t whole) {
  double result = 1;
  for (int bit = 0; bit < 60; ++bit) {
    base = root(base);
    part *= 2;
    if (part < whole) continue;
    part -= whole;
    result = times(result, base);
  }
  return result;
}

// --- solutions ---------------------------------------------------------------------------------------------------------

Individual individual_of(const vrp::View& vrp, Routes routes) {
  Individual individual;
  individual.next.assign(static_cast<std::size_t>(vrp.n) + 1, 0);
  individual.prev = individual.next;
  for (const vrp::Route& route : routes) {
    std::int64_t load = 0, distance = 0, service = 0;
    std::int32_t before = 0;
    for (const std::int32_t c : route) {
      load += vrp.demand[c];
      distance += vrp(before, c);
      service += vrp.service[c];
      individual.prev[static_cast<std::size_t>(c)] = static_cast<std::int16_t>(before);
      if (before != 0) individual.next[static_cast<std::size_t>(before)] = static_cast<std::int16_t>(c);
      before = c;
    }
    distance += vrp(before, 0);
    individual.distance += distance;
    individual.excess_load += std::max<std::int64_t>(0, load - vrp.capacity);
    individual.excess_duration += std::max<std::int64_t>(0, distance + service - vrp.limit);
  }
  individual.routes = std::move(routes);
  return individual;
}

std::int32_t broken_pairs(const Individual& a, const Individual& b) {
  const std::int16_t *const a_next = a.next.data(), *const a_prev = a.prev.data(), *const b_next = b.next.data(),
                            *const b_prev = b.prev.data();
  const std::size_t size = a.next.size();
  std::int16_t broken = 0;                  // at most one a customer
  for (std::size_t c = 1; c < size; ++c) {  // no branches: most of what a merge takes is here
    const auto behind =
        static_cast<std::int16_t>(static_cast<std::int16_t>(a_next[c] != b_next[c]) & static_cast<std::int16_t>(a_next[c] != b_prev[c]));
    const auto first = static_cast<std::int16_t>(static_cast<std::int16_t>(a_prev[c] == 0) & static_cast<std::int16_t>(b_prev[c] != 0) &
                                                 static_cast<std::int16_t>(b_next[c] != 0));
    broken = static_cast<std::int16_t>(broken + behind + first);
  }
  return broken;
}

void Images::compare_with(const Individual& reference) {
  const std::size_t size = reference.next.size();
  next_ = reference.next;
  prev_ = reference.prev;
  next_.resize(size * (symmetries_.size() + 1));
  prev_.resize(next_.size());
  std::vector<std::int16_t> inverse(size);
  for (std::size_t s = 0; s < symmetries_.size(); ++s) {
    for (std::size_t c = 0; c < size; ++c) inverse[static_cast<std::size_t>(symmetries_[s][c])] = static_cast<std::int16_t>(c);
    std::int16_t *const next = &next_[(s + 1) * size], *const prev = &prev_[(s + 1) * size];
    for (std::size_t c = 0; c < size; ++c) {
      const auto image = static_cast<std::size_t>(symmetries_[s][c]);
      next[c] = inverse[static_cast<std::size_t>(reference.next[image])];
      prev[c] = inverse[static_cast<std::size_t>(reference.prev[image])];
    }
  }
}

std::optional<Individual> Images::closest(const Individual& individual) const {
  const std::size_t size = individual.next.size();
  std::int16_t most = -1;
  std::size_t at_most = 0;
  for (std::size_t s = 0; s <= symmetries_.size(); ++s) {
    const std::int16_t *const own = individual.next.data(), *const next = &next_[s * size], *const prev = &prev_[s * size];
    std::int16_t edges = 0;
    for (std::size_t c = 1; c < size; ++c)
      edges = static_cast<std::int16_t>(edges + (static_cast<std::int16_t>(own[c] != 0) & (static_cast<std::int16_t>(own[c] == next[c]) |
                                                                                           static_cast<std::int16_t>(own[c] == prev[c]))));
    if (edges > most) most = edges, at_most = s;
  }
  if (at_most == 0) return std::nullopt;
  Routes routes = individual.routes;
  for (vrp::Route& route : routes)
    for (std::int32_t& c : route) c = symmetries_[at_most - 1][static_cast<std::size_t>(c)];
  Individual image = individual_of(vrp_, std::move(routes));
  return image.feasible() == individual.feasible() ? std::optional(std::move(image)) : std::nullopt;
}

// --- the population ----------------------------------------------------------------------------------------------------

Population::Population(const vrp::Vrp& vrp, const Granular& granular) : vrp_(vrp.view()), images_(vrp_, granular.symmetries) {
  const std::int32_t most_demand = *std::max_element(vrp_.demand + 1, vrp_.demand + vrp_.n + 1);
  std::int64_t farthest = 1;
  for (std::int32_t c = 1; c <= vrp_.n; ++c) farthest = std::max<std::int64_t>(farthest, vrp_(0, c));
  const std::int64_t edge = std::max<std::int64_t>(farthest, granular.spread);
  penalties_ = {std::clamp<std::int64_t>(256 * edge / std::max(1, most_demand), 1, most_penalty), 256};
  least_ = {std::max<std::int64_t>(1, penalties_.load / least_load_part), penalties_.duration / least_duration_part};
}

std::int64_t Population::cost(const Individual& individual) const {
  const auto weighted = [](std::int64_t weight, std::int64_t excess) { return weight * std::min(excess, std::int64_t{1} << 32); };
  return individual.distance +
         ((weighted(penalties_.load, individual.excess_load) + weighted(penalties_.duration, individual.excess_duration)) >> 8);
}

template <class To>
void Population::keep(Individual individual, std::int32_t before, const To& to) {
  Members& members = kept_[individual.feasible() ? 0 : 1];
  Member member{std::move(individual), {}, no_others, added_++, before};
  member.distances.reserve(least_kept + most_new + 1);
  for (Member& other : members) {
    const std::int32_t distance = to(member.individual, other);
    member.distances.push_back(distance);
    other.distances.push_back(distance);
    approach(member.near, distance);
    approach(other.near, distance);
  }
  member.distances.push_back(far);
  members.push_back(std::move(member));
  if (members.size() > least_kept + most_new) remove_worst(members);
}

void Population::add(Individual individual) {
  look_at_leader();
  std::optional<Individual> image = image_of(individual);
  keep(image ? std::move(*image) : std::move(individual), 0,
       [](const Individual& mine, const Member& member) { return broken_pairs(mine, member.individual); });
}

/// Images are compared with the leader. Is it another one than before?
bool Population::look_at_leader() {
  const Member* const reference = images_.any() ? leader() : nullptr;
  if (reference == nullptr || reference->number == reference_) return false;
  reference_ = reference->number;
  images_.compare_with(reference->individual);
  return true;
}
std::optional<Individual> Population::image_of(const Individual& individual) const {
  return images_.any() && !empty() ? images_.closest(individual) : std::nullopt;
}

void Population::expect() {
  look_at_leader();
  for (Members& members : kept_)
    for (std::size_t i = 0; i < members.size(); ++i) members[i].before = static_cast<std::int32_t>(i);
}

Population::Arrival Population::arrival(Individual individual) const {
  std::optional<Individual> image = image_of(individual);
  return {.individual = std::move(individual), .image = std::move(image)};
}

void Population::measure(Arrivals arrivals, std::size_t i) const {
  Arrival& one = *arrivals[i];
  const bool feasible = one.individual.feasible();
  for (const Member& member : kept_[feasible ? 0 : 1]) one.to_members.push_back(broken_pairs(one.kept(), member.individual));
  one.to_arrivals.resize(i);
  for (std::size_t j = 0; j < i; ++j)
    if (arrivals[j] && arrivals[j]->individual.feasible() == feasible) one.to_arrivals[j] = broken_pairs(one.kept(), arrivals[j]->kept());
}

void Population::renew(Arrival& arrival) const {
  std::optional<Individual> image = image_of(arrival.individual);
  arrival.renewed = image || arrival.image;
  arrival.image = std::move(image);
}

void Population::measure_anew(Arrivals arrivals, std::size_t from, std::size_t i) const {
  Arrival& one = *arrivals[i];
  const bool feasible = one.individual.feasible();
  if (one.renewed)
    for (const Member& member : kept_[feasible ? 0 : 1]) place_of(one, member) = broken_pairs(one.kept(), member.individual);
  for (std::size_t j = from; j < i; ++j)
    if (arrivals[j] && arrivals[j]->individual.feasible() == feasible && (one.renewed || arrivals[j]->renewed))
      one.to_arrivals[j] = broken_pairs(one.kept(), arrivals[j]->kept());
}

void Population::add(Arrivals arrivals, std::size_t i) {
  Arrival& one = *arrivals[i];
  keep(one.image ? std::move(*one.image) : std::move(one.individual), -1 - static_cast<std::int32_t>(i),
       [&](const Individual&, const Member& member) { return place_of(one, member); });
}

/// Its distance to a member.
std::int32_t& Population::place_of(Arrival& arrival, const Member& member) {
  return member.before >= 0 ? arrival.to_members[static_cast<std::size_t>(member.before)]
                            : arrival.to_arrivals[static_cast<std::size_t>(-1 - member.before)];
}

void Population::rank() {
  for (Members& members : kept_) rank(members);
}

/// Rank by (cost, number) and rank by mean distance to the closest five, greatest first; the latter weighs 1 - elites / size. Members stand
/// in the order of their numbers.
void Population::rank(Members& members) const {
  std::vector<std::size_t> all(members.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  rank(members, by_cost(members), by_distance(members, all));
}

Population::Order Population::by_cost(const Members& members) const {
  Order order;
  for (std::size_t i = 0; i < members.size(); ++i) order.emplace_back(cost(members[i].individual), i);
  std::sort(order.begin(), order.end());
  return order;
}
Population::Order Population::by_distance(const Members& members, const std::vector<std::size_t>& some) {
  Order order;
  for (const std::size_t i : some) {
    std::int64_t sum = 0;
    for (const std::int32_t distance : members[i].near) sum += distance == far ? 0 : distance;
    order.emplace_back(-sum, i);
  }
  std::sort(order.begin(), order.end());
  return order;
}
void Population::rank(Members& members, const Order& by_cost, const Order& by_distance) {
  const std::size_t size = by_cost.size();
  const auto whole = static_cast<std::int64_t>(size), others = static_cast<std::int64_t>(size - std::min(size, elites));
  for (std::size_t place = 0; place < size; ++place) members[by_cost[place].second].fitness = whole * static_cast<std::int64_t>(place);
  for (std::size_t place = 0; place < size; ++place)
    members[by_distance[place].second].fitness += others * static_cast<std::int64_t>(place);
}

/// One after the other until least_kept are left: a copy of another one first, then by biased fitness, of equals the last; never the
/// cheapest.
void Population::remove_worst(Members& members) const {
  std::vector<std::size_t> left(members.size());
  std::iota(left.begin(), left.end(), std::size_t{0});
  Order costs = by_cost(members);
  while (left.size() > least_kept) {
    rank(members, costs, by_distance(members, left));
    const auto key = [&](std::size_t i) { return std::tuple(i != costs.front().second, members[i].near[0] == 0, members[i].fitness, i); };
    const std::size_t worst = *std::max_element(left.begin(), left.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    std::erase(left, worst);
    std::erase_if(costs, [&](const auto& entry) { return entry.second == worst; });
    for (const std::size_t i : left) {
      Member& member = members[i];
      if (member.distances[worst] > member.near.back()) continue;
      member.near = no_others;
      for (const std::size_t other : left) approach(member.near, member.distances[other]);
    }
  }
  for (std::size_t i = 0; i < left.size(); ++i) {  // in place: left[i] >= i
    Member& member = members[left[i]];
    for (std::size_t j = 0; j < left.size(); ++j) member.distances[j] = member.distances[left[j]];
    member.distances.resize(left.size());
    if (i != left[i]) members[i] = std::move(member);
  }
  members.resize(left.size());
}

const Individual& Population::parent(Stream& stream) const {
  const auto drawn = [&]() -> const Member& {
    const auto i = static_cast<std::size_t>(stream.below(static_cast<std::int32_t>(size())));
    return i < kept_[0].size() ? kept_[0][i] : kept_[1][i - kept_[0].size()];
  };
  const Member &a = drawn(), &b = drawn();
  return a.fitness <= b.fitness ? a.individual : b.individual;
}

const Population::Member* Population::leader() const {
  const Members& members = kept_[kept_[0].empty() ? 1 : 0];
  const Member* least = nullptr;
  std::int64_t least_cost = 0;
  for (const Member& member : members)
    if (const std::int64_t own = cost(member.individual); least == nullptr || own < least_cost) least = &member, least_cost = own;
  return least;
}

std::optional<Individual> Population::cheapest() const { return kept_[0].empty() ? std::nullopt : std::optional(leader()->individual); }

void Population::clear() {
  for (Members& members : kept_) members.clear();
}

void Population::adapt(std::int64_t children, std::int64_t load_feasible, std::int64_t duration_feasible) {
  const auto adapted = [&](std::int64_t weight, std::int64_t least, std::int64_t feasible) {
    if (5 * feasible > 2 * children) return std::max(least, weight * 17 / 20);                     // more than two of five
    if (5 * feasible < children) return std::min<std::int64_t>(most_penalty, weight * 6 / 5 + 1);  // less than one of five
    return weight;
  };
  penalties_ = {adapted(penalties_.load, least_.load, load_feasible), adapted(penalties_.duration, least_.duration, duration_feasible)};
}

}  // namespace vicinity::alns::hybrid
