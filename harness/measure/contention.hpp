#pragma once
// Who else wanted the processors while samples were taken. A sample is contended by the rule of docs/protocol.md; it is marked, never
// dropped.
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "harness/measure/threads.hpp"

namespace vicinity {

/// What the scheduler has counted of this process so far.
struct ProcessCounts {
  std::map<int, double> waited = {};  ///< thread -> seconds it was ready and had no processor; empty where the kernel does not tell
  std::int64_t voluntary = 0;         ///< context switches of threads that waited for something
  std::int64_t involuntary = 0;       ///< of threads that would have gone on
  double processor_time = 0;          ///< seconds, all threads
};

/// What the system has counted so far, and its state now. Empty: not told here.
struct SystemCounts {
  double time = 0;                             ///< seconds of a clock that only goes forward
  double processor_time = 0;                   ///< of this process, seconds
  std::optional<double> load = std::nullopt;   ///< average over a minute
  std::optional<int> runnable = std::nullopt;  ///< threads, this one included
  std::optional<double> steal = std::nullopt;  ///< seconds the hypervisor kept the processors to itself that the process may use
  std::optional<std::int64_t> throttlings = std::nullopt;
  std::optional<double> throttled = std::nullopt;  ///< seconds that the control group's quota held threads back
  std::optional<double> pressure = std::nullopt;   ///< seconds in which some thread of the system waited for a processor
};

/// Where counts come from; tests have their own.
class CountSource {
 public:
  virtual ~CountSource() = default;
  [[nodiscard]] virtual ProcessCounts process() const = 0;
  [[nodiscard]] virtual SystemCounts system() const = 0;
};

/// What Linux says in /proc and /sys below `root`; the process's own processor time and switches by system call.
class LinuxCounts : public CountSource {
 public:
  explicit LinuxCounts(std::filesystem::path root = "/", std::vector<int> processors = usable_processors())
      : root_(std::move(root)), processors_(std::move(processors)) {}
  [[nodiscard]] ProcessCounts process() const override;
  [[nodiscard]] SystemCounts system() const override;

 private:
  std::filesystem::path root_;
  std::vector<int> processors_;  ///< ascending
};

/// What a sample met.
struct Disturbance {
  double wall = 0;                              ///< seconds
  std::optional<double> waited = std::nullopt;  ///< seconds, all threads together
  std::int64_t voluntary = 0, involuntary = 0;
  bool contended = false;
};

/// Of all samples of a record.
struct Contention {
  std::vector<Disturbance> samples;
  SystemCounts before, after;
};

/// The rule for one sample: its threads waited for processors longer than 1 % of its time, beyond what each wake-up may take.
[[nodiscard]] bool waited_too_long(const Disturbance& sample);
/// The rule for a stretch of time: the hypervisor or the quota took more than 1 % of it, or of the processor time in it.
[[nodiscard]] bool held_back(const SystemCounts& from, const SystemCounts& to);

/// Reads around samples. Process counts are read at each; system counts at the first and then whenever samples of a tenth of a second have
/// passed: what they say holds for all samples since the reading before.
class ContentionWatch {
 public:
  /// `source` must outlive it.
  explicit ContentionWatch(const CountSource& source);

  void sample_begins();
  /// `wall`: seconds the sample took.
  void sample_ends(double wall);
  [[nodiscard]] bool contended(std::size_t sample) const { return found_.samples[sample].contended; }
  [[nodiscard]] Contention finish();

 private:
  void read_system();

  const CountSource& source_;
  Contention found_;
  ProcessCounts begin_;
  double since_reading_ = 0;     ///< seconds of samples
  std::size_t first_since_ = 0;  ///< sample
};

}  // namespace vicinity
