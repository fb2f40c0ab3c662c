#include "data/search_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <utility>

#include "core/util/error.hpp"

namespace vicinity {
namespace fs = std::filesystem;
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// In small letters.
std::string suffix_of(const fs::path& file) {
  std::string suffix = file.extension().string();
  std::transform(suffix.begin(), suffix.end(), suffix.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return suffix;
}

/// The first file called `name` below `folder`, in the order of the paths, so that every machine picks the same one; where there is none,
/// the first one whose suffix alone is in other letters: nug30.DAT.
std::optional<fs::path> find_below(const fs::path& folder, const fs::path& name) {
  std::vector<fs::path> found, alike;
  const std::string suffix = suffix_of(name);
  std::error_code error;
  fs::recursive_directory_iterator walk(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && walk != fs::recursive_directory_iterator(); walk.increment(error)) {
    std::error_code ignored;
    const fs::path& path = walk->path();
    const bool same = path.filename() == name;
    if ((same || (path.stem() == name.stem() && suffix_of(path) == suffix)) && walk->is_regular_file(ignored))
      (same ? found : alike).push_back(path);
  }
  if (found.empty()) found = std::move(alike);
  if (found.empty()) return std::nullopt;
  return *std::min_element(found.begin(), found.end());
}

}  // namespace

bool has_suffix(const fs::path& file, std::string_view suffix) { return suffix_of(file) == suffix; }

fs::path data_folder() {
  std::vector<fs::path> candidates{"data", fs::path(VICINITY_SOURCE_DIR) / "data"};
  if (const std::string set = environment("VICINITY_DATA"); !set.empty()) candidates = {set};
  for (const fs::path& candidate : candidates) {
    std::error_code ignored;
    if (fs::is_regular_file(candidate / "catalogue.yaml", ignored)) return candidate;
  }
  throw InputError(
      fmt::format("catalogue.yaml not found in {}; set VICINITY_DATA to the folder that holds it", candidates.back().string()));
}

std::vector<fs::path> instance_folders() {
  std::vector<fs::path> folders;
  std::istringstream list(environment("VICINITY_INSTANCES"));
  for (std::string folder; std::getline(list, folder, ':');) {
    if (!folder.empty()) folders.emplace_back(folder);
  }
  folders.push_back(data_folder() / "instances");
  folders.push_back(data_folder() / "models");
  return folders;
}

fs::path find_instance_file(const fs::path& file, const std::string& how, const std::vector<fs::path>& folders) {
  std::string looked;
  for (const fs::path& folder : folders) {
    std::error_code ignored;
    if (fs::is_regular_file(folder / file, ignored)) return folder / file;
    if (auto found = find_below(folder, file.filename())) return *found;
    looked += (looked.empty() ? "" : ", ") + folder.string();
  }
  throw MissingInput(
      fmt::format("instance file {} not found in {}; {} and put it into data/instances/{}, or set VICINITY_INSTANCES to the "
                  "folder that holds it",
                  file.string(), looked.empty() ? "any folder" : looked, how, file.parent_path().string()));
}

}  // namespace vicinity
