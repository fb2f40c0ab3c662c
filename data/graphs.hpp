#pragma once
#include "data/catalogue.hpp"
#include "data/graph.hpp"

namespace vicinity {

/// The graph of a catalogue entry: generated where the entry names a generator (no file needed), else read from the search
/// path. Either way its checksum must match. Throws InputError.
[[nodiscard]] Graph load_graph(const CatalogueEntry& entry);

/// The same by name.
[[nodiscard]] Graph load_graph(const std::string& name);

}  // namespace vicinity
