// `gpu-tuned` of the exchange of two in the QAP.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "kernels/lsm/device_run.cuh"
#include "kernels/lsm/qap_block_kernel.cuh"
#include "kernels/lsm/qap_runs.hpp"
#include "kernels/lsm/tuned.hpp"

namespace vicinity::lsm {
namespace {

using Exchange = local_search::QapExchange<2>;

/// One of the kernels for searches in one block.
template <class Types>
struct BlockKernel {
  std::int32_t rows;
  std::int64_t limit;  ///< of deltas
  void (*kernel)(QapSearches<Types>, QapBlockPolicy, local_search::Ledger*, std::int32_t);

  template <int Rows>
  [[nodiscard]] static BlockKernel of() {
    return {Rows, static_cast<std::int64_t>(QapKeys<typename Types::Delta, Rows>::limit), qap_block_kernel<Types, Rows>};
  }
  /// The one for an instance; its kernel is null when there is none.
  [[nodiscard]] static BlockKernel for_instance(const qap::Qap& instance) {
    const std::int32_t most_owners = 512;
    std::vector<BlockKernel> all{of<4>(), of<8>(), of<12>()};
    if constexpr (sizeof(typename Types::Delta) == 4) {
      all.push_back(of<16>());
      all.push_back(of<20>());
      all.push_back(of<24>());
    }
    const char* forced = std::getenv("QAP_ROWS");
    for (const BlockKernel& one : all) {
      const QapBlockPolicy policy(instance.size(), one.rows);
      const std::int32_t most = QapBlockPolicy::most_threads(sizeof(typename Types::Delta), one.rows);
      if (forced != nullptr && std::atoi(forced) != one.rows) continue;
      if ((forced != nullptr || policy.owners <= most_owners) && policy.threads() <= most && instance.delta_bound() < one.limit) return one;
    }
    return {0, 0, nullptr};
  }
};

template <class Types>
class BlockEngine {
 public:
  using Neighborhood = Exchange;

  BlockEngine(const Neighborhood& neighborhood, const local_search::Task& task, const cuda::Stream& stream)
      : stream_(stream),
        kernel_(BlockKernel<Types>::for_instance(neighborhood.instance())),
        policy_(neighborhood.instance().size(), kernel_.rows),
        together_(std::min<std::int64_t>(task.restarts, multiprocessors())),
        memory_(neighborhood, task, together_),
        shared_bytes_(QapBlockShared<Types>::bytes(policy_)) {
    VICINITY_CUDA_CHECK(cudaFuncSetAttribute(kernel_.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes_)));
  }

  [[nodiscard]] std::int64_t together() const { return together_; }
  void begin(const std::vector<local_search::Walk<Neighborhood>>& walks) {
    searches_ = static_cast<unsigned>(walks.size());
    memory_.begin(walks, stream_);
  }
  void launch(local_search::Ledger* ledgers, std::int64_t limit) {
    kernel_.kernel<<<searches_, static_cast<unsigned>(policy_.threads()), shared_bytes_, stream_.get()>>>(memory_.view(), policy_, ledgers,
                                                                                                          static_cast<std::int32_t>(limit));
  }
  void finish(std::vector<local_search::Search<Exchange::Solution>>& searches) { memory_.finish(searches, stream_); }
  void poison() { memory_.poison(stream_); }
  [[nodiscard]] Policy policy() const {
    return {
        {"block", policy_.threads()}, {"rows_a_thread", policy_.rows}, {"element_bits", 8 * sizeof(typename Types::Delta)}, {"blocks", 1}};
  }

 private:
  [[nodiscard]] static std::int64_t multiprocessors() {
    int device = 0, count = 0;
    VICINITY_CUDA_CHECK(cudaGetDevice(&device));
    VICINITY_CUDA_CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
    return count;
  }

  const cuda::Stream& stream_;
  BlockKernel<Types> kernel_;
  QapBlockPolicy policy_;
  std::int64_t together_;
  QapMemory<Types> memory_;
  std::size_t shared_bytes_;
  unsigned searches_ = 0;
};

template <class Types>
std::unique_ptr<Run> run_of(const Exchange& neighborhood, const local_search::Task& task) {
  if (BlockKernel<Types>::for_instance(neighborhood.instance()).kernel == nullptr) return nullptr;
  return std::make_unique<DeviceRun<BlockEngine<Types>>>(neighborhood, task);
}

}  // namespace

std::unique_ptr<Run> qap_block_run(const Exchange& neighborhood, const local_search::Task& task) {
  std::unique_ptr<Run> run;
  if (neighborhood.instance().symmetric()) run = run_of<QapTypes<std::int32_t, 1>>(neighborhood, task);
  if (!run) run = run_of<QapTypes<std::int32_t, 2>>(neighborhood, task);
  if (!run) run = run_of<QapTypes<std::int64_t, 2>>(neighborhood, task);
  return run;
}

std::unique_ptr<Run> tuned_run(const Exchange& neighborhood, const local_search::Task& task) {
  std::unique_ptr<Run> run = std::getenv("QAP_GRID") ? nullptr : qap_block_run(neighborhood, task);
  return run ? std::move(run) : qap_grid_run(neighborhood, task);
}

}  // namespace vicinity::lsm
