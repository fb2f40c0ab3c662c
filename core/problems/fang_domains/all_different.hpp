#pragma once
// An assignment with an all-different constraint (the example of section 3.5): variables compete for values, and a late
// one may find none left. Variables have candidate lists of their own, of different lengths.
#include <array>
#include <cstdint>
#include <vector>

#include "core/problems/fang_domains/heuristic.hpp"

namespace vicinity::fang {

/// A state is value[variables] (-1: none), a bit set of the values in use, and the number of failed assignments.
struct DistinctHeuristic {
  using Rating = std::int32_t;      ///< preference 1..256; 0 when the value is in use
  using Aggregate = std::uint32_t;  ///< number of free values: of no use to the weights, but reduced like any aggregator

  struct Context {
    const std::int32_t* state;
    std::uint32_t first, count;
  };

  const std::uint32_t* first;         ///< [variables + 1] into candidates
  const std::int32_t* candidates;     ///< values
  const std::int32_t* preferences;    ///< [candidates]
  std::uint32_t variables, failures;  ///< word index of the counter

  VICINITY_HD std::uint64_t max_weight() const { return 256; }
  VICINITY_HD Context context(const std::int32_t* state, std::uint32_t variable) const {
    return {state, first[variable], first[variable + 1] - first[variable]};
  }
  VICINITY_HD std::uint32_t possibilities(const Context& c) const { return c.count; }
  VICINITY_HD Rating rate(const Context& c, std::uint32_t possibility) const {
    const auto value = static_cast<std::uint32_t>(candidates[c.first + possibility]);
    const auto used = static_cast<std::uint32_t>(c.state[variables + value / 32]) >> (value % 32) & 1u;
    return used != 0 ? 0 : preferences[c.first + possibility];
  }
  VICINITY_HD Aggregate create() const { return 0; }
  VICINITY_HD Aggregate aggregate(Aggregate a, Rating r) const { return a + (r > 0 ? 1u : 0u); }
  VICINITY_HD Aggregate combine(Aggregate a, Aggregate b) const { return a + b; }
  VICINITY_HD std::uint32_t weight(Rating r, Aggregate) const { return static_cast<std::uint32_t>(r); }
  VICINITY_HD void release(std::int32_t* state, std::uint32_t variable) const {
    const std::int32_t old = state[variable];
    if (old >= 0) state[variables + static_cast<std::uint32_t>(old) / 32] &= ~static_cast<std::int32_t>(1u << (old % 32));
    state[variable] = -1;
  }
  VICINITY_HD void assign(std::int32_t* state, std::uint32_t variable, std::uint32_t possibility) const {
    release(state, variable);
    const std::int32_t value = candidates[first[variable] + possibility];
    state[variable] = value;
    state[variables + static_cast<std::uint32_t>(value) / 32] |= static_cast<std::int32_t>(1u << (value % 32));
  }
  VICINITY_HD void could_not_assign(std::int32_t* state, std::uint32_t variable) const {
    release(state, variable);
    ++state[failures];
  }
};

/// Instance and oracle.
struct AllDifferent {
  std::uint32_t variables, values;
  std::vector<std::uint32_t> first;
  std::vector<std::int32_t> candidates, preferences;
  std::array<VariableType, 1> sizes{};

  [[nodiscard]] std::span<const VariableType> types() const { return sizes; }
  [[nodiscard]] std::uint32_t state_words() const { return variables + bit_words(values) + 1; }
  template <class Place>
  [[nodiscard]] auto heuristics(Place place) const {
    return std::tuple{DistinctHeuristic{place(std::span(first)), place(std::span(candidates)), place(std::span(preferences)), variables,
                                        state_words() - 1}};
  }

  /// About every second variable starts with a value of its own, the first of its candidates that is free.
  void fill_source(std::uint64_t seed, std::uint32_t source, std::span<std::int32_t> words) const {
    for (auto& word : words) word = 0;
    for (std::uint32_t v = 0; v < variables; ++v) {
      words[v] = -1;
      if (random_below(seed, Stream::source, source, v, 2) == 0) continue;
      for (std::uint32_t c = first[v]; c < first[v + 1] && words[v] < 0; ++c) {
        const auto value = static_cast<std::uint32_t>(candidates[c]);
        auto& used = words[variables + value / 32];
        if ((static_cast<std::uint32_t>(used) >> (value % 32) & 1u) == 0) {
          used |= static_cast<std::int32_t>(1u << (value % 32));
          words[v] = static_cast<std::int32_t>(value);
        }
      }
    }
  }

  /// Variables with a value.
  [[nodiscard]] std::int64_t objective(std::span<const std::int32_t> state) const {
    std::int64_t assigned = 0;
    for (std::uint32_t v = 0; v < variables; ++v) assigned += state[v] >= 0;
    return assigned;
  }

  template <class Active>
  [[nodiscard]] std::string complaint(std::span<const std::int32_t> source, std::span<const std::int32_t> target, Active active) const {
    std::vector<int> owner(values, -1);
    std::int32_t failed = 0;
    for (std::uint32_t v = 0; v < variables; ++v) {
      const std::string name = "variable " + std::to_string(v);
      if (!active(0, v) && target[v] != source[v]) return "inactive " + name + " changed";
      failed += active(0, v) && target[v] < 0;
      if (target[v] < 0) continue;
      bool candidate = false;
      for (std::uint32_t c = first[v]; c < first[v + 1]; ++c) candidate |= candidates[c] == target[v];
      if (!candidate) return name + " holds a value that is no candidate of its own";
      if (owner[static_cast<std::size_t>(target[v])] >= 0) return "two variables hold value " + std::to_string(target[v]);
      owner[static_cast<std::size_t>(target[v])] = static_cast<int>(v);
    }
    for (std::uint32_t value = 0; value < values; ++value) {
      const bool marked = (static_cast<std::uint32_t>(target[variables + value / 32]) >> (value % 32) & 1u) != 0;
      if (marked != (owner[value] >= 0)) return "value " + std::to_string(value) + " is marked wrongly";
    }
    return failed == target[state_words() - 1] - source[state_words() - 1] ? "" : "failed assignments are miscounted";
  }

  [[nodiscard]] Work rating_work() const { return {}; }  // not counted: no speed is claimed for this domain
  [[nodiscard]] std::uint64_t hash() const {
    Digest digest;
    digest.add(values);
    digest.add(first);
    digest.add(candidates);
    digest.add(preferences);
    return digest.value();
  }
};

}  // namespace vicinity::fang
