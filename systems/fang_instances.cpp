#include "systems/fang_instances.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "core/util/error.hpp"
#include "data/generators/mycielski.hpp"

namespace vicinity::fang {
namespace {

constexpr std::uint64_t instance_seed = 20190711;  // fixed: an instance depends on the parameters of its case alone

std::uint32_t whole(const Case& c, const char* axis, std::int64_t low, std::int64_t high) {
  return static_cast<std::uint32_t>(c.integer(axis, low, high));
}

std::uint32_t window_side(std::uint32_t count) {
  std::uint32_t side = 3;
  while (side * side - 1 < count) side += 2;
  return side;
}

template <int Load>
AnyDomain grid_path(const Case& c, std::uint32_t load) {
  GridPath<Load> domain;
  domain.variables = whole(c, "variables", 1, 65536);
  domain.load = load;
  domain.width = domain.height = static_cast<std::uint32_t>(c.integer_or("grid", 1000, 2, max_side));
  const std::uint32_t possibilities = whole(c, "possibilities", 1, max_possibilities);
  domain.window_side = window_side(possibilities);
  domain.offsets = window_offsets(possibilities);
  domain.sizes = {VariableType{domain.variables, possibilities}};
  domain.goals.reserve(std::size_t{domain.variables} * load);
  for (std::uint32_t v = 0; v < domain.variables; ++v)
    for (std::uint32_t g = 0; g < load; ++g)
      domain.goals.push_back({static_cast<std::int32_t>(random_below(instance_seed, Stream::instance, v, 2 * g, domain.width)),
                              static_cast<std::int32_t>(random_below(instance_seed, Stream::instance, v, 2 * g + 1, domain.height))});
  return domain;
}

AnyDomain grid_path(const Case& c) {
  const std::uint32_t load = whole(c, "load", 1, max_load);
  switch (load) {  // the paper's loads are known to the compiler, as they were in the paper's template specialisations
    case 1:
      return grid_path<1>(c, load);
    case 8:
      return grid_path<8>(c, load);
    case 16:
      return grid_path<16>(c, load);
    default:
      return grid_path<0>(c, load);
  }
}

AnyDomain signed_ratings(const Case& c) {
  SignedRatings domain;
  domain.variables = whole(c, "variables", 1, 65536);
  domain.possibilities = whole(c, "possibilities", 1, max_possibilities);
  domain.sizes = {VariableType{domain.variables, domain.possibilities}};
  const std::string pattern = c.name_or("pattern", "mixed", {"mixed", "zeros", "one-huge", "huge"});
  domain.ratings.resize(std::size_t{domain.variables} * domain.possibilities);
  constexpr std::int64_t huge = std::int64_t{1} << 45;
  for (std::uint32_t v = 0; v < domain.variables; ++v) {
    const std::uint32_t chosen = random_below(instance_seed, Stream::instance, v, domain.possibilities, domain.possibilities);
    for (std::uint32_t p = 0; p < domain.possibilities; ++p) {
      std::int64_t rating = static_cast<std::int64_t>(random_below(instance_seed, Stream::instance, v, p, 2001)) - 1000;
      if (pattern == "mixed" && rating % 3 == 0) rating = 0;
      if (pattern == "zeros") rating = 0;
      if (pattern == "one-huge") rating = p == chosen ? (v % 2 == 0 ? huge : -huge) : (rating > 0 ? 1 : 0);
      if (pattern == "huge") rating = rating < 0 ? -huge : huge;
      domain.ratings[std::size_t{v} * domain.possibilities + p] = rating;
    }
  }
  return domain;
}

AnyDomain all_different(const Case& c) {
  AllDifferent domain;
  domain.variables = whole(c, "variables", 1, 65536);
  domain.values = whole(c, "possibilities", 1, max_possibilities);
  domain.first.push_back(0);
  for (std::uint32_t v = 0; v < domain.variables; ++v) {
    // A window of the values, half as long as they are many or longer, from a random start; every fifth variable may have fewer, or none.
    const std::uint32_t shortest = v % 5 == 4 ? 0 : divide_up(domain.values, 2);
    const std::uint32_t count = shortest + random_below(instance_seed, Stream::instance, v, 0, domain.values - shortest + 1);
    const std::uint32_t start = random_below(instance_seed, Stream::instance, v, 1, domain.values);
    for (std::uint32_t i = 0; i < count; ++i) {
      domain.candidates.push_back(static_cast<std::int32_t>((start + i) % domain.values));
      domain.preferences.push_back(1 + static_cast<std::int32_t>(random_below(instance_seed, Stream::instance, v, 2 + i, 256)));
    }
    domain.first.push_back(static_cast<std::uint32_t>(domain.candidates.size()));
  }
  domain.sizes = {VariableType{domain.variables, domain.values}};
  return domain;
}

AnyDomain colouring(const Case& c) {
  Colouring domain;
  const Graph graph = generalised_mycielski(1, static_cast<int>(c.integer_or("levels", 3, 1, 6)) + 1);  // 3: 1-Insertions_4
  domain.vertices = static_cast<std::uint32_t>(graph.vertices);
  domain.colours = whole(c, "colours", 1, 4096);
  std::vector<std::vector<std::uint32_t>> adjacent(domain.vertices);
  for (const auto& [u, v] : graph.edges) {
    domain.edges.emplace_back(u, v);
    adjacent[static_cast<std::size_t>(u)].push_back(static_cast<std::uint32_t>(v));
    adjacent[static_cast<std::size_t>(v)].push_back(static_cast<std::uint32_t>(u));
  }
  domain.first.push_back(0);
  for (auto& list : adjacent) {
    std::sort(list.begin(), list.end());
    domain.neighbours.insert(domain.neighbours.end(), list.begin(), list.end());
    domain.first.push_back(static_cast<std::uint32_t>(domain.neighbours.size()));
  }
  domain.sizes = {VariableType{domain.vertices, domain.colours}, VariableType{domain.colours, domain.vertices}};
  return domain;
}

}  // namespace

std::vector<std::int32_t> window_offsets(std::uint32_t count) {
  const auto side = static_cast<std::int32_t>(window_side(count));
  std::vector<std::int32_t> offsets;
  offsets.reserve(count);
  for (std::int32_t dy = -(side / 2); dy <= side / 2; ++dy)
    for (std::int32_t dx = -(side / 2); dx <= side / 2 && offsets.size() < count; ++dx)
      if (dx != 0 || dy != 0) offsets.push_back(pack_halves({dx, dy}));
  return offsets;
}

std::shared_ptr<const Successors> make_instance(const Case& c) {
  const std::uint32_t states = whole(c, "states", 1, 1 << 20);
  const auto successors = static_cast<std::uint32_t>(c.integer_or("successors", 1, 1, states));
  const auto percent = static_cast<std::uint32_t>(c.integer_or("active_percent", 100, 0, 100));
  const Order order = c.name_or("order", "fixed", {"fixed", "permuted"}) == "fixed" ? Order::fixed : Order::permuted;
  const auto domain = [&]() -> AnyDomain {
    if (c.problem == "grid-path") return grid_path(c);
    if (c.problem == "signed-ratings") return signed_ratings(c);
    if (c.problem == "all-different") return all_different(c);
    if (c.problem == "colouring") return colouring(c);
    throw InputError(fmt::format("fang has no problem '{}'", c.problem));
  };
  return std::make_shared<Successors>(domain(), states, successors, percent, order);
}

}  // namespace vicinity::fang
