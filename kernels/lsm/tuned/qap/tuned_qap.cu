// `gpu-tuned` of the exchange of two in the QAP.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/lsm/tuned/qap/qap_block_kernel.cuh"
#include "kernels/lsm/tuned/qap/qap_runs.hpp"
#include "kernels/lsm/tuned/tuned.hpp"
#include "kernels/lsm/device_searches.cuh"

namespace vicinity::lsm {
namespace {

using Exchange = local_search::QapExchange<2>;

/// One of the kernels for searches in one block, or one cluster.
template <class Types>
struct BlockKernel {
  using Delta = typename Types::Delta;

  std::int32_t rows, blocks;
  std::int64_t limit;  ///< of deltas
  void (*kernel)(QapSearches<Types>, QapBlockPolicy, local_search::SearchProgress*, std::int32_t);

  template <int Rows, int Blocks>
  [[nodiscard]] static BlockKernel of() {
    return {Rows, Blocks, static_cast<std::int64_t>(QapKeys<Delta, Rows>::limit), qap_block_kernel<Types, Rows, (Blocks > 1)>};
  }
  /// As launched for so many searches of an instance.
  [[nodiscard]] cuda::Shape shape(const QapBlockPolicy& policy, std::int64_t searches) const {
    return {
        .blocks = searches * blocks, .threads = policy.threads(), .shared_bytes = QapBlockShared<Types>::bytes(policy), .cluster = blocks};
  }
  [[nodiscard]] bool fits(const qap::Qap& instance) const {
    const QapBlockPolicy policy(instance.size(), rows, blocks);
    if (policy.threads() > QapBlockPolicy::most_threads(sizeof(Delta), rows) || instance.delta_bound() >= limit) return false;
    const cuda::Shape alone = shape(policy, 1);
    if (alone.shared_bytes > cuda::most_shared()) return false;
    cuda::allow_shared(kernel, alone.shared_bytes);
    return blocks == 1 || cuda::clusters_at_a_time(alone, kernel) > 0;
  }
  /// The first that fits an instance; its kernel is null when there is none.
  [[nodiscard]] static BlockKernel for_instance(const qap::Qap& instance) {
    std::vector<BlockKernel> all;
    if constexpr (sizeof(Delta) == 4)
      all = {of<4, 1>(), of<8, 1>(), of<12, 1>(), of<16, 1>(), of<20, 1>(), of<24, 1>(), of<12, 8>(), of<16, 8>()};
    else
      all = {of<4, 1>(), of<8, 1>(), of<12, 1>()};
    for (const BlockKernel& one : all)
      if (one.fits(instance)) return one;
    return {0, 0, 0, nullptr};
  }
};

template <class Types>
class BlockEngine {
 public:
  using Neighborhood = Exchange;

  BlockEngine(const Neighborhood& neighborhood, const local_search::Task& task, const cuda::Stream& stream)
      : stream_(stream),
        kernel_(BlockKernel<Types>::for_instance(neighborhood.instance())),
        policy_(neighborhood.instance().size(), kernel_.rows, kernel_.blocks),
        batch_size_(std::min<std::int64_t>(task.restarts, cuda::multiprocessors())),
        memory_(neighborhood, task, batch_size_) {}

  [[nodiscard]] std::int64_t batch_size() const { return batch_size_; }
  void begin(const std::vector<local_search::SearchState<Neighborhood>>& states) {
    searches_ = static_cast<unsigned>(states.size());
    memory_.begin(states, stream_);
  }
  void launch(local_search::SearchProgress* all_progress, std::int64_t limit) {
    VICINITY_CUDA_CHECK(cuda::launch(kernel_.shape(policy_, searches_), stream_, kernel_.kernel, memory_.view(), policy_, all_progress,
                                     static_cast<std::int32_t>(limit)));
  }
  void finish(std::vector<local_search::SearchResult<Exchange::Solution>>& searches) { memory_.finish(searches, stream_); }
  void poison() { memory_.poison(stream_); }
  [[nodiscard]] const char* synchronization() const { return policy_.blocks > 1 ? "cluster_barrier" : "block_barrier"; }
  [[nodiscard]] Policy policy() const {
    return {{"block", policy_.threads()},
            {"rows_a_thread", policy_.rows},
            {"element_bits", 8 * sizeof(typename Types::Delta)},
            {"blocks", policy_.blocks},
            {"cluster", policy_.blocks > 1 ? policy_.blocks : 0}};
  }

 private:
  const cuda::Stream& stream_;
  BlockKernel<Types> kernel_;
  QapBlockPolicy policy_;
  std::int64_t batch_size_;
  QapMemory<Types> memory_;
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
  std::unique_ptr<Run> run = qap_block_run(neighborhood, task);
  return run ? std::move(run) : qap_grid_run(neighborhood, task);
}

}  // namespace vicinity::lsm
