#pragma once
// Which kernels of gpu-tuned and gpu-chains run a case of more facilities than small.cuh takes.
#include <memory>
#include <type_traits>

#include "kernels/sa/tuned/annealing.cuh"
#include "kernels/sa/tuned/medium.cuh"
#include "kernels/sa/tuned/window.cuh"

namespace vicinity::sa {

/// Prepares gpu-tuned, or gpu-chains (`many`). `team`: of DeviceChains.
template <ElementTypes Types>
[[nodiscard]] std::unique_ptr<Run> tuned_run(const qap::Qap& qap, const annealing::Task& task, bool many, Team* team) {
  if (many) return std::make_unique<GpuRun<Tuned<Types, true>>>(qap, task, team);
  using One = Tuned<Types, false>;
  if constexpr (sizeof(typename Types::Entry) == 1)
    if (task.scope.empty() && Medium<One>::fits(qap.size())) return std::make_unique<GpuRun<Medium<One>>>(qap, task, team);
  if constexpr (std::is_same_v<Types, SymmetricBytes>)
    if (task.scope.empty() && Windowed<One>::fits(qap.size())) return std::make_unique<GpuRun<Windowed<One>>>(qap, task, team);
  return std::make_unique<GpuRun<One>>(qap, task, team);
}

/// One a file, annealing_*.cu: compiling all of them takes minutes.
extern template std::unique_ptr<Run> tuned_run<SymmetricBytes>(const qap::Qap&, const annealing::Task&, bool, Team*);
extern template std::unique_ptr<Run> tuned_run<Bytes>(const qap::Qap&, const annealing::Task&, bool, Team*);
extern template std::unique_ptr<Run> tuned_run<Words>(const qap::Qap&, const annealing::Task&, bool, Team*);
extern template std::unique_ptr<Run> tuned_run<WideWords>(const qap::Qap&, const annealing::Task&, bool, Team*);

}  // namespace vicinity::sa
