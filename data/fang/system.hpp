#pragma once
#include "core/run.hpp"

namespace vicinity::fang {

/// The system's problems and instances; the caller adds the implementations.
[[nodiscard]] System system();

}  // namespace vicinity::fang
