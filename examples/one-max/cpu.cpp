// cpu-serial and cpu-openmp: all n gains in each iteration, by one thread or by all.
#include <omp.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "cpu_ref/run/search_run.hpp"
#include "one_max.hpp"

namespace vicinity::one_max {
namespace {

struct Flip {
  std::int32_t gain = std::numeric_limits<std::int32_t>::min(), bit = 0;
};
/// The order of flips: anything is better than none.
bool better(const Flip& x, const Flip& y) { return x.gain > y.gain || (x.gain == y.gain && x.bit < y.bit); }

Flip best_flip(const Weights& weights, const Solution& bits, std::int32_t first, std::int32_t last) {
  Flip best;
  for (std::int32_t i = first; i < last; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (const Flip flip{gain(weights.values()[at], bits[at]), i}; better(flip, best)) best = flip;
  }
  return best;
}

/// What finds the best flip, for one climb at a time.
struct Threads {
  int count;

  [[nodiscard]] Flip best(const Weights& weights, const Solution& bits) const {
    const std::int32_t n = weights.size();
    if (count == 1) return best_flip(weights, bits, 0, n);
    Flip best;
#pragma omp parallel num_threads(count)
    {
      const auto thread = static_cast<std::int64_t>(omp_get_thread_num()), all = static_cast<std::int64_t>(omp_get_num_threads());
      const Flip mine =
          best_flip(weights, bits, static_cast<std::int32_t>(n * thread / all), static_cast<std::int32_t>(n * (thread + 1) / all));
#pragma omp critical
      if (better(mine, best)) best = mine;
    }
    return best;
  }
};

/// The one climb of a case, for SearchRun.
class Climbs {
 public:
  using Method = Threads;
  using State = Climb;
  using Result = Climb;

  explicit Climbs(const Weights& weights) : weights_(&weights) {}

  [[nodiscard]] static std::int64_t count() { return 1; }
  [[nodiscard]] std::unique_ptr<Climb> begin(Threads&, const Start& start, std::int64_t) const {
    return std::make_unique<Climb>(one_max::begin(*weights_, start));
  }
  void step(const Threads& threads, Climb& climb, const StepLimit& limit) const {
    if (climb.iterations >= limit.iterations) return;
    const Flip flip = threads.best(*weights_, climb.bits);
    climb.at_top = flip.gain <= 0;
    if (climb.at_top) return;
    std::int32_t& bit = climb.bits[static_cast<std::size_t>(flip.bit)];
    bit = 1 - bit;
    climb.sum += flip.gain;
    climb.moves.add(static_cast<std::uint64_t>(flip.bit));
    ++climb.iterations;
  }
  [[nodiscard]] static bool done(const Climb& climb) { return climb.at_top; }
  [[nodiscard]] static TracePoint progress(const Climb& climb) { return progress_of(climb); }
  [[nodiscard]] static Climb result(const Climb& climb) { return climb; }
  [[nodiscard]] Outcome judge(const std::vector<Climb>& climbs, bool whole) const {
    if (!climbs.empty()) return one_max::judge(*weights_, climbs.front(), whole);
    Outcome none;
    none.complaint = "no climb";
    return none;
  }
  [[nodiscard]] static Policy policy(const Threads& threads, std::size_t) { return {{"threads", threads.count}}; }
  /// An operation a bit and iteration, of one core or of all.
  [[nodiscard]] Work work(const Threads& threads, const std::vector<Climb>& climbs, std::size_t) const {
    const double iterations = climbs.empty() ? 0 : static_cast<double>(climbs.front().iterations);
    return {{threads.count == 1 ? Ceiling::cpu_integer_core : Ceiling::cpu_integer, iterations * weights_->size()}};
  }

 private:
  const Weights* weights_;
};

std::unique_ptr<Run> prepare(const Instance& instance, int threads) {
  std::vector<std::unique_ptr<Threads>> methods;
  methods.push_back(std::make_unique<Threads>(Threads{threads}));
  return std::make_unique<SearchRun<Climbs>>(Climbs(dynamic_cast<const Weights&>(instance)), std::move(methods));
}

}  // namespace

std::vector<Implementation> cpu_implementations() {
  return {{"cpu-serial", Backend::cpu, "one core, every gain in every iteration", "integer throughput of one core",
           [](const Case&, const Instance& instance) { return prepare(instance, 1); }},
          {"cpu-openmp", Backend::cpu, "all cores, a slice of the bits each", "waking the threads, once an iteration",
           [](const Case&, const Instance& instance) { return prepare(instance, omp_get_max_threads()); }}};
}

}  // namespace vicinity::one_max
