#pragma once
// The travelling salesman problem (paper, section 6.4): the shortest tour through n cities. Distances are whole numbers as TSPLIB defines
// them (Reinelt, TSPLIB 95, section 2). The paper's is EUC_2D: the Euclidean distance rounded to the nearest whole number,
// (int)(sqrt(dx dx + dy dy) + 0.5) in double precision, nothing fused.
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/api/run.hpp"
#include "core/util/hd.hpp"
#include "core/util/unfused.hpp"

namespace vicinity::tsp {

/// tour[position] = city; the last position is followed by the first.
using Tour = std::vector<std::int32_t>;

/// How far two cities are apart; TSPLIB's EDGE_WEIGHT_TYPE.
enum class Metric { euc_2d, ceil_2d, att, geo, matrix };
/// EUC_2D, CEIL_2D, ATT, GEO, EXPLICIT.
[[nodiscard]] const char* name_of(Metric metric);

/// The most cities of an instance: with coordinates, with a matrix.
inline constexpr std::int32_t most_cities = 1'000'000, most_cities_of_a_matrix = 20'000;

struct View {
  const double* x;
  const double* y;
  std::int32_t n;
};

/// EUC_2D. Below 2^28 for every instance.
VICINITY_HD std::int32_t distance(double dx, double dy) {
  return static_cast<std::int32_t>(plus(root(plus(times(dx, dx), times(dy, dy))), 0.5));
}
VICINITY_HD std::int32_t distance(const View& tsp, std::int32_t a, std::int32_t b) {
  return distance(plus(tsp.x[a], -tsp.x[b]), plus(tsp.y[a], -tsp.y[b]));
}

/// The same for whole coordinates: the distance whose square is nearest, from `squared` = dx dx + dy dy < 2^31. `estimate` is the root in
/// single precision, off by less than one half after rounding.
VICINITY_HD std::int32_t rounded_root(std::int32_t squared, float estimate) {
  const auto r = static_cast<std::int32_t>(plus(estimate, 0.5f));
  // r is right when r(r-1) < squared <= r(r+1); r(r-1) fits 32 bits, as r <= 46341.
  const std::int32_t below = r * (r - 1);
  return r + static_cast<std::int32_t>(squared > below + 2 * r) -
         static_cast<std::int32_t>(static_cast<int>(squared <= below) & static_cast<int>(r > 0));
}

/// Change of the length when the cities at positions i < j of n >= 3 swap, in O(1): two to four edges. `d(a, b)` is the distance of two
/// cities.
template <class T, class Distance>
VICINITY_HD std::int32_t swap_delta(std::int32_t n, const T& tour, std::int32_t i, std::int32_t j, const Distance& d) {
  const std::int32_t a = tour[i], b = tour[j];
  const std::int32_t before_a = tour[i == 0 ? n - 1 : i - 1], after_a = tour[i + 1];
  const std::int32_t before_b = tour[j - 1], after_b = tour[j == n - 1 ? 0 : j + 1];
  if (j == i + 1) return d(before_a, b) + d(a, after_b) - d(before_a, a) - d(b, after_b);
  if (i == 0 && j == n - 1) return d(before_b, a) + d(b, after_a) - d(before_b, b) - d(a, after_a);
  return d(before_a, b) + d(b, after_a) + d(before_b, a) + d(a, after_b) - d(before_a, a) - d(a, after_a) - d(before_b, b) - d(b, after_b);
}

/// EUC_2D distances of cities, from their coordinates.
struct Distance {
  View tsp;

  VICINITY_HD std::int32_t operator()(std::int32_t a, std::int32_t b) const { return distance(tsp, a, b); }
};

/// CEIL_2D: rounded up.
struct CeilDistance {
  View tsp;

  std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    const double dx = tsp.x[a] - tsp.x[b], dy = tsp.y[a] - tsp.y[b];
    return static_cast<std::int32_t>(std::ceil(std::sqrt(dx * dx + dy * dy)));
  }
};

/// ATT: the pseudo-Euclidean distance, the root of a tenth of the square rounded up.
struct AttDistance {
  View tsp;

  std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    const double dx = tsp.x[a] - tsp.x[b], dy = tsp.y[a] - tsp.y[b], root = std::sqrt((dx * dx + dy * dy) / 10.0);
    const auto nearest = static_cast<std::int32_t>(root + 0.5);
    return nearest < root ? nearest + 1 : nearest;
  }
};

/// Radians of DDD.MM, degrees and minutes. TSPLIB's own programs cut degrees off, and so do the best known values.
[[nodiscard]] inline double geo_radians(double coordinate) {
  constexpr double pi = 3.141592;  // TSPLIB's
  const double degrees = std::trunc(coordinate);
  return pi * (degrees + 5.0 * (coordinate - degrees) / 3.0) / 180.0;
}

/// GEO: kilometres on the sphere, cut off, and one. `tsp` has latitudes and longitudes in radians.
struct GeoDistance {
  View tsp;

  std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    const double q1 = std::cos(tsp.y[a] - tsp.y[b]), q2 = std::cos(tsp.x[a] - tsp.x[b]), q3 = std::cos(tsp.x[a] + tsp.x[b]);
    const double cosine = 0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3);
    return static_cast<std::int32_t>(6378.388 * std::acos(std::fmin(cosine, 1.0)) + 1.0);  // two cities at one place: rounding
  }
};

/// EXPLICIT: n x n entries, row by row.
struct MatrixDistance {
  const std::int32_t* entries;
  std::int64_t n;

  std::int32_t operator()(std::int32_t a, std::int32_t b) const { return entries[a * n + b]; }
};

/// An instance: immutable coordinates, or a matrix.
class Tsp final : public Instance {
 public:
  /// x and y as the file has them: of GEO latitude and longitude, in degrees and minutes. Throws InputError (without a file's name) for
  /// fewer than 3 or more than `most_cities` cities, coordinates of another number or not finite, and cities 2^28 or more apart.
  Tsp(std::string name, std::vector<double> x, std::vector<double> y, Metric metric = Metric::euc_2d);
  /// `matrix` is n x n, row by row. Throws InputError unless it is symmetric, with entries from 0 to 2^28 - 1 and 3 to
  /// `most_cities_of_a_matrix` rows. The diagonal means nothing.
  Tsp(std::string name, std::int32_t n, std::vector<std::int32_t> matrix);

  [[nodiscard]] std::uint64_t hash() const override;
  [[nodiscard]] Metric metric() const noexcept { return metric_; }
  /// Coordinates; null with a matrix.
  [[nodiscard]] View view() const noexcept { return {x_.data(), y_.data(), size()}; }
  [[nodiscard]] std::span<const std::int32_t> matrix() const noexcept { return matrix_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::int32_t size() const noexcept { return n_; }
  /// EUC_2D with whole coordinates that fit 16 bits from the least on: rounded_root() may be used, and single precision holds them.
  [[nodiscard]] bool integral() const noexcept { return integral_; }

 private:
  std::string name_;
  Metric metric_;
  std::int32_t n_;
  std::vector<double> x_, y_;
  std::vector<std::int32_t> matrix_;
  bool integral_ = false;
};

/// The oracle: the length from its definition. Shares no code with swap_delta. Throws InputError unless tour is a permutation of 0..n-1.
[[nodiscard]] std::int64_t length(const Tsp& tsp, std::span<const std::int32_t> tour);

/// The distance of two cities from its definition.
[[nodiscard]] std::int64_t distance_of(const Tsp& tsp, std::int32_t a, std::int32_t b);

/// What keeps `tour` from being a tour, in one line; empty when nothing does.
[[nodiscard]] std::string complaint(const Tsp& tsp, std::span<const std::int32_t> tour);

/// n cities at whole coordinates, uniform in [0, extent)^2; stands in for an instance of that size.
[[nodiscard]] Tsp uniform(std::string name, std::int32_t n, std::int64_t extent, std::uint64_t seed);

}  // namespace vicinity::tsp
