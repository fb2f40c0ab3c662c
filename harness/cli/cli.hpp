#pragma once
#include <vector>

#include "core/api/system.hpp"

namespace vicinity {

/// Reads the command line and runs the command. Returns the exit code; throws InputError for wrong usage.
int command_line(int argc, char** argv, const std::vector<System>& systems);

/// command_line with every exception turned into one line on stderr and an exit code: what main is.
int guarded_command_line(int argc, char** argv, const std::vector<System>& (*systems)());

}  // namespace vicinity
