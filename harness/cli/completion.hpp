#pragma once
// Completion of the command line in a shell. All of it comes from the description that parses the command line, so that it says the same.
#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

namespace vicinity {

/// What an option's values are chosen from, where that is known before the program runs.
using ValueWords = std::map<const CLI::Option*, std::vector<std::string>>;

/// Type names of options (CLI::Option::type_name) whose values are files or folders; the argument that takes experiments, by name or file.
inline constexpr char file_type[] = "FILE", folder_type[] = "FOLDER", experiment_argument[] = "EXPERIMENT";

/// A script for bash: to be sourced, or put into a folder of bash-completion under the program's name.
[[nodiscard]] std::string bash_completion(const CLI::App& app, const ValueWords& words);

/// A script for zsh: to be sourced, or put into a folder of $fpath as _<program>.
[[nodiscard]] std::string zsh_completion(const CLI::App& app, const ValueWords& words);

}  // namespace vicinity
