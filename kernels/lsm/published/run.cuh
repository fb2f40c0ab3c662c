#pragma once
// What the CUDA implementations whose host is in the loop share: restarts one after another, searches that stop and go on, wall time and
// its parts, the judgement, the shape of the grid.
#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "core/methods/lsm/result.hpp"
#include "core/methods/lsm/search.hpp"
#include "core/methods/lsm/state.hpp"
#include "core/methods/lsm/task.hpp"
#include "core/util/error.hpp"
#include "core/util/math.hpp"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/lsm/published/ppp.cuh"
#include "kernels/lsm/published/qap.cuh"
#include "kernels/lsm/published/tsp.cuh"
#include "kernels/lsm/published/weierstrass.cuh"
#include "kernels/run/search_run.cuh"

namespace vicinity::lsm {

/// Threads of a block, for every kernel that evaluates neighbours.
inline constexpr std::int32_t block_size = 256;

/// Moves [first, last), dealt to the threads of a grid in turns.
struct Slice {
  std::int64_t first, last;
};

/// Lets a kernel have more dynamic shared memory, where it needs more than before.
class SharedMemory {
 public:
  template <class Kernel>
  void allow(Kernel* kernel, std::size_t bytes) {
    if (bytes <= allowed_) return;
    cuda::allow_shared(kernel, bytes);
    allowed_ = bytes;
  }

 private:
  std::size_t allowed_ = 0;
};

/// Where the time of a search goes. One iteration in 16 is measured by events, the first included, and the others count like it: events in
/// each would cost what a small copy costs.
class PartTimer {
 public:
  /// Borders of an iteration's parts, in their order.
  enum Border : std::size_t { before_copies, before_kernels, after_kernels, after_copies };

  void restart() noexcept {
    iterations_ = 0;
    all_ = sampled_ = transfer_ = kernel_ = 0;
  }
  /// An iteration begins.
  void open() { opened_ = Clock::now(); }
  void mark(Border border, const cuda::Stream& stream) {
    if (is_sampled()) events_[border].record(stream);
  }
  /// It ends; all its borders are marked, and the stream has finished.
  void close() {
    const double seconds = std::chrono::duration<double>(Clock::now() - opened_).count();
    all_ += seconds;
    if (is_sampled()) {
      sampled_ += seconds;
      transfer_ +=
          events_[before_kernels].seconds_since(events_[before_copies]) + events_[after_copies].seconds_since(events_[after_kernels]);
      kernel_ += events_[after_kernels].seconds_since(events_[before_kernels]);
    }
    ++iterations_;
  }
  /// Parts of a search that took so many seconds; the host has what the device did not take.
  [[nodiscard]] Times of(double seconds) const {
    const double scale = sampled_ > 0 ? all_ / sampled_ : 0, kernel = scale * kernel_, transfer = scale * transfer_;
    return {{Part::kernel, {kernel, TimeSource::device}},
            {Part::transfer, {transfer, TimeSource::device}},
            {Part::host, {seconds - kernel - transfer, TimeSource::host}}};
  }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] bool is_sampled() const noexcept { return iterations_ % 16 == 0; }

  std::int64_t iterations_ = 0;
  double all_ = 0, sampled_ = 0;      ///< seconds of all iterations, and of the sampled
  double transfer_ = 0, kernel_ = 0;  ///< of the sampled
  Clock::time_point opened_;
  std::array<cuda::Event, 4> events_;
};

/// What finds the best of all moves with the host in the loop; made from (neighborhood, stream). The caller keeps the instance alive.
template <class M, class Neighborhood>
concept HostMethod = requires(M& method, const M& fixed, const SearchState<Neighborhood>& state, PartTimer& timer,
                              const local_search::Choice& choice) {
  method.begin(state);  // prepares it for a search that was just begun
  { method.choose(state, timer) } -> std::same_as<local_search::Choice>;
  method.moved(state, choice);  // called after the search took it
  method.poison();              // poisons what the device has to write and forgets what was learnt
  { fixed.policy() } -> std::same_as<Policy>;
};

/// The restarts of a case one after the other, for the driver (kernels/run/search_run.cuh).
template <local_search::SearchNeighborhood Neighborhood, HostMethod<Neighborhood> Method>
class HostRestarts {
 public:
  static constexpr std::int64_t first_slice = 1;

  HostRestarts(const Neighborhood& neighborhood, const local_search::Task& task)
      : neighborhood_(neighborhood), task_(task), method_(neighborhood_, stream_) {}

  [[nodiscard]] std::int64_t count() const { return task_.restarts; }
  [[nodiscard]] static std::int64_t batch_size() { return 1; }
  [[nodiscard]] std::int64_t most_iterations() const { return task_.limit(); }

  void reset(const Start& start) {
    start_ = start;
    finished_.clear();
    state_.reset();
    timer_.restart();
    method_.poison();
    stream_.synchronize();
  }
  void begin(std::int64_t first, std::int64_t) {
    if (state_) finished_.push_back(state_->result());
    state_.emplace(neighborhood_, task_, start_, first);
    method_.begin(*state_);
  }
  void launch(std::int64_t limit) {
    while (!state_->done() && state_->iteration() < limit) {
      timer_.open();
      const local_search::Choice choice = method_.choose(*state_, timer_);
      if (state_->take(choice)) method_.moved(*state_, choice);
      timer_.close();
    }
  }
  [[nodiscard]] bool wait() const { return state_->done(); }
  [[nodiscard]] TracePoint progress() const { return local_search::progress_of(state_->result()); }
  [[nodiscard]] Objective best() const { return state_->best_value(); }
  [[nodiscard]] Outcome judge(bool whole) const { return local_search::judge(neighborhood_, task_, begun(), whole); }
  /// Together the whole search on the clock of the host, which takes part in it.
  [[nodiscard]] Times times(double seconds) const { return timer_.of(seconds); }
  [[nodiscard]] Policy policy() const { return method_.policy(); }
  /// All threads meet in each iteration: a launch that the host waits for does the like of a grid barrier.
  [[nodiscard]] Work work() const {
    const std::vector<Result> all = begun();
    Work work = local_search::work_of(neighborhood_, all);
    for (const Result& search : all) work[Ceiling::grid_barrier] += static_cast<double>(search.neighborhood_evaluations);
    return work;
  }

 private:
  using Result = typename SearchState<Neighborhood>::Result;

  [[nodiscard]] std::vector<Result> begun() const {
    std::vector<Result> all = finished_;
    if (state_) all.push_back(state_->result());
    return all;
  }

  const Neighborhood neighborhood_;
  const local_search::Task task_;
  cuda::Stream stream_;
  Method method_;
  Start start_ = 0;
  std::optional<SearchState<Neighborhood>> state_;  ///< of the restart under way
  std::vector<Result> finished_;                    ///< of the restarts before it
  PartTimer timer_;
};

/// `Method` by the first of the memory paths for which it fits.
template <template <class, class> class Method, class Path, class... Others, class Neighborhood>
[[nodiscard]] std::unique_ptr<Run> gpu_run(const Neighborhood& neighborhood, const local_search::Task& task) {
  try {
    return std::make_unique<DeviceSearchRun<HostRestarts<Neighborhood, Method<Neighborhood, Path>>>>(neighborhood, task);
  } catch (const DoesNotFit&) {
    if constexpr (sizeof...(Others) == 0)
      throw;
    else
      return gpu_run<Method, Others...>(neighborhood, task);
  }
}

/// Prepares `Method`. The caller keeps the instance alive.
template <template <class, class> class Method, class... Paths>
[[nodiscard]] std::unique_ptr<Run> prepare_gpu(const Case& c, const Instance& instance) {
  return with_neighborhood(c, instance, [task = task_of(c)](const auto& neighborhood) -> std::unique_ptr<Run> {
    if constexpr (requires { neighborhood.differences_fit(); })
      if (!neighborhood.differences_fit()) return gpu_run<Method, Wide<Paths>...>(neighborhood, task);
    return gpu_run<Method, Paths...>(neighborhood, task);
  });
}

}  // namespace vicinity::lsm
