#pragma once
// JSON Schema as far as docs/schema/ uses it. The analysis has the same; tests/vectors/ holds both to the same answers.
#include <optional>
#include <string>
#include <string_view>

#include "harness/record/json.hpp"

namespace vicinity {

/// What is wrong where: field is "" (the whole), "status", "samples.kernel[3]".
struct Fault {
  std::string field;
  std::string what;

  [[nodiscard]] std::string text() const { return field.empty() ? what : field + ": " + what; }
};

class JsonSchema {
 public:
  /// Throws std::logic_error for a keyword or a pattern that is not known here.
  explicit JsonSchema(std::string_view text);

  /// The first fault of a value, in the order of its members.
  [[nodiscard]] std::optional<Fault> fault(const Json& value) const { return fault(root_, value); }

 private:
  void require_known(const Json& schema) const;
  [[nodiscard]] std::optional<Fault> fault(const Json& schema, const Json& value) const;
  [[nodiscard]] std::optional<Fault> member_fault(const Json& schema, const Json& value) const;

  Json root_;
};

/// Does a text match a pattern of character classes, each perhaps with a star, between ^ and $? Bytes beyond ASCII are in negated classes.
/// Throws std::logic_error for any other pattern.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view text);

}  // namespace vicinity
