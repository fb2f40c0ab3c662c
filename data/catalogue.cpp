#include "data/catalogue.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>

#include "core/util/error.hpp"
#include "data/input_file.hpp"
#include "data/search_path.hpp"
#include "data/sha256.hpp"

namespace vicinity {
namespace {

/// A YAML mapping whose complaints carry file and line.
class Mapping {
 public:
  Mapping(const YAML::Node& node, const std::string& file, const std::set<std::string>& allowed) : node_(node), file_(file) {
    if (!node.IsMap()) fail(node, fmt::format("expected a mapping with {}", fmt::join(allowed, ", ")));
    std::set<std::string> seen;
    for (const auto& item : node) {
      const auto key = item.first.as<std::string>();
      if (!allowed.empty() && !allowed.contains(key)) {
        fail(item.first, fmt::format("unknown key '{}'; allowed: {}", key, fmt::join(allowed, ", ")));
      }
      if (!seen.insert(key).second) fail(item.first, fmt::format("key '{}' twice", key));
    }
  }

  [[nodiscard]] YAML::Node get(const std::string& key) const { return node_[key]; }

  [[nodiscard]] YAML::Node need(const std::string& key) const {
    if (!node_[key]) fail(node_, fmt::format("'{}' is missing", key));
    return node_[key];
  }

  template <class T>
  [[nodiscard]] T scalar(const YAML::Node& node, const char* expected) const {
    try {
      return node.as<T>();
    } catch (const YAML::Exception&) {
      fail(node, fmt::format("expected {}", expected));
    }
  }

  [[nodiscard]] std::string text(const std::string& key) const {
    const auto value = scalar<std::string>(need(key), "a text");
    if (value.empty()) fail(node_[key], fmt::format("'{}' is empty", key));
    return value;
  }

  [[nodiscard]] std::string text_or_empty(const std::string& key) const { return node_[key] ? text(key) : std::string(); }

  /// Every value of the mapping as a whole number.
  [[nodiscard]] std::map<std::string, std::int64_t> numbers() const {
    std::map<std::string, std::int64_t> out;
    for (const auto& item : node_) out[item.first.as<std::string>()] = scalar<std::int64_t>(item.second, "a whole number");
    return out;
  }

  [[nodiscard]] std::string checksum(const std::string& key) const {
    const std::string value = text(key);
    const bool hex = std::all_of(value.begin(), value.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
    if (value.size() != 64 || !hex) fail(node_[key], fmt::format("'{}' is not a SHA-256 of 64 lower-case hexadecimal digits", key));
    return value;
  }

  [[noreturn]] void fail(const YAML::Node& where, const std::string& what) const {
    throw InputError(fmt::format("{}:{}: {}", file_, std::max(where.Mark().line, 0) + 1, one_line(what)));
  }

 private:
  YAML::Node node_;
  std::string file_;
};

BestKnown read_best_known(const YAML::Node& node, const std::string& file) {
  const Mapping map(node, file, {"value", "kind", "of", "source"});
  BestKnown best{map.scalar<double>(map.need("value"), "a number"), map.text("kind"), map.text("of"), map.text_or_empty("source")};
  if (!(std::abs(best.value) <= 0x1p53)) map.fail(map.get("value"), "'value' of best_known is no number from -2^53 to 2^53");
  if (best.kind != "optimal" && best.kind != "best-known" && best.kind != "bound") {
    map.fail(map.get("kind"), fmt::format("unknown kind '{}'; allowed: optimal, best-known, bound", best.kind));
  }
  return best;
}

Generator read_generator(const YAML::Node& node, const std::string& file) {
  const Mapping map(node, file, {"name", "parameters"});
  return {map.text("name"), Mapping(map.need("parameters"), file, {}).numbers()};
}

Origin read_origin(const YAML::Node& node, const std::string& file) {
  const Mapping map(node, file, {"addresses", "debian"});
  const YAML::Node addresses = map.need("addresses");
  if (!addresses.IsSequence()) map.fail(addresses, "expected a list of addresses");
  Origin origin;
  for (const auto& address : addresses) origin.addresses.push_back(map.scalar<std::string>(address, "an address"));
  if (!map.get("debian")) return origin;
  const Mapping debian(map.get("debian"), file, {"package", "folder"});
  origin.debian_package = debian.text("package");
  origin.debian_folder = debian.text("folder");
  return origin;
}

/// What the families of the file are called, with the origins and the rounding of those that have one.
struct Families {
  std::set<std::string> names;
  std::map<std::string, Origin> origins;
  std::map<std::string, std::string> rounding;
};

Families read_families(const Mapping& top, const std::string& file) {
  Families families;
  const YAML::Node declared = top.need("families");
  (void)Mapping(declared, file, {});
  for (const auto& family : declared) families.names.insert(family.first.as<std::string>());
  if (top.get("origins")) {
    (void)Mapping(top.get("origins"), file, families.names);
    for (const auto& family : top.get("origins")) families.origins[family.first.as<std::string>()] = read_origin(family.second, file);
  }
  if (top.get("rounding")) {
    const Mapping rounding(top.get("rounding"), file, families.names);
    for (const auto& family : top.get("rounding")) {
      const std::string name = rounding.text(family.first.as<std::string>());
      if (name != "none" && name != "nearest")
        rounding.fail(family.second, fmt::format("unknown rounding '{}'; allowed: none, nearest", name));
      families.rounding[family.first.as<std::string>()] = name;
    }
  }
  return families;
}

CatalogueEntry read_entry(const YAML::Node& node, const std::string& file, const Families& families) {
  const Mapping map(
      node, file,
      {"name", "family", "file", "format", "size", "sha256", "content_sha256", "best_known", "source", "licence", "notes", "generator"});
  CatalogueEntry entry;
  entry.name = map.text("name");
  entry.family = map.text("family");
  if (!families.names.contains(entry.family)) {
    map.fail(map.get("family"), fmt::format("unknown family '{}'; declared: {}", entry.family, fmt::join(families.names, ", ")));
  }
  if (const auto origin = families.origins.find(entry.family); origin != families.origins.end()) entry.origin = origin->second;
  if (const auto rounding = families.rounding.find(entry.family); rounding != families.rounding.end()) entry.rounding = rounding->second;
  entry.file = map.text("file");
  if (const std::filesystem::path inside = entry.file;
      inside.is_absolute() || std::find(inside.begin(), inside.end(), std::filesystem::path("..")) != inside.end())
    map.fail(map.get("file"), "'file' leads out of the folder of instances");
  entry.format = map.text("format");
  entry.size = Mapping(map.need("size"), file, {}).numbers();
  if (entry.size.empty()) map.fail(map.get("size"), "'size' is empty");
  entry.sha256 = map.checksum("sha256");
  entry.source = map.text("source");
  entry.licence = map.text("licence");
  entry.notes = map.text_or_empty("notes");
  if (map.get("best_known")) entry.best_known = read_best_known(map.get("best_known"), file);
  if (map.get("generator")) entry.generator = read_generator(map.get("generator"), file);
  if (map.get("content_sha256") || entry.generator) entry.content_sha256 = map.checksum("content_sha256");
  return entry;
}

}  // namespace

int Generator::parameter(const std::string& key) const {
  const auto found = parameters.find(key);
  if (found == parameters.end()) throw InputError(fmt::format("generator {}: parameter '{}' is missing", name, key));
  if (found->second < std::numeric_limits<int>::min() || found->second > std::numeric_limits<int>::max()) {
    throw InputError(fmt::format("generator {}: parameter '{}' is out of range", name, key));
  }
  return static_cast<int>(found->second);
}

Catalogue Catalogue::read(const std::filesystem::path& path) {
  constexpr std::uintmax_t most = 1 << 24;
  return parse(read_input_file(path, most), path.string());
}

Catalogue Catalogue::parse(const std::string& text, const std::string& file) {
  try {
    const Mapping top(YAML::Load(text), file, {"schema", "families", "origins", "rounding", "instances"});
    if (top.scalar<int>(top.need("schema"), "a whole number") != 1) top.fail(top.get("schema"), "only schema 1 is known");

    const Families families = read_families(top, file);
    Catalogue out;
    const YAML::Node instances = top.need("instances");
    if (!instances.IsSequence()) top.fail(instances, "expected a list of instances");
    for (const auto& node : instances) {
      CatalogueEntry entry = read_entry(node, file, families);
      if (out.contains(entry.name)) top.fail(node, fmt::format("instance '{}' twice", entry.name));
      out.entries_.push_back(std::move(entry));
    }
    return out;
  } catch (const YAML::Exception& error) {  // not YAML, or a name that is a list
    throw InputError(fmt::format("{}:{}: {}", file, std::max(error.mark.line, 0) + 1, one_line(error.msg)));
  }
}

bool Catalogue::contains(const std::string& name) const noexcept {
  return std::any_of(entries_.begin(), entries_.end(), [&](const CatalogueEntry& entry) { return entry.name == name; });
}

const CatalogueEntry& Catalogue::at(const std::string& name) const {
  for (const CatalogueEntry& entry : entries_) {
    if (entry.name == name) return entry;
  }
  std::vector<std::string> names;
  for (const CatalogueEntry& entry : entries_) names.push_back(entry.name);
  throw InputError(fmt::format("unknown instance '{}'; data/catalogue.yaml has: {}", name, fmt::join(names, ", ")));
}

std::filesystem::path instance_file(const CatalogueEntry& entry) {
  auto folders = instance_folders();
  std::string how = "get it";
  if (entry.origin) {
    how = "get it with 'make fetch'";
    if (!entry.origin->debian_package.empty()) {
      folders.push_back(entry.origin->debian_folder);
      how += fmt::format(", 'apt-get install {}'", entry.origin->debian_package);
    }
    how += ", or";
  }
  const auto file = find_instance_file(entry.file, fmt::format("{} from {}", how, entry.source), folders);
  if (const std::string found = sha256_of_file(file); found != entry.sha256)
    throw InputError(fmt::format("{}: SHA-256 is {}, the catalogue has {}", file.string(), found, entry.sha256));
  return file;
}

const Catalogue& catalogue() {
  static const Catalogue all = Catalogue::read(data_folder() / "catalogue.yaml");
  return all;
}

const Generator& generator_of(const CatalogueEntry& entry, const char* known) {
  const Generator& generator = *entry.generator;
  if (generator.name != known)
    throw InputError(
        fmt::format("instance '{}': unknown generator '{}' of format {}; there is: {}", entry.name, generator.name, entry.format, known));
  return generator;
}

void check_generated(const CatalogueEntry& entry, const std::string& content) {
  if (sha256(content) != entry.content_sha256)
    throw InputError(fmt::format("instance '{}': what is generated does not have the content_sha256 of the catalogue", entry.name));
}

std::optional<std::int64_t> best_value(const CatalogueEntry& entry) {
  if (!entry.best_known) return std::nullopt;
  return std::llround(entry.best_known->value);
}

const CatalogueEntry* entry_of_content(const std::string& format, const std::string& measure, std::int64_t size,
                                       const std::function<std::string()>& content) {
  std::string checksum;
  for (const CatalogueEntry& entry : catalogue().entries()) {
    if (entry.format != format || entry.content_sha256.empty()) continue;
    if (const auto own = entry.size.find(measure); own == entry.size.end() || own->second != size) continue;
    if (checksum.empty()) checksum = sha256(content());
    if (checksum == entry.content_sha256) return &entry;
  }
  return nullptr;
}

std::optional<std::int64_t> best_value_of_content(const std::string& format, const std::string& measure, std::int64_t size,
                                                  const std::function<std::string()>& content) {
  const CatalogueEntry* entry = entry_of_content(format, measure, size, content);
  return entry ? best_value(*entry) : std::nullopt;
}

}  // namespace vicinity
