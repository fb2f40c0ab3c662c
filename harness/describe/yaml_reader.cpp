#include "harness/describe/yaml_reader.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <set>
#include <sstream>

#include "core/util/error.hpp"
#include "data/input_file.hpp"
#include "harness/cli/text.hpp"

namespace vicinity {
namespace {

/// Where the document begins that was read last.
class Beginning : public YAML::EventHandler {
 public:
  int line = 0;

  void OnDocumentStart(const YAML::Mark& mark) override { line = mark.line + 1; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

/// YAML::Load() reads the first document alone, and YAML::LoadAll() does not come to an end with every text.
void require_one_document(const std::string& content, const std::string& path) {
  std::istringstream text(content);
  YAML::Parser parser(text);
  Beginning last;
  parser.HandleNextDocument(last);
  if (parser.HandleNextDocument(last)) throw InputError(fmt::format("{}:{}: a second document; a descriptor is one", path, last.line));
}

}  // namespace

YamlReader YamlReader::parse(const std::string& content, const std::string& path) {
  try {
    const YAML::Node root = YAML::Load(content);
    require_one_document(content, path);
    if (!root.IsDefined() || root.IsNull()) throw InputError(fmt::format("{}:1: the file is empty", path));
    return {path, "the descriptor", root, 1};
  } catch (const YAML::Exception& error) {
    throw InputError(fmt::format("{}:{}: not YAML: {}", path, std::max(error.mark.line, 0) + 1, one_line(error.msg)));
  }
}

std::string YamlReader::location() const { return fmt::format("{}:{}", path_, line_); }

void YamlReader::fail(const std::string& message) const { throw InputError(fmt::format("{}: {}", location(), one_line(message))); }

std::vector<std::pair<std::string, YamlReader>> YamlReader::entries() const {
  if (!node_.IsMap()) fail(fmt::format("{} must be a map of 'key: value' lines", name_));
  std::vector<std::pair<std::string, YamlReader>> result;
  std::set<std::string> seen;
  for (const auto& entry : node_) {
    const int line = entry.first.Mark().line + 1;
    if (!entry.first.IsScalar()) throw InputError(fmt::format("{}:{}: a key of {} must be a name", path_, line, name_));
    const std::string& key = entry.first.Scalar();
    YamlReader child(path_, key, entry.second, line);
    if (!seen.insert(key).second) child.fail(fmt::format("key '{}' appears twice", key));
    result.emplace_back(key, std::move(child));
  }
  return result;
}

void YamlReader::require_keys(const std::vector<std::string>& allowed) const {
  for (const auto& [key, child] : entries()) {
    if (std::find(allowed.begin(), allowed.end(), key) == allowed.end())
      child.fail(fmt::format("unknown key '{}' in {}; {}", key, name_, hint(key, allowed)));
  }
}

std::optional<YamlReader> YamlReader::find(const std::string& key) const {
  for (const auto& [name, child] : entries()) {
    if (name == key) return child;
  }
  return std::nullopt;
}

YamlReader YamlReader::at(const std::string& key) const {
  auto child = find(key);
  if (!child) fail(fmt::format("{} lacks the key '{}'", name_, key));
  return *child;
}

bool YamlReader::is_list() const { return node_.IsSequence(); }
bool YamlReader::is_map() const { return node_.IsMap(); }

std::vector<YamlReader> YamlReader::items() const {
  constexpr std::size_t most = 10'000;
  if (!node_.IsSequence() || node_.size() == 0) fail(fmt::format("{} must be a list with at least one element, like [a, b]", name_));
  if (node_.size() > most) fail(fmt::format("{} has {} elements; at most {}", name_, node_.size(), most));
  std::vector<YamlReader> result;
  for (const auto& item : node_) result.push_back(YamlReader(path_, name_, item, item.Mark().line + 1));
  return result;
}

std::string YamlReader::text() const {
  if (!node_.IsScalar() || node_.Scalar().empty()) fail(fmt::format("{} must be a name or text", name_));
  return node_.Scalar();
}

std::string YamlReader::one_of(const std::string& what, const std::vector<std::string>& allowed) const {
  std::string name = text();
  if (std::find(allowed.begin(), allowed.end(), name) == allowed.end())
    fail(fmt::format("unknown {} '{}'; {}", what, name, hint(name, allowed)));
  return name;
}

std::int64_t YamlReader::integer(std::int64_t low, std::int64_t high) const {
  const Value parsed = value();
  const auto* number = std::get_if<std::int64_t>(&parsed);
  if (number == nullptr || *number < low || *number > high)
    fail(fmt::format("{}: '{}' is not a whole number from {} to {}", name_, to_string(parsed), low, high));
  return *number;
}

double YamlReader::real(double low, double high) const {
  const Value parsed = value();
  double number = std::nan("");
  if (const auto* whole = std::get_if<std::int64_t>(&parsed)) number = static_cast<double>(*whole);
  if (const auto* fraction = std::get_if<double>(&parsed)) number = *fraction;
  if (!(number >= low && number <= high)) fail(fmt::format("{}: '{}' is not a number from {} to {}", name_, to_string(parsed), low, high));
  return number;
}

bool YamlReader::boolean() const {
  bool result = false;
  if (!node_.IsScalar() || !YAML::convert<bool>::decode(node_, result)) fail(fmt::format("{} must be true or false", name_));
  return result;
}

Value YamlReader::value() const {
  std::string scalar = text();
  return node_.Tag() == "!" ? Value(std::move(scalar)) : parse_value(scalar);
}

Value parse_value(const std::string& text) {
  const char* end = text.data() + text.size();
  std::int64_t whole = 0;
  if (const auto [stop, error] = std::from_chars(text.data(), end, whole); error == std::errc() && stop == end) return whole;
  double real = 0;
  if (const auto [stop, error] = std::from_chars(text.data(), end, real); error == std::errc() && stop == end && std::isfinite(real))
    return real;
  return text;
}

}  // namespace vicinity
