#pragma once
// The two ways of the tuned search of the QAP. The caller keeps the instance alive.
#include <memory>

#include "core/api/run.hpp"
#include "core/methods/lsm/search.hpp"
#include "core/problems/qap/exchange.hpp"

namespace vicinity::lsm {

/// A search a block; null where an instance does not fit one.
[[nodiscard]] std::unique_ptr<Run> qap_block_run(const local_search::QapExchange<2>& neighborhood, const local_search::Task& task);
/// One search by the whole grid, of any size.
[[nodiscard]] std::unique_ptr<Run> qap_grid_run(const local_search::QapExchange<2>& neighborhood, const local_search::Task& task);

}  // namespace vicinity::lsm
