#pragma once
// A domain for tests of the library, with everything that could go wrong: two variable types whose masks do not end with a word, ratings
// that depend on the state, |R| that varies, an aggregator of several words, weights beyond 32 bits, variables that find nothing.
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "vicinity/fang.hpp"

namespace vicinity::fang {

/// A state is value[variables], uses[values], and the number of failed assignments.
struct SlotHeuristic {
  using Rating = std::int32_t;  ///< 0 where the value is used up

  struct Aggregate {
    std::int32_t largest;
    std::uint32_t positive;
  };
  struct Context {
    const std::int32_t *ratings, *uses;
    std::uint32_t count;
    std::int32_t most_uses;
  };

  const std::int32_t* ratings;              ///< [variables of all types][values]
  std::uint32_t before, variables, values;  ///< variables of the types before, and of all
  std::int32_t most_uses;
  std::uint64_t scale;

  VICINITY_HD std::uint64_t max_weight() const { return 300 * scale; }
  VICINITY_HD Context context(const std::int32_t* state, std::uint32_t variable) const {
    const auto old = static_cast<std::uint32_t>(state[before + variable] + 1);
    return {ratings + std::size_t{before + variable} * values, state + variables, values - old % 3 % values, most_uses};
  }
  VICINITY_HD std::uint32_t possibilities(const Context& c) const { return c.count; }
  VICINITY_HD Rating rate(const Context& c, std::uint32_t value) const { return c.uses[value] < c.most_uses ? c.ratings[value] : 0; }
  VICINITY_HD Aggregate create() const { return {0, 0}; }
  VICINITY_HD Aggregate aggregate(Aggregate a, Rating r) const { return {larger(a.largest, r), a.positive + (r > 0 ? 1u : 0u)}; }
  VICINITY_HD Aggregate combine(Aggregate a, Aggregate b) const { return {larger(a.largest, b.largest), a.positive + b.positive}; }
  VICINITY_HD std::uint64_t weight(Rating r, Aggregate a) const {
    return r <= 0 ? 0 : (static_cast<std::uint64_t>(r + a.largest) + a.positive % 2) * scale;
  }
  VICINITY_HD void release(std::int32_t* state, std::uint32_t variable) const {
    std::int32_t& own = state[before + variable];
    if (own >= 0) --state[variables + static_cast<std::uint32_t>(own)];
    own = -1;
  }
  VICINITY_HD void assign(std::int32_t* state, std::uint32_t variable, std::uint32_t value) const {
    release(state, variable);
    state[before + variable] = static_cast<std::int32_t>(value);
    ++state[variables + value];
  }
  VICINITY_HD void could_not_assign(std::int32_t* state, std::uint32_t variable) const {
    release(state, variable);
    ++state[variables + values];
  }
};

struct SlotCost {
  std::uint32_t variables, words;

  VICINITY_HD std::int64_t operator()(const std::int32_t* state) const {
    std::int64_t sum = 0;
    for (std::uint32_t w = 0; w < words; ++w) sum += state[w] * static_cast<std::int64_t>(w < variables ? 1 : 100 * w);
    return sum;
  }
};

class Slots {
 public:
  Slots(std::uint32_t first, std::uint32_t second, std::uint32_t values, std::int32_t most_uses, std::uint64_t scale)
      : types_{{{first, values}, {second, values}}}, values_(values), most_uses_(most_uses), scale_(scale) {
    for (std::uint32_t i = 0; i < (first + second) * values; ++i)
      ratings_.push_back(static_cast<std::int32_t>(random_below(5, Stream::instance, i, 0, 120)) - 20);
  }

  [[nodiscard]] std::uint32_t variables() const { return types_[0].variables + types_[1].variables; }
  [[nodiscard]] std::span<const VariableType> types() const { return types_; }
  [[nodiscard]] std::uint32_t state_words() const { return variables() + values_ + 1; }
  template <class Place>
  [[nodiscard]] auto heuristics(Place place) const {
    const auto of = [&](std::uint32_t before) {
      return SlotHeuristic{place(std::span(ratings_)), before, variables(), values_, most_uses_, scale_};
    };
    return std::tuple{of(0), of(types_[0].variables)};
  }
  template <class Place>
  [[nodiscard]] SlotCost cost(Place) const {
    return {variables(), state_words()};
  }
  /// `count` states without an assignment.
  [[nodiscard]] States empty_states(std::uint32_t count) const {
    States states = make_states(*this, count);
    for (std::uint32_t s = 0; s < count; ++s) std::fill_n(states.words.begin() + s * state_words(), variables(), -1);
    return states;
  }

 private:
  std::array<VariableType, 2> types_;
  std::uint32_t values_;
  std::int32_t most_uses_;
  std::uint64_t scale_;
  std::vector<std::int32_t> ratings_;
};

/// A call that masks what its name says; the arrays that its spans see.
struct MaskedCall {
  std::string name;
  std::vector<std::uint32_t> parents, states, variables, possibilities;

  [[nodiscard]] Generation call(std::uint64_t seed, Order order) const { return {seed, order, parents, states, variables, possibilities}; }
};

/// Calls of `targets` states from `sources`, each mask alone and all together.
inline std::vector<MaskedCall> masked_calls(const Slots& domain, std::uint32_t sources, std::uint32_t targets) {
  const auto draw = [](std::uint32_t count, std::uint32_t stream, std::uint32_t percent) {
    return bit_set(count, [=](std::uint32_t i) { return random_below(6, Stream::active, stream, i, 100) < percent; });
  };
  const auto append = [](std::vector<std::uint32_t>& to, const std::vector<std::uint32_t>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  MaskedCall all{"all masks", {}, draw(targets, 0, 70), {}, {}}, alike{"variables alike", {}, {}, {}, {}};
  for (std::uint32_t t = 0; t < targets; ++t) all.parents.push_back((t * 7 + 3) % sources);
  std::uint32_t stream = 1;
  for (std::uint32_t t = 0; t < targets; ++t)
    for (const VariableType& type : domain.types()) append(all.variables, draw(type.variables, stream++, 60));
  for (const VariableType& type : domain.types()) {
    append(alike.variables, draw(type.variables, stream++, 50));
    for (std::uint32_t v = 0; v < type.variables; ++v) append(all.possibilities, draw(type.possibilities, stream++, v % 5 == 0 ? 0 : 40));
  }
  return {{"no mask", {}, {}, {}, {}},
          {"parents", all.parents, {}, {}, {}},
          {"states", {}, all.states, {}, {}},
          {"variables of each target", {}, {}, all.variables, {}},
          alike,
          {"possibilities", {}, {}, {}, all.possibilities},
          all};
}

/// Few and many possibilities, sums within 32 bits and beyond, values that are used up.
inline std::vector<Slots> slot_domains() {
  return {{1, 1, 1, 1, 1}, {33, 7, 70, 2, 1}, {5, 40, 33, 1, std::uint64_t{1} << 38}, {3, 2, 1100, 1, 1 << 20}};
}

}  // namespace vicinity::fang
