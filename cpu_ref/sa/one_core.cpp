// cpu-serial, the paper's non-parallel code (section 4): deltas from scratch while many swaps are accepted, the delta matrix after; and
// cpu-delta, which keeps the delta matrix throughout.
#include "cpu_ref/sa/engine.hpp"
#include "cpu_ref/sa/methods.hpp"
#include "cpu_ref/sa/run.hpp"

namespace vicinity::sa {
namespace {

template <Tuning (*tuning_of)(const qap::Qap&)>
class OneCore {
 public:
  OneCore(const qap::Qap& qap, const annealing::Task&) : qap_(qap), engine_(make_engine(qap, tuning_of(qap))) {}

  void begin(const ChainState& state) { engine_->begin(state); }
  void advance(ChainState& state, std::int64_t limit) { engine_->advance(state, limit); }
  [[nodiscard]] Work work(std::int64_t proposals, std::int64_t accepted) const {
    return {{"cpu_integer_core", annealing::fewest_operations(qap_, proposals, accepted, engine_->bits())}};
  }
  [[nodiscard]] Policy policy() const { return {{"threads", 1}, {"element_bits", engine_->bits()}}; }

 private:
  const qap::Qap& qap_;
  std::unique_ptr<Engine> engine_;
};

Tuning never_switching(const qap::Qap&) { return {}; }

}  // namespace

std::unique_ptr<Run> prepare_serial(const Case& c, const Instance& instance) {
  return prepare_cpu<OneCore<switching>>(instance, task_of(c));
}

std::unique_ptr<Run> prepare_delta(const Case& c, const Instance& instance) {
  return prepare_cpu<OneCore<never_switching>>(instance, task_of(c));
}

}  // namespace vicinity::sa
