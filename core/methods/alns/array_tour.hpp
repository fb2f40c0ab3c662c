#pragma once
// The solution as an array, which the paper compares its list with (section 3.2): all tours one after the other, depots and requests, each
// node behind the one before it. It has what GiantTour has (giant_tour.hpp), tours in the same order, but a node is found at its place, and
// inserting moves all that stand behind.
//
// Removing is put off: the node keeps its entry, which counts as empty from then on, and neighbours are looked for beyond it. compact()
// takes such entries out, or a block of threads does (kernels/alns/published.cu). They must be gone before anything is inserted.
#include <cstddef>
#include <cstdint>

#include "core/util/hd.hpp"

namespace vicinity::alns {

/// A view of rows of n + m + 1 columns, the last one column longer: a tour is opened before the entries of those closed are taken out.
template <class Index>
struct ArrayTour {
  Index* where;  ///< [node] its entry; negative: not in the solution. Of the depot: the end
  Index* tour;   ///< [node] as GiantTour has it
  Index* order;  ///< [entry] node, the depot behind the last
  std::int32_t n, m;

  /// Elements of all rows.
  [[nodiscard]] VICINITY_HD static std::size_t elements(std::int32_t n, std::int32_t m) {
    return 3 * static_cast<std::size_t>(n + m + 1) + 1;
  }
  [[nodiscard]] VICINITY_HD static ArrayTour at(Index* rows, std::int32_t n, std::int32_t m) {
    return {rows, rows + (n + m + 1), rows + 2 * (n + m + 1), n, m};
  }

  [[nodiscard]] VICINITY_HD bool contains(std::int32_t node) const { return where[node] >= 0; }
  [[nodiscard]] VICINITY_HD bool is_depot(std::int32_t node) const { return node == 0 || node > n; }
  [[nodiscard]] VICINITY_HD std::int32_t start_of(std::int32_t t) const { return n + 1 + t; }
  [[nodiscard]] VICINITY_HD bool empty(std::int32_t t) const { return is_depot(after(start_of(t))); }
  [[nodiscard]] VICINITY_HD std::int32_t place(std::int32_t node) const { return node > n ? 0 : node; }
  /// Has this entry a node in the solution?
  [[nodiscard]] VICINITY_HD bool full(std::int32_t entry) const { return where[order[entry]] == entry; }
  /// Entries, the depot's at the end not counted.
  [[nodiscard]] VICINITY_HD std::int32_t end() const { return where[0]; }

  /// Of a node in the solution, as before() of a request.
  [[nodiscard]] VICINITY_HD std::int32_t after(std::int32_t node) const {
    std::int32_t entry = where[node] + 1;
    while (!full(entry)) ++entry;
    return order[entry];
  }
  [[nodiscard]] VICINITY_HD std::int32_t before(std::int32_t node) const {
    std::int32_t entry = where[node] - 1;
    while (!full(entry)) --entry;
    return order[entry];
  }
  /// A number of at most n of a request that is not in the solution.
  VICINITY_HD void set_slot(std::int32_t request, std::int32_t slot) const { where[request] = static_cast<Index>(-1 - slot); }
  [[nodiscard]] VICINITY_HD std::int32_t slot(std::int32_t request) const { return -1 - where[request]; }

  VICINITY_HD void clear() const {
    for (std::int32_t node = 0; node <= n + m; ++node) where[node] = -1;
    for (std::int32_t t = 0; t < m; ++t) tour[start_of(t)] = static_cast<Index>(t);
    tour[0] = -1;
    where[0] = order[0] = 0;
  }
  /// By one thread, unless `request` has its entry already, which is empty.
  VICINITY_HD void insert_after(std::int32_t node, std::int32_t request) const {
    const std::int32_t entry = where[node] + 1;
    if (order[entry] != request)
      for (std::int32_t at = end(); at >= entry; --at) put(at + 1, order[at]);
    put(entry, request);
    tour[request] = tour[node];
  }
  VICINITY_HD void remove(std::int32_t request) const { where[request] = -1; }
  VICINITY_HD std::int32_t open_tour() const {
    std::int32_t t = 0;
    while (t < m && contains(start_of(t))) ++t;
    if (t == m) return -1;
    const std::int32_t entry = end();
    put(entry, start_of(t));
    put(entry + 1, 0);
    return start_of(t);
  }
  VICINITY_HD void close_tour(std::int32_t t) const { where[start_of(t)] = -1; }
  VICINITY_HD void put(std::int32_t entry, std::int32_t node) const {
    order[entry] = static_cast<Index>(node);
    where[node] = static_cast<Index>(entry);
  }
  /// By one thread.
  VICINITY_HD void compact() const {
    std::int32_t to = 0;
    for (std::int32_t entry = 0, last = end(); entry <= last; ++entry)
      if (full(entry)) put(to++, order[entry]);
  }
};

}  // namespace vicinity::alns
