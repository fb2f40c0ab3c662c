#pragma once
// The time of a long run from short ones: a straight line through runs of three lengths, or the reasons why there is none.
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/describe/plan.hpp"

namespace vicinity {

struct Result;

/// The line that gave a time: fixed_seconds + seconds_per_unit * to.
struct Prediction {
  std::string axis;
  std::array<std::int64_t, 3> at{};  ///< lengths that were run
  std::int64_t to = 0;
  double fixed_seconds = 0;     ///< what a run costs once
  double seconds_per_unit = 0;  ///< of the axis
  double change = 0;            ///< how much more a unit costs in the upper half of the lengths than in the lower, relative to all
};

/// More change than this is no straight line; twice its standard error is added to it, but never more than itself.
inline constexpr double most_change = 0.1;

/// Rounds at least, however few repetitions the protocol asks for: in each the three lengths are run, one after the other. A machine that
/// is slower for some seconds is so for all lengths of a round, and a line goes through samples of one round.
inline constexpr int fewest_to_predict = 3;

/// Rounds before a doubt stands.
inline constexpr int most_rounds = 9;

struct Fit {
  std::vector<double> whole;  ///< seconds at the length asked for: sample k by the line through the k-th of the shortest and of the longest
  double fixed = 0, slope = 0, change = 0;  ///< medians over the samples; seconds, seconds a unit, relative
  double most = 0;                          ///< seconds that the whole run may take if it is no straight line
  std::string doubt;                        ///< why the line must not be used; empty when it may
};

/// `seconds[k]` were measured at length `at[k]`, ascending; as many samples are used as each length has. There is doubt with fewer than
/// three samples, where the slope does not exceed its noise, and where a unit's cost changes by more than `most_change` and its noise.
[[nodiscard]] Fit fit(const std::array<std::vector<double>, 3>& seconds, const std::array<std::int64_t, 3>& at, std::int64_t to);

/// Measures `job`, which has a scaling, by `run`, which measures what has none: a length once, in the round that it is told, or the whole.
/// There are as many rounds as the protocol has repetitions of the longest. At each length the result is checked like any other. What is
/// predicted to take less than whole_under is run whole; what cannot be predicted is run whole where that may take no more than
/// most_seconds, and skipped elsewhere.
[[nodiscard]] Result predict(const Job& job, const Protocol& protocol, const std::function<Result(const Job&, int round)>& run);

}  // namespace vicinity
