#include "kernels/sa/tuned/small.cuh"

namespace vicinity::sa {
namespace {

template <ElementTypes Types, int Columns>
std::unique_ptr<Run> run_of(const qap::Qap& qap, const annealing::Task& task, bool many, Team* team) {
  constexpr std::size_t reserve = 1024;  // the system's, of each block
  if (sizeof(SmallMemory<Types, Columns>) + reserve > cuda::most_shared()) return nullptr;
  if (many) return std::make_unique<GpuRun<Small<Types, Columns, true>>>(qap, task, team);
  return std::make_unique<GpuRun<Small<Types, Columns, false>>>(qap, task, team);
}

}  // namespace

std::unique_ptr<Run> small_run(const qap::Qap& qap, const annealing::Task& task, bool many, Team* team) {
  if (!task.scope.empty() || qap.size() < 2 || qap.size() > SmallPolicy<2>::size) return nullptr;
  return with_types(qap, [&]<class Types>(Types) {
    return qap.size() <= SmallPolicy<1>::size ? run_of<Types, 1>(qap, task, many, team) : run_of<Types, 2>(qap, task, many, team);
  });
}

}  // namespace vicinity::sa
