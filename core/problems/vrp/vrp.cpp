#include "core/problems/vrp/vrp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/util/digest.hpp"
#include "core/util/error.hpp"
#include "core/util/unfused.hpp"

namespace vicinity::vrp {
namespace {

constexpr std::int32_t most_scale = 1'000'000;
constexpr double enough_units = 1000;  ///< of fixed point to the farthest customer, where it need not be finest

bool whole(double number) { return number == std::floor(number); }

template <class Container, class Test>
bool all(const Container& container, Test test) {
  return std::all_of(container.begin(), container.end(), test);
}

bool is_length(double number) { return std::isfinite(number) && number >= 0; }

void check_sizes(const Data& data) {
  const std::size_t places = data.demand.size();
  if (places < 2 || places > std::size_t{most_customers} + 1)
    throw InputError(fmt::format("{} customers are outside 1..{}", std::max<std::size_t>(places, 1) - 1, most_customers));
  if (data.x.size() != data.y.size() || (!data.x.empty() && data.x.size() != places))
    throw InputError("as many x and y coordinates as places are needed");
  if (data.x.empty() && data.matrix.empty()) throw InputError("there are neither coordinates nor a matrix of distances");
  if (!data.matrix.empty() && data.matrix.size() != places * places) throw InputError("the matrix does not have places x places distances");
  if (!data.service.empty() && data.service.size() != places) throw InputError("as many service times as places are needed");
}

void check_matrix(const Data& data) {
  if (!all(data.matrix, is_length)) throw InputError("a distance is negative or not a finite number");
  const std::size_t places = data.demand.size();
  for (std::size_t i = 0; i < (data.matrix.empty() ? 0 : places); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (const double there = data.matrix[j * places + i], back = data.matrix[i * places + j]; there != back)
        throw InputError(
            fmt::format("the distance from node {} to node {} is {}, back it is {}: it must be symmetric", j + 1, i + 1, there, back));
}

void check_values(const Data& data) {
  for (const auto* coordinates : {&data.x, &data.y})
    if (!all(*coordinates, [](double c) { return std::isfinite(c); })) throw InputError("a coordinate is not a finite number");
  if (!all(data.service, is_length)) throw InputError("a service time is negative or not a finite number");
  if (!all(data.demand, [](std::int32_t q) { return q >= 0; })) throw InputError("a demand is negative");
  if (data.demand[0] != 0) throw InputError(fmt::format("the depot has the demand {}; it must be 0", data.demand[0]));
  if (!data.service.empty() && data.service[0] != 0)
    throw InputError(fmt::format("the depot has the service time {}; it must be 0", data.service[0]));
  if (std::accumulate(data.demand.begin(), data.demand.end(), std::int64_t{0}) > std::numeric_limits<std::int32_t>::max())
    throw InputError("the sum of the demands leaves 32 bits");
  if (data.capacity < 1) throw InputError(fmt::format("the capacity {} is below 1", data.capacity));
  if (data.limit && !(*data.limit > 0)) throw InputError(fmt::format("the route limit {} is not above 0", *data.limit));
  if (data.vehicles && *data.vehicles < 1) throw InputError(fmt::format("a fleet of {} vehicles is below 1", *data.vehicles));
}

/// The longest edge of each customer, to bound solutions of a matrix.
std::vector<double> longest_edges(const Data& data) {
  std::vector<double> longest;
  for (auto row = data.matrix.begin(); row != data.matrix.end(); row += static_cast<std::ptrdiff_t>(data.demand.size()))
    longest.push_back(*std::max_element(row, row + static_cast<std::ptrdiff_t>(data.demand.size())));
  return longest;
}

/// Customer by customer: splits a solution at its zeros. `visit(route, customer)` gets routes from 1 that are not empty.
template <class Visit>
void for_customers(std::span<const std::int32_t> solution, Visit visit) {
  std::int32_t route = 0;
  bool open = false;
  for (const std::int32_t customer : solution) {
    if (customer != 0 && !open) ++route;
    open = customer != 0;
    if (open) visit(route, customer);
  }
}

/// What keeps each customer from being visited exactly once.
std::string visits_complaint(std::int32_t n, std::span<const std::int32_t> solution) {
  std::string what;
  std::vector<std::int32_t> route_of(static_cast<std::size_t>(n) + 1);
  for_customers(solution, [&](std::int32_t route, std::int32_t customer) {
    if (!what.empty()) return;
    if (customer < 0 || customer > n) {
      what = fmt::format("customer {} in route {} is outside 1..{}", customer, route, n);
    } else if (const auto before = std::exchange(route_of[static_cast<std::size_t>(customer)], route); before == route) {
      what = fmt::format("customer {} is twice in route {}", customer, route);
    } else if (before != 0) {
      what = fmt::format("customer {} is in routes {} and {}", customer, before, route);
    }
  });
  if (!what.empty()) return what;
  const auto missing = std::find(route_of.begin() + 1, route_of.end(), 0);
  return missing == route_of.end() ? "" : fmt::format("customer {} is in no route", missing - route_of.begin());
}

/// Sums up `distance(a, b)` over all edges.
template <class Sum, class Distance>
Sum sum_of_edges(const Vrp& vrp, std::span<const std::int32_t> solution, Distance distance) {
  if (const std::string what = visits_complaint(vrp.size(), solution); !what.empty()) throw InputError("not a solution: " + what);
  Sum sum = 0;
  std::int32_t last = 0;
  for (const std::int32_t place : solution) sum += distance(std::exchange(last, place), place);
  return sum + distance(last, 0);
}

std::int64_t fixed_distance(const Vrp& vrp, std::int32_t a, std::int32_t b) {
  return static_cast<std::int64_t>(fixed_point(vrp.distance(a, b), vrp.scale()));
}

std::int64_t fixed_service(const Vrp& vrp, std::int32_t customer) {
  return static_cast<std::int64_t>(fixed_point(vrp.service(customer), vrp.scale()));
}

/// Fixed point as people write it.
std::string shown(const Vrp& vrp, std::int64_t amount) { return fmt::format("{}", static_cast<double>(amount) / vrp.scale()); }

/// From the depot to each place, over any others, without service times (Dijkstra).
std::vector<std::int64_t> shortest_ways(const Vrp& vrp) {
  std::vector<std::int64_t> way(static_cast<std::size_t>(vrp.size()) + 1, std::numeric_limits<std::int64_t>::max());
  std::vector<std::int32_t> open(way.size());
  std::iota(open.begin(), open.end(), 0);
  way[0] = 0;
  while (!open.empty()) {
    const auto next = std::min_element(open.begin(), open.end(), [&](std::int32_t a, std::int32_t b) {
      return way[static_cast<std::size_t>(a)] < way[static_cast<std::size_t>(b)];
    });
    const std::int32_t at = *next;
    open.erase(next);
    for (const std::int32_t to : open)
      way[static_cast<std::size_t>(to)] =
          std::min(way[static_cast<std::size_t>(to)], way[static_cast<std::size_t>(at)] + fixed_distance(vrp, at, to));
  }
  return way;
}

/// What is wrong with one route.
std::string route_complaint(const Vrp& vrp, std::size_t number, const Route& route) {
  std::int64_t load = 0, duration = 0;
  std::int32_t last = 0;
  for (const std::int32_t customer : route) {
    load += vrp.data().demand[static_cast<std::size_t>(customer)];
    duration += fixed_distance(vrp, std::exchange(last, customer), customer) + fixed_service(vrp, customer);
  }
  duration += fixed_distance(vrp, last, 0);
  if (load > vrp.data().capacity) return fmt::format("route {} carries {}, the capacity is {}", number, load, vrp.data().capacity);
  if (duration > vrp.view().limit)
    return fmt::format("route {} takes {}, the limit is {}", number, shown(vrp, duration), *vrp.data().limit);
  return "";
}

}  // namespace

double fixed_point(double length, std::int32_t scale) { return std::floor(length * scale + 0.5); }

Vrp::Vrp(Data data) : data_(std::move(data)) {
  check_sizes(data_);
  check_values(data_);
  for (std::size_t i = 0; i < data_.matrix.size(); i += data_.demand.size() + 1) data_.matrix[i] = 0;  // files may have anything there
  check_matrix(data_);
  constexpr double too_much = no_limit;
  const bool plane = data_.matrix.empty();
  const bool whole_distances = plane ? data_.rounding != Rounding::none : all(data_.matrix, whole);
  const std::vector<double> longest = longest_edges(data_);
  double most = 0, served = 0;
  const auto bound = [&](std::int32_t scale) {  // sums of whole numbers: exact while they matter
    most = plane ? std::int64_t{size()} * (data_.rounding == Rounding::none ? 1 : scale) : 0;
    served = 0;
    for (std::int32_t i = 1; i <= size(); ++i) {
      const double from_depot = fixed_point(distance(0, i), scale);
      most += from_depot + (plane ? from_depot : fixed_point(longest[static_cast<std::size_t>(i)], scale));
      served += fixed_point(service(i), scale);
    }
    return most + served;
  };
  scale_ = whole_distances && all(data_.service, whole) ? 1 : 1000;
  double farthest = 0;
  for (std::int32_t i = 1; i <= size(); ++i) farthest = std::max(farthest, distance(0, i));
  while (scale_ > 1 && scale_ < most_scale && (data_.finest || farthest * scale_ < enough_units)) scale_ *= 10;
  while (!(bound(scale_) < too_much)) {
    if (scale_ == 1) throw InputError("distances or service times are so large that costs could leave 31 bits");
    scale_ /= 10;
  }
  largest_cost_ = static_cast<std::int64_t>(most);
  // Whatever a route's duration is, it is at most most + served.
  if (data_.limit && *data_.limit * scale_ < most + served) {
    limit_ = static_cast<std::int32_t>(fixed_point(*data_.limit, scale_));
    if (static_cast<double>(limit_) / scale_ > *data_.limit) --limit_;
  }
  distance_.reserve(data_.demand.size() * data_.demand.size());
  for (std::int32_t a = 0; a <= size(); ++a) {
    for (std::int32_t b = 0; b <= size(); ++b) distance_.push_back(static_cast<std::int32_t>(fixed_point(distance(a, b), scale_)));
    service_.push_back(static_cast<std::int32_t>(fixed_point(service(a), scale_)));
  }
  const std::int64_t own_route = 2 * std::int64_t{*std::max_element(distance_.begin(), distance_.begin() + size() + 1)};
  const std::int64_t heaviest =
      std::max(std::int64_t{data_.capacity}, std::accumulate(data_.demand.begin(), data_.demand.end(), std::int64_t{0}));
  const std::int64_t units = std::min(own_route / dearest_load + 1, std::numeric_limits<std::int32_t>::max() / heaviest);
  capacity_ = static_cast<std::int32_t>(units * data_.capacity);
  for (const std::int32_t demand : data_.demand) demand_.push_back(static_cast<std::int32_t>(units * demand));
}

View Vrp::view() const noexcept {
  const std::int32_t fleet = data_.vehicles ? std::min(*data_.vehicles, size()) : size();
  return {distance_.data(), demand_.data(), service_.data(), size(), capacity_, limit_, fleet};
}

double Vrp::distance(std::int32_t a, std::int32_t b) const {
  const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
  if (i == j) return 0;
  if (!data_.matrix.empty()) return data_.matrix[i * data_.demand.size() + j];
  const double dx = data_.x[i] - data_.x[j], dy = data_.y[i] - data_.y[j];
  const double straight = std::sqrt(dx * dx + dy * dy);
  switch (data_.rounding) {
    case Rounding::none:
      return straight;
    case Rounding::nearest:
      return std::floor(straight + 0.5);
    case Rounding::up:
      return std::ceil(straight);
  }
  return straight;
}

double Vrp::service(std::int32_t customer) const { return data_.service.empty() ? 0 : data_.service[static_cast<std::size_t>(customer)]; }

std::uint64_t Vrp::hash() const {
  Digest digest;
  digest.add(data_.demand);
  for (const std::int64_t number : {std::int64_t{data_.capacity}, std::int64_t{limit_}, std::int64_t{view().vehicles}, std::int64_t{scale_},
                                    static_cast<std::int64_t>(data_.rounding)})
    digest.add(static_cast<std::uint64_t>(number));
  digest.add(service_);
  for (const auto* numbers : {&data_.x, &data_.y, &data_.matrix}) {
    digest.add(numbers->size());
    for (const double number : *numbers) digest.add(static_cast<std::uint64_t>(bits_of(number + 0.0)));
  }
  return digest.value();
}

Solution encoded(std::vector<Route> routes) {
  std::erase_if(routes, [](const Route& route) { return route.empty(); });
  for (Route& route : routes)
    if (route.front() > route.back()) std::reverse(route.begin(), route.end());
  std::sort(routes.begin(), routes.end());
  Solution solution;
  for (const Route& route : routes) {
    if (!solution.empty()) solution.push_back(0);
    solution.insert(solution.end(), route.begin(), route.end());
  }
  return solution;
}

std::vector<Route> routes_of(std::span<const std::int32_t> solution) {
  std::vector<Route> routes;
  for_customers(solution, [&](std::int32_t route, std::int32_t customer) {
    routes.resize(static_cast<std::size_t>(route));
    routes.back().push_back(customer);
  });
  return routes;
}

std::int64_t cost(const Vrp& vrp, std::span<const std::int32_t> solution) {
  return sum_of_edges<std::int64_t>(vrp, solution, [&](std::int32_t a, std::int32_t b) { return fixed_distance(vrp, a, b); });
}

double length(const Vrp& vrp, std::span<const std::int32_t> solution) {
  return sum_of_edges<double>(vrp, solution, [&](std::int32_t a, std::int32_t b) { return vrp.distance(a, b); });
}

std::string complaint(const Vrp& vrp, std::span<const std::int32_t> solution) {
  if (std::string what = visits_complaint(vrp.size(), solution); !what.empty()) return what;
  const auto routes = routes_of(solution);
  for (std::size_t r = 0; r < routes.size(); ++r)
    if (std::string what = route_complaint(vrp, r + 1, routes[r]); !what.empty()) return what;
  if (vrp.data().vehicles && routes.size() > static_cast<std::size_t>(*vrp.data().vehicles))
    return fmt::format("routes: {}, vehicles of the fleet: {}", routes.size(), *vrp.data().vehicles);
  return "";
}

std::string unservable(const Vrp& vrp) {
  const Data& data = vrp.data();
  std::vector<std::int64_t> nearest;  // made where a limit is below the way to a customer and back: others may lie on a shorter way
  for (std::int32_t i = 1; i <= vrp.size(); ++i) {
    if (const std::int32_t demand = data.demand[static_cast<std::size_t>(i)]; demand > data.capacity)
      return fmt::format("customer {} cannot be served: it demands {}, the capacity is {}", i, demand, data.capacity);
    if (2 * fixed_distance(vrp, 0, i) + fixed_service(vrp, i) <= vrp.view().limit) continue;
    if (nearest.empty()) nearest = shortest_ways(vrp);
    if (const std::int64_t trip = 2 * nearest[static_cast<std::size_t>(i)] + fixed_service(vrp, i); trip > vrp.view().limit)
      return fmt::format("customer {} cannot be served: to it and back takes {}, the limit is {}", i, shown(vrp, trip), *data.limit);
  }
  const std::int64_t total = std::accumulate(data.demand.begin(), data.demand.end(), std::int64_t{0});
  if (data.vehicles && total > std::int64_t{*data.vehicles} * data.capacity)
    return fmt::format("the demands sum up to {}, {} vehicles of capacity {} carry {}", total, *data.vehicles, data.capacity,
                       std::int64_t{*data.vehicles} * data.capacity);
  return "";
}

}  // namespace vicinity::vrp
