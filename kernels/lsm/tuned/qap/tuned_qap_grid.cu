// `gpu-tuned` of the exchange of two in the QAP where an instance is too large for one block.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/util/error.hpp"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/lsm/tuned/qap/qap_grid.cuh"
#include "kernels/lsm/tuned/qap/qap_runs.hpp"
#include "kernels/lsm/device_searches.cuh"

namespace vicinity::lsm {
namespace {

template <class Types>
class GridEngine {
 public:
  using Neighborhood = local_search::QapExchange<2>;
  using Delta = typename Types::Delta;

  GridEngine(const Neighborhood& neighborhood, const local_search::Task& task, const cuda::Stream& stream)
      : stream_(stream),
        policy_(neighborhood.instance().size(), cuda::multiprocessors()),
        memory_(neighborhood, task, 1, true),
        bytes_(QapVectors<Types>::bytes(policy_)),
        in_shared_(bytes_ + 4096 <= cuda::most_shared()),
        scratch_(in_shared_ ? 0 : bytes_ * static_cast<std::size_t>(policy_.blocks)),
        board_(2 * static_cast<std::size_t>(policy_.blocks)) {
    if (in_shared_) cuda::allow_shared(qap_grid_kernel<Types, true>, bytes_);
  }

  [[nodiscard]] static std::int64_t batch_size() { return 1; }
  void begin(const std::vector<local_search::SearchState<Neighborhood>>& states) { memory_.begin(states, stream_); }
  void launch(local_search::SearchProgress* all_progress, std::int64_t limit) {
    board_.fill(0, stream_);
    const cuda::Shape shape{
        .blocks = policy_.blocks, .threads = policy_.threads(), .shared_bytes = in_shared_ ? bytes_ : 0, .cooperative = true};
    VICINITY_CUDA_CHECK(cuda::launch(shape, stream_, in_shared_ ? &qap_grid_kernel<Types, true> : &qap_grid_kernel<Types, false>,
                                     memory_.view(), policy_, scratch_.data(), bytes_, board_.data(), all_progress,
                                     static_cast<std::int32_t>(limit)));
  }
  void finish(std::vector<local_search::SearchResult<Neighborhood::Solution>>& searches) { memory_.finish(searches, stream_); }
  void poison() { memory_.poison(stream_); }
  [[nodiscard]] static const char* synchronization() { return "grid_barrier"; }
  [[nodiscard]] Policy policy() const {
    return {{"block", policy_.threads()}, {"blocks", policy_.blocks}, {"element_bits", 8 * sizeof(Delta)}, {"cluster", 0}};
  }

 private:
  const cuda::Stream& stream_;
  QapGridPolicy policy_;
  QapMemory<Types> memory_;
  std::size_t bytes_;
  bool in_shared_;
  cuda::DeviceBuffer<std::byte> scratch_;
  cuda::DeviceBuffer<QapReport<Delta>> board_;
};

template <class Types>
std::unique_ptr<Run> run_of(const local_search::QapExchange<2>& neighborhood, const local_search::Task& task) {
  return std::make_unique<DeviceRun<GridEngine<Types>>>(neighborhood, task);
}

}  // namespace

std::unique_ptr<Run> qap_grid_run(const local_search::QapExchange<2>& neighborhood, const local_search::Task& task) {
  const qap::Qap& instance = neighborhood.instance();
  if (instance.delta_bound() >= (std::int64_t{1} << 29)) return run_of<QapTypes<std::int64_t, 2>>(neighborhood, task);
  if (instance.symmetric()) return run_of<QapTypes<std::int32_t, 1>>(neighborhood, task);
  return run_of<QapTypes<std::int32_t, 2>>(neighborhood, task);
}

}  // namespace vicinity::lsm
