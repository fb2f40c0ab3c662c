#pragma once
// What the user sees while a run goes on: a table line a result on stdout, elapsed and remaining time on stderr.
#include <map>
#include <string>
#include <vector>

#include "core/api/budget.hpp"
#include "harness/cli/options.hpp"
#include "harness/record/record.hpp"

namespace vicinity {

class Progress {
 public:
  /// `jobs`: what this run will measure, as `part` of a longer one. Prints the table's head.
  Progress(const Descriptor& descriptor, const Profile& profile, const std::vector<Job>& jobs, const RunPart& part);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// A result recorded earlier: only remembered, for the comparison with the reference.
  void recall(const Json& record);
  /// A job that need not be done.
  void pass() { --total_; }
  void begin(const Job& job);
  void finish(const Job& job, const Json& record);

 private:
  void clear_line() const;
  [[nodiscard]] std::string remaining() const;
  /// The last column: the ratio to the reference, or why there is no time.
  [[nodiscard]] std::string comparison(const Json& record, double seconds) const;

  const Profile& profile_;
  RunPart part_;
  std::string name_;  ///< in front of the line where there are several parts
  std::string reference_;
  std::size_t total_;
  std::size_t done_ = 0;
  std::size_t case_width_, name_width_;
  bool terminal_;
  Stopwatch since_start_, since_line_;

  struct Baseline {
    double seconds;
    bool extrapolated;
  };
  std::map<std::string, Baseline> baselines_;  ///< case key -> the reference's median
};

/// Median of the time the protocol chose, of the samples that count (docs/protocol.md, contention); NaN without samples.
[[nodiscard]] double chosen_median(const Json& record);

}  // namespace vicinity
