#pragma once
// The contract of simulated annealing over the swaps of a permutation (Paul; Connolly 1990): which swap is proposed, which
// random number decides it, at which temperature. Everything a proposal needs follows from its number, so that any
// implementation, in any order of work, accepts the same proposals.
//
// Proposal q of M = n(n-1)/2 pairs belongs to sweep q / M and to pair q % M of (0,1), (0,2), ..., (n-2,n-1). It is accepted if
//   delta * inverse_temperature(q) <= threshold(q)
// in single precision, where threshold = -ln of a uniform number in (0,1): the Metropolis test exp(-delta/T) >= u. All floating point below
// is multiplications and additions, each rounded by itself: the same on every machine.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/problems/qap/qap.hpp"
#include "core/util/hd.hpp"
#include "core/util/metropolis.hpp"
#include "core/util/rng.hpp"
#include "core/util/unfused.hpp"

namespace vicinity::annealing {

// --- proposals ---------------------------------------------------------------------------------------------------------

VICINITY_HD std::int64_t pairs(std::int32_t n) { return std::int64_t{n} * (n - 1) / 2; }

/// Number within a sweep of the first pair (row, row + 1) of a row.
VICINITY_HD std::int64_t row_start(std::int32_t n, std::int32_t row) { return std::int64_t{row} * (2 * n - row - 1) / 2; }

/// Number within a sweep of the pair (r, s), r < s.
VICINITY_HD std::int64_t pair_index(std::int32_t n, std::int32_t r, std::int32_t s) { return row_start(n, r) + (s - r - 1); }

struct Swap {
  std::int32_t r, s;  ///< r < s
};

/// The pair at `index` of a sweep. Exact for every n <= 46340.
VICINITY_HD Swap pair_at(std::int32_t n, std::int64_t index) {
  std::int32_t low = 0, high = n - 2;  // the row whose start is the last one <= index
  while (low < high) {
    const std::int32_t middle = (low + high + 1) / 2;
    if (row_start(n, middle) <= index)
      low = middle;
    else
      high = middle - 1;
  }
  return {low, low + 1 + static_cast<std::int32_t>(index - row_start(n, low))};
}

// --- random numbers ----------------------------------------------------------------------------------------------------

/// The words of pairs (row, s) of a sweep come four to a Philox block: s = 64 h + 16 w + c is word w of block 16 h + c. Sixteen
/// neighbouring blocks give four runs of sixteen neighbouring pairs, which suits vectors; one block serves one thread's four columns, which
/// suits GPUs.
VICINITY_HD std::uint32_t block_of(std::int32_t s) { return static_cast<std::uint32_t>((s >> 6) << 4 | (s & 15)); }
VICINITY_HD std::int32_t word_of(std::int32_t s) { return s >> 4 & 3; }

VICINITY_HD Philox4 words(std::uint64_t seed, std::int64_t sweep, std::int32_t row, std::uint32_t block) {
  return philox({{static_cast<std::uint32_t>(sweep), static_cast<std::uint32_t>(static_cast<std::uint64_t>(sweep) >> 32),
                  static_cast<std::uint32_t>(row), block}},
                seed);
}

using vicinity::highest_threshold;
using vicinity::threshold;

/// The threshold of the pair (row, s) of a sweep.
VICINITY_HD float threshold_at(std::uint64_t seed, std::int64_t sweep, std::int32_t row, std::int32_t s) {
  return threshold(words(seed, sweep, row, block_of(s)).word[word_of(s)]);
}

/// Apart from the proposals' streams, as start_stream is.
inline constexpr std::uint32_t sample_stream = 0x80000001u;

/// Sample k of the swaps that set the temperatures: any pair of distinct facilities, equally likely.
VICINITY_HD Swap sample_swap(std::uint64_t seed, std::int32_t n, std::int64_t k) {
  const std::uint64_t index =
      scale_to(random_bits(seed, static_cast<std::uint64_t>(k), 0, sample_stream), static_cast<std::uint64_t>(pairs(n)));
  return pair_at(n, static_cast<std::int64_t>(index));
}

// --- temperatures ------------------------------------------------------------------------------------------------------

/// connolly: the paper's. acceptance: ours, from one rate of accepted proposals to another, again and again (calibration.hpp).
enum class Schedule : std::uint8_t { connolly, acceptance };

/// 1/T of proposal q. Of the schedule connolly (leg = 0) it is first + q * step (T <- T / (1 + beta T) in closed form), until the search
/// freezes. Of the schedule acceptance T falls from its first value to its last by nearly the same factor a proposal, `leg` proposals long,
/// and then begins anew: 1/T is (first + (q mod leg) * step)^16, the same for all pairs of a row, and nothing freezes. The second of every
/// three legs begins at a higher temperature, which takes apart what the others only rearrange.
struct Cooling {
  double first;
  double step;
  std::int64_t leg = 0;
  double hotter_first = 0, hotter_step = 0;

  [[nodiscard]] VICINITY_HD bool freezes() const { return leg == 0; }
};

/// From T0 = `hot` to Tf = `cold` over `iterations` proposals.
VICINITY_HD Cooling cooling_between(double hot, double cold, std::int64_t iterations) {
  const double first = over(1.0, hot);
  return {first, over(plus(over(1.0, cold), -first), static_cast<double>(iterations))};
}

/// The schedule acceptance from `hot` to `cold`, within `leg` proposals; the hotter legs begin at `hottest`.
VICINITY_HD Cooling legs_between(double hot, double cold, double hottest, std::int64_t leg) {
  const auto inverse_root = [](double t) { return root(root(root(root(over(1.0, t))))); };
  const double first = inverse_root(hot), hotter = inverse_root(hottest), last = inverse_root(cold);
  const auto step_from = [&](double begin) { return over(plus(last, -begin), static_cast<double>(leg)); };
  return {first, step_from(first), leg, hotter, step_from(hotter)};
}

/// T0 = dmin + (dmax - dmin)/10, Tf = dmin over `iterations` proposals; dmin and dmax are the least and the largest positive delta of the
/// samples. Without a positive delta (dmin = 0): T = 1 throughout.
VICINITY_HD Cooling cooling(std::int64_t dmin, std::int64_t dmax, std::int64_t iterations) {
  if (dmin <= 0) return {1.0, 0.0};
  const double cold = static_cast<double>(dmin);
  return cooling_between(plus(cold, over(static_cast<double>(dmax - dmin), 10.0)), cold, iterations);
}

/// Proposals since the last reheat.
VICINITY_HD std::int64_t since_reheat(const Cooling& cooling, std::int64_t q) { return cooling.freezes() ? q : q % cooling.leg; }

/// 1/T along the pairs of one row: base + step * (s - row - 1), in single precision.
struct RowTemperature {
  float base;
  float step;
};

/// Of the row whose first pair is proposal `first_proposal`.
VICINITY_HD RowTemperature row_temperature(const Cooling& cooling, std::int64_t first_proposal) {
  const double at = static_cast<double>(since_reheat(cooling, first_proposal));
  const bool hotter = !cooling.freezes() && first_proposal / cooling.leg % 3 == 1;
  double inverse = plus(hotter ? cooling.hotter_first : cooling.first, times(at, hotter ? cooling.hotter_step : cooling.step));
  if (cooling.freezes()) return {static_cast<float>(inverse), static_cast<float>(cooling.step)};
  for (int doubling = 0; doubling < 4; ++doubling) inverse = times(inverse, inverse);
  return {static_cast<float>(inverse), 0.0f};
}

VICINITY_HD float inverse_temperature(const RowTemperature& row, std::int32_t position) {
  return plus(row.base, times(row.step, static_cast<float>(position)));
}

/// 1/T of proposal q.
VICINITY_HD float inverse_temperature(const Cooling& cooling, std::int32_t n, std::int64_t q) {
  const std::int64_t index = q % pairs(n);
  const Swap swap = pair_at(n, index);
  const std::int64_t first = row_start(n, swap.r);
  return inverse_temperature(row_temperature(cooling, q - (index - first)), static_cast<std::int32_t>(index - first));
}

/// No proposal from `from`, the first of a row, to `to` has a lower 1/T, but for rounding.
VICINITY_HD float least_inverse_temperature(const Cooling& cooling, std::int64_t from, std::int64_t to) {
  const float here = row_temperature(cooling, from).base;
  if (cooling.freezes()) {
    const auto last = static_cast<float>(plus(cooling.first, times(static_cast<double>(to), cooling.step)));
    return here < last ? here : last;
  }
  return since_reheat(cooling, from) + (to - from) < cooling.leg ? here : row_temperature(cooling, cooling.leg).base;
}

/// After n(n-1)/2 rejections in a row the temperature stays at that of proposal `best` (-1: no improvement yet, T0).
VICINITY_HD Cooling frozen(const Cooling& cooling, std::int32_t n, std::int64_t best) {
  return {best < 0 ? cooling.first : static_cast<double>(inverse_temperature(cooling, n, best)), 0.0};
}

/// The test of a proposal. `delta` is exact; its conversion rounds to nearest.
template <class Delta>
VICINITY_HD bool accepts(Delta delta, float inverse_temperature, float threshold) {
  return times(static_cast<float>(delta), inverse_temperature) <= threshold;
}

// --- a run -------------------------------------------------------------------------------------------------------------

/// The first and the last temperature; of the hotter legs the first one, where it is above `hot`.
struct Window {
  double hot, cold;
  double hottest = 0;
};

/// What a case asks for.
struct Task {
  std::int64_t iterations = 0;  ///< I: proposals of a chain
  std::int64_t chains = 1;      ///< chain c is the run with seed + c
  std::int64_t samples = 1000;  ///< swaps that set the temperatures
  Schedule schedule = Schedule::connolly;
  std::int64_t leg = 0;          ///< proposals between two reheats of the schedule acceptance; 0: by the size
  std::optional<Window> window;  ///< given temperatures, neither sampled nor calibrated
  std::int64_t threads = 0;      ///< of cpu-openmp; 0: all
  std::string scope;             ///< where gpu-tuned runs a chain: block, cluster or grid; empty: by its size

  [[nodiscard]] std::uint64_t seed(std::uint64_t run, std::int64_t chain) const { return run + static_cast<std::uint64_t>(chain); }
};

/// Proposals between two reheats: about this share of n^6, at least so many sweeps; or all of them, where they are not half as many again.
/// Up to there a longer leg is worth more than another one.
inline constexpr double leg_share = 1e-4, leg_sweeps = 50;
[[nodiscard]] std::int64_t leg_of(const Task& task, std::int32_t n);

/// By the task's schedule, between these temperatures.
[[nodiscard]] Cooling cooling_in(const Window& window, const Task& task, std::int32_t n);

/// Result of one chain.
struct Chain {
  std::int64_t proposals = 0;  ///< done so far; all of them at the end
  std::int64_t accepted = 0;
  std::uint64_t digest = 0;  ///< Digest of the numbers of the accepted proposals, in order
  std::int64_t cost = 0;     ///< of `current`
  std::int64_t best_cost = 0;
  std::int64_t best_proposal = -1;  ///< the proposal that led to `best`; -1: the start
  std::int64_t frozen_at = -1;      ///< the proposal whose rejection froze the temperature; -1: never
  qap::Permutation current, best;
};

/// The start of chain `chain`: the given permutation, or a uniform shuffle (Fisher and Yates) drawn from the chain's seed. Throws
/// InputError when the given one is none.
[[nodiscard]] qap::Permutation start_of(const qap::Qap& qap, const Task& task, const Start& start, std::int64_t chain);

/// Fewest 32-bit operations of a search that keeps the delta of every pair: a product and a sum a pair and accepted swap, both twice when
/// the instance is not symmetric; of factors of `bits` = 16 bits, two products or sums are one operation. A proposal needs a quarter of a
/// Philox block (15: ten rounds of two wide products and four exclusive ors), the temperature and the test (5), and a bound of the
/// threshold (6). Any such operation counts the same, whichever unit of the machine does it.
[[nodiscard]] double fewest_operations(const qap::Qap& qap, std::int64_t proposals, std::int64_t accepted, std::int64_t bits = 32);

/// Judged by the oracle: permutations, costs; the outcome's objective and solution are the best chain's (the first of equals).
[[nodiscard]] Outcome judge(const qap::Qap& qap, const Task& task, const std::vector<Chain>& chains);

}  // namespace vicinity::annealing
