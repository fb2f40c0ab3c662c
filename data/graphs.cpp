#include "data/graphs.hpp"

#include <fmt/format.h>

#include "core/util/error.hpp"
#include "data/formats/dimacs.hpp"
#include "data/generators/mycielski.hpp"
#include "data/sha256.hpp"

namespace vicinity {
namespace {

Graph generated(const CatalogueEntry& entry) {
  const Generator& generator = *entry.generator;
  if (generator.name != "generalised-mycielski") {
    throw InputError(
        fmt::format("instance '{}': unknown graph generator '{}'; there is: generalised-mycielski", entry.name, generator.name));
  }
  const int insertions = generator.parameter("insertions");
  Graph graph = generalised_mycielski(insertions, generator.parameter("order"));
  if (sha256(dimacs_text(graph)) != entry.content_sha256) {
    throw InputError(fmt::format("instance '{}': the generated graph does not have the content_sha256 of the catalogue", entry.name));
  }
  return graph;
}

}  // namespace

Graph load_graph(const CatalogueEntry& entry) {
  if (entry.format != "dimacs-col") throw InputError(fmt::format("instance '{}' is no graph: its format is {}", entry.name, entry.format));
  return entry.generator ? generated(entry) : read_dimacs(instance_file(entry));
}

Graph load_graph(const std::string& name) { return load_graph(catalogue().at(name)); }

}  // namespace vicinity
