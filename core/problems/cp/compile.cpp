#include "core/problems/cp/compile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/problems/cp/coverage.hpp"
#include "core/problems/cp/operations.hpp"
#include "core/problems/cp/rules.hpp"
#include "core/util/error.hpp"

namespace vicinity::cp {
namespace {

using Is = Expression::Kind;
using Values = std::vector<std::int64_t>;
using Vars = std::vector<Var>;
using Literals = std::vector<Literal>;
using Terms = std::vector<std::pair<Var, std::int64_t>>;

enum class Relation : std::uint8_t { le, eq, ne };
/// Always, exactly if a literal is true, or at least then.
enum class Mode : std::uint8_t { always, reified, implied };

struct Condition {
  Mode mode = Mode::always;
  Literal literal = true_literal;
};

/// Rows of a table that joins elements, words of the bits of all such tables, and of one for each value that its elements have.
constexpr std::int64_t most_joined_rows = std::int64_t{1} << 16;
constexpr std::size_t most_joined = std::size_t{1} << 22, most_joined_to_own = 4;
/// Values of all matrices that take the place of elements.
constexpr std::size_t most_matrix_values = std::size_t{1} << 24;

class Compiler {
 public:
  explicit Compiler(const Model& model) : model_(model) {}

  CompiledModel compile() {
    unite();
    declare();
    handlers_.assign(model_.name_ends.size(), nullptr);
    for (const Constraint& constraint : model_.constraints) {
      constraint_ = &constraint;
      arguments_ = model_.elements(constraint.arguments);
      Handler& handler = handlers_[constraint.predicate];
      if (handler == nullptr) handler = handler_of(model_.text(constraint.predicate));
      (this->*handler)();
    }
    place_elements();
    join_elements();
    if (model_.goal != Goal::satisfy) result_.objective = var(model_.objective);
    try {
      const Coverage coverage = coverage_of(draft_, model_.goal, result_.objective);
      result_.clipped = cut_ || !coverage.all;
      result_.best_clipped = cut_ || !coverage.better;
      if (!cut_) result_.best_objective = coverage.best;
      draft_.cut_domains();
      result_.network = std::make_shared<Network>(std::move(draft_));
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", model_.file, error.what()));
    }
    return std::move(result_);
  }

 private:
  using Handler = void (Compiler::*)();
  /// c + a x + b y.
  struct Index {
    Var x, y;
    std::int64_t a, b, c;
  };
  /// Of numbers, which stand in the model.
  struct Elements {
    Var index, element;
    Expression values;
  };

  // --- variables

  /// Variables that constraints make equal become one.
  void unite() {
    parent_.resize(model_.variables.size());
    std::iota(parent_.begin(), parent_.end(), 0u);
    for (std::size_t x = 0; x < parent_.size(); ++x)
      if (const Variable& variable = model_.variables[x]; variable.assigned && variable.value.is(Is::variable))
        unite(x, static_cast<std::size_t>(variable.value.value));
    for (const Constraint& constraint : model_.constraints) {
      const std::string_view name = model_.text(constraint.predicate);
      if (name != "int_eq" && name != "bool_eq" && name != "bool2int") continue;
      const auto arguments = model_.elements(constraint.arguments);
      if (arguments.size() == 2 && arguments[0].is(Is::variable) && arguments[1].is(Is::variable))
        unite(static_cast<std::size_t>(arguments[0].value), static_cast<std::size_t>(arguments[1].value));
    }
  }
  void unite(std::size_t x, std::size_t y) {
    const std::uint32_t a = root(x), b = root(y);
    parent_[std::max(a, b)] = std::min(a, b);
  }
  [[nodiscard]] std::uint32_t root(std::size_t x) {
    auto at = static_cast<std::uint32_t>(x);
    while (parent_[at] != at) at = parent_[at] = parent_[parent_[at]];
    return at;
  }

  void declare() {
    result_.variable_of.resize(parent_.size());
    for (std::size_t x = 0; x < parent_.size(); ++x) {
      const Variable& variable = model_.variables[x];
      const bool first = root(x) == x;
      const Var v = result_.variable_of[x] = first ? draft_.add_variable(-unlimited, unlimited) : result_.variable_of[root(x)];
      if (named_.size() <= static_cast<std::size_t>(v)) named_.resize(static_cast<std::size_t>(v) + 1, false);
      if (!variable.introduced) named_[static_cast<std::size_t>(v)] = true;
      if (!variable.unbounded) draft_.restrict(v, intervals_of(variable.domain));
      if (variable.assigned && !variable.value.is(Is::variable)) draft_.restrict(v, Values{variable.value.value, variable.value.value});
    }
  }
  [[nodiscard]] static bool is_value(std::int64_t value) { return least_value <= value && value <= greatest_value; }
  /// A set as intervals, ascending and apart.
  [[nodiscard]] Values intervals_of(const Expression& set) const {
    Values intervals;
    const auto elements = model_.elements(set);
    if (set.is(Is::interval)) {
      if (elements[0].value <= elements[1].value) intervals = {elements[0].value, elements[1].value};
      return intervals;
    }
    for (const Expression& element : elements) {
      if (!intervals.empty() && intervals.back() == element.value - 1)
        intervals.back() = element.value;
      else
        intervals.insert(intervals.end(), {element.value, element.value});
    }
    return intervals;
  }
  [[nodiscard]] Var constant(std::int64_t value) {
    if (value == 1) return true_var;
    check_range(value);
    const auto [at, added] = constants_.try_emplace(value, 0);
    if (added) at->second = draft_.add_variable(value, value);
    return at->second;
  }
  [[nodiscard]] bool is_fixed(Var x) const { return domain(x).lower == domain(x).upper && is_value(domain(x).lower); }
  [[nodiscard]] const Draft::Domain& domain(Var x) const { return draft_.domains[static_cast<std::size_t>(x)]; }
  [[nodiscard]] bool is_open(Var x) const { return reaches_beyond(domain(x).lower, domain(x).upper); }
  [[nodiscard]] bool is_binary(Var x) const { return domain(x).lower >= 0 && domain(x).upper <= 1; }

  // --- arguments

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(fmt::format("{}:{}: {}", model_.file, constraint_ == nullptr ? 1 : constraint_->line, what));
  }
  void check_range(std::int64_t value) const {
    if (!is_value(value)) fail(fmt::format("{} is outside {}..{}, the range of variables", value, least_value, greatest_value));
  }
  [[noreturn]] void wrong(std::size_t k, const char* expected) const {
    fail(fmt::format("argument {} of {} is no {}", k + 1, model_.text(constraint_->predicate), expected));
  }
  void count(std::size_t n) const {
    if (arguments_.size() != n)
      fail(fmt::format("{} has {} arguments, expected {}", model_.text(constraint_->predicate), arguments_.size(), n));
  }
  [[nodiscard]] Var var(const Expression& e) {
    return e.is(Is::variable) ? result_.variable_of[static_cast<std::size_t>(e.value)] : constant(e.value);
  }
  [[nodiscard]] static bool is_number(const Expression& e) { return e.is(Is::integer) || e.is(Is::boolean); }
  [[nodiscard]] bool is_bool(const Expression& e) const {
    return e.is(Is::boolean) || (e.is(Is::variable) && model_.variables[static_cast<std::size_t>(e.value)].boolean);
  }
  [[nodiscard]] Var var(std::size_t k) {
    if (!arguments_[k].is(Is::variable) && !is_number(arguments_[k])) wrong(k, "int");
    return var(arguments_[k]);
  }
  [[nodiscard]] std::int64_t number(std::size_t k) const {
    if (!is_number(arguments_[k])) wrong(k, "number");
    return arguments_[k].value;
  }
  /// The least index of an array: a value of variables.
  [[nodiscard]] std::int64_t first_index(std::size_t k) const {
    check_range(number(k));
    return number(k);
  }
  [[nodiscard]] Literal lit(const Expression& e) const {
    if (e.is(Is::boolean)) return e.value != 0 ? true_literal : negated(true_literal);
    return literal(result_.variable_of[static_cast<std::size_t>(e.value)]);
  }
  [[nodiscard]] Literal lit(std::size_t k) const {
    if (!is_bool(arguments_[k])) wrong(k, "bool");
    return lit(arguments_[k]);
  }
  [[nodiscard]] std::span<const Expression> array(std::size_t k) const {
    if (!arguments_[k].is(Is::array)) wrong(k, "array");
    return model_.elements(arguments_[k]);
  }
  [[nodiscard]] Vars vars(std::size_t k) {
    Vars all;
    for (const Expression& e : array(k)) {
      if (!e.is(Is::variable) && !is_number(e)) wrong(k, "array of ints");
      all.push_back(var(e));
    }
    return all;
  }
  [[nodiscard]] Literals lits(std::size_t k) const {
    Literals all;
    for (const Expression& e : array(k)) {
      if (!is_bool(e)) wrong(k, "array of bools");
      all.push_back(lit(e));
    }
    return all;
  }
  [[nodiscard]] Values numbers(std::size_t k) const {
    Values all;
    for (const Expression& e : array(k)) {
      if (!is_number(e)) wrong(k, "array of numbers");
      all.push_back(e.value);
    }
    return all;
  }
  [[nodiscard]] Values set(std::size_t k) const {
    if (!arguments_[k].is_set()) wrong(k, "set of ints");
    return intervals_of(arguments_[k]);
  }
  /// The condition in argument k, as the end of the predicate's name says.
  [[nodiscard]] Condition condition(std::size_t k) const {
    const std::string_view name = model_.text(constraint_->predicate);
    if (name.ends_with("_reif") || name.ends_with("_imp")) {
      count(k + 1);
      return {name.ends_with("_reif") ? Mode::reified : Mode::implied, lit(k)};
    }
    count(k);
    return {};
  }

  // --- logic

  void require(Literal l) {
    const std::int64_t value = is_negated(l) ? 0 : 1;
    draft_.restrict(var_of(l), Values{value, value});
  }
  [[nodiscard]] std::optional<bool> known(Literal l) const {
    const auto& d = domain(var_of(l));
    if (d.lower != d.upper) return std::nullopt;
    return (d.lower == 1) != is_negated(l);
  }
  void clause(const Literals& all) {
    Literals open;
    for (const Literal l : all) {
      if (known(l) == true) return;
      if (!known(l)) open.push_back(l);
    }
    if (open.empty())
      draft_.failed = true;
    else if (open.size() == 1)
      require(open[0]);
    else
      draft_.add(Kind::clause, open);
  }
  /// r <-> one of them.
  void clause_reif(Literal r, const Literals& all) {
    if (known(r) == true) return clause(all);
    Literals open{r};
    for (const Literal l : all) {
      if (known(l) == true) return require(r);
      if (known(r) == false)
        require(negated(l));
      else if (!known(l))
        open.push_back(l);
    }
    if (known(r) == false) return;
    if (open.size() == 1) return require(negated(r));
    if (open.size() == 2) return draft_.add(Kind::parity, {r, negated(open[1])});
    draft_.add(Kind::clause_reif, open);
  }
  /// Of a formula f, given as the literal r0 with r0 <-> f: what the condition makes of it.
  void under(Condition condition, const Literals& any_of) {
    if (condition.mode == Mode::reified) return clause_reif(condition.literal, any_of);
    Literals all = any_of;
    if (condition.mode == Mode::implied) all.push_back(negated(condition.literal));
    clause(all);
  }
  void under_all(Condition condition, const Literals& all_of) {
    if (condition.mode == Mode::reified) {
      Literals none;
      for (const Literal l : all_of) none.push_back(negated(l));
      return clause_reif(negated(condition.literal), none);
    }
    for (const Literal l : all_of) clause(condition.mode == Mode::always ? Literals{l} : Literals{l, negated(condition.literal)});
  }
  [[nodiscard]] Literal new_literal() { return literal(draft_.add_variable(0, 1)); }

  void bool_clause() {
    const Condition c = condition(2);
    Literals all = lits(0);
    for (const Literal l : lits(1)) all.push_back(negated(l));
    under(c, all);
  }
  void array_bool_or() { count(2), clause_reif(lit(1), lits(0)); }
  void array_bool_and() { count(2), under_all({Mode::reified, lit(1)}, lits(0)); }
  void array_bool_or_imp() { count(2), under({Mode::implied, lit(1)}, lits(0)); }
  void array_bool_and_imp() { count(2), under_all({Mode::implied, lit(1)}, lits(0)); }
  void bool_or() { count(3), clause_reif(lit(2), {lit(0), lit(1)}); }
  void bool_and() { count(3), under_all({Mode::reified, lit(2)}, {lit(0), lit(1)}); }
  void bool_or_imp() { count(3), under({Mode::implied, lit(2)}, {lit(0), lit(1)}); }
  void bool_and_imp() { count(3), under_all({Mode::implied, lit(2)}, {lit(0), lit(1)}); }
  void bool_le() {
    const Condition c = condition(2);
    under(c, {negated(lit(0)), lit(1)});
  }
  void bool_lt() {
    const Condition c = condition(2);
    under_all(c, {negated(lit(0)), lit(1)});
  }
  void array_bool_xor() { count(1), draft_.add(Kind::parity, lits(0)); }
  void bool_xor() {
    if (arguments_.size() == 2) return draft_.add(Kind::parity, {lit(0), lit(1)});
    count(3);
    draft_.add(Kind::parity, {lit(0), lit(1), negated(lit(2))});
  }
  void bool_xor_imp() { count(3), clause({lit(0), lit(1), negated(lit(2))}), clause({negated(lit(0)), negated(lit(1)), negated(lit(2))}); }
  void bool_not() { count(2), draft_.add(Kind::parity, {lit(0), lit(1)}); }
  void bool_eq() {
    const Condition c = condition(2);
    if (c.mode == Mode::reified) return draft_.add(Kind::parity, {lit(0), lit(1), c.literal});
    const Literals rest = c.mode == Mode::implied ? Literals{negated(c.literal)} : Literals{};
    equal_if(lit(0), lit(1), rest);
  }
  void bool_ne() {
    const Condition c = condition(2);
    if (c.mode == Mode::reified) return draft_.add(Kind::parity, {lit(0), lit(1), negated(c.literal)});
    const Literals rest = c.mode == Mode::implied ? Literals{negated(c.literal)} : Literals{};
    equal_if(lit(0), negated(lit(1)), rest);
  }
  void equal_if(Literal a, Literal b, Literals rest) {
    if (a == b) return;
    rest.insert(rest.end(), {a, negated(b)});
    clause(rest);
    rest[rest.size() - 2] = negated(a);
    rest[rest.size() - 1] = b;
    clause(rest);
  }
  void bool2int() {
    count(2);
    const Literal b = lit(0);
    const Var x = var(1);
    if (b == literal(x)) return;
    if (const auto value = known(b)) return draft_.restrict(x, Values{*value ? 1 : 0, *value ? 1 : 0});
    draft_.restrict(x, Values{0, 1});
    linear(Relation::eq, {1, -1}, {var_of(b), x}, 0, {});
  }

  // --- linear sums and comparisons

  void linear(Relation relation, const Values& a, const Vars& x, Wide c, Condition condition) {
    if (a.size() != x.size())
      fail(fmt::format("{} has {} coefficients and {} variables", model_.text(constraint_->predicate), a.size(), x.size()));
    Terms terms;
    for (std::size_t k = 0; k < a.size(); ++k) {
      if (is_fixed(x[k]))
        c -= Wide{a[k]} * domain(x[k]).lower;
      else
        terms.emplace_back(x[k], a[k]);
    }
    std::sort(terms.begin(), terms.end());
    std::size_t kept = 0;
    for (std::size_t k = 0; k < terms.size();) {
      Wide sum = 0;
      const Var v = terms[k].first;
      for (; k < terms.size() && terms[k].first == v; ++k) sum += terms[k].second;
      if (sum > large || sum < -large) fail("a coefficient is too large");
      if (sum != 0) terms[kept++] = {v, static_cast<std::int64_t>(sum)};
    }
    terms.resize(kept);
    sum(relation, terms, c, condition);
  }
  static constexpr std::int64_t large = std::int64_t{1} << 60;
  [[nodiscard]] static bool is_large(Wide value) { return value > large || value < -large; }

  void sum(Relation relation, const Terms& terms, Wide c, Condition condition) {
    if (condition.mode != Mode::always && known(condition.literal) == true) condition = {};
    if (condition.mode == Mode::implied && known(condition.literal) == false) return;
    if (terms.empty() || is_large(c))
      if (const auto holds = whatever(relation, terms, c)) {
        cut_ |= std::any_of(terms.begin(), terms.end(), [this](const auto& term) { return is_open(term.first); });
        return decided(*holds, condition);
      }
    std::int64_t divisor = 0;
    for (const auto& term : terms) divisor = std::gcd(divisor, term.second);
    const bool divides = c % divisor == 0;
    if (relation != Relation::le && !divides) return decided(relation == Relation::ne, condition);
    c = c / divisor - (c < 0 && !divides ? 1 : 0);
    if (is_large(c)) fail("a constant is too large");
    Values data{static_cast<std::int64_t>(c)};
    for (const auto& term : terms) data.push_back(term.second / divisor);
    if (terms.size() == 1 && condition.mode != Mode::implied) return single(relation, terms[0].first, data[1], data[0], condition);
    if (relation == Relation::eq && condition.mode == Mode::always && terms.size() == 3) note_index(terms, data);
    if (condition.mode != Mode::reified) return half(relation, condition.literal, terms, data);
    if (known(condition.literal) != false) half(relation, condition.literal, terms, data);
    if (relation == Relation::le) {
      for (std::int64_t& value : data) value = -value;
      --data[0];
    }
    half(relation == Relation::le   ? Relation::le
         : relation == Relation::eq ? Relation::ne
                                    : Relation::eq,
         negated(condition.literal), terms, data);
  }
  /// Does the sum hold, or not, with all values that its variables can have?
  [[nodiscard]] std::optional<bool> whatever(Relation relation, const Terms& terms, Wide c) const {
    Wide least = 0, greatest = 0;
    for (const auto& [x, a] : terms) {
      const auto end = [this, y = x](bool low) {
        return std::clamp<std::int64_t>(low ? domain(y).lower : domain(y).upper, least_value, greatest_value);
      };
      least += Wide{a} * end(a > 0);
      greatest += Wide{a} * end(a < 0);
    }
    if (c < least) return relation == Relation::ne;
    if (relation == Relation::le ? c >= greatest : c > greatest) return relation != Relation::eq;
    if (least == greatest) return relation == Relation::eq;
    return std::nullopt;
  }
  void decided(bool holds, Condition condition) {
    if (condition.mode == Mode::reified)
      require(holds ? condition.literal : negated(condition.literal));
    else if (!holds && condition.mode == Mode::implied)
      require(negated(condition.literal));
    else if (!holds)
      draft_.failed = true;
  }
  /// a x against c, a = 1 or -1: always or reified.
  void single(Relation relation, Var x, std::int64_t a, std::int64_t c, Condition condition) {
    if (relation == Relation::le) {
      const std::int64_t most = a > 0 ? c : -c - 1;  // x <= most, or not
      const Literal l = a > 0 ? condition.literal : negated(condition.literal);
      if (condition.mode == Mode::always) {
        if (a > 0 ? most < domain(x).lower : most >= domain(x).upper)
          draft_.failed = true;
        else
          draft_.restrict(x, a > 0 ? Values{domain(x).lower, std::min(most, domain(x).upper)}
                                   : Values{std::max(most + 1, domain(x).lower), domain(x).upper});
      } else if (most < domain(x).lower || most >= domain(x).upper) {
        require(most < domain(x).lower ? negated(l) : l);
      } else {
        bound_literal(l, x, most);
      }
      return;
    }
    const std::int64_t v = c * a;
    const Literal l = relation == Relation::eq ? condition.literal : negated(condition.literal);
    const bool inside = domain(x).lower <= v && v <= domain(x).upper;
    if (condition.mode == Mode::always && relation == Relation::eq) {
      draft_.restrict(x, Values{v, v});
    } else if (condition.mode == Mode::always) {
      if (inside) draft_.add(Kind::equals, {negated(true_literal), x}, {v});
    } else if (!inside) {
      require(negated(l));
    } else if (is_binary(x)) {
      same(l, v == 1 ? literal(x) : negated(literal(x)));
    } else {
      draft_.add(Kind::equals, {l, x}, {v});
    }
  }
  /// l <-> x <= most.
  void bound_literal(Literal l, Var x, std::int64_t most) {
    if (is_binary(x)) return same(l, negated(literal(x)));
    draft_.add(Kind::at_most, {l, x}, {most});
  }
  void same(Literal a, Literal b) {
    if (a == b) return;
    draft_.add(Kind::parity, {a, negated(b)});
  }
  void half(Relation relation, Literal r, const Terms& terms, const Values& data) {
    if (terms.size() == 2 && data[1] + data[2] == 0 && std::abs(data[1]) == 1) {
      const bool swap = data[1] < 0;
      const Var x = terms[swap ? 1 : 0].first, y = terms[swap ? 0 : 1].first;
      return draft_.add(relation == Relation::le ? Kind::le : relation == Relation::eq ? Kind::eq : Kind::ne, {r, x, y}, {data[0]});
    }
    std::vector<std::int32_t> arguments{r};
    for (const auto& term : terms) arguments.push_back(term.first);
    draft_.add(relation == Relation::le ? Kind::linear_le : relation == Relation::eq ? Kind::linear_eq : Kind::linear_ne, arguments, data);
  }

  template <Relation relation>
  void lin() {
    const Condition c = condition(3);
    linear(relation, numbers(0), vars(1), number(2), c);
  }
  /// bool_lin_eq and the like: the right-hand side may be a variable.
  template <Relation relation>
  void bool_lin() {
    const Condition c = condition(3);
    Values a = numbers(0);
    Vars x = vars(1);
    if (a.size() != x.size()) wrong(1, "array as long as the coefficients");
    a.push_back(-1);
    x.push_back(var(2));
    linear(relation, a, x, 0, c);
  }
  template <Relation relation, int less>
  void compare() {
    const Condition c = condition(2);
    Values a;
    Vars x;
    Wide rest = -less;
    for (std::size_t k = 0; k < 2; ++k) {  // constants may be larger than variables
      const std::int64_t sign = k == 0 ? 1 : -1;
      if (is_number(arguments_[k])) {
        rest -= Wide{sign} * arguments_[k].value;
      } else {
        a.push_back(sign);
        x.push_back(var(k));
      }
    }
    linear(relation, a, x, rest, c);
  }
  void int_plus() { count(3), linear(Relation::eq, {1, 1, -1}, {var(0), var(1), var(2)}, 0, {}); }
  void int_minus() { count(3), linear(Relation::eq, {1, -1, -1}, {var(0), var(1), var(2)}, 0, {}); }
  void int_negate() { count(2), linear(Relation::eq, {1, 1}, {var(0), var(1)}, 0, {}); }
  void set_in() {
    const Condition c = condition(2);
    const Var x = var(0);
    const Values intervals = set(1);
    if (c.mode == Mode::always) return intervals.empty() ? void(draft_.failed = true) : draft_.restrict(x, intervals);
    Literal l = c.literal;
    if (c.mode == Mode::implied) {
      l = new_literal();
      clause({negated(c.literal), l});
    }
    Values inside;
    for (std::size_t k = 0; k < intervals.size(); k += 2)
      if (intervals[k] <= domain(x).upper && intervals[k + 1] >= domain(x).lower)
        inside.insert(inside.end(), {intervals[k], intervals[k + 1]});
    if (inside.empty()) return require(negated(l));
    if (inside.size() == 2) {
      if (inside[0] <= domain(x).lower) return inside[1] >= domain(x).upper ? require(l) : bound_literal(l, x, inside[1]);
      if (inside[1] >= domain(x).upper) return bound_literal(negated(l), x, inside[0] - 1);
      if (inside[0] == inside[1]) return draft_.add(Kind::equals, {l, x}, {inside[0]});
    }
    draft_.add(Kind::member, std::vector<std::int32_t>{l, x}, inside);
  }

  // --- arithmetic

  void int_times() {
    count(3);
    Var x = var(0), y = var(1);
    const Var z = var(2);
    if (is_fixed(y)) std::swap(x, y);
    if (is_fixed(x)) return linear(Relation::eq, {domain(x).lower, -1}, {y, z}, 0, {});
    if (is_binary(x) && is_binary(y)) {
      draft_.restrict(z, Values{0, 1});
      if (x == y) return linear(Relation::eq, {1, -1}, {x, z}, 0, {});
      return under_all({Mode::reified, literal(z)}, {literal(x), literal(y)});
    }
    if (x == y) draft_.restrict(z, Values{0, unlimited});
    draft_.add(Kind::times, {x, y, z});
  }
  template <Kind kind>
  void ternary() {
    count(3);
    const Var x = var(0), y = var(1), z = var(2);
    if (kind != Kind::power && domain(y).lower == 0) draft_.restrict(y, Values{1, unlimited});  // the divisor
    if (kind != Kind::power && domain(y).upper == 0) draft_.restrict(y, Values{-unlimited, -1});
    draft_.add(kind, {x, y, z});
  }
  void int_abs() { count(2), draft_.add(Kind::absolute, {var(0), var(1)}); }
  template <Kind kind>
  void binary_extreme() {
    count(3);
    draft_.add(kind, {var(2), var(0), var(1)});
  }
  template <Kind kind>
  void array_extreme() {
    count(2);
    Vars all{var(0)};
    const Vars x = vars(1);
    if (x.empty()) fail(fmt::format("{} of an empty array", model_.text(constraint_->predicate)));
    all.insert(all.end(), x.begin(), x.end());
    draft_.add(kind, all);
  }
  void element() {
    count(3);
    const Var i = var(0), z = var(2);
    const auto elements = array(1);
    if (elements.empty()) return void(draft_.failed = true);
    draft_.restrict(i, Values{1, static_cast<std::int64_t>(elements.size())});
    if (std::all_of(elements.begin(), elements.end(), is_number)) return elements_.push_back({i, z, arguments_[1]});
    Vars all{i, z};
    for (const Var x : vars(1)) all.push_back(x);
    draft_.add(Kind::element_var, all);
  }
  /// Of the variables that a sum of three has with the coefficient 1 or -1, those that the compiler of the model has introduced: each is
  /// c + a x + b y.
  void note_index(const Terms& terms, const Values& data) {
    for (std::size_t k = 0; k < 3; ++k) {
      const auto& [i, own] = terms[k];
      const auto at = static_cast<std::size_t>(i);
      const std::int64_t sign = -data[k + 1];
      if (std::abs(sign) != 1 || (at < named_.size() && named_[at])) continue;
      const std::size_t x = k == 0 ? 1 : 0, y = k == 2 ? 1 : 2;
      if (!is_value(data[0]) || !is_value(data[x + 1]) || !is_value(data[y + 1])) continue;
      indices_.try_emplace(i, Index{terms[x].first, terms[y].first, sign * data[x + 1], sign * data[y + 1], -sign * data[0]});
    }
  }
  /// Elements at c + a x + b y are those of a matrix, where these are not too large: of the index alone x and y hear only its bounds.
  void place_elements() {
    std::size_t size = 0;
    for (const Elements& one : elements_) size += matrix_size(one.index);
    for (const Elements& one : elements_) {
      Values values;
      for (const Expression& e : model_.elements(one.values)) values.push_back(e.value);
      const bool matrix = size <= most_matrix_values && matrix_size(one.index) > 0;
      if (matrix) matrix_at(indices_.at(one.index), one.element, values);
      element_at(one.index, one.element, std::move(values), matrix);
    }
  }
  /// 0: the index is not that of a matrix.
  [[nodiscard]] std::size_t matrix_size(Var i) const {
    const auto found = indices_.find(i);
    if (found == indices_.end()) return 0;
    const auto width = [&](Var x) { return is_open(x) ? unlimited : domain(x).upper - domain(x).lower + 1; };
    if (width(found->second.x) > most_masked || width(found->second.y) > most_masked) return 0;
    return static_cast<std::size_t>(width(found->second.x) * width(found->second.y));
  }
  void matrix_at(const Index& index, Var z, const Values& elements) {
    const Draft::Domain &x = domain(index.x), &y = domain(index.y);
    Values data{x.lower, y.lower, y.upper - y.lower + 1};
    for (std::int64_t row = x.lower; row <= x.upper; ++row)
      for (std::int64_t column = y.lower; column <= y.upper; ++column) {
        const Wide k = Wide{index.c} + Wide{index.a} * row + Wide{index.b} * column;
        data.push_back(k >= 1 && k <= static_cast<std::int64_t>(elements.size()) ? elements[static_cast<std::size_t>(k - 1)] : no_value);
      }
    draft_.add(Kind::element_matrix, Vars{index.x, index.y, z}, data);
  }
  void element_at(Var i, Var z, Values elements, bool there_already = false) {
    if (!there_already) draft_.add(Kind::element, Vars{i, z}, elements);
    if (elements.size() > static_cast<std::size_t>(most_masked)) elements_at_[i].emplace_back(z, std::move(elements));
  }
  /// Of an index without a mask only bounds are known, so its elements learn little of each other: a table of them together tells more.
  void join_elements() {
    std::size_t left = most_joined;
    for (const auto& [i, all] : elements_at_) {
      const Draft::Domain& index = draft_.domains[static_cast<std::size_t>(i)];
      if (all.size() < 2 || draft_.failed || index.upper - index.lower >= most_joined_rows) continue;
      std::vector<Values> rows;
      for (std::int64_t k = index.lower; k <= index.upper; ++k) {
        Values& row = rows.emplace_back();
        for (const auto& [z, elements] : all) row.push_back(elements[static_cast<std::size_t>(k) - 1]);
      }
      const std::optional<std::size_t> bits = joined(rows);
      if (!bits || *bits > left) continue;
      left -= *bits;
      Vars x;
      for (const auto& [z, elements] : all) x.push_back(z);
      Values together;
      for (const Values& row : rows) together.insert(together.end(), row.begin(), row.end());
      supports(x, together);
    }
  }
  /// Rows once each, and how many words supports() makes of them; none: far more than the elements themselves have.
  [[nodiscard]] static std::optional<std::size_t> joined(std::vector<Values>& rows) {
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    const std::size_t bits = supports_of(rows);
    return bits > most_joined_to_own * rows.size() * rows.front().size() ? std::nullopt : std::optional(bits);
  }
  /// Words that supports() makes of the rows.
  [[nodiscard]] static std::size_t supports_of(const std::vector<Values>& rows) {
    std::size_t values = 0;
    for (std::size_t c = 0; c < rows.front().size(); ++c) {
      std::unordered_set<std::int64_t> column;
      for (const Values& row : rows) column.insert(row[c]);
      values += column.size();
    }
    return values * ((rows.size() + 63) / 64);
  }

  // --- global constraints

  void all_different() {
    count(1);
    const Vars x = vars(0);
    if (x.size() < 2) return;
    draft_.add(Kind::all_different, x);
    if (x.size() > 2) draft_.add(Kind::all_different_bounds, x);
  }
  void table() {
    count(2);
    const Vars x = vars(0);
    const Values rows = numbers(1);
    if (x.empty()) return;
    if (rows.size() % x.size() != 0) fail(fmt::format("a table of {} columns has {} elements", x.size(), rows.size()));
    const std::size_t n = x.size(), count = rows.size() / n;
    if (count == 0) return void(draft_.failed = true);
    if (const std::optional<std::size_t> key = key_of(rows, n); key && is_joined_without(*key, rows, n)) return keyed_table(x, rows, *key);
    supports(x, rows);
  }
  /// The first column that has each value from 1 on once, where these are too many for a mask.
  [[nodiscard]] static std::optional<std::size_t> key_of(const Values& rows, std::size_t columns) {
    const std::size_t count = rows.size() / columns;
    if (columns < 2 || count <= static_cast<std::size_t>(most_masked)) return std::nullopt;
    for (std::size_t c = 0; c < columns; ++c) {
      std::vector<bool> seen(count, false);
      std::size_t r = 0;
      for (; r < count; ++r) {
        const std::int64_t v = rows[r * columns + c];
        if (v < 1 || v > static_cast<std::int64_t>(count) || seen[static_cast<std::size_t>(v) - 1]) break;
        seen[static_cast<std::size_t>(v) - 1] = true;
      }
      if (r == count) return c;
    }
    return std::nullopt;
  }
  [[nodiscard]] static bool is_joined_without(std::size_t key, const Values& rows, std::size_t columns) {
    std::vector<Values> others;
    for (std::size_t r = 0; r < rows.size() / columns; ++r) {
      Values& row = others.emplace_back();
      for (std::size_t c = 0; c < columns; ++c)
        if (c != key) row.push_back(rows[r * columns + c]);
    }
    return joined(others).has_value();
  }
  /// The others are elements at the key. The bits of a table with it would be as many as the square of its rows.
  void keyed_table(const Vars& x, const Values& rows, std::size_t key) {
    const std::size_t n = x.size(), count = rows.size() / n;
    draft_.restrict(x[key], Values{1, static_cast<std::int64_t>(count)});
    for (std::size_t c = 0; c < n; ++c) {
      if (c == key) continue;
      Values at(count);
      for (std::size_t r = 0; r < count; ++r) at[static_cast<std::size_t>(rows[r * n + key]) - 1] = rows[r * n + c];
      element_at(x[key], x[c], std::move(at));
    }
  }
  /// Of each value of a column, a bit for each of the rows that have it.
  void supports(const Vars& x, const Values& rows) {
    const std::size_t n = x.size(), count = rows.size() / n, words = (count + 63) / 64;
    Values data(1 + n);
    data[0] = static_cast<std::int64_t>(count);
    for (std::size_t c = 0; c < n; ++c) {
      Values values, intervals;
      for (std::size_t r = 0; r < count; ++r) values.push_back(rows[r * n + c]);
      std::sort(values.begin(), values.end());
      values.erase(std::unique(values.begin(), values.end()), values.end());
      for (const std::int64_t v : values) {
        if (intervals.empty() || intervals.back() != v - 1)
          intervals.insert(intervals.end(), {v, v});
        else
          intervals.back() = v;
      }
      draft_.restrict(x[c], intervals);
      data[1 + c] = static_cast<std::int64_t>(data.size());
      data.push_back(static_cast<std::int64_t>(values.size()));
      data.insert(data.end(), values.begin(), values.end());
      const std::size_t bits = data.size();
      data.resize(bits + values.size() * words);
      for (std::size_t r = 0; r < count; ++r) {
        const auto v = static_cast<std::size_t>(std::lower_bound(values.begin(), values.end(), rows[r * n + c]) - values.begin());
        auto& word = data[bits + v * words + r / 64];
        word = static_cast<std::int64_t>(static_cast<std::uint64_t>(word) | std::uint64_t{1} << (r % 64));
      }
    }
    draft_.add(Kind::table, x, data);
  }
  /// vicinity_circuit(first index, successors).
  void circuit() {
    count(2);
    const std::int64_t first = first_index(0);
    const Vars x = vars(1);
    if (x.empty()) return;
    for (const Var y : x) draft_.restrict(y, Values{first, first + static_cast<std::int64_t>(x.size()) - 1});
    draft_.add(Kind::circuit, x, Values{first});
    draft_.add(Kind::all_different, x);
    if (x.size() > 2) draft_.add(Kind::all_different_bounds, x);
  }
  /// vicinity_inverse(first index of f, f, first index of g, g).
  void inverse() {
    count(4);
    const std::int64_t first_f = first_index(0), first_g = first_index(2);
    Vars all = vars(1);
    const auto n = static_cast<std::int64_t>(all.size());
    const Vars g = vars(3);
    const auto m = static_cast<std::int64_t>(g.size());
    if (n != m) return void(draft_.failed = true);
    if (n == 0) return;
    for (const Var y : all) draft_.restrict(y, Values{first_g, first_g + m - 1});
    for (const Var y : g) draft_.restrict(y, Values{first_f, first_f + n - 1});
    draft_.add(Kind::all_different, all);
    if (n > 2) draft_.add(Kind::all_different_bounds, all);
    all.insert(all.end(), g.begin(), g.end());
    draft_.add(Kind::inverse, all, Values{n, first_f, first_g});
  }
  void cardinality() {
    count(3);
    Vars all = vars(0);
    Values data{static_cast<std::int64_t>(all.size())};
    const Values cover = numbers(1);
    const Vars counts = vars(2);
    if (cover.size() != counts.size()) fail(fmt::format("{} values and {} counts", cover.size(), counts.size()));
    for (const Var y : counts) draft_.restrict(y, Values{0, static_cast<std::int64_t>(all.size())});
    imply_total(all, cover, counts);
    all.insert(all.end(), counts.begin(), counts.end());
    data.insert(data.end(), cover.begin(), cover.end());
    draft_.add(Kind::cardinality, all, data);
  }
  /// Of values that are counted once each: the counts together are as many as there are variables, or fewer where these may have other
  /// values.
  void imply_total(const Vars& x, Values cover, const Vars& counts) {
    std::sort(cover.begin(), cover.end());
    if (x.empty() || cover.empty() || std::adjacent_find(cover.begin(), cover.end()) != cover.end()) return;
    const bool closed = std::all_of(x.begin(), x.end(), [&](Var y) {
      const std::int64_t low = domain(y).lower, high = domain(y).upper;
      if (is_open(y)) return false;
      const auto first = std::lower_bound(cover.begin(), cover.end(), low), end = std::upper_bound(first, cover.end(), high);
      return end - first == high - low + 1;
    });
    linear(closed ? Relation::eq : Relation::le, Values(counts.size(), 1), counts, static_cast<std::int64_t>(x.size()), {});
  }
  void cumulative() {
    count(4);
    Vars all = vars(0);
    const std::size_t n = all.size();
    const Vars d = vars(1), u = vars(2);
    if (d.size() != n || u.size() != n) fail(fmt::format("{} starts, {} durations and {} uses", n, d.size(), u.size()));
    if (n == 0) return;
    all.insert(all.end(), d.begin(), d.end());
    all.insert(all.end(), u.begin(), u.end());
    all.push_back(var(3));
    for (std::size_t k = 0; k < n; ++k) {
      draft_.restrict(d[k], Values{0, unlimited});
      draft_.restrict(u[k], Values{0, unlimited});
    }
    draft_.restrict(all.back(), Values{0, unlimited});
    draft_.add(Kind::cumulative, all, Values{static_cast<std::int64_t>(n)});
  }

  // --- names

  [[nodiscard]] Handler handler_of(std::string_view name) const {
    using C = Compiler;
    static const std::unordered_map<std::string_view, Handler> all{
        {"array_bool_and", &C::array_bool_and},
        {"array_bool_and_imp", &C::array_bool_and_imp},
        {"array_bool_element", &C::element},
        {"array_bool_or", &C::array_bool_or},
        {"array_bool_or_imp", &C::array_bool_or_imp},
        {"array_bool_xor", &C::array_bool_xor},
        {"array_int_element", &C::element},
        {"array_int_maximum", &C::array_extreme<Kind::maximum>},
        {"array_int_minimum", &C::array_extreme<Kind::minimum>},
        {"array_var_bool_element", &C::element},
        {"array_var_int_element", &C::element},
        {"bool2int", &C::bool2int},
        {"bool_and", &C::bool_and},
        {"bool_and_imp", &C::bool_and_imp},
        {"bool_clause", &C::bool_clause},
        {"bool_clause_imp", &C::bool_clause},
        {"bool_clause_reif", &C::bool_clause},
        {"bool_eq", &C::bool_eq},
        {"bool_eq_imp", &C::bool_eq},
        {"bool_eq_reif", &C::bool_eq},
        {"bool_le", &C::bool_le},
        {"bool_le_imp", &C::bool_le},
        {"bool_le_reif", &C::bool_le},
        {"bool_lin_eq", &C::bool_lin<Relation::eq>},
        {"bool_lin_eq_imp", &C::bool_lin<Relation::eq>},
        {"bool_lin_eq_reif", &C::bool_lin<Relation::eq>},
        {"bool_lin_le", &C::bool_lin<Relation::le>},
        {"bool_lin_le_imp", &C::bool_lin<Relation::le>},
        {"bool_lin_le_reif", &C::bool_lin<Relation::le>},
        {"bool_lin_ne", &C::bool_lin<Relation::ne>},
        {"bool_lin_ne_imp", &C::bool_lin<Relation::ne>},
        {"bool_lin_ne_reif", &C::bool_lin<Relation::ne>},
        {"bool_lt", &C::bool_lt},
        {"bool_lt_imp", &C::bool_lt},
        {"bool_lt_reif", &C::bool_lt},
        {"bool_ne", &C::bool_ne},
        {"bool_ne_imp", &C::bool_ne},
        {"bool_ne_reif", &C::bool_ne},
        {"bool_not", &C::bool_not},
        {"bool_or", &C::bool_or},
        {"bool_or_imp", &C::bool_or_imp},
        {"bool_xor", &C::bool_xor},
        {"bool_xor_imp", &C::bool_xor_imp},
        {"fzn_all_different_int", &C::all_different},
        {"fzn_cumulative", &C::cumulative},
        {"fzn_global_cardinality", &C::cardinality},
        {"fzn_table_bool", &C::table},
        {"fzn_table_int", &C::table},
        {"int_abs", &C::int_abs},
        {"int_div", &C::ternary<Kind::divide>},
        {"int_eq", &C::compare<Relation::eq, 0>},
        {"int_eq_imp", &C::compare<Relation::eq, 0>},
        {"int_eq_reif", &C::compare<Relation::eq, 0>},
        {"int_le", &C::compare<Relation::le, 0>},
        {"int_le_imp", &C::compare<Relation::le, 0>},
        {"int_le_reif", &C::compare<Relation::le, 0>},
        {"int_lin_eq", &C::lin<Relation::eq>},
        {"int_lin_eq_imp", &C::lin<Relation::eq>},
        {"int_lin_eq_reif", &C::lin<Relation::eq>},
        {"int_lin_le", &C::lin<Relation::le>},
        {"int_lin_le_imp", &C::lin<Relation::le>},
        {"int_lin_le_reif", &C::lin<Relation::le>},
        {"int_lin_ne", &C::lin<Relation::ne>},
        {"int_lin_ne_imp", &C::lin<Relation::ne>},
        {"int_lin_ne_reif", &C::lin<Relation::ne>},
        {"int_lt", &C::compare<Relation::le, 1>},
        {"int_lt_imp", &C::compare<Relation::le, 1>},
        {"int_lt_reif", &C::compare<Relation::le, 1>},
        {"int_max", &C::binary_extreme<Kind::maximum>},
        {"int_min", &C::binary_extreme<Kind::minimum>},
        {"int_minus", &C::int_minus},
        {"int_mod", &C::ternary<Kind::modulo>},
        {"int_ne", &C::compare<Relation::ne, 0>},
        {"int_ne_imp", &C::compare<Relation::ne, 0>},
        {"int_ne_reif", &C::compare<Relation::ne, 0>},
        {"int_negate", &C::int_negate},
        {"int_plus", &C::int_plus},
        {"int_pow", &C::ternary<Kind::power>},
        {"int_times", &C::int_times},
        {"set_in", &C::set_in},
        {"set_in_imp", &C::set_in},
        {"set_in_reif", &C::set_in},
        {"vicinity_circuit", &C::circuit},
        {"vicinity_inverse", &C::inverse},
    };
    const auto found = all.find(name);
    if (found == all.end()) {
      const bool foreign =
          name.starts_with("float") || name.starts_with("set_") || name.find("_float_") != name.npos || name.find("_set_") != name.npos;
      fail(fmt::format("predicate '{}' is not supported{}", name.substr(0, 40), foreign ? ": neither floats nor set variables are" : ""));
    }
    return found->second;
  }

  const Model& model_;
  CompiledModel result_;
  Draft draft_;
  bool cut_ = false;                   ///< a sum was decided by the values that variables without a bound can have here
  std::vector<std::uint32_t> parent_;  ///< [variable of the model]
  std::map<std::int64_t, Var> constants_;
  std::vector<Handler> handlers_;  ///< [name]
  std::vector<bool> named_;        ///< [variable] by the model, not by its compiler
  std::map<Var, Index> indices_;
  std::vector<Elements> elements_;
  std::map<Var, std::vector<std::pair<Var, Values>>> elements_at_;  ///< [index] those that are too long for a mask
  const Constraint* constraint_ = nullptr;
  std::span<const Expression> arguments_;
};

}  // namespace

CompiledModel compile(const Model& model) { return Compiler(model).compile(); }

}  // namespace vicinity::cp
