#pragma once
#include <vector>

#include "core/api/run.hpp"

namespace vicinity::lsm {

[[nodiscard]] std::vector<Implementation> cpu_implementations();

}  // namespace vicinity::lsm
