#pragma once
// A model as local search needs it: given values of its free variables, everything else follows by evaluation, without propagation. A
// constraint that defines a variable (defines_var) becomes an operation that computes it; the others become checks. An objective that none
// defines is computed by the first constraint that can. Operations are sorted
// by level: one of level k needs variables of lower levels only. So a solution is evaluated in one pass, and from a changed variable on
// along `users`. These are the paper's FD variables and Aux variables (Campeotto et al., section 3), and its queues of constraints.
//
// Values lie in slots: those of the model's variables, then the constants that operations use. Operations are flat arrays in CSR form;
// kernels read the same, and evaluate by the same functions (operations.hpp).
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/problems/cp/model.hpp"
#include "core/util/hd.hpp"

namespace vicinity::cp {

/// Arguments | data of each; truths are 0 or 1.
enum class Operation : std::uint8_t {
  sum,          ///< x... | c a...: c + sum of a x
  sum_le,       ///< x... | c a...: sum of a x <= c
  sum_eq,       ///< x... | c a...
  sum_ne,       ///< x... | c a...
  any,          ///< x... | v...: some x = v
  every,        ///< x... | v...: all x = v
  odd,          ///< x...: an odd number of ones
  member,       ///< x | low high low high ...
  times,        ///< x y
  divide,       ///< x y: truncated
  modulo,       ///< x y: with the sign of x
  power,        ///< x y
  absolute,     ///< x
  maximum,      ///< x...
  minimum,      ///< x...
  element,      ///< i x...: x[i], from 1
  different,    ///< x...: all of them
  table,        ///< x... | rows
  circuit,      ///< x... | first
  inverse,      ///< f... g... | n first_f first_g
  cardinality,  ///< x... count... | n v...
  cumulative,   ///< s... d... u... b | n
};

/// What becomes of an operation's value.
enum class Use : std::uint8_t {
  define,   ///< the result slot gets it
  agree,    ///< it has to be what is in the result slot
  implied,  ///< it has to be 1 where the result slot has 1
};

/// For kernels.
struct EvaluationView {
  const Operation* operation;           ///< [k]
  const Use* use;                       ///< [k]
  const std::int32_t* result;           ///< [k] slot
  const std::uint32_t* argument_begin;  ///< [k + 1]
  const std::int32_t* arguments;        ///< slots
  const std::uint64_t* data_begin;      ///< [k + 1]
  const std::int64_t* data;
  const std::uint32_t* user_begin;  ///< [slot of a variable + 1]
  const std::int32_t* users;        ///< operations that read it, or check it
  std::int32_t operations;
};

class Evaluation {
 public:
  /// Throws InputError "file:line: ..." for predicates that it does not know.
  explicit Evaluation(const Model& model);

  [[nodiscard]] EvaluationView view() const noexcept;
  /// Variables that nothing defines, in the order of the model.
  [[nodiscard]] std::span<const std::int32_t> free_variables() const noexcept { return free_; }
  /// The first operation of each level, and behind them of the checks, and their number.
  [[nodiscard]] std::span<const std::int32_t> level_begin() const noexcept { return level_begin_; }
  /// Slots with constants in place; variables have to be set.
  [[nodiscard]] std::vector<std::int32_t> slots() const { return slots_; }
  /// Computes all that is defined. How many operations and domains do not hold? 0: the values are a solution.
  [[nodiscard]] std::int64_t evaluate(std::vector<std::int32_t>& slots) const;

 private:
  friend class EvaluationMaker;

  std::vector<Operation> operation_;
  std::vector<Use> use_;
  std::vector<std::int32_t> result_, arguments_, users_, free_, level_begin_, slots_;
  std::vector<std::uint32_t> argument_begin_{0}, user_begin_;
  std::vector<std::uint64_t> data_begin_{0};
  std::vector<std::int64_t> data_;
};

}  // namespace vicinity::cp
