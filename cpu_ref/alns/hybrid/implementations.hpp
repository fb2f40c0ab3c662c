#pragma once
#include <memory>
#include <vector>

#include "core/api/run.hpp"
#include "core/api/team.hpp"

namespace vicinity::alns {

/// Those of the hybrid genetic search, the first of which is the reference of the others.
[[nodiscard]] std::vector<Implementation> cpu_hybrid_implementations();
/// Over several processes, the side that asks.
[[nodiscard]] std::vector<Implementation> cpu_hybrid_rank_implementations();
[[nodiscard]] std::vector<Implementation> gpu_hybrid_rank_implementations();

/// One rank's part of mpi-islands. `team` outlives the run.
[[nodiscard]] std::unique_ptr<Run> prepare_islands_of_rank(const Case& c, const Instance& instance, Team& team);

}  // namespace vicinity::alns
