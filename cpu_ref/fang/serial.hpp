#pragma once
#include <memory>

#include "core/api/run.hpp"

namespace vicinity::fang {

[[nodiscard]] std::unique_ptr<Run> prepare_serial(const Case& c, const Instance& instance);

}  // namespace vicinity::fang
