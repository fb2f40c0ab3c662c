#pragma once
// One prepare function an implementation; each .cu holds one, so that they compile side by side.
#include <memory>
#include <vector>

#include "core/api/run.hpp"

namespace vicinity::lns {

/// The table.
[[nodiscard]] std::vector<Implementation> gpu_implementations();
/// Ours, by a method of its own: gpu-lns.
[[nodiscard]] std::vector<Implementation> gpu_repair_implementations();

[[nodiscard]] std::unique_ptr<Run> prepare_published(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_tuned(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_repair(const Case& c, const Instance& instance);

}  // namespace vicinity::lns
