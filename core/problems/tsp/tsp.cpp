#include "core/problems/tsp/tsp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/util/digest.hpp"
#include "core/util/error.hpp"
#include "core/util/permutation.hpp"
#include "core/util/rng.hpp"

namespace vicinity::tsp {
namespace {

double extent(const std::vector<double>& coordinates) {
  const auto [low, high] = std::minmax_element(coordinates.begin(), coordinates.end());
  return *high - *low;
}

bool whole(const std::vector<double>& coordinates) {
  return std::all_of(coordinates.begin(), coordinates.end(), [](double c) { return c == std::trunc(c); });
}

std::string outside(std::size_t n, std::int32_t most) { return fmt::format("{} cities are outside 3..{}", n, most); }

}  // namespace

const char* name_of(Metric metric) {
  constexpr std::array names{"EUC_2D", "CEIL_2D", "ATT", "GEO", "EXPLICIT"};
  return names.at(static_cast<std::size_t>(metric));
}

Tsp::Tsp(std::string name, std::vector<double> x, std::vector<double> y, Metric metric)
    : name_(std::move(name)), metric_(metric), n_(static_cast<std::int32_t>(x.size())), x_(std::move(x)), y_(std::move(y)) {
  if (x_.size() < 3 || x_.size() > most_cities) throw InputError(outside(x_.size(), most_cities));
  if (x_.size() != y_.size()) throw InputError("as many x as y coordinates are needed");
  for (const auto* coordinates : {&x_, &y_})
    if (!std::all_of(coordinates->begin(), coordinates->end(), [](double c) { return std::isfinite(c); }))
      throw InputError("a coordinate is not a finite number");
  const double width = extent(x_), height = extent(y_);
  if (!(std::hypot(width, height) < (1 << 28) - 1)) throw InputError("cities are so far apart that distances leave 28 bits");
  integral_ = metric_ == Metric::euc_2d && whole(x_) && whole(y_) && width <= 32767 && height <= 32767;
}

Tsp::Tsp(std::string name, std::int32_t n, std::vector<std::int32_t> matrix)
    : name_(std::move(name)), metric_(Metric::matrix), n_(n), matrix_(std::move(matrix)) {
  if (n < 3 || n > most_cities_of_a_matrix) throw InputError(outside(static_cast<std::size_t>(std::max(n, 0)), most_cities_of_a_matrix));
  if (matrix_.size() != static_cast<std::size_t>(n) * static_cast<std::size_t>(n)) throw InputError("the matrix is not n x n");
  const MatrixDistance d{matrix_.data(), n};
  for (std::int32_t a = 0; a < n; ++a)
    for (std::int32_t b = 0; b < a; ++b) {
      if (d(a, b) != d(b, a))
        throw InputError(
            fmt::format("the distances of nodes {} and {} are {} and {}: the matrix is not symmetric", b + 1, a + 1, d(b, a), d(a, b)));
      if (d(a, b) < 0 || d(a, b) >= 1 << 28)
        throw InputError(fmt::format("the distance {} of nodes {} and {} is outside 0..2^28-1", d(a, b), b + 1, a + 1));
    }
}

std::uint64_t Tsp::hash() const {
  Digest digest;
  digest.add(static_cast<std::uint64_t>(n_));
  for (const auto* coordinates : {&x_, &y_})
    for (const double c : *coordinates) digest.add(static_cast<std::uint64_t>(bits_of(c + 0.0)));
  if (metric_ != Metric::euc_2d) digest.add(static_cast<std::uint64_t>(metric_));
  digest.add(matrix_);
  return digest.value();
}

std::string complaint(const Tsp& tsp, std::span<const std::int32_t> tour) { return permutation_complaint(tsp.size(), tour, "city"); }

std::int64_t distance_of(const Tsp& tsp, std::int32_t a, std::int32_t b) {
  if (tsp.metric() == Metric::matrix)
    return tsp.matrix()[static_cast<std::size_t>(a) * static_cast<std::size_t>(tsp.size()) + static_cast<std::size_t>(b)];
  const View view = tsp.view();
  const double dx = view.x[a] - view.x[b], dy = view.y[a] - view.y[b];
  const double squared = dx * dx + dy * dy;
  switch (tsp.metric()) {
    case Metric::ceil_2d:
      return static_cast<std::int64_t>(std::ceil(std::sqrt(squared)));
    case Metric::att:
      return static_cast<std::int64_t>(std::ceil(std::sqrt(squared / 10.0)));
    case Metric::geo: {
      const double lat_a = geo_radians(view.x[a]), lat_b = geo_radians(view.x[b]), turn = geo_radians(view.y[a]) - geo_radians(view.y[b]);
      const double q1 = std::cos(turn), q2 = std::cos(lat_a - lat_b), q3 = std::cos(lat_a + lat_b);
      return static_cast<std::int64_t>(std::floor(6378.388 * std::acos(std::min(0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3), 1.0)) + 1.0));
    }
    default:
      return static_cast<std::int64_t>(std::floor(std::sqrt(squared) + 0.5));
  }
}

std::int64_t length(const Tsp& tsp, std::span<const std::int32_t> tour) {
  if (const std::string what = complaint(tsp, tour); !what.empty()) throw InputError("not a tour: " + what);
  std::int64_t sum = 0;
  for (std::size_t position = 0; position < tour.size(); ++position)
    sum += distance_of(tsp, tour[position], tour[(position + 1) % tour.size()]);
  return sum;
}

Tsp uniform(std::string name, std::int32_t n, std::int64_t extent, std::uint64_t seed) {
  std::vector<double> x, y;
  for (std::int32_t i = 0; i < n; ++i) {
    const auto coordinate = [&](std::uint32_t which) {
      const std::uint64_t bits = random_bits(seed, static_cast<std::uint64_t>(i), which, 0);
      return static_cast<double>(scale_to(bits, static_cast<std::uint64_t>(extent)));
    };
    x.push_back(coordinate(0));
    y.push_back(coordinate(1));
  }
  return {std::move(name), std::move(x), std::move(y)};
}

}  // namespace vicinity::tsp
