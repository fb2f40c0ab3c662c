// gpu-tuned for the travelling salesman problem with few cities: all moves in shared memory.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/util/math.hpp"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/lsm/tuned/tsp/tsp_runs.hpp"
#include "kernels/lsm/tuned/tsp/tsp_scan.cuh"
#include "kernels/lsm/device_searches.cuh"

namespace vicinity::lsm {
namespace {

using Swap = local_search::TspSwap;

/// How a search is shared out: few warps are faster, of which each has one task at most (measured on an H100).
template <bool Integral>
TspScanView<Integral> shared_out(const Swap& neighborhood) {
  constexpr std::int64_t most_warps = scan_threads<Integral> / 32 - 1, most_rounds = (ScanKey::slots + 1) / 16;
  TspScanView<Integral> view{};
  view.tsp = neighborhood.instance().view();
  const std::int64_t items = divide_up(neighborhood.moves(), 16 * 32);  // of a warp and a round
  const std::int64_t tasks = scan_tasks(view.tsp.n);
  view.rounds = static_cast<std::int32_t>(std::clamp<std::int64_t>(std::max(items / tasks, divide_up(items, most_warps)), 1, most_rounds));
  view.workers = static_cast<std::int32_t>(32 * std::max(tasks, divide_up(items, view.rounds)));
  return view;
}

/// Differences fit ScanKey, a search a block, and its history is not excessive.
template <bool Integral>
[[nodiscard]] bool fits(const Swap& neighborhood, std::int64_t history) {
  constexpr std::int64_t most_history = std::int64_t{1} << 20;
  const tsp::View tsp = neighborhood.instance().view();
  const auto [low_x, high_x] = std::minmax_element(tsp.x, tsp.x + tsp.n);
  const auto [low_y, high_y] = std::minmax_element(tsp.y, tsp.y + tsp.n);
  const double longest = std::hypot(*high_x - *low_x, *high_y - *low_y) + 1;
  const TspScanView<Integral> view = shared_out<Integral>(neighborhood);
  return 4 * longest < ScanKey::limit - 1 && history <= most_history && view.workers + 32 <= scan_threads<Integral> &&
         scan_shared_bytes(view) <= cuda::most_shared();
}

/// Iterations whose moves may be tabu at a time, and one more.
[[nodiscard]] std::int64_t history(const Swap& neighborhood, const local_search::Task& task) {
  if (task.method != local_search::Method::tabu) return 0;
  return std::min(local_search::tenure_of(task, neighborhood.moves()) + 1, task.limit());
}

/// Engine of DeviceRun.
template <bool Integral>
class ScanEngine {
 public:
  using Neighborhood = Swap;
  using State = local_search::SearchState<Neighborhood>;

  ScanEngine(const Neighborhood& neighborhood, const local_search::Task& task, const cuda::Stream& stream)
      : stream_(stream),
        method_(task.method),
        batch_size_(std::min<std::int64_t>(task.restarts, cuda::multiprocessors())),
        memory_(neighborhood, task, batch_size_, stream),
        view_(shared_out<Integral>(neighborhood)),
        shared_(scan_shared_bytes(view_)) {
    static_cast<TspTours<Integral>&>(view_) = memory_.view();
    view_.history = static_cast<std::int32_t>(history(neighborhood, task));
    taken_ = cuda::DeviceBuffer<std::int32_t>(static_cast<std::size_t>(batch_size_ * view_.history));
    view_.taken = taken_.data();
    cuda::allow_shared(tsp_scan_kernel<Integral>, shared_);
  }

  [[nodiscard]] std::int64_t batch_size() const { return batch_size_; }

  void begin(const std::vector<State>& states) {
    count_ = static_cast<unsigned>(states.size());
    memory_.begin(states);
  }
  void launch(local_search::SearchProgress* all_progress, std::int64_t limit) {
    tsp_scan_kernel<Integral>
        <<<count_, static_cast<unsigned>(view_.workers + 32), shared_, stream_.get()>>>(view_, all_progress, method_, limit);
    VICINITY_CUDA_CHECK(cudaGetLastError());
  }
  void finish(std::vector<State::Result>& searches) { memory_.finish(searches); }
  void poison() {
    memory_.poison();
    taken_.fill(0xA5, stream_);
  }
  [[nodiscard]] static const char* synchronization() { return "block_barrier"; }
  [[nodiscard]] Policy policy() const {
    return {{"blocks", 1},
            {"threads", view_.workers + 32},
            {"moves_a_thread", 16 * view_.rounds},
            {"coordinate_bits", Integral ? 16 : 64},
            {"shared_bytes", static_cast<std::int64_t>(shared_)},
            {"together", batch_size_}};
  }

 private:
  const cuda::Stream& stream_;
  const local_search::Method method_;
  const std::int64_t batch_size_;
  TspMemory<Integral> memory_;
  TspScanView<Integral> view_;
  const std::size_t shared_;
  cuda::DeviceBuffer<std::int32_t> taken_;  ///< [search][iteration % history]
  unsigned count_ = 0;                      ///< searches under way
};

template <bool Integral>
std::unique_ptr<Run> run_of(const Swap& neighborhood, const local_search::Task& task) {
  if (!fits<Integral>(neighborhood, history(neighborhood, task))) return nullptr;
  return std::make_unique<DeviceRun<ScanEngine<Integral>>>(neighborhood, task);
}

}  // namespace

std::unique_ptr<Run> tsp_scan_run(const Swap& neighborhood, const local_search::Task& task) {
  return neighborhood.instance().integral() ? run_of<true>(neighborhood, task) : run_of<false>(neighborhood, task);
}

}  // namespace vicinity::lsm
