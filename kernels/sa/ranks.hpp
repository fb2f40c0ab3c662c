#pragma once
// One rank's part of what several processes with a GPU each share. `team` outlives the runs.
#include <memory>

#include "core/api/run.hpp"
#include "core/api/team.hpp"

namespace vicinity::sa {

/// Of mpi-gpu-chains: gpu-chains of the chains that this rank has of a case, which `c` is cut down to.
[[nodiscard]] std::unique_ptr<Run> prepare_chains_of_rank(const Case& c, const Instance& instance, Team& team);

}  // namespace vicinity::sa
