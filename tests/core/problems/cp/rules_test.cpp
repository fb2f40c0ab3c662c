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
#include "tests/core/problems/cp/random_models.hpp"

namespace vicinity::cp {
namespace {

using Assignment = std::vector<std::int32_t>;

/// All of them; durations and uses are taken not to be negative.
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
  const NetworkView view = network.view();
  rules::OwnWorkspace work(view);
  std::vector<std::int32_t> order(static_cast<std::size_t>(network.constraints()));
  std::iota(order.begin(), order.end(), 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t k = order.size(); k > 1; --k)
      std::swap(order[k - 1], order[static_cast<std::size_t>(draws.below(static_cast<std::int64_t>(k)))]);
    for (const std::int32_t c : order) {
      if (!rules::propagate(view.kind[c], scope_of(view, c), store, work.view())) return false;
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

TEST(Rules, EachPredicateAgainstEnumeration) {
  std::uint64_t seed = 1;
  for (const auto& [name, post] : predicates(true))
    for (int k = 0; k < 60; ++k) {
      Draws draws(seed++);
      Pool pool(draws, k % 3 == 0);
      post(pool);
      examine(pool, draws, described(pool.maker.model()) + " seed " + std::to_string(seed - 1));
      if (::testing::Test::HasFailure()) return;
    }
}

TEST(Rules, SeveralPredicatesTogether) {
  const auto all = predicates(true);
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    Draws draws(seed + 1000000);
    Pool pool(draws, seed % 4 == 0);
    for (std::int64_t k = draws.from(2, 4); k > 0; --k)
      all[static_cast<std::size_t>(draws.below(static_cast<std::int64_t>(all.size())))].second(pool);
    examine(pool, draws, described(pool.maker.model()) + " seed " + std::to_string(seed));
    if (::testing::Test::HasFailure()) return;
  }
}

/// Without tasks even a limit below 0 holds.
TEST(Rules, NoTasksHaveNoLimit) {
  Draws draws(1);
  Pool pool(draws, false);
  pool.integers[0] = pool.maker.integer(-5, 5);
  const Expression none = pool.maker.array({});
  pool.maker.constraint("fzn_cumulative", {none, none, none, pool.integers[0]});
  examine(pool, draws, described(pool.maker.model()));
}

/// A square bounds its root at once, by no steps of one value each, and of a number that is none there is no root.
TEST(Rules, SquaresKnowTheirRoots) {
  const auto root = [](std::int64_t from, std::int64_t to, std::int64_t low, std::int64_t high) {
    ModelMaker maker;
    const Expression x = maker.integer(from, to), z = maker.integer(low, high);
    maker.constraint("int_times", {x, x, z});
    const CompiledModel compiled = compile(maker.model());
    if (compiled.network->failed()) return std::string("none");
    Store store(*compiled.network);
    Propagation propagation(*compiled.network);
    if (!propagation.all(store)) return std::string("none");
    const Var found = compiled.variable_of[0];
    return std::to_string(store.lower(found)) + ".." + std::to_string(store.upper(found));
  };
  EXPECT_EQ(root(0, 2'000'000'000, 1'000'000, 1'002'000), "1000..1000");
  EXPECT_EQ(root(-2'000'000'000, 5, 1'000'000, 1'002'001), "-1001..-1000");
  EXPECT_EQ(root(-46'340, 46'340, 0, 2'147'483'646), "-46340..46340");
  EXPECT_EQ(root(-9, 9, 10, 80), "-8..8");
  EXPECT_EQ(root(0, 2'000'000'000, 1'000'003, 1'000'003), "none");
  EXPECT_EQ(root(-3, 3, 0, 0), "0..0");
}

}  // namespace
}  // namespace vicinity::cp
