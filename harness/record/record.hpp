#pragma once
// One line of results/<machine>/<system>/<name>.jsonl (schema 1: docs/protocol.md).
#include <string>

#include "harness/measure/measurement.hpp"
#include "harness/record/json.hpp"

namespace vicinity {

/// What every line of a run shares.
struct RunContext {
  std::string profile;
  std::string machine;
  std::string commit;
  bool dirty = false;
  std::string sources;            ///< hash of what the implementation's results depend on
  std::string reference_sources;  ///< and those of its reference
  std::string version;
  std::string build;    ///< hash of what built it; environment.json says the rest
  std::string started;  ///< UTC
  int process = 1;      ///< its number among those that the protocol asks for
  double slowdown = 1;  ///< tests only
};

[[nodiscard]] Json to_record(const RunContext& context, const Descriptor& descriptor, const Job& job, const Protocol& protocol,
                             const Result& result);

/// Equal for two results that answer the same question: experiment, case, implementation, profile, machine, sources,
/// descriptor, seed, repetitions asked for (how many, how few, how precise) and number of the process. What decides whether a line need not
/// be measured again.
[[nodiscard]] std::string resume_key(const RunContext& context, const Descriptor& descriptor, const Job& job, const Protocol& protocol);
/// The same key of a recorded line; empty when it is not a finished result (status ok or skipped): invalid, or its instance file was
/// missing.
[[nodiscard]] std::string resume_key(const Json& record);

}  // namespace vicinity
