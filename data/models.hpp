#pragma once
// Constraint problems of cases: models of the catalogue, models made of graphs and of quadratic assignment problems, random ones. What is
// made has the text that MiniZinc's compiler makes of the models in data/models/.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/api/system.hpp"
#include "core/problems/cp/problem.hpp"
#include "data/graph.hpp"

namespace vicinity {

/// A user's .fzn file. Throws InputError.
[[nodiscard]] std::shared_ptr<const cp::Problem> read_model(const std::string& file);

/// The instance of a case of problem flatzinc (also where it names none), csp, mkcp, knapsack, qap or random. Throws InputError;
/// MissingInput as load_qap() does.
[[nodiscard]] std::shared_ptr<const cp::Problem> make_model(const Case& c);
/// Its text.
[[nodiscard]] std::string model_text(const Case& c);
/// The axes of a problem's instances.
[[nodiscard]] std::vector<Axis> model_axes(const std::string& problem);
/// The best objective known of a case.
[[nodiscard]] std::optional<std::int64_t> best_known_model(const Case& c);

/// The best objective the catalogue knows of a model read from a file with this very content.
[[nodiscard]] std::optional<std::int64_t> best_known_of(const cp::Problem& problem);

/// "76 variables, 40 free variables, 85 constraints".
[[nodiscard]] std::string size_text(const cp::Problem& problem);

/// The text of a solution: a line "name = value;" a variable of the model. Readers take the lines in any order.
[[nodiscard]] std::string model_solution_text(const cp::Problem& problem, const Solution& values);
/// Throws InputError "file:line: ...".
[[nodiscard]] Solution read_model_solution(const cp::Problem& problem, const std::string& file);

}  // namespace vicinity
