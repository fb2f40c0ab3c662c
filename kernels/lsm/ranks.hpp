#pragma once
// One rank's part of what several processes with a GPU each share. `team` outlives the runs.
#include <memory>

#include "core/api/run.hpp"
#include "core/api/team.hpp"

namespace vicinity::lsm {

/// Of mpi-gpu: gpu-reduction's evaluation of this rank's slice of each neighbourhood.
[[nodiscard]] std::unique_ptr<Run> prepare_reduction_of_rank(const Case& c, const Instance& instance, Team& team);
/// Of mpi-gpu-chains: gpu-chains of the restarts that this rank has of a case, which `c` is cut down to.
[[nodiscard]] std::unique_ptr<Run> prepare_chains_of_rank(const Case& c, const Instance& instance, Team& team);

}  // namespace vicinity::lsm
