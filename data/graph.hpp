#pragma once
#include <utility>
#include <vector>

namespace vicinity {

/// Undirected simple graph. Vertices are 0-based; every edge has first < second; edges are sorted and unique.
struct Graph {
  int vertices = 0;
  std::vector<std::pair<int, int>> edges;

  bool operator==(const Graph&) const = default;
};

}  // namespace vicinity
