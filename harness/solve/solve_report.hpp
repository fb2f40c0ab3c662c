#pragma once
// What `vicinity solve` prints in the end.
#include <cstdint>
#include <optional>
#include <string>

#include "harness/record/record.hpp"
#include "harness/solve/solve.hpp"

namespace vicinity {

/// How the work came about.
enum class WorkBy { user, time, fallback };

/// All there is to say of a search.
struct SolveReport {
  const System* system = nullptr;
  const Implementation* implementation = nullptr;
  std::string instance;  ///< as the user named it
  std::string size;
  Case c;
  std::uint64_t seed = 0;
  WorkBy work_by = WorkBy::fallback;
  std::int64_t whole_work = 0;
  std::optional<double> time_limit;
  std::optional<std::int64_t> target;
  std::string start;       ///< file, or empty
  std::int32_t scale = 1;  ///< of objectives
  std::optional<std::int64_t> start_objective;
  std::optional<std::int64_t> best_known;
  Found found;
  std::string output;                       ///< the solution file; empty when nothing was written
  std::string plot;                         ///< the drawing; empty: none
  std::optional<std::int64_t> output_kept;  ///< objective of the file's own solution, which was not replaced
};

/// Aligned lines for people.
[[nodiscard]] std::string summary_text(const SolveReport& report);

/// Schema 1: docs/solving.md.
[[nodiscard]] Json summary_json(const SolveReport& report);

}  // namespace vicinity
