#pragma once
// The cost of an assignment as a sum of functions of one and of two free variables each, where a model is of this form: quadratic
// assignment, arrangements, distances between neighbours on a tour. The functions are tables, so that an exchange of two values costs two
// lookups a term of either variable, where evaluation (incremental.hpp) goes through indices, elements and sums.
//
// Functions are found in the evaluation: what follows from at most two free variables is a table over their values; a sum of such, and of
// such sums, is its terms. Equal functions have one table, whichever variables they are of: all distances of a quadratic assignment
// problem are one. Checks become tables, too. All-different constraints of the variables that exchange values always hold. A model with
// another constraint, with tables that are too large, or with sums that could leave the range of values, is of another form.
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "core/methods/lns/lns.hpp"
#include "core/problems/cp/problem.hpp"

namespace vicinity::lns {

class PairCosts {
 public:
  /// `groups`: free variables, by number, that exchange values within their group. Empty: the model is of another form. The caller keeps
  /// the problem alive.
  [[nodiscard]] static std::optional<PairCosts> of(const cp::Problem& problem, std::span<const std::vector<std::int32_t>> groups);

  /// `values` of all variables of the model: a solution.
  void load(std::span<const std::int32_t> values, std::int64_t cost);
  [[nodiscard]] std::int32_t value(std::int32_t d) const { return at_[static_cast<std::size_t>(d)].value; }
  /// Does anything follow from the variable?
  [[nodiscard]] bool matters(std::int32_t d) const {
    return term_begin_[static_cast<std::size_t>(d)] != term_begin_[static_cast<std::size_t>(d) + 1];
  }
  /// Do the domains of both have the other's value?
  [[nodiscard]] bool possible(std::int32_t x, std::int32_t y) const;
  /// What it costs after x and y, of one group, exchange their values; inconsistent: a constraint does not hold then.
  [[nodiscard]] std::int64_t cost_after(std::int32_t x, std::int32_t y) const;
  /// `cost`: afterwards.
  void exchange(std::int32_t x, std::int32_t y, std::int64_t cost);
  /// [free variable]
  [[nodiscard]] std::vector<std::int32_t> values() const;

 private:
  friend class PairCostsMaker;

  /// A function in which a variable is.
  struct Term {
    std::int64_t coefficient;
    std::uint32_t table;  ///< where it begins
    std::int32_t other;   ///< its other variable; the same variable: there is none
    std::int32_t own_stride, other_stride;
  };
  struct At {
    std::int32_t value, number;  ///< of the value in the domain
  };
  static constexpr std::int32_t violated = std::numeric_limits<std::int32_t>::min();  ///< no value

  explicit PairCosts(const cp::Problem& problem) : free_(problem.free_variables()) {}
  [[nodiscard]] std::int32_t number_of(std::int32_t d, std::int32_t value) const;
  [[nodiscard]] bool add_changes(std::int32_t x, std::int32_t to, std::int32_t y, std::int32_t to_y, bool with_y, std::int64_t& sum) const;

  cp::FreeVariablesView free_;
  std::vector<std::int32_t> tables_;
  std::vector<Term> terms_;
  std::vector<std::uint32_t> term_begin_;  ///< [free variable + 1]
  std::int64_t least_ = 0, greatest_ = 0;  ///< costs that the objective's domain has
  std::vector<At> at_;                     ///< [free variable]
  std::int64_t cost_ = inconsistent;
};

}  // namespace vicinity::lns
