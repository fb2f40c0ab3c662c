#pragma once
// One prepare function an implementation; each .cu holds one, so that they compile side by side.
#include <memory>
#include <vector>

#include "core/api/run.hpp"

namespace vicinity::sa {

/// All of one process.
[[nodiscard]] std::vector<Implementation> gpu_implementations();
/// Of them the twins of cpu-traditional, and those of cpu-portfolio.
[[nodiscard]] std::vector<Implementation> gpu_annealing_implementations();
[[nodiscard]] std::vector<Implementation> gpu_portfolio_implementations();

[[nodiscard]] std::unique_ptr<Run> prepare_published(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_tuned(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_chains(const Case& c, const Instance& instance);

}  // namespace vicinity::sa
