#pragma once
// The solution as the paper keeps it (section 3.2, Figure 2): all tours in one doubly linked list of requests and artificial depots.
// Removing and inserting a request takes constant time; a position is a node, whatever its place in the list.
#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/util/hd.hpp"

namespace vicinity::alns {

/// A view of 3 rows of n + m + 1 columns. Column 0 is the depot, 1 .. n the requests, n + 1 .. n + m the artificial depots, where tours
/// begin; a tour ends at the next one's artificial depot, the last at the depot. Of a node in the solution next is at least 0, of others
/// negative; a request that was removed keeps its tour, an artificial depot's is fixed, prev of both is free for use. next[0] is minus the
/// first unused artificial depot, whose next is minus the one after it; end_of_unused ends them. They ascend.
template <class Index>
struct GiantTour {
  static constexpr Index end_of_unused = std::numeric_limits<Index>::min();

  Index* next;
  Index* prev;
  Index* tour;
  std::int32_t n, m;

  /// Elements of all rows.
  [[nodiscard]] VICINITY_HD static std::size_t elements(std::int32_t n, std::int32_t m) { return 3 * static_cast<std::size_t>(n + m + 1); }
  [[nodiscard]] VICINITY_HD static GiantTour at(Index* rows, std::int32_t n, std::int32_t m) {
    return {rows, rows + (n + m + 1), rows + 2 * (n + m + 1), n, m};
  }

  [[nodiscard]] VICINITY_HD bool contains(std::int32_t node) const { return next[node] >= 0; }
  [[nodiscard]] VICINITY_HD bool is_depot(std::int32_t node) const { return node == 0 || node > n; }
  [[nodiscard]] VICINITY_HD std::int32_t start_of(std::int32_t t) const { return n + 1 + t; }
  /// Of a tour whose artificial depot is in the solution.
  [[nodiscard]] VICINITY_HD bool empty(std::int32_t t) const { return is_depot(next[start_of(t)]); }
  /// The place of a node in the distance matrix: artificial depots stand where the depot is.
  [[nodiscard]] VICINITY_HD std::int32_t place(std::int32_t node) const { return node > n ? 0 : node; }

  /// Of a node in the solution.
  [[nodiscard]] VICINITY_HD std::int32_t after(std::int32_t node) const { return next[node]; }
  [[nodiscard]] VICINITY_HD std::int32_t before(std::int32_t node) const { return prev[node]; }
  /// A number of at most n of a request that is not in the solution.
  VICINITY_HD void set_slot(std::int32_t request, std::int32_t slot) const { prev[request] = static_cast<Index>(slot); }
  [[nodiscard]] VICINITY_HD std::int32_t slot(std::int32_t request) const { return prev[request]; }

  /// No request and no tour in the solution.
  VICINITY_HD void clear() const {
    for (std::int32_t node = 1; node <= n; ++node) next[node] = -1;
    for (std::int32_t t = 0; t < m; ++t) {
      next[start_of(t)] = static_cast<Index>(t + 1 < m ? -start_of(t + 1) : std::int32_t{end_of_unused});
      tour[start_of(t)] = static_cast<Index>(t);
    }
    next[0] = static_cast<Index>(m > 0 ? -start_of(0) : std::int32_t{end_of_unused});
    prev[0] = -1;
    tour[0] = -1;
  }

  VICINITY_HD void insert_after(std::int32_t node, std::int32_t request) const {
    const std::int32_t after = next[node];
    next[node] = prev[after] = static_cast<Index>(request);
    next[request] = static_cast<Index>(after);
    prev[request] = static_cast<Index>(node);
    tour[request] = tour[node];
  }
  VICINITY_HD void remove(std::int32_t request) const {
    next[prev[request]] = next[request];
    prev[next[request]] = prev[request];
    next[request] = -1;
  }

  /// The unused artificial depot of least number joins the end of the list, as an empty tour. Returns it, or -1 when none is unused.
  VICINITY_HD std::int32_t open_tour() const {
    if (next[0] == end_of_unused) return -1;
    const std::int32_t start = -next[0], last = prev[0];
    next[0] = next[start];
    next[start] = 0;
    prev[start] = static_cast<Index>(last);
    prev[0] = static_cast<Index>(start);
    if (last > 0) next[last] = static_cast<Index>(start);
    return start;
  }
  /// An empty tour leaves the solution.
  VICINITY_HD void close_tour(std::int32_t t) const {
    const std::int32_t start = start_of(t), before = prev[start], after = next[start];
    if (before > 0) next[before] = static_cast<Index>(after);
    prev[after] = static_cast<Index>(before);
    std::int32_t at = 0;  // the last unused one below it
    while (next[at] != end_of_unused && -next[at] < start) at = -next[at];
    next[start] = next[at];
    next[at] = static_cast<Index>(-start);
  }
};

}  // namespace vicinity::alns
