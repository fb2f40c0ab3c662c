// gpu-tuned and gpu-chains: the same kernels, for one chain or for many; and gpu-chains of a rank of mpi-gpu-chains.
#include "kernels/sa/implementations.hpp"
#include "kernels/sa/ranks.hpp"
#include "kernels/sa/tuned/small.cuh"
#include "kernels/sa/tuned/tuned_run.cuh"

namespace vicinity::sa {
namespace {

std::unique_ptr<Run> prepare(const Case& c, const Instance& instance, bool many, Team* team = nullptr) {
  const auto& qap = dynamic_cast<const qap::Qap&>(instance);
  const annealing::Task task = task_of(c);
  if (std::unique_ptr<Run> small = small_run(qap, task, many, team)) return small;
  return with_types(qap, [&]<class T>(T) { return tuned_run<T>(qap, task, many, team); });
}

}  // namespace

std::unique_ptr<Run> prepare_tuned(const Case& c, const Instance& instance) { return prepare(c, instance, false); }
std::unique_ptr<Run> prepare_chains(const Case& c, const Instance& instance) { return prepare(c, instance, true); }
std::unique_ptr<Run> prepare_chains_of_rank(const Case& c, const Instance& instance, Team& team) {
  return prepare(c, instance, true, &team);
}

}  // namespace vicinity::sa
