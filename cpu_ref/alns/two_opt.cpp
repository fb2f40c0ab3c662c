#include <cstdint>
#include <tuple>

#include "core/problems/vrp/delta.hpp"
#include "cpu_ref/alns/run.hpp"

namespace vicinity::alns {
namespace {

/// The best reversal of a tour: (delta, from, to), delta 0 when none is better.
std::tuple<std::int32_t, std::size_t, std::size_t> best_reversal(const vrp::View& vrp, const std::vector<std::int32_t>& tour) {
  const auto at = [&](std::size_t i) { return i < tour.size() ? tour[i] : 0; };  // -1 wraps round, to the depot
  std::tuple<std::int32_t, std::size_t, std::size_t> best{0, 0, 0};
  for (std::size_t i = 0; i < tour.size(); ++i)
    for (std::size_t j = i + 1; j < tour.size(); ++j)
      best = std::min(best, {vrp::two_opt_delta(vrp, at(i - 1), tour[i], tour[j], at(j + 1)), i, j});
  return best;
}

}  // namespace

std::int64_t two_opt(const vrp::View& vrp, Tours& tours) {
  std::int64_t change = 0;
  for (std::vector<std::int32_t>& tour : tours) {
    for (auto [delta, from, to] = best_reversal(vrp, tour); delta < 0; std::tie(delta, from, to) = best_reversal(vrp, tour)) {
      std::reverse(tour.begin() + static_cast<std::ptrdiff_t>(from), tour.begin() + static_cast<std::ptrdiff_t>(to) + 1);
      change += delta;
    }
  }
  return change;
}

}  // namespace vicinity::alns
