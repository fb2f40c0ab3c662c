// What is said to lie within the values of variables, against enumeration far beyond them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/problems/cp/compile.hpp"
#include "core/problems/cp/coverage.hpp"
#include "core/problems/cp/operations.hpp"
#include "core/problems/cp/store.hpp"
#include "core/util/error.hpp"
#include "tests/core/problems/cp/random_models.hpp"

namespace vicinity::cp {
namespace {

using Values = ModelMaker::Values;
constexpr std::int64_t unit = 1'000'000'000, beyond = 3 * unit;

/// A variable, in the model and in the enumeration.
struct Argument {
  Expression expression;
  std::size_t slot;
};

/// p to the q; 1 / p^-q truncated where q < 0. Beyond 2^63 no value is.
Wide power(std::int64_t p, std::int64_t q) {
  if (q == 0) return 1;
  if (p == 0 || p == 1) return p;
  if (p == -1) return q % 2 == 0 ? 1 : -1;
  if (q < 0) return 0;
  Wide result = 1;
  for (constexpr Wide most = Wide{1} << 63; q > 0 && result < most && result > -most; --q) result *= p;
  return result;
}

/// Constraints over three variables with few values, a bool and two variables without a bound, and what they mean.
class Random {
 public:
  explicit Random(std::uint64_t seed) : draws_(seed) {
    const Values some{-1, 0, 1, 2, unit, -unit, 2 * unit, greatest_value, least_value};
    for (int k = 0; k < 3; ++k) {
      Values values;
      for (std::int64_t n = draws_.from(1, 3); n > 0; --n) values.push_back(pick(some));
      variables_.push_back({maker.integer(values), domains.size()});
      domains.push_back(maker.domain(domains.size()));
    }
    condition_ = maker.boolean();
    domains.push_back({0, 1});
    Values far{-2,
               -1,
               0,
               1,
               2,
               3,
               5,
               least_value,
               greatest_value,
               least_value - 1,
               greatest_value + std::int64_t{1},
               2 * std::int64_t{greatest_value}};
    for (std::int64_t k = -6; k <= 6; ++k) far.insert(far.end(), {k * unit - 1, k * unit, k * unit + 1});
    far.insert(far.end(), {-unit * unit, unit * unit, 10 * unit});
    for (int k = 0; k < 2; ++k) {
      variables_.push_back({maker.unbounded(), domains.size()});
      domains.push_back(far);
    }
    for (std::size_t k = 3; k < 5; ++k)
      if (draws_.below(4) > 0) add(variables_[k]);
    for (std::int64_t n = draws_.from(0, 2); n > 0; --n) add();
    if (const std::int64_t goal = draws_.below(3); goal > 0) {
      const Argument best = x();
      objective = best.slot;
      maker.goal(goal == 1 ? Goal::minimise : Goal::maximise, best.expression);
    }
  }

  ModelMaker maker;
  std::vector<Values> domains;  ///< [variable of the model]
  std::size_t objective = 0;
  std::vector<std::function<bool(const Values&)>> hold;

  [[nodiscard]] bool holds(const Values& v) const {
    return std::all_of(hold.begin(), hold.end(), [&](const auto& one) { return one(v); });
  }

 private:
  template <class T>
  T pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(draws_.below(static_cast<std::int64_t>(from.size())))];
  }
  Argument x() { return pick(variables_); }
  std::vector<Argument> xs(std::int64_t n) {
    std::vector<Argument> all;
    for (; n > 0; --n) all.push_back(x());
    return all;
  }
  Expression array(const std::vector<Argument>& of) {
    std::vector<Expression> all;
    for (const Argument& one : of) all.push_back(one.expression);
    return maker.array(all);
  }
  std::int64_t number() {
    return draws_.below(2) != 0 ? draws_.from(-1, 2)
                                : pick(Values{0, 1, -1, 2, unit, -unit, beyond, -beyond, greatest_value, least_value, 5});
  }
  /// Posts it always, or if, or exactly if the bool holds.
  void post(const std::string& name, std::vector<Expression> arguments, const std::function<bool(const Values&)>& meaning,
            bool conditional) {
    const std::int64_t mode = conditional ? draws_.below(3) : 0;
    if (mode > 0) arguments.push_back(condition_);
    maker.constraint(name + (mode == 0 ? "" : mode == 1 ? "_reif" : "_imp"), arguments);
    hold.push_back([=](const Values& v) {
      return mode == 0 ? meaning(v) : mode == 1 ? meaning(v) == (v[3] == 1) : v[3] == 0 || meaning(v);
    });
  }
  /// A function that a variable is the value of, or any constraint.
  void add(std::optional<Argument> value = std::nullopt) {
    using V = const Values&;
    const Argument a = x(), b = x(), c = value.value_or(x());
    const auto three = [&](const char* name, const std::function<bool(std::int64_t, std::int64_t, std::int64_t)>& meaning) {
      post(
          name, {a.expression, b.expression, c.expression}, [=](V v) { return meaning(v[a.slot], v[b.slot], v[c.slot]); }, false);
    };
    switch (value ? draws_.below(9) : draws_.below(17)) {
      case 0:
      case 1:
      case 2: {
        const std::int64_t relation = value ? 0 : draws_.below(5) / 2;
        auto all = xs(draws_.from(1, 3));
        Values factors;
        for (std::size_t k = 0; k < all.size(); ++k) factors.push_back(draws_.from(-2, 3));
        if (value) {
          all.push_back(*value);
          factors.push_back(draws_.below(2) != 0 ? 1 : -1);
        }
        const std::int64_t rest = number();
        return post(
            relation == 0   ? "int_lin_eq"
            : relation == 1 ? "int_lin_le"
                            : "int_lin_ne",
            {maker.numbers(factors), array(all), Expression::integer(rest)},
            [=](V v) {
              Wide sum = 0;
              for (std::size_t k = 0; k < all.size(); ++k) sum += Wide{factors[k]} * v[all[k].slot];
              return relation == 0 ? sum == rest : relation == 1 ? sum <= rest : sum != rest;
            },
            !value);
      }
      case 3:
        return three("int_times", [](auto p, auto q, auto r) { return Wide{p} * q == r; });
      case 4:
        return three("int_max", [](auto p, auto q, auto r) { return std::max(p, q) == r; });
      case 5:
        return three("int_min", [](auto p, auto q, auto r) { return std::min(p, q) == r; });
      case 6:
        return post(
            "int_abs", {a.expression, c.expression}, [=](V v) { return (v[a.slot] < 0 ? -v[a.slot] : v[a.slot]) == v[c.slot]; }, false);
      case 7: {
        const Values elements{number(), number(), number()};
        return post(
            "array_int_element", {a.expression, maker.numbers(elements), c.expression},
            [=](V v) { return v[a.slot] >= 1 && v[a.slot] <= 3 && elements[static_cast<std::size_t>(v[a.slot] - 1)] == v[c.slot]; }, false);
      }
      case 8: {
        const auto all = xs(2);
        return post(
            "array_var_int_element", {a.expression, array(all), c.expression},
            [=](V v) { return v[a.slot] >= 1 && v[a.slot] <= 2 && v[all[static_cast<std::size_t>(v[a.slot] - 1)].slot] == v[c.slot]; },
            false);
      }
      case 9:
      case 10: {
        const std::int64_t relation = draws_.below(3), rest = number();
        const bool fixed = draws_.below(2) != 0;
        return post(
            relation == 0   ? "int_le"
            : relation == 1 ? "int_eq"
                            : "int_ne",
            {a.expression, fixed ? Expression::integer(rest) : b.expression},
            [=](V v) {
              const std::int64_t right = fixed ? rest : v[b.slot];
              return relation == 0 ? v[a.slot] <= right : relation == 1 ? v[a.slot] == right : v[a.slot] != right;
            },
            true);
      }
      case 11:
        return three("int_div", [](auto p, auto q, auto r) { return q != 0 && p / q == r; });
      case 12:
        return three("int_mod", [](auto p, auto q, auto r) { return q != 0 && p % q == r; });
      case 13: {
        Values rows;
        for (std::int64_t k = 2 * draws_.from(1, 4); k > 0; --k) rows.push_back(number());
        return post(
            "fzn_table_int", {maker.array({a.expression, b.expression}), maker.numbers(rows)},
            [=](V v) {
              for (std::size_t k = 0; k < rows.size(); k += 2)
                if (rows[k] == v[a.slot] && rows[k + 1] == v[b.slot]) return true;
              return false;
            },
            false);
      }
      case 14: {
        Values set{number(), number(), number()};
        const Expression values = draws_.below(2) != 0 ? maker.set(set) : maker.interval(set[0], set[1]);
        const bool range = values.is(Expression::Kind::interval);
        return post(
            "set_in", {a.expression, values},
            [=](V v) {
              return range ? set[0] <= v[a.slot] && v[a.slot] <= set[1] : std::find(set.begin(), set.end(), v[a.slot]) != set.end();
            },
            true);
      }
      case 15:
        return three("int_pow", [](auto p, auto q, auto r) { return (p != 0 || q >= 0) && power(p, q) == r; });
      default:
        return post(
            "fzn_all_different_int", {maker.array({a.expression, b.expression, c.expression})},
            [=](V v) { return v[a.slot] != v[b.slot] && v[a.slot] != v[c.slot] && v[b.slot] != v[c.slot]; }, false);
    }
  }

  Draws draws_;
  std::vector<Argument> variables_;
  Expression condition_;
};

bool within(const Values& values) {
  return std::all_of(values.begin(), values.end(), [](std::int64_t v) { return least_value <= v && v <= greatest_value; });
}

TEST(Coverage, OfRandomModelsAgainstEnumeration) {
  int covered = 0, better = 0, bounded = 0, open = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    const Random random(seed);
    const Model& model = random.maker.model();
    const std::string what = described(model) + " seed " + std::to_string(seed);
    CompiledModel compiled;
    try {
      compiled = compile(model);
    } catch (const InputError& error) {  // of a product with a large number
      EXPECT_TRUE(std::string(error.what()).ends_with("a linear sum could leave 62 bits")) << what;
      continue;
    }
    const Store root(*compiled.network);
    Values values(random.domains.size());
    bool inside = false, outside = false, lost = false, lost_better = false, beats_best = false;
    const std::function<void(std::size_t)> enumerate = [&](std::size_t x) {
      if (x < values.size()) {
        for (const std::int64_t v : random.domains[x]) {
          values[x] = v;
          enumerate(x + 1);
        }
        return;
      }
      if (!random.holds(values)) return;
      if (const auto best = compiled.best_objective; best && model.goal != Goal::satisfy)
        beats_best |= model.goal == Goal::minimise ? values[random.objective] < *best : values[random.objective] > *best;
      if (within(values)) {
        inside = true;
        lost |= compiled.network->failed();
        for (std::size_t k = 0; k < values.size(); ++k) lost |= !root.contains(compiled.variable_of[k], values[k]);
        return;
      }
      outside = true;
      const std::int64_t objective = values[random.objective];
      lost_better |= model.goal == Goal::satisfy || (model.goal == Goal::minimise ? objective <= greatest_value : objective >= least_value);
    };
    enumerate(0);
    EXPECT_FALSE(lost) << what;
    EXPECT_FALSE(outside && !compiled.clipped) << what;
    EXPECT_FALSE(lost_better && !compiled.best_clipped) << what;
    EXPECT_TRUE(compiled.clipped || !compiled.best_clipped) << what;
    EXPECT_FALSE(beats_best) << what;
    bounded += inside && compiled.best_clipped && compiled.best_objective.has_value();
    covered += inside && !compiled.clipped;
    better += inside && compiled.clipped && !compiled.best_clipped;
    open += outside;
  }
  EXPECT_GT(covered, 100);
  EXPECT_GT(better, 5);
  EXPECT_GT(bounded, 50);
  EXPECT_GT(open, 300);
}

/// Functions of variables, of which many have no bound on a side or on both, with a solution that is known.
class Planted {
 public:
  explicit Planted(std::uint64_t seed) : draws_(seed) {
    for (std::int64_t n = draws_.from(1, 4); n > 0; --n) add(value());
    for (std::int64_t n = draws_.from(1, 6); n > 0; --n) add();
    objective = some();
  }

  Draft draft;
  Values solution{1};  ///< [variable]
  Var objective = 0;

 private:
  static constexpr std::int64_t most = std::int64_t{1} << 60;

  Var some() { return static_cast<Var>(draws_.from(1, static_cast<std::int64_t>(solution.size()) - 1)); }
  std::int64_t value() {
    if (draws_.below(2) != 0) return draws_.from(-9, 9);
    const std::int64_t one = Values{46341,
                                    unit,
                                    greatest_value,
                                    2 * std::int64_t{greatest_value},
                                    std::int64_t{1} << 40,
                                    std::int64_t{1} << 50}[static_cast<std::size_t>(draws_.below(6))];
    return (draws_.below(2) != 0 ? one : -one) + draws_.from(-2, 2);
  }
  Var add(std::int64_t v) {
    const auto away = [&] { return draws_.below(3) * draws_.from(0, 9); };
    const std::int64_t low = draws_.below(5) < 3 ? -unlimited : v - away(), high = draws_.below(5) < 3 ? unlimited : v + away();
    solution.push_back(v);
    return draft.add_variable(low, high);
  }
  /// A function of two variables whose value is one, too: a new one, or one that has it.
  void add() {
    const Var x = some(), y = some();
    const std::int64_t a = solution[static_cast<std::size_t>(x)], b = solution[static_cast<std::size_t>(y)];
    constexpr std::array kinds{Kind::times, Kind::divide, Kind::modulo, Kind::power, Kind::maximum, Kind::minimum, Kind::absolute};
    const Kind kind = kinds[static_cast<std::size_t>(draws_.below(kinds.size()))];
    if ((kind == Kind::divide || kind == Kind::modulo) && b == 0) return;
    if (kind == Kind::power && a == 0 && b < 0) return;
    const Wide result = kind == Kind::times          ? Wide{a} * b
                        : kind == Kind::divide       ? a / b
                        : kind == Kind::modulo       ? a % b
                        : kind == Kind::power        ? power(a, b)
                        : kind == Kind::maximum      ? std::max(a, b)
                        : kind == Kind::minimum      ? std::min(a, b)
                        : /* Kind::absolute */ a < 0 ? -a
                                                     : a;
    if (result >= most || result <= -most) return;
    const auto value = static_cast<std::int64_t>(result);
    const auto same = std::find(solution.begin() + 1, solution.end(), value);
    const Var z = same != solution.end() && draws_.below(2) != 0 ? static_cast<Var>(same - solution.begin()) : add(value);
    if (kind == Kind::absolute)
      draft.add(kind, {x, z});
    else if (kind == Kind::maximum || kind == Kind::minimum)
      draft.add(kind, {z, x, y});
    else
      draft.add(kind, {x, y, z});
  }

  Draws draws_;
};

TEST(Coverage, NeverLosesAPlantedSolution) {
  int covered = 0, better = 0, bounded = 0, open = 0;
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    Planted planted(seed);
    const bool inside = within(planted.solution);
    const std::int64_t objective = planted.solution[static_cast<std::size_t>(planted.objective)];
    for (const Goal goal : {Goal::minimise, Goal::maximise}) {
      const bool least = goal == Goal::minimise;
      const Coverage coverage = coverage_of(planted.draft, goal, planted.objective);
      EXPECT_TRUE(inside || !coverage.all) << seed;
      EXPECT_TRUE(inside || !coverage.better || (least ? objective > greatest_value : objective < least_value)) << seed;
      EXPECT_TRUE(!coverage.best || (least ? objective >= *coverage.best : objective <= *coverage.best)) << seed;
      covered += coverage.all;
      better += coverage.better && !coverage.all;
      bounded += coverage.best.has_value();
      open += !inside;
    }
    if (!inside) continue;
    planted.draft.cut_domains();
    const Network network(planted.draft);
    ASSERT_FALSE(network.failed()) << seed;
    const Store root(network);
    for (std::size_t x = 0; x < planted.solution.size(); ++x) EXPECT_TRUE(root.contains(static_cast<Var>(x), planted.solution[x])) << seed;
  }
  EXPECT_GT(covered, 1000);
  EXPECT_GT(better, 300);
  EXPECT_GT(bounded, 1000);
  EXPECT_GT(open, 10'000);
}

/// Values of functions of open variables lie within, though more than one of a constraint is open.
TEST(Coverage, OfFunctionsWithSeveralOpenVariables) {
  using Post = std::function<void(ModelMaker&, const Expression&, const Expression&)>;
  const auto number = [](std::int64_t value) { return Expression::integer(value); };
  const auto covers = [](const Post& post) {
    ModelMaker maker;
    const Expression x = maker.unbounded(), y = maker.unbounded();
    post(maker, x, y);
    const CompiledModel compiled = compile(maker.model());
    return !compiled.clipped;
  };
  EXPECT_TRUE(covers([&](auto& m, auto& x, auto& y) { m.constraint("int_times", {x, y, number(12)}); }));
  EXPECT_FALSE(covers([&](auto& m, auto& x, auto& y) { m.constraint("int_times", {x, y, number(0)}); }));
  EXPECT_FALSE(covers([&](auto& m, auto& x, auto& y) { m.constraint("int_div", {x, y, number(1)}); }));
  EXPECT_FALSE(covers([&](auto& m, auto& x, auto& y) { m.constraint("int_mod", {x, number(7), y}); }));
  EXPECT_TRUE(covers([&](auto& m, auto& x, auto& y) {
    m.constraint("int_div", {m.integer(5, 100), x, y}), m.constraint("int_le", {number(1), y});
  }));
  EXPECT_FALSE(covers([&](auto& m, auto& x, auto& y) { m.constraint("int_div", {m.integer(5, 100), x, y}); }));
  EXPECT_TRUE(covers([&](auto& m, auto& x, auto& y) {
    m.constraint("int_pow", {x, m.integer(1, 3), y}), m.constraint("int_mod", {m.integer(-9, 9), m.integer(2, 4), y});
  }));
  EXPECT_FALSE(covers([&](auto& m, auto& x, auto& y) {
    m.constraint("int_pow", {x, m.integer(0, 3), y}), m.constraint("int_mod", {m.integer(-9, 9), m.integer(2, 4), y});
  }));
  EXPECT_TRUE(covers([&](auto& m, auto& x, auto& y) {
    m.constraint("int_pow", {m.integer(2, 3), x, y}), m.constraint("int_le", {number(1), y}), m.constraint("int_le", {y, number(1000)});
    m.constraint("int_le", {number(0), x});
  }));
}

/// Without a bound of a variable the objective may have one: a solution with that is the best.
TEST(Coverage, OfAnObjectiveThatIsBounded) {
  const auto best = [](const char* name, Goal goal, std::int64_t low) {
    ModelMaker maker;
    const Expression x = maker.unbounded(), y = maker.integer(low, 7), z = maker.unbounded();
    maker.constraint(name, {x, y, z});
    maker.goal(goal, z);
    const CompiledModel compiled = compile(maker.model());
    EXPECT_TRUE(compiled.best_clipped);
    return compiled.best_objective;
  };
  EXPECT_EQ(best("int_mod", Goal::maximise, -9), 8);
  EXPECT_EQ(best("int_mod", Goal::minimise, 2), -6);
  EXPECT_EQ(best("int_max", Goal::minimise, 2), 2);
  EXPECT_EQ(best("int_min", Goal::maximise, 2), 7);
  EXPECT_EQ(best("int_times", Goal::maximise, 2), std::nullopt);
  EXPECT_EQ(best("int_pow", Goal::minimise, 2), std::nullopt);
}

/// Rules that divide by bounds are not asked where a variable has no value left.
TEST(Coverage, OfAVariableWithoutAValue) {
  ModelMaker maker;
  const Expression x = maker.unbounded(), y = maker.unbounded();
  maker.constraint("int_le", {Expression::integer(greatest_value + std::int64_t{1}), x});
  maker.constraint("int_lin_eq", {maker.numbers({2, 1}), maker.array({x, y}), Expression::integer(-5)});
  maker.constraint("int_times", {y, x, x});
  EXPECT_FALSE(compile(maker.model()).clipped);
}

/// What has no value here alone because the greatest is taken has one beyond it.
TEST(Coverage, AnEndThatIsTakenIsNoBound) {
  const std::int64_t last = greatest_value;
  using Post = std::function<void(ModelMaker&, const Expression&)>;
  for (const Post& post : std::vector<Post>{
           [&](ModelMaker&maker, const Expression&x) {
             maker.constraint("int_ne", {x, Expression::integer(last)});
           },
           [&](ModelMaker&maker, const Expression&x) {
             maker.constraint("int_ne", {x, maker.integer(last, last)});
           },
           [&](ModelMaker&maker, const Expression&x) {
             maker.constraint("int_lin_ne", {maker.numbers({1, 2}), maker.array({x, maker.integer(0, 0)}), Expression::integer(last)});
           },
           [&](ModelMaker&maker, const Expression&x) {
             const Expression y = maker.integer(last - 1, last), z = maker.integer(last - 1, last);
             maker.constraint("fzn_all_different_int", {maker.array({x, y, z})});
           },
           [&](ModelMaker&maker, const Expression&x) {
             const Expression b = maker.boolean(), number = maker.integer(-1, -1);
             maker.constraint("set_in_reif", {x, maker.set({3, 5, last}), b});
             maker.constraint("int_le_reif", {Expression::integer(0), number, b});
           },
           [&](ModelMaker&maker, const Expression&x) {
             maker.constraint("fzn_global_cardinality",
                              {maker.array({x, maker.integer(0, 3)}), maker.numbers({last}), maker.array({Expression::integer(0)})});
           },
           [&](ModelMaker&maker, const Expression&x) {
             maker.constraint("set_in", {x, maker.set({3, 5, 3 * unit})});
           },
           [&](ModelMaker&maker, const Expression&x) {
             maker.constraint("int_lt", {Expression::integer(last), x});
           }}) {
    ModelMaker maker;
    const Expression x = maker.unbounded();
    post(maker, x);
    maker.constraint("int_le", {Expression::integer(last), x});
    const CompiledModel compiled = compile(maker.model());
    EXPECT_TRUE(compiled.network->failed() && compiled.clipped) << described(maker.model());
  }
}

}  // namespace
}  // namespace vicinity::cp
