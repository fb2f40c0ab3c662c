#include "core/api/case.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/util/error.hpp"

namespace vicinity {
namespace {

const Value& value_at(const Case& c, const std::string& axis) {
  const auto found = c.values.find(axis);
  if (found == c.values.end()) throw InputError(fmt::format("{}: axis '{}' is missing", c.problem, axis));
  return found->second;
}

}  // namespace

std::string to_string(const Value& value) {
  return std::visit([](const auto& v) { return fmt::format("{}", v); }, value);
}

std::int64_t Case::integer(const std::string& axis, std::int64_t low, std::int64_t high) const {
  const Value& value = value_at(*this, axis);
  const auto* number = std::get_if<std::int64_t>(&value);
  if (number == nullptr || *number < low || *number > high)
    throw InputError(fmt::format("{}: {} = {} is not a whole number from {} to {}", problem, axis, to_string(value), low, high));
  return *number;
}

std::int64_t Case::integer_or(const std::string& axis, std::int64_t fallback, std::int64_t low, std::int64_t high) const {
  return values.contains(axis) ? integer(axis, low, high) : fallback;
}

double Case::real(const std::string& axis, double bound) const {
  const Value& value = value_at(*this, axis);
  const auto* whole = std::get_if<std::int64_t>(&value);
  const auto* fraction = std::get_if<double>(&value);
  const double number = whole != nullptr ? static_cast<double>(*whole) : fraction != nullptr ? *fraction : std::nan("");
  if (!(number > bound)) throw InputError(fmt::format("{}: {} = {} is not a number above {}", problem, axis, to_string(value), bound));
  return number;
}

std::string Case::name_or(const std::string& axis, const std::string& fallback, std::initializer_list<std::string_view> allowed) const {
  const std::string name = values.contains(axis) ? to_string(values.at(axis)) : fallback;
  if (std::find(allowed.begin(), allowed.end(), name) == allowed.end())
    throw InputError(fmt::format("{}: {} = {} is none of {}", problem, axis, name, fmt::join(allowed, ", ")));
  return name;
}

std::string Case::key() const {
  std::string key = "problem=" + problem;
  if (!instance.empty()) key += ";instance=" + instance;
  for (const auto& [axis, value] : values) key += ";" + axis + "=" + to_string(value);
  return key;
}

}  // namespace vicinity
