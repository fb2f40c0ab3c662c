#pragma once
// Where `vicinity solve` writes: checked before the search, and never a good solution or another file lost.
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "core/api/objective.hpp"

namespace vicinity {

class SolutionFile {
 public:
  /// `objective_of` reads a solution file of the instance and throws InputError when it is none. Throws InputError when `path` is the
  /// instance's own file or, without `force`, when it exists and holds no solution of this instance; EnvironmentError when it cannot be
  /// written.
  SolutionFile(std::filesystem::path path, const std::filesystem::path& instance, bool force,
               std::function<Objective(const std::string&)> objective_of);

  [[nodiscard]] std::string path() const { return path_.string(); }

  /// Replaces the file at once, unless it holds a solution that is not worse than `objective`: that one stays, and its objective is
  /// returned. Reads the file again, since another search may have ended in the meantime; no two searches do this in one folder at a time.
  /// With `force` it is always replaced; what is no ordinary file (/dev/null, a pipe) is written to. Throws EnvironmentError.
  [[nodiscard]] std::optional<Objective> replace_if_better(const Objective& objective, const std::string& text) const;

 private:
  /// Of the solution there; empty when there is no file, or an empty one, or no ordinary one.
  [[nodiscard]] std::optional<Objective> existing() const;

  std::filesystem::path path_;
  bool force_;
  std::function<Objective(const std::string&)> objective_of_;
};

}  // namespace vicinity
