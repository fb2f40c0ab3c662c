// Instances of the catalogue: declared in data/formats/tsplib.hpp.
#include <fmt/format.h>

#include <cstdint>

#include "core/util/error.hpp"
#include "data/catalogue.hpp"
#include "data/formats/tsplib.hpp"

namespace vicinity {
namespace {

/// uniform*: stand-ins for TSPLIB instances of the same size.
tsp::Tsp generated(const CatalogueEntry& entry) {
  const Generator& generator = generator_of(entry, "uniform-plane");
  tsp::Tsp instance = tsp::uniform(entry.name, generator.parameter("n"), generator.parameter("extent"),
                                   static_cast<std::uint64_t>(generator.parameter("seed")));
  check_generated(entry, tsp_content(instance));
  return instance;
}

}  // namespace

std::shared_ptr<const tsp::Tsp> load_tsp(const CatalogueEntry& entry) {
  if (entry.format != "tsplib") throw InputError(fmt::format("instance '{}' is no TSP: its format is {}", entry.name, entry.format));
  auto instance = std::make_shared<tsp::Tsp>(entry.generator ? generated(entry) : read_tsplib(instance_file(entry)));
  return instance;
}

std::shared_ptr<const tsp::Tsp> load_tsp(const std::string& name) { return load_tsp(catalogue().at(name)); }

std::optional<std::int64_t> best_known_of(const tsp::Tsp& tsp) {
  return best_value_of_content("tsplib", "cities", tsp.size(), [&] { return tsp_content(tsp); });
}

}  // namespace vicinity
