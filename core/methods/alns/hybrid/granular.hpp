#pragma once
// What the hybrid search prepares once from an instance, on the host: neighbours, an order around the depot, how many routes there may be,
// symmetries.
#include <cstdint>
#include <vector>

#include "core/methods/alns/hybrid/symmetry.hpp"
#include "core/problems/vrp/vrp.hpp"

namespace vicinity::alns::hybrid {

/// Neighbours that moves join a customer with, and those beside which it is inserted.
inline constexpr std::int32_t move_neighbors = 20, insertion_neighbors = 40;

/// Everything here follows from the instance alone.
struct Granular {
  explicit Granular(const vrp::Vrp& vrp);

  std::int32_t k;                     ///< neighbours of a customer: min(insertion_neighbors, n - 1)
  std::vector<std::int32_t> nearest;  ///< [u * k + slot] customers by (distance, number)
  /// [customer] 0 .. n-1: by the angle around the depot, then distance from it and number; without coordinates by a nearest-neighbour tour
  /// from the depot, least (distance, number).
  std::vector<std::int32_t> rank;
  std::int32_t routes;  ///< most routes of a solution under way, m
  /// The cheaper one of the cheapest cuts of the customers by `rank` and of the nearest-neighbour tour; empty: both have more routes.
  std::vector<vrp::Route> first;
  std::int32_t spread;  ///< mean distance of two customers, at least 1: the unit of temperatures
  std::vector<Symmetry> symmetries;
  [[nodiscard]] std::int32_t moves() const noexcept { return k < move_neighbors ? k : move_neighbors; }
};

}  // namespace vicinity::alns::hybrid
