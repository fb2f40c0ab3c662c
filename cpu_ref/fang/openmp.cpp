// cpu-openmp: the paper's method on all cores.
//
// Mapping: states over threads. Data layout: the ratings of one variable, which stay in the L1 cache.
//
// Phases for each variable: rate all possibilities, vectorised; sum their weights by tiles of 512, where the paper stores prefix sums; find
// the tile that the random number decides for, in it the block of 32, in it the possibility.
//
// Synchronisation: one parallel region for the clone step, and one a variable type. Cost: one rating and one weight a possibility.
#include <omp.h>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/problems/fang_domains/grid_path.hpp"
#include "core/util/vector_bytes.hpp"
#include "cpu_ref/fang/implementations.hpp"
#include "cpu_ref/fang/run.hpp"
#include "cpu_ref/run/aligned.hpp"

#pragma GCC diagnostic ignored "-Wpsabi"  // everything here is inlined: no vector crosses a call

namespace vicinity::fang {
namespace {

// --- ratings -----------------------------------------------------------------------------------------------------------

/// Rates possibilities [0, count) of a variable into `stored`, which has room for whole vectors, and returns the aggregate of the ratings;
/// weight() is the heuristic's of a stored rating. `lanes`: how many possibilities one instruction rates; 1: left to the compiler.
template <class R, class H>
concept RaterOf = requires(const R& rater, const H& h, const typename H::Context& context, std::uint32_t count, typename R::Stored* stored,
                           typename R::Aggregate aggregate) {
  { R::lanes } -> std::convertible_to<std::uint32_t>;
  { rater.rate_all(h, context, count, stored) } -> std::same_as<typename R::Aggregate>;
  { R::weight(h, *stored, aggregate) } -> std::unsigned_integral;
};

/// For any heuristic.
template <LocalHeuristic H>
class Rater {
 public:
  using Stored = typename H::Rating;
  using Aggregate = typename H::Aggregate;
  static constexpr std::uint32_t lanes = 1;

  explicit Rater(const H&) {}

  Aggregate rate_all(const H& h, const typename H::Context& context, std::uint32_t count, Stored* __restrict stored) const {
    auto aggregate = h.create();
    for (std::uint32_t p = 0; p < count; ++p) {
      const auto rating = h.rate(context, p);
      stored[p] = rating;
      aggregate = h.aggregate(aggregate, rating);
    }
    return aggregate;
  }
  static auto weight(const H& h, Stored rating, Aggregate aggregate) { return h.weight(rating, aggregate); }
};

/// For the paper's grid: 16-bit ratings, a vector of cells at a time, goal after goal. The loop over the goals is inside that over the
/// cells, so every load is vectorised, whether or not the compiler knows it. Every cell is rated by all its distances, as in rate().
/// Stored is the rating minus that of the variable's own cell, plus 2^15; 2^16 - 1 outside the grid. Weights are differences of ratings
/// and stay the same. `packed`: the two offsets of a cell share 16 bits, so that they and the ratings fit the L1 cache together at the
/// paper's sizes.
template <int Load, bool packed>
class StepRater {
  using H = StepHeuristic<Load>;

 public:
  using Stored = std::uint16_t;
  using Aggregate = std::uint16_t;
  static constexpr std::uint32_t lanes = vector_bytes / sizeof(Stored);
  static constexpr std::int32_t max_reach = 157;  ///< largest offset of a window of max_possibilities
  static_assert((2 * max_reach - 1) * (2 * max_reach - 1) <= max_possibilities && max_side + max_reach < 1 << 15 &&
                    max_load * 2 * max_reach < (1 << 15) - 1,
                "differences of coordinates and of ratings fit 16 bits");

  /// Can the offsets be packed?
  [[nodiscard]] static bool fits_bytes(const H& h) { return add_halves({0, 0}, h.offsets[0]).y >= -127; }

  explicit StepRater(const H& h) : offsets_(std::size_t{divide_up(h.window, lanes)} * (packed ? 1 : 2)) {
    for (std::uint32_t p = 0; p < divide_up(h.window, lanes) * lanes; ++p) {
      const Cell offset = add_halves({0, 0}, h.offsets[std::min(p, h.window - 1)]);  // the last cell fills the last vector
      const std::uint32_t v = p / lanes, lane = p % lanes;
      if constexpr (packed) {
        offsets_[v][lane] = static_cast<std::int16_t>(offset.y * 256 + (offset.x & 255));
      } else {
        offsets_[2 * v][lane] = static_cast<std::int16_t>(offset.x);
        offsets_[2 * v + 1][lane] = static_cast<std::int16_t>(offset.y);
      }
    }
  }

  Aggregate rate_all(const H& h, const typename H::Context& context, std::uint32_t count, Stored* __restrict stored) const {
    const std::int32_t load = Load > 0 ? Load : h.load;
    Cells goals_x[max_load], goals_y[max_load];
    std::int32_t own = 0;
    for (std::int32_t g = 0; g < load; ++g) {
      const Cell goal = context.goals[g];
      goals_x[g] = broadcast(goal.x), goals_y[g] = broadcast(goal.y);
      own = abs_difference_plus(context.position.x, goal.x, abs_difference_plus(context.position.y, goal.y, own));
    }
    const Cells x0 = broadcast(context.position.x), y0 = broadcast(context.position.y), start = broadcast((1 << 15) - own);
    const auto width = static_cast<std::uint16_t>(h.width), height = static_cast<std::uint16_t>(h.height);
    Cells farthest{};
    for (std::uint32_t p = 0; p < count; p += lanes) {
      const Cells x = x0 + columns(p / lanes), y = y0 + rows(p / lanes);
      Cells rating = start;  // of 16 bits that wrap around; the result fits
      for (std::int32_t g = 0; g < load; ++g) rating += distance(x, goals_x[g]) + distance(y, goals_y[g]);
      const auto outside = reinterpret_cast<Cells>((x >= width) | (y >= height));
      const Cells inside = rating & ~outside;
      farthest = inside > farthest ? inside : farthest;
      rating |= outside;
      std::memcpy(stored + p, &rating, sizeof rating);
    }
    Aggregate most = 0;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) most = std::max<Aggregate>(most, farthest[lane]);
    return most;
  }
  static std::uint16_t weight(const H&, Stored rating, Aggregate farthest) {
    return static_cast<std::uint16_t>(std::max<std::uint16_t>(static_cast<std::uint16_t>(farthest + 1), rating) - rating);
  }

 private:
  using Cells = std::uint16_t __attribute__((vector_size(vector_bytes)));
  using Signed = std::int16_t __attribute__((vector_size(vector_bytes)));

  static Cells broadcast(std::int32_t value) { return Cells{} + static_cast<std::uint16_t>(value); }
  [[nodiscard]] Cells columns(std::uint32_t v) const { return reinterpret_cast<Cells>(packed ? offsets_[v] << 8 >> 8 : offsets_[2 * v]); }
  [[nodiscard]] Cells rows(std::uint32_t v) const { return reinterpret_cast<Cells>(packed ? offsets_[v] >> 8 : offsets_[2 * v + 1]); }
  static Cells distance(const Cells& a, const Cells& b) {
    const auto difference = reinterpret_cast<Signed>(a - b);
    return reinterpret_cast<Cells>(difference < 0 ? -difference : difference);
  }

  Aligned<Signed> offsets_;  // packed: y in the upper byte, x in the lower; else x and y by turns
};

// --- the choice of a possibility ---------------------------------------------------------------------------------------

constexpr std::uint32_t tile = 512, block = 32;
constexpr std::uint32_t most_tiles = divide_up(max_possibilities, tile);

/// Sum of the weights of up to `tile` ratings, in a type that holds it.
template <class Sum, class AnyRater, LocalHeuristic H>
std::uint64_t sum_weights(const H& h, const typename AnyRater::Stored* ratings, std::uint32_t count,
                          typename AnyRater::Aggregate aggregate) {
  Sum sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::uint32_t p = 0; p < count; ++p) sum += static_cast<Sum>(AnyRater::weight(h, ratings[p], aggregate));
  return sum;
}

template <class Sum, LocalHeuristic H, RaterOf<H> AnyRater>
void assign_variable(const H& h, const AnyRater& rater, std::int32_t* state, std::uint32_t variable, std::uint64_t& successor,
                     typename AnyRater::Stored* __restrict ratings) {
  const auto context = h.context(state, variable);
  const std::uint32_t count = h.possibilities(context);
  const auto aggregate = rater.rate_all(h, context, count, ratings);
  std::uint64_t sums[most_tiles], total = 0;
  const std::uint32_t tiles = divide_up(count, tile);
  for (std::uint32_t t = 0; t < tiles; ++t)
    total += sums[t] = sum_weights<Sum, AnyRater>(h, ratings + t * tile, std::min(tile, count - t * tile), aggregate);
  if (total == 0) return h.could_not_assign(state, variable);
  std::uint64_t v = decide(successor, total);
  std::uint32_t t = 0;
  while (v >= sums[t]) v -= sums[t++];
  // In the tile: by blocks of a vector or two, then one by one.
  std::uint32_t p = t * tile;
  for (;; p += block) {
    const std::uint64_t sum = sum_weights<Sum, AnyRater>(h, ratings + p, std::min(block, count - p), aggregate);
    if (v < sum) break;
    v -= sum;
  }
  for (std::uint64_t weight = AnyRater::weight(h, ratings[p], aggregate); v >= weight;
       weight = AnyRater::weight(h, ratings[p], aggregate)) {
    v -= weight;
    ++p;
  }
  h.assign(state, variable, p);
}

/// Calls assign(variable) for the active variables in order and deactivates them.
template <class Assign>
void for_each_active(std::uint32_t* bits, std::uint32_t variables, Order order, std::uint64_t seed,
                     std::vector<std::pair<std::uint64_t, std::uint32_t>>& keys, Assign assign) {
  keys.clear();
  for (std::uint32_t w = 0; w < bit_words(variables); ++w) {
    for (std::uint32_t rest = bits[w]; rest != 0; rest &= rest - 1) {
      const std::uint32_t variable = w * 32 + static_cast<std::uint32_t>(std::countr_zero(rest));
      if (order == Order::fixed)
        assign(variable);
      else
        keys.emplace_back(order_key(seed, variable), variable);
    }
    bits[w] = 0;
  }
  std::sort(keys.begin(), keys.end());
  for (const auto& [key, variable] : keys) assign(variable);
}

// --- the method --------------------------------------------------------------------------------------------------------

struct OpenMpPolicy {
  int threads;
  std::uint32_t vector_lanes = 1;  ///< of the last assign(): possibilities that one instruction rates; 1: left to the compiler

  [[nodiscard]] Policy record() const { return {{"threads", threads}, {"tile", tile}, {"vector_lanes", vector_lanes}}; }
};
/// Axis `threads`: how many to use; without it, as many as OpenMP would.
OpenMpPolicy openmp_policy(const Case& c) {
  const auto threads = static_cast<int>(c.integer_or("threads", omp_get_max_threads(), 1, 65536));
  if (threads > omp_get_num_procs())
    throw DoesNotFit(std::to_string(threads) + " threads, " + std::to_string(omp_get_num_procs()) + " cores");
  return {threads};
}

class OpenMp {
 public:
  explicit OpenMp(const Case& c) : policy_(openmp_policy(c)) {}

  [[nodiscard]] int threads() const { return policy_.threads; }

  void clone(const States& sources, States& targets, std::uint32_t successors, std::uint64_t seed) const {
    const std::size_t words = sources.state_words, active = sources.active_words;
#pragma omp parallel for schedule(static) num_threads(policy_.threads)
    for (std::uint32_t t = 0; t < targets.count; ++t) {
      std::copy_n(&sources.words[t / successors * words], words, &targets.words[t * words]);
      std::copy_n(&sources.active[t / successors * active], active, &targets.active[t * active]);
      targets.successors[t] = successor_value(seed, t);
    }
  }

  template <LocalHeuristic H>
  void assign(const H& h, const StatesView& targets, std::uint32_t active_offset, const VariableType& type, Order order) {
    assign_rated(h, Rater<H>(h), targets, active_offset, type, order);
  }
  template <int Load>
  void assign(const StepHeuristic<Load>& h, const StatesView& targets, std::uint32_t active_offset, const VariableType& type, Order order) {
    if (StepRater<Load, true>::fits_bytes(h))
      assign_rated(h, StepRater<Load, true>(h), targets, active_offset, type, order);
    else
      assign_rated(h, StepRater<Load, false>(h), targets, active_offset, type, order);
  }

  [[nodiscard]] Policy policy() const { return policy_.record(); }
  [[nodiscard]] double lane_share() const { return policy_.vector_lanes > 1 ? 0.5 : 1; }  // 16 bits

 private:
  template <LocalHeuristic H, RaterOf<H> AnyRater>
  void assign_rated(const H& h, const AnyRater& rater, const StatesView& targets, std::uint32_t active_offset, const VariableType& type,
                    Order order) {
    policy_.vector_lanes = AnyRater::lanes;
    if (h.max_weight() < (std::uint64_t{1} << 32) / tile)
      assign_states<std::uint32_t>(h, rater, targets, active_offset, type, order);
    else
      assign_states<std::uint64_t>(h, rater, targets, active_offset, type, order);
  }

  template <class Sum, LocalHeuristic H, RaterOf<H> AnyRater>
  void assign_states(const H& h, const AnyRater& rater, const StatesView& targets, std::uint32_t active_offset, const VariableType& type,
                     Order order) {
    const int chunk = std::max(1, static_cast<int>(targets.count) / (policy_.threads * 16));
#pragma omp parallel num_threads(policy_.threads)
    {
      std::vector<typename AnyRater::Stored> ratings(divide_up(type.possibilities, AnyRater::lanes) * AnyRater::lanes);
      std::vector<std::pair<std::uint64_t, std::uint32_t>> keys;
#pragma omp for schedule(dynamic, chunk)
      for (std::uint32_t t = 0; t < targets.count; ++t) {
        std::int32_t* state = targets.words + std::size_t{t} * targets.state_words;
        std::uint32_t* bits = targets.active + std::size_t{t} * targets.active_words + active_offset;
        std::uint64_t successor = targets.successors[t];
        for_each_active(bits, type.variables, order, successor, keys,
                        [&](std::uint32_t variable) { assign_variable<Sum>(h, rater, state, variable, successor, ratings.data()); });
        targets.successors[t] = successor;
      }
    }
  }

  OpenMpPolicy policy_;
};

}  // namespace

std::unique_ptr<Run> prepare_openmp(const Case& c, const Instance& instance) { return prepare_cpu<OpenMp>(c, instance); }

}  // namespace vicinity::fang
