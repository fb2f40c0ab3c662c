#pragma once
// The commands. Each returns an exit code; errors are exceptions that main turns into one line.
#include "core/api/system.hpp"
#include "harness/cli/options.hpp"

namespace vicinity {

int list_command(const Options& options, const std::vector<System>& systems);
int run_command(const Options& options, const std::vector<System>& systems);
int peer_command(const Options& options, const std::vector<System>& systems);
int verify_command(const Options& options, const std::vector<System>& systems);
int solve_command(const Options& options, const std::vector<System>& systems);
int ceilings_command(const Options& options);
int environment_command(const Options& options);

/// The line that says which GPU rows are missing here, and why.
[[nodiscard]] std::string deviceless_note(const std::vector<std::string>& implementations);

}  // namespace vicinity
