#pragma once
#include <memory>
#include <vector>

#include "core/api/run.hpp"

namespace vicinity::sa {

[[nodiscard]] std::vector<Implementation> cpu_implementations();

[[nodiscard]] std::unique_ptr<Run> prepare_traditional(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_delta_matrix(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_serial(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_delta(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_openmp(const Case& c, const Instance& instance);

}  // namespace vicinity::sa
