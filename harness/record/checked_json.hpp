#pragma once
// Reading what may be damaged: strictly JSON, and as docs/schema/ says. The analysis reads the same and gives the same answers.
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "harness/record/json_schema.hpp"

namespace vicinity {

/// One JSON value, or what is wrong with the text (1-based line).
struct ParsedJson {
  Json value;
  std::optional<Fault> fault;
  std::size_t line = 1;
};

/// Strict: UTF-8, no NaN, no number beyond double precision, nothing behind the value, not nested beyond any use. A byte order mark before
/// it is no part of it.
[[nodiscard]] ParsedJson parse_json(std::string_view text);

/// White space alone, perhaps behind a byte order mark, is no line.
[[nodiscard]] bool is_blank(std::string_view line);

/// What keeps a value from being a record, by docs/schema/record.json and what no schema can say (docs/schema/README.md).
[[nodiscard]] std::optional<Fault> record_fault(const Json& value);

/// The environment.json of a machine; null when there is none. Throws EnvironmentError "file:line: field: what is wrong".
[[nodiscard]] Json read_environment(const std::filesystem::path& path);

}  // namespace vicinity
