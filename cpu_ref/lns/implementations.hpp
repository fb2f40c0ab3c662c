#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/api/run.hpp"
#include "core/methods/lns/task.hpp"

namespace vicinity::lns {

[[nodiscard]] std::vector<Implementation> cpu_implementations();
/// Ours, by a method of its own: cpu-lns.
[[nodiscard]] std::vector<Implementation> cpu_repair_implementations();

[[nodiscard]] std::unique_ptr<Run> prepare_rescan(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_openmp(const Case& c, const Instance& instance);
/// As cpu-openmp, for who may have a first solution: values of all variables. The caller keeps the problem alive.
[[nodiscard]] std::unique_ptr<Run> search_from(const cp::Problem& problem, const Task& task,
                                               std::optional<std::vector<std::int32_t>> first);
/// cpu-lns, with `subsets` neighbourhoods a round. Its outcome counts as `proved` whether the search was complete. The caller keeps the
/// problem alive.
[[nodiscard]] std::unique_ptr<Run> search_by_repair(const cp::Problem& problem, const Task& task);

}  // namespace vicinity::lns
