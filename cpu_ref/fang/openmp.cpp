// The paper's method on all cores: states in parallel, ratings of a variable vectorised and kept in the L1 cache, and in
// place of stored prefix sums the sums of tiles, of which only the decided one is searched.
#include "cpu_ref/fang/openmp.hpp"

#include <omp.h>

#include <algorithm>
#include <bit>
#include <cstdint>

#include "cpu_ref/fang/rater.hpp"
#include "cpu_ref/fang/run.hpp"

namespace vicinity::fang {
namespace {

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

template <class Sum, LocalHeuristic H, class AnyRater>
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
  // Within the tile: by blocks of a vector or two, then one by one.
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

class OpenMp {
 public:
  /// Of one core or of all; no ceiling is measured for some of them.
  [[nodiscard]] const char* ceiling() const {
    return threads_ == 1 ? "cpu_integer_core" : threads_ == omp_get_num_procs() ? "cpu_integer" : "";
  }

  /// Axis `threads`: how many to use; all that OpenMP would use when absent.
  explicit OpenMp(const Case& c) : threads_(static_cast<int>(c.integer_or("threads", omp_get_max_threads(), 1, 65536))) {
    if (threads_ > omp_get_num_procs())
      throw DoesNotFit(std::to_string(threads_) + " threads, " + std::to_string(omp_get_num_procs()) + " cores");
  }

  void clone(const States& sources, States& targets, std::uint32_t successors, std::uint64_t seed) const {
    const std::size_t words = sources.state_words, active = sources.active_words;
#pragma omp parallel for schedule(static) num_threads(threads_)
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
    narrow_ = NarrowStepRater<Load>::fits(h);
    if (narrow_)
      assign_rated(h, NarrowStepRater<Load>(h), targets, active_offset, type, order);
    else
      assign_rated(h, Rater<StepHeuristic<Load>>(h), targets, active_offset, type, order);
  }

  [[nodiscard]] Policy policy() const { return {{"threads", threads_}, {"tile", tile}, {"narrow", narrow_}}; }
  [[nodiscard]] double lane_share() const { return narrow_ ? 0.5 : 1; }

 private:
  template <LocalHeuristic H, class AnyRater>
  void assign_rated(const H& h, const AnyRater& rater, const StatesView& targets, std::uint32_t active_offset, const VariableType& type,
                    Order order) {
    if (h.max_weight() < (std::uint64_t{1} << 32) / tile)
      assign_states<std::uint32_t>(h, rater, targets, active_offset, type, order);
    else
      assign_states<std::uint64_t>(h, rater, targets, active_offset, type, order);
  }

  template <class Sum, LocalHeuristic H, class AnyRater>
  void assign_states(const H& h, const AnyRater& rater, const StatesView& targets, std::uint32_t active_offset, const VariableType& type,
                     Order order) {
    const int chunk = std::max(1, static_cast<int>(targets.count) / (threads_ * 16));
#pragma omp parallel num_threads(threads_)
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

  int threads_;
  bool narrow_ = false;  // 16-bit ratings in the last assign()
};

}  // namespace

std::unique_ptr<Run> prepare_openmp(const Case& c, const Instance& instance) { return prepare_cpu<OpenMp>(c, instance); }

}  // namespace vicinity::fang
