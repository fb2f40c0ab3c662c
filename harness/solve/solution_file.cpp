#include "harness/solve/solution_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "core/util/error.hpp"
#include "harness/record/recorder.hpp"

namespace vicinity {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, int error) {
  throw EnvironmentError(fmt::format("{}: cannot be written: {}", path.string(), std::strerror(error)));
}

/// A link is followed: replacing it by a file would surprise.
fs::path resolved(const fs::path& path) {
  std::error_code error;
  const fs::path target = fs::is_symlink(path, error) && fs::is_regular_file(path, error) ? fs::canonical(path, error) : path;
  return error ? path : target;
}

}  // namespace

SolutionFile::SolutionFile(fs::path path, const fs::path& instance, bool force,
                           std::function<std::int64_t(const std::string&)> objective_of)
    : path_(std::move(path)), force_(force), objective_of_(std::move(objective_of)) {
  std::error_code error;
  if (fs::equivalent(path_, instance, error) && !error)
    throw InputError(fmt::format("--output: {} is the instance; it is never overwritten", path_.string()));
  require_writable();
  if (force_) return;
  try {
    static_cast<void>(existing());
  } catch (const InputError& complaint) {
    throw InputError(fmt::format("{}: exists and is no solution of this instance; choose another --output, or --force ({})", path_.string(),
                                 complaint.what()));
  }
}

bool SolutionFile::special() const {
  std::error_code error;
  return fs::exists(path_, error) && !fs::is_regular_file(path_, error);
}

void SolutionFile::require_writable() const {
  if (fs::is_directory(path_)) fail(path_, EISDIR);
  std::error_code error;
  if (fs::exists(path_, error) && ::access(path_.c_str(), W_OK) != 0) fail(path_, errno);
  if (special()) return;
  const std::string trial = fmt::format("{}.{}.tmp", resolved(path_).string(), getpid());  // as write_atomically will
  const int file = ::open(trial.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) fail(path_, errno);
  ::close(file);
  ::unlink(trial.c_str());
}

std::optional<std::int64_t> SolutionFile::existing() const {
  std::error_code error;
  if (!fs::is_regular_file(path_, error) || fs::file_size(path_, error) == 0) return std::nullopt;
  return objective_of_(path_.string());
}

std::optional<std::int64_t> SolutionFile::better_than(std::int64_t objective) const {
  if (force_) return std::nullopt;
  const auto there = existing();
  return there && *there <= objective ? there : std::nullopt;
}

void SolutionFile::write(const std::string& text) const {
  if (!special()) return write_atomically(resolved(path_), text);
  std::ofstream file(path_);
  file << text << std::flush;
  if (!file) fail(path_, errno != 0 ? errno : EIO);
}

}  // namespace vicinity
