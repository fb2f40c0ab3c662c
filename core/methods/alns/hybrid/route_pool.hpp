#pragma once
// The route pool: routes of many local optima, and cheaper solutions that can be put together from them, by set partitioning. On the host,
// the same for all twins.
//
// A route is a column, a customer a row that exactly one chosen column covers. Multipliers of the rows, improved by subgradient steps, give
// each column a reduced cost and a lower bound. Around each route of the best known solution, the routes that share most columns with it
// make a window; what else its customers can be put into is searched depth first, on the customer with the fewest columns left, and
// replaces the window where it is cheaper. (All routes at once would be too many: the gap to the bound is a per cent or two, and the bound
// prunes nothing.) All in whole numbers, and cut off after a fixed amount of work, so that it ends the same everywhere.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/problems/vrp/vrp.hpp"

namespace vicinity::alns::hybrid {

/// Customers of all pooled routes; routes of a window.
inline constexpr std::size_t most_pooled = 200'000;
inline constexpr std::int32_t routes_of_window = 12;
/// Customers of columns looked at: by all subgradient steps, of which there are so many at most; by the search of a window.
inline constexpr std::int64_t bound_work = 60'000'000, most_steps = 1500, window_work = 300'000;

class RoutePool {
 public:
  explicit RoutePool(const vrp::View& vrp) : vrp_(vrp) {}

  /// Takes in a route if it holds the limits; of those with the same customers the cheapest stays. When most_pooled customers are there,
  /// the older half of the routes leaves.
  void add(const vrp::Route& route);
  /// Routes.
  [[nodiscard]] std::size_t size() const noexcept { return columns_.size(); }
  /// A solution that is cheaper than `known`, a feasible one, with at most `most_routes` routes; empty: none was found. When `stop` rises
  /// it ends soon.
  [[nodiscard]] std::vector<vrp::Route> recombined(std::span<const vrp::Route> known, std::int32_t most_routes,
                                                   const std::atomic<bool>& stop) const;

 private:
  struct Column {
    vrp::Route route;
    std::int64_t cost;
  };
  vrp::View vrp_;
  std::vector<Column> columns_;
  std::size_t pooled_ = 0;
  std::unordered_map<std::uint64_t, std::size_t> by_customers_;
};

}  // namespace vicinity::alns::hybrid
