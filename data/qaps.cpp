// Instances of the catalogue: declared in data/qaplib.hpp.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "core/error.hpp"
#include "data/catalogue.hpp"
#include "data/qaplib.hpp"
#include "data/sha256.hpp"
#include "data/taillard.hpp"

namespace vicinity {
namespace {

/// Taillard's tai*a: the stream of one seed fills one matrix; A and B have a seed each.
qap::Qap generated(const CatalogueEntry& entry) {
  const Generator& generator = *entry.generator;
  if (generator.name != "taillard")
    throw InputError(fmt::format("instance '{}': unknown QAP generator '{}'; there is: taillard", entry.name, generator.name));
  const int n = generator.parameter("n");
  TaillardStream a(generator.parameter("seed_a")), b(generator.parameter("seed_b"));
  qap::Qap instance(entry.name, n, a.symmetric(n), b.symmetric(n));
  if (sha256(qaplib_text(instance)) != entry.content_sha256)
    throw InputError(fmt::format("instance '{}': the generated matrices do not have the content_sha256 of the catalogue", entry.name));
  return instance;
}

std::optional<std::int64_t> best_cost(const CatalogueEntry& entry) {
  if (!entry.best_known) return std::nullopt;
  return std::llround(entry.best_known->value);
}

}  // namespace

std::shared_ptr<const qap::Qap> load_qap(const CatalogueEntry& entry) {
  if (entry.format != "qaplib") throw InputError(fmt::format("instance '{}' is no QAP: its format is {}", entry.name, entry.format));
  auto instance = std::make_shared<qap::Qap>(entry.generator ? generated(entry) : read_qaplib(instance_file(entry)));
  instance->best_known = best_cost(entry);
  return instance;
}

std::shared_ptr<const qap::Qap> load_qap(const std::string& name) { return load_qap(catalogue().at(name)); }

std::optional<std::int64_t> best_known_of(const qap::Qap& qap) {
  std::string content;
  for (const CatalogueEntry& entry : catalogue().entries()) {
    if (entry.format != "qaplib" || entry.content_sha256.empty() || entry.size.at("facilities") != qap.size()) continue;
    if (content.empty()) content = sha256(qaplib_text(qap));
    if (content == entry.content_sha256) return best_cost(entry);
  }
  return std::nullopt;
}

}  // namespace vicinity
