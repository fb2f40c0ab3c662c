#pragma once
#include <memory>
#include <vector>

#include "core/api/run.hpp"

namespace vicinity::alns {

[[nodiscard]] std::vector<Implementation> cpu_implementations();

[[nodiscard]] std::unique_ptr<Run> prepare_recompute(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_serial(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_openmp(const Case& c, const Instance& instance);

}  // namespace vicinity::alns
