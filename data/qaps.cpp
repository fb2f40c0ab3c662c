#include "data/qaps.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "core/util/digest.hpp"
#include "core/util/error.hpp"
#include "core/util/memory.hpp"
#include "data/formats/qaplib.hpp"
#include "data/generators/taillard.hpp"

namespace vicinity {
namespace {

/// Taillard's tai*a: the stream of one seed fills one matrix; A and B have a seed each.
qap::Qap generated(const CatalogueEntry& entry) {
  const Generator& generator = generator_of(entry, "taillard");
  const int n = generator.parameter("n");
  TaillardStream a(generator.parameter("seed_a")), b(generator.parameter("seed_b"));
  qap::Qap instance(entry.name, n, a.symmetric(n), b.symmetric(n));
  check_generated(entry, qaplib_text(instance));
  return instance;
}

std::shared_ptr<const qap::Qap> random_instance(const Case& c) {
  const auto n = static_cast<std::int32_t>(c.integer("size", 2, 46340));
  const std::int64_t range = c.integer_or("range", 100, 1, std::int64_t{1} << 30);
  const auto number = static_cast<std::uint64_t>(c.integer_or("instance_seed", 1, 0, std::int64_t{1} << 40));
  const bool any = c.name_or("matrix", "symmetric", {"symmetric", "asymmetric"}) == "asymmetric";
  const auto matrix = [&](std::uint64_t which) {
    TaillardStream stream(1 + static_cast<std::int64_t>(mix(2 * number + which + 1) % 2147483646));
    return any ? stream.asymmetric(n, range) : stream.symmetric(n, range);
  };
  const std::string name = fmt::format("random{}{}-{}", n, any ? "x" : "a", number);
  require_memory(2.0 * sizeof(std::int32_t) * n * n, "an instance of size " + std::to_string(n));
  try {
    return std::make_shared<qap::Qap>(name, n, matrix(0), matrix(1));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: size = {}, range = {}: {}", c.problem, n, range, error.what()));
  }
}

}  // namespace

std::shared_ptr<const qap::Qap> load_qap(const CatalogueEntry& entry) {
  if (entry.format != "qaplib") throw InputError(fmt::format("instance '{}' is no QAP: its format is {}", entry.name, entry.format));
  auto instance = std::make_shared<qap::Qap>(entry.generator ? generated(entry) : read_qaplib(instance_file(entry)));
  return instance;
}

std::shared_ptr<const qap::Qap> load_qap(const std::string& name) { return load_qap(catalogue().at(name)); }

std::shared_ptr<const qap::Qap> make_qap(const Case& c) { return c.instance.empty() ? random_instance(c) : load_qap(c.instance); }

std::vector<Axis> qap_axes() {
  return {{"size", "n, facilities of a random instance: 2 to 46340"},
          {"instance_seed", "number of the random instance (default 1)"},
          {"matrix", "symmetric, or asymmetric with random diagonals (default symmetric)"},
          {"range", "entries of a random instance are below this: 1 to 2^30 (default 100)"}};
}

std::string size_text(const qap::Qap& qap) {
  return fmt::format("{} facilities, {}", qap.size(), qap.symmetric() ? "symmetric" : "asymmetric");
}

std::optional<std::int64_t> best_known_of(const qap::Qap& qap) {
  return best_value_of_content("qaplib", "facilities", qap.size(), [&] { return qaplib_text(qap); });
}

}  // namespace vicinity
