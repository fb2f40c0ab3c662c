#pragma once
#include <functional>
#include <string>
#include <vector>

namespace vicinity {

/// Runs this program again with `arguments` and waits. Returns its exit code; 3 after one line on stderr when it crashed.
/// Ctrl-C, or what came in its place, goes to the child.
[[nodiscard]] int run_again(const std::vector<std::string>& arguments, const std::string& what);

/// Runs a command of the shell with `arguments` behind it, hands over each line that it prints as it comes, and waits; its complaints go
/// where ours go. After `seconds` it is killed, and so is, when it has ended, whatever it leaves behind in its group of processes. It does
/// not see the settings of threads that are ours. Returns how it failed, for a sentence that begins with its name; empty: it ended with 0.
/// Ctrl-C goes to it and its group, which then have a moment.
[[nodiscard]] std::string run_command_line(const std::string& command, const std::vector<std::string>& arguments, double seconds,
                                           const std::function<void(const std::string&)>& line);

}  // namespace vicinity
