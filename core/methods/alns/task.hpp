#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/api/run.hpp"
#include "core/problems/vrp/vrp.hpp"

namespace vicinity::alns {

/// Tour t's requests in order; tours behind the last one used are absent, unused ones before it empty. Numbers of tours matter: ties
/// between empty tours break by them.
using Tours = std::vector<std::vector<std::int32_t>>;

/// The published algorithm, and what the paper tried beside it, without numbers (docs/errata.md, A35 to A39).
enum class Variant : std::uint8_t {
  published,
  genetic,       ///< section 3.1: children of local incumbents (genetic.hpp)
  local_search,  ///< section 3.6: each call ends with 2-opt of each process' current solution and incumbent
};

/// What a case asks for.
struct Task {
  std::int32_t processes = 28;  ///< independent searches; two a multiprocessor on the paper's card
  std::int64_t calls = 0;       ///< of 100 iterations a process; 0: until the stopping rule of section 3.5
  std::int64_t threads = 0;     ///< of cpu-openmp; 0: all
  std::int32_t removals = 0;    ///< of the hybrid search: steps of an annealing line in a generation, for 100 customers; 0: its choice
  std::string memory = {};      ///< where GPUs keep solutions: shared or global; empty: shared where they fit
  Variant variant = Variant::published;

  /// First solutions, which restarts take in turn: twice as many as processes.
  [[nodiscard]] std::int64_t starts() const noexcept { return 2 * std::int64_t{processes}; }
};

inline constexpr std::int64_t most_processes = 65'536, most_calls = 1'000'000'000, most_removals = 10'000;

/// Throws InputError.
[[nodiscard]] Task task_of(const Case& c, Variant variant = Variant::published);

/// The result of a search, or where it stands.
struct Search {
  std::int64_t calls = 0;
  std::int64_t restarts = 0;
  std::int64_t evaluations = 0;  ///< insertions of a request at a position that the repairs asked for
  std::uint64_t digest = 0;      ///< of all processes' iterations, in order
  std::int64_t cost = 0;         ///< of `best`, by the sum of all changes
  Tours best;                    ///< the best solution the processes found, after 2-opt; empty: no first solution served all requests
  std::int64_t children = 0;     ///< of Variant::genetic
};

/// Vehicles that the demands need at least.
[[nodiscard]] std::int32_t fewest_tours(const vrp::View& vrp);

/// Throws InputError when the given start is no feasible solution.
void check_start(const vrp::Vrp& vrp, const Start& start);

/// Judged by the oracle; of the one search, or none before it began.
[[nodiscard]] Outcome judge(const vrp::Vrp& vrp, const std::vector<Search>& searches);

}  // namespace vicinity::alns
