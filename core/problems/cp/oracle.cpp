#include "core/problems/cp/oracle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace vicinity::cp {
namespace {

__extension__ using Wide = __int128;
using Is = Expression::Kind;
using Row = std::vector<std::int64_t>;

class Judge {
 public:
  Judge(const Model& model, std::span<const std::int32_t> values) : model_(model), values_(values) {}

  [[nodiscard]] std::int64_t value(const Expression& e) const {
    return e.is(Is::variable) ? values_[static_cast<std::size_t>(e.value)] : e.value;
  }
  [[nodiscard]] bool in(std::int64_t v, const Expression& set) const {
    const auto elements = model_.elements(set);
    if (set.is(Is::interval)) return elements[0].value <= v && v <= elements[1].value;
    return std::any_of(elements.begin(), elements.end(), [v](const Expression& e) { return e.value == v; });
  }

  [[nodiscard]] bool holds(const Constraint& constraint) const {
    const std::string_view name = model_.text(constraint.predicate);
    const auto arguments = model_.elements(constraint.arguments);
    const auto rest = arguments.first(arguments.empty() ? 0 : arguments.size() - 1);
    if (name.ends_with("_reif")) return truth(name.substr(0, name.size() - 5), rest) == (value(arguments.back()) != 0);
    if (name.ends_with("_imp")) {
      const bool result = value(arguments.back()) != 0;
      const std::string_view base = name.substr(0, name.size() - 4);
      if (has_result(base)) return !result || truth(base, with(rest, Expression::boolean(true)));
      return !result || truth(base, rest);
    }
    return truth(name, arguments);
  }

 private:
  using Arguments = std::span<const Expression>;

  /// Predicates whose last argument is the truth of a formula, so that their half-reified form has no further one.
  static bool has_result(std::string_view name) {
    return name == "array_bool_and" || name == "array_bool_or" || name == "bool_and" || name == "bool_or" || name == "bool_xor";
  }
  mutable std::vector<Expression> scratch_;
  [[nodiscard]] Arguments with(Arguments arguments, Expression last) const {
    scratch_.assign(arguments.begin(), arguments.end());
    scratch_.push_back(last);
    return scratch_;
  }

  [[nodiscard]] Row row(const Expression& array) const {
    Row all;
    for (const Expression& e : model_.elements(array)) all.push_back(value(e));
    return all;
  }
  [[nodiscard]] Wide sum(const Expression& a, const Expression& x) const {
    const auto as = model_.elements(a), xs = model_.elements(x);
    Wide total = 0;
    for (std::size_t k = 0; k < as.size(); ++k) total += Wide{value(as[k])} * value(xs[k]);
    return total;
  }
  static Wide power(std::int64_t x, std::int64_t y) {
    Wide result = 1;
    for (std::int64_t k = 0; k < std::abs(y) && result != 0; ++k) {
      if (k > 1 && (x == 1 || x == -1)) return y % 2 == 0 ? 1 : x;
      result *= x;
      if (result > (Wide{1} << 90) || result < -(Wide{1} << 90)) break;  // beyond any variable
    }
    return y >= 0 ? result : 1 / result;
  }
  static bool distinct(Row all) {
    std::sort(all.begin(), all.end());
    return std::adjacent_find(all.begin(), all.end()) == all.end();
  }

  [[nodiscard]] bool truth(std::string_view name, Arguments a) const {
    if (name.starts_with("int_lin_") || name.starts_with("bool_lin_")) {
      const Wide left = sum(a[0], a[1]), right = value(a[2]);
      return name.ends_with("_eq") ? left == right : name.ends_with("_ne") ? left != right : left <= right;
    }
    if (name.starts_with("array_")) return array_truth(name.substr(6), a);
    if (name.starts_with("fzn_") || name.starts_with("vicinity_")) return global_truth(name, a);
    if (name == "set_in") return in(value(a[0]), a[1]);
    if (name == "bool_clause") {
      const Row positive = row(a[0]), negative = row(a[1]);
      return std::count(positive.begin(), positive.end(), 1) > 0 || std::count(negative.begin(), negative.end(), 0) > 0;
    }
    const std::int64_t x = value(a[0]), y = value(a[1]);
    if (name == "bool2int" || name.ends_with("_eq")) return x == y;
    if (name.ends_with("_ne") || name == "bool_not") return x != y;
    if (name.ends_with("_le")) return x <= y;
    if (name.ends_with("_lt")) return x < y;
    if (name == "int_abs") return std::abs(x) == y;
    if (name == "int_negate") return x == -y;
    if (a.size() == 2) return x != y;  // bool_xor
    const std::int64_t z = value(a[2]);
    if (name == "int_plus") return x + y == z;
    if (name == "int_minus") return x - y == z;
    if (name == "int_times") return x * y == z;
    if (name == "int_div") return y != 0 && x / y == z;
    if (name == "int_mod") return y != 0 && x % y == z;
    if (name == "int_pow") return (x != 0 || y >= 0) && power(x, y) == z;
    if (name == "int_max") return std::max(x, y) == z;
    if (name == "int_min") return std::min(x, y) == z;
    if (name == "bool_and") return (x != 0 && y != 0) == (z != 0);
    if (name == "bool_or") return (x != 0 || y != 0) == (z != 0);
    return (x != y) == (z != 0);  // bool_xor
  }

  [[nodiscard]] bool array_truth(std::string_view name, Arguments a) const {
    if (name.ends_with("element")) {
      const auto elements = model_.elements(a[1]);
      const std::int64_t k = value(a[0]);
      return k >= 1 && k <= static_cast<std::int64_t>(elements.size()) && value(elements[static_cast<std::size_t>(k - 1)]) == value(a[2]);
    }
    if (name == "int_maximum" || name == "int_minimum") {
      const Row x = row(a[1]);
      const auto [low, high] = std::minmax_element(x.begin(), x.end());
      return !x.empty() && value(a[0]) == (name == "int_maximum" ? *high : *low);
    }
    const Row x = row(a[0]);
    const auto ones = static_cast<std::size_t>(std::count(x.begin(), x.end(), 1));
    if (name == "bool_xor") return ones % 2 == 1;
    return (name == "bool_and" ? ones == x.size() : ones > 0) == (value(a[1]) != 0);
  }

  [[nodiscard]] bool global_truth(std::string_view name, Arguments a) const {
    if (name == "fzn_all_different_int") return distinct(row(a[0]));
    if (name.starts_with("fzn_table_")) {
      const Row x = row(a[0]), rows = row(a[1]);
      for (std::size_t begin = 0; begin < rows.size() && !x.empty(); begin += x.size())
        if (std::equal(x.begin(), x.end(), rows.begin() + static_cast<std::ptrdiff_t>(begin))) return true;
      return x.empty();
    }
    if (name == "vicinity_circuit") {
      const Row x = row(a[1]);
      const auto n = static_cast<std::int64_t>(x.size());
      std::int64_t at = 0;
      for (std::int64_t length = 1; length <= n; ++length) {
        at = x[static_cast<std::size_t>(at)] - value(a[0]);
        if (at < 0 || at >= n || (at == 0) != (length == n)) return false;
      }
      return true;
    }
    if (name == "vicinity_inverse") {
      const Row f = row(a[1]), g = row(a[3]);
      for (std::size_t k = 0; k < f.size(); ++k) {
        const std::int64_t j = f[k] - value(a[2]);
        if (j < 0 || j >= static_cast<std::int64_t>(g.size()) ||
            g[static_cast<std::size_t>(j)] != static_cast<std::int64_t>(k) + value(a[0]))
          return false;
      }
      return f.size() == g.size() && distinct(f);
    }
    if (name == "fzn_global_cardinality") {
      const Row x = row(a[0]), cover = row(a[1]), counts = row(a[2]);
      for (std::size_t k = 0; k < cover.size(); ++k)
        if (std::count(x.begin(), x.end(), cover[k]) != counts[k]) return false;
      return true;
    }
    if (name == "fzn_cumulative") return cumulative(row(a[0]), row(a[1]), row(a[2]), value(a[3]));
    return false;
  }
  /// Use changes only where a task starts, so that it is enough to look there.
  static bool cumulative(const Row& start, const Row& duration, const Row& use, std::int64_t limit) {
    if (limit < 0 && start.empty()) return true;
    for (const std::int64_t time : start) {
      std::int64_t total = 0;
      for (std::size_t k = 0; k < start.size(); ++k)
        if (start[k] <= time && time < start[k] + duration[k]) total += use[k];
      if (total > limit) return false;
    }
    return true;
  }

  const Model& model_;
  std::span<const std::int32_t> values_;
};

}  // namespace

std::string complaint(const Model& model, std::span<const std::int32_t> values) {
  if (values.size() != model.variables.size())
    return fmt::format("{}: {} values for {} variables", model.file, values.size(), model.variables.size());
  const Judge judge(model, values);
  for (std::size_t x = 0; x < values.size(); ++x) {
    const Variable& variable = model.variables[x];
    if (!judge.in(values[x], variable.domain))
      return fmt::format("{}: {} = {} is outside its domain", model.file, model.name_of(variable), values[x]);
    if (variable.assigned && judge.value(variable.value) != values[x])
      return fmt::format("{}: {} = {}, it is to be {}", model.file, model.name_of(variable), values[x], judge.value(variable.value));
  }
  for (const Constraint& constraint : model.constraints)
    if (!judge.holds(constraint))
      return fmt::format("{}:{}: {} does not hold", model.file, constraint.line, model.text(constraint.predicate));
  return {};
}

std::int64_t objective_of(const Model& model, std::span<const std::int32_t> values) { return Judge(model, values).value(model.objective); }

}  // namespace vicinity::cp
