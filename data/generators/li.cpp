#include "data/generators/li.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <numbers>
#include <set>
#include <utility>

#include "core/util/error.hpp"
#include "core/util/permutation.hpp"
#include "core/util/rng.hpp"

namespace vicinity {
namespace {

/// As a file with 4 decimals holds it; keeps the sign of -0.0000.
double four_decimals(double coordinate) {
  const std::string text = fmt::format("{:.4f}", coordinate);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

void add(vrp::Data& data, double x, double y, std::int32_t demand) {
  data.x.push_back(x);
  data.y.push_back(y);
  data.demand.push_back(demand);
}

}  // namespace

vrp::Data li_rings(std::string name, int per_ring, int rings, int capacity, int limit) {
  if (per_ring < 1 || rings < 1 || std::int64_t{per_ring} * rings > vrp::most_customers)
    throw InputError(fmt::format("{} customers on each of {} rings are outside 1..{}", per_ring, rings, vrp::most_customers));
  vrp::Data data;
  data.name = std::move(name);
  data.capacity = capacity;
  data.limit = limit;
  add(data, 0, 0, 0);
  for (int k = 1; k <= rings; ++k)
    for (int i = 1; i <= per_ring; ++i) {
      const double angle = 2 * std::numbers::pi * (i - 1) / per_ring;
      add(data, four_decimals(30 * k * std::cos(angle)), four_decimals(30 * k * std::sin(angle)), i % 4 == 2 || i % 4 == 3 ? 30 : 10);
    }
  return data;
}

vrp::Data li_merged(std::string name, int customers, std::uint64_t seed, int capacity, int limit) {
  vrp::Data all = li_rings("Li_32", 40, 30, 1, 1);
  std::set<std::pair<double, double>> places;
  for (std::size_t i = 0; i < all.x.size(); ++i) places.emplace(all.x[i], all.y[i]);  // -0.0 and 0.0 are equal
  const vrp::Data other = li_rings("Li_27", 84, 10, 1, 1);
  for (std::size_t i = 0; i < other.x.size(); ++i)
    if (places.emplace(other.x[i], other.y[i]).second) add(all, other.x[i], other.y[i], other.demand[i]);

  const auto most = static_cast<std::int32_t>(all.x.size()) - 1;
  if (customers < 1 || customers > most) throw InputError(fmt::format("{} customers are outside 1..{}", customers, most));
  const auto rank = shuffled(most, seed, start_stream);
  vrp::Data data;
  data.name = std::move(name);
  data.capacity = capacity;
  data.limit = limit;
  add(data, 0, 0, 0);
  for (std::size_t i = 1; i < all.x.size(); ++i)
    if (rank[i - 1] < customers) add(data, all.x[i], all.y[i], all.demand[i]);
  return data;
}

}  // namespace vicinity
