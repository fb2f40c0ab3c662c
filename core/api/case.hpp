#pragma once
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <variant>

namespace vicinity {

/// A swept value: whole number, real number or name.
using Value = std::variant<std::int64_t, double, std::string>;

[[nodiscard]] std::string to_string(const Value& value);

/// One point of a descriptor's sweep. Knows nothing of backends.
struct Case {
  std::string problem;                  ///< the system's problem family, e.g. "grid-path"
  std::string instance;                 ///< name in data/catalogue.yaml; empty when the parameters define the instance
  std::map<std::string, Value> values;  ///< axis name -> value; sorted, so that keys are canonical

  /// The whole number at `axis`; throws InputError when it is absent, not whole, or outside [low, high].
  [[nodiscard]] std::int64_t integer(const std::string& axis, std::int64_t low, std::int64_t high) const;
  /// The same, `fallback` when the axis is absent.
  [[nodiscard]] std::int64_t integer_or(const std::string& axis, std::int64_t fallback, std::int64_t low, std::int64_t high) const;
  /// The number at `axis`, whole or real; throws InputError when it is absent or not above `bound`.
  [[nodiscard]] double real(const std::string& axis, double bound) const;
  /// The name at `axis`, `fallback` when it is absent; throws InputError when that is none of `allowed`.
  [[nodiscard]] std::string name_or(const std::string& axis, const std::string& fallback,
                                    std::initializer_list<std::string_view> allowed) const;
  /// "problem=grid-path;load=1;states=1024": the same for equal cases; the form the published CSVs use for parameters.
  [[nodiscard]] std::string key() const;
};

}  // namespace vicinity
