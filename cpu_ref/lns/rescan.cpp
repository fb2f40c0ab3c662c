// cpu-serial, the reference: the paper's CPU-LNS. Every assignment has all its constraints evaluated again, one pass in the order of
// levels.
//
// Data: a value a slot. Cost: an evaluation takes as long as all operations of the model.
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "cpu_ref/lns/implementations.hpp"
#include "cpu_ref/lns/run.hpp"

namespace vicinity::lns {
namespace {

class Rescan {
 public:
  explicit Rescan(const cp::Problem& problem) : problem_(&problem), slots_(problem.evaluation().slots()) {}

  void load(std::span<const std::int32_t> values) { std::copy(values.begin(), values.end(), slots_.begin()); }
  void set(std::int32_t slot, std::int32_t value) { slots_[static_cast<std::size_t>(slot)] = value; }
  [[nodiscard]] std::int32_t get(std::int32_t slot) const { return slots_[static_cast<std::size_t>(slot)]; }
  [[nodiscard]] std::int64_t cost() {
    return problem_->evaluation().evaluate(slots_) > 0 ? inconsistent : cost_of(problem_->model(), slots_);
  }
  [[nodiscard]] std::vector<std::int32_t> values() const {
    return {slots_.begin(), slots_.begin() + static_cast<std::ptrdiff_t>(problem_->model().variables.size())};
  }

 private:
  const cp::Problem* problem_;
  std::vector<std::int32_t> slots_;
};

}  // namespace

std::unique_ptr<Run> prepare_rescan(const Case& c, const Instance& instance) {
  const auto& problem = dynamic_cast<const cp::Problem&>(instance);
  return cpu_run<Rescan>(problem, task_of(c, problem), std::nullopt, 1);
}

}  // namespace vicinity::lns
