#pragma once
// The paper's evaluation domain (section 4): points on a 2D grid step towards their goals by Manhattan distance.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "core/problems/fang_domains/heuristic.hpp"
#include "core/util/math.hpp"

namespace vicinity::fang {

using Cell = Pair;

/// Most goals of a point, and the longest side of the grid.
inline constexpr std::int32_t max_load = 64, max_side = 16384;

/// A variable is a point; its possibilities are the cells of a j x j window around it without its own cell; a rating is
/// the sum of the Manhattan distances to `load` goals (equation 3). The nearer cell weighs more: weight = farthest
/// distance of the window - distance + 1. Cells outside the grid are forbidden.
///
/// A position is one word of the state, x in the lower and y in the upper half, and so is a window offset. Negative
/// coordinates count as outside because they are compared as unsigned.
/// Load > 0 fixes the number of goals at compile time; 0 reads it at run time.
template <int Load>
struct StepHeuristic {
  using Rating = std::int32_t;  ///< distance; -1 outside the grid
  using Aggregate = std::int32_t;

  struct Context {
    const std::int32_t* offsets;
    const Cell* goals;
    Cell position, first_goal;
    std::uint32_t width, height, possibilities;
    std::int32_t load;
  };

  const std::int32_t* offsets;  ///< [possibilities] window offsets
  const Cell* goals;            ///< [variables * load]
  std::uint32_t width, height, window;
  std::int32_t load, reach;  ///< goals of a point; largest window offset

  VICINITY_HD std::uint64_t max_weight() const { return static_cast<std::uint64_t>(load) * (width + height); }
  VICINITY_HD Context context(const std::int32_t* state, std::uint32_t variable) const {
    const Cell* own = goals + static_cast<std::size_t>(variable) * load;
    return {offsets, own, add_halves({0, 0}, state[variable]), own[0], width, height, window, load};
  }
  VICINITY_HD std::uint32_t possibilities(const Context& c) const { return c.possibilities; }
  VICINITY_HD Rating rate(const Context& c, std::uint32_t possibility) const { return rate_offset<false>(c, c.offsets[possibility]); }
  VICINITY_HD Aggregate create() const { return 0; }
  VICINITY_HD Aggregate aggregate(Aggregate a, Rating r) const { return larger(a, r); }
  VICINITY_HD Aggregate combine(Aggregate a, Aggregate b) const { return larger(a, b); }
  /// farthest - r + 1, and 0 for -1, which is the largest unsigned number.
  VICINITY_HD std::uint32_t weight(Rating r, Aggregate farthest) const {
    const auto rating = static_cast<std::uint32_t>(r);
    return larger(static_cast<std::uint32_t>(farthest) + 1u, rating) - rating;
  }
  VICINITY_HD void assign(std::int32_t* state, std::uint32_t variable, std::uint32_t possibility) const {
    state[variable] = pack_halves(add_halves(add_halves({0, 0}, state[variable]), offsets[possibility]));
  }
  VICINITY_HD void could_not_assign(std::int32_t*, std::uint32_t) const {}

  // --- PackedHeuristic

  VICINITY_HD bool packs() const { return max_weight() < 0x8000u; }
  /// Does the window lie inside the grid?
  VICINITY_HD bool allows_all(const Context& c) const {
    const auto inside = [this](std::int32_t at, std::uint32_t side) { return at >= reach && at + reach < static_cast<std::int32_t>(side); };
    return inside(c.position.x, c.width) && inside(c.position.y, c.height);
  }
  template <bool Inside>
  VICINITY_HD std::uint32_t rate_two(const Context& c, std::uint32_t possibility) const {
    const TwoWords two = two_words(c.offsets + possibility);
    return lower_halves(rate_offset<Inside>(c, two.first), rate_offset<Inside>(c, two.second));
  }
  VICINITY_HD std::uint32_t create_two() const { return 0; }
  VICINITY_HD std::uint32_t aggregate_two(std::uint32_t a, std::uint32_t two) const { return larger_signed_halves(a, two); }
  VICINITY_HD Aggregate aggregate_of(std::uint32_t a) const { return static_cast<Aggregate>(larger(a & 0xFFFFu, a >> 16)); }
  VICINITY_HD std::uint32_t weights(std::uint32_t two, Aggregate farthest) const {
    return larger_halves((static_cast<std::uint32_t>(farthest) + 1u) * 0x10001u, two) - two;  // no half borrows
  }

 private:
  /// Inside: the cell is known to lie in the grid.
  template <bool Inside>
  VICINITY_HD Rating rate_offset(const Context& c, std::int32_t offset) const {
    const Cell cell = add_halves(c.position, offset);
    std::int32_t distance = abs_difference_plus(cell.y, c.first_goal.y, abs_difference_plus(cell.x, c.first_goal.x, 0));
    if constexpr (Load != 1) {
      for (std::int32_t goal = 1; goal < (Load > 0 ? Load : c.load); ++goal)
        distance = abs_difference_plus(cell.y, c.goals[goal].y, abs_difference_plus(cell.x, c.goals[goal].x, distance));
    }
    if constexpr (Inside) return distance;
    return (static_cast<std::uint32_t>(cell.x) < c.width) & (static_cast<std::uint32_t>(cell.y) < c.height) ? distance : -1;
  }
};

/// Instance and oracle. `Load` as above.
template <int Load>
struct GridPath {
  std::uint32_t variables, load, width, height, window_side;
  std::vector<std::int32_t> offsets;  ///< packed, row by row
  std::vector<Cell> goals;            ///< [variable][goal]
  std::array<VariableType, 1> sizes{};

  [[nodiscard]] std::span<const VariableType> types() const { return sizes; }
  [[nodiscard]] std::uint32_t state_words() const { return variables; }

  template <class Place>
  [[nodiscard]] auto heuristics(Place place) const {
    return std::tuple{StepHeuristic<Load>{place(std::span(offsets)), place(std::span(goals)), width, height,
                                          static_cast<std::uint32_t>(offsets.size()), static_cast<std::int32_t>(load),
                                          static_cast<std::int32_t>(window_side / 2)}};
  }

  void fill_source(std::uint64_t seed, std::uint32_t source, std::span<std::int32_t> words) const {
    for (std::uint32_t v = 0; v < variables; ++v) {
      const std::uint32_t x = random_below(seed, Stream::source, source, 2 * v, width);
      const std::uint32_t y = random_below(seed, Stream::source, source, 2 * v + 1, height);
      words[v] = static_cast<std::int32_t>(y << 16 | x);
    }
  }

  /// Operations one rating and its weight cannot do without, where two share a word and the window lies in the grid. Integer: |a - b| + c
  /// twice a goal, half of an aggregation (1) and of a weight (2). Multiply-add: the cell's coordinates (2) and half of a sum, which a GPU
  /// computes as dot products.
  [[nodiscard]] Work rating_work() const { return {{Ceiling::integer, 1.5 + 2.0 * load}, {Ceiling::multiply_add, 2.5}}; }

  /// Sum of the distances of all points to all their goals.
  [[nodiscard]] std::int64_t objective(std::span<const std::int32_t> state) const {
    std::int64_t sum = 0;
    for (std::uint32_t v = 0; v < variables; ++v)
      for (std::uint32_t g = 0; g < load; ++g)
        sum += std::abs(state[v] % 65536 - goals[v * load + g].x) + std::abs(state[v] / 65536 - goals[v * load + g].y);
    return sum;
  }

  /// What is wrong with `target` as a successor of `source`; empty when nothing is.
  template <class Active>
  [[nodiscard]] std::string complaint(std::span<const std::int32_t> source, std::span<const std::int32_t> target, Active active) const {
    const auto reach = static_cast<int>(window_side / 2);
    for (std::uint32_t v = 0; v < variables; ++v) {
      const int x = target[v] % 65536, y = target[v] / 65536, dx = x - source[v] % 65536, dy = y - source[v] / 65536;
      if (target[v] < 0 || x >= static_cast<int>(width) || y >= static_cast<int>(height))
        return "point " + std::to_string(v) + " left the grid";
      if (!active(0, v) && (dx != 0 || dy != 0)) return "inactive point " + std::to_string(v) + " moved";
      if (std::abs(dx) > reach || std::abs(dy) > reach) return "point " + std::to_string(v) + " left its window";
      if (active(0, v) && dx == 0 && dy == 0 && width * height > 1 && offsets.size() + 1 == window_side * window_side)
        return "active point " + std::to_string(v) + " did not move";
    }
    return {};
  }

  [[nodiscard]] std::uint64_t hash() const {
    Digest digest;
    for (const std::uint32_t word : {variables, load, width, height, window_side}) digest.add(word);
    digest.add(offsets);
    for (const Cell goal : goals) digest.add(static_cast<std::uint64_t>(goal.y) << 32 | static_cast<std::uint32_t>(goal.x));
    return digest.value();
  }
};

}  // namespace vicinity::fang
