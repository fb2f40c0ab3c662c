#include "core/methods/lns/softening.hpp"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "core/methods/lns/rounds.hpp"
#include "core/methods/lns/task.hpp"
#include "core/util/error.hpp"

namespace vicinity::lns {
namespace {

using cp::Expression;
using Is = Expression::Kind;

/// Of expressions: larger models take long to compile.
constexpr std::size_t largest_pool = std::size_t{1} << 20;

class Softener {
 public:
  explicit Softener(const cp::Model& model) : model_(model) {}

  std::optional<cp::Model> soften() {
    if (model_.pool.size() > largest_pool) return std::nullopt;
    const std::size_t own = model_.constraints.size();
    for (std::size_t c = 0; c < own; ++c)
      if (is_free_equation(model_.constraints[c])) soften(c);
    if (deviations_.empty()) return std::nullopt;
    std::vector<Expression> terms = deviations_;
    std::vector<Expression> coefficients(terms.size(), Expression::integer(1));
    const Expression sum = variable(0, cp::greatest_value);
    terms.push_back(sum);
    coefficients.push_back(Expression::integer(-1));
    constrain("int_lin_eq", {array(coefficients), array(terms), Expression::integer(0)}, sum);
    model_.goal = cp::Goal::minimise;
    model_.objective = sum;
    return std::move(model_);
  }

 private:
  [[nodiscard]] bool is_free_equation(const cp::Constraint& constraint) const {
    if (model_.text(constraint.predicate) != "int_lin_eq" || constraint.arguments.size != 3) return false;
    const auto notes = model_.elements(constraint.annotations);
    return model_.elements(constraint.arguments)[2].is(Is::integer) &&
           std::none_of(notes.begin(), notes.end(), [this](const Expression& note) {
             return note.is(Is::call) && model_.text(static_cast<cp::Name>(model_.elements(note)[0].value)) == "defines_var";
           });
  }
  /// sum of a x = c becomes sum of a x - d = c; d and its absolute value are defined, so that they follow the variables.
  void soften(std::size_t c) {
    const auto arguments = model_.elements(model_.constraints[c].arguments);
    const Expression constant = arguments[2];
    const auto a = model_.elements(arguments[0]), x = model_.elements(arguments[1]);
    std::vector<Expression> coefficients(a.begin(), a.end()), variables(x.begin(), x.end());
    const Expression deviation = variable(cp::least_value, cp::greatest_value), distance = variable(0, cp::greatest_value);
    coefficients.push_back(Expression::integer(-1));
    variables.push_back(deviation);
    constrain("int_lin_eq", {array(coefficients), array(variables), constant}, deviation);
    std::swap(model_.constraints[c], model_.constraints.back());
    model_.constraints.pop_back();
    constrain("int_abs", {deviation, distance}, distance);
    deviations_.push_back(distance);
  }

  [[nodiscard]] Expression variable(std::int64_t low, std::int64_t high) {
    cp::Variable made;
    made.name = name("");
    made.introduced = made.defined = true;
    made.domain = {Is::interval, 2, add({Expression::integer(low), Expression::integer(high)})};
    model_.variables.push_back(made);
    return Expression::variable(model_.variables.size() - 1);
  }
  void constrain(std::string_view predicate, std::initializer_list<Expression> arguments, const Expression& defined) {
    cp::Constraint made;
    made.predicate = name(predicate);
    made.arguments = {static_cast<std::uint32_t>(add(arguments)), static_cast<std::uint32_t>(arguments.size())};
    const Expression note{Is::call, 2, add({{Is::atom, 0, name("defines_var")}, defined})};
    made.annotations = {static_cast<std::uint32_t>(add({note})), 1};
    model_.constraints.push_back(made);
  }
  [[nodiscard]] Expression array(std::span<const Expression> elements) {
    return {Is::array, static_cast<std::uint32_t>(elements.size()), add(elements)};
  }
  std::int64_t add(std::span<const Expression> elements) {
    const auto begin = static_cast<std::int64_t>(model_.pool.size());
    model_.pool.insert(model_.pool.end(), elements.begin(), elements.end());
    return begin;
  }
  std::int64_t add(std::initializer_list<Expression> elements) { return add(std::span(elements.begin(), elements.size())); }
  cp::Name name(std::string_view text) {
    model_.characters += text;
    model_.name_ends.push_back(model_.characters.size());
    return static_cast<cp::Name>(model_.name_ends.size() - 1);
  }

  cp::Model model_;
  std::vector<Expression> deviations_;
};

/// One thread that searches a neighbourhood after the other.
class InTurn final : public repair::Searchers {
 public:
  void set_up(const cp::Problem& problem, const cp::CompiledModel& compiled) override {
    cost_ = repair::cost_of(problem, compiled);
    search_ = repair::searcher(problem, compiled);
  }
  void search(const repair::Round& round, const Interruption& interruption) override {
    for (std::int64_t k = 0; k < round.others; ++k) round.other(k);
    for (std::size_t k = 0; k < round.found.size(); ++k)
      round.found[k] =
          repair::search_neighborhood(*search_, round.draw(static_cast<std::int64_t>(k)), round.incumbent, cost_, interruption);
  }

 private:
  repair::CostOf cost_{};
  std::unique_ptr<CpSearch> search_;
};

Task task() {
  Task rounds;
  rounds.subsets = repair::round_neighborhoods;
  rounds.steps = most_steps;
  rounds.threads = 1;
  return rounds;
}

}  // namespace

std::optional<cp::Model> softened(const cp::Model& model) { return Softener(model).soften(); }

class Softening::Search {
 public:
  Search(const cp::Model& model, std::uint64_t seed) : own_(model.variables.size()) {
    std::optional<cp::Model> soft = softened(model);
    if (!soft) return;
    try {
      problem_.emplace(std::move(*soft));
    } catch (const InputError&) {  // with a deviation more a sum leaves its 62 bits
      return;
    }
    rounds_.emplace(*problem_, task(), Start(seed), searchers_);
  }
  [[nodiscard]] bool step(const Interruption& interruption) {
    if (done()) return false;
    const std::int64_t before = least_;
    if (!std::exchange(set_up_, true)) rounds_->set_up(interruption);
    rounds_->step(interruption);
    const lns::Search found = rounds_->result().search;
    if (!found.best.empty()) least_ = found.cost;
    return least_ < before;
  }
  [[nodiscard]] bool done() const { return !rounds_ || least_ == 0 || rounds_->done(); }
  [[nodiscard]] std::vector<std::int32_t> values() const {
    if (least_ != 0) return {};
    std::vector<std::int32_t> all = rounds_->result().search.best;
    all.resize(own_);
    return all;
  }

 private:
  std::size_t own_;
  std::optional<cp::Problem> problem_;
  InTurn searchers_;
  std::optional<repair::Rounds> rounds_;
  std::int64_t least_ = std::numeric_limits<std::int64_t>::max();  ///< deviation so far
  bool set_up_ = false;
};

Softening::Softening(const cp::Model& model, std::uint64_t seed) : search_(std::make_unique<Search>(model, seed)) {}
Softening::~Softening() = default;
bool Softening::step(const Interruption& interruption) { return search_->step(interruption); }
bool Softening::done() const { return search_->done(); }
std::vector<std::int32_t> Softening::values() const { return search_->values(); }

}  // namespace vicinity::lns
