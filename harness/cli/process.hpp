#pragma once
#include <string>
#include <vector>

namespace vicinity {

/// Runs this program again with `arguments` and waits. Returns its exit code; 3 after one line on stderr when it crashed.
/// Ctrl-C goes to the child.
[[nodiscard]] int run_again(const std::vector<std::string>& arguments, const std::string& what);

}  // namespace vicinity
