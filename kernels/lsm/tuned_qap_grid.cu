// `gpu-tuned` of the exchange of two in the QAP where an instance is too large for one block.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/error.hpp"
#include "kernels/lsm/device_run.cuh"
#include "kernels/lsm/qap_grid.cuh"
#include "kernels/lsm/qap_runs.hpp"

namespace vicinity::lsm {
namespace {

[[nodiscard]] std::int32_t attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  VICINITY_CUDA_CHECK(cudaGetDevice(&device));
  VICINITY_CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

template <class Types>
class GridEngine {
 public:
  using Neighborhood = local_search::QapExchange<2>;
  using Delta = typename Types::Delta;

  GridEngine(const Neighborhood& neighborhood, const local_search::Task& task, const cuda::Stream& stream)
      : stream_(stream),
        policy_(neighborhood.instance().size(), attribute(cudaDevAttrMultiProcessorCount)),
        memory_(neighborhood, task, 1, true),
        bytes_(QapVectors<Types>::bytes(policy_)),
        in_shared_(bytes_ + 4096 <= static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin))),
        scratch_(in_shared_ ? 0 : bytes_ * static_cast<std::size_t>(policy_.blocks)),
        board_(2 * static_cast<std::size_t>(policy_.blocks)) {
    if (in_shared_)
      VICINITY_CUDA_CHECK(
          cudaFuncSetAttribute(qap_grid_kernel<Types, true>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes_)));
  }

  [[nodiscard]] static std::int64_t together() { return 1; }
  void begin(const std::vector<local_search::Walk<Neighborhood>>& walks) { memory_.begin(walks, stream_); }
  void launch(local_search::Ledger* ledgers, std::int64_t limit) {
    board_.fill(0, stream_);
    QapSearches<Types> searches = memory_.view();
    std::byte* scratch = scratch_.data();
    QapReport<Delta>* board = board_.data();
    auto last = static_cast<std::int32_t>(limit);
    void* arguments[]{&searches, &policy_, &scratch, &bytes_, &board, &ledgers, &last};
    const auto* kernel = in_shared_ ? reinterpret_cast<const void*>(qap_grid_kernel<Types, true>)
                                    : reinterpret_cast<const void*>(qap_grid_kernel<Types, false>);
    VICINITY_CUDA_CHECK(cudaLaunchCooperativeKernel(kernel, dim3(static_cast<unsigned>(policy_.blocks)),
                                                    dim3(static_cast<unsigned>(policy_.threads())), arguments, in_shared_ ? bytes_ : 0,
                                                    stream_.get()));
  }
  void finish(std::vector<local_search::Search<Neighborhood::Solution>>& searches) { memory_.finish(searches, stream_); }
  void poison() { memory_.poison(stream_); }
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
