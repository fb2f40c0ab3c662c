#include "core/methods/alns/hybrid/symmetry.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace vicinity::alns::hybrid {
namespace {

using Point = std::complex<double>;

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

/// Places seen from the depot; [customer].
std::vector<Point> places_of(const vrp::Data& data) {
  std::vector<Point> places;
  for (std::size_t i = 0; i < data.x.size(); ++i) places.emplace_back(data.x[i] - data.x[0], data.y[i] - data.y[0]);
  return places;
}

/// Square of the least distance of two customers.
double least_square(const std::vector<Point>& places) {
  double least = std::numeric_limits<double>::max();
  for (std::size_t a = 2; a < places.size(); ++a)
    for (std::size_t b = 1; b < a; ++b) least = std::min(least, std::norm(places[a] - places[b]));
  return least;
}

/// Finds the customer at a place, in squares as wide as an image may be off.
class Squares {
 public:
  Squares(const std::vector<Point>& places, double width) : places_(places), width_(width) {
    for (std::size_t c = 1; c < places.size(); ++c) squares_[square(places[c])] = static_cast<std::int32_t>(c);
  }
  /// 0: none is there.
  [[nodiscard]] std::int32_t customer(Point place) const {
    const auto [x, y] = square(place);
    for (std::int64_t i = x - 1; i <= x + 1; ++i)
      for (std::int64_t j = y - 1; j <= y + 1; ++j)
        if (const auto found = squares_.find({i, j}); found != squares_.end())
          if (std::norm(places_[at(found->second)] - place) < width_ * width_) return found->second;
    return 0;
  }

 private:
  using Square = std::pair<std::int64_t, std::int64_t>;
  [[nodiscard]] Square square(Point place) const { return {std::llround(place.real() / width_), std::llround(place.imag() / width_)}; }

  const std::vector<Point>& places_;
  double width_;
  std::map<Square, std::int32_t> squares_;
};

/// Customers of the smallest class that symmetries map to itself, not at the depot; empty: all are there.
std::vector<std::int32_t> smallest_class(const vrp::View& vrp, const std::vector<Point>& places, double width) {
  std::map<std::tuple<std::int64_t, std::int32_t, std::int32_t>, std::vector<std::int32_t>> classes;
  for (std::int32_t c = 1; c <= vrp.n; ++c)
    if (const std::int64_t radius = std::llround(std::sqrt(std::norm(places[at(c)])) / width); radius > 0)
      classes[{radius, vrp.demand[c], vrp.service[c]}].push_back(c);
  std::vector<std::int32_t> smallest;
  for (const auto& [key, members] : classes)
    if (smallest.empty() || members.size() < smallest.size()) smallest = members;
  return smallest;
}

/// Turned by `turn`, before that reflected or not. Empty: that is no symmetry, or the identity.
Symmetry symmetry_of(const vrp::View& vrp, const std::vector<Point>& places, const Squares& squares, Point turn, bool reflected) {
  Symmetry images(places.size(), 0);
  std::vector<char> taken(places.size(), 0);
  bool identity = true;
  for (std::int32_t c = 1; c <= vrp.n; ++c) {
    const std::int32_t image = squares.customer(turn * (reflected ? std::conj(places[at(c)]) : places[at(c)]));
    if (image == 0 || taken[at(image)] != 0) return {};
    if (vrp.demand[image] != vrp.demand[c] || vrp.service[image] != vrp.service[c]) return {};
    taken[at(image)] = 1;
    images[at(c)] = image;
    identity = identity && image == c;
  }
  return identity ? Symmetry() : images;
}

}  // namespace

std::vector<Symmetry> symmetries_of(const vrp::Vrp& vrp) {
  std::vector<Symmetry> found;
  if (vrp.data().x.empty() || !vrp.data().matrix.empty() || vrp.size() < 2) return found;  // a matrix need not fit the drawing
  const std::vector<Point> places = places_of(vrp.data());
  double most = 0;
  for (const Point place : places) most = std::max({most, std::abs(place.real()), std::abs(place.imag())});
  const double width = std::sqrt(least_square(places)) / 50;
  if (!(width > most * 1e-9)) return found;  // customers coincide, or nearly so
  const vrp::View view = vrp.view();
  const Squares squares(places, width);
  const std::vector<std::int32_t> orbit = smallest_class(view, places, width);
  for (const bool reflected : {false, true})
    for (const std::int32_t to : orbit) {
      const Point from = places[at(orbit.front())];
      Symmetry symmetry = symmetry_of(view, places, squares, places[at(to)] / (reflected ? std::conj(from) : from), reflected);
      if (!symmetry.empty()) found.push_back(std::move(symmetry));
      if (found.size() == most_symmetries) return found;
    }
  return found;
}

}  // namespace vicinity::alns::hybrid
