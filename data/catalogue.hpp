#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace vicinity {

/// The best objective value known of an instance.
struct BestKnown {
  double value = 0;
  std::string kind;    ///< "optimal", "best-known" or "bound"
  std::string of;      ///< what is counted, e.g. "colours"
  std::string source;  ///< where it is found, with a date; or empty
};

/// How an instance is made without its file: a generator of this project and its parameters.
struct Generator {
  std::string name;
  std::map<std::string, std::int64_t> parameters;

  /// The parameter; throws InputError when it is absent or does not fit an int.
  [[nodiscard]] int parameter(const std::string& key) const;
};

/// Where the files of a family can be had.
struct Origin {
  std::vector<std::string> addresses;  ///< `make fetch` adds the file's name
  std::string debian_package;          ///< that ships the files in debian_folder; empty: none
  std::filesystem::path debian_folder;
};

/// One instance of data/catalogue.yaml (fields: data/README.md).
struct CatalogueEntry {
  std::string name, family, file, format;
  std::map<std::string, std::int64_t> size;
  std::string sha256;          ///< of the file as its source distributes it
  std::string content_sha256;  ///< of the canonical text: what a generator must reproduce, how content is recognised; or empty
  std::optional<BestKnown> best_known;
  std::string source, licence, notes;
  std::string rounding;  ///< "none" or "nearest": how distances of its family are rounded where files do not say; or empty
  std::optional<Generator> generator;
  std::optional<Origin> origin;  ///< of its family
};

/// The instances this project knows. Read once, immutable.
class Catalogue {
 public:
  /// Throws InputError "file:line: ..." for unknown keys, wrong types, missing fields and repeated names.
  [[nodiscard]] static Catalogue read(const std::filesystem::path& file);
  [[nodiscard]] static Catalogue parse(const std::string& text, const std::string& file);

  [[nodiscard]] const std::vector<CatalogueEntry>& entries() const noexcept { return entries_; }
  [[nodiscard]] bool contains(const std::string& name) const noexcept;
  /// Throws InputError naming what there is.
  [[nodiscard]] const CatalogueEntry& at(const std::string& name) const;

 private:
  std::vector<CatalogueEntry> entries_;
};

/// The file of an entry, found on the search path (its family's Debian folder comes last) and of the right checksum. Throws InputError;
/// MissingInput, which says how to get it, when it is nowhere.
[[nodiscard]] std::filesystem::path instance_file(const CatalogueEntry& entry);

/// data/catalogue.yaml, read at the first call.
[[nodiscard]] const Catalogue& catalogue();

/// The generator of an entry that has one. Throws InputError unless it is called `known`.
[[nodiscard]] const Generator& generator_of(const CatalogueEntry& entry, const char* known);
/// Throws InputError unless this is the content that the entry promises of its generator.
void check_generated(const CatalogueEntry& entry, const std::string& content);

/// The best objective value, where objectives are whole numbers.
[[nodiscard]] std::optional<std::int64_t> best_value(const CatalogueEntry& entry);
/// The entry with this format, this size in `measure` and this content, which is made when it is needed; or null.
[[nodiscard]] const CatalogueEntry* entry_of_content(const std::string& format, const std::string& measure, std::int64_t size,
                                                     const std::function<std::string()>& content);
/// The best value known of that entry.
[[nodiscard]] std::optional<std::int64_t> best_value_of_content(const std::string& format, const std::string& measure, std::int64_t size,
                                                                const std::function<std::string()>& content);

}  // namespace vicinity
