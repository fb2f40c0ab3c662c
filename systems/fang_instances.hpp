#pragma once
#include <cstdint>
#include <memory>

#include "core/api/case.hpp"
#include "core/problems/fang_domains/states.hpp"

namespace vicinity::fang {

/// Builds the instance of a case: generated from its parameters, except for the colouring's graph, which comes from the
/// catalogue's generator. Throws InputError for parameters out of range.
[[nodiscard]] std::shared_ptr<const Successors> make_instance(const Case& c);

/// The first `count` cells, row by row, of the smallest window of odd side that has so many without its centre.
/// Packed: dx in the lower half, dy in the upper.
[[nodiscard]] std::vector<std::int32_t> window_offsets(std::uint32_t count);

}  // namespace vicinity::fang
