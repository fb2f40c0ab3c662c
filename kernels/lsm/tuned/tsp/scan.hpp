#pragma once
// Entry of scan.cu, the tuned search of the travelling salesman problem for few cities.
#include <memory>

#include "core/api/run.hpp"
#include "core/methods/lsm/search.hpp"
#include "core/problems/tsp/swap.hpp"

namespace vicinity::lsm {

/// Null where the keys of all swaps do not fit a block, or row minima take less time. The caller keeps the instance alive.
[[nodiscard]] std::unique_ptr<Run> tsp_scan_run(const local_search::TspSwap& neighborhood, const local_search::Task& task);

}  // namespace vicinity::lsm
