#pragma once
// Models for neighbourhoods: with each predicate, and larger ones.
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/core/problems/cp/random_models.hpp"

namespace vicinity::lns {

/// Constraints of the pool's predicates, `predicate` among them, and a weighted sum of its variables that is minimised or maximised.
inline cp::Model model_with(const std::pair<std::string, cp::Post>& predicate, std::uint64_t seed) {
  cp::Draws draws(seed);
  cp::Pool pool(draws, draws.below(5) == 0);
  const auto all = cp::predicates();
  for (std::int64_t k = draws.from(0, 2); k > 0; --k)
    all[static_cast<std::size_t>(draws.below(static_cast<std::int64_t>(all.size())))].second(pool);
  predicate.second(pool);
  if (draws.below(2) != 0) predicate.second(pool);
  cp::ModelMaker::Values weights;
  std::vector<cp::Expression> terms = pool.integers;
  for (std::size_t k = 0; k < terms.size(); ++k) weights.push_back(draws.from(-4, 4));
  const cp::Expression objective = pool.maker.integer(-30'000, 30'000);
  terms.push_back(objective);
  weights.push_back(-1);
  pool.maker.constraint("int_lin_eq", {pool.maker.numbers(weights), pool.maker.array(terms), cp::Expression::integer(0)});
  pool.maker.goal(draws.below(2) != 0 ? cp::Goal::minimise : cp::Goal::maximise, objective);
  return pool.maker.model();
}

/// Values in 1..n that are all different, with a cost a value each: a quadratic objective on neighbours.
inline std::string assignment(int n) {
  std::string text, names, costs, ones;
  for (int k = 0; k < n; ++k) {
    text += fmt::format("var 1..{}: x{};\nvar 0..999: c{} :: is_defined_var;\n", n, k, k);
    names += fmt::format("{}x{}", k == 0 ? "" : ",", k);
    costs += fmt::format("c{},", k);
    ones += "1,";
  }
  text += "var 0..99999: z :: is_defined_var;\n";
  for (int k = 0; k < n; ++k) {
    std::string values;
    for (int v = 0; v < n; ++v) values += fmt::format("{}{}", v == 0 ? "" : ",", (37 * k + 61 * v + 11 * k * v) % 97);
    text += fmt::format("constraint array_int_element(x{0},[{1}],c{0}) :: defines_var(c{0});\n", k, values);
  }
  text += fmt::format("constraint fzn_all_different_int([{}]);\n", names);
  return text + fmt::format("constraint int_lin_eq([{}-1],[{}z],0) :: defines_var(z);\nsolve minimize z;\n", ones, costs);
}

/// Sums that all threads propagate, in both directions.
inline std::string long_sums(int n) {
  std::string text, names, weights, ones;
  for (int k = 0; k < n; ++k) {
    text += fmt::format("var 0..{}: x{};\n", 1 + k % 5, k);
    names += fmt::format("{}x{}", k == 0 ? "" : ",", k);
    weights += fmt::format("{},", (k * 29) % 23 - 9);
    ones += fmt::format("{}{}", k == 0 ? "" : ",", 1 + k % 3);
  }
  text += "var -99999..99999: z :: is_defined_var;\nvar bool: b;\n";
  text += fmt::format("constraint int_lin_le([{}],[{}],{});\n", ones, names, 2 * n);
  text += fmt::format("constraint int_lin_le_reif([{}],[{}],{},b);\n", ones, names, n);
  text += fmt::format("constraint int_lin_eq([{},-3],[{},z],1);\n", weights.substr(0, weights.size() - 1), names);
  return text + "solve maximize z;\n";
}

}  // namespace vicinity::lns
