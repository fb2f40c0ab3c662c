// The reference: every proposed swap evaluated from scratch in O(n), as annealing was programmed before delta matrices (Paul, section 2.1).
#include "cpu_ref/sa/methods.hpp"
#include "cpu_ref/sa/run.hpp"

namespace vicinity::sa {
namespace {

class Traditional {
 public:
  Traditional(const qap::Qap& qap, const annealing::Task&) : qap_(qap) {}

  static void begin(const Walk&) {}

  void advance(Walk& walk, std::int64_t limit) const {
    const std::int32_t n = qap_.size();
    const std::int64_t pairs = annealing::pairs(n);
    while (walk.next() < limit) {
      const std::int64_t q = walk.next();
      const annealing::Swap swap = annealing::pair_at(n, q % pairs);
      const std::int64_t delta = qap::delta(qap_.view(), walk.permutation(), swap.r, swap.s);
      const float level = annealing::level_at(walk.seed(), q / pairs, swap.r, swap.s);
      if (annealing::accepts(delta, annealing::inverse_temperature(walk.cooling(), n, q), level))
        walk.accept(q, swap, delta);
      else
        walk.reject_until(q + 1);
    }
  }

  [[nodiscard]] static Policy policy() { return {}; }

 private:
  const qap::Qap& qap_;
};

}  // namespace

std::unique_ptr<Run> prepare_traditional(const Case& c, const Instance& instance) { return prepare_cpu<Traditional>(c, instance); }

}  // namespace vicinity::sa
