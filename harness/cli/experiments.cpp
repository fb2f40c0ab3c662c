#include "harness/cli/experiments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <system_error>

#include "build_info.hpp"
#include "core/util/error.hpp"
#include "harness/cli/text.hpp"
#include "systems/list.hpp"

namespace vicinity {
namespace {

namespace fs = std::filesystem;

/// A folder of the repository as it stands below the working directory, where it does.
fs::path nearer(const fs::path& folder) {
  const fs::path here = folder.lexically_relative(build::source_folder);
  return !here.empty() && *here.begin() != ".." && fs::is_directory(here) ? here : folder;
}

std::vector<std::string> names_of(const std::vector<std::string>& descriptors) {
  std::vector<std::string> names;
  for (const std::string& path : descriptors) names.push_back(experiment_name(path));
  return names;
}

/// Of the experiments: a whole system, those that have the name in some system, or the one that is spelled like it.
std::string suggestion(const std::string& asked, const std::vector<std::string>& paths, const std::vector<std::string>& names) {
  std::vector<std::string> meant;
  std::copy_if(names.begin(), names.end(), std::back_inserter(meant), [&](const std::string& name) {
    const auto slash = name.find('/');
    return name.substr(0, slash) == asked || name.substr(slash + 1) == asked;
  });
  if (!meant.empty()) return fmt::format("; experiments of this name: {}", join(meant));
  std::optional<std::string> near = nearest(asked, names);
  if (!near) near = nearest(asked, paths);
  if (!near) near = nearest_file(asked);
  return near ? fmt::format("; did you mean '{}'?", *near) : "; vicinity list tells them";
}

}  // namespace

std::vector<std::string> all_descriptors() {
  std::vector<fs::path> folders{build::source_folder};
  folders.insert(folders.end(), system_folders().begin(), system_folders().end());
  std::vector<std::string> paths;
  for (const fs::path& folder : folders) {
    const auto first = static_cast<std::ptrdiff_t>(paths.size());
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(nearer(folder / "experiments"), error)) {
      if (entry.path().extension() == ".yaml") paths.push_back(entry.path().string());
    }
    std::sort(paths.begin() + first, paths.end());
  }
  return paths;
}

std::string experiment_name(const fs::path& descriptor) {
  return (descriptor.parent_path().filename() / descriptor.stem()).generic_string();
}

std::vector<std::string> experiment_names() { return names_of(all_descriptors()); }

std::string descriptor_path(const std::string& path_or_name) {
  std::error_code error;
  if (path_or_name.empty() || fs::exists(path_or_name, error)) return path_or_name;
  const std::vector<std::string> paths = all_descriptors(), names = names_of(paths);
  const auto found = std::find(names.begin(), names.end(), path_or_name);
  if (found != names.end()) return paths[static_cast<std::size_t>(found - names.begin())];
  throw InputError(fmt::format("{}: no such file or experiment{}", path_or_name, suggestion(path_or_name, paths, names)));
}

}  // namespace vicinity
