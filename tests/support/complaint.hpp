#pragma once
// What bad input is told.
#include <string>

namespace vicinity {

/// What the callable complains with; empty when it does not throw `Error`.
template <class Error, class Callable>
[[nodiscard]] std::string complaint(Callable&& callable) {
  try {
    callable();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace vicinity
