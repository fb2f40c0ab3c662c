#pragma once
// gpu-portfolio: the rounds of cpu-portfolio, a search a block.
#include <memory>

#include "core/api/run.hpp"
#include "core/methods/sa/portfolio.hpp"

namespace vicinity::sa {

[[nodiscard]] std::unique_ptr<Run> prepare_portfolio_on_gpu(const Case& c, const Instance& instance);

}  // namespace vicinity::sa
