#pragma once
#include <vector>

#include "core/api/team.hpp"
#include "core/methods/sa/annealing.hpp"

namespace vicinity::annealing {

/// judge(), of the chains of all ranks, of which rank after rank has consecutive ones; of this one alone where there is no team. By all
/// ranks, for rank 0. `task` is this rank's: its chains alone.
[[nodiscard]] Outcome judge(Team* team, const qap::Qap& qap, const Task& task, const std::vector<Chain>& chains);

}  // namespace vicinity::annealing
