#include "cpu_ref/alns/hybrid/tours.hpp"

#include <algorithm>
#include <numeric>

namespace vicinity::alns::hybrid {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

using Part = std::span<const std::int32_t>;

}  // namespace

Tours::Tours(const vrp::View& vrp, std::int32_t routes)
    : vrp_(vrp),
      served_(std::accumulate(vrp.service, vrp.service + vrp.n + 1, std::int64_t{0})),
      stops_(at(vrp.n) + 1),
      totals_(at(routes)),
      routes_(at(routes)) {}

void Tours::load_all(const Routes& routes) {
  for (std::size_t r = 0; r < routes_.size(); ++r) set(static_cast<std::int32_t>(r), r < routes.size() ? Part(routes[r]) : Part());
}

void Tours::set(std::int32_t r, std::span<const std::int32_t> customers) {
  vrp::Route& route = routes_[at(r)];
  route.assign(customers.begin(), customers.end());
  std::int32_t load = 0, duration = 0, before = 0;
  std::int32_t to_u = route.empty() ? 0 : vrp_(0, route.front());
  for (std::size_t i = 0; i < route.size(); ++i) {
    const std::int32_t u = route[i], next = i + 1 < route.size() ? route[i + 1] : 0, to_next = vrp_(u, next);
    load += vrp_.demand[u];
    duration += to_u + vrp_.service[u];
    stops_[at(u)] = {next, before, to_next, to_u, r, static_cast<std::int32_t>(i), load, duration};
    before = u;
    to_u = to_next;
  }
  totals_[at(r)] = {load, duration + to_u};
}

std::int32_t Tours::empty() const {
  const auto found = std::find_if(routes_.begin(), routes_.end(), [](const vrp::Route& route) { return route.empty(); });
  return found == routes_.end() ? -1 : static_cast<std::int32_t>(found - routes_.begin());
}
std::int64_t Tours::distance() const {
  std::int64_t sum = -served_;
  for (const Totals& route : totals_) sum += route.duration;
  return sum;
}
std::int64_t Tours::cost(const Penalties& penalties) const {
  std::int64_t sum = distance();
  for (const Totals& route : totals_) sum += penalty(vrp_, penalties, route.load, route.duration);
  return sum;
}
std::int64_t Tours::excess_load() const {
  std::int64_t sum = 0;
  for (const Totals& route : totals_) sum += std::max<std::int64_t>(0, std::int64_t{route.load} - vrp_.capacity);
  return sum;
}
std::int64_t Tours::excess_duration() const {
  std::int64_t sum = 0;
  for (const Totals& route : totals_) sum += std::max<std::int64_t>(0, std::int64_t{route.duration} - vrp_.limit);
  return sum;
}

}  // namespace vicinity::alns::hybrid
