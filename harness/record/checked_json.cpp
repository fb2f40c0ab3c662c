#include "harness/record/checked_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

#include "core/util/error.hpp"
#include "core/util/utf8.hpp"
#include "data/input_file.hpp"
#include "harness/cli/text.hpp"
#include "harness/record/recorder.hpp"
#include "schemas.hpp"

namespace vicinity {
namespace {

std::string_view without_mark(std::string_view text) {
  return text.starts_with(byte_order_mark) ? text.substr(byte_order_mark.size()) : text;
}

/// The first byte that is no part of UTF-8; the size of the text when there is none.
std::size_t valid_utf8(std::string_view text) {
  std::size_t at = 0;
  while (const std::size_t length = character_length(text.substr(at))) at += length;
  return at;
}

std::size_t line_at(std::string_view text, std::size_t byte) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(byte, text.size()));
  return static_cast<std::size_t>(std::count(text.begin(), end, '\n')) + 1;
}

/// Where a field stands: the line of its last name that the text has, searched name by name.
std::size_t line_of(std::string_view text, const std::string& field) {
  std::size_t at = 0;
  for (std::size_t begin = 0; begin < field.size();) {
    const std::size_t end = std::min(field.find_first_of(".[", begin), field.size());
    const std::size_t found = text.find(Json(field.substr(begin, end - begin)).dump(), at);
    if (found == std::string_view::npos) break;
    at = found;
    begin = std::min(field.find('.', end), field.size() - 1) + 1;
  }
  return line_at(text, at);
}

const Json* member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

/// Members that do not fit each other.
std::optional<Fault> contradiction(const Json& record) {
  const Json none = Json::object();
  const Json& samples = record.contains("samples") ? record["samples"] : none;
  std::size_t count = 0;
  for (const auto& [part, values] : samples.items()) {
    if (count == 0) count = values.size();
    if (values.size() != count) return Fault{"samples." + part, fmt::format("{} samples beside {} of another part", values.size(), count)};
  }
  if (const Json* marks = member(record, "contended"); marks != nullptr && !marks->empty() && marks->size() != count)
    return Fault{"contended", fmt::format("{} marks for {} samples", marks->size(), count)};
  if (record["status"] != "ok") return std::nullopt;
  const Json* protocol = member(record, "protocol");
  const std::string compared = protocol != nullptr ? protocol->value("time", "kernel") : "kernel";
  std::vector<std::string> parts;
  for (const auto& [part, values] : samples.items())
    if (part == compared || (compared == "total" && part != "wall")) parts.push_back(part);
  if (parts.empty()) return Fault{"protocol.time", fmt::format("'{}' has no samples", compared)};
  for (std::size_t k = 0; k < count; ++k)
    if (std::none_of(parts.begin(), parts.end(), [&](const std::string& part) { return samples[part][k].get<double>() > 0; }))
      return Fault{"samples." + parts.front(), "a time that is compared is 0"};
  return std::nullopt;
}

}  // namespace

ParsedJson parse_json(std::string_view text) {
  constexpr int deepest = 900;
  const std::string_view content = without_mark(text);
  const auto failed = [&](const std::string& what, std::size_t byte) {
    return ParsedJson{nullptr, Fault{"", what}, line_at(text, byte + (text.size() - content.size()))};
  };
  if (const std::size_t end = valid_utf8(content); end < content.size()) return failed("not UTF-8", end);
  const auto shallow = [](int depth, Json::parse_event_t, Json&) {
    if (depth > deepest) throw InputError("not JSON: nested too deep");
    return true;
  };
  try {
    return {Json::parse(content, shallow), std::nullopt};
  } catch (const Json::parse_error& error) {
    return failed(fmt::format("not JSON: at character {}", error.byte), error.byte - std::min<std::size_t>(error.byte, 1));
  } catch (const Json::out_of_range&) {
    return failed("not JSON: a number beyond double precision", 0);
  } catch (const InputError& error) {
    return failed(error.what(), 0);
  }
}

bool is_blank(std::string_view line) { return without_mark(line).find_first_not_of(" \t\r") == std::string_view::npos; }

std::optional<Fault> record_fault(const Json& value) {
  static const JsonSchema schema(record_schema);
  if (auto fault = schema.fault(value)) return fault;
  return contradiction(value);
}

Json read_environment(const std::filesystem::path& path) {
  static const JsonSchema schema(environment_schema);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return nullptr;
  const auto fail = [&](std::size_t line, const Fault& fault) {
    throw EnvironmentError(fmt::format("{}:{}: {}; mend or remove the file", path.string(), line, printable(fault.text())));
  };
  std::string text;
  try {
    text = read_input_file(path);
  } catch (const InputError& complaint) {
    throw EnvironmentError(complaint.what());
  }
  const ParsedJson parsed = parse_json(text);
  if (parsed.fault) fail(parsed.line, *parsed.fault);
  if (const auto fault = schema.fault(parsed.value)) fail(line_of(text, fault->field), *fault);
  return parsed.value;
}

}  // namespace vicinity
