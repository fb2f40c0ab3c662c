// Every predicate against enumeration: no solution is lost, what is found is a solution, and the fixpoint does not depend on the order.
#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "core/problems/cp/compile.hpp"
#include "core/problems/cp/oracle.hpp"
#include "core/problems/cp/propagation.hpp"
#include "tests/core/problems/cp/model_maker.hpp"

namespace vicinity::cp {
namespace {

using Assignment = std::vector<std::int32_t>;

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
  std::size_t few() { return static_cast<std::size_t>(draws.from(1, 4)); }
};

using Post = std::function<void(Pool&)>;

/// All predicates of the compiler, and how arguments are drawn.
std::vector<std::pair<std::string, Post>> predicates() {
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
  return all;
}

/// Does `values` break what a predicate takes for granted (durations and uses are not negative)?
std::vector<Assignment> solutions_of(const ModelMaker& maker, bool cumulative) {
  const Model& model = maker.model();
  std::vector<ModelMaker::Values> domains;
  for (std::size_t x = 0; x < model.variables.size(); ++x) domains.push_back(maker.domain(x));
  std::vector<Assignment> found;
  Assignment values(domains.size());
  std::vector<bool> used(domains.size(), false);  // variables of no constraint keep their first value
  for (const Expression& e : model.pool)
    if (e.is(Expression::Kind::variable)) used[static_cast<std::size_t>(e.value)] = true;
  const auto not_negative = [&](const Expression& array) {
    for (const Expression& e : model.elements(array))
      if ((e.is(Expression::Kind::variable) ? values[static_cast<std::size_t>(e.value)] : e.value) < 0) return false;
    return true;
  };
  const std::function<void(std::size_t)> enumerate = [&](std::size_t x) {
    if (x == domains.size()) {
      if (!complaint(model, values).empty()) return;
      if (cumulative)
        for (const Constraint& c : model.constraints)
          if (model.text(c.predicate) == "fzn_cumulative" &&
              !(not_negative(model.elements(c.arguments)[1]) && not_negative(model.elements(c.arguments)[2])))
            return;
      found.push_back(values);
      return;
    }
    for (const auto v : domains[x]) {
      values[x] = static_cast<std::int32_t>(v);
      enumerate(x + 1);
      if (!used[x]) break;
    }
  };
  enumerate(0);
  return found;
}

/// The domains of a store, or nothing where propagation failed.
std::string picture(const Network& network, const Store& store, bool failed) {
  if (failed) return "failed";
  std::string text;
  for (Var x = 0; x < network.variables(); ++x) {
    text += std::to_string(x) + ":";
    if (!store.masked(x)) {
      text += std::to_string(store.lower(x)) + ".." + std::to_string(store.upper(x)) + " ";
      continue;
    }
    for (std::int64_t v = store.lower(x); v <= store.upper(x); ++v)
      if (store.contains(x, v)) text += std::to_string(v) + ",";
    text += " ";
  }
  return text;
}

/// All rules in random order until nothing changes.
bool propagate_at_random(const Network& network, Store& store, Draws& draws) {
  rules::Workspace work;
  const NetworkView view = network.view();
  std::vector<std::int32_t> order(static_cast<std::size_t>(network.constraints()));
  std::iota(order.begin(), order.end(), 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t k = order.size(); k > 1; --k)
      std::swap(order[k - 1], order[static_cast<std::size_t>(draws.below(static_cast<std::int64_t>(k)))]);
    for (const std::int32_t c : order) {
      if (!rules::propagate(view.kind[c], scope_of(view, c), store, work)) return false;
      store.changes([&](Var, std::uint8_t) { changed = true; });
    }
  }
  return true;
}

void count_solutions(const Network& network, const CompiledModel& compiled, Store& store, Propagation& propagation,
                     std::set<Assignment>& found) {
  Var open = -1;
  for (Var x = 0; x < network.variables() && open < 0; ++x)
    if (!store.is_fixed(x)) open = x;
  if (open < 0) {
    Assignment values;
    for (const Var x : compiled.variable_of) values.push_back(static_cast<std::int32_t>(store.lower(x)));
    found.insert(values);
    return;
  }
  const std::int64_t v = store.lower(open);
  for (const bool first : {true, false}) {
    store.push();
    if ((first ? store.assign(open, v) : store.raise(open, v + 1)) && propagation.changed(store))
      count_solutions(network, compiled, store, propagation, found);
    store.undo();
  }
}

void examine(Pool& pool, Draws& draws, const std::string& what) {
  const std::vector<Assignment> solutions = solutions_of(pool.maker, true);
  const CompiledModel compiled = compile(pool.maker.model());
  const Network& network = *compiled.network;
  if (network.failed()) {
    EXPECT_TRUE(solutions.empty()) << what << ": solutions are lost at the root";
    return;
  }
  // Variables of no constraint have one value in the enumeration: keep to it.
  std::vector<bool> used(compiled.variable_of.size(), false);
  for (const Expression& e : pool.maker.model().pool)
    if (e.is(Expression::Kind::variable)) used[static_cast<std::size_t>(e.value)] = true;
  const auto keep_to_first = [&](Store& store) {
    for (std::size_t x = 0; x < used.size(); ++x)
      if (!used[x] && !store.assign(compiled.variable_of[x], pool.maker.domain(x)[0])) ADD_FAILURE() << what;
  };
  {
    Store store(network);
    Propagation propagation(network);
    keep_to_first(store);
    std::set<Assignment> found;
    if (propagation.all(store)) count_solutions(network, compiled, store, propagation, found);
    ASSERT_EQ(found, (std::set<Assignment>(solutions.begin(), solutions.end()))) << what;
  }
  for (int round = 0; round < 3; ++round) {
    // Below random restrictions: at once by the queue, at once in random order, and with propagation in between.
    Store queue(network), random(network), between(network);
    Propagation first(network), second(network);
    bool ok = true, ok_between = second.all(between);
    for (std::int64_t k = draws.below(4); k > 0 && ok; --k) {
      const std::uint64_t seed = static_cast<std::uint64_t>(draws.below(std::int64_t{1} << 60));
      Draws same(seed);
      Store& store = queue;
      const auto x = static_cast<Var>(same.below(network.variables()));
      const std::int64_t low = store.lower(x), high = store.upper(x), v = same.from(low, high);
      const std::int64_t action = same.below(3);
      const auto apply = [&](Store& to) {
        return action == 0 ? to.raise(x, v) : action == 1 ? to.cut(x, v) : !store.masked(x) || low == high || to.remove(x, v);
      };
      ok_between = ok_between && apply(between) && second.changed(between);
      const bool ok_random = apply(random);
      ok = apply(queue);
      EXPECT_EQ(ok, ok_random);
    }
    if (!ok) {
      EXPECT_FALSE(ok_between);
      continue;
    }
    const bool ok_queue = first.all(queue), ok_random = propagate_at_random(network, random, draws);
    const std::string expected = picture(network, queue, !ok_queue);
    EXPECT_EQ(expected, picture(network, random, !ok_random)) << what << ": the order matters";
    EXPECT_EQ(expected, picture(network, between, !ok_between)) << what << ": not monotone";
  }
}

std::string described(const Model& model) {
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

TEST(Rules, EachPredicateAgainstEnumeration) {
  std::uint64_t seed = 1;
  for (const auto& [name, post] : predicates())
    for (int k = 0; k < 60; ++k) {
      Draws draws(seed++);
      Pool pool(draws, k % 3 == 0);
      post(pool);
      examine(pool, draws, described(pool.maker.model()) + " seed " + std::to_string(seed - 1));
      if (::testing::Test::HasFailure()) return;
    }
}

TEST(Rules, SeveralPredicatesTogether) {
  const auto all = predicates();
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    Draws draws(seed + 1000000);
    Pool pool(draws, seed % 4 == 0);
    for (std::int64_t k = draws.from(2, 4); k > 0; --k)
      all[static_cast<std::size_t>(draws.below(static_cast<std::int64_t>(all.size())))].second(pool);
    examine(pool, draws, described(pool.maker.model()) + " seed " + std::to_string(seed));
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace vicinity::cp
