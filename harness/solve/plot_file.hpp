#pragma once
// Where `vicinity solve --plot` draws: checked before the search; a file that is no drawing of ours stays.
#include <filesystem>
#include <string>
#include <vector>

namespace vicinity {

class PlotFile {
 public:
  /// Throws InputError when `path` is one of `others`, the instance and solutions, or exists and, without `force`, is no drawing of an
  /// earlier search; EnvironmentError when it cannot be written.
  PlotFile(std::filesystem::path path, bool force, const std::vector<std::filesystem::path>& others);

  [[nodiscard]] std::string path() const { return path_.string(); }
  /// Replaces the file at once. Throws EnvironmentError.
  void write(const std::string& svg) const;

 private:
  std::filesystem::path path_;
};

}  // namespace vicinity
