#pragma once
// Where `vicinity solve` writes: checked before the search, and never a good solution or another file lost.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace vicinity {

class SolutionFile {
 public:
  /// `objective_of` reads a solution file of the instance and throws InputError when it is none. Throws InputError when `path` is the
  /// instance's own file or, without `force`, when it exists and holds no solution of this instance; EnvironmentError when it cannot be
  /// written.
  SolutionFile(std::filesystem::path path, const std::filesystem::path& instance, bool force,
               std::function<std::int64_t(const std::string&)> objective_of);

  [[nodiscard]] std::string path() const { return path_.string(); }

  /// The objective of a solution there that is not worse than `objective`, which must stay; empty: write. Reads the file again, since
  /// another search may have ended in the meantime. With `force`: empty.
  [[nodiscard]] std::optional<std::int64_t> better_than(std::int64_t objective) const;

  /// Replaces the file at once; what is no ordinary file (/dev/null, a pipe) is written to. Throws EnvironmentError.
  void write(const std::string& text) const;

 private:
  /// Of the solution there; empty when there is no file, or an empty one, or no ordinary one.
  [[nodiscard]] std::optional<std::int64_t> existing() const;
  [[nodiscard]] bool special() const;
  void require_writable() const;

  std::filesystem::path path_;
  bool force_;
  std::function<std::int64_t(const std::string&)> objective_of_;
};

}  // namespace vicinity
