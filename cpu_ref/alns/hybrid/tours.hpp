#pragma once
// A solution of cpu-hybrid under local search.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/methods/alns/hybrid/moves.hpp"
#include "core/methods/alns/hybrid/population.hpp"
#include "core/problems/vrp/vrp.hpp"

namespace vicinity::alns::hybrid {

/// A solution with prefix sums.
class Tours {
 public:
  /// Where a customer stands.
  struct Stop {
    std::int32_t next, prev, to_next, to_prev, route, position, load, duration;
  };

  Tours(const vrp::View& vrp, std::int32_t routes);

  void load_all(const Routes& routes);
  void set(std::int32_t r, std::span<const std::int32_t> customers);

  [[nodiscard]] const Stop* stops() const { return stops_.data(); }  ///< [customer]; that of the depot is all zeros
  [[nodiscard]] std::int32_t next(std::int32_t u) const { return stop(u).next; }
  [[nodiscard]] std::int32_t prev(std::int32_t u) const { return stop(u).prev; }
  [[nodiscard]] std::int32_t to_next(std::int32_t u) const { return stop(u).to_next; }
  [[nodiscard]] std::int32_t to_prev(std::int32_t u) const { return stop(u).to_prev; }
  [[nodiscard]] std::int32_t route(std::int32_t u) const { return stop(u).route; }
  [[nodiscard]] std::int32_t position(std::int32_t u) const { return stop(u).position; }
  [[nodiscard]] std::int32_t load_to(std::int32_t u) const { return stop(u).load; }
  [[nodiscard]] std::int32_t duration_to(std::int32_t u) const { return stop(u).duration; }
  [[nodiscard]] std::int32_t load(std::int32_t r) const { return totals_[static_cast<std::size_t>(r)].load; }
  [[nodiscard]] std::int32_t duration(std::int32_t r) const { return totals_[static_cast<std::size_t>(r)].duration; }
  [[nodiscard]] const Routes& routes() const { return routes_; }
  [[nodiscard]] const vrp::Route& customers(std::int32_t r) const { return routes_[static_cast<std::size_t>(r)]; }
  [[nodiscard]] std::int32_t count() const { return static_cast<std::int32_t>(routes_.size()); }
  /// The empty route of least number; -1: none.
  [[nodiscard]] std::int32_t empty() const;

  [[nodiscard]] std::int64_t distance() const;
  [[nodiscard]] std::int64_t cost(const Penalties& penalties) const;  ///< distance and penalties
  [[nodiscard]] std::int64_t excess_load() const;                     ///< of all routes
  [[nodiscard]] std::int64_t excess_duration() const;

 private:
  struct Totals {
    std::int32_t load, duration;
  };
  [[nodiscard]] const Stop& stop(std::int32_t u) const { return stops_[static_cast<std::size_t>(u)]; }

  vrp::View vrp_;
  std::int64_t served_;  ///< all service times
  std::vector<Stop> stops_;
  std::vector<Totals> totals_;
  Routes routes_;
};

}  // namespace vicinity::alns::hybrid
