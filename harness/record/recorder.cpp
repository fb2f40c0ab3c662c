#include "harness/record/recorder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>

#include "harness/cli/interrupt.hpp"
#include "harness/describe/plan.hpp"
#include "harness/record/checked_json.hpp"

namespace vicinity {
namespace {

namespace fs = std::filesystem;

/// Writes all of it; returns 0 or the error.
int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written == 0 ? ENOSPC : errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

[[noreturn]] void cannot_be_written(const fs::path& path, int error) {
  throw EnvironmentError(fmt::format("{}: cannot be written: {}", path.string(), std::strerror(error)));
}

void create_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder)) {
    const std::string why = error ? error.message() : "not a folder";
    throw EnvironmentError(fmt::format("{}: cannot create the results folder: {}", folder.string(), why));
  }
}

std::string read_all(int file) {
  std::string text;
  std::array<char, 1 << 16> block{};
  for (off_t offset = 0;;) {
    const ssize_t got = ::pread(file, block.data(), block.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw std::system_error(errno, std::generic_category());
    if (got == 0) return text;
    text.append(block.data(), static_cast<std::size_t>(got));
    offset += got;
  }
}

/// Nothing of a file that has no records.
std::optional<Division> division_at(const fs::path& path) {
  return path.extension() == ".jsonl" ? std::optional(division_of(path.stem().string())) : std::nullopt;
}

/// The first text that follows this quoted name in a line of JSON, as it is written there.
std::string_view text_in(std::string_view line, std::string_view name) {
  const std::size_t at = line.find(name);
  if (at == std::string_view::npos) return {};
  const std::size_t begin = line.find('"', at + name.size());
  if (begin == std::string_view::npos) return {};
  const std::size_t end = line.find('"', begin + 1);
  return end == std::string_view::npos ? "" : line.substr(begin + 1, end - begin - 1);
}

}  // namespace

Recorder::Recorder(const fs::path& path) : path_(path) {
  create_folder(path.parent_path());
  file_ = ::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (file_ < 0) fail("cannot be opened for writing", errno);
  try {
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK)
        throw EnvironmentError(fmt::format("{}: another run is writing this file; wait for it to end", path_.string()));
      fail("cannot be locked", errno);
    }
    read_others();
    read(path_, file_);
  } catch (...) {
    ::close(file_);
    throw;
  }
}

Recorder::~Recorder() { ::close(file_); }

void Recorder::fail(const std::string& what, int error) const {
  throw EnvironmentError(fmt::format("{}: {}: {}", path_.string(), what, std::strerror(error)));
}

/// After its own lock is held: of two runs that begin together at least one sees the other.
void Recorder::read_others() {
  const auto own = division_at(path_);
  std::vector<fs::path> others;
  for (const auto& entry : fs::directory_iterator(path_.parent_path())) {
    const auto other = division_at(entry.path());
    if (own && other && other->experiment == own->experiment && entry.path().filename() != path_.filename()) others.push_back(entry.path());
  }
  std::sort(others.begin(), others.end());
  for (const fs::path& path : others) {
    const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    const bool locked =
        file >= 0 && division_at(path)->count != own->count && ::flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!locked) read(path, file);
    if (file >= 0) ::close(file);
    if (locked)
      throw EnvironmentError(
          fmt::format("{}: another run is writing this file, and divides the experiment otherwise; wait for it to end", path.string()));
  }
}

/// Of another's file, a line without an end is not read: it is being written, or its own run will repair it.
void Recorder::read(const fs::path& path, int file) {
  struct stat about {};
  if (::fstat(file, &about) == 0 && !S_ISREG(about.st_mode))  // a device may have no end
    throw EnvironmentError(fmt::format("{}: not an ordinary file", path.string()));
  std::string text;
  try {
    text = read_all(file);
  } catch (const std::system_error& error) {
    throw EnvironmentError(fmt::format("{}: cannot be read: {}", path.string(), error.code().message()));
  }
  std::size_t begin = 0;
  for (std::size_t number = 1; begin < text.size(); ++number) {
    const std::size_t end = text.find('\n', begin);
    const bool ended = end != std::string::npos;
    const std::string_view line = std::string_view(text).substr(begin, ended ? end - begin : end);
    begin = ended ? end + 1 : text.size();
    if (is_blank(line) && ended) continue;
    if (!ended && file != file_) return;
    ParsedJson parsed = parse_json(line);
    const bool whole = parsed.value.is_object();
    if (!ended) {  // torn by a kill: drop the piece, or add the missing end of a line that is whole, or of several run together
      const bool piece = !whole && line.find("}{") == std::string_view::npos;
      const int error =
          piece ? (::ftruncate(file_, static_cast<off_t>(text.size() - line.size())) == 0 ? 0 : errno) : write_all(file_, "\n");
      if (error != 0) fail("the torn last line cannot be repaired", error);
      if (piece) return;
    }
    if (!parsed.fault) parsed.fault = record_fault(parsed.value);
    if (parsed.fault)
      damaged_.push_back(fmt::format("{}:{}: {}", path.string(), number, parsed.fault->text()));
    else
      existing_.push_back(std::move(parsed.value));
  }
}

void Recorder::append(const Json& record) {
  const InterruptsHeld held;
  const off_t whole_lines = ::lseek(file_, 0, SEEK_END);
  if (whole_lines < 0) fail("cannot be written", errno);
  int error = write_all(file_, record.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  if (error == 0 && ::fsync(file_) != 0) error = errno;
  if (error == 0) return existing_.push_back(record);
  if (::ftruncate(file_, whole_lines) != 0) fail("cannot be written, and its last line is torn (the next run repairs it)", error);
  fail("cannot be written; the results before this one are kept", error);
}

std::vector<Json> records_of(const fs::path& results, const std::string& experiment, const IsCurrent& is_current, const CaseKeys& cases) {
  std::vector<Json> found;
  if (cases.empty()) return found;
  std::error_code none;
  for (const auto& machine : fs::directory_iterator(results, none))
    for (const auto& entry : fs::directory_iterator(machine.path() / fs::path(experiment).parent_path(), none)) {
      if (entry.path().extension() != ".jsonl" || !entry.is_regular_file(none)) continue;
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);) {
        if (!cases.contains(text_in(line, "\"case_key\""))) continue;
        if (!is_current(text_in(line, "\"reference\""), text_in(line, "\"reference_sources\""))) continue;
        ParsedJson parsed = parse_json(line);
        if (!parsed.fault && !record_fault(parsed.value)) found.push_back(std::move(parsed.value));
      }
    }
  return found;
}

void write_atomically(const fs::path& path, const std::string& text) {
  if (path.has_parent_path()) create_folder(path.parent_path());
  const fs::path temporary = fmt::format("{}.{}.tmp", path.string(), getpid());
  ::unlink(temporary.c_str());  // of a process of this number that was killed; a link planted there is not followed
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  int error = file < 0 ? errno : write_all(file, text);
  if (file >= 0 && error == 0 && ::fsync(file) != 0) error = errno;
  if (file >= 0) ::close(file);
  if (error == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return;
  ::unlink(temporary.c_str());
  cannot_be_written(path, error);
}

bool is_special_file(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error) && !fs::is_regular_file(path, error);
}

fs::path link_followed(const fs::path& path) {
  std::error_code error;
  const fs::path target = fs::is_symlink(path, error) && fs::is_regular_file(path, error) ? fs::canonical(path, error) : path;
  return error ? path : target;
}

void require_writable(const fs::path& path) {
  if (fs::is_directory(path)) cannot_be_written(path, EISDIR);
  std::error_code error;
  if (fs::exists(path, error) && ::access(path.c_str(), W_OK) != 0) cannot_be_written(path, errno);
  if (is_special_file(path)) return;
  const std::string trial = fmt::format("{}.{}.tmp", link_followed(path).string(), getpid());  // as write_atomically will
  const int file = ::open(trial.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) cannot_be_written(path, errno);
  ::close(file);
  ::unlink(trial.c_str());
}

void write_output(const fs::path& path, const std::string& text) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) cannot_be_written(path, EISDIR);
  if (fs::is_symlink(path, ignored) && !fs::exists(path, ignored)) cannot_be_written(path, ENOENT);
  if (!is_special_file(path)) return write_atomically(link_followed(path), text);
  const int file = ::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  const int error = file < 0 ? errno : write_all(file, text);
  if (file >= 0) ::close(file);
  if (error != 0) cannot_be_written(path, error);
}

FolderLock::FolderLock(const fs::path& folder)
    : folder_(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (folder_ < 0) return;
  while (::flock(folder_, LOCK_EX) != 0 && errno == EINTR) {
  }
}

FolderLock::~FolderLock() {
  if (folder_ >= 0) ::close(folder_);
}

}  // namespace vicinity
