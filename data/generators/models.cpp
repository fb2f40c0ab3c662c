#include "data/generators/models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "core/util/error.hpp"
#include "core/util/rng.hpp"

namespace vicinity {
namespace {

/// Items in their order: variables, arrays, constraints, goal.
class Text {
 public:
  std::string add_variable(std::int64_t low, std::int64_t high, std::string_view annotations = "") {
    return add_variable(fmt::format("{}..{}", low, high), annotations);
  }
  std::string add_variable(const std::string& domain, std::string_view annotations = "") {
    const std::string name = fmt::format("x{}", ++variables_);
    text_ += fmt::format("var {}: {}{};\n", domain, name, annotations);
    return name;
  }
  std::string add_defined(std::int64_t low, std::int64_t high) {
    return add_variable(low, high, " :: var_is_introduced :: is_defined_var");
  }
  void add_output(std::string_view name, const std::vector<std::string>& elements) {
    arrays_ +=
        fmt::format("array [1..{0}] of var int: {1} :: output_array([1..{0}]) = [{2}];\n", elements.size(), name, fmt::join(elements, ","));
  }
  void add_numbers(std::string_view name, const std::vector<std::int64_t>& numbers) {
    parameters_ += fmt::format("array [1..{}] of int: {} = [{}];\n", numbers.size(), name, fmt::join(numbers, ","));
  }
  void add_constraint(const std::string& constraint, std::string_view defined = "") {
    constraints_ += "constraint " + constraint;
    if (!defined.empty()) constraints_ += fmt::format(" :: defines_var({})", defined);
    constraints_ += ";\n";
  }
  /// sum of a x = result, which that defines.
  void define_sum(const std::vector<std::int64_t>& a, const std::vector<std::string>& x, const std::string& result,
                  std::int64_t constant = 0) {
    add_constraint(fmt::format("int_lin_eq([{},-1],[{},{}],{})", fmt::join(a, ","), fmt::join(x, ","), result, -constant), result);
  }
  [[nodiscard]] std::string solve(const std::string& goal) const {
    return parameters_ + text_ + arrays_ + constraints_ + "solve " + goal + ";\n";
  }

 private:
  std::int64_t variables_ = 0;
  std::string parameters_, text_, arrays_, constraints_;
};

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : seed_(seed) {}
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(scale_to(random_bits(seed_, 5, 0, next_++), static_cast<std::uint64_t>(bound)));
  }
  std::int64_t from(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }

 private:
  std::uint64_t seed_;
  std::uint32_t next_ = 0;
};

std::string search_of(const std::vector<std::string>& variables) {
  return fmt::format(":: int_search([{}],input_order,indomain_min,complete) ", fmt::join(variables, ","));
}

/// Vertices by ascending degree, the last of equals first.
std::vector<std::size_t> by_degree(const Graph& graph) {
  std::vector<int> degree(static_cast<std::size_t>(graph.vertices), 0);
  for (const auto& [u, v] : graph.edges) ++degree[static_cast<std::size_t>(u)], ++degree[static_cast<std::size_t>(v)];
  std::vector<std::size_t> order(degree.size());
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return degree[a] < degree[b]; });
  return order;
}

/// |x - y| of each pair, and their sum, which is maximised.
void maximise_differences(Text& text, const std::vector<std::string>& x, const std::vector<std::pair<int, int>>& pairs, std::int64_t most) {
  std::vector<std::string> distances;
  for (const auto& [u, v] : pairs) {
    const std::string difference = text.add_defined(-most, most), distance = text.add_defined(0, most);
    text.define_sum({1, -1}, {x[static_cast<std::size_t>(u)], x[static_cast<std::size_t>(v)]}, difference);
    text.add_constraint(fmt::format("int_abs({},{})", difference, distance), distance);
    distances.push_back(distance);
  }
  const std::string total = text.add_defined(0, most * static_cast<std::int64_t>(pairs.size()));
  text.define_sum(std::vector<std::int64_t>(distances.size(), 1), distances, total);
  text.add_output("objective", {total});
}

/// A random model around a solution, which every check admits.
class RandomModel {
 public:
  RandomModel(std::int64_t domain, std::uint64_t seed) : draw_(seed), domain_(domain) {}

  std::string make(std::int64_t variables, std::int64_t constraints) {
    for (std::int64_t k = 0; k < variables; ++k) add_decision();
    const std::size_t decisions = names_.size();
    for (std::int64_t k = 0; k < constraints; ++k) draw_.below(2) == 0 ? define() : check();
    std::vector<std::int64_t> coefficients;
    for (std::size_t k = 0; k < names_.size(); ++k) coefficients.push_back(draw_.from(-3, 5));
    const std::string total =
        text_.add_defined(-most_ * 10 * static_cast<std::int64_t>(names_.size()), most_ * 10 * static_cast<std::int64_t>(names_.size()));
    text_.define_sum(coefficients, names_, total);
    text_.add_output("x", {names_.begin(), names_.begin() + static_cast<std::ptrdiff_t>(decisions)});
    return text_.solve((draw_.below(2) == 0 ? "minimize " : "maximize ") + total);
  }

 private:
  static constexpr std::int64_t most_ = 1'000'000;

  void add(std::string name, std::int64_t value) {
    names_.push_back(std::move(name));
    values_.push_back(value);
  }
  void add_decision() {
    const std::int64_t low = draw_.from(-2, 2), value = low + draw_.below(domain_);
    if (draw_.below(3) == 0) return add(text_.add_variable(low, low + domain_ - 1), value);
    std::set<std::int64_t> values{value};
    for (std::int64_t k = draw_.below(domain_); k > 0; --k) values.insert(low + draw_.below(2 * domain_));
    add(text_.add_variable(fmt::format("{{{}}}", fmt::join(values, ","))), value);
  }
  [[nodiscard]] std::size_t any() { return static_cast<std::size_t>(draw_.below(static_cast<std::int64_t>(names_.size()))); }
  /// A few variables, and what a sum of theirs with random coefficients is.
  struct Sum {
    std::vector<std::int64_t> a;
    std::vector<std::string> x;
    std::int64_t value = 0;
  };
  Sum sum() {
    Sum sum;
    for (std::int64_t k = draw_.from(1, 4); k > 0; --k) {
      const std::size_t x = any();
      sum.a.push_back(draw_.from(-3, 3));
      sum.x.push_back(names_[x]);
      sum.value += sum.a.back() * values_[x];
    }
    return sum;
  }
  void define() {
    const std::size_t x = any(), y = any();
    const std::int64_t kind = draw_.below(6);
    if (kind == 0 && std::abs(values_[x] * values_[y]) < most_) return define("int_times", {x, y}, values_[x] * values_[y]);
    if (kind == 1) return define("int_abs", {x}, std::abs(values_[x]));
    if (kind == 2) return define("int_max", {x, y}, std::max(values_[x], values_[y]));
    if (kind == 3) return define_truth(x, y);
    if (kind == 4) return define_element(x);
    const Sum of = sum();
    if (std::abs(of.value) >= most_) return;
    const std::string result = text_.add_defined(-most_, most_);
    text_.define_sum(of.a, of.x, result);
    add(result, of.value);
  }
  void define(const std::string& predicate, const std::vector<std::size_t>& x, std::int64_t value) {
    const std::string result = text_.add_defined(-most_, most_);
    std::string arguments;
    for (const std::size_t k : x) arguments += names_[k] + ",";
    text_.add_constraint(fmt::format("{}({}{})", predicate, arguments, result), result);
    add(result, value);
  }
  void define_truth(std::size_t x, std::size_t y) {
    const bool equal = draw_.below(2) == 0;
    const std::string truth = text_.add_variable("bool", " :: var_is_introduced :: is_defined_var"), number = text_.add_defined(0, 1);
    text_.add_constraint(fmt::format("int_{}_reif({},{},{})", equal ? "eq" : "le", names_[x], names_[y], truth), truth);
    text_.add_constraint(fmt::format("bool2int({},{})", truth, number), number);
    add(number, equal ? values_[x] == values_[y] : values_[x] <= values_[y]);
  }
  /// An index beyond the array breaks the model: a range that the hidden value is in.
  void define_element(std::size_t x) {
    if (values_[x] < -20 || values_[x] > 20) return;
    const std::string index = text_.add_defined(1, 41), result = text_.add_defined(-most_, most_);
    std::vector<std::int64_t> elements;
    for (std::int64_t k = 0; k < 41; ++k) elements.push_back(draw_.from(-9, 9));
    text_.define_sum({1}, {names_[x]}, index, 21);
    text_.add_constraint(fmt::format("array_int_element({},[{}],{})", index, fmt::join(elements, ","), result), result);
    add(result, elements[static_cast<std::size_t>(values_[x] + 20)]);
  }
  void check() {
    const std::int64_t kind = draw_.below(4);
    const std::size_t x = any(), y = any();
    if (kind == 0 && values_[x] != values_[y]) return text_.add_constraint(fmt::format("int_ne({},{})", names_[x], names_[y]));
    if (kind == 1) {
      std::vector<std::string> different;
      std::set<std::int64_t> used;
      for (std::int64_t k = 0; k < 5; ++k)
        if (const std::size_t one = any(); used.insert(values_[one]).second) different.push_back(names_[one]);
      return text_.add_constraint(fmt::format("fzn_all_different_int([{}])", fmt::join(different, ",")));
    }
    const Sum of = sum();
    const bool equal = draw_.below(8) == 0;
    text_.add_constraint(fmt::format("int_lin_{}([{}],[{}],{})", equal ? "eq" : "le", fmt::join(of.a, ","), fmt::join(of.x, ","),
                                     of.value + (equal ? 0 : draw_.below(domain_ + 3))));
  }

  Text text_;
  Draw draw_;
  std::int64_t domain_;
  std::vector<std::string> names_;
  std::vector<std::int64_t> values_;  ///< of the hidden solution
};

}  // namespace

std::string random_csp(std::int64_t variables, std::int64_t constraints, std::int64_t domain, std::uint64_t seed) {
  if (constraints > variables * (variables - 1) / 2)
    throw InputError(fmt::format("{} disequalities: {} variables have {} pairs", constraints, variables, variables * (variables - 1) / 2));
  Text text;
  Draw draw(seed);
  std::vector<std::string> x;
  for (std::int64_t k = 0; k < variables; ++k) x.push_back(text.add_variable(1, domain));
  std::set<std::pair<std::int64_t, std::int64_t>> pairs;
  while (static_cast<std::int64_t>(pairs.size()) < constraints) {
    const std::int64_t a = draw.below(variables), b = draw.below(variables);
    if (a == b || !pairs.emplace(std::min(a, b), std::max(a, b)).second) continue;
    text.add_constraint(
        fmt::format("int_ne({},{})", x[static_cast<std::size_t>(std::min(a, b))], x[static_cast<std::size_t>(std::max(a, b))]));
  }
  text.add_output("x", x);
  return text.solve(search_of(x) + "satisfy");
}

std::string colouring_model(const Graph& graph, std::int64_t colours) {
  Text text;
  std::vector<std::string> x, ordered;
  for (int v = 0; v < graph.vertices; ++v) x.push_back(text.add_variable(1, colours));
  for (const auto& [u, v] : graph.edges)
    text.add_constraint(fmt::format("int_ne({},{})", x[static_cast<std::size_t>(u)], x[static_cast<std::size_t>(v)]));
  std::vector<std::pair<int, int>> pairs;
  for (int u = 0; u < graph.vertices; ++u)
    for (int v = u + 1; v < graph.vertices; ++v) pairs.emplace_back(u, v);
  maximise_differences(text, x, pairs, colours - 1);
  text.add_output("colour", x);
  for (const std::size_t v : by_degree(graph)) ordered.push_back(x[v]);
  return text.solve(search_of(ordered) + "maximize " + fmt::format("x{}", x.size() + 2 * pairs.size() + 1));
}

std::string numbering_model(const Graph& graph) {
  Text text;
  std::vector<std::string> x;
  for (int v = 0; v < graph.vertices; ++v) x.push_back(text.add_variable(1, graph.vertices));
  text.add_constraint(fmt::format("fzn_all_different_int([{}])", fmt::join(x, ",")));
  maximise_differences(text, x, graph.edges, graph.vertices - 1);
  text.add_output("number", x);
  return text.solve(search_of(x) + "maximize " + fmt::format("x{}", x.size() + 2 * graph.edges.size() + 1));
}

std::string qap_model(const qap::Qap& qap) {
  const std::int64_t n = qap.size();
  const auto view = qap.view();
  Text text;
  std::vector<std::string> location, cost;
  std::vector<std::int64_t> distances, flows;
  std::int64_t most = 0, total = 0;
  for (std::int32_t i = 0; i < n; ++i)
    for (std::int32_t j = 0; j < n; ++j) {
      distances.push_back(view.b_at(i, j));
      most = std::max(most, std::abs(distances.back()));
    }
  text.add_numbers("distance", distances);
  for (std::int64_t i = 0; i < n; ++i) location.push_back(text.add_variable(1, n));
  text.add_constraint(fmt::format("fzn_all_different_int([{}])", fmt::join(location, ",")));
  for (std::int32_t i = 0; i < n; ++i)
    for (std::int32_t j = 0; j < n; ++j) {
      if (view.a_at(i, j) == 0) continue;
      const std::string index = text.add_defined(1, n * n), distance = text.add_defined(-most, most);
      text.define_sum({n, 1}, {location[static_cast<std::size_t>(i)], location[static_cast<std::size_t>(j)]}, index, -n);
      text.add_constraint(fmt::format("array_int_element({},distance,{})", index, distance), distance);
      cost.push_back(distance);
      flows.push_back(view.a_at(i, j));
      total += std::abs(flows.back()) * most;
    }
  const std::string objective = text.add_defined(-total, total);
  text.define_sum(flows, cost, objective);
  text.add_output("location", location);
  return text.solve(search_of(location) + "minimize " + objective);
}

Knapsack random_knapsack(std::int64_t items, std::int64_t range, Correlation correlation, std::uint64_t seed) {
  Knapsack knapsack;
  Draw draw(seed);
  const std::int64_t tenth = std::max<std::int64_t>(1, range / 10);
  for (std::int64_t k = 0; k < items; ++k) {
    const std::int64_t weight = draw.from(1, range);
    const std::int64_t profit = correlation == Correlation::strong ? weight + tenth
                                : correlation == Correlation::weak ? std::max<std::int64_t>(1, weight + draw.from(-tenth, tenth))
                                                                   : draw.from(1, range);
    knapsack.weight.push_back(weight);
    knapsack.profit.push_back(profit);
    knapsack.capacity += weight;
  }
  knapsack.capacity /= 2;
  return knapsack;
}

std::string knapsack_model(const Knapsack& knapsack) {
  Text text;
  std::vector<std::string> x;
  for (std::size_t k = 0; k < knapsack.weight.size(); ++k) x.push_back(text.add_variable(0, 1));
  text.add_constraint(fmt::format("int_lin_le([{}],[{}],{})", fmt::join(knapsack.weight, ","), fmt::join(x, ","), knapsack.capacity));
  const std::string total = text.add_defined(0, std::accumulate(knapsack.profit.begin(), knapsack.profit.end(), std::int64_t{0}));
  text.define_sum(knapsack.profit, x, total);
  text.add_output("x", x);
  return text.solve(search_of(x) + "maximize " + total);
}

std::int64_t knapsack_optimum(const Knapsack& knapsack) {
  std::vector<std::int64_t> best(static_cast<std::size_t>(knapsack.capacity) + 1, 0);  // [capacity]
  for (std::size_t k = 0; k < knapsack.weight.size(); ++k)
    for (auto c = static_cast<std::size_t>(knapsack.capacity), w = static_cast<std::size_t>(knapsack.weight[k]); c >= w; --c)
      best[c] = std::max(best[c], best[c - w] + knapsack.profit[k]);
  return best.back();
}

std::string random_model(std::int64_t variables, std::int64_t constraints, std::int64_t domain, std::uint64_t seed) {
  return RandomModel(domain, seed).make(variables, constraints);
}

}  // namespace vicinity
