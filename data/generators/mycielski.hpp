#pragma once
#include "data/graph.hpp"

namespace vicinity {

/// The graph "<insertions>-Insertions_<order>" of the DIMACS colouring collection, with the vertex numbers of its file:
/// order - 1 generalised Mycielskians with insertions + 1 copy levels, starting from one edge (K2).
/// Its chromatic number is order + 1. Throws InputError unless insertions >= 0 and order >= 1, or when the graph would
/// have more than 2^20 edges.
[[nodiscard]] Graph generalised_mycielski(int insertions, int order);

}  // namespace vicinity
