#pragma once
// Repetitions through Google Benchmark: manual time, one iteration each, every repetition kept, nothing printed.
#include <functional>
#include <vector>

#include "core/api/run.hpp"

namespace vicinity {

/// One repetition.
struct Sample {
  double wall = 0;  ///< seconds of the host's clock around execute()
  Times parts;
};

/// Calls `repetition` `most` times under Google Benchmark, or until `enough` says so of the samples taken, and returns what it measured, in
/// order: never more of them, whatever the environment says. Rethrows what `repetition` throws. Throws std::runtime_error where it was not
/// called so often.
[[nodiscard]] std::vector<Sample> sample(
    const std::function<Sample()>& repetition, int most,
    const std::function<bool(const std::vector<Sample>&)>& enough = [](const std::vector<Sample>&) { return false; });

}  // namespace vicinity
