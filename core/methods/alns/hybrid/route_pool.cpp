#include "core/methods/alns/hybrid/route_pool.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/util/digest.hpp"
#include "core/util/rng.hpp"

namespace vicinity::alns::hybrid {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

/// Costs of columns, multipliers and reduced costs are in 1 / 256 of a unit of cost.
constexpr std::int64_t fine = 256;

/// The same for all orders of the same customers.
std::uint64_t key_of(const vrp::Route& route) {
  std::uint64_t key = 0;
  for (const std::int32_t c : route) key += mix(static_cast<std::uint64_t>(c));
  return key;
}

std::int64_t length_of(const vrp::View& vrp, const vrp::Route& route) {
  std::int64_t length = 0;
  std::int32_t before = 0;
  for (const std::int32_t c : route) {
    length += vrp(before, c);
    before = c;
  }
  return length + vrp(before, 0);
}

struct Priced {
  const vrp::Route* route;
  std::int64_t cost, reduced = 0;

  [[nodiscard]] std::int64_t surplus() const { return std::max<std::int64_t>(0, reduced); }
};

/// Lower bounds by Lagrangian relaxation of the rows: each column of negative reduced cost is taken.
class Bound {
 public:
  Bound(std::int32_t n, std::vector<Priced>& columns) : columns_(columns), multipliers_(at(n) + 1, 0), best_(multipliers_) {}

  /// At first customers share the cost of their routes in `known`. Columns are then priced by the multipliers of the best bound.
  void improve(const std::vector<Priced>& known, const std::atomic<bool>& stop) {
    std::int64_t upper = 0, work = static_cast<std::int64_t>(columns_.size());
    for (const Priced& one : known) {
      upper += one.cost;
      for (const std::int32_t c : *one.route) multipliers_[at(c)] = one.cost / static_cast<std::int64_t>(one.route->size());
    }
    for (const Priced& column : columns_) work += static_cast<std::int64_t>(column.route->size());
    const std::int64_t steps = std::min(most_steps, bound_work / work);
    std::int64_t idle = 0, step = 256;  // in 1 / 256 of the step that would close the gap
    for (std::int64_t i = 0; i < steps && !stop; ++i) {
      const std::int64_t bound = price(multipliers_);
      if (bound > bound_) {
        bound_ = bound;
        best_ = multipliers_;
        idle = 0;
      } else if (++idle == 20) {
        step = step * 2 / 3 + 1;
        idle = 0;
      }
      std::int64_t square = 0;
      for (std::size_t c = 1; c < missing_.size(); ++c) square += missing_[c] * missing_[c];
      if (square == 0) break;
      const std::int64_t length = std::max<std::int64_t>(1, (upper - bound) / square * step / 256);
      for (std::size_t c = 1; c < missing_.size(); ++c) multipliers_[c] += missing_[c] * length;
    }
    price(best_);
  }
  [[nodiscard]] std::int64_t value() const { return bound_; }
  [[nodiscard]] std::int64_t of(std::int32_t customer) const { return best_[at(customer)]; }

 private:
  /// The bound of these multipliers; leaves in missing_ how many columns each row lacks.
  std::int64_t price(const std::vector<std::int64_t>& multipliers) {
    missing_.assign(multipliers.size(), 1);
    std::int64_t bound = 0;
    for (const std::int64_t multiplier : multipliers) bound += multiplier;
    for (Priced& column : columns_) {
      column.reduced = column.cost;
      for (const std::int32_t c : *column.route) column.reduced -= multipliers[at(c)];
      if (column.reduced >= 0) continue;
      bound += column.reduced;
      for (const std::int32_t c : *column.route) --missing_[at(c)];
    }
    return bound;
  }

  std::vector<Priced>& columns_;
  std::vector<std::int64_t> multipliers_, best_, missing_;
  std::int64_t bound_ = std::numeric_limits<std::int64_t>::min();
};

/// Depth-first search for a partition of some customers that costs less than `upper`.
class Partition {
 public:
  /// `covered`: [customer] 1: is none of those. `bound`: of all partitions.
  Partition(std::vector<char> covered, std::int64_t bound, std::int64_t upper, std::int32_t most_routes)
      : covered_(std::move(covered)), upper_(upper), most_(most_routes), count_(covered_.size()) {
    left_ = static_cast<std::int32_t>(std::count(covered_.begin(), covered_.end(), 0));
    bound_ = bound;
  }
  /// `columns`, which have none but these customers, by ascending reduced cost. Empty: there is none.
  std::vector<Priced> search(const std::vector<const Priced*>& columns) {
    descend(columns, bound_, 0);
    return best_;
  }

 private:
  /// `bound`: of partitions with the columns chosen, which cost `cost`.
  void descend(const std::vector<const Priced*>& columns, std::int64_t bound, std::int64_t cost) {
    if (left_ == 0) {
      if (cost < upper_) upper_ = cost, best_ = chosen_;
      return;
    }
    const std::int32_t row = static_cast<std::int32_t>(chosen_.size()) == most_ ? 0 : row_of_fewest(columns);
    if (row == 0) return;
    for (const Priced* const column : columns) {
      const std::int64_t with = bound + column->surplus();
      if (work_ > window_work || with >= upper_) return;
      const vrp::Route& route = *column->route;
      if (std::find(route.begin(), route.end(), row) == route.end()) continue;
      choose(*column);
      std::vector<const Priced*> compatible;
      for (const Priced* const other : columns) {
        if (with + other->surplus() >= upper_) break;
        work_ += 4;
        if (std::none_of(other->route->begin(), other->route->end(), [&](std::int32_t c) { return covered_[at(c)] != 0; }))
          compatible.push_back(other);
      }
      descend(compatible, with, cost + column->cost);
      take_back();
    }
  }
  /// The customer not covered with the fewest columns; 0: one has none.
  std::int32_t row_of_fewest(const std::vector<const Priced*>& columns) {
    std::fill(count_.begin(), count_.end(), 0);
    work_ += static_cast<std::int64_t>(count_.size()) / 4;
    for (const Priced* const column : columns) {
      for (const std::int32_t c : *column->route) ++count_[at(c)];
      work_ += static_cast<std::int64_t>(column->route->size());
    }
    std::int32_t fewest = 0;
    for (std::size_t c = 1; c < count_.size(); ++c) {
      if (covered_[c] != 0) continue;
      if (count_[c] == 0) return 0;
      if (fewest == 0 || count_[c] < count_[at(fewest)]) fewest = static_cast<std::int32_t>(c);
    }
    return fewest;
  }
  void choose(const Priced& column) {
    for (const std::int32_t c : *column.route) covered_[at(c)] = 1;
    left_ -= static_cast<std::int32_t>(column.route->size());
    chosen_.push_back(column);
  }
  void take_back() {
    for (const std::int32_t c : *chosen_.back().route) covered_[at(c)] = 0;
    left_ += static_cast<std::int32_t>(chosen_.back().route->size());
    chosen_.pop_back();
  }

  std::vector<char> covered_;
  std::int32_t left_;
  std::int64_t bound_, upper_, work_ = 0;
  std::int32_t most_;
  std::vector<std::int32_t> count_;
  std::vector<Priced> chosen_, best_;
};

/// A solution, and what is better around each of its routes.
class Windows {
 public:
  /// `columns` by ascending reduced cost.
  Windows(std::int32_t n, const std::vector<Priced>& columns, const Bound& bound, std::vector<Priced> routes, std::int32_t most_routes)
      : columns_(columns), bound_(bound), routes_(std::move(routes)), most_(most_routes), route_(at(n) + 1) {
    number();
  }
  /// Was anything found?
  bool improve(const std::atomic<bool>& stop) {
    bool better = false;
    for (std::size_t seed = 0; seed < routes_.size() && !stop; ++seed) better = improve_around(seed) || better;
    return better;
  }
  [[nodiscard]] const std::vector<Priced>& routes() const { return routes_; }

 private:
  void number() {
    for (std::size_t r = 0; r < routes_.size(); ++r)
      for (const std::int32_t c : *routes_[r].route) route_[at(c)] = r;
  }
  /// [route] 1: is in the window. Those that have most customers in columns with customers of the seed.
  [[nodiscard]] std::vector<char> window_around(std::size_t seed) const {
    std::vector<std::int64_t> shared(routes_.size(), 0);
    for (const Priced& column : columns_) {
      const vrp::Route& route = *column.route;
      if (std::none_of(route.begin(), route.end(), [&](std::int32_t c) { return route_[at(c)] == seed; })) continue;
      for (const std::int32_t c : route) ++shared[route_[at(c)]];
    }
    std::vector<char> window(routes_.size(), 0);
    window[seed] = 1;
    shared[seed] = 0;
    for (std::int32_t k = 1; k < routes_of_window; ++k) {
      const auto most = std::max_element(shared.begin(), shared.end());
      if (*most == 0) break;
      window[static_cast<std::size_t>(most - shared.begin())] = 1;
      *most = 0;
    }
    return window;
  }
  bool improve_around(std::size_t seed) {
    const std::vector<char> window = window_around(seed);
    const auto inside = [&](std::int32_t c) { return window[route_[at(c)]] != 0; };
    std::vector<const Priced*> columns;
    std::int64_t bound = 0, upper = 0;
    for (const Priced& column : columns_) {
      if (!std::all_of(column.route->begin(), column.route->end(), inside)) continue;
      columns.push_back(&column);
      bound += std::min<std::int64_t>(0, column.reduced);
    }
    std::vector<char> covered(route_.size(), 1);
    std::vector<Priced> made;
    for (std::size_t r = 0; r < routes_.size(); ++r) {
      if (window[r] == 0) {
        made.push_back(routes_[r]);
        continue;
      }
      upper += routes_[r].cost;
      for (const std::int32_t c : *routes_[r].route) covered[at(c)] = 0, bound += bound_.of(c);
    }
    const std::vector<Priced> found =
        Partition(std::move(covered), bound, upper, most_ - static_cast<std::int32_t>(made.size())).search(columns);
    if (found.empty()) return false;
    made.insert(made.end(), found.begin(), found.end());
    routes_ = std::move(made);
    number();
    return true;
  }

  const std::vector<Priced>& columns_;
  const Bound& bound_;
  std::vector<Priced> routes_;
  std::int32_t most_;
  std::vector<std::size_t> route_;  ///< [customer]
};

}  // namespace

void RoutePool::add(const vrp::Route& route) {
  std::int64_t load = 0, service = 0;
  for (const std::int32_t c : route) {
    load += vrp_.demand[c];
    service += vrp_.service[c];
  }
  const std::int64_t cost = length_of(vrp_, route);
  if (route.empty() || load > vrp_.capacity || cost + service > vrp_.limit) return;
  const auto [found, is_new] = by_customers_.try_emplace(key_of(route), columns_.size());
  if (!is_new) {
    Column& column = columns_[found->second];
    if (cost < column.cost) column = {route, cost};
    return;
  }
  columns_.push_back({route, cost});
  pooled_ += route.size();
  if (pooled_ < most_pooled) return;
  columns_.erase(columns_.begin(), columns_.begin() + static_cast<std::ptrdiff_t>(columns_.size() / 2));
  by_customers_.clear();
  pooled_ = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    by_customers_[key_of(columns_[i].route)] = i;
    pooled_ += columns_[i].route.size();
  }
}

std::vector<vrp::Route> RoutePool::recombined(std::span<const vrp::Route> known, std::int32_t most_routes,
                                              const std::atomic<bool>& stop) const {
  if (columns_.empty()) return {};
  std::vector<Priced> columns, routes;
  for (const Column& column : columns_) columns.push_back({&column.route, fine * column.cost});
  std::int64_t upper = 0;
  for (const vrp::Route& route : known) {
    if (route.empty()) continue;
    routes.push_back({&route, fine * length_of(vrp_, route)});
    upper += routes.back().cost;
  }
  Bound bound(vrp_.n, columns);
  bound.improve(routes, stop);
  std::erase_if(columns, [&](const Priced& column) { return bound.value() + column.surplus() >= upper; });
  std::stable_sort(columns.begin(), columns.end(), [](const Priced& a, const Priced& b) { return a.reduced < b.reduced; });
  Windows windows(vrp_.n, columns, bound, std::move(routes), most_routes);
  std::vector<vrp::Route> made;
  if (windows.improve(stop))
    for (const Priced& one : windows.routes()) made.push_back(*one.route);
  return made;
}

}  // namespace vicinity::alns::hybrid
