// As cpu-serial, with all cores where that pays: rows are brought up to date by all, and scanned by all while swaps are rare. Several
// chains: a chains: a thread each, which needs no waiting at all.
#include <omp.h>

#include <algorithm>

#include "cpu_ref/sa/engine.hpp"
#include "cpu_ref/sa/methods.hpp"
#include "cpu_ref/sa/run.hpp"

namespace vicinity::sa {
namespace {

int threads_of(const annealing::Task& task) { return task.threads > 0 ? static_cast<int>(task.threads) : omp_get_max_threads(); }

class OpenMp {
 public:
  /// `task.threads`: for this chain.
  OpenMp(const qap::Qap& qap, const annealing::Task& task)
      : qap_(qap), team_(std::min(threads_of(task), useful_threads(qap.size()))), engine_(make_engine(qap, tuning())) {}

  void begin(const ChainState& state) { engine_->begin(state); }
  void advance(ChainState& state, std::int64_t limit) {
    team_.gather_for([&] { engine_->advance(state, limit); });
  }
  [[nodiscard]] Policy policy() const { return {{"threads", team_.threads()}, {"element_bits", engine_->bits()}}; }
  /// Of one core or of all; no ceiling is measured for some of them.
  [[nodiscard]] Work work(std::int64_t proposals, std::int64_t accepted) const {
    const double operations = annealing::fewest_operations(qap_, proposals, accepted, engine_->bits());
    if (team_.threads() == 1) return {{"cpu_integer_core", operations}};
    if (team_.threads() == omp_get_num_procs()) return {{"cpu_integer", operations}};
    return {};
  }

 private:
  [[nodiscard]] Tuning tuning() {
    Tuning tuning = switching(qap_);
    if (team_.threads() > 1) tuning.team = &team_;
    return tuning;
  }

  const qap::Qap& qap_;
  Team team_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace

std::unique_ptr<Run> prepare_openmp(const Case& c, const Instance& instance) {
  annealing::Task task = task_of(c);
  if (task.chains == 1) return prepare_cpu<OpenMp>(instance, task);
  const auto workers = static_cast<int>(std::min<std::int64_t>(threads_of(task), task.chains));
  task.threads = 1;
  return prepare_cpu<OpenMp>(instance, task, workers);
}

}  // namespace vicinity::sa
