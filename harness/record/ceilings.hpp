#pragma once
// The machine's measured limits, by name, that `Work` refers to.
#include <map>
#include <string>

#include "harness/record/record.hpp"

namespace vicinity {

/// cpu_copy_bandwidth (bytes read and written a second, all cores), cpu_integer (32-bit additions and logic a second, all
/// cores), cpu_integer_core (the same, one core). Best of several repetitions; a few seconds.
[[nodiscard]] std::map<std::string, double> cpu_ceilings();

/// Unit of a ceiling: "B/s", "op/s" or "s".
[[nodiscard]] std::string ceiling_unit(const std::string& name);

/// {"copy_bandwidth": {"value": 2.84e12, "unit": "B/s"}, ...}
[[nodiscard]] Json ceilings_json(const std::map<std::string, double>& ceilings);

}  // namespace vicinity
