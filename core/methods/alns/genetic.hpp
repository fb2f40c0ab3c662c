#pragma once
// The simple genetic algorithm on local incumbents (section 3.1, Variant::genetic). The paper says no more of it; this is Prins' (2004, "A
// simple and effective evolutionary algorithm for the vehicle routing problem") without his local search, in whose place the process goes
// on (docs/errata.md, A35 to A37). On the host between two calls, the same for all twins.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/methods/alns/task.hpp"

namespace vicinity::alns {

/// A child is made at every fifth boundary.
inline constexpr std::int64_t generation_calls = 5;

/// Which process begins again with a child, and whose incumbents its parents are.
struct Birth {
  std::int32_t process, mother, father;
};
/// At the boundary after `calls` calls; empty where there is none, and for less than two processes. Parents: each the better of two
/// processes drawn, the first of equals; the father's two are drawn without the mother. The process is drawn from the worse half, by
/// (incumbent, process).
[[nodiscard]] std::optional<Birth> birth_at(std::uint64_t seed, std::int64_t calls, std::span<const std::int64_t> incumbents);

/// Order crossover of the parents' tours one after the other, at two drawn positions, cut into tours at the least cost. None of the tours
/// is empty. Empty where that takes more vehicles than there are.
[[nodiscard]] std::optional<Tours> child_of(const vrp::View& vrp, std::uint64_t seed, std::int64_t calls, const Tours& mother,
                                            const Tours& father);

/// The cheapest feasible tours of all requests in this order, each of which fits a vehicle alone (Prins' split); of equals the last tour
/// begins as early as possible, then the one before it. O(n times the requests of a tour).
[[nodiscard]] Tours split_in_order(const vrp::View& vrp, std::span<const std::int32_t> order);

}  // namespace vicinity::alns
