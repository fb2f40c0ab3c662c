#pragma once
// The linear relaxation of a network: what its objective can be at best when variables may have fractions.
//
// Rows are the linear constraints that always hold, and what is linear, within the root's bounds, of conditional ones, orders, clauses,
// literals of bounds, maxima and minima. The dual simplex method on a dense tableau, with bounds flipped on the way (Maros, Computational
// Techniques of the Simplex Method, 2003), finds multipliers of the rows. Rounded to integers they make a surrogate constraint (Glover,
// Operations Research 16, 1968): the sum of the rows. It holds exactly, however its multipliers were found. Propagated to bounds it says of
// the objective what the relaxation says, and excludes values by their reduced costs, at every node.
// Cost: rows times variables for the tableau, at most that for a pivot; the work is bounded by a number of operations, not by time.
#include <atomic>
#include <cstdint>
#include <vector>

#include "core/problems/cp/compile.hpp"

namespace vicinity::lns {

struct Relaxation {
  std::vector<double> values;           ///< [variable] where the relaxation is best; empty: it was not solved
  std::vector<std::int32_t> arguments;  ///< of the surrogate, a linear_le; empty: it would say nothing that the root does not know
  std::vector<std::int64_t> data;
};

/// Of a model with a goal. `stop`: true ends it, with an empty result.
[[nodiscard]] Relaxation relax(const cp::CompiledModel& compiled, bool maximise, const std::atomic<bool>* stop);

/// The same variables, and the surrogate as one constraint more.
[[nodiscard]] cp::CompiledModel with_surrogate(const cp::CompiledModel& compiled, const Relaxation& relaxation);

}  // namespace vicinity::lns
