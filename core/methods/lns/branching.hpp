#pragma once
// Where the tree of a CP search branches: the search annotations of a model (MiniZinc handbook, 2.5.7) as phases, one after the other.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/problems/cp/compile.hpp"
#include "core/problems/cp/model.hpp"
#include "core/problems/cp/store.hpp"
#include "core/util/hd.hpp"
#include "core/util/rng.hpp"

namespace vicinity::lns {

/// Which variable is next; among equals the first.
enum class VariableChoice : std::uint8_t {
  input_order,
  first_fail,        ///< fewest values
  anti_first_fail,   ///< most values
  smallest,          ///< least lower bound
  largest,           ///< greatest upper bound
  occurrence,        ///< in most constraints
  most_constrained,  ///< fewest values, then in most constraints
  max_regret,        ///< greatest difference of its two least values
  dom_w_deg,         ///< fewest values over failures of its constraints (Boussemart et al., ECAI 2004)
};

/// Which values are tried first.
enum class ValueChoice : std::uint8_t {
  min,
  max,
  median,  ///< of the values
  middle,  ///< next to the mean of the bounds
  random,
  split,          ///< the lower half
  reverse_split,  ///< the upper half
  split_random,
  interval,       ///< the first without gaps; else split
  outdomain_min,  ///< all but the least
  outdomain_max,
  saved,  ///< as in the best solution; else min
};

struct Phase {
  std::vector<cp::Var> variables;
  VariableChoice variable = VariableChoice::input_order;
  ValueChoice value = ValueChoice::min;
};

/// When a search begins anew, in failures.
struct Restarts {
  enum class Kind : std::uint8_t { none, constant, linear, geometric, luby } kind = Kind::none;
  double base = 1.5;
  std::int64_t scale = 100;

  /// Failures until restart k, from 0.
  [[nodiscard]] std::int64_t cutoff(std::int64_t k) const;
};

/// What the annotations of a goal ask for.
struct Strategy {
  std::vector<Phase> phases;
  std::size_t annotated = 0;  ///< how many phases, the first, are those of the annotations
  Restarts restarts;
  std::vector<cp::Var> relaxed;   ///< relax_and_reconstruct: at a restart each keeps its value in the best solution ...
  std::int64_t kept_percent = 0;  ///< ... with this probability
  std::vector<std::pair<cp::Var, std::int64_t>> hints;  ///< warm_start
};

/// Those that an output prints, alone or in an array.
[[nodiscard]] std::vector<cp::Var> variables_of(const cp::Model& model, const cp::CompiledModel& compiled, const cp::Output& output);

/// The phases of the annotations, and behind them those that fix all other variables: those the model names, the objective, the rest.
/// Throws InputError for arguments of the wrong type; annotations it does not know are left out.
[[nodiscard]] Strategy strategy_of(const cp::Model& model, const cp::CompiledModel& compiled);

/// What a node tries first, and on the way back its opposite.
struct Decision {
  enum class Kind : std::uint8_t { equal, unequal, at_most, above } kind = Kind::equal;
  cp::Var variable = 0;
  std::int64_t value = 0;

  [[nodiscard]] VICINITY_HD Decision opposite() const {
    return {kind == Kind::equal     ? Kind::unequal
            : kind == Kind::unequal ? Kind::equal
            : kind == Kind::at_most ? Kind::above
                                    : Kind::at_most,
            variable, value};
  }
  template <class S>
  [[nodiscard]] VICINITY_HD bool apply(S& store) const {
    switch (kind) {
      case Kind::equal:
        return store.assign(variable, value);
      case Kind::unequal:
        return store.remove(variable, value);
      case Kind::at_most:
        return store.cut(variable, value);
      case Kind::above:
        return store.raise(variable, value + 1);
    }
    return false;
  }
};

/// The decision about an open variable. A value inside a domain of bounds only becomes a split. `random`: 64 bits; `saved`: of this
/// variable.
template <class S>
[[nodiscard]] VICINITY_HD_CALLED Decision decision_on(const S& store, cp::Var x, ValueChoice choice, std::uint64_t random,
                                                      std::int64_t saved) {
  using Kind = Decision::Kind;
  const std::int64_t low = store.lower(x), high = store.upper(x), half = low + (high - low) / 2;
  const auto equal = [&](std::int64_t v) -> Decision {
    if (store.masked(x) || v == low || v == high) return {Kind::equal, x, v};
    return {Kind::at_most, x, v};
  };
  const auto ranked = [&](std::int64_t rank) {  // the value with so many below it
    if (!store.masked(x)) return low + rank;
    std::int64_t v = low;
    for (; rank > 0; --rank) v = store.next(x, v + 1);
    return v;
  };
  switch (choice) {
    case ValueChoice::min:
      return {Kind::equal, x, low};
    case ValueChoice::max:
      return {Kind::equal, x, high};
    case ValueChoice::median:
      return equal(ranked((store.size(x) - 1) / 2));
    case ValueChoice::middle: {
      const std::int64_t above = store.next(x, half), below = store.previous(x, half);
      return equal(above - half < half - below ? above : below);
    }
    case ValueChoice::random:
      return equal(ranked(static_cast<std::int64_t>(scale_to(random, static_cast<std::uint64_t>(store.size(x))))));
    case ValueChoice::split:
      return {Kind::at_most, x, half};
    case ValueChoice::reverse_split:
      return {Kind::above, x, half};
    case ValueChoice::split_random:
      return {(random & 1) != 0 ? Kind::above : Kind::at_most, x, half};
    case ValueChoice::interval: {
      std::int64_t v = low;
      while (store.masked(x) && v < high && store.contains(x, v + 1)) ++v;
      return {Kind::at_most, x, !store.masked(x) || v == high ? half : v};
    }
    case ValueChoice::outdomain_min:
      return {Kind::unequal, x, low};
    case ValueChoice::outdomain_max:
      return {Kind::unequal, x, high};
    case ValueChoice::saved:
      return store.contains(x, saved) ? equal(saved) : Decision{Kind::equal, x, low};
  }
  return {Kind::equal, x, low};
}

}  // namespace vicinity::lns
