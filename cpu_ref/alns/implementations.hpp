#pragma once
#include <memory>
#include <vector>

#include "core/api/run.hpp"
#include "core/methods/alns/task.hpp"

namespace vicinity::alns {

/// Those of the published path.
[[nodiscard]] std::vector<Implementation> cpu_implementations();
/// One a variant, each with a path of its own.
[[nodiscard]] std::vector<Implementation> cpu_variants();

[[nodiscard]] std::unique_ptr<Run> prepare_recompute(const Task& task, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_serial(const Task& task, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_openmp(const Task& task, const Instance& instance);

}  // namespace vicinity::alns
