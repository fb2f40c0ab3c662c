#pragma once
// What the harness writes as JSON: records, and the --json of the commands.
#include <nlohmann/json.hpp>
#include <variant>

#include "core/api/case.hpp"

namespace vicinity {

using Json = nlohmann::ordered_json;

[[nodiscard]] inline Json to_json(const Value& value) {
  return std::visit([](const auto& v) { return Json(v); }, value);
}

/// null for an empty std::optional, and for an Objective without a value.
template <class Maybe>
[[nodiscard]] Json or_null(const Maybe& value) {
  return value ? Json(*value) : Json();
}

}  // namespace vicinity
