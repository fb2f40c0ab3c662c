#include "core/problems/cp/evaluation.hpp"

#include <fmt/format.h>

#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "core/problems/cp/operations.hpp"
#include "core/util/error.hpp"

namespace vicinity::cp {
namespace {

using Is = Expression::Kind;

}  // namespace

/// Makes operations of a model's constraints, and puts them in order.
class EvaluationMaker {
 public:
  EvaluationMaker(const Model& model, Evaluation& made) : model_(model), made_(made) {}

  void make() {
    made_.slots_.assign(model_.variables.size(), 0);
    for (std::size_t x = 0; x < model_.variables.size(); ++x) declare(static_cast<std::int32_t>(x));
    for (const Constraint& constraint : model_.constraints) {
      line_ = constraint.line;
      add(constraint);
    }
    define_others();
    order();
  }

 private:
  struct Draft {
    Operation operation = Operation::sum;
    std::vector<std::int32_t> arguments;
    std::vector<std::int64_t> data;
    Use use = Use::agree;
    std::int32_t result = 0;
    std::int32_t level = -1;     ///< not known yet
    Use otherwise = Use::agree;  ///< where it is not to define
  };
  using Arguments = std::span<const Expression>;

  /// A number that no variable can have.
  [[nodiscard]] static bool is_beyond(const Expression& e) {
    return e.is(Is::integer) && (e.value < least_value || e.value > greatest_value);
  }
  [[nodiscard]] std::int32_t slot(const Expression& e) {
    if (e.is(Is::variable)) return static_cast<std::int32_t>(e.value);
    if (!e.is(Is::integer) && !e.is(Is::boolean)) fail("an argument is no int or bool");
    if (is_beyond(e)) fail(fmt::format("{} is outside the range of values", e.value));
    return constant(static_cast<std::int32_t>(e.value));
  }
  [[nodiscard]] std::int32_t constant(std::int32_t value) {
    const auto [at, added] = constants_.try_emplace(value, static_cast<std::int32_t>(made_.slots_.size()));
    if (added) made_.slots_.push_back(value);
    return at->second;
  }
  /// Of what is only compared with a variable, or defines one: one value that no variable can have stands for all of them.
  [[nodiscard]] std::int32_t slot_or_beyond(const Expression& e) {
    return is_beyond(e) ? constant(std::numeric_limits<std::int32_t>::min()) : slot(e);
  }
  [[nodiscard]] std::int32_t one() { return slot(Expression::integer(1)); }
  [[nodiscard]] std::vector<std::int32_t> slots(const Expression& array) {
    if (!array.is(Is::array)) fail("an argument is no array");
    std::vector<std::int32_t> all;
    for (const Expression& e : model_.elements(array)) all.push_back(slot(e));
    return all;
  }
  [[nodiscard]] std::vector<std::int64_t> numbers(const Expression& array) const {
    std::vector<std::int64_t> all;
    for (const Expression& e : model_.elements(array)) all.push_back(e.value);
    return all;
  }
  [[nodiscard]] std::vector<std::int64_t> intervals(const Expression& set) const {
    if (set.is(Is::interval)) return numbers(set);
    std::vector<std::int64_t> all;
    for (const std::int64_t v : numbers(set)) all.insert(all.end(), {v, v});
    return all;
  }
  [[noreturn]] void fail(const std::string& what) const { throw InputError(fmt::format("{}:{}: {}", model_.file, line_, what)); }

  /// A variable's domain is a check; what it is assigned, a definition.
  void declare(std::int32_t x) {
    const Variable& variable = model_.variables[static_cast<std::size_t>(x)];
    drafts_.push_back({Operation::member, {x}, intervals(variable.domain), Use::agree, one(), -1});
    if (variable.assigned) drafts_.push_back({Operation::sum, {slot_or_beyond(variable.value)}, {0, 1}, Use::define, x, -1});
  }

  void add(const Constraint& constraint) {
    const std::string_view name = model_.text(constraint.predicate);
    const Arguments a = model_.elements(constraint.arguments);
    std::optional<std::int32_t> defined;
    for (const Expression& note : model_.elements(constraint.annotations))
      if (note.is(Is::call) && note.size == 2 && model_.text(static_cast<Name>(model_.elements(note)[0].value)) == "defines_var" &&
          model_.elements(note)[1].is(Is::variable))
        defined = static_cast<std::int32_t>(model_.elements(note)[1].value);
    Draft draft;
    if (name.ends_with("_reif") || name.ends_with("_imp")) {
      if (a.empty()) fail("an argument is missing");
      const bool implied = name.ends_with("_imp");
      const std::string_view base = name.substr(0, name.size() - (implied ? 4 : 5));
      const bool formula = implied && has_result(base);  // array_bool_or_imp(as, r)
      draft = formula ? made_of(base, a) : truth_of(base, a.first(a.size() - 1));
      draft.result = slot(a.back());
      draft.use = implied ? Use::implied : Use::agree;
    } else {
      draft = made_of(name, a);
    }
    if (defined && draft.result == *defined) {
      draft.otherwise = std::exchange(draft.use, Use::define);
    } else if (defined && draft.operation == Operation::sum_eq && draft.use == Use::agree && draft.result == one()) {
      solve_for(*defined, draft);
    }
    drafts_.push_back(std::move(draft));
  }
  static bool has_result(std::string_view name) {
    return name == "array_bool_and" || name == "array_bool_or" || name == "bool_and" || name == "bool_or" || name == "bool_xor";
  }

  /// sum of a x = c, for an x with coefficient 1 or -1: x = the rest.
  void solve_for(std::int32_t x, Draft& draft) const {
    std::optional<std::size_t> at;
    for (std::size_t k = 0; k < draft.arguments.size(); ++k)
      if (draft.arguments[k] == x) {
        if (at || (draft.data[k + 1] != 1 && draft.data[k + 1] != -1)) return;
        at = k;
      }
    if (!at) return;
    const std::int64_t sign = draft.data[*at + 1];
    draft.arguments.erase(draft.arguments.begin() + static_cast<std::ptrdiff_t>(*at));
    draft.data.erase(draft.data.begin() + static_cast<std::ptrdiff_t>(*at) + 1);
    for (std::int64_t& value : draft.data) value *= -sign;
    draft.data[0] = -draft.data[0];
    draft.operation = Operation::sum;
    draft.use = Use::define;
    draft.result = x;
  }

  /// Variables that are said to be defined, and the objective, where no constraint says that it defines them (MiniZinc leaves that out
  /// for elements of arrays of two dimensions): by the first constraint that can.
  void define_others() {
    std::vector<char> wanted(model_.variables.size());
    for (std::size_t x = 0; x < wanted.size(); ++x) wanted[x] = static_cast<char>(model_.variables[x].defined);
    if (model_.goal != Goal::satisfy && model_.objective.is(Is::variable)) wanted[static_cast<std::size_t>(model_.objective.value)] = 1;
    const auto wants = [&](std::int32_t slot) {
      return static_cast<std::size_t>(slot) < wanted.size() && wanted[static_cast<std::size_t>(slot)] != 0;
    };
    const auto done = [&](const Draft& draft) {
      if (draft.use == Use::define && wants(draft.result)) wanted[static_cast<std::size_t>(draft.result)] = 0;
    };
    for (const Draft& draft : drafts_) done(draft);
    for (Draft& draft : drafts_) {
      if (draft.use != Use::agree) continue;
      if (wants(draft.result))
        draft.otherwise = std::exchange(draft.use, Use::define);
      else if (draft.operation == Operation::sum_eq && draft.result == one())
        for (std::size_t k = 0; k < draft.arguments.size() && draft.use == Use::agree; ++k)
          if (wants(draft.arguments[k])) solve_for(draft.arguments[k], draft);
      done(draft);
    }
  }

  /// Constraints with a value: the operation and where its value stands. The others: a truth that has to be 1.
  [[nodiscard]] Draft made_of(std::string_view name, Arguments a) {
    static const std::map<std::string_view, Operation> ternary{{"int_times", Operation::times}, {"int_div", Operation::divide},
                                                               {"int_mod", Operation::modulo},  {"int_pow", Operation::power},
                                                               {"int_max", Operation::maximum}, {"int_min", Operation::minimum}};
    const auto needs = [&](std::size_t n) {
      if (a.size() != n) fail(fmt::format("{} has {} arguments, expected {}", name, a.size(), n));
    };
    if (const auto found = ternary.find(name); found != ternary.end()) {
      needs(3);
      return {found->second, {slot(a[0]), slot(a[1])}, {}, Use::agree, slot(a[2]), -1};
    }
    if (name == "int_plus" || name == "int_minus") {
      needs(3);
      return {Operation::sum, {slot(a[0]), slot(a[1])}, {0, 1, name == "int_plus" ? 1 : -1}, Use::agree, slot(a[2]), -1};
    }
    if (name == "int_abs" || name == "bool2int" || name == "bool_not" || name == "int_negate") {
      needs(2);
      if (name == "int_abs") return {Operation::absolute, {slot(a[0])}, {}, Use::agree, slot(a[1]), -1};
      if (name == "bool_not") return {Operation::sum, {slot(a[0])}, {1, -1}, Use::agree, slot(a[1]), -1};
      return {Operation::sum, {slot(a[0])}, {0, name == "bool2int" ? 1 : -1}, Use::agree, slot(a[1]), -1};
    }
    if (name == "bool_xor" && a.size() == 3) return {Operation::odd, {slot(a[0]), slot(a[1])}, {}, Use::agree, slot(a[2]), -1};
    if (name == "bool_and" || name == "bool_or") {
      needs(3);
      return {name == "bool_and" ? Operation::every : Operation::any, {slot(a[0]), slot(a[1])}, {1, 1}, Use::agree, slot(a[2]), -1};
    }
    if (name == "array_bool_and" || name == "array_bool_or") {
      needs(2);
      const auto all = slots(a[0]);
      return {name == "array_bool_and" ? Operation::every : Operation::any,
              all,
              std::vector<std::int64_t>(all.size(), 1),
              Use::agree,
              slot(a[1]),
              -1};
    }
    if (name == "array_int_maximum" || name == "array_int_minimum") {
      needs(2);
      return {name == "array_int_maximum" ? Operation::maximum : Operation::minimum, slots(a[1]), {}, Use::agree, slot(a[0]), -1};
    }
    if (name.starts_with("array_") && name.ends_with("_element")) {
      needs(3);
      if (!a[1].is(Is::array)) fail("an argument is no array");
      std::vector<std::int32_t> all{slot(a[0])};
      for (const Expression& e : model_.elements(a[1])) all.push_back(slot_or_beyond(e));
      return {Operation::element, all, {}, Use::agree, slot(a[2]), -1};
    }
    Draft draft = truth_of(name, a);
    draft.result = one();
    return draft;
  }

  [[nodiscard]] Draft truth_of(std::string_view name, Arguments a) {
    const auto needs = [&](std::size_t n) {
      if (a.size() != n) fail(fmt::format("{} has {} arguments, expected {}", name, a.size(), n));
    };
    const auto relation = [&] {
      return name.ends_with("_eq") ? Operation::sum_eq : name.ends_with("_ne") ? Operation::sum_ne : Operation::sum_le;
    };
    Draft draft;
    if (name.starts_with("int_lin_") || name.starts_with("bool_lin_")) {
      needs(3);
      draft = {relation(), slots(a[1]), {0}, Use::agree, 0, -1};
      for (const std::int64_t c : numbers(a[0])) draft.data.push_back(c);
      if (a[2].is(Is::variable)) {
        draft.arguments.push_back(slot(a[2]));
        draft.data.push_back(-1);
      } else {
        draft.data[0] = a[2].value;
      }
      if (draft.data.size() != draft.arguments.size() + 1) fail(fmt::format("{} has as many coefficients as variables", name));
    } else if (name == "bool_clause") {
      needs(2);
      draft = {Operation::any, slots(a[0]), {}, Use::agree, 0, -1};
      draft.data.assign(draft.arguments.size(), 1);
      for (const std::int32_t x : slots(a[1])) draft.arguments.push_back(x);
      draft.data.resize(draft.arguments.size(), 0);
    } else if (name == "set_in") {
      needs(2);
      if (!a[1].is_set()) fail("argument 2 of set_in is no set of ints");
      draft = {Operation::member, {slot(a[0])}, intervals(a[1]), Use::agree, 0, -1};
    } else if (name == "array_bool_xor") {
      needs(1);
      draft = {Operation::odd, slots(a[0]), {}, Use::agree, 0, -1};
    } else if (name == "bool_xor") {
      needs(2);
      draft = {Operation::odd, {slot(a[0]), slot(a[1])}, {}, Use::agree, 0, -1};
    } else if (name.starts_with("fzn_") || name.starts_with("vicinity_")) {
      draft = global(name, a);
    } else if (const bool known = name == "int_eq" || name == "int_ne" || name == "int_le" || name == "int_lt" || name == "bool_eq" ||
                                  name == "bool_ne" || name == "bool_le" || name == "bool_lt";
               known) {
      needs(2);
      draft = {relation(), {}, {0}, Use::agree, 0, -1};
      constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
      Wide rest = name.ends_with("_lt") ? -1 : 0;
      for (std::size_t k = 0; k < 2; ++k) {
        const std::int64_t sign = k == 0 ? 1 : -1;
        if (is_beyond(a[k])) {
          rest -= Wide{sign} * a[k].value;
        } else {
          draft.arguments.push_back(slot(a[k]));
          draft.data.push_back(sign);
        }
      }
      draft.data[0] = static_cast<std::int64_t>(std::clamp<Wide>(rest, -most, most));  // what it is compared with is less
    } else {
      fail(fmt::format("predicate '{}' is not supported", name.substr(0, 40)));
    }
    return draft;
  }

  [[nodiscard]] Draft global(std::string_view name, Arguments a) {
    const auto join = [&](std::initializer_list<std::size_t> parts) {
      std::vector<std::int32_t> all;
      for (const std::size_t k : parts)
        for (const std::int32_t x : slots(a[k])) all.push_back(x);
      return all;
    };
    const auto size = [&](std::size_t k) { return static_cast<std::int64_t>(a[k].size); };
    if (name == "fzn_all_different_int" && a.size() == 1) return {Operation::different, slots(a[0]), {}, Use::agree, 0, -1};
    if (name.starts_with("fzn_table_") && a.size() == 2) return {Operation::table, slots(a[0]), numbers(a[1]), Use::agree, 0, -1};
    if (name == "vicinity_circuit" && a.size() == 2) return {Operation::circuit, slots(a[1]), {a[0].value}, Use::agree, 0, -1};
    if (name == "vicinity_inverse" && a.size() == 4)
      return {Operation::inverse, join({1, 3}), {size(1), a[0].value, a[2].value}, Use::agree, 0, -1};
    if (name == "fzn_global_cardinality" && a.size() == 3) {
      Draft draft{Operation::cardinality, join({0, 2}), {size(0)}, Use::agree, 0, -1};
      for (const std::int64_t v : numbers(a[1])) draft.data.push_back(v);
      return draft;
    }
    if (name == "fzn_cumulative" && a.size() == 4) {
      Draft draft{Operation::cumulative, join({0, 1, 2}), {size(0)}, Use::agree, 0, -1};
      draft.arguments.push_back(slot(a[3]));
      return draft;
    }
    fail(fmt::format("predicate '{}' is not supported", name.substr(0, 40)));
  }

  /// Levels of definitions; one of a cycle, or a second one of a variable, becomes a check.
  void order() {
    const std::size_t variables = model_.variables.size();
    std::vector<std::int32_t> definer(made_.slots_.size(), -1);
    for (std::size_t k = 0; k < drafts_.size(); ++k) {
      Draft& draft = drafts_[k];
      if (draft.use != Use::define) continue;
      if (static_cast<std::size_t>(draft.result) >= variables || definer[static_cast<std::size_t>(draft.result)] >= 0)
        draft.use = draft.otherwise;
      else
        definer[static_cast<std::size_t>(draft.result)] = static_cast<std::int32_t>(k);
    }
    levels(definer);
    std::int32_t deepest = 0;
    for (Draft& draft : drafts_) {
      if (draft.use != Use::define)
        draft.level = std::numeric_limits<std::int32_t>::max();
      else
        deepest = std::max(deepest, draft.level + 1);
    }
    std::stable_sort(drafts_.begin(), drafts_.end(), [](const Draft& a, const Draft& b) { return a.level < b.level; });
    for (std::size_t x = 0; x < variables; ++x)
      if (definer[x] < 0) made_.free_.push_back(static_cast<std::int32_t>(x));
    store(deepest);
  }
  /// By depth-first search with a stack of its own: definitions may be nested deeply.
  void levels(std::vector<std::int32_t>& definer) {
    constexpr std::int32_t open = -2;
    std::vector<std::pair<std::int32_t, std::size_t>> stack;
    for (std::size_t first = 0; first < drafts_.size(); ++first) {
      if (drafts_[first].use != Use::define || drafts_[first].level != -1) continue;
      stack.emplace_back(static_cast<std::int32_t>(first), 0);
      drafts_[first].level = open;
      while (!stack.empty()) {
        auto& [k, next] = stack.back();
        Draft& draft = drafts_[static_cast<std::size_t>(k)];
        if (next == draft.arguments.size() || draft.use != Use::define) {
          std::int32_t level = 0;
          for (const std::int32_t x : draft.arguments)
            if (const std::int32_t d = definer[static_cast<std::size_t>(x)]; d >= 0)
              level = std::max(level, drafts_[static_cast<std::size_t>(d)].level + 1);
          draft.level = level;
          stack.pop_back();
          continue;
        }
        const std::int32_t d = definer[static_cast<std::size_t>(draft.arguments[next++])];
        if (d < 0) continue;
        Draft& needed = drafts_[static_cast<std::size_t>(d)];
        if (needed.level == open) {  // a cycle: this definition closes it
          draft.use = draft.otherwise;
          definer[static_cast<std::size_t>(draft.result)] = -1;
        } else if (needed.level == -1) {
          needed.level = open;
          stack.emplace_back(d, 0);
        }
      }
    }
  }
  void store(std::int32_t deepest) {
    made_.level_begin_.assign(static_cast<std::size_t>(deepest) + 2, static_cast<std::int32_t>(drafts_.size()));
    std::vector<std::vector<std::int32_t>> users(model_.variables.size());
    for (std::size_t k = drafts_.size(); k-- > 0;) {
      const std::int32_t level = std::min(drafts_[k].level, deepest);
      made_.level_begin_[static_cast<std::size_t>(level)] = static_cast<std::int32_t>(k);
    }
    for (std::size_t level = made_.level_begin_.size() - 1; level-- > 0;)
      made_.level_begin_[level] = std::min(made_.level_begin_[level], made_.level_begin_[level + 1]);
    for (std::size_t k = 0; k < drafts_.size(); ++k) {
      const Draft& draft = drafts_[k];
      made_.operation_.push_back(draft.operation);
      made_.use_.push_back(draft.use);
      made_.result_.push_back(draft.result);
      made_.arguments_.insert(made_.arguments_.end(), draft.arguments.begin(), draft.arguments.end());
      made_.argument_begin_.push_back(static_cast<std::uint32_t>(made_.arguments_.size()));
      made_.data_.insert(made_.data_.end(), draft.data.begin(), draft.data.end());
      made_.data_begin_.push_back(made_.data_.size());
      const auto uses = [&](std::int32_t x) {
        if (static_cast<std::size_t>(x) >= users.size()) return;
        auto& list = users[static_cast<std::size_t>(x)];
        if (list.empty() || list.back() != static_cast<std::int32_t>(k)) list.push_back(static_cast<std::int32_t>(k));
      };
      for (const std::int32_t x : draft.arguments) uses(x);
      if (draft.use != Use::define) uses(draft.result);
    }
    made_.user_begin_.assign(1, 0);
    for (const auto& list : users) {
      made_.users_.insert(made_.users_.end(), list.begin(), list.end());
      made_.user_begin_.push_back(static_cast<std::uint32_t>(made_.users_.size()));
    }
  }

  const Model& model_;
  Evaluation& made_;
  std::vector<Draft> drafts_;
  std::map<std::int32_t, std::int32_t> constants_;
  std::uint32_t line_ = 1;
};

Evaluation::Evaluation(const Model& model) { EvaluationMaker(model, *this).make(); }

EvaluationView Evaluation::view() const noexcept {
  return {operation_.data(),  use_.data(),  result_.data(),     argument_begin_.data(), arguments_.data(),
          data_begin_.data(), data_.data(), user_begin_.data(), users_.data(),          static_cast<std::int32_t>(operation_.size())};
}

std::int64_t Evaluation::evaluate(std::vector<std::int32_t>& slots) const {
  const EvaluationView all = view();
  std::int64_t violated = 0;
  for (std::int32_t k = 0; k < all.operations; ++k) {
    bool valid = true;
    const std::int64_t value = value_of(all, k, slots, valid);
    std::int32_t& result = slots[static_cast<std::size_t>(all.result[k])];
    if (all.use[k] == Use::define) {
      valid &= value >= least_value && value <= greatest_value;
      result = valid ? static_cast<std::int32_t>(value) : 0;
    } else {
      valid &= all.use[k] == Use::agree ? value == result : result == 0 || value == 1;
    }
    violated += valid ? 0 : 1;
  }
  return violated;
}

}  // namespace vicinity::cp
