#include "core/methods/alns/genetic.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>

#include "core/methods/alns/order_crossover.hpp"
#include "core/util/rng.hpp"

namespace vicinity::alns {
namespace {

/// Draws at a boundary. Those of an iteration (alns.hpp) stay far below.
enum class Draw : std::uint32_t { mother = 0x4000'0000, father = mother + 2, process = father + 2, from, to };

std::int32_t below(std::int64_t bound, std::uint64_t seed, std::int64_t calls, Draw draw, std::uint32_t a = 0) {
  const std::uint64_t random = random_bits(seed, static_cast<std::uint64_t>(calls), 0, static_cast<std::uint32_t>(draw) + a);
  return static_cast<std::int32_t>(scale_to(random, static_cast<std::uint64_t>(bound)));
}

std::vector<std::int32_t> in_order(const Tours& tours) {
  std::vector<std::int32_t> order;
  for (const std::vector<std::int32_t>& tour : tours) order.insert(order.end(), tour.begin(), tour.end());
  return order;
}

}  // namespace

std::optional<Birth> birth_at(std::uint64_t seed, std::int64_t calls, std::span<const std::int64_t> incumbents) {
  const auto count = static_cast<std::int32_t>(incumbents.size());
  if (count < 2 || calls % generation_calls != 0) return std::nullopt;
  const auto cost = [&](std::int32_t p) { return incumbents[static_cast<std::size_t>(p)]; };
  const auto better = [&](std::int32_t first, std::int32_t second) { return cost(second) < cost(first) ? second : first; };
  Birth birth{};
  birth.mother = better(below(count, seed, calls, Draw::mother), below(count, seed, calls, Draw::mother, 1));
  const auto other = [&](std::uint32_t a) {
    const std::int32_t drawn = below(count - 1, seed, calls, Draw::father, a);
    return drawn < birth.mother ? drawn : drawn + 1;
  };
  birth.father = better(other(0), other(1));
  std::vector<std::int32_t> ranked(incumbents.size());
  std::iota(ranked.begin(), ranked.end(), 0);
  std::stable_sort(ranked.begin(), ranked.end(), [&](std::int32_t a, std::int32_t b) { return cost(a) < cost(b); });
  const std::int32_t half = count / 2;
  birth.process = ranked[static_cast<std::size_t>(half + below(count - half, seed, calls, Draw::process))];
  return birth;
}

std::optional<Tours> child_of(const vrp::View& vrp, std::uint64_t seed, std::int64_t calls, const Tours& mother, const Tours& father) {
  const std::int32_t from = below(vrp.n, seed, calls, Draw::from), to = below(vrp.n, seed, calls, Draw::to);
  Tours tours = split_in_order(vrp, order_crossover(in_order(mother), in_order(father), from, to));
  if (static_cast<std::int32_t>(tours.size()) > vrp.vehicles) return std::nullopt;
  return tours;
}

Tours split_in_order(const vrp::View& vrp, std::span<const std::int32_t> order) {
  const std::size_t n = order.size();
  std::vector<std::int64_t> least(n + 1, std::numeric_limits<std::int64_t>::max());  // [requests served]
  std::vector<std::size_t> first(n + 1, 0);                                          // of the last tour
  least[0] = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::int64_t load = 0, length = 0, service = 0;  // of a tour from request i on, without its way back
    std::int32_t before = 0;
    for (std::size_t j = i; j < n; ++j) {
      const std::int32_t request = order[j];
      load += vrp.demand[request];
      length += vrp(before, request);
      service += vrp.service[request];
      before = request;
      if (load > vrp.capacity || length + service > vrp.limit) break;
      const std::int64_t whole = length + vrp(request, 0);
      if (whole + service > vrp.limit || least[i] + whole >= least[j + 1]) continue;
      least[j + 1] = least[i] + whole;
      first[j + 1] = i;
    }
  }
  Tours tours;
  for (std::size_t end = n; end > 0; end = first[end])
    tours.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(first[end]), order.begin() + static_cast<std::ptrdiff_t>(end));
  std::reverse(tours.begin(), tours.end());
  return tours;
}

}  // namespace vicinity::alns
