// The delta matrix throughout, on one core.
#include "cpu_ref/sa/engine.hpp"
#include "cpu_ref/sa/methods.hpp"
#include "cpu_ref/sa/run.hpp"

namespace vicinity::sa {
namespace {

class Delta {
 public:
  Delta(const qap::Qap& qap, const annealing::Task&) : qap_(qap), engine_(make_engine(qap, {})) {}

  void begin(const Walk& walk) { engine_->begin(walk); }
  void advance(Walk& walk, std::int64_t limit) { engine_->advance(walk, limit); }
  [[nodiscard]] Work work(std::int64_t proposals, std::int64_t accepted) const {
    return {{"cpu_integer_core", fewest_operations(qap_, proposals, accepted)}};
  }
  [[nodiscard]] Policy policy() const { return {{"threads", 1}, {"element_bits", engine_->bits()}}; }

 private:
  const qap::Qap& qap_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace

std::unique_ptr<Run> prepare_delta(const Case& c, const Instance& instance) { return prepare_cpu<Delta>(c, instance); }

}  // namespace vicinity::sa
