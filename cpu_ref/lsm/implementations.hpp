#pragma once
#include <memory>
#include <vector>

#include "core/api/run.hpp"

namespace vicinity::lsm {

[[nodiscard]] std::vector<Implementation> cpu_implementations();

[[nodiscard]] std::unique_ptr<Run> prepare_serial(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_openmp(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_ils(const Case& c, const Instance& instance);

}  // namespace vicinity::lsm
