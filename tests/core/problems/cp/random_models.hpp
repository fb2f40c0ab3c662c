#pragma once
// Random constraints of every predicate over a few shared variables.
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/core/problems/cp/model_maker.hpp"

namespace vicinity::cp {

/// Variables to draw arguments from, so that constraints share them.
struct Pool {
  ModelMaker maker;
  Draws& draws;
  std::vector<Expression> integers, booleans;

  Pool(Draws& from, bool wide) : draws(from) {
    for (int k = 0; k < 4; ++k) {
      const std::int64_t low = draws.from(-4, 3), high = low + draws.from(0, 5);
      ModelMaker::Values values;
      for (std::int64_t v = low; v <= high; ++v)
        if (draws.below(4) != 0) values.push_back(v);
      values.push_back(low);
      if (wide) values.push_back(draws.below(2) != 0 ? 2000 : -1500);
      integers.push_back(draws.below(3) == 0 && !wide ? maker.integer(low, high) : maker.integer(values));
    }
    for (int k = 0; k < 3; ++k) booleans.push_back(maker.boolean());
  }
  Expression x() {
    if (draws.below(8) == 0) return Expression::integer(draws.from(-3, 4));
    return integers[static_cast<std::size_t>(draws.below(4))];
  }
  Expression b() {
    if (draws.below(10) == 0) return Expression::boolean(draws.below(2) != 0);
    return booleans[static_cast<std::size_t>(draws.below(3))];
  }
  Expression c() { return Expression::integer(draws.from(-5, 7)); }
  Expression xs(std::size_t n) {
    std::vector<Expression> all;
    for (std::size_t k = 0; k < n; ++k) all.push_back(x());
    return maker.array(all);
  }
  Expression bs(std::size_t n) {
    std::vector<Expression> all;
    for (std::size_t k = 0; k < n; ++k) all.push_back(b());
    return maker.array(all);
  }
  Expression numbers(std::size_t n, std::int64_t low = -3, std::int64_t high = 4) {
    ModelMaker::Values all;
    for (std::size_t k = 0; k < n; ++k) all.push_back(draws.from(low, high));
    return maker.numbers(all);
  }
  Expression truths(std::size_t n) {
    std::vector<Expression> all;
    for (std::size_t k = 0; k < n; ++k) all.push_back(Expression::boolean(draws.below(2) != 0));
    return maker.array(all);
  }
  Expression some_set() {
    if (draws.below(2) != 0) {
      const std::int64_t low = draws.from(-5, 5);
      return maker.interval(low, low + draws.from(-1, 4));
    }
    ModelMaker::Values all;
    for (std::int64_t k = draws.below(5); k >= 0; --k) all.push_back(draws.from(-4, 6));
    return maker.set(all);
  }
  /// A number that no variable can have.
  Expression beyond() {
    const std::int64_t magnitude = draws.below(2) != 0 ? std::numeric_limits<std::int64_t>::max() : std::int64_t{greatest_value} + 1;
    return Expression::integer(draws.below(2) != 0 ? magnitude : -magnitude);
  }
  std::size_t few() { return static_cast<std::size_t>(draws.from(1, 4)); }
};

using Post = std::function<void(Pool&)>;

/// All predicates of the compiler, and how arguments are drawn. `large`: then, too, with numbers that no variable can have.
inline std::vector<std::pair<std::string, Post>> predicates(bool large = false) {
  std::vector<std::pair<std::string, Post>> all;
  const auto add = [&](const std::string& name, const std::function<std::vector<Expression>(Pool&)>& arguments) {
    all.emplace_back(name, [=](Pool& p) { p.maker.constraint(name, arguments(p)); });
  };
  const auto conditional = [&](const std::string& name, const std::function<std::vector<Expression>(Pool&)>& arguments) {
    add(name, arguments);
    for (const char* end : {"_reif", "_imp"})
      add(name + end, [=](Pool& p) {
        auto list = arguments(p);
        list.push_back(p.b());
        return list;
      });
  };
  for (const char* relation : {"eq", "le", "ne", "lt"}) {
    conditional("int_" + std::string(relation), [](Pool& p) { return std::vector{p.x(), p.x()}; });
    conditional("bool_" + std::string(relation), [](Pool& p) { return std::vector{p.b(), p.b()}; });
  }
  for (const char* relation : {"eq", "le", "ne"})
    conditional("int_lin_" + std::string(relation), [](Pool& p) {
      const std::size_t n = p.few();
      return std::vector{p.numbers(n), p.xs(n), p.c()};
    });
  for (const char* name : {"bool_lin_eq", "bool_lin_le", "bool_lin_eq_reif", "bool_lin_le_imp", "bool_lin_ne"})
    add(name, [condition = std::string(name).size() > 11](Pool& p) {
      const std::size_t n = p.few();
      std::vector list{p.numbers(n), p.bs(n), p.x()};
      if (condition) list.push_back(p.b());
      return list;
    });
  conditional("set_in", [](Pool& p) { return std::vector{p.x(), p.some_set()}; });
  conditional("bool_clause", [](Pool& p) { return std::vector{p.bs(p.few()), p.bs(p.few() - 1)}; });
  for (const char* name : {"array_bool_and", "array_bool_or", "array_bool_and_imp", "array_bool_or_imp"})
    add(name, [](Pool& p) { return std::vector{p.bs(p.few()), p.b()}; });
  for (const char* name : {"bool_and", "bool_or", "bool_xor", "bool_and_imp", "bool_or_imp", "bool_xor_imp"})
    add(name, [](Pool& p) { return std::vector{p.b(), p.b(), p.b()}; });
  for (const char* name : {"bool_xor", "bool_not"}) add(name, [](Pool& p) { return std::vector{p.b(), p.b()}; });
  add("array_bool_xor", [](Pool& p) { return std::vector{p.bs(p.few())}; });
  add("bool2int", [](Pool& p) { return std::vector{p.b(), p.x()}; });
  for (const char* name : {"int_abs", "int_negate"}) add(name, [](Pool& p) { return std::vector{p.x(), p.x()}; });
  for (const char* name : {"int_times", "int_div", "int_mod", "int_pow", "int_plus", "int_minus", "int_max", "int_min"})
    add(name, [](Pool& p) { return std::vector{p.x(), p.x(), p.x()}; });
  for (const char* name : {"array_int_maximum", "array_int_minimum"}) add(name, [](Pool& p) { return std::vector{p.x(), p.xs(p.few())}; });
  add("array_int_element", [](Pool& p) { return std::vector{p.x(), p.numbers(p.few() + 2), p.x()}; });
  add("array_var_int_element", [](Pool& p) { return std::vector{p.x(), p.xs(p.few() + 2), p.x()}; });
  add("array_bool_element", [](Pool& p) { return std::vector{p.x(), p.truths(p.few() + 2), p.b()}; });
  add("array_var_bool_element", [](Pool& p) { return std::vector{p.x(), p.bs(p.few() + 2), p.b()}; });
  // A matrix: the index is a sum of two variables.
  for (const char* name : {"array_int_element", "array_bool_element"})
    all.emplace_back(std::string(name) + " of a matrix", [name = std::string(name)](Pool& p) {
      const Expression index = p.maker.integer(-1, 10);
      p.maker.introduced();
      const ModelMaker::Values a{p.draws.below(2) != 0 ? 3 : -2, 1, p.draws.below(2) != 0 ? -1 : 1};
      p.maker.constraint("int_lin_eq", {p.maker.numbers(a), p.maker.array({p.x(), p.x(), index}), p.c()});
      const std::size_t n = static_cast<std::size_t>(p.draws.from(4, 9));
      const bool bools = name == "array_bool_element";
      p.maker.constraint(name, {index, bools ? p.truths(n) : p.numbers(n), bools ? p.b() : p.x()});
    });
  add("fzn_all_different_int", [](Pool& p) { return std::vector{p.xs(p.few() + 1)}; });
  add("fzn_table_int", [](Pool& p) {
    const std::size_t n = p.few();
    return std::vector{p.xs(n), p.numbers(n * static_cast<std::size_t>(p.draws.from(1, 9)), -2, 3)};
  });
  add("fzn_table_bool", [](Pool& p) {
    const std::size_t n = p.few();
    return std::vector{p.bs(n), p.truths(2 * n)};
  });
  add("vicinity_circuit", [](Pool& p) { return std::vector{Expression::integer(p.draws.from(-1, 1)), p.xs(p.few())}; });
  add("vicinity_inverse", [](Pool& p) {
    const std::size_t n = p.few();
    return std::vector{Expression::integer(p.draws.from(-1, 1)), p.xs(n), Expression::integer(p.draws.from(-1, 1)), p.xs(n)};
  });
  add("fzn_global_cardinality", [](Pool& p) {
    const std::size_t n = static_cast<std::size_t>(p.draws.from(1, 2));
    return std::vector{p.xs(p.few() + 1), p.numbers(n), p.xs(n)};
  });
  add("fzn_cumulative", [](Pool& p) {
    const std::size_t n = static_cast<std::size_t>(p.draws.from(1, 3));
    const Expression d = p.draws.below(2) != 0 ? p.numbers(n, 0, 3) : p.xs(n);
    const Expression u = p.draws.below(2) != 0 ? p.numbers(n, 0, 2) : p.xs(n);
    return std::vector{p.xs(n), d, u, p.x()};
  });
  if (!large) return all;
  for (const char* relation : {"eq", "le", "ne"})
    conditional("int_lin_" + std::string(relation), [](Pool& p) {
      constexpr std::int64_t unit = std::int64_t{1} << 56;
      const std::size_t n = p.few();
      ModelMaker::Values a;
      for (std::size_t k = 0; k < n; ++k) a.push_back(unit * p.draws.from(-3, 4));
      return std::vector{p.maker.numbers(a), p.xs(n), Expression::integer(unit * p.draws.from(-60, 60) + p.draws.from(-1, 1))};
    });
  for (const char* relation : {"eq", "le", "ne", "lt"})
    conditional("int_" + std::string(relation), [](Pool& p) {
      const bool first = p.draws.below(2) != 0, second = !first || p.draws.below(4) == 0;
      const Expression left = first ? p.beyond() : p.x();
      return std::vector{left, second ? p.beyond() : p.x()};
    });
  add("array_int_element", [](Pool& p) {
    std::vector<Expression> elements;
    for (std::size_t k = p.few() + 2; k > 0; --k) elements.push_back(p.draws.below(3) == 0 ? p.beyond() : p.c());
    return std::vector{p.x(), p.maker.array(elements), p.x()};
  });
  return all;
}

/// For messages.
inline std::string described(const Model& model) {
  std::string text;
  for (const Constraint& c : model.constraints) {
    text += std::string(model.text(c.predicate)) + "(";
    const std::function<void(const Expression&)> show = [&](const Expression& e) {
      if (e.is(Expression::Kind::variable))
        text += "x" + std::to_string(e.value) + " ";
      else if (e.has_stretch()) {
        text += "[";
        for (const Expression& part : model.elements(e)) show(part);
        text += "] ";
      } else
        text += std::to_string(e.value) + " ";
    };
    for (const Expression& e : model.elements(c.arguments)) show(e);
    text += ") ";
  }
  return text;
}

}  // namespace vicinity::cp
