#pragma once
// When a median is known well enough.
#include <optional>
#include <utility>
#include <vector>

namespace vicinity {

/// Two of the values between which the true median lies with 95 % probability, whatever the distribution (order statistics; Conover,
/// Practical Nonparametric Statistics, section 3.2). Empty for fewer than 6 values: no two are enough.
[[nodiscard]] std::optional<std::pair<double, double>> median_interval(std::vector<double> values);

/// Is that interval narrower than `precision` times the median?
[[nodiscard]] bool known_within(const std::vector<double>& values, double precision);

}  // namespace vicinity
