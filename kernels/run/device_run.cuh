#pragma once
// What the CUDA implementations share whose whole search runs on the device: starts, launches, searches that stop and go on, the host's
// clock, the judgement.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/methods/lsm/result.hpp"
#include "core/methods/lsm/search.hpp"
#include "core/methods/lsm/state.hpp"
#include "kernels/cuda/runtime/memory.cuh"
#include "kernels/cuda/runtime/stream.cuh"

namespace vicinity::lsm {

/// An Engine has a type Neighborhood, is made from (neighborhood, task, stream), and has
///   batch_size()              how many searches it takes at a time, at most task.restarts
///   begin(states)            puts that many searches or fewer, just begun, in place of those it had; asynchronous
///   launch(all_progress, limit)  asynchronous: goes on with each search k, of which the device keeps all_progress[k], until it is done or
///   has taken
///                           `limit` moves; leaves everything so that a later launch can go on
///   finish(searches)        copies `current` and `best` of each search to the host, and waits for the stream
///   poison()                spoils what the device has to write; asynchronous
///   policy()
///   synchronization()             the barrier (a ceiling of the machine) that those who share a search meet at, or do the like of, in
///   every look
/// The caller keeps the instance alive.
template <class Engine>
class DeviceRun final : public Run {
 public:
  using Neighborhood = typename Engine::Neighborhood;

  DeviceRun(const Neighborhood& neighborhood, const local_search::Task& task)
      : neighborhood_(neighborhood),
        task_(task),
        engine_(neighborhood_, task_, stream_),
        all_progress_(static_cast<std::size_t>(engine_.batch_size())),
        staged_(static_cast<std::size_t>(engine_.batch_size())) {
    VICINITY_CUDA_CHECK(cudaDeviceSynchronize());  // the instance is in place
  }

  void reset(std::uint64_t seed) override {
    seed_ = seed;
    restart();
    engine_.poison();
    all_progress_.fill(0xA5, stream_);
    stream_.synchronize();
  }
  void execute() override {
    restart();
    const auto start = Clock::now();
    while (next_batch()) go_on(task_.limit());
    seconds_ = std::chrono::duration<double>(Clock::now() - start).count();
  }
  [[nodiscard]] bool advance(double seconds) override {
    const auto start = Clock::now();
    while (!states_.empty() || next_batch()) {
      const auto before = Clock::now();
      go_on(std::min(task_.limit(), reached_ + step_));
      const auto now = Clock::now();
      const double slice = std::chrono::duration<double>(now - before).count();
      if (slice < seconds / 4) step_ = std::min(2 * step_, local_search::most_iterations);
      if (slice > seconds && step_ > 1) step_ /= 2;
      if (std::chrono::duration<double>(now - start).count() > seconds) break;
    }
    return !states_.empty() || !all_finished();
  }
  /// The whole search on the clock of the host: starts, copies and launches included.
  [[nodiscard]] Times times() const override { return {{"kernel", seconds_}}; }
  [[nodiscard]] Outcome outcome() override {
    std::vector<Result> begun = finished_;
    begun.insert(begun.end(), states_.begin(), states_.end());
    return local_search::judge(neighborhood_, task_, begun, begun.empty() || all_finished());
  }
  [[nodiscard]] Policy policy() const override { return engine_.policy(); }
  [[nodiscard]] Work work() const override {
    Work work = local_search::work_of(neighborhood_, finished_);
    if (task_.restarts == 1 && !finished_.empty())
      work[engine_.synchronization()] = static_cast<double>(finished_.front().neighborhood_evaluations);
    return work;
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Result = typename local_search::SearchState<Neighborhood>::Result;

  void restart() {
    finished_.clear();
    states_.clear();
  }
  [[nodiscard]] bool all_finished() const { return static_cast<std::int64_t>(finished_.size()) == task_.restarts; }

  /// Begins the next restarts, if there are any.
  bool next_batch() {
    const auto first = static_cast<std::int64_t>(finished_.size());
    const std::int64_t count = std::min(engine_.batch_size(), task_.restarts - first);
    if (count == 0) return false;
    std::vector<local_search::SearchState<Neighborhood>> states;
    for (std::int64_t k = 0; k < count; ++k) {
      states.emplace_back(neighborhood_, task_, task_.seed(seed_, first + k));
      states_.push_back(states.back().result());
      staged_[static_cast<std::size_t>(k)] = states_.back();
    }
    copy(all_progress_.data(), staged_.data(), cudaMemcpyHostToDevice);
    engine_.begin(states);
    reached_ = 0;
    return true;
  }
  /// Goes on with the searches under way until they are done or have taken `limit` moves.
  void go_on(std::int64_t limit) {
    engine_.launch(all_progress_.data(), limit);
    VICINITY_CUDA_CHECK(cudaGetLastError());
    copy(staged_.data(), all_progress_.data(), cudaMemcpyDeviceToHost);
    engine_.finish(states_);
    bool done = true;
    for (std::size_t k = 0; k < states_.size(); ++k) {
      static_cast<local_search::SearchProgress&>(states_[k]) = staged_[k];
      done = done && states_[k].done(task_.limit());
    }
    reached_ = limit;
    if (!done) return;
    finished_.insert(finished_.end(), states_.begin(), states_.end());
    states_.clear();
  }
  void copy(local_search::SearchProgress* to, const local_search::SearchProgress* from, cudaMemcpyKind kind) {
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(to, from, states_.size() * sizeof(local_search::SearchProgress), kind, stream_.get()));
  }

  const Neighborhood neighborhood_;
  const local_search::Task task_;
  cuda::Stream stream_;
  Engine engine_;
  cuda::DeviceBuffer<local_search::SearchProgress> all_progress_;  ///< [search under way]
  cuda::HostBuffer<local_search::SearchProgress> staged_;
  std::uint64_t seed_ = 0;
  std::vector<Result> states_;    ///< under way, as the device last said
  std::vector<Result> finished_;  ///< of the restarts before them
  std::int64_t reached_ = 0, step_ = 64;
  double seconds_ = 0;
};

}  // namespace vicinity::lsm
