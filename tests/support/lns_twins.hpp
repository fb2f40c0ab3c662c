#pragma once
// What the tests of every implementation of large neighbourhood search ask: models as text, and cases of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/methods/lns/task.hpp"
#include "cpu_ref/lns/implementations.hpp"
#include "data/formats/flatzinc.hpp"
#include "data/generators/models.hpp"
#include "systems/list.hpp"
#include "tests/support/runs.hpp"

namespace vicinity::lns {

inline const std::vector<std::string>& strategies() {
  static const std::vector<std::string> all{"RL", "RP", "2P", "GS", "ICM", "CE"};
  return all;
}

inline Trial trial(const std::string& text, std::map<std::string, Value> values) {
  values.try_emplace("threads", std::int64_t{2});
  const Case c{"random", "", std::move(values)};
  return {c, std::make_shared<cp::Problem>(read_flatzinc(text, "m.fzn")), c.key()};
}

/// Six values in 1..4 whose neighbours differ, weighted: maximised.
inline std::string chain() {
  std::string text;
  for (int k = 1; k <= 6; ++k) text += "var 1..4: x" + std::to_string(k) + ";\n";
  text += "var -200..200: z :: is_defined_var;\n";
  for (int k = 1; k < 6; ++k) text += "constraint int_ne(x" + std::to_string(k) + ",x" + std::to_string(k + 1) + ");\n";
  return text + "constraint int_lin_eq([3,-2,4,-1,5,1,-1],[x1,x2,x3,x4,x5,x6,z],0) :: defines_var(z);\nsolve maximize z;\n";
}

/// All different, all values used: random values of some variables hardly ever are. At best 56, first 91.
inline std::string permutation() {
  return "var 1..6: a;\nvar 1..6: b;\nvar 1..6: c;\nvar 1..6: d;\nvar 1..6: e;\nvar 1..6: f;\nvar 0..99: z :: is_defined_var;\n"
         "constraint fzn_all_different_int([a,b,c,d,e,f]);\nconstraint int_lin_eq([1,2,3,4,5,6,-1],[a,b,c,d,e,f,z],0) :: defines_var(z);\n"
         "solve :: int_search([a,b,c,d,e,f],input_order,indomain_min,complete) minimize z;\n";
}

/// Long sums that share their terms, one of them a check; distances, one of them read twice; a truth that counts.
inline std::string sums(std::int64_t seed) {
  std::string text, names, ones, pairs;
  for (int k = 0; k < 14; ++k) {
    text += fmt::format("var 0..{}: x{};\n", 2 + (k + seed) % 4, k);
    names += fmt::format("{}x{}", k == 0 ? "" : ",", k);
    ones += fmt::format("{}{}", k == 0 ? "" : ",", (k * seed) % 5 - 2);
  }
  std::string terms;
  for (int k = 0; k < 13; ++k) {
    text += fmt::format("var -9..9: d{} :: is_defined_var;\nvar 0..9: a{} :: is_defined_var;\n", k, k);
    terms += fmt::format(",a{}", k);
  }
  text +=
      "var bool: b :: is_defined_var;\nvar 0..1: c :: is_defined_var;\nvar -900..900: z :: is_defined_var;\nvar -99..99: s :: "
      "is_defined_var;\n";
  for (int k = 0; k < 13; ++k) {
    text += fmt::format("constraint int_lin_eq([1,-1,-1],[x{},x{},d{}],0) :: defines_var(d{});\n", k, k + 1, k, k);
    text += fmt::format("constraint int_abs(d{},a{}) :: defines_var(a{});\n", k, k, k);
  }
  text += "constraint int_ne(d0,3);\nconstraint int_le_reif(x1,x2,b) :: defines_var(b);\nconstraint bool2int(b,c) :: defines_var(c);\n";
  text += fmt::format("constraint int_lin_le([{}],[{}],{});\n", ones, names, 6 + seed % 7);
  text += fmt::format("constraint int_lin_eq([{},-1],[{},s],0) :: defines_var(s);\n", ones, names);
  std::string coefficients;
  for (int k = 0; k < 13; ++k) coefficients += fmt::format(",{}", k % 3 + 1);
  return text + fmt::format("constraint int_lin_eq([2,5{},-1],[s,c{},z],0) :: defines_var(z);\nsolve maximize z;\n", coefficients, terms);
}

/// The sum of the differences of all pairs of so many values, which is maximised.
inline std::string differences(int values) {
  std::string text, terms, ones;
  for (int k = 0; k < values; ++k) text += fmt::format("var 1..9: x{};\n", k);
  for (int k = 0; k < values; ++k)
    for (int j = 0; j < k; ++j)
      text += fmt::format("var -8..8: d{0}_{1} :: is_defined_var;\nvar 0..8: a{0}_{1} :: is_defined_var;\n", k, j);
  text += "var 0..99999: z :: is_defined_var;\n";
  for (int k = 0; k < values; ++k)
    for (int j = 0; j < k; ++j) {
      text += fmt::format("constraint int_lin_eq([1,-1,-1],[x{0},x{1},d{0}_{1}],0) :: defines_var(d{0}_{1});\n", k, j);
      text += fmt::format("constraint int_abs(d{0}_{1},a{0}_{1}) :: defines_var(a{0}_{1});\n", k, j);
      terms += fmt::format("a{}_{},", k, j);
      ones += "1,";
    }
  return text + fmt::format("constraint int_lin_eq([{}-1],[{}z],0) :: defines_var(z);\nsolve maximize z;\n", ones, terms);
}

/// Random definitions of one or two terms on each other, distances, truths and checks of all kinds, coefficients and values of both signs;
/// most of them are terms of the objective, if it is to be a sum of all. Checks hold where variables have values drawn for them.
inline std::string linear_model(std::uint64_t seed, int variables, int definitions, bool summed) {
  std::uint32_t draws = 0;
  const auto below = [&](std::int64_t bound) {
    return static_cast<std::int64_t>(scale_to(random_bits(seed, 7, 0, draws++), static_cast<std::uint64_t>(bound)));
  };
  const auto coefficient = [&] {
    const std::int64_t sign = 1 - 2 * below(2);
    return sign * (1 + below(3));
  };
  constexpr std::array<const char*, 3> kinds{"le", "eq", "ne"};
  std::string text, constraints, terms, weights;
  std::vector<std::string> names;
  std::vector<std::int64_t> values;
  const auto name = [&](const std::string& one, std::int64_t value) {
    names.push_back(one);
    values.push_back(value);
  };
  for (int k = 0; k < variables; ++k) {
    const std::int64_t low = below(9) - 5, high = low + 1 + below(k % 4 == 0 ? 60 : 5);
    text += fmt::format("var {}..{}: x{};\n", low, high, k);
    name(fmt::format("x{}", k), low + below(high - low + 1));
  }
  for (int k = 0; k < definitions; ++k) {
    const auto i = static_cast<std::size_t>(below(static_cast<std::int64_t>(names.size())));
    const auto j = static_cast<std::size_t>(below(static_cast<std::int64_t>(names.size())));
    const std::int64_t a = coefficient(), b = coefficient(), c = below(9) - 4;
    const std::string sum = fmt::format("[{},{}", a, b), both = fmt::format("[{},{}", names[i], names[j]);
    const std::int64_t s = a * values[i] + b * values[j];
    const std::string x = fmt::format("d{}", k);
    const std::int64_t kind = below(6);
    if (i == j || std::abs(s) > (kind < 2 ? 2000 : 80)) continue;  // constants have 8 bits
    switch (kind) {
      case 0:
        text += fmt::format("var -9999999..9999999: {} :: is_defined_var;\n", x);
        constraints += fmt::format("constraint int_lin_eq({},-1],{},{}],{}) :: defines_var({});\n", sum, both, x, c, x);
        name(x, s - c);
        break;
      case 1:
        text += fmt::format("var -9999999..9999999: {0} :: is_defined_var;\nvar 0..9999999: a{0} :: is_defined_var;\n", x);
        constraints += fmt::format("constraint int_lin_eq({},-1],{},{}],{}) :: defines_var({});\n", sum, both, x, c, x);
        constraints += fmt::format("constraint int_abs({0},a{0}) :: defines_var(a{0});\n", x);
        name("a" + x, std::abs(s - c));
        break;
      case 2: {
        const std::int64_t truth = below(3);
        const bool holds = truth == 0 ? s <= c : truth == 1 ? s == c : s != c;
        text += fmt::format("var bool: {0} :: is_defined_var;\nvar 0..1: i{0} :: is_defined_var;\n", x);
        constraints += fmt::format("constraint int_lin_{}_reif({}],{}],{},{}) :: defines_var({});\n",
                                   kinds[static_cast<std::size_t>(truth)], sum, both, c, x, x);
        constraints += fmt::format("constraint bool2int({0},i{0}) :: defines_var(i{0});\n", x);
        name("i" + x, holds ? 1 : 0);
        break;
      }
      case 3:
        constraints += fmt::format("constraint int_lin_le({}],{}],{});\n", sum, both, s + below(40));
        break;
      case 4:
        constraints += fmt::format("constraint int_lin_ne({}],{}],{});\n", sum, both, s + 1 + below(5));
        break;
      default:
        if (seed % 6 == 1 && k % 16 == 0) {
          constraints += fmt::format("constraint int_lin_eq({}],{}],{});\n", sum, both, s);
        } else {
          const std::int64_t truth = below(3), off = below(9) - 4;
          text += fmt::format("var bool: {};\n", x);
          constraints +=
              fmt::format("constraint int_lin_{}_reif({}],{}],{},{});\n", kinds[static_cast<std::size_t>(truth)], sum, both, s + off, x);
        }
        break;
    }
  }
  if (!summed) {
    std::string all, ones;
    std::int64_t total = 0;
    for (std::size_t k = 0; k < names.size(); ++k) {
      all += (k == 0 ? "" : ",") + names[k];
      ones += k == 0 ? "1" : ",1";
      total += values[k];
    }
    constraints += fmt::format("constraint int_lin_le([{}],[{}],{});\n", ones, all, total + below(30));
  }
  const std::size_t counted = summed ? names.size() : 2;
  for (std::size_t k = 0; k < counted; ++k) {
    const std::size_t at = summed ? k : names.size() - 1 - k;
    terms += names[at] + ",";
    weights += fmt::format("{},", k % 5 == 4 ? (seed % 7 == 0 ? 1'000'000 : 10'000) * coefficient() : coefficient());
  }
  text += "var -2147483647..2147483647: z :: is_defined_var;\n" + constraints;
  return text + fmt::format("constraint int_lin_eq([{}-1],[{}z],{}) :: defines_var(z);\nsolve {} z;\n", weights, terms, below(99),
                            seed % 2 == 0 ? "minimize" : "maximize");
}

/// Model k under each strategy; the ways to begin take turns.
inline std::vector<Trial> trials_of_all_strategies(std::int64_t k) {
  const auto text = random_model(2 + k % 9, 1 + k % 14, 2 + k % 6, static_cast<std::uint64_t>(1000 + k));
  std::vector<Trial> trials;
  for (const std::string& strategy : strategies())
    trials.push_back(trial(text, {{"strategy", strategy},
                                  {"start", std::string(k % 3 == 0   ? "random"
                                                        : k % 3 == 1 ? "cp"
                                                                     : "current")},
                                  {"released", 1 + k % 3},
                                  {"subsets", std::int64_t{3}},
                                  {"starts", std::int64_t{4}},
                                  {"steps", std::int64_t{3}},
                                  {"restarts", k % 2}}));
  return trials;
}

inline std::vector<Trial> trials_of_many_steps() {
  return {trial(chain(), {{"strategy", "GS"}, {"steps", std::int64_t{7}}, {"restarts", std::int64_t{1}}}),
          trial(chain(), {{"strategy", "RL"}, {"start", "cp"}, {"steps", std::int64_t{9}}})};
}

inline const Implementation& reference() {
  static const std::vector<Implementation> all = cpu_implementations();
  return all.front();
}

}  // namespace vicinity::lns
