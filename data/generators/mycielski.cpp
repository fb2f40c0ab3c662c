#include "data/generators/mycielski.hpp"

#include <algorithm>
#include <cstddef>

#include "core/util/error.hpp"

namespace vicinity {
namespace {

constexpr std::size_t max_edges = std::size_t{1} << 20;

/// One generalised Mycielskian. Vertex order: the graph, its copies level by level, the apex.
Graph grown(const Graph& base, int levels) {
  const int n = base.vertices;
  const int apex = n * (levels + 1);
  Graph out{apex + 1, base.edges};
  for (int level = 1; level <= levels; ++level) {
    const int here = level * n, below = here - n;
    for (const auto& [a, b] : base.edges) {
      out.edges.emplace_back(below + b, here + a);
      out.edges.emplace_back(below + a, here + b);
    }
  }
  for (int vertex = apex - n; vertex < apex; ++vertex) out.edges.emplace_back(vertex, apex);
  std::sort(out.edges.begin(), out.edges.end());
  return out;
}

}  // namespace

Graph generalised_mycielski(int insertions, int order) {
  if (insertions < 0 || order < 1) throw InputError("generalised Mycielskian: needs insertions >= 0 and order >= 1");
  Graph graph{2, {{0, 1}}};
  for (int step = 1; step < order; ++step) {
    const std::size_t levels = static_cast<std::size_t>(insertions) + 1;
    const std::size_t edges = graph.edges.size() * (1 + 2 * levels) + static_cast<std::size_t>(graph.vertices);
    if (edges > max_edges) throw InputError("generalised Mycielskian: more than 2^20 edges");
    graph = grown(graph, insertions + 1);
  }
  return graph;
}

}  // namespace vicinity
