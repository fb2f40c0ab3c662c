// gpu-tuned for the travelling salesman problem: row minima of the move matrix, on one block or a cluster a search.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "core/math.hpp"
#include "kernels/lsm/device_run.cuh"
#include "kernels/lsm/tsp_runs.hpp"
#include "kernels/lsm/tsp_search.cuh"
#include "kernels/lsm/tuned.hpp"

namespace vicinity::lsm {
namespace {

/// VICINITY_BLOCKS, for tests: rows on so many blocks, whatever the number of cities; 0 where it is not set.
[[nodiscard]] std::int32_t blocks_asked_for() {
  const char* blocks = std::getenv("VICINITY_BLOCKS");
  return blocks != nullptr ? std::atoi(blocks) : 0;
}

/// Blocks that a search may have, the most first, since more are faster as long as each has more than 12 places (measured on an H100,
/// kernels/lsm/README.md).
std::vector<std::int32_t> block_counts(std::int32_t n) {
  int clusters = 0;
  VICINITY_CUDA_CHECK(cudaDeviceGetAttribute(&clusters, cudaDevAttrClusterLaunch, 0));
  std::vector<std::int32_t> counts{1};
  for (std::int32_t blocks = 2; clusters != 0 && blocks <= tsp_most_blocks; blocks *= 2)
    if (n > 12 * blocks) counts.insert(counts.begin(), blocks);
  if (const std::int32_t only = blocks_asked_for(); only > 0) return {only};
  return counts;
}

/// Engine of DeviceRun.
template <bool Integral>
class TspEngine {
 public:
  using Neighborhood = local_search::TspSwap;
  using Walk = local_search::Walk<Neighborhood>;

  TspEngine(const Neighborhood& neighborhood, const local_search::Task& task, const cuda::Stream& stream)
      : stream_(stream), method_(task.method) {
    const std::int32_t n = neighborhood.instance().size();
    choose(n, task.restarts);
    const auto times = static_cast<std::int64_t>(sizeof(std::int32_t)) * neighborhood.moves();
    if (method_ == local_search::Method::tabu) together_ = std::min(together_, std::max<std::int64_t>(1, room_for_times / times));
    together_ = std::min(together_, task.restarts);
    const auto searches = static_cast<std::size_t>(together_), blocks = searches * static_cast<std::size_t>(blocks_),
               size = static_cast<std::size_t>(n);
    memory_ = std::make_unique<TspMemory<Integral>>(neighborhood, task, together_, stream);
    rows_ = cuda::DeviceBuffer<Row>(searches * size);
    places_ = cuda::DeviceBuffer<Place<Integral>>((resident_ ? searches : blocks) * size);
    filters_ = cuda::DeviceBuffer<std::uint32_t>(blocks * filter_words);
    view_ = {memory_->view(), places_.data(), rows_.data(), filters_.data(), blocks_, divide_up(n, blocks_)};
  }

  [[nodiscard]] std::int64_t together() const { return together_; }

  void begin(const std::vector<Walk>& walks) {
    count_ = static_cast<unsigned>(walks.size());
    memory_->begin(walks);
    filters_.fill(0, stream_);
  }
  void launch(local_search::Ledger* ledgers, std::int64_t limit) {
    const std::int32_t copies = resident_ ? 1 : blocks_;
    const auto n = view_.tsp.n;
    const auto grid = [&](std::int32_t items) { return dim3(static_cast<unsigned>(divide_up(n, items)), count_); };
    places_kernel<Integral><<<grid(prepare_threads), prepare_threads, 0, stream_.get()>>>(view_, copies);
    VICINITY_CUDA_CHECK(cudaGetLastError());
    rows_kernel<Integral><<<grid(prepare_threads / 32), prepare_threads, 0, stream_.get()>>>(view_, ledgers, copies);
    VICINITY_CUDA_CHECK(cudaGetLastError());
    cudaLaunchAttribute attribute{};
    cudaLaunchConfig_t config = configuration(attribute);
    VICINITY_CUDA_CHECK(cudaLaunchKernelEx(&config, kernel(), view_, ledgers, method_, limit));
  }
  void finish(std::vector<Walk::Search>& searches) { memory_->finish(searches); }
  void poison() {
    memory_->poison();
    filters_.fill(0xA5, stream_);
    rows_.fill(0xA5, stream_);
    places_.fill(0xA5, stream_);
  }
  [[nodiscard]] Policy policy() const {
    return {{"blocks", blocks_},
            {"threads", tsp_threads<Integral>},
            {"coordinate_bits", Integral ? 16 : 64},
            {"places_in_shared", resident_ ? 1 : 0},
            {"shared_bytes", static_cast<std::int64_t>(shared_)},
            {"together", together_}};
  }

 private:
  /// Tabu times of searches that run together may take this much.
  static constexpr std::int64_t room_for_times = std::int64_t{1} << 30;

  /// Blocks, shared memory, and how many searches the device takes at a time: all, if there is such a number of blocks.
  void choose(std::int32_t n, std::int64_t restarts) {
    int most = 0, multiprocessors = 0;
    VICINITY_CUDA_CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    VICINITY_CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    const std::vector<std::int32_t> counts = block_counts(n);
    for (const std::int32_t blocks : counts) {
      blocks_ = blocks;
      const auto bytes = [&](bool resident) { return tsp_shared_bytes<Integral>(n, divide_up(n, blocks), resident); };
      resident_ = bytes(true) <= static_cast<std::size_t>(most);
      shared_ = bytes(resident_);
      if (shared_ > static_cast<std::size_t>(most)) continue;
      VICINITY_CUDA_CHECK(cudaFuncSetAttribute(kernel(), cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_)));
      together_ = blocks == 1 ? multiprocessors : clusters();
      if (together_ >= restarts || (together_ > 0 && blocks == counts.back())) return;
    }
    throw DoesNotFit(std::to_string(n) + " cities need " + std::to_string(shared_) + " bytes of shared memory a block, this GPU has " +
                     std::to_string(most));
  }
  /// How many clusters the GPU runs at a time; 0: it has none of this size.
  [[nodiscard]] int clusters() {
    if (blocks_ > 8) VICINITY_CUDA_CHECK(cudaFuncSetAttribute(kernel(), cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    count_ = 1;
    cudaLaunchAttribute attribute{};
    const cudaLaunchConfig_t config = configuration(attribute);
    int clusters = 0;
    return cudaOccupancyMaxActiveClusters(&clusters, kernel(), &config) == cudaSuccess ? clusters
                                                                                       : (static_cast<void>(cudaGetLastError()), 0);
  }
  [[nodiscard]] auto kernel() const { return resident_ ? &tsp_kernel<Integral, true> : &tsp_kernel<Integral, false>; }
  [[nodiscard]] cudaLaunchConfig_t configuration(cudaLaunchAttribute& attribute) const {
    cudaLaunchConfig_t config{};
    config.gridDim = count_ * static_cast<unsigned>(blocks_);
    config.blockDim = tsp_threads<Integral>;
    config.dynamicSmemBytes = shared_;
    config.stream = stream_.get();
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {static_cast<unsigned>(blocks_), 1, 1};
    config.attrs = &attribute;
    config.numAttrs = blocks_ > 1 ? 1 : 0;
    return config;
  }

  const cuda::Stream& stream_;
  const local_search::Method method_;
  std::int32_t blocks_ = 1;
  bool resident_ = false;
  std::size_t shared_ = 0;
  std::int64_t together_ = 0;
  unsigned count_ = 0;  ///< searches under way
  std::unique_ptr<TspMemory<Integral>> memory_;
  cuda::DeviceBuffer<std::uint32_t> filters_;
  cuda::DeviceBuffer<Row> rows_;
  cuda::DeviceBuffer<Place<Integral>> places_;
  TspView<Integral> view_{};
};

}  // namespace

std::unique_ptr<Run> tuned_run(const local_search::TspSwap& neighborhood, const local_search::Task& task) {
  if (std::unique_ptr<Run> run = blocks_asked_for() > 0 ? nullptr : tsp_scan_run(neighborhood, task)) return run;
  if (neighborhood.instance().integral()) return std::make_unique<DeviceRun<TspEngine<true>>>(neighborhood, task);
  return std::make_unique<DeviceRun<TspEngine<false>>>(neighborhood, task);
}

}  // namespace vicinity::lsm
