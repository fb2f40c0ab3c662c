#pragma once
// A child's education: local search by rounds to an optimum of all moves of core/methods/alns/hybrid/moves.hpp, under given penalties.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/methods/alns/hybrid/granular.hpp"
#include "core/methods/alns/hybrid/moves.hpp"
#include "core/methods/alns/hybrid/population.hpp"
#include "core/problems/vrp/vrp.hpp"
#include "cpu_ref/run/interruption.hpp"

namespace vicinity::alns::hybrid {

/// A solution with prefix sums.
class Tours {
 public:
  Tours(const vrp::View& vrp, std::int32_t routes);

  void load_all(const Routes& routes);
  void set(std::int32_t r, std::span<const std::int32_t> customers);

  [[nodiscard]] std::int32_t next(std::int32_t u) const { return stop(u).next; }
  [[nodiscard]] std::int32_t prev(std::int32_t u) const { return stop(u).prev; }
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
  struct Stop {
    std::int32_t next, prev, route, position, load, duration;
  };
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

class LocalSearch {
 public:
  LocalSearch(const vrp::View& vrp, const Granular& granular);

  /// Improves `tours` until no move does.
  void improve(Tours& tours, const Penalties& penalties, const Interruption& interruption = Interruption());

  [[nodiscard]] std::int64_t rounds() const noexcept { return rounds_; }
  [[nodiscard]] std::int64_t moves() const noexcept { return moves_; }
  /// (customer, neighbour) pairs evaluated.
  [[nodiscard]] std::int64_t evaluations() const noexcept { return evaluations_; }

 private:
  struct Reference {
    std::int32_t u, slot;
  };

  void evaluate(std::int32_t u);
  void evaluate(std::int32_t u, std::int32_t slot);
  bool round();
  void claim(std::int32_t r, std::uint64_t claim);
  void carry_out(std::int32_t u, const Best& move);
  void refresh(bool had_empty);
  [[nodiscard]] std::int32_t neighbor(std::int32_t u, std::int32_t slot) const;
  /// Route that u's best move shares with its neighbour.
  [[nodiscard]] std::int32_t other_route(std::int32_t u) const;

  vrp::View vrp_;
  const Granular* granular_;
  std::int32_t slots_;                        ///< neighbours that serve moves; also the slot of the empty route
  std::vector<std::size_t> first_reference_;  ///< [v] into references_
  std::vector<Reference> references_;         ///< who has v as a neighbour
  Tours* tours_ = nullptr;
  Penalties penalties_{};
  std::int32_t empty_ = -1;
  std::vector<Best> best_;               ///< [u]
  std::vector<std::uint64_t> claims_;    ///< [r] least claim of this round
  std::vector<char> changed_, renew_;    ///< [r] by this round; [u] to be evaluated whole
  std::vector<std::int32_t> improving_;  ///< customers
  vrp::Route first_, second_, made_first_, made_second_;
  std::int64_t rounds_ = 0, moves_ = 0, evaluations_ = 0;
};

}  // namespace vicinity::alns::hybrid
