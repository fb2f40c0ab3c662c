#include "harness/solve/plot_file.hpp"

#include <fmt/format.h>

#include <fstream>
#include <utility>

#include "core/util/error.hpp"
#include "harness/record/recorder.hpp"

namespace vicinity {
namespace {

constexpr const char* first_line = "<!-- drawn by vicinity solve -->";

}  // namespace

PlotFile::PlotFile(std::filesystem::path path, bool force, const std::vector<std::filesystem::path>& others) : path_(std::move(path)) {
  namespace fs = std::filesystem;
  std::error_code error;
  const auto whole = [&](const fs::path& one) {
    return fs::weakly_canonical(fs::absolute(one), error);  // also where there is no such file yet
  };
  for (const fs::path& other : others)
    if (!other.empty() && (fs::equivalent(path_, other, error) || whole(path_) == whole(other)))
      throw InputError(fmt::format("--plot: {} is the instance or a solution; choose another file", path_.string()));
  require_writable(path_);
  if (force || !fs::is_regular_file(path_, error) || fs::file_size(path_, error) == 0) return;
  std::ifstream there(path_);
  std::string line;
  std::getline(there, line);
  if (line != first_line)
    throw InputError(
        fmt::format("--plot: {} exists and is no drawing of an earlier search; choose another file, or --force", path_.string()));
}

void PlotFile::write(const std::string& svg) const { write_output(path_, std::string(first_line) + "\n" + svg); }

}  // namespace vicinity
