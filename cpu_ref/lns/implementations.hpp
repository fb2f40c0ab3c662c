#pragma once
#include <memory>
#include <vector>

#include "core/api/run.hpp"

namespace vicinity::lns {

[[nodiscard]] std::vector<Implementation> cpu_implementations();

[[nodiscard]] std::unique_ptr<Run> prepare_rescan(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_openmp(const Case& c, const Instance& instance);

}  // namespace vicinity::lns
