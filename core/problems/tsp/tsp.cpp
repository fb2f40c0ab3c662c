#include "core/problems/tsp/tsp.hpp"

#include <algorithm>
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

}  // namespace

Tsp::Tsp(std::string name, std::vector<double> x, std::vector<double> y) : name_(std::move(name)), x_(std::move(x)), y_(std::move(y)) {
  if (x_.size() < 3 || x_.size() > 46340) throw InputError(std::to_string(x_.size()) + " cities are outside 3..46340");
  if (x_.size() != y_.size()) throw InputError("as many x as y coordinates are needed");
  for (const auto* coordinates : {&x_, &y_})
    if (!std::all_of(coordinates->begin(), coordinates->end(), [](double c) { return std::isfinite(c); }))
      throw InputError("a coordinate is not a finite number");
  const double width = extent(x_), height = extent(y_);
  if (!(std::hypot(width, height) < (1 << 28) - 1)) throw InputError("cities are so far apart that distances leave 28 bits");
  integral_ = whole(x_) && whole(y_) && width <= 32767 && height <= 32767;
}

std::uint64_t Tsp::hash() const {
  Digest digest;
  digest.add(x_.size());
  for (const auto* coordinates : {&x_, &y_})
    for (const double c : *coordinates) digest.add(static_cast<std::uint64_t>(bits_of(c + 0.0)));
  return digest.value();
}

std::string complaint(const Tsp& tsp, std::span<const std::int32_t> tour) { return permutation_complaint(tsp.size(), tour, "city"); }

std::int64_t length(const Tsp& tsp, std::span<const std::int32_t> tour) {
  if (const std::string what = complaint(tsp, tour); !what.empty()) throw InputError("not a tour: " + what);
  const View view = tsp.view();
  std::int64_t sum = 0;
  for (std::size_t position = 0; position < tour.size(); ++position) {
    const std::int32_t from = tour[position], to = tour[(position + 1) % tour.size()];
    const double dx = view.x[from] - view.x[to], dy = view.y[from] - view.y[to];
    sum += static_cast<std::int64_t>(std::floor(std::sqrt(dx * dx + dy * dy) + 0.5));
  }
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
