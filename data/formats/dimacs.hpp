#pragma once
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "data/graph.hpp"

namespace vicinity {

/// Reads the DIMACS colouring format: "c" comments, one "p edge V E" (or "p col V E"), E lines "e u v", 1-based.
/// An edge given in both directions, as some files of the collection do, counts once. Throws InputError "file:line: ..."
/// for anything else: unknown lines, loops, vertices out of range, a wrong number of edge lines.
[[nodiscard]] Graph read_dimacs(std::istream& in, const std::string& file);
[[nodiscard]] Graph read_dimacs(const std::filesystem::path& file);

/// The form of the collection's own files: comments, "p edge V E", then the edges with u < v in ascending order, 1-based.
/// Without comments this is the canonical text that `content_sha256` in the catalogue covers.
[[nodiscard]] std::string dimacs_text(const Graph& graph, const std::vector<std::string>& comments = {});

}  // namespace vicinity
