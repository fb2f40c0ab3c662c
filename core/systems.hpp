#pragma once
// The table of systems: main collects these, nothing registers itself. One line here per system, one entry in the
// system's own tables per implementation.
#include <vector>

#include "core/run.hpp"

namespace vicinity {

namespace fang {
[[nodiscard]] std::vector<Implementation> cpu_implementations();
[[nodiscard]] std::vector<Implementation> gpu_implementations();
}  // namespace fang

namespace sa {
[[nodiscard]] std::vector<Implementation> cpu_implementations();
[[nodiscard]] std::vector<Implementation> gpu_implementations();
}  // namespace sa

namespace lsm {
[[nodiscard]] std::vector<Implementation> cpu_implementations();
[[nodiscard]] std::vector<Implementation> gpu_implementations();
}  // namespace lsm

/// All systems with the implementations this program was built with (harness/systems.cpp).
[[nodiscard]] const std::vector<System>& systems();

}  // namespace vicinity
