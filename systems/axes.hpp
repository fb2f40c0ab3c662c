#pragma once
// What systems put their tables together with.
#include <vector>

#include "core/api/device.hpp"
#include "core/api/system.hpp"

namespace vicinity {

/// `list`, and `more` after it.
template <class T>
[[nodiscard]] std::vector<T> joined(std::vector<T> list, const std::vector<T>& more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

/// Of systems whose ranks have a GPU each.
[[nodiscard]] inline Axis gpus_axis() {
  return {"gpus", "of ranks that need one: shared (default): those of a host share what GPUs it has; own: else the case does not fit"};
}

}  // namespace vicinity
