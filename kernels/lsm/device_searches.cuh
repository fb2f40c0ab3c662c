#pragma once
// The restarts of a case on the device, for the driver (kernels/run/search_run.cuh): starts, copies, the judgement. How a search moves is
// the engine's.
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/methods/lsm/gathered.hpp"
#include "core/methods/lsm/result.hpp"
#include "core/methods/lsm/state.hpp"
#include "kernels/cuda/runtime/memory.cuh"
#include "kernels/cuda/runtime/stream.cuh"
#include "kernels/run/search_run.cuh"

namespace vicinity::lsm {

/// What moves searches on the device; made from (neighborhood, task, stream). The caller keeps the instance alive.
template <class E>
concept SearchEngine = requires(E& engine, const E& fixed, const std::vector<local_search::SearchState<typename E::Neighborhood>>& states,
                                local_search::SearchProgress* all_progress, std::int64_t limit,
                                std::vector<local_search::SearchResult<typename E::Neighborhood::Solution>>& results) {
  { fixed.batch_size() } -> std::same_as<std::int64_t>;  // searches at a time, at most task.restarts
  engine.begin(states);  // puts that many searches or fewer, just begun, in place of those it had; asynchronous
  // Asynchronous: goes on with each search k, of which the device keeps all_progress[k], until it is done or has taken `limit` moves;
  // leaves everything so that a later launch can go on.
  engine.launch(all_progress, limit);
  engine.finish(results);  // copies `current` and `best` of each search to the host, and waits for the stream
  engine.poison();         // poisons what the device has to write; asynchronous
  { fixed.policy() } -> std::same_as<Policy>;
  // The barrier (a ceiling of the machine) that those who share a search meet at, or do the like of, once a neighbourhood.
  { fixed.synchronization() } -> std::convertible_to<Ceiling>;
};

template <SearchEngine Engine>
class DeviceRestarts {
 public:
  using Neighborhood = typename Engine::Neighborhood;
  using Result = local_search::SearchResult<typename Neighborhood::Solution>;
  static constexpr std::int64_t first_slice = 64;

  /// `team`: the ranks that share the restarts of a case, of which `task` has this one's; null: none. It outlives the run.
  DeviceRestarts(const Neighborhood& neighborhood, const local_search::Task& task, Team* team = nullptr)
      : neighborhood_(neighborhood),
        task_(task),
        team_(team),
        engine_(neighborhood_, task_, stream_),
        all_progress_(static_cast<std::size_t>(engine_.batch_size())),
        staged_(static_cast<std::size_t>(engine_.batch_size())) {}

  [[nodiscard]] std::int64_t count() const { return task_.restarts; }
  [[nodiscard]] std::int64_t batch_size() const { return engine_.batch_size(); }
  [[nodiscard]] std::int64_t most_iterations() const { return task_.limit(); }

  void reset(const Start& start) {
    start_ = start;
    finished_.clear();
    batch_.clear();
    engine_.poison();
    all_progress_.fill(0xA5, stream_);
    stream_.synchronize();
  }
  void begin(std::int64_t first, std::int64_t count) {
    finished_.insert(finished_.end(), batch_.begin(), batch_.end());
    batch_.clear();
    std::vector<local_search::SearchState<Neighborhood>> states;
    for (std::int64_t k = 0; k < count; ++k) {
      states.emplace_back(neighborhood_, task_, start_, first + k);
      batch_.push_back(states.back().result());
      staged_[static_cast<std::size_t>(k)] = batch_.back();
    }
    copy(all_progress_.data(), staged_.data(), cudaMemcpyHostToDevice);
    engine_.begin(states);
  }
  void launch(std::int64_t limit) {
    engine_.launch(all_progress_.data(), limit);
    copy(staged_.data(), all_progress_.data(), cudaMemcpyDeviceToHost);
  }
  [[nodiscard]] bool wait() {
    engine_.finish(batch_);
    bool done = true;
    for (std::size_t k = 0; k < batch_.size(); ++k) {
      static_cast<local_search::SearchProgress&>(batch_[k]) = staged_[k];
      done = done && batch_[k].done(task_.limit());
    }
    return done;
  }
  [[nodiscard]] TracePoint progress() { return local_search::progress_of(batch_.front()); }
  [[nodiscard]] Objective best() const {
    const auto less = [](const Result& x, const Result& y) { return x.best_value < y.best_value; };
    return std::min_element(batch_.begin(), batch_.end(), less)->best_value;
  }
  [[nodiscard]] Outcome judge(bool whole) { return local_search::judge(team_, neighborhood_, task_, begun(), whole); }
  /// The whole search on the clock of the host: starts, copies and launches included.
  [[nodiscard]] Times times(double seconds) const { return {{Part::kernel, {seconds, TimeSource::host}}}; }
  [[nodiscard]] Policy policy() const { return engine_.policy(); }
  /// A barrier is no limit of any design: where it binds, the report prints no percentage. Restarts side by side hide each other's.
  [[nodiscard]] Work work() const {
    const std::vector<Result> all = begun();
    Work work = local_search::work_of(neighborhood_, all);
    if (task_.restarts == 1 && !all.empty()) work[engine_.synchronization()] = static_cast<double>(all.front().neighborhood_evaluations);
    return work;
  }

 private:
  [[nodiscard]] std::vector<Result> begun() const {
    std::vector<Result> all = finished_;
    all.insert(all.end(), batch_.begin(), batch_.end());
    return all;
  }
  void copy(local_search::SearchProgress* to, const local_search::SearchProgress* from, cudaMemcpyKind kind) {
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(to, from, batch_.size() * sizeof(local_search::SearchProgress), kind, stream_.get()));
  }

  const Neighborhood neighborhood_;
  const local_search::Task task_;
  Team* team_;
  cuda::Stream stream_;
  Engine engine_;
  cuda::DeviceBuffer<local_search::SearchProgress> all_progress_;  ///< [search of the batch]
  cuda::HostBuffer<local_search::SearchProgress> staged_;
  Start start_ = 0;
  std::vector<Result> batch_;     ///< as the device last said
  std::vector<Result> finished_;  ///< of the batches before it
};

template <class Engine>
using DeviceRun = DeviceSearchRun<DeviceRestarts<Engine>>;

}  // namespace vicinity::lsm
