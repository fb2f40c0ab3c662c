#pragma once
// Graph colouring with two variable types, each with a heuristic of its own. Type 0: every vertex picks a colour with few
// neighbours of that colour. Type 1: every colour class then takes over one vertex that loses conflicts by it.
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/problems/fang_domains/heuristic.hpp"
#include "core/util/math.hpp"

namespace vicinity::fang {

/// Adjacency lists of an undirected graph.
struct AdjacencyView {
  const std::uint32_t* first;       ///< [vertices + 1]
  const std::uint32_t* neighbours;  ///< ascending within a vertex

  /// Neighbours of `vertex` that have `colour`.
  VICINITY_HD std::int32_t conflicts(const std::int32_t* colours, std::uint32_t vertex, std::int32_t colour) const {
    std::int32_t count = 0;
    for (std::uint32_t n = first[vertex]; n < first[vertex + 1]; ++n) count += colours[neighbours[n]] == colour;
    return count;
  }
};

/// Type 0. A state is colour[vertices] and two counters of failed assignments, one a type.
struct VertexHeuristic {
  using Rating = std::int32_t;     ///< conflicts; -1 for the vertex's own colour, which is forbidden
  using Aggregate = std::int32_t;  ///< most conflicts

  struct Context {
    const std::int32_t* colours;
    std::uint32_t vertex;
  };

  AdjacencyView graph;
  std::uint32_t vertices, colours;

  VICINITY_HD std::uint64_t max_weight() const { return vertices; }
  VICINITY_HD Context context(const std::int32_t* state, std::uint32_t vertex) const { return {state, vertex}; }
  VICINITY_HD std::uint32_t possibilities(const Context&) const { return colours; }
  VICINITY_HD Rating rate(const Context& c, std::uint32_t colour) const {
    const auto own = static_cast<std::int32_t>(colour);
    return c.colours[c.vertex] == own ? -1 : graph.conflicts(c.colours, c.vertex, own);
  }
  VICINITY_HD Aggregate create() const { return 0; }
  VICINITY_HD Aggregate aggregate(Aggregate a, Rating r) const { return larger(a, r); }
  VICINITY_HD Aggregate combine(Aggregate a, Aggregate b) const { return larger(a, b); }
  VICINITY_HD std::uint32_t weight(Rating r, Aggregate most) const { return r < 0 ? 0u : static_cast<std::uint32_t>(most - r) + 1u; }
  VICINITY_HD void assign(std::int32_t* state, std::uint32_t vertex, std::uint32_t colour) const {
    state[vertex] = static_cast<std::int32_t>(colour);
  }
  VICINITY_HD void could_not_assign(std::int32_t* state, std::uint32_t) const { ++state[vertices]; }
};

/// Type 1: variables are the colours, possibilities the vertices.
struct ClassHeuristic {
  using Rating = std::int32_t;     ///< conflicts lost by taking the vertex over; 0 or less is forbidden
  using Aggregate = std::int32_t;  ///< largest gain

  struct Context {
    const std::int32_t* colours;
    std::int32_t colour;
  };

  AdjacencyView graph;
  std::uint32_t vertices;

  VICINITY_HD std::uint64_t max_weight() const { return vertices; }
  VICINITY_HD Context context(const std::int32_t* state, std::uint32_t colour) const { return {state, static_cast<std::int32_t>(colour)}; }
  VICINITY_HD std::uint32_t possibilities(const Context&) const { return vertices; }
  VICINITY_HD Rating rate(const Context& c, std::uint32_t vertex) const {
    return graph.conflicts(c.colours, vertex, c.colours[vertex]) - graph.conflicts(c.colours, vertex, c.colour);
  }
  VICINITY_HD Aggregate create() const { return 0; }
  VICINITY_HD Aggregate aggregate(Aggregate a, Rating r) const { return larger(a, r); }
  VICINITY_HD Aggregate combine(Aggregate a, Aggregate b) const { return larger(a, b); }
  /// Gains of at least half the largest one count.
  VICINITY_HD std::uint32_t weight(Rating r, Aggregate largest) const {
    return r > 0 && 2 * r >= largest ? static_cast<std::uint32_t>(r) : 0u;
  }
  VICINITY_HD void assign(std::int32_t* state, std::uint32_t colour, std::uint32_t vertex) const {
    state[vertex] = static_cast<std::int32_t>(colour);
  }
  VICINITY_HD void could_not_assign(std::int32_t* state, std::uint32_t) const { ++state[vertices + 1]; }
};

/// Instance and oracle.
struct Colouring {
  std::uint32_t vertices, colours;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;  ///< u < v
  std::vector<std::uint32_t> first, neighbours;
  std::array<VariableType, 2> sizes{};

  [[nodiscard]] std::span<const VariableType> types() const { return sizes; }
  [[nodiscard]] std::uint32_t state_words() const { return vertices + 2; }
  template <class Place>
  [[nodiscard]] auto heuristics(Place place) const {
    const AdjacencyView graph{place(std::span(first)), place(std::span(neighbours))};
    return std::tuple{VertexHeuristic{graph, vertices, colours}, ClassHeuristic{graph, vertices}};
  }
  void fill_source(std::uint64_t seed, std::uint32_t source, std::span<std::int32_t> words) const {
    for (std::uint32_t v = 0; v < vertices; ++v)
      words[v] = static_cast<std::int32_t>(random_below(seed, Stream::source, source, v, colours));
    words[vertices] = words[vertices + 1] = 0;
  }
  /// Edges whose ends have the same colour.
  [[nodiscard]] std::int64_t objective(std::span<const std::int32_t> state) const {
    std::int64_t same = 0;
    for (const auto& [u, v] : edges) same += state[u] == state[v];
    return same;
  }
  template <class Active>
  [[nodiscard]] std::string complaint(std::span<const std::int32_t> source, std::span<const std::int32_t> target, Active active) const {
    std::int32_t active_classes = 0, changed_unasked = 0;
    for (std::uint32_t c = 0; c < colours; ++c) active_classes += active(1, c);
    for (std::uint32_t v = 0; v < vertices; ++v) {
      if (target[v] < 0 || target[v] >= static_cast<int>(colours)) return "vertex " + std::to_string(v) + " has no valid colour";
      changed_unasked += !active(0, v) && target[v] != source[v];
    }
    const std::int32_t failed = target[vertices + 1] - source[vertices + 1];
    if (failed < 0 || failed > active_classes) return "failed class assignments are miscounted";
    if (changed_unasked > active_classes - failed) return "more inactive vertices changed than classes took one over";
    return {};
  }
  [[nodiscard]] Work rating_work() const { return {}; }  // not counted: no speed is claimed for this domain
  [[nodiscard]] std::uint64_t hash() const {
    Digest digest;
    digest.add(colours);
    digest.add(first);
    digest.add(neighbours);
    return digest.value();
  }
};

}  // namespace vicinity::fang
