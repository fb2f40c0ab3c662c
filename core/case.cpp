#include "core/case.hpp"

#include <cstdint>

#include <fmt/format.h>

#include "core/error.hpp"

namespace vicinity {

std::string to_string(const Value& value) {
  return std::visit([](const auto& v) { return fmt::format("{}", v); }, value);
}

std::int64_t Case::integer(const std::string& axis, std::int64_t low, std::int64_t high) const {
  const auto found = values.find(axis);
  if (found == values.end()) throw InputError(fmt::format("{}: axis '{}' is missing", problem, axis));
  const auto* number = std::get_if<std::int64_t>(&found->second);
  if (number == nullptr || *number < low || *number > high)
    throw InputError(fmt::format("{}: {} = {} is not a whole number from {} to {}", problem, axis, to_string(found->second), low, high));
  return *number;
}

std::int64_t Case::integer_or(const std::string& axis, std::int64_t fallback, std::int64_t low, std::int64_t high) const {
  return values.contains(axis) ? integer(axis, low, high) : fallback;
}

std::string Case::key() const {
  std::string key = "problem=" + problem;
  if (!instance.empty()) key += ";instance=" + instance;
  for (const auto& [axis, value] : values) key += ";" + axis + "=" + to_string(value);
  return key;
}

}  // namespace vicinity
