#include "core/methods/lns/branching.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "core/util/error.hpp"

namespace vicinity::lns {
namespace {

using cp::Expression;
using Is = Expression::Kind;

const std::map<std::string_view, VariableChoice> variable_choices{{"input_order", VariableChoice::input_order},
                                                                  {"first_fail", VariableChoice::first_fail},
                                                                  {"anti_first_fail", VariableChoice::anti_first_fail},
                                                                  {"smallest", VariableChoice::smallest},
                                                                  {"largest", VariableChoice::largest},
                                                                  {"occurrence", VariableChoice::occurrence},
                                                                  {"most_constrained", VariableChoice::most_constrained},
                                                                  {"max_regret", VariableChoice::max_regret},
                                                                  {"dom_w_deg", VariableChoice::dom_w_deg},
                                                                  {"impact", VariableChoice::dom_w_deg},
                                                                  {"activity", VariableChoice::dom_w_deg}};
const std::map<std::string_view, ValueChoice> value_choices{{"indomain", ValueChoice::min},
                                                            {"indomain_min", ValueChoice::min},
                                                            {"indomain_max", ValueChoice::max},
                                                            {"indomain_median", ValueChoice::median},
                                                            {"indomain_middle", ValueChoice::middle},
                                                            {"indomain_random", ValueChoice::random},
                                                            {"indomain_split", ValueChoice::split},
                                                            {"indomain_reverse_split", ValueChoice::reverse_split},
                                                            {"indomain_split_random", ValueChoice::split_random},
                                                            {"indomain_interval", ValueChoice::interval},
                                                            {"outdomain_min", ValueChoice::outdomain_min},
                                                            {"outdomain_max", ValueChoice::outdomain_max}};

class Annotations {
 public:
  Annotations(const cp::Model& model, const cp::CompiledModel& compiled)
      : model_(model), compiled_(compiled), covered_(static_cast<std::size_t>(compiled.network->variables()), false) {}

  Strategy strategy() {
    for (const Expression& note : model_.elements(model_.search)) read(note);
    strategy_.annotated = strategy_.phases.size();
    Phase named{{}, VariableChoice::dom_w_deg, ValueChoice::min}, defined, rest;
    // The objective is no decision of its own: a value of it that is decided early is one that nothing refutes soon.
    if (model_.goal != cp::Goal::satisfy) covered_[static_cast<std::size_t>(compiled_.objective)] = true;
    for (std::size_t x = 0; x < model_.variables.size(); ++x)
      if (const cp::Variable& variable = model_.variables[x]; !variable.introduced && !variable.defined)
        add(compiled_.variable_of[x], named);
    for (const cp::Output& output : model_.outputs)
      for (const cp::Var x : variables_of(model_, compiled_, output)) add(x, named);
    if (!named.variables.empty()) strategy_.phases.push_back(std::move(named));
    if (model_.goal != cp::Goal::satisfy)
      strategy_.phases.push_back(
          {{compiled_.objective}, VariableChoice::input_order, model_.goal == cp::Goal::maximise ? ValueChoice::max : ValueChoice::min});
    for (std::size_t x = 0; x < model_.variables.size(); ++x)
      if (!model_.variables[x].introduced) add(compiled_.variable_of[x], defined);
    if (!defined.variables.empty()) strategy_.phases.push_back(std::move(defined));
    for (cp::Var x = 0; x < compiled_.network->variables(); ++x) add(x, rest);  // what compilers have introduced
    strategy_.phases.push_back(std::move(rest));
    return std::move(strategy_);
  }

 private:
  void add(cp::Var x, Phase& phase) {
    if (covered_[static_cast<std::size_t>(x)]) return;
    covered_[static_cast<std::size_t>(x)] = true;
    phase.variables.push_back(x);
  }

  void read(const Expression& note) {
    if (note.is(Is::array))
      for (const Expression& element : model_.elements(note)) read(element);
    if (note.is(Is::atom) && text(note) == "restart_none") strategy_.restarts.kind = Restarts::Kind::none;
    if (!note.is(Is::call)) return;
    const auto parts = model_.elements(note);
    const std::string_view name = text(parts[0]);
    const auto arguments = parts.subspan(1);
    if (name == "seq_search" || name == "warm_start_array") {
      if (arguments.size() != 1 || !arguments[0].is(Is::array)) wrong(name);
      read(arguments[0]);
    } else if (name == "int_search" || name == "bool_search") {
      search(name, arguments);
    } else if (name == "warm_start" || name == "warm_start_int" || name == "warm_start_bool") {
      warm_start(name, arguments);
    } else if (name == "relax_and_reconstruct") {
      if (arguments.size() < 2 || !arguments[1].is(Is::integer)) wrong(name);
      strategy_.relaxed = variables(name, arguments[0]);
      strategy_.kept_percent = std::clamp<std::int64_t>(arguments[1].value, 0, 100);
    } else if (name.starts_with("restart_")) {
      restarts(name, arguments);
    }
  }

  void search(std::string_view name, std::span<const Expression> arguments) {
    if (arguments.size() < 3) wrong(name);
    Phase phase;
    for (const cp::Var x : variables(name, arguments[0])) {
      covered_[static_cast<std::size_t>(x)] = true;
      phase.variables.push_back(x);
    }
    if (const auto found = variable_choices.find(text(arguments[1])); found != variable_choices.end()) phase.variable = found->second;
    if (const auto found = value_choices.find(text(arguments[2])); found != value_choices.end()) phase.value = found->second;
    strategy_.phases.push_back(std::move(phase));
  }
  void warm_start(std::string_view name, std::span<const Expression> arguments) {
    if (arguments.size() < 2 || !arguments[0].is(Is::array) || !arguments[1].is(Is::array)) wrong(name);
    const auto xs = model_.elements(arguments[0]), values = model_.elements(arguments[1]);
    for (std::size_t k = 0; k < std::min(xs.size(), values.size()); ++k)
      if (xs[k].is(Is::variable) && (values[k].is(Is::integer) || values[k].is(Is::boolean)))
        strategy_.hints.emplace_back(compiled_.variable_of[static_cast<std::size_t>(xs[k].value)], values[k].value);
  }
  void restarts(std::string_view name, std::span<const Expression> arguments) {
    Restarts& restarts = strategy_.restarts;
    const auto scale = [&](std::size_t k) {
      if (arguments.size() <= k || !arguments[k].is(Is::integer)) wrong(name);
      return std::max<std::int64_t>(1, arguments[k].value);
    };
    if (name == "restart_constant") {
      restarts = {Restarts::Kind::constant, 1, scale(0)};
    } else if (name == "restart_linear") {
      restarts = {Restarts::Kind::linear, 1, scale(0)};
    } else if (name == "restart_luby") {
      restarts = {Restarts::Kind::luby, 1, scale(0)};
    } else if (name == "restart_geometric") {
      if (arguments.size() != 2 || !(arguments[0].is(Is::real) || arguments[0].is(Is::integer))) wrong(name);
      const double base = arguments[0].is(Is::real) ? std::bit_cast<double>(arguments[0].value) : static_cast<double>(arguments[0].value);
      restarts = {Restarts::Kind::geometric, std::max(1.0, base), scale(1)};
    }
  }

  [[nodiscard]] std::vector<cp::Var> variables(std::string_view name, const Expression& array) const {
    if (!array.is(Is::array)) wrong(name);
    std::vector<cp::Var> all;
    for (const Expression& element : model_.elements(array))
      if (element.is(Is::variable)) all.push_back(compiled_.variable_of[static_cast<std::size_t>(element.value)]);
    return all;
  }
  [[nodiscard]] std::string_view text(const Expression& note) const {
    return note.is(Is::atom) ? model_.text(static_cast<cp::Name>(note.value)) : std::string_view();
  }
  [[noreturn]] void wrong(std::string_view name) const {
    throw InputError(fmt::format("{}:{}: annotation {} has arguments of the wrong type", model_.file, model_.search_line, name));
  }

  const cp::Model& model_;
  const cp::CompiledModel& compiled_;
  Strategy strategy_;
  std::vector<bool> covered_;  ///< [variable] by a phase
};

/// 1 1 2 1 1 2 4 ... (Luby, Sinclair and Zuckerman 1993), from k = 0.
std::int64_t luby(std::int64_t k) {
  for (++k;;) {
    const int bits = std::bit_width(static_cast<std::uint64_t>(k));
    if (k == (std::int64_t{1} << bits) - 1) return std::int64_t{1} << (bits - 1);
    k -= (std::int64_t{1} << (bits - 1)) - 1;
  }
}

}  // namespace

std::int64_t Restarts::cutoff(std::int64_t k) const {
  constexpr double most = 1e15;
  switch (kind) {
    case Kind::none:
      break;
    case Kind::constant:
      return scale;
    case Kind::linear:
      return scale * (k + 1);
    case Kind::geometric:
      return static_cast<std::int64_t>(std::min(most, static_cast<double>(scale) * std::pow(base, static_cast<double>(k))));
    case Kind::luby:
      return scale * luby(k);
  }
  return static_cast<std::int64_t>(most);
}

std::vector<cp::Var> variables_of(const cp::Model& model, const cp::CompiledModel& compiled, const cp::Output& output) {
  std::vector<cp::Var> found;
  const auto look_at = [&](const Expression& value) {
    if (value.is(Is::variable)) found.push_back(compiled.variable_of[static_cast<std::size_t>(value.value)]);
  };
  look_at(output.value);
  if (output.value.is(Is::array))
    for (const Expression& element : model.elements(output.value)) look_at(element);
  return found;
}

Strategy strategy_of(const cp::Model& model, const cp::CompiledModel& compiled) { return Annotations(model, compiled).strategy(); }

}  // namespace vicinity::lns
