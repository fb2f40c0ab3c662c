#include "core/api/objective.hpp"

#include <cmath>

namespace vicinity {

std::optional<double> gap_percent(const Objective& objective, std::optional<std::int64_t> best_known) {
  if (!objective || !best_known) return std::nullopt;
  if (*objective == *best_known) return 0;
  if (*best_known == 0) return std::nullopt;
  const double gap = 100 * static_cast<double>(*objective - *best_known) / std::abs(static_cast<double>(*best_known));
  return objective.sense() == Sense::minimise ? gap : -gap;
}

}  // namespace vicinity
