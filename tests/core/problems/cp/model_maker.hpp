#pragma once
// Models made by hand or at random.
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/problems/cp/model.hpp"
#include "core/util/rng.hpp"

namespace vicinity::cp {

class ModelMaker {
 public:
  using Values = std::vector<std::int64_t>;

  ModelMaker() { model_.file = "made"; }

  Expression integer(Values domain) { return variable(false, set(std::move(domain))); }
  Expression integer(std::int64_t low, std::int64_t high) { return variable(false, interval(low, high)); }
  /// `var int` alone.
  Expression unbounded() {
    const Expression x = integer(least_value, greatest_value);
    model_.variables.back().unbounded = true;
    return x;
  }
  Expression boolean() { return variable(true, interval(0, 1)); }
  Expression array(const std::vector<Expression>& elements) { return stretch(Expression::Kind::array, elements); }
  Expression numbers(const Values& values) {
    std::vector<Expression> elements;
    for (const auto value : values) elements.push_back(Expression::integer(value));
    return array(elements);
  }
  Expression set(Values values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    std::vector<Expression> elements;
    for (const auto value : values) elements.push_back(Expression::integer(value));
    return stretch(Expression::Kind::set, elements);
  }
  Expression interval(std::int64_t low, std::int64_t high) {
    return stretch(Expression::Kind::interval, {Expression::integer(low), Expression::integer(high)});
  }
  void constraint(const std::string& predicate, const std::vector<Expression>& arguments) {
    const Expression all = stretch(Expression::Kind::array, arguments);
    const auto line = static_cast<std::uint32_t>(model_.constraints.size() + 1);
    model_.constraints.push_back({name(predicate), line, {static_cast<std::uint32_t>(all.value), all.size}, {}});
  }
  /// Annotates the last constraint.
  void defines(Expression variable) {
    const Expression call = stretch(Expression::Kind::call, {{Expression::Kind::atom, 0, name("defines_var")}, variable});
    const Expression notes = stretch(Expression::Kind::array, {call});
    model_.constraints.back().annotations = {static_cast<std::uint32_t>(notes.value), notes.size};
  }
  /// The last variable is one that the compiler of the model makes.
  void introduced() { model_.variables.back().introduced = true; }
  void goal(Goal goal, Expression objective) {
    model_.goal = goal;
    model_.objective = objective;
  }
  [[nodiscard]] const Model& model() const { return model_; }

  /// The values a variable's domain states.
  [[nodiscard]] Values domain(std::size_t x) const {
    Values values;
    const Expression& domain = model_.variables[x].domain;
    const auto elements = model_.elements(domain);
    if (domain.is(Expression::Kind::interval)) {
      for (std::int64_t v = elements[0].value; v <= elements[1].value; ++v) values.push_back(v);
    } else {
      for (const Expression& element : elements) values.push_back(element.value);
    }
    return values;
  }

 private:
  Name name(const std::string& text) {
    const auto [at, added] = names_.try_emplace(text, static_cast<Name>(model_.name_ends.size()));
    if (added) {
      model_.characters += text;
      model_.name_ends.push_back(model_.characters.size());
    }
    return at->second;
  }
  Expression variable(bool boolean, const Expression& domain) {
    Variable variable;
    variable.name = name("x" + std::to_string(model_.variables.size()));
    variable.boolean = boolean;
    variable.domain = domain;
    model_.variables.push_back(variable);
    return Expression::variable(model_.variables.size() - 1);
  }
  Expression stretch(Expression::Kind kind, const std::vector<Expression>& elements) {
    const auto begin = static_cast<std::int64_t>(model_.pool.size());
    model_.pool.insert(model_.pool.end(), elements.begin(), elements.end());
    return {kind, static_cast<std::uint32_t>(elements.size()), begin};
  }

  Model model_;
  std::map<std::string, Name> names_;
};

/// Numbers of one stream.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(seed) {}
  [[nodiscard]] std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(scale_to(random_bits(seed_, draw_++, 0, 0), static_cast<std::uint64_t>(bound)));
  }
  [[nodiscard]] std::int64_t from(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }

 private:
  std::uint64_t seed_, draw_ = 0;
};

}  // namespace vicinity::cp
