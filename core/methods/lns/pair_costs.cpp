#include "core/methods/lns/pair_costs.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "core/methods/lns/task.hpp"
#include "core/problems/cp/operations.hpp"

namespace vicinity::lns {
namespace {

/// Values in all tables; words of the description of a function, and how deep it may be nested; calls of operations that make the tables;
/// of all terms the sum of the coefficients, so that 63 bits hold what an exchange changes.
constexpr std::size_t most_values = std::size_t{1} << 22, most_words = std::size_t{1} << 16;
constexpr int most_nested = 64;
constexpr std::int64_t most_calls = std::int64_t{1} << 25, most_coefficients = std::int64_t{1} << 30;

/// The model is of another form.
struct OtherForm {};

}  // namespace

class PairCostsMaker {
 public:
  PairCostsMaker(const cp::Problem& problem, std::span<const std::vector<std::int32_t>> groups)
      : problem_(problem),
        groups_(groups),
        view_(problem.evaluation().view()),
        free_(problem.free_variables()),
        slots_(problem.evaluation().slots()),
        definer_(slots_.size(), -1),
        number_(slots_.size(), -1),
        depends_(slots_.size()),
        range_(slots_.size()),
        made_(problem) {}

  /// Throws OtherForm.
  PairCosts make() {
    const cp::Expression& objective = problem_.model().objective;
    if (problem_.model().goal == cp::Goal::satisfy || !objective.is(cp::Expression::Kind::variable)) throw OtherForm();
    objective_ = static_cast<std::int32_t>(objective.value);
    set_slots();
    made_.least_ = cp::least_value;
    made_.greatest_ = cp::greatest_value;
    for (std::int32_t k = 0; k < view_.operations; ++k) add(k);
    add_terms(objective_, 1);
    if (problem_.sense() == Sense::maximise) {
      made_.least_ = -std::exchange(made_.greatest_, -made_.least_);
      for (auto& [term, coefficient] : terms_) coefficient = -coefficient;
    }
    store();
    return std::move(made_);
  }

 private:
  /// Free variables that something follows from, at most two of them, in the order in which its description meets them.
  struct Depends {
    std::int32_t count = 0;  ///< 3: more than two
    std::int32_t variable[2] = {-1, -1};

    void add(std::int32_t d) {
      if (count == 3 || (count > 0 && variable[0] == d) || (count > 1 && variable[1] == d)) return;
      if (count < 2) variable[count] = d;
      ++count;
    }
    void add(const Depends& other) {
      if (other.count == 3) count = 3;
      for (std::int32_t k = 0; k < std::min(other.count, 2); ++k) add(other.variable[k]);
    }
    [[nodiscard]] bool many() const { return count == 3; }
  };
  struct Range {
    std::int64_t least = 0, greatest = -1;  ///< empty: not known
  };
  struct Table {
    std::uint32_t begin = 0;
    bool has_violated = false, symmetric = false;
    Range range;
  };
  struct Function {
    Table table;
    Depends of;
  };

  /// Constants stand there; what propagation at the root has fixed is one, too.
  void set_slots() {
    for (const std::int32_t slot : problem_.evaluation().free_variables()) {
      const cp::Var x = problem_.compiled().variable_of[static_cast<std::size_t>(slot)];
      slots_[static_cast<std::size_t>(slot)] = problem_.compiled().network->view().lower[x];
    }
    for (std::int32_t d = 0; d < free_.count; ++d) {
      const auto slot = static_cast<std::size_t>(free_.variables[d].slot);
      number_[slot] = d;
      depends_[slot].add(d);
    }
    for (std::int32_t k = 0; k < view_.operations; ++k)
      if (view_.use[k] == cp::Use::define) definer_[static_cast<std::size_t>(view_.result[k])] = k;
  }

  [[nodiscard]] std::span<const std::int32_t> arguments(std::int32_t k) const {
    return {view_.arguments + view_.argument_begin[k], view_.arguments + view_.argument_begin[k + 1]};
  }
  [[nodiscard]] std::span<const std::int64_t> data(std::int32_t k) const {
    return {view_.data + view_.data_begin[k], view_.data + view_.data_begin[k + 1]};
  }
  [[nodiscard]] bool defines(std::int32_t k) const { return view_.use[k] == cp::Use::define; }

  void add(std::int32_t k) {
    const auto result = static_cast<std::size_t>(view_.result[k]);
    Depends of;
    for (const std::int32_t slot : arguments(k)) of.add(depends_[static_cast<std::size_t>(slot)]);
    if (!defines(k)) of.add(depends_[result]);
    if (defines(k)) depends_[result] = of;
    if (of.count == 0) return;  // the same in all solutions
    if (of.many()) return add_wide(k);
    const Function function = function_of(k);
    if (function.table.has_violated) add_term(function, 0);
    if (defines(k)) range_[result] = function.table.range;
  }

  /// Of more than two variables: a sum; all-different values; the domain of a sum.
  void add_wide(std::int32_t k) {
    const auto result = static_cast<std::size_t>(view_.result[k]);
    if (defines(k) && view_.operation[k] == cp::Operation::sum) {
      range_[result] = range_of_sum(k);
    } else if (view_.operation[k] == cp::Operation::different && is_true(k)) {
      if (!stays_different(arguments(k))) throw OtherForm();
    } else if (view_.operation[k] == cp::Operation::member && is_true(k)) {
      restrict_sum(arguments(k)[0], data(k));
    } else {
      throw OtherForm();
    }
  }
  /// Has the operation to be true?
  [[nodiscard]] bool is_true(std::int32_t k) const {
    const auto result = static_cast<std::size_t>(view_.result[k]);
    return definer_[result] < 0 && depends_[result].count == 0 && slots_[result] == 1;
  }

  [[nodiscard]] Range range_of(std::int32_t slot) {
    const auto at = static_cast<std::size_t>(slot);
    if (depends_[at].many()) return range_[at];
    if (range_[at].least > range_[at].greatest) range_[at] = function_at(slot).table.range;
    return range_[at];
  }
  [[nodiscard]] Range range_of_sum(std::int32_t k) {
    const auto a = data(k);
    cp::Wide least = a[0], greatest = a[0];
    for (std::size_t j = 0; j < arguments(k).size(); ++j) {
      const Range range = range_of(arguments(k)[j]);
      const cp::Wide low = cp::Wide{a[j + 1]} * range.least, high = cp::Wide{a[j + 1]} * range.greatest;
      least += std::min(low, high);
      greatest += std::max(low, high);
    }
    if (least < cp::least_value || greatest > cp::greatest_value) throw OtherForm();
    return {static_cast<std::int64_t>(least), static_cast<std::int64_t>(greatest)};
  }
  /// The domain has all that the sum can be; of the objective it may be an interval that has not.
  void restrict_sum(std::int32_t slot, std::span<const std::int64_t> intervals) {
    const Range range = range_of(slot);
    for (std::size_t k = 0; k < intervals.size(); k += 2)
      if (intervals[k] <= range.least && range.greatest <= intervals[k + 1]) return;
    if (slot != objective_ || intervals.size() != 2) throw OtherForm();
    made_.least_ = std::max(made_.least_, intervals[0]);
    made_.greatest_ = std::min(made_.greatest_, intervals[1]);
  }
  /// Values that are different once are so after each exchange: all arguments of a group, or all of the group among the arguments, and
  /// nothing beside it that changes.
  [[nodiscard]] bool stays_different(std::span<const std::int32_t> slots) const {
    std::vector<std::int32_t> group_of(static_cast<std::size_t>(free_.count), -1);
    for (std::size_t g = 0; g < groups_.size(); ++g)
      for (const std::int32_t d : groups_[g]) group_of[static_cast<std::size_t>(d)] = static_cast<std::int32_t>(g);
    std::map<std::int32_t, std::size_t> members;
    std::size_t others = 0;
    for (const std::int32_t slot : slots) {
      const auto at = static_cast<std::size_t>(slot);
      if (definer_[at] >= 0 && depends_[at].count > 0) return false;
      const std::int32_t group = number_[at] < 0 ? -1 : group_of[static_cast<std::size_t>(number_[at])];
      if (group < 0)
        ++others;
      else
        ++members[group];
    }
    if (others == 0 && members.size() == 1) return true;
    return std::all_of(members.begin(), members.end(),
                       [&](const auto& one) { return groups_[static_cast<std::size_t>(one.first)].size() == one.second; });
  }

  // --- functions of at most two variables

  /// What a slot is, in words: the same words, the same function of the variables in the order of `of`.
  void describe(std::int32_t slot, int nested, Depends& of, std::vector<std::int64_t>& words) {
    enum Word : std::int64_t { variable, constant };
    if (words.size() > most_words || nested > most_nested) throw OtherForm();
    const auto at = static_cast<std::size_t>(slot);
    if (definer_[at] >= 0) return describe_operation(definer_[at], nested + 1, of, words);
    if (number_[at] < 0) return void(words.insert(words.end(), {constant, slots_[at]}));
    of.add(number_[at]);
    words.insert(words.end(), {variable, of.variable[0] == number_[at] ? 0 : 1, domain_of(number_[at])});
  }
  void describe_operation(std::int32_t k, int nested, Depends& of, std::vector<std::int64_t>& words) {
    constexpr std::int64_t operation = 2;
    const auto x = arguments(k);
    const auto a = data(k);
    words.insert(words.end(), {operation, static_cast<std::int64_t>(view_.operation[k]), static_cast<std::int64_t>(x.size()),
                               static_cast<std::int64_t>(a.size())});
    words.insert(words.end(), a.begin(), a.end());
    for (const std::int32_t slot : x) describe(slot, nested, of, words);
  }
  [[nodiscard]] std::int64_t domain_of(std::int32_t d) {
    const cp::FreeVariable& x = free_.variables[d];
    std::vector<std::int64_t> values{x.least, x.size};
    for (std::int64_t k = 0; x.begin >= 0 && k < x.size; ++k) values.push_back(free_.value(d, k));
    return domains_.try_emplace(std::move(values), static_cast<std::int64_t>(domains_.size())).first->second;
  }

  /// What operation k computes, or whether it holds.
  [[nodiscard]] Function function_of(std::int32_t k) {
    Function function;
    std::vector<std::int64_t> words{defines(k) ? -1 : static_cast<std::int64_t>(view_.use[k])};
    describe_operation(k, 0, function.of, words);
    if (!defines(k)) describe(view_.result[k], 0, function.of, words);
    const auto [at, added] = tables_.try_emplace(std::move(words));
    if (added) at->second = tabulate(function.of, k, view_.result[k]);
    function.table = at->second;
    return function;
  }
  [[nodiscard]] Function function_at(std::int32_t slot) {
    if (definer_[static_cast<std::size_t>(slot)] >= 0) return function_of(definer_[static_cast<std::size_t>(slot)]);
    Function function;
    std::vector<std::int64_t> words{-1};
    describe(slot, 0, function.of, words);
    const auto [at, added] = tables_.try_emplace(std::move(words));
    if (added) at->second = tabulate(function.of, -1, slot);
    function.table = at->second;
    return function;
  }
  /// Operation k, -1: none, and the slot that has its value.
  [[nodiscard]] Table tabulate(const Depends& of, std::int32_t k, std::int32_t result) {
    const auto size = [&](std::int32_t v) { return v < of.count ? free_.variables[of.variable[v]].size : 1; };
    const std::int64_t rows = size(0), columns = size(1);
    if (rows > static_cast<std::int64_t>(most_values) || columns > static_cast<std::int64_t>(most_values) ||
        made_.tables_.size() + static_cast<std::size_t>(rows * columns) > most_values)
      throw OtherForm();
    const std::vector<std::int32_t> before = needed(k);
    for (const std::int32_t one : before) spend(rows * columns, one);
    if (k >= 0) spend(rows * columns, k);
    Table table{static_cast<std::uint32_t>(made_.tables_.size()), false, rows == columns, {}};
    table.range = {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
    std::vector<std::int32_t> slots = slots_;
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t column = 0; column < columns; ++column) {
        if (of.count > 0) slot_of(slots, of.variable[0]) = free_.value(of.variable[0], row);
        if (of.count > 1) slot_of(slots, of.variable[1]) = free_.value(of.variable[1], column);
        for (const std::int32_t one : before) static_cast<void>(evaluate(one, slots));
        const bool valid = k < 0 || evaluate(k, slots);
        const std::int32_t value = k >= 0 && !defines(k) ? 0 : slots[static_cast<std::size_t>(result)];
        made_.tables_.push_back(valid ? value : PairCosts::violated);
        table.has_violated |= !valid;
        table.range = {std::min<std::int64_t>(table.range.least, value), std::max<std::int64_t>(table.range.greatest, value)};
      }
    const std::int32_t* values = made_.tables_.data() + table.begin;
    for (std::int64_t row = 0; table.symmetric && row < rows; ++row)
      for (std::int64_t column = 0; column < row; ++column)
        table.symmetric &= values[row * columns + column] == values[column * columns + row];
    table.symmetric &= of.count == 2 && domain_of(of.variable[0]) == domain_of(of.variable[1]);
    return table;
  }
  [[nodiscard]] std::int32_t& slot_of(std::vector<std::int32_t>& slots, std::int32_t d) const {
    return slots[static_cast<std::size_t>(free_.variables[d].slot)];
  }
  void spend(std::int64_t calls, std::int32_t k) {
    const auto size = static_cast<std::int64_t>(view_.operation[k] == cp::Operation::element ? 1 : arguments(k).size() + data(k).size());
    calls_ += calls * (1 + size);
    if (calls_ > most_calls) throw OtherForm();
  }
  /// Definitions of what k reads, in the order of levels.
  [[nodiscard]] std::vector<std::int32_t> needed(std::int32_t k) const {
    std::vector<std::int32_t> all, open;
    if (k >= 0) open.push_back(k);
    const auto visit = [&](std::int32_t slot) {
      const std::int32_t definer = definer_[static_cast<std::size_t>(slot)];
      if (definer < 0 || definer == k || std::find(all.begin(), all.end(), definer) != all.end()) return;
      all.push_back(definer);
      open.push_back(definer);
    };
    while (!open.empty()) {
      const std::int32_t one = open.back();
      open.pop_back();
      for (const std::int32_t slot : arguments(one)) visit(slot);
      if (one == k && !defines(k)) visit(view_.result[k]);
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  /// As Evaluation does.
  [[nodiscard]] bool evaluate(std::int32_t k, std::vector<std::int32_t>& slots) const {
    bool valid = true;
    const std::int64_t value = cp::value_of(view_, k, slots, valid);
    std::int32_t& result = slots[static_cast<std::size_t>(view_.result[k])];
    if (!defines(k)) return valid && (view_.use[k] == cp::Use::agree ? value == result : result == 0 || value == 1);
    valid = valid && value >= cp::least_value && value <= cp::greatest_value;
    result = valid ? static_cast<std::int32_t>(value) : 0;
    return valid;
  }

  // --- terms

  void add_term(const Function& function, std::int64_t coefficient) {
    if (function.of.count == 0) return;
    std::int32_t x = function.of.variable[0], y = function.of.count > 1 ? function.of.variable[1] : x;
    if (function.table.symmetric && x > y) std::swap(x, y);
    terms_[{function.table.begin, x, y}] += coefficient;
    coefficients_ += coefficient < 0 ? -cp::Wide{coefficient} : cp::Wide{coefficient};
    if (coefficients_ > most_coefficients) throw OtherForm();
  }
  /// The slot's value, so many times.
  void add_terms(std::int32_t objective, std::int64_t times) {
    std::vector<std::pair<std::int32_t, std::int64_t>> open{{objective, times}};
    while (!open.empty()) {
      const auto [slot, coefficient] = open.back();
      open.pop_back();
      if (!depends_[static_cast<std::size_t>(slot)].many()) {
        add_term(function_at(slot), coefficient);
        continue;
      }
      const std::int32_t k = definer_[static_cast<std::size_t>(slot)];  // a sum
      for (std::size_t j = 0; j < arguments(k).size(); ++j) {
        const cp::Wide product = cp::Wide{coefficient} * data(k)[j + 1];
        if (product > most_coefficients || product < -most_coefficients) throw OtherForm();
        open.emplace_back(arguments(k)[j], static_cast<std::int64_t>(product));
      }
      if (open.size() > most_values) throw OtherForm();
    }
  }
  void store() {
    std::vector<std::vector<PairCosts::Term>> of(static_cast<std::size_t>(free_.count));
    for (const auto& [term, coefficient] : terms_) {
      const auto [table, x, y] = term;
      const auto columns = static_cast<std::int32_t>(x == y ? 1 : free_.variables[y].size);
      of[static_cast<std::size_t>(x)].push_back({coefficient, table, y, columns, x == y ? 0 : 1});
      if (x != y) of[static_cast<std::size_t>(y)].push_back({coefficient, table, x, 1, columns});
    }
    made_.term_begin_.assign(1, 0);
    for (const auto& list : of) {
      made_.terms_.insert(made_.terms_.end(), list.begin(), list.end());
      made_.term_begin_.push_back(static_cast<std::uint32_t>(made_.terms_.size()));
    }
    made_.at_.resize(static_cast<std::size_t>(free_.count));
  }

  const cp::Problem& problem_;
  std::span<const std::vector<std::int32_t>> groups_;
  cp::EvaluationView view_;
  cp::FreeVariablesView free_;
  std::vector<std::int32_t> slots_;
  std::vector<std::int32_t> definer_;  ///< [slot] the operation that defines it; -1: none
  std::vector<std::int32_t> number_;   ///< [slot] of the free variable; -1: it is none
  std::vector<Depends> depends_;       ///< [slot]
  std::vector<Range> range_;           ///< [slot]
  std::int32_t objective_ = -1;
  std::int64_t calls_ = 0;
  cp::Wide coefficients_ = 0;
  std::map<std::vector<std::int64_t>, std::int64_t> domains_;
  std::map<std::vector<std::int64_t>, Table> tables_;                                    ///< [description]
  std::map<std::tuple<std::uint32_t, std::int32_t, std::int32_t>, std::int64_t> terms_;  ///< [table, variables] the coefficient
  PairCosts made_;
};

std::optional<PairCosts> PairCosts::of(const cp::Problem& problem, std::span<const std::vector<std::int32_t>> groups) {
  try {
    return PairCostsMaker(problem, groups).make();
  } catch (const OtherForm&) {
    return std::nullopt;
  }
}

void PairCosts::load(std::span<const std::int32_t> values, std::int64_t cost) {
  cost_ = cost;
  for (std::int32_t d = 0; d < free_.count; ++d) {
    const std::int32_t value = values[static_cast<std::size_t>(free_.variables[d].slot)];
    at_[static_cast<std::size_t>(d)] = {value, static_cast<std::int32_t>(free_.number_of(d, value))};
  }
}

/// -1: it is not in the domain.
std::int32_t PairCosts::number_of(std::int32_t d, std::int32_t value) const {
  const std::int64_t number = free_.number_of(d, value);
  return number >= 0 && number < free_.variables[d].size && free_.value(d, number) == value ? static_cast<std::int32_t>(number) : -1;
}

bool PairCosts::possible(std::int32_t x, std::int32_t y) const { return number_of(x, value(y)) >= 0 && number_of(y, value(x)) >= 0; }

/// Adds what the terms of x change when it gets value number `to`, and y number `to_y`; those of both only `with_y`. False: one is
/// violated.
bool PairCosts::add_changes(std::int32_t x, std::int32_t to, std::int32_t y, std::int32_t to_y, bool with_y, std::int64_t& sum) const {
  const std::int32_t from = at_[static_cast<std::size_t>(x)].number;
  const Term* const end = terms_.data() + term_begin_[static_cast<std::size_t>(x) + 1];
  for (const Term* term = terms_.data() + term_begin_[static_cast<std::size_t>(x)]; term != end; ++term) {
    if (term->other == y && !with_y) continue;
    const std::int32_t number = at_[static_cast<std::size_t>(term->other)].number;
    const std::int32_t* const table = tables_.data() + term->table;
    const std::int32_t before = table[std::int64_t{term->own_stride} * from + std::int64_t{term->other_stride} * number];
    const std::int32_t after =
        table[std::int64_t{term->own_stride} * to + std::int64_t{term->other_stride} * (term->other == y ? to_y : number)];
    if (after == violated) return false;
    sum += term->coefficient * (std::int64_t{after} - before);
  }
  return true;
}

std::int64_t PairCosts::cost_after(std::int32_t x, std::int32_t y) const {
  const std::int32_t to_x = number_of(x, value(y)), to_y = number_of(y, value(x));
  std::int64_t cost = cost_;
  if (!add_changes(x, to_x, y, to_y, true, cost) || !add_changes(y, to_y, x, to_x, false, cost)) return inconsistent;
  return cost < least_ || cost > greatest_ ? inconsistent : cost;
}

void PairCosts::exchange(std::int32_t x, std::int32_t y, std::int64_t cost) {
  cost_ = cost;
  const At a = at_[static_cast<std::size_t>(x)], b = at_[static_cast<std::size_t>(y)];
  at_[static_cast<std::size_t>(x)] = {b.value, number_of(x, b.value)};
  at_[static_cast<std::size_t>(y)] = {a.value, number_of(y, a.value)};
}

std::vector<std::int32_t> PairCosts::values() const {
  std::vector<std::int32_t> all;
  for (const At& at : at_) all.push_back(at.value);
  return all;
}

}  // namespace vicinity::lns
