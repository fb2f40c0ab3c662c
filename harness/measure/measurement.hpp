#pragma once
// One case of one implementation, from preparation to samples. Nothing is timed before it has passed its check.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/describe/plan.hpp"
#include "harness/measure/contention.hpp"
#include "harness/measure/nvml.hpp"
#include "harness/measure/prediction.hpp"
#include "harness/measure/referee.hpp"

namespace vicinity {

enum class Status { ok, invalid, skipped };

/// A pair taken before and after the samples.
template <class T>
using Around = std::pair<T, T>;

struct Result {
  Status status = Status::skipped;
  std::string message;                                 ///< why it is invalid or skipped
  std::shared_ptr<const Instance> instance;            ///< of the case; null where its file is missing
  bool missing_input = false;                          ///< skipped for want of an instance file: worth another try when it is there
  std::map<std::string, std::vector<double>> samples;  ///< "wall" and every part; seconds, one entry a repetition
  std::map<std::string, std::string> time_source;      ///< part -> the clock it was read from
  Trace trace;                                         ///< of the last repetition, where the protocol asks for it
  int batch = 1;
  std::optional<Outcome> outcome;
  std::optional<Outcome> reference;
  std::optional<Prediction> prediction;  ///< what the samples, the amounts of work and the iterations were predicted by, if they were
  Policy policy;
  Work work;
  std::optional<Contention> contention;  ///< of each sample
  std::optional<Around<nvml::State>> clocks;
  std::optional<double> gpu_joules;  ///< that the GPU's board used while all samples were taken, resets between them included
  std::optional<Around<double>> cpu_control;
  std::optional<Around<double>> gpu_control;
};

/// Seconds from which nothing shows of what a run pays as the first one: the first of its kind in a process; one after another seed of the
/// same case, or whose time is given.
inline constexpr double long_first_run = 10, long_later_run = 0.1;

struct MeasureOptions {
  bool control = false;                 ///< time the control kernels before and after
  double slowdown = 1;                  ///< tests only: stretches the timed interval
  double long_run = long_first_run;     ///< seconds from which the checked run is the sample, where one is enough
  const CountSource* counts = nullptr;  ///< tests only: what the system says of contention; null: Linux's
};

/// Checks, warms up, times, checks again; a run that takes long and need not be repeated is checked and timed at once. Times are those of
/// the asked case. A job with a scaling is run at each of its lengths, and its times are predicted, or it is run whole after all
/// (harness/measure/prediction.hpp). Skipped, and says why: what does not fit, is not supported, lacks its instance file, or can be neither
/// predicted nor run whole. Throws InputError for a broken case or a part of the time that the implementation does not report.
[[nodiscard]] Result measure(Referee& referee, const Job& job, const Protocol& protocol, const MeasureOptions& options = {});

/// The check alone, of a run of the whole work, or of the prefix alone where the check is of one: what follows may have no end of its own.
[[nodiscard]] Result verify(Referee& referee, const Job& job);

/// Repetitions of the work in one timed interval: 1, or enough that a GPU kernel shorter than 20 us fills 200 us.
[[nodiscard]] int batch_for(Backend backend, double kernel_seconds, bool flush_l2);

/// Repetitions that fit into protocol.max_seconds at `seconds` each: never below protocol.min_repetitions, never above
/// protocol.repetitions.
[[nodiscard]] int repetitions_for(const Protocol& protocol, double seconds);

/// The time the paper's number means: the named part, or for "total" the sum of the parts, of each sample.
[[nodiscard]] std::vector<double> chosen_times(const std::map<std::string, std::vector<double>>& samples, const std::string& time);

}  // namespace vicinity
