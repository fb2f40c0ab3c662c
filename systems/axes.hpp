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

}  // namespace vicinity
