// cpu-serial: deltas from scratch while many swaps are accepted, from kept inner products after. It switches row by row, as the paper's
// non-parallel code does run by run (section 4).
// cpu-delta: kept inner products throughout.
// cpu-openmp: as cpu-serial, with all cores where that pays; and so each rank of mpi-chains, on its chains.
#include <omp.h>

#include <algorithm>
#include <memory>

#include "core/methods/sa/task.hpp"
#include "cpu_ref/run/cpu_work.hpp"
#include "cpu_ref/sa/engine.hpp"
#include "cpu_ref/sa/implementations.hpp"
#include "cpu_ref/sa/run.hpp"
#include "cpu_ref/sa/thread_team.hpp"

namespace vicinity::sa {
namespace {

template <EnginePolicy (*policy_of)(const qap::Qap&, const annealing::Task&)>
class EngineMethod {
 public:
  EngineMethod(const qap::Qap& qap, const annealing::Task& task)
      : qap_(qap), policy_(policy_of(qap, task)), team_(policy_.threads), engine_(make_engine(qap, policy_, team_)) {}

  void begin(const ChainState& state, const Interruption&) { engine_->begin(state); }
  void advance(ChainState& state, std::int64_t limit, const Interruption& interruption) {
    bool interrupted = false;
    team_.run([&] {
      try {
        engine_->advance(state, limit, interruption);
      } catch (const Interrupted&) {
        interrupted = true;
      }
    });
    if (interrupted) throw Interrupted();
  }
  [[nodiscard]] Policy policy() const { return policy_.record(); }
  [[nodiscard]] Work work(std::int64_t proposals, std::int64_t accepted) const {
    return cpu_work(annealing::fewest_operations(qap_, proposals, accepted, policy_.element_bits), policy_.threads);
  }

 private:
  const qap::Qap& qap_;
  EnginePolicy policy_;
  ThreadTeam team_;
  std::unique_ptr<Engine> engine_;
};

/// Several chains: one a thread, without any synchronisation. Of a rank, some of the case.
std::unique_ptr<Run> prepare_threaded(const Instance& instance, annealing::Task task, Team* team) {
  if (task.chains == 1) return prepare_cpu<EngineMethod<openmp_policy>>(instance, task, 1, team);
  const auto workers = static_cast<int>(std::min<std::int64_t>(threads_of(task), task.chains));
  task.threads = 1;
  return prepare_cpu<EngineMethod<openmp_policy>>(instance, task, workers, team);
}

}  // namespace

std::unique_ptr<Run> prepare_serial(const Case& c, const Instance& instance) {
  return prepare_cpu<EngineMethod<serial_policy>>(instance, task_of(c));
}
std::unique_ptr<Run> prepare_delta(const Case& c, const Instance& instance) {
  return prepare_cpu<EngineMethod<delta_policy>>(instance, task_of(c));
}
std::unique_ptr<Run> prepare_openmp(const Case& c, const Instance& instance) { return prepare_threaded(instance, task_of(c), nullptr); }
std::unique_ptr<Run> prepare_openmp_of_rank(const Case& c, const Instance& instance, Team& team) {
  annealing::Task task = task_of(c);
  if (task.threads == 0) task.threads = team.cores();
  return prepare_threaded(instance, task, &team);
}

}  // namespace vicinity::sa
