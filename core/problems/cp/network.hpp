#pragma once
// A constraint network: the model (model.hpp) as propagation needs it. Variables are integers, bools are 0 and 1; what the model says to be
// equal is one variable. Constraints are of few kinds, because a reified constraint becomes two half-reified ones:
//   r <-> (a x <= c)   is   r -> (a x <= c)   and   not r -> (-a x <= -c - 1),
// and one that always holds has a condition that is true. Arrays by kind, in CSR form, all of them plain numbers, so that kernels read the
// same: kind, arguments (variables and literals), data (coefficients, constants, tables). Constraints are sorted by kind.
//
// A variable is bounds, and where it has at most `most_masked` values between them at the root, a bit a value; which, is decided once. So
// propagators are monotone, and the fixpoint below a store is unique, whatever the order of propagation (Apt, "The essence of constraint
// propagation", TCS 221, 1999). Sums have 64 bits: the constructor refuses coefficients with which one could leave 62.
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/api/run.hpp"
#include "core/problems/cp/model.hpp"
#include "core/util/hd.hpp"

namespace vicinity::cp {

using Var = std::int32_t;
/// A bool variable or its negation.
using Literal = std::int32_t;

inline constexpr Var true_var = 0;  ///< is always 1
[[nodiscard]] VICINITY_HD constexpr Literal literal(Var x) { return 2 * x; }
[[nodiscard]] VICINITY_HD constexpr Literal negated(Literal l) { return l ^ 1; }
[[nodiscard]] VICINITY_HD constexpr Var var_of(Literal l) { return l >> 1; }
[[nodiscard]] VICINITY_HD constexpr bool is_negated(Literal l) { return (l & 1) != 0; }
inline constexpr Literal true_literal = 2 * true_var;

/// Domains with more values between their bounds are bounds only.
inline constexpr std::int32_t most_masked = 1024;

/// Arguments | data of each. l is a literal, r a condition: the constraint holds if r does.
enum class Kind : std::uint8_t {
  at_most,               ///< l x | c: l <-> x <= c
  equals,                ///< l x | c: l <-> x = c
  clause,                ///< l...: one of them
  clause_reif,           ///< l0 l...: l0 <-> one of them
  le,                    ///< r x y | c: x - y <= c
  ne,                    ///< r x y | c: x - y != c
  eq,                    ///< r x y | c: x - y = c
  member,                ///< l x | low high low high ...: l <-> x in one of the intervals, ascending and apart
  parity,                ///< l...: an odd number of them
  absolute,              ///< x z: |x| = z
  times,                 ///< x y z: x y = z
  divide,                ///< x y z: x / y = z, truncated; y != 0
  modulo,                ///< x y z: the remainder of that division, with the sign of x
  power,                 ///< x y z: x to the y; 1 / x^-y truncated where y < 0
  maximum,               ///< z x...: the greatest of them
  minimum,               ///< z x...: the least
  linear_le,             ///< r x... | c a...: sum of a x <= c
  linear_eq,             ///< r x... | c a...
  linear_ne,             ///< r x... | c a...
  element,               ///< i z | v...: v[i] = z, from 1
  element_matrix,        ///< x y z | first_x first_y columns v...: v[x, y] = z; v row by row, no_value where there is none
  element_var,           ///< i z y...: y[i] = z, from 1
  all_different,         ///< x...: values of those that are fixed
  table,                 ///< x... | see table_of() in global_rules.hpp
  inverse,               ///< f... g... | n first_f first_g: f[i] = j <-> g[j] = i, indices from first_f and first_g
  circuit,               ///< x... | first: successors on one cycle through all, indices from first
  cardinality,           ///< x... count... | n v...: count[k] of the n variables have the value v[k]
  all_different_bounds,  ///< x...: bounds consistency
  cumulative,            ///< s... d... u... b | n: at no time uses more than b (start, duration, use)
};
/// No domain has it.
inline constexpr std::int64_t no_value = std::numeric_limits<std::int64_t>::min();
inline constexpr int kinds = static_cast<int>(Kind::cumulative) + 1;

/// What a propagator waits for.
enum Event : std::uint8_t { raised = 1, cut = 2, hole = 4, fixed = 8, any = raised | cut | hole };

/// For kernels. A watch is constraint * 16 + events.
struct NetworkView {
  const Kind* kind;                     ///< [constraint]
  const std::uint32_t* argument_begin;  ///< [constraint + 1]
  const std::int32_t* arguments;
  const std::uint64_t* data_begin;  ///< [constraint + 1]
  const std::int64_t* data;
  const std::uint32_t* watch_begin;  ///< [variable + 1]
  const std::uint32_t* watches;
  const std::int32_t* lower;  ///< [variable], at the root
  const std::int32_t* upper;
  const std::int64_t* mask_begin;  ///< [variable], first word of its mask; -1: bounds only. Bit 0 is its lower bound at the root
  const std::uint64_t* mask;       ///< at the root
  std::int32_t variables;
  std::int32_t constraints;
  std::int64_t mask_words;
};

/// One constraint's part of the arrays.
struct Scope {
  std::span<const std::int32_t> arguments;
  std::span<const std::int64_t> data;
};

/// In a draft: of a variable without a bound.
inline constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
/// Do values between these bounds reach beyond those of a network's variables?
[[nodiscard]] constexpr bool reaches_beyond(std::int64_t lower, std::int64_t upper) {
  return lower < least_value || upper > greatest_value;
}

/// Variables and constraints while they are collected.
struct Draft {
  struct Domain {
    std::int64_t lower, upper;
    std::vector<std::int64_t> intervals;  ///< low high low high ..., ascending and apart; empty: all between the bounds
  };
  std::vector<Domain> domains;  ///< [variable]; the first is true_var
  std::vector<Kind> kind;
  std::vector<std::uint32_t> argument_begin{0};
  std::vector<std::int32_t> arguments;
  std::vector<std::uint64_t> data_begin{0};
  std::vector<std::int64_t> data;
  bool failed = false;  ///< something that cannot hold was added

  Draft();
  [[nodiscard]] Var add_variable(std::int64_t lower, std::int64_t upper);
  /// Keeps what is also in the intervals.
  void restrict(Var x, std::span<const std::int64_t> intervals);
  /// Keeps of all domains the values of variables, as a network needs.
  void cut_domains();
  void add(Kind of, std::span<const std::int32_t> its_arguments, std::span<const std::int64_t> its_data = {});
  void add(Kind of, std::initializer_list<std::int32_t> its_arguments, std::initializer_list<std::int64_t> its_data = {});
};

/// Of argument k of such a constraint: the variable that it is, or whose literal it is.
[[nodiscard]] Var variable_at(Kind kind, std::size_t k, const Scope& scope);

/// Immutable. Its domains are those after propagation at the root (as far as that comes in a bounded number of calls), and constraints that
/// hold whatever happens are left out.
class Network final : public Instance {
 public:
  /// Of a draft whose domains are cut. Throws InputError for sums that could leave 62 bits.
  explicit Network(Draft draft);

  [[nodiscard]] std::uint64_t hash() const override;
  /// Its domains and constraints, to make another of.
  [[nodiscard]] Draft draft() const;
  [[nodiscard]] NetworkView view() const noexcept;
  [[nodiscard]] std::int32_t variables() const noexcept { return static_cast<std::int32_t>(lower_.size()); }
  [[nodiscard]] std::int32_t constraints() const noexcept { return static_cast<std::int32_t>(kind_.size()); }
  /// Does propagation at the root fail?
  [[nodiscard]] bool failed() const noexcept { return failed_; }
  /// As variable_at().
  [[nodiscard]] Var variable(std::int32_t constraint, std::size_t k) const;
  /// Of how many constraints it is an argument.
  [[nodiscard]] std::int32_t degree(Var x) const;

 private:
  void sort_by_kind(const Draft& draft, std::span<const std::uint32_t> kept);
  void watch();
  void masks(std::span<const Draft::Domain> domains);

  bool failed_ = false;
  std::vector<Kind> kind_;
  std::vector<std::uint32_t> argument_begin_, watch_begin_, watches_;
  std::vector<std::int32_t> arguments_, lower_, upper_, degree_;
  std::vector<std::uint64_t> data_begin_, mask_;
  std::vector<std::int64_t> data_, mask_begin_;
};

[[nodiscard]] VICINITY_HD Scope scope_of(const NetworkView& network, std::int32_t constraint) {
  const auto c = static_cast<std::size_t>(constraint);
  return {{network.arguments + network.argument_begin[c], network.arguments + network.argument_begin[c + 1]},
          {network.data + network.data_begin[c], network.data + network.data_begin[c + 1]}};
}

}  // namespace vicinity::cp
