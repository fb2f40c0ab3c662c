#pragma once
#include <vector>

#include "core/api/run.hpp"

namespace vicinity::sa {

[[nodiscard]] std::vector<Implementation> cpu_implementations();

}  // namespace vicinity::sa
