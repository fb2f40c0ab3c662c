#include "harness/record/json_schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <cmath>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <vector>

namespace vicinity {
namespace {

constexpr int deepest = 16;  // levels of a value that a schema says nothing of

/// Of two schemas that meet in one value the second adds members that the first describes: nothing is said of the others.
bool describes_all(const Json& schema) { return schema.contains("type"); }

std::string shown(const Json& value) {
  constexpr std::size_t most = 60;
  std::string text =
      value.is_string() ? fmt::format("'{}'", value.get<std::string>()) : value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() <= most) return text;
  text.resize(most);
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0u) == 0x80u) text.pop_back();  // no half of a character
  if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xC0u) text.pop_back();
  return text + "...";
}

/// 64-bit integers and doubles without loss.
long double number(const Json& value) {
  if (value.is_number_unsigned()) return static_cast<long double>(value.get<std::uint64_t>());
  if (value.is_number_integer()) return static_cast<long double>(value.get<std::int64_t>());
  return static_cast<long double>(value.get<double>());
}

bool is_of_type(const Json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (!value.is_number()) return false;
  return type == "number" || (type == "integer" && std::floor(number(value)) == number(value));
}

/// 1 and 1.0 are equal, 1 and true are not.
bool same(const Json& x, const Json& y) {
  if (x.is_number() && y.is_number()) return number(x) == number(y);
  return x == y;
}

std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u; }));
}

Fault within(const std::string& name, Fault fault) {
  const bool apart = !fault.field.empty() && fault.field.front() != '[';
  return {name + (apart ? "." : "") + fault.field, std::move(fault.what)};
}

/// What a schema does not know may be anything, but not nested without end.
std::optional<Fault> flat_fault(const Json& value, int depth = 0) {
  if (!value.is_structured()) return std::nullopt;
  if (depth >= deepest) return Fault{"", fmt::format("is nested more than {} deep", deepest)};
  for (const Json& one : value)
    if (auto fault = flat_fault(one, depth + 1)) return fault;
  return std::nullopt;
}

std::optional<Fault> bound_fault(const Json& schema, const Json& value) {
  if (!value.is_number()) return std::nullopt;
  const auto beyond = [&](const char* keyword, const char* words, auto wrong) -> std::optional<Fault> {
    if (!schema.contains(keyword) || !wrong(number(value), number(schema[keyword]))) return std::nullopt;
    return Fault{"", fmt::format("{} is {} {}", shown(value), words, schema[keyword].dump())};
  };
  if (auto fault = beyond("minimum", "less than", [](auto x, auto limit) { return x < limit; })) return fault;
  if (auto fault = beyond("exclusiveMinimum", "not above", [](auto x, auto limit) { return x <= limit; })) return fault;
  return beyond("maximum", "more than", [](auto x, auto limit) { return x > limit; });
}

std::optional<Fault> text_fault(const Json& schema, const Json& value) {
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  const std::size_t count = characters(text);
  if (schema.contains("maxLength") && count > schema["maxLength"].get<std::size_t>())
    return Fault{"", fmt::format("{} characters are more than {}", count, schema["maxLength"].dump())};
  if (schema.contains("minLength") && count < schema["minLength"].get<std::size_t>()) return Fault{"", "is empty"};
  if (schema.contains("pattern") && !matches(schema["pattern"].get_ref<const std::string&>(), text))
    return Fault{"", fmt::format("{} is not of the form {}", shown(value), schema["pattern"].get<std::string>())};
  return std::nullopt;
}

std::optional<Fault> kind_fault(const Json& schema, const Json& value) {
  if (schema.contains("type")) {
    const Json types = schema["type"].is_array() ? schema["type"] : Json::array({schema["type"]});
    if (std::none_of(types.begin(), types.end(), [&](const Json& type) { return is_of_type(value, type); })) {
      std::vector<std::string> names = types;
      return Fault{"", fmt::format("{} is not of type {}", shown(value), fmt::join(names, " or "))};
    }
  }
  const Json allowed = schema.contains("const") ? Json::array({schema["const"]}) : schema.value("enum", Json::array());
  if (allowed.empty() || std::any_of(allowed.begin(), allowed.end(), [&](const Json& one) { return same(one, value); }))
    return std::nullopt;
  std::vector<std::string> texts;
  for (const Json& one : allowed) texts.push_back(shown(one));
  return Fault{"", fmt::format("{} is not {}", shown(value), fmt::join(texts, " or "))};
}

// --- patterns ----------------------------------------------------------------------------------------------------------

struct CharacterClass {
  std::bitset<256> set;
  bool star = false;
};

class PatternReader {
 public:
  explicit PatternReader(std::string_view pattern) : pattern_(pattern) {}

  [[nodiscard]] std::vector<CharacterClass> read() {
    std::vector<CharacterClass> classes;
    if (pattern_.size() < 2 || pattern_.front() != '^' || pattern_.back() != '$') fail();
    for (at_ = 1; at_ + 1 < pattern_.size();) {
      CharacterClass one;
      if (peek() == '[')
        one.set = bracket();
      else
        one.set.set(character());
      if (peek() == '*') {
        one.star = true;
        ++at_;
      }
      classes.push_back(one);
    }
    return classes;
  }

 private:
  [[noreturn]] void fail() const { throw std::logic_error(fmt::format("pattern {} is not known here", pattern_)); }
  [[nodiscard]] char peek() const { return at_ < pattern_.size() ? pattern_[at_] : '\0'; }
  /// As it stands, or \uXXXX.
  std::size_t character() {
    constexpr std::string_view special = "^$.*+?()|{}";
    const char c = peek();
    ++at_;
    if (c != '\\') {
      if (special.find(c) != std::string_view::npos && !in_bracket_) fail();
      return static_cast<unsigned char>(c);
    }
    if (peek() != 'u' || at_ + 5 > pattern_.size()) fail();
    const std::size_t code = std::stoul(std::string(pattern_.substr(at_ + 1, 4)), nullptr, 16);
    at_ += 5;
    if (code > 0x7F) fail();
    return code;
  }
  std::bitset<256> bracket() {
    std::bitset<256> set;
    ++at_;
    in_bracket_ = true;
    const bool negated = peek() == '^';
    if (negated) ++at_;
    while (peek() != ']') {
      if (at_ + 1 >= pattern_.size()) fail();
      const std::size_t low = character();
      std::size_t high = low;
      if (peek() == '-' && at_ + 1 < pattern_.size() && pattern_[at_ + 1] != ']') {
        ++at_;
        high = character();
      }
      for (std::size_t code = low; code <= high; ++code) set.set(code);
    }
    ++at_;
    in_bracket_ = false;
    return negated ? ~set : set;
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
  bool in_bracket_ = false;
};

}  // namespace

bool matches(std::string_view pattern, std::string_view text) {
  const std::vector<CharacterClass> classes = PatternReader(pattern).read();
  std::vector<bool> ends(text.size() + 1);  // where the classes so far may have ended
  ends[0] = true;
  for (const CharacterClass& one : classes) {
    std::vector<bool> next(text.size() + 1);
    if (one.star) next[0] = ends[0];
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool fits = one.set[static_cast<unsigned char>(text[i])];
      next[i + 1] = one.star ? ends[i + 1] || (next[i] && fits) : ends[i] && fits;
    }
    ends = std::move(next);
  }
  return ends.back();
}

// --- schemas -----------------------------------------------------------------------------------------------------------

JsonSchema::JsonSchema(std::string_view text) : root_(Json::parse(text)) { require_known(root_); }

void JsonSchema::require_known(const Json& schema) const {
  static const std::set<std::string> known{"$schema",
                                           "title",
                                           "$comment",
                                           "$defs",
                                           "$ref",
                                           "type",
                                           "const",
                                           "enum",
                                           "minimum",
                                           "maximum",
                                           "pattern",
                                           "exclusiveMinimum",
                                           "minLength",
                                           "maxLength",
                                           "items",
                                           "minItems",
                                           "required",
                                           "properties",
                                           "if",
                                           "then",
                                           "description",
                                           "$id",
                                           "additionalProperties",
                                           "propertyNames",
                                           "minProperties"};
  for (const auto& [keyword, value] : schema.items()) {
    if (!known.contains(keyword)) throw std::logic_error(fmt::format("keyword {} of JSON Schema is not known here", keyword));
    if (keyword == "pattern") static_cast<void>(matches(value.get_ref<const std::string&>(), ""));
    if (keyword == "properties" || keyword == "$defs")
      for (const auto& [name, one] : value.items()) require_known(one);
    if (keyword == "items" || keyword == "additionalProperties" || keyword == "propertyNames" || keyword == "if" || keyword == "then")
      require_known(value);
  }
}

std::optional<Fault> JsonSchema::fault(const Json& schema, const Json& value) const {
  constexpr std::size_t prefix = 8;  // "#/$defs/"
  if (schema.contains("$ref"))
    if (auto found = fault(root_["$defs"].at(schema["$ref"].get<std::string>().substr(prefix)), value)) return found;
  if (auto found = kind_fault(schema, value)) return found;
  if (auto found = bound_fault(schema, value)) return found;
  if (auto found = text_fault(schema, value)) return found;
  if (value.is_array()) {
    if (schema.contains("items"))
      for (std::size_t k = 0; k < value.size(); ++k)
        if (auto found = fault(schema["items"], value[k])) return within(fmt::format("[{}]", k), std::move(*found));
    if (schema.contains("minItems") && value.size() < schema["minItems"].get<std::size_t>()) return Fault{"", "is empty"};
  }
  if (value.is_object()) {
    if (auto found = member_fault(schema, value)) return found;
    if (schema.contains("minProperties") && value.size() < schema["minProperties"].get<std::size_t>()) return Fault{"", "is empty"};
  }
  if (schema.contains("if") && !fault(schema["if"], value)) return fault(schema["then"], value);
  return std::nullopt;
}

std::optional<Fault> JsonSchema::member_fault(const Json& schema, const Json& value) const {
  const Json none = Json::object();
  const Json& properties = schema.contains("properties") ? schema["properties"] : none;
  if (schema.contains("required"))
    for (const std::string name : schema["required"])
      if (!value.contains(name)) return Fault{name, "is missing"};
  if (schema.contains("propertyNames"))
    for (const auto& [name, one] : value.items())
      if (auto found = fault(schema["propertyNames"], Json(name))) return Fault{"", "a name in it: " + found->what};
  const bool any = !properties.empty() || schema.contains("required") || schema.contains("propertyNames");
  for (const auto& [name, one] : value.items()) {
    std::optional<Fault> found;
    if (const auto known = properties.find(name); known != properties.end())
      found = fault(*known, one);
    else if (schema.contains("additionalProperties"))
      found = fault(schema["additionalProperties"], one);
    else if (any && describes_all(schema))
      found = flat_fault(one);
    if (found) return within(name, std::move(*found));
  }
  return std::nullopt;
}

}  // namespace vicinity
