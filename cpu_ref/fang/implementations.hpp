#pragma once
#include <vector>

#include "core/api/run.hpp"

namespace vicinity::fang {

[[nodiscard]] std::vector<Implementation> cpu_implementations();

}  // namespace vicinity::fang
