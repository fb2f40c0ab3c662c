#pragma once
// The temperatures of the schedule `acceptance`, by the shares of its proposals that a search which cools down quickly accepts. They follow
// from the instance and the number of proposals alone, so that all seeds and chains have the same. Deltas that are not positive do not
// count: what is accepted at any temperature says nothing of it.
//
// Cost: O(n) a proposal of the probe, as many proposals as some dozens of stages have (`stage_of`); on the host, whatever runs the search.
#include <atomic>
#include <cstdint>
#include <optional>

#include "core/methods/sa/annealing.hpp"
#include "core/problems/qap/from_scratch.hpp"

namespace vicinity::annealing {

/// A leg ends where last_share of the proposals is accepted uphill. It begins at a part of the temperature at which first_share is: at a
/// third, which spares what is accepted without gain, but where acceptance falls slowly with T (els19, bur*, tai*b) at more, from `slow`
/// times the last temperature on at all of it. The hotter legs begin at the mean magnitude of the deltas at random.
inline constexpr double first_share = 0.2, first_part = 1.0 / 3, last_share = 0.002, slow = 100;

/// Proposals of the probe at one temperature: a sweep, unless that is much of the search.
[[nodiscard]] std::int64_t stage_of(std::int32_t n, std::int64_t iterations);

/// The probability exp(-x), x >= 0, to which the Metropolis test accepts delta / T = x. Off by less than 1e-6 of it; 0 from
/// highest_threshold on. The same on every machine.
[[nodiscard]] double acceptance(double x);

/// Probes the instance. Where `stop` is raised (null: never) the probe ends, and what it gives is of no use.
[[nodiscard]] Window calibrated(const qap::FromScratch& from_scratch, std::int32_t n, std::int64_t iterations,
                                const std::atomic<bool>* stop = nullptr);

/// Of all chains of a task: its window's or, by the schedule acceptance, the calibrated one's. Nothing where each chain samples its own.
[[nodiscard]] std::optional<Cooling> known_cooling(const qap::FromScratch& from_scratch, std::int32_t n, const Task& task,
                                                   const std::atomic<bool>* stop = nullptr);

}  // namespace vicinity::annealing
