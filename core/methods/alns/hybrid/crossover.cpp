#include "core/methods/alns/hybrid/crossover.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/methods/alns/order_crossover.hpp"

namespace vicinity::alns::hybrid {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

}  // namespace

std::vector<std::int32_t> giant_tour(const vrp::View& vrp, const Granular& granular, const Routes& routes) {
  std::vector<std::pair<std::int32_t, std::size_t>> ranked;
  for (std::size_t r = 0; r < routes.size(); ++r) {
    if (routes[r].empty()) continue;
    const std::int32_t far = *std::min_element(routes[r].begin(), routes[r].end(), [&](std::int32_t a, std::int32_t b) {
      return std::pair(-vrp(0, a), a) < std::pair(-vrp(0, b), b);
    });
    ranked.emplace_back(granular.rank[at(far)], r);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::int32_t> order;
  order.reserve(at(vrp.n));
  for (const auto& [rank, r] : ranked) order.insert(order.end(), routes[r].begin(), routes[r].end());
  return order;
}

std::vector<std::int32_t> order_crossover(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b, Stream& stream) {
  const auto n = static_cast<std::int32_t>(a.size());
  const std::int32_t from = stream.below(n), to = stream.below(n);
  return alns::order_crossover(a, b, from, to);
}

}  // namespace vicinity::alns::hybrid
