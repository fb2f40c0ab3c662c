#pragma once
// The systems of this program, in the order of listings: one line each. CMake reads these lines (cmake/systems.cmake), adds the systems of
// the folders in VICINITY_SYSTEMS, and generates all_systems().
#include <string>
#include <vector>

#include "core/api/system.hpp"

namespace vicinity {
namespace systems {

System fang();
System sa();
System lsm();
System alns();
System lns();

}  // namespace systems

/// All systems with the implementations this program was built with.
[[nodiscard]] const std::vector<System>& all_systems();
/// The folders of those that are not of this repository.
[[nodiscard]] const std::vector<std::string>& system_folders();

}  // namespace vicinity
