#pragma once
// The only writer of results: append-only JSON lines, each written whole and synchronised, one writer a file. The records of an experiment
// are those of all its files: <experiment>.jsonl, and <experiment>.shard-I-of-N.jsonl of every shard.
#include <filesystem>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "harness/record/record.hpp"

namespace vicinity {

/// The environment failed: I/O, a lock, another process. One line for the user; exit code 3.
struct EnvironmentError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Recorder {
 public:
  /// Opens (creates folders as needed) and locks the file, removes a torn last line that a killed run left behind, and
  /// reads what is there, in the experiment's other files too. A damaged line stays, and is left out. Shards of one N have no pair in
  /// common and may be at work together; while a run that divides the experiment otherwise is at work, throws EnvironmentError.
  explicit Recorder(const std::filesystem::path& path);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Lines that were there when it was opened, of other files first, and those added since.
  [[nodiscard]] const std::vector<Json>& existing() const noexcept { return existing_; }
  /// Lines that are no records: "file:line: field: what is wrong".
  [[nodiscard]] const std::vector<std::string>& damaged() const noexcept { return damaged_; }
  /// Adds one line and waits until it is on the disk. When that fails the file is left with whole lines only, and
  /// EnvironmentError says why. Not interrupted by Ctrl-C.
  void append(const Json& record);

 private:
  void read_others();
  void read(const std::filesystem::path& path, int file);
  [[noreturn]] void fail(const std::string& what, int error) const;

  std::filesystem::path path_;
  int file_ = -1;
  std::vector<Json> existing_;
  std::vector<std::string> damaged_;
};

/// Keys of cases.
using CaseKeys = std::set<std::string, std::less<>>;

/// Are these the sources, as they are now, of the reference of this name?
using IsCurrent = std::function<bool(std::string_view reference, std::string_view sources)>;

/// What was compared with a reference as it is now in these cases, in the experiments that share a folder with `experiment`, on all
/// machines of a folder of results. Files and lines that are no records are left out; other lines are not parsed.
[[nodiscard]] std::vector<Json> records_of(const std::filesystem::path& results, const std::string& experiment, const IsCurrent& is_current,
                                           const CaseKeys& cases);

/// Replaces a file at once: readers see the old or the new text, never half. Throws EnvironmentError.
void write_atomically(const std::filesystem::path& path, const std::string& text);

/// Is there something that is no ordinary file: a device, a pipe?
[[nodiscard]] bool is_special_file(const std::filesystem::path& path);
/// The file that a link to an ordinary file leads to; anything else as it is.
[[nodiscard]] std::filesystem::path link_followed(const std::filesystem::path& path);
/// Writes where a user asked for it: an ordinary file is replaced at once, the one a link leads to as well; a device or a pipe is written
/// to and stays what it is. Throws EnvironmentError, also for a folder and for a link that leads nowhere.
void write_output(const std::filesystem::path& path, const std::string& text);
/// Throws EnvironmentError where write_output() would, as far as that can be known before.
void require_writable(const std::filesystem::path& path);

/// While it lives, no other process that asks for it is at work in the folder. Where the file system has no locks, nothing is held.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int folder_ = -1;
};

}  // namespace vicinity
