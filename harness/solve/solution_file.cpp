#include "harness/solve/solution_file.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/util/error.hpp"
#include "harness/record/recorder.hpp"

namespace vicinity {

namespace fs = std::filesystem;

SolutionFile::SolutionFile(fs::path path, const fs::path& instance, bool force, std::function<Objective(const std::string&)> objective_of)
    : path_(std::move(path)), force_(force), objective_of_(std::move(objective_of)) {
  std::error_code error;
  if (fs::equivalent(path_, instance, error) && !error)
    throw InputError(fmt::format("--output: {} is the instance; it is never overwritten", path_.string()));
  require_writable(path_);
  if (force_) return;
  try {
    static_cast<void>(existing());
  } catch (const InputError& complaint) {
    throw InputError(fmt::format("{}: exists and is no solution of this instance; choose another --output, or --force ({})", path_.string(),
                                 complaint.what()));
  }
}

std::optional<Objective> SolutionFile::existing() const {
  std::error_code error;
  if (!fs::is_regular_file(path_, error) || fs::file_size(path_, error) == 0) return std::nullopt;
  return objective_of_(path_.string());
}

std::optional<Objective> SolutionFile::replace_if_better(const Objective& objective, const std::string& text) const {
  const FolderLock lock(path_.parent_path());
  if (!force_)
    if (const auto there = existing(); there && !objective.better_than(*there)) return there;
  write_output(path_, text);
  return std::nullopt;
}

}  // namespace vicinity
