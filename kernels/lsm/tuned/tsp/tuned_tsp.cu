// gpu-tuned for the travelling salesman problem: row minima of the move matrix, on one block or a cluster a search.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "core/util/math.hpp"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/lsm/tuned/tsp/tsp_runs.hpp"
#include "kernels/lsm/tuned/tsp/tsp_search.cuh"
#include "kernels/lsm/tuned/tuned.hpp"
#include "kernels/lsm/device_searches.cuh"

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
  const bool clusters = cuda::device_attribute(cudaDevAttrClusterLaunch) != 0;
  std::vector<std::int32_t> counts{1};
  for (std::int32_t blocks = 2; clusters && blocks <= tsp_most_blocks; blocks *= 2)
    if (n > 12 * blocks) counts.insert(counts.begin(), blocks);
  if (const std::int32_t only = blocks_asked_for(); only > 0) return {only};
  return counts;
}

/// Engine of DeviceRun.
template <bool Integral>
class TspEngine {
 public:
  using Neighborhood = local_search::TspSwap;
  using State = local_search::SearchState<Neighborhood>;

  TspEngine(const Neighborhood& neighborhood, const local_search::Task& task, const cuda::Stream& stream)
      : stream_(stream), method_(task.method) {
    const std::int32_t n = neighborhood.instance().size();
    choose(n, task.restarts);
    const auto times = static_cast<std::int64_t>(sizeof(std::int32_t)) * neighborhood.moves();
    if (method_ == local_search::Method::tabu) batch_size_ = std::min(batch_size_, std::max<std::int64_t>(1, room_for_times / times));
    batch_size_ = std::min(batch_size_, task.restarts);
    const auto searches = static_cast<std::size_t>(batch_size_), blocks = searches * static_cast<std::size_t>(one_.cluster),
               size = static_cast<std::size_t>(n);
    memory_ = std::make_unique<TspMemory<Integral>>(neighborhood, task, batch_size_, stream);
    rows_ = cuda::DeviceBuffer<Row>(searches * size);
    places_ = cuda::DeviceBuffer<Place<Integral>>((resident_ ? searches : blocks) * size);
    filters_ = cuda::DeviceBuffer<std::uint32_t>(blocks * filter_words);
    view_ = {memory_->view(), places_.data(), rows_.data(), filters_.data(), one_.cluster, divide_up(n, one_.cluster)};
  }

  [[nodiscard]] std::int64_t batch_size() const { return batch_size_; }

  void begin(const std::vector<State>& states) {
    count_ = static_cast<unsigned>(states.size());
    memory_->begin(states);
    filters_.fill(0, stream_);
  }
  void launch(local_search::SearchProgress* all_progress, std::int64_t limit) {
    const std::int32_t copies = resident_ ? 1 : one_.cluster;
    const auto n = view_.tsp.n;
    const auto grid = [&](std::int32_t items) { return dim3(static_cast<unsigned>(divide_up(n, items)), count_); };
    places_kernel<Integral><<<grid(prepare_threads), prepare_threads, 0, stream_.get()>>>(view_, copies);
    VICINITY_CUDA_CHECK(cudaGetLastError());
    rows_kernel<Integral><<<grid(prepare_threads / 32), prepare_threads, 0, stream_.get()>>>(view_, all_progress, copies);
    VICINITY_CUDA_CHECK(cudaGetLastError());
    cuda::Shape all = one_;
    all.blocks *= count_;
    VICINITY_CUDA_CHECK(cuda::launch(all, stream_, kernel(resident_), view_, all_progress, method_, limit));
  }
  void finish(std::vector<State::Result>& searches) { memory_->finish(searches); }
  void poison() {
    memory_->poison();
    filters_.fill(0xA5, stream_);
    rows_.fill(0xA5, stream_);
    places_.fill(0xA5, stream_);
  }
  [[nodiscard]] const char* synchronization() const { return one_.cluster > 1 ? "cluster_barrier" : "block_barrier"; }
  [[nodiscard]] Policy policy() const {
    return {{"blocks", one_.cluster},
            {"threads", tsp_threads<Integral>},
            {"coordinate_bits", Integral ? 16 : 64},
            {"places_in_shared", resident_ ? 1 : 0},
            {"shared_bytes", static_cast<std::int64_t>(one_.shared_bytes)},
            {"together", batch_size_}};
  }

 private:
  /// Tabu times of searches that run together may take this much.
  static constexpr std::int64_t room_for_times = std::int64_t{1} << 30;

  /// Blocks, shared memory, and how many searches the device takes at a time: all, if there is such a number of blocks, else as many as
  /// it can with the fewest.
  void choose(std::int32_t n, std::int64_t restarts) {
    const std::size_t most = cuda::most_shared();
    for (const std::int32_t blocks : block_counts(n)) {
      const auto bytes = [&](bool resident) { return tsp_shared_bytes<Integral>(n, divide_up(n, blocks), resident); };
      const bool resident = bytes(true) <= most;
      const cuda::Shape one{.blocks = blocks, .threads = tsp_threads<Integral>, .shared_bytes = bytes(resident), .cluster = blocks};
      if (one.shared_bytes > most) continue;
      cuda::allow_shared(kernel(resident), one.shared_bytes);
      const std::int64_t together = blocks == 1 ? cuda::multiprocessors() : cuda::clusters_at_a_time(one, kernel(resident));
      if (together == 0) continue;
      one_ = one;
      resident_ = resident;
      batch_size_ = together;
      if (together >= restarts) return;
    }
    if (batch_size_ == 0)
      throw DoesNotFit(std::to_string(n) + " cities need more than the " + std::to_string(most) +
                       " bytes of shared memory a block that this GPU has");
  }
  [[nodiscard]] static auto kernel(bool resident) { return resident ? &tsp_kernel<Integral, true> : &tsp_kernel<Integral, false>; }

  const cuda::Stream& stream_;
  const local_search::Method method_;
  cuda::Shape one_{};  ///< of a search
  bool resident_ = false;
  std::int64_t batch_size_ = 0;
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
