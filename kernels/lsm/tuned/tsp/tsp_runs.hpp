#pragma once
// The tuned search of the travelling salesman for few cities. The caller keeps the instance alive.
#include <memory>

#include "core/api/run.hpp"
#include "core/methods/lsm/search.hpp"
#include "core/problems/tsp/swap.hpp"

namespace vicinity::lsm {

/// A search a block, all moves in its shared memory; null where they do not fit.
[[nodiscard]] std::unique_ptr<Run> tsp_scan_run(const local_search::TspSwap& neighborhood, const local_search::Task& task);

}  // namespace vicinity::lsm
