#include "core/methods/alns/hybrid/population.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>

namespace vicinity::alns::hybrid {

// --- cycles ------------------------------------------------------------------------------------------------------------

void Schedule::next() {
  if (++position_ < length_) return;
  position_ = 0;
  ++cycle_;
  length_ = first_ << std::min<std::int64_t>(cycle_ / 2, 20);
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
      individual.prev[static_cast<std::size_t>(c)] = before;
      if (before != 0) individual.next[static_cast<std::size_t>(before)] = c;
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
  const std::int32_t *const a_next = a.next.data(), *const a_prev = a.prev.data(), *const b_next = b.next.data(),
                            *const b_prev = b.prev.data();
  const std::size_t size = a.next.size();
  std::int32_t broken = 0;
  for (std::size_t c = 1; c < size; ++c) {  // no branches: most of what a merge takes is here
    broken += static_cast<std::int32_t>(a_next[c] != b_next[c]) & static_cast<std::int32_t>(a_next[c] != b_prev[c]);
    broken +=
        static_cast<std::int32_t>(a_prev[c] == 0) & static_cast<std::int32_t>(b_prev[c] != 0) & static_cast<std::int32_t>(b_next[c] != 0);
  }
  return broken;
}

Individual aligned(const vrp::View& vrp, std::span<const Symmetry> symmetries, Individual individual, const Individual& reference) {
  const std::int32_t *const next = individual.next.data(), *const behind = reference.next.data(), *const before = reference.prev.data();
  const auto common = [&](auto image) {
    std::int32_t edges = 0;
    for (std::int32_t c = 1; c <= vrp.n; ++c) {
      const std::int32_t from = image(c), to = image(next[c]);
      edges += static_cast<std::int32_t>(to != 0) &
               (static_cast<std::int32_t>(to == behind[from]) | static_cast<std::int32_t>(to == before[from]));
    }
    return edges;
  };
  std::int32_t most = common([](std::int32_t c) { return c; });
  const Symmetry* closest_image = nullptr;
  for (const Symmetry& symmetry : symmetries) {
    const std::int32_t edges = common([images = symmetry.data()](std::int32_t c) { return images[c]; });
    if (edges > most) most = edges, closest_image = &symmetry;
  }
  if (closest_image == nullptr) return individual;
  Routes routes = individual.routes;
  for (vrp::Route& route : routes)
    for (std::int32_t& c : route) c = (*closest_image)[static_cast<std::size_t>(c)];
  Individual image = individual_of(vrp, std::move(routes));
  return image.feasible() == individual.feasible() ? image : individual;
}

// --- the population ----------------------------------------------------------------------------------------------------

Population::Population(const vrp::Vrp& vrp, const Granular& granular) : vrp_(vrp.view()), symmetries_(granular.symmetries) {
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

void Population::add(Individual individual) {
  if (const Individual* const reference = symmetries_.empty() ? nullptr : leader(); reference != nullptr)
    individual = aligned(vrp_, symmetries_, std::move(individual), *reference);
  Members& members = kept_[individual.feasible() ? 0 : 1];
  Member member{std::move(individual), {}, added_++, 0};
  for (Member& other : members) {
    const std::int32_t distance = broken_pairs(member.individual, other.individual);
    member.distances.emplace_back(distance, other.number);
    const std::pair entry(distance, member.number);
    other.distances.insert(std::upper_bound(other.distances.begin(), other.distances.end(), entry), entry);
  }
  std::sort(member.distances.begin(), member.distances.end());
  members.push_back(std::move(member));
  if (members.size() > least_kept + most_new)
    while (members.size() > least_kept) remove_worst(members);
}

void Population::rank() {
  for (Members& members : kept_) rank(members);
}

/// Rank by (cost, number) and rank by mean distance to the closest five, greatest first; the latter weighs 1 - elites / size.
void Population::rank(Members& members) const {
  const std::size_t size = members.size();
  std::vector<std::tuple<std::int64_t, std::int64_t, std::size_t>> by_cost, by_distance;
  for (std::size_t i = 0; i < size; ++i) {
    const Member& member = members[i];
    std::int64_t sum = 0;
    const std::size_t near = std::min(closest, member.distances.size());
    for (std::size_t k = 0; k < near; ++k) sum += member.distances[k].first;
    by_cost.emplace_back(cost(member.individual), member.number, i);
    by_distance.emplace_back(-sum, member.number, i);
  }
  std::sort(by_cost.begin(), by_cost.end());
  std::sort(by_distance.begin(), by_distance.end());
  const auto whole = static_cast<std::int64_t>(size), others = static_cast<std::int64_t>(size - std::min(size, elites));
  for (std::size_t place = 0; place < size; ++place) {
    members[std::get<2>(by_cost[place])].fitness = whole * static_cast<std::int64_t>(place);
  }
  for (std::size_t place = 0; place < size; ++place)
    members[std::get<2>(by_distance[place])].fitness += others * static_cast<std::int64_t>(place);
}

/// A copy of another one first, then by biased fitness, of equals the last; never the cheapest.
void Population::remove_worst(Members& members) const {
  rank(members);
  std::size_t cheapest = 0;
  for (std::size_t i = 1; i < members.size(); ++i)
    if (cost(members[i].individual) < cost(members[cheapest].individual)) cheapest = i;
  const auto key = [&](std::size_t i) {
    const bool copy = !members[i].distances.empty() && members[i].distances.front().first == 0;
    return std::tuple(i != cheapest, copy, members[i].fitness, i);
  };
  std::size_t worst = 0;
  for (std::size_t i = 1; i < members.size(); ++i)
    if (key(i) > key(worst)) worst = i;
  const std::int64_t number = members[worst].number;
  members.erase(members.begin() + static_cast<std::ptrdiff_t>(worst));
  for (Member& member : members) std::erase_if(member.distances, [&](const auto& entry) { return entry.second == number; });
}

const Individual& Population::parent(Stream& stream) const {
  const auto drawn = [&]() -> const Member& {
    const auto i = static_cast<std::size_t>(stream.below(static_cast<std::int32_t>(size())));
    return i < kept_[0].size() ? kept_[0][i] : kept_[1][i - kept_[0].size()];
  };
  const Member &a = drawn(), &b = drawn();
  return a.fitness <= b.fitness ? a.individual : b.individual;
}

const Individual* Population::leader() const {
  const Members& members = kept_[kept_[0].empty() ? 1 : 0];
  const auto found = std::min_element(members.begin(), members.end(), [&](const Member& a, const Member& b) {
    return std::pair(cost(a.individual), a.number) < std::pair(cost(b.individual), b.number);
  });
  return found == members.end() ? nullptr : &found->individual;
}

std::optional<Individual> Population::cheapest() const { return kept_[0].empty() ? std::nullopt : std::optional(*leader()); }

void Population::pool_routes(RoutePool& pool) const {
  for (const Members& members : kept_)
    for (const Member& member : members)
      for (const vrp::Route& route : member.individual.routes) pool.add(route);
}

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
