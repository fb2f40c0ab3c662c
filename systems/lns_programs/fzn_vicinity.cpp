// fzn-vicinity: the constraint solver as MiniZinc calls it.
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <span>

#include "build_info.hpp"
#include "core/util/error.hpp"
#include "systems/lns_flatzinc.hpp"

namespace {

std::atomic<bool> stop = false;
static_assert(std::atomic<bool>::is_always_lock_free);

/// The first signal ends the search, the second the program.
void interrupt(int signal) {
  stop = true;
  std::signal(signal, SIG_DFL);
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGINT, interrupt);
  std::signal(SIGTERM, interrupt);
  try {
    const auto options = vicinity::lns::flatzinc_options(std::span<const char* const>(argv + 1, static_cast<std::size_t>(argc - 1)));
    if (options.help) {
      std::cout << vicinity::lns::flatzinc_help();
    } else if (options.version) {
      std::cout << "vicinity " << vicinity::build::version << "\n";
    } else {
      std::ios::sync_with_stdio(false);
      vicinity::lns::solve_flatzinc(options, std::cout, std::cerr, stop, [] { std::_Exit(0); });
    }
    if (std::cout.flush()) return 0;
    std::cerr << "fzn-vicinity: what was printed could not be written\n";
    return 1;
  } catch (const std::exception& error) {
    std::cerr << "fzn-vicinity: " << error.what() << "\n";
    return 1;
  }
}
