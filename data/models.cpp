#include "data/models.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>

#include "core/problems/cp/oracle.hpp"
#include "core/util/error.hpp"
#include "data/catalogue.hpp"
#include "data/formats/flatzinc.hpp"
#include "data/formats/lines.hpp"
#include "data/generators/models.hpp"
#include "data/graphs.hpp"
#include "data/input_file.hpp"
#include "data/qaps.hpp"
#include "data/sha256.hpp"

namespace vicinity {
namespace {

const CatalogueEntry& entry_of(const Case& c, const char* format) {
  if (c.instance.empty()) throw InputError(fmt::format("problem {} needs an instance of format {}", c.problem, format));
  const CatalogueEntry& entry = catalogue().at(c.instance);
  if (entry.format != format)
    throw InputError(
        fmt::format("instance '{}' is not for problem {}: its format is {}, not {}", entry.name, c.problem, entry.format, format));
  return entry;
}

std::uint64_t seed_of(const Case& c) { return static_cast<std::uint64_t>(c.integer_or("instance_seed", 1, 0, std::int64_t{1} << 40)); }

std::string colouring(const Case& c) {
  const Graph graph = load_graph(entry_of(c, "dimacs-col"));
  const bool numbering = c.name_or("model", "colours", {"colours", "permutation"}) == "permutation";
  return numbering ? numbering_model(graph) : colouring_model(graph, c.integer_or("colours", 30, 2, 1000));
}

Knapsack knapsack_of(const Case& c) {
  const std::string name = c.name_or("correlation", "strong", {"none", "weak", "strong"});
  const Correlation correlation = name == "none" ? Correlation::none : name == "weak" ? Correlation::weak : Correlation::strong;
  return random_knapsack(c.integer_or("items", 100, 1, 10'000), c.integer_or("range", 1000, 1, 10'000), correlation, seed_of(c));
}

/// Is the model a file of the catalogue, not made?
bool is_file(const Case& c) { return c.problem == "flatzinc" || c.problem.empty(); }

/// Lines "name = value;" and a name's variable.
class SolutionReader {
 public:
  SolutionReader(const cp::Problem& problem, const std::string& file) : model_(problem.model()), file_(file) {
    for (std::size_t x = 0; x < model_.variables.size(); ++x) named_.emplace(model_.name_of(model_.variables[x]), x);
  }

  [[nodiscard]] Solution read() {
    std::ifstream in = open_input_file(file_);
    Solution values(model_.variables.size(), 0);
    std::vector<bool> given(values.size(), false);
    for (std::string line; std::getline(in, line);) {
      ++line_;
      const std::string_view words = text::trimmed(line);
      if (words.empty() || words.starts_with("%") || words.find_first_not_of('-') == std::string_view::npos) continue;
      const auto [x, value] = assignment(words);
      if (given[x]) fail(fmt::format("a second value of {}", text::shown(model_.name_of(model_.variables[x]))));
      given[x] = true;
      values[x] = value;
    }
    for (std::size_t x = 0; x < values.size(); ++x)
      if (!given[x]) throw InputError(fmt::format("{}: no value of {}", file_, text::shown(model_.name_of(model_.variables[x]))));
    return values;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw InputError(fmt::format("{}:{}: {}", file_, line_, what)); }
  [[nodiscard]] std::pair<std::size_t, std::int32_t> assignment(std::string_view words) const {
    const auto equals = words.find('=');
    if (equals == std::string_view::npos || !words.ends_with(';')) fail("expected name = value;");
    const std::string_view name = text::trimmed(words.substr(0, equals)),
                           value = text::trimmed(words.substr(equals + 1, words.size() - equals - 2));
    const auto found = named_.find(name);
    if (found == named_.end()) fail(fmt::format("the model has no variable {}", text::shown(name)));
    const bool boolean = model_.variables[found->second].boolean;
    if (boolean && (value == "true" || value == "false")) return {found->second, value == "true" ? 1 : 0};
    std::int32_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (boolean || error != std::errc() || end != value.data() + value.size())
      fail(fmt::format("{} is no {}", text::shown(value), boolean ? "bool" : "whole number of 32 bits"));
    return {found->second, number};
  }

  const cp::Model& model_;
  std::string file_;
  std::map<std::string_view, std::size_t> named_;
  int line_ = 0;
};

}  // namespace

std::shared_ptr<const cp::Problem> read_model(const std::string& file) {
  cp::Model model = read_flatzinc(std::filesystem::path(file));
  if (model.variables.empty()) throw InputError(file + ": there are no variables, and nothing to search");
  return std::make_shared<cp::Problem>(std::move(model));
}

std::shared_ptr<const cp::Problem> make_model(const Case& c) {
  if (is_file(c)) return read_model(instance_file(entry_of(c, "flatzinc")).string());
  const std::string name = !c.instance.empty() ? c.instance : "random " + (c.problem == "random" ? "model" : c.problem);
  return std::make_shared<cp::Problem>(read_flatzinc(model_text(c), name));
}

std::string model_text(const Case& c) {
  if (is_file(c)) return read_input_file(instance_file(entry_of(c, "flatzinc")));
  if (c.problem == "mkcp") return colouring(c);
  if (c.problem == "qap") return qap_model(*load_qap(entry_of(c, "qaplib")));
  if (c.problem == "knapsack") return knapsack_model(knapsack_of(c));
  if (c.problem == "csp")
    return random_csp(c.integer_or("variables", 70, 1, 100'000), c.integer_or("constraints", 200, 0, 1'000'000),
                      c.integer_or("domain", 10, 1, 1000), seed_of(c));
  return random_model(c.integer("variables", 1, 10'000), c.integer("constraints", 0, 100'000), c.integer("domain", 1, 1000), seed_of(c));
}

std::vector<Axis> model_axes(const std::string& problem) {
  const Axis seed{"instance_seed", "number of the random model (default 1)"};
  if (problem == "mkcp")
    return {{"model",
             "colours: a colour a vertex, distances over all pairs; permutation: different numbers, distances over the edges (default "
             "colours)"},
            {"colours", "of that model: 2 to 1000 (default 30)"}};
  if (problem == "knapsack")
    return {{"items", "1 to 10000 (default 100)"},
            {"range", "weights are from 1 to this: 1 to 10000 (default 1000)"},
            {"correlation", "of profits with weights: none, weak or strong (default strong)"},
            seed};
  if (problem == "csp")
    return {{"variables", "1 to 100000 (default 70)"},
            {"constraints", "disequalities of different pairs: up to 1000000 (default 200)"},
            {"domain", "values of a variable: 1 to 1000 (default 10)"},
            seed};
  if (problem == "random")
    return {{"variables", "1 to 10000"}, {"constraints", "definitions and checks: up to 100000"}, {"domain", "1 to 1000"}, seed};
  return {};
}

std::optional<std::int64_t> best_known_model(const Case& c) {
  if (c.problem == "knapsack") return knapsack_optimum(knapsack_of(c));
  const bool same = c.problem == "flatzinc" || c.problem == "qap";  // of other problems the catalogue knows what they do not ask
  return same && !c.instance.empty() ? best_value(catalogue().at(c.instance)) : std::nullopt;
}

std::optional<std::int64_t> best_known_of(const cp::Problem& problem) {
  const std::filesystem::path file = problem.model().file;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return std::nullopt;
  const std::string content = sha256_of_file(file);
  for (const CatalogueEntry& entry : catalogue().entries())
    if (entry.format == "flatzinc" && entry.sha256 == content) return best_value(entry);
  return std::nullopt;
}

std::string size_text(const cp::Problem& problem) {
  return fmt::format("{} variables, {} free variables, {} constraints", problem.model().variables.size(), problem.free_variables().count,
                     problem.model().constraints.size());
}

std::string model_solution_text(const cp::Problem& problem, const Solution& values) {
  std::string text;
  const cp::Model& model = problem.model();
  for (std::size_t x = 0; x < model.variables.size(); ++x) {
    const std::string value = model.variables[x].boolean ? (values[x] != 0 ? "true" : "false") : std::to_string(values[x]);
    text += fmt::format("{} = {};\n", model.name_of(model.variables[x]), value);
  }
  return text;
}

Solution read_model_solution(const cp::Problem& problem, const std::string& file) { return SolutionReader(problem, file).read(); }

}  // namespace vicinity
