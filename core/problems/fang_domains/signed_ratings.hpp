#pragma once
// The rating mapping of the paper's Figure 3: positive ratings are their own weight, and negative ones outrank the
// largest positive one, which needs the aggregator.
#include <array>
#include <cstdint>
#include <vector>

#include "core/problems/fang_domains/heuristic.hpp"
#include "core/util/math.hpp"

namespace vicinity::fang {

/// weight(r) = r for r >= 0, else (largest rating, at least 0) - r. Rating 0 forbids.
struct SignedHeuristic {
  using Rating = std::int64_t;  ///< |r| <= 2^45
  using Aggregate = std::int64_t;

  struct Context {
    const std::int64_t* ratings;
  };

  const std::int64_t* ratings;  ///< [variables][possibilities_each]
  std::uint32_t possibilities_each;

  VICINITY_HD std::uint64_t max_weight() const { return std::uint64_t{1} << 46; }
  VICINITY_HD Context context(const std::int32_t*, std::uint32_t variable) const {
    return {ratings + static_cast<std::size_t>(variable) * possibilities_each};
  }
  VICINITY_HD std::uint32_t possibilities(const Context&) const { return possibilities_each; }
  VICINITY_HD Rating rate(const Context& c, std::uint32_t possibility) const { return c.ratings[possibility]; }
  VICINITY_HD Aggregate create() const { return 0; }
  VICINITY_HD Aggregate aggregate(Aggregate a, Rating r) const { return larger(a, r); }
  VICINITY_HD Aggregate combine(Aggregate a, Aggregate b) const { return larger(a, b); }
  VICINITY_HD std::uint64_t weight(Rating r, Aggregate largest) const { return static_cast<std::uint64_t>(r >= 0 ? r : largest - r); }
  VICINITY_HD void assign(std::int32_t* state, std::uint32_t variable, std::uint32_t possibility) const {
    state[variable] = static_cast<std::int32_t>(possibility);
  }
  VICINITY_HD void could_not_assign(std::int32_t* state, std::uint32_t variable) const { state[variable] = -1; }
};

/// Instance and oracle. A state holds the chosen possibility of each variable, -1 where none could be chosen and -2
/// before the first assignment.
struct SignedRatings {
  std::uint32_t variables, possibilities;
  std::vector<std::int64_t> ratings;
  std::array<VariableType, 1> sizes{};

  [[nodiscard]] std::span<const VariableType> types() const { return sizes; }
  [[nodiscard]] std::uint32_t state_words() const { return variables; }
  template <class Place>
  [[nodiscard]] auto heuristics(Place place) const {
    return std::tuple{SignedHeuristic{place(std::span(ratings)), possibilities}};
  }
  void fill_source(std::uint64_t, std::uint32_t, std::span<std::int32_t> words) const {
    for (auto& word : words) word = -2;
  }
  /// Sum of the chosen ratings.
  [[nodiscard]] std::int64_t objective(std::span<const std::int32_t> state) const {
    std::int64_t sum = 0;
    for (std::uint32_t v = 0; v < variables; ++v)
      if (state[v] >= 0) sum += ratings[static_cast<std::size_t>(v) * possibilities + static_cast<std::size_t>(state[v])];
    return sum;
  }
  template <class Active>
  [[nodiscard]] std::string complaint(std::span<const std::int32_t> source, std::span<const std::int32_t> target, Active active) const {
    for (std::uint32_t v = 0; v < variables; ++v) {
      const std::string name = "variable " + std::to_string(v);
      if (!active(0, v)) {
        if (target[v] != source[v]) return "inactive " + name + " changed";
        continue;
      }
      const auto own = std::span(ratings).subspan(static_cast<std::size_t>(v) * possibilities, possibilities);
      if (target[v] < -1 || target[v] >= static_cast<int>(possibilities)) return name + " has no valid value";
      if (target[v] >= 0 && own[static_cast<std::size_t>(target[v])] == 0) return name + " took a forbidden value";
      if (target[v] == -1)
        for (const std::int64_t rating : own)
          if (rating != 0) return name + " was left unassigned although a value was allowed";
    }
    return {};
  }
  [[nodiscard]] Work rating_work() const { return {}; }  // not counted: no speed is claimed for this domain
  [[nodiscard]] std::uint64_t hash() const {
    Digest digest;
    digest.add(possibilities);
    digest.add(ratings);
    return digest.value();
  }
};

}  // namespace vicinity::fang
