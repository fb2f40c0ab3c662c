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

PlotFile::PlotFile(std::filesystem::path path, bool force) : path_(std::move(path)) {
  namespace fs = std::filesystem;
  require_writable(path_);
  std::error_code error;
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
