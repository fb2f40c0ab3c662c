#pragma once
// The travelling salesman problem in the plane (paper, section 6.4): the shortest tour through n cities. Distances are TSPLIB's EUC_2D: the
// Euclidean distance rounded to the nearest whole number, (int)(sqrt(dx dx + dy dy) + 0.5) in double precision, nothing fused.
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

/// An instance: immutable coordinates.
class Tsp final : public Instance {
 public:
  /// Throws InputError (without a file's name) for fewer than 3 or more than 46340 cities, coordinates of another number or not
  /// finite, and cities 2^28 or more apart.
  Tsp(std::string name, std::vector<double> x, std::vector<double> y);

  [[nodiscard]] std::uint64_t hash() const override;
  [[nodiscard]] View view() const noexcept { return {x_.data(), y_.data(), size()}; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::int32_t size() const noexcept { return static_cast<std::int32_t>(x_.size()); }
  /// Whole coordinates that fit 16 bits from the least on: rounded_root() may be used, and single precision holds them.
  [[nodiscard]] bool integral() const noexcept { return integral_; }

 private:
  std::string name_;
  std::vector<double> x_, y_;
  bool integral_ = false;
};

/// The oracle: the length from its definition. Shares no code with swap_delta. Throws InputError unless tour is a permutation of 0..n-1.
[[nodiscard]] std::int64_t length(const Tsp& tsp, std::span<const std::int32_t> tour);

/// What keeps `tour` from being a tour, in one line; empty when nothing does.
[[nodiscard]] std::string complaint(const Tsp& tsp, std::span<const std::int32_t> tour);

/// n cities at whole coordinates, uniform in [0, extent)^2; stands in for an instance of that size.
[[nodiscard]] Tsp uniform(std::string name, std::int32_t n, std::int64_t extent, std::uint64_t seed);

}  // namespace vicinity::tsp
