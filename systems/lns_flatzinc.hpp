#pragma once
// FlatZinc's protocol for solvers (MiniZinc handbook, 4.3.5): options, solutions, what a search proved, statistics.
#include <atomic>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>

namespace vicinity::lns {

struct FlatzincOptions {
  std::string file;
  bool all = false;                          ///< -a: all solutions, or all that improve
  bool intermediate = false;                 ///< -i: those that improve
  std::optional<std::int64_t> solutions;     ///< -n: so many
  bool statistics = false;                   ///< -s
  bool verbose = false;                      ///< -v
  bool free = false;                         ///< -f: the solver chooses how to search
  int threads = 1;                           ///< -p
  std::uint64_t seed = 0;                    ///< -r
  std::optional<std::int64_t> milliseconds;  ///< -t: for everything, reading included
  bool help = false, version = false;
};

/// Throws InputError for unknown options and values that are none.
[[nodiscard]] FlatzincOptions flatzinc_options(std::span<const char* const> arguments);
[[nodiscard]] std::string flatzinc_help();

/// Reads and solves the model; solutions go to `out`, each checked by the oracle first. Throws InputError for models it cannot read and
/// std::logic_error for a solution that is none. `stop`: true ends the search; the best solution is printed. `leave` ends the program:
/// another thread calls it where the limit or `stop` has come and what looks at neither, such as the set-up of large tables, goes on
/// without a solution; that there is none is printed before.
void solve_flatzinc(const FlatzincOptions& options, std::ostream& out, std::ostream& err, const std::atomic<bool>& stop,
                    const std::function<void()>& leave = {});

}  // namespace vicinity::lns
