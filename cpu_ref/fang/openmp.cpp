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
#include <string>
#include <utility>
#include <vector>

#include "core/problems/fang_domains/grid_path.hpp"
#include "cpu_ref/fang/implementations.hpp"
#include "cpu_ref/fang/run.hpp"

namespace vicinity::fang {
namespace {

// --- ratings -----------------------------------------------------------------------------------------------------------

/// Rates possibilities [0, count) of a variable into `stored` and returns the aggregate of the ratings.
template <class R, class H>
concept RaterOf = requires(const R& rater, const H& h, const typename H::Context& context, std::uint32_t count,
                           typename R::Stored* stored) {
  { rater.rate_all(h, context, count, stored) } -> std::convertible_to<typename H::Aggregate>;
};

/// For any heuristic: the compiler vectorises rate().
template <LocalHeuristic H>
class Rater {
 public:
  using Stored = typename H::Rating;

  explicit Rater(const H&) {}

  typename H::Aggregate rate_all(const H& h, const typename H::Context& context, std::uint32_t count, Stored* __restrict stored) const {
    auto aggregate = h.create();
    for (std::uint32_t p = 0; p < count; ++p) {
      const auto rating = h.rate(context, p);
      stored[p] = rating;
      aggregate = h.aggregate(aggregate, rating);
    }
    return aggregate;
  }
};

/// For the paper's grid where every rating fits 15 bits and every offset 7: ratings of 16 bits and offsets of 8, twice the cells a vector,
/// which fit the L1 cache together at the paper's sizes. Every cell is rated by all its distances, as in rate().
template <int Load>
class NarrowStepRater {
  using H = StepHeuristic<Load>;

 public:
  using Stored = std::int16_t;

  [[nodiscard]] static bool fits(const H& h) {
    const auto small = [](Cell offset) { return std::abs(offset.x) <= 127 && std::abs(offset.y) <= 127; };
    return h.max_weight() <= 32767 && small(add_halves({0, 0}, h.offsets[0])) && small(add_halves({0, 0}, h.offsets[h.window - 1]));
  }

  explicit NarrowStepRater(const H& h) : columns_(h.window), rows_(h.window) {
    for (std::uint32_t p = 0; p < h.window; ++p) {
      const Cell offset = add_halves({0, 0}, h.offsets[p]);
      columns_[p] = static_cast<std::int8_t>(offset.x);
      rows_[p] = static_cast<std::int8_t>(offset.y);
    }
  }

  std::int32_t rate_all(const H& h, const typename H::Context& context, std::uint32_t count, Stored* __restrict stored) const {
    const std::int8_t* __restrict columns = columns_.data(), * __restrict rows = rows_.data();
    const auto x0 = static_cast<std::int16_t>(context.position.x), y0 = static_cast<std::int16_t>(context.position.y);
    const auto width = static_cast<std::uint16_t>(h.width), height = static_cast<std::uint16_t>(h.height);
    std::int16_t farthest = 0;
    for (std::uint32_t p = 0; p < count; ++p) {
      const auto x = static_cast<std::int16_t>(x0 + columns[p]), y = static_cast<std::int16_t>(y0 + rows[p]);
      std::int16_t distance = 0;
#pragma GCC unroll 16
      for (std::int32_t goal = 0; goal < (Load > 0 ? Load : h.load); ++goal) {
        const auto dx = static_cast<std::int16_t>(x - static_cast<std::int16_t>(context.goals[goal].x));
        const auto dy = static_cast<std::int16_t>(y - static_cast<std::int16_t>(context.goals[goal].y));
        distance = static_cast<std::int16_t>(distance + static_cast<std::int16_t>(dx < 0 ? -dx : dx) +
                                             static_cast<std::int16_t>(dy < 0 ? -dy : dy));
      }
      const bool inside = (static_cast<std::uint16_t>(x) < width) & (static_cast<std::uint16_t>(y) < height);
      const auto rating = static_cast<std::int16_t>(inside ? distance : -1);
      stored[p] = rating;
      farthest = std::max(farthest, rating);
    }
    return farthest;
  }

 private:
  std::vector<std::int8_t> columns_, rows_;
};

// --- the choice of a possibility ---------------------------------------------------------------------------------------

constexpr std::uint32_t tile = 512, block = 32;
constexpr std::uint32_t most_tiles = divide_up(max_possibilities, tile);

/// Sum of the weights of up to `tile` ratings, in a type that holds it.
template <class Sum, LocalHeuristic H, class Stored>
std::uint64_t sum_weights(const H& h, const Stored* ratings, std::uint32_t count, typename H::Aggregate aggregate) {
  Sum sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::uint32_t p = 0; p < count; ++p) sum += static_cast<Sum>(h.weight(ratings[p], aggregate));
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
    total += sums[t] = sum_weights<Sum>(h, ratings + t * tile, std::min(tile, count - t * tile), aggregate);
  if (total == 0) return h.could_not_assign(state, variable);
  std::uint64_t v = decide(successor, total);
  std::uint32_t t = 0;
  while (v >= sums[t]) v -= sums[t++];
  // In the tile: by blocks of a vector or two, then one by one.
  std::uint32_t p = t * tile;
  for (;; p += block) {
    const std::uint64_t sum = sum_weights<Sum>(h, ratings + p, std::min(block, count - p), aggregate);
    if (v < sum) break;
    v -= sum;
  }
  for (std::uint64_t weight = h.weight(ratings[p], aggregate); v >= weight; weight = h.weight(ratings[++p], aggregate)) v -= weight;
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
  bool narrow = false;  ///< 16-bit ratings in the last assign()

  [[nodiscard]] Policy record() const { return {{"threads", threads}, {"tile", tile}, {"narrow", narrow}}; }
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
    policy_.narrow = NarrowStepRater<Load>::fits(h);
    if (policy_.narrow)
      assign_rated(h, NarrowStepRater<Load>(h), targets, active_offset, type, order);
    else
      assign_rated(h, Rater<StepHeuristic<Load>>(h), targets, active_offset, type, order);
  }

  [[nodiscard]] Policy policy() const { return policy_.record(); }
  [[nodiscard]] double lane_share() const { return policy_.narrow ? 0.5 : 1; }

 private:
  template <LocalHeuristic H, RaterOf<H> AnyRater>
  void assign_rated(const H& h, const AnyRater& rater, const StatesView& targets, std::uint32_t active_offset, const VariableType& type,
                    Order order) {
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
      std::vector<typename AnyRater::Stored> ratings(type.possibilities);
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
