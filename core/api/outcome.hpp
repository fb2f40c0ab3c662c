#pragma once
// What a run found, and how it came there.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/api/objective.hpp"

namespace vicinity {

/// A solution in its problem's own encoding: locations of facilities, cities in the order of the tour, ...
using Solution = std::vector<std::int32_t>;

/// Result of an execution, taken outside the timed interval.
struct Outcome {
  std::uint64_t digest = 0;  ///< of the whole result; twins agree bit for bit
  Objective objective;       ///< recomputed by the problem's oracle, from scratch
  bool feasible = false;     ///< judged by the oracle
  std::string complaint;     ///< what the oracle found wrong; empty when feasible
  std::int64_t iterations = 0;
  std::int64_t evaluations = 0;                  ///< ratings or moves the work asks for (not counting recomputation)
  std::map<std::string, std::int64_t> counters;  ///< deterministic: launches, bytes allocated, ...
  Solution solution;                             ///< of a search: the best found
};

/// Where the first search of a run was at one moment: at its start, at an improvement, or at a boundary between slices of work.
struct TracePoint {
  double seconds = 0;           ///< since the search began, the clock stopped between calls of execute()
  std::int64_t iterations = 0;  ///< of the first search
  Objective objective;          ///< the best it has found
  std::uint64_t digest = 0;     ///< of its moves so far: equal for twins at equal iterations
};
using Trace = std::vector<TracePoint>;

}  // namespace vicinity
