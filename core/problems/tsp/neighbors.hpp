#pragma once
// Which cities lie near a city, in O(n log n) where they have coordinates.
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/problems/tsp/tsp.hpp"

namespace vicinity::tsp {

/// Where cities are, for comparing how near they are: in the plane (z = 0), or of GEO on the unit sphere. Empty with a matrix.
[[nodiscard]] std::vector<std::array<double, 3>> places(const Tsp& tsp);

/// For cities[i] the k nearest others of `cities` (all of them where these are fewer), at [i * min(k, cities - 1)]: in the order of
/// (distance, city), the distance being the square in `places`; with a matrix of (entry, how far the city is behind cities[i] in number,
/// counted round), so that no city is in all lists where entries are equal. O(m log m) with coordinates, else O(m^2).
/// At most `threads` threads (with a matrix one) share the cities; the result is the same for any number. `check` is called every now and
/// then, by each of them; what it throws ends the search.
[[nodiscard]] std::vector<std::int32_t> nearest(const Tsp& tsp, std::span<const std::int32_t> cities, std::int32_t k,
                                                const std::function<void()>& check, int threads = 1);

/// Of every city k others that lie near it (all of them where these are fewer): in the plane the two nearest of each quadrant, so that a
/// city at the edge of a cluster knows the next one, and the nearest of all up to k >= 8. Of more than three cities at one place the lists
/// have the first two and the last alone. In the order of nearest(), with its threads.
[[nodiscard]] std::vector<std::int32_t> neighbor_lists(const Tsp& tsp, std::int32_t k, const std::function<void()>& check, int threads = 1);

/// A greedy tour: first the cities at one place one after the other, then the shortest edges, (distance, lower city, higher city), each
/// taken that leaves a set of paths. The edges are those of `lists`, k >= 2 cities for each (all others, where these are fewer), then those
/// to the k nearest among the ends of the paths, and so on until one path is left. `threads` are those of nearest().
[[nodiscard]] Tour greedy_tour(const Tsp& tsp, std::vector<std::int32_t> lists, const std::function<void()>& check, int threads = 1);

}  // namespace vicinity::tsp
