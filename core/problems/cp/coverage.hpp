#pragma once
// Which solutions over all integers lie within the values of variables (least_value to greatest_value), to which a network cuts domains
// that reach beyond. What a search of the cut domains proves, holds for these alone.
#include <cstdint>
#include <optional>

#include "core/problems/cp/model.hpp"
#include "core/problems/cp/network.hpp"

namespace vicinity::cp {

/// All solutions; of a goal, all that are better than one within.
struct Coverage {
  bool all, better;
  std::optional<std::int64_t> best;  ///< no objective of a solution over all integers is better, where that is known
};

/// Of a draft whose domains are not cut yet: `unlimited` is a bound that is none.
[[nodiscard]] Coverage coverage_of(const Draft& draft, Goal goal, Var objective);

}  // namespace vicinity::cp
