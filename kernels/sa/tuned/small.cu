#include "kernels/sa/tuned/small.cuh"
#include "kernels/sa/tuned/small_warps.cuh"

namespace vicinity::sa {
namespace {

template <ElementTypes Types, int Columns, bool Dense, bool Many>
std::unique_ptr<Run> run_of(const qap::Qap& qap, const annealing::Task& task, Team* team) {
  constexpr std::size_t reserve = 1024;  // the system's, of each block
  if (Small<Types, Columns, Dense, Many>::shared_bytes + reserve > cuda::most_shared()) return nullptr;
  return std::make_unique<GpuRun<Small<Types, Columns, Dense, Many>>>(qap, task, team);
}

template <ElementTypes Types, int Columns>
std::unique_ptr<Run> run_of(const qap::Qap& qap, const annealing::Task& task, bool many, Team* team) {
  if (!many) return run_of<Types, Columns, false, false>(qap, task, team);
  using Warps = ManySmall<SmallWarps<Types, Columns>>;
  const std::int64_t multiprocessors = cuda::multiprocessors();
  constexpr int dense = SmallPolicy<Columns, true>::blocks_of(sizeof(typename Types::Delta));
  if (task.chains > SmallWarps<Types, Columns>::least_chains * multiprocessors && Warps::chains_of(qap.size()) >= 4 * dense)
    return std::make_unique<GpuRun<Warps>>(qap, task, team);
  return task.chains > SmallPolicy<Columns, false>::blocks * multiprocessors ? run_of<Types, Columns, true, true>(qap, task, team)
                                                                             : run_of<Types, Columns, false, true>(qap, task, team);
}

}  // namespace

std::unique_ptr<Run> small_run(const qap::Qap& qap, const annealing::Task& task, bool many, Team* team) {
  if (!task.scope.empty() || qap.size() < 2 || qap.size() > SmallPolicy<2, false>::size) return nullptr;
  return with_types(qap, [&]<class Types>(Types) {
    return qap.size() <= SmallPolicy<1, false>::size ? run_of<Types, 1>(qap, task, many, team) : run_of<Types, 2>(qap, task, many, team);
  });
}

}  // namespace vicinity::sa
