// Instances of the catalogue: declared in data/tsplib.hpp.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "core/error.hpp"
#include "data/catalogue.hpp"
#include "data/sha256.hpp"
#include "data/tsplib.hpp"

namespace vicinity {
namespace {

/// uniform*: stand-ins for TSPLIB instances of the same size.
tsp::Tsp generated(const CatalogueEntry& entry) {
  const Generator& generator = *entry.generator;
  if (generator.name != "uniform-plane")
    throw InputError(fmt::format("instance '{}': unknown TSP generator '{}'; there is: uniform-plane", entry.name, generator.name));
  tsp::Tsp instance = tsp::uniform(entry.name, generator.parameter("n"), generator.parameter("extent"),
                                   static_cast<std::uint64_t>(generator.parameter("seed")));
  if (sha256(tsp_content(instance)) != entry.content_sha256)
    throw InputError(fmt::format("instance '{}': the generated cities do not have the content_sha256 of the catalogue", entry.name));
  return instance;
}

std::optional<std::int64_t> best_length(const CatalogueEntry& entry) {
  if (!entry.best_known) return std::nullopt;
  return std::llround(entry.best_known->value);
}

}  // namespace

std::shared_ptr<const tsp::Tsp> load_tsp(const CatalogueEntry& entry) {
  if (entry.format != "tsplib") throw InputError(fmt::format("instance '{}' is no TSP: its format is {}", entry.name, entry.format));
  auto instance = std::make_shared<tsp::Tsp>(entry.generator ? generated(entry) : read_tsplib(instance_file(entry)));
  instance->best_known = best_length(entry);
  return instance;
}

std::shared_ptr<const tsp::Tsp> load_tsp(const std::string& name) { return load_tsp(catalogue().at(name)); }

std::optional<std::int64_t> best_known_of(const tsp::Tsp& tsp) {
  std::string content;
  for (const CatalogueEntry& entry : catalogue().entries()) {
    if (entry.format != "tsplib" || entry.content_sha256.empty() || entry.size.at("cities") != tsp.size()) continue;
    if (content.empty()) content = sha256(tsp_content(tsp));
    if (content == entry.content_sha256) return best_length(entry);
  }
  return std::nullopt;
}

}  // namespace vicinity
