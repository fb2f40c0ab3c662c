#pragma once
// One rank's part of what several processes with a GPU each share. `team` outlives the runs.
#include <memory>

#include "core/api/run.hpp"
#include "core/api/team.hpp"

namespace vicinity::alns {

/// Of mpi-gpu-islands: the lines of gpu-hybrid that this rank has.
[[nodiscard]] std::unique_ptr<Run> prepare_gpu_islands_of_rank(const Case& c, const Instance& instance, Team& team);

}  // namespace vicinity::alns
