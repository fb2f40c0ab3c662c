#include "core/problems/cp/evaluation.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/problems/cp/oracle.hpp"
#include "tests/core/problems/cp/random_models.hpp"

namespace vicinity::cp {
namespace {

/// Values of the model's variables: random from the domains (or a little beyond), evaluated; compared with the oracle.
void examine(const Model& model, const ModelMaker& maker, Draws& draws, std::int64_t& solutions) {
  const Evaluation evaluation(model);
  for (int round = 0; round < 30; ++round) {
    std::vector<std::int32_t> slots = evaluation.slots();
    for (const std::int32_t x : evaluation.free_variables()) {
      const auto domain = maker.domain(static_cast<std::size_t>(x));
      slots[static_cast<std::size_t>(x)] =
          static_cast<std::int32_t>(domain[static_cast<std::size_t>(draws.below(static_cast<std::int64_t>(domain.size())))]);
      if (draws.below(30) == 0 && !model.variables[static_cast<std::size_t>(x)].boolean) ++slots[static_cast<std::size_t>(x)];
    }
    const bool holds = evaluation.evaluate(slots) == 0;
    slots.resize(model.variables.size());
    EXPECT_EQ(holds, complaint(model, slots).empty()) << complaint(model, slots);
    solutions += holds ? 1 : 0;
  }
}

TEST(Evaluation, EachPredicateAsTheOracleSays) {
  std::uint64_t seed = 1;
  std::int64_t solutions = 0;
  for (const auto& [name, post] : predicates(true))
    for (int k = 0; k < 20; ++k) {
      Draws draws(seed++);
      Pool pool(draws, k % 4 == 0);
      post(pool);
      examine(pool.maker.model(), pool.maker, draws, solutions);
      if (::testing::Test::HasFailure()) FAIL() << described(pool.maker.model());
    }
  EXPECT_GT(solutions, 5000);
}

/// Models of up to four constraints: note(pool, draws) after each, say(model, draws) at last.
template <class Note, class Say>
void examine_models(std::uint64_t seeds, Note note, Say say) {
  const auto all = predicates(true);
  std::int64_t solutions = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    Draws draws(seed + seeds);
    Pool pool(draws, false);
    for (std::int64_t k = draws.from(1, 4); k > 0; --k) {
      all[static_cast<std::size_t>(draws.below(static_cast<std::int64_t>(all.size())))].second(pool);
      note(pool, draws);
    }
    Model model = pool.maker.model();
    say(model, draws);
    examine(model, pool.maker, draws, solutions);
    if (::testing::Test::HasFailure()) FAIL() << described(model);
  }
  EXPECT_GT(solutions, 5000);
}

TEST(Evaluation, DefinitionsWhateverTheyDefine) {
  const auto note = [](Pool& pool, Draws& draws) {
    const auto& variables = draws.below(2) != 0 ? pool.integers : pool.booleans;  // often one that it cannot define, or that is defined
    pool.maker.defines(variables[static_cast<std::size_t>(draws.below(static_cast<std::int64_t>(variables.size())))]);
  };
  examine_models(77, note, [](Model&, Draws&) {});
}

TEST(Evaluation, AnObjectiveIsDefinedWithoutAnnotation) {
  ModelMaker maker;
  const Expression a = maker.integer(0, 9), b = maker.integer(0, 9), c = maker.integer(0, 99), d = maker.integer(0, 99);
  maker.constraint("int_lin_eq", {maker.numbers({2, 1, -1}), maker.array({a, b, c}), Expression::integer(0)});
  maker.constraint("int_max", {a, b, d});
  for (const Expression& objective : {c, d}) {
    Model model = maker.model();
    model.goal = Goal::minimise;
    model.objective = objective;
    const Evaluation evaluation(model);
    EXPECT_EQ(evaluation.free_variables().size(), 3u);
    std::vector<std::int32_t> slots = evaluation.slots();
    slots[0] = 4;
    slots[1] = 3;
    slots[static_cast<std::size_t>(c.value)] = 11;
    slots[static_cast<std::size_t>(d.value)] = 4;
    slots[static_cast<std::size_t>(objective.value)] = 0;
    EXPECT_EQ(evaluation.evaluate(slots), 0);
    EXPECT_EQ(slots[static_cast<std::size_t>(objective.value)], objective.value == c.value ? 11 : 4);
  }
}

/// As MiniZinc writes elements of arrays of two dimensions: the variable says that it is defined, no constraint that it defines it.
TEST(Evaluation, VariablesAreDefinedWithoutAnnotationOfTheConstraint) {
  ModelMaker maker;
  const Expression i = maker.integer(1, 3), e = maker.integer(0, 99), s = maker.integer(0, 99), twice = maker.integer(0, 99);
  maker.constraint("array_int_element", {i, maker.numbers({5, 7, 9}), e});
  maker.constraint("int_lin_eq", {maker.numbers({2, -1, -1}), maker.array({e, i, s}), Expression::integer(0)});
  maker.constraint("int_plus", {s, s, twice});
  Model model = maker.model();
  EXPECT_EQ(Evaluation(model).free_variables().size(), 4u);
  for (const Expression& one : {e, s, twice}) model.variables[static_cast<std::size_t>(one.value)].defined = true;
  const Evaluation evaluation(model);
  ASSERT_EQ((std::vector<std::int32_t>(evaluation.free_variables().begin(), evaluation.free_variables().end())),
            std::vector<std::int32_t>{static_cast<std::int32_t>(i.value)});
  std::vector<std::int32_t> slots = evaluation.slots();
  slots[static_cast<std::size_t>(i.value)] = 2;
  EXPECT_EQ(evaluation.evaluate(slots), 0);
  EXPECT_EQ(slots[static_cast<std::size_t>(twice.value)], 2 * (2 * 7 - 2));
}

TEST(Evaluation, WhateverIsSaidToBeDefined) {
  const auto say = [](Model& model, Draws& draws) {
    for (Variable& variable : model.variables) variable.defined = draws.below(2) == 0;
  };
  examine_models(
      7777, [](Pool&, Draws&) {}, say);
}

TEST(Evaluation, LevelsFollowDefinitions) {
  ModelMaker maker;
  const Expression a = maker.integer(0, 9), b = maker.integer(0, 9), c = maker.integer(0, 99), d = maker.integer(0, 999),
                   even = maker.boolean();
  const Expression two = Expression::integer(2);
  maker.constraint("int_times", {c, c, d});
  maker.defines(d);
  maker.constraint("int_lin_eq", {maker.numbers({1, -1, 3}), maker.array({a, c, b}), Expression::integer(0)});
  maker.defines(c);
  maker.constraint("int_le_reif", {d, Expression::integer(100), even});
  maker.defines(even);
  maker.constraint("int_ne", {a, two});
  const Evaluation evaluation(maker.model());
  EXPECT_EQ((std::vector<std::int32_t>(evaluation.free_variables().begin(), evaluation.free_variables().end())),
            (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ((std::vector<std::int32_t>(evaluation.level_begin().begin(), evaluation.level_begin().end())),
            (std::vector<std::int32_t>{0, 1, 2, 3, 9}));
  std::vector<std::int32_t> slots = evaluation.slots();
  slots[0] = 4;
  slots[1] = 3;
  EXPECT_EQ(evaluation.evaluate(slots), 0);
  EXPECT_EQ((std::vector<std::int32_t>(slots.begin(), slots.begin() + 5)), (std::vector<std::int32_t>{4, 3, 13, 169, 0}));
  slots[0] = 2;
  EXPECT_EQ(evaluation.evaluate(slots), 1);
  slots[0] = 9;
  slots[1] = 9;  // 36 squared is above 999
  EXPECT_EQ(evaluation.evaluate(slots), 1);
}

}  // namespace
}  // namespace vicinity::cp
