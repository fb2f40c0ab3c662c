#pragma once
#include "core/api/case.hpp"
#include "core/methods/sa/annealing.hpp"

namespace vicinity::sa {

/// Most proposals of a chain.
inline constexpr std::int64_t most_iterations = 1'000'000'000'000;

/// What a case asks of the annealing. Throws InputError.
[[nodiscard]] annealing::Task task_of(const Case& c);

}  // namespace vicinity::sa
