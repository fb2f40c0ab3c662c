#pragma once
#include "core/api/system.hpp"

namespace vicinity::lsm {

/// What `vicinity solve lsm` needs: QAPLIB's .dat and TSPLIB's .tsp files.
[[nodiscard]] Solver solver();

}  // namespace vicinity::lsm
