#pragma once
// mpi-gpu: one rank's part of a search whose neighbourhood is shared by several processes with a GPU each.
#include <memory>

#include "core/api/run.hpp"
#include "core/api/team.hpp"

namespace vicinity::lsm {

/// Of this rank's slice of each neighbourhood: on the device throughout where ranks can exchange moves there (exchange.hpp), else by
/// gpu-reduction's evaluation and through the hosts. By all ranks: the first call exchanges addresses. `team` outlives the run.
[[nodiscard]] std::unique_ptr<Run> prepare_slice_on_device(const Case& c, const Instance& instance, Team& team);

}  // namespace vicinity::lsm
