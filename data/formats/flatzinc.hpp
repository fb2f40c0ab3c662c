#pragma once
// FlatZinc, the language that MiniZinc's compiler writes for solvers (MiniZinc handbook, part 4.3), without floats and set variables.
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "core/problems/cp/model.hpp"

namespace vicinity {

/// Reads a model: predicate items are skipped, items may stand in any order as long as names come before their use, and elements of arrays
/// may be used by their index, as in FlatZinc before version 1.6. One pass, 16 bytes for each number or name in the text. Throws InputError
/// "file:line: ..." for anything else; float and set variables are named in it. Whether predicates are known is for who interprets the
/// model.
[[nodiscard]] cp::Model read_flatzinc(std::string_view text, const std::string& file);
[[nodiscard]] cp::Model read_flatzinc(const std::filesystem::path& file);

/// A solution as FlatZinc has it: a line "name = value;" for each output, then ten dashes. `values` has one value for each variable.
[[nodiscard]] std::string flatzinc_solution_text(const cp::Model& model, std::span<const std::int32_t> values);

}  // namespace vicinity
