#pragma once
#include <vector>

#include "core/run.hpp"

namespace vicinity {

/// Axes, and `more` after them.
[[nodiscard]] inline std::vector<Axis> joined(std::vector<Axis> axes, const std::vector<Axis>& more) {
  axes.insert(axes.end(), more.begin(), more.end());
  return axes;
}

}  // namespace vicinity
