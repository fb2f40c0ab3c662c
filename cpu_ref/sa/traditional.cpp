// cpu-traditional, the reference: every proposed swap evaluated from scratch in O(n), as annealing was programmed before delta
// matrices (Paul, section 2.1).
#include <algorithm>

#include "core/problems/qap/from_scratch.hpp"
#include "cpu_ref/sa/implementations.hpp"
#include "cpu_ref/sa/run.hpp"

namespace vicinity::sa {
namespace {

class Traditional {
 public:
  Traditional(const qap::Qap& qap, const annealing::Task&) : qap_(qap), from_scratch_(qap) {}

  static void begin(const ChainState&, const Interruption&) {}

  void advance(ChainState& state, std::int64_t limit, const Interruption& interruption) const {
    const std::int32_t n = qap_.size();
    std::int64_t sweep = state.next() / annealing::pairs(n);
    annealing::Swap swap = annealing::pair_at(n, state.next() % annealing::pairs(n));
    constexpr std::int64_t part = 1024;  // proposals between two looks
    while (state.next() < limit) {
      interruption.check();
      const std::int64_t end = std::min(limit, state.next() + part);
      while (state.next() < end) {
        const std::int64_t q = state.next();
        const std::int32_t position = swap.s - swap.r - 1;
        const auto temperature = annealing::row_temperature(state.cooling(), q - position);
        const std::int64_t delta = from_scratch_.delta(state.permutation(), swap.r, swap.s);
        const float threshold = annealing::threshold_at(state.seed(), sweep, swap.r, swap.s);
        if (annealing::accepts(delta, annealing::inverse_temperature(temperature, position), threshold))
          state.accept(q, swap, delta);
        else
          state.reject_until(q + 1);
        if (++swap.s < n) continue;
        if (++swap.r == n - 1) {
          swap.r = 0;
          ++sweep;
        }
        swap.s = swap.r + 1;
      }
    }
  }

  [[nodiscard]] static Policy policy() { return {{"threads", 1}}; }
  /// Two differences, a product and a sum a facility and side.
  [[nodiscard]] Work work(std::int64_t proposals, std::int64_t) const {
    return {{Ceiling::cpu_integer_core, (qap_.symmetric() ? 4.0 : 8.0) * qap_.size() * static_cast<double>(proposals)}};
  }

 private:
  const qap::Qap& qap_;
  qap::FromScratch from_scratch_;
};

}  // namespace

std::unique_ptr<Run> prepare_traditional(const Case& c, const Instance& instance) { return prepare_cpu<Traditional>(instance, task_of(c)); }

}  // namespace vicinity::sa
