// The paper's non-parallel code (section 4): deltas from scratch while many swaps are accepted, the delta matrix after.
#include "cpu_ref/sa/engine.hpp"
#include "cpu_ref/sa/methods.hpp"
#include "cpu_ref/sa/run.hpp"

namespace vicinity::sa {
namespace {

class Serial {
 public:
  Serial(const qap::Qap& qap, const annealing::Task&) : engine_(make_engine(qap, {2 * qap.size() + 2, qap.size(), true})) {}

  void begin(const Walk& walk) { engine_->begin(walk); }
  void advance(Walk& walk, std::int64_t limit) { engine_->advance(walk, limit); }
  [[nodiscard]] Policy policy() const { return {{"threads", 1}, {"element_bits", engine_->bits()}}; }

 private:
  std::unique_ptr<Engine> engine_;
};

}  // namespace

std::unique_ptr<Run> prepare_serial(const Case& c, const Instance& instance) { return prepare_cpu<Serial>(c, instance); }

}  // namespace vicinity::sa
