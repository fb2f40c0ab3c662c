#pragma once
#include <vector>

#include "core/api/run.hpp"

namespace vicinity::alns {

/// Those of the hybrid genetic search, the first of which is the reference of the others.
[[nodiscard]] std::vector<Implementation> cpu_hybrid_implementations();

}  // namespace vicinity::alns
