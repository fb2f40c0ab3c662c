#pragma once
// A YAML node that knows its file: every complaint is one line, "path:line: message", with what is allowed.
#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/api/case.hpp"

namespace vicinity {

class YamlReader {
 public:
  /// The root of a file's content. Throws InputError when it is not YAML, or empty.
  [[nodiscard]] static YamlReader parse(const std::string& content, const std::string& path);

  [[noreturn]] void fail(const std::string& message) const;
  /// "path:line" of this node.
  [[nodiscard]] std::string location() const;
  /// Throws unless this is a map whose keys are all `allowed` and appear once.
  void require_keys(const std::vector<std::string>& allowed) const;
  [[nodiscard]] std::optional<YamlReader> find(const std::string& key) const;
  /// The entry `key`, which must be there.
  [[nodiscard]] YamlReader at(const std::string& key) const;
  [[nodiscard]] bool is_list() const;
  [[nodiscard]] bool is_map() const;
  /// Entries of a map in file order; each reader's location is that of the key.
  [[nodiscard]] std::vector<std::pair<std::string, YamlReader>> entries() const;
  /// Elements of a list, at least one.
  [[nodiscard]] std::vector<YamlReader> items() const;

  [[nodiscard]] std::string text() const;
  /// Throws with a hint unless the text is one of `allowed`.
  [[nodiscard]] std::string one_of(const std::string& what, const std::vector<std::string>& allowed) const;
  [[nodiscard]] std::int64_t integer(std::int64_t low, std::int64_t high) const;
  [[nodiscard]] double real(double low, double high) const;
  [[nodiscard]] bool boolean() const;
  /// Whole number, real number or name. Quoted scalars are names.
  [[nodiscard]] Value value() const;

 private:
  YamlReader(std::string path, std::string name, YAML::Node node, int line)
      : path_(std::move(path)), name_(std::move(name)), node_(std::move(node)), line_(line) {}

  std::string path_;
  std::string name_;  ///< key this node stands under, for messages
  YAML::Node node_;
  int line_;
};

/// The same reading of a scalar for the command line: "4096" whole, "0.5" real, else a name.
[[nodiscard]] Value parse_value(const std::string& text);

}  // namespace vicinity
