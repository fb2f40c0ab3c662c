#include "harness/measure/precision.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "harness/cli/text.hpp"

namespace vicinity {
namespace {

/// How many values to leave out at either end: the most for which both tails of the binomial distribution of (count, 1/2) together have
/// at most 5 %. Negative: too few values.
std::ptrdiff_t left_out(std::size_t count) {
  const auto n = static_cast<double>(count);
  double tail = 0;
  std::ptrdiff_t k = 0;
  for (;; ++k) {
    const auto x = static_cast<double>(k);
    tail += std::exp(std::lgamma(n + 1) - std::lgamma(x + 1) - std::lgamma(n - x + 1) - n * std::log(2.0));
    if (2 * tail > 0.05) return k - 1;
  }
}

}  // namespace

std::optional<std::pair<double, double>> median_interval(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  const std::ptrdiff_t beyond = left_out(values.size());
  if (beyond < 0) return std::nullopt;
  std::sort(values.begin(), values.end());
  const auto low = static_cast<std::size_t>(beyond);
  return std::pair(values[low], values[values.size() - 1 - low]);
}

bool known_within(const std::vector<double>& values, double precision) {
  const auto interval = median_interval(values);
  return interval && interval->second - interval->first < precision * median(values);
}

}  // namespace vicinity
