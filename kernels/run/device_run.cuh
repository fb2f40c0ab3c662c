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
///   together()              how many searches it takes at a time, at most task.restarts
///   begin(walks)            puts that many searches or fewer, just begun, in place of those it had; asynchronous
///   launch(ledgers, limit)  asynchronous: goes on with each search k, of which the device keeps ledgers[k], until it is done or has taken
///                           `limit` moves; leaves everything so that a later launch can go on
///   finish(searches)        copies `current` and `best` of each search to the host, and waits for the stream
///   poison()                spoils what the device has to write; asynchronous
///   policy()
///   agreement()             the barrier (a ceiling of the machine) that those who share a search meet at, or do the like of, in every look
/// The caller keeps the instance alive.
template <class Engine>
class DeviceRun final : public Run {
 public:
  using Neighborhood = typename Engine::Neighborhood;

  DeviceRun(const Neighborhood& neighborhood, const local_search::Task& task)
      : neighborhood_(neighborhood),
        task_(task),
        engine_(neighborhood_, task_, stream_),
        ledgers_(static_cast<std::size_t>(engine_.together())),
        staged_(static_cast<std::size_t>(engine_.together())) {
    VICINITY_CUDA_CHECK(cudaDeviceSynchronize());  // the instance is in place
  }

  void reset(std::uint64_t seed) override {
    seed_ = seed;
    restart();
    engine_.poison();
    ledgers_.fill(0xA5, stream_);
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
    while (!walks_.empty() || next_batch()) {
      const auto before = Clock::now();
      go_on(std::min(task_.limit(), reached_ + step_));
      const auto now = Clock::now();
      const double slice = std::chrono::duration<double>(now - before).count();
      if (slice < seconds / 4) step_ = std::min(2 * step_, local_search::most_iterations);
      if (slice > seconds && step_ > 1) step_ /= 2;
      if (std::chrono::duration<double>(now - start).count() > seconds) break;
    }
    return !walks_.empty() || !all_finished();
  }
  /// The whole search on the clock of the host: starts, copies and launches included.
  [[nodiscard]] Times times() const override { return {{"kernel", seconds_}}; }
  [[nodiscard]] Outcome outcome() override {
    std::vector<Search> begun = finished_;
    begun.insert(begun.end(), walks_.begin(), walks_.end());
    return local_search::judge(neighborhood_, task_, begun, begun.empty() || all_finished());
  }
  [[nodiscard]] Policy policy() const override { return engine_.policy(); }
  [[nodiscard]] Work work() const override {
    Work work = local_search::work_of(neighborhood_, finished_);
    if (task_.restarts == 1 && !finished_.empty()) work[engine_.agreement()] = static_cast<double>(finished_.front().looks);
    return work;
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Search = typename local_search::Walk<Neighborhood>::Search;

  void restart() {
    finished_.clear();
    walks_.clear();
  }
  [[nodiscard]] bool all_finished() const { return static_cast<std::int64_t>(finished_.size()) == task_.restarts; }

  /// Begins the next restarts, if there are any.
  bool next_batch() {
    const auto first = static_cast<std::int64_t>(finished_.size());
    const std::int64_t count = std::min(engine_.together(), task_.restarts - first);
    if (count == 0) return false;
    std::vector<local_search::Walk<Neighborhood>> walks;
    for (std::int64_t k = 0; k < count; ++k) {
      walks.emplace_back(neighborhood_, task_, task_.seed(seed_, first + k));
      walks_.push_back(walks.back().search());
      staged_[static_cast<std::size_t>(k)] = walks_.back();
    }
    copy(ledgers_.data(), staged_.data(), cudaMemcpyHostToDevice);
    engine_.begin(walks);
    reached_ = 0;
    return true;
  }
  /// Goes on with the searches under way until they are done or have taken `limit` moves.
  void go_on(std::int64_t limit) {
    engine_.launch(ledgers_.data(), limit);
    VICINITY_CUDA_CHECK(cudaGetLastError());
    copy(staged_.data(), ledgers_.data(), cudaMemcpyDeviceToHost);
    engine_.finish(walks_);
    bool done = true;
    for (std::size_t k = 0; k < walks_.size(); ++k) {
      static_cast<local_search::Ledger&>(walks_[k]) = staged_[k];
      done = done && walks_[k].done(task_.limit());
    }
    reached_ = limit;
    if (!done) return;
    finished_.insert(finished_.end(), walks_.begin(), walks_.end());
    walks_.clear();
  }
  void copy(local_search::Ledger* to, const local_search::Ledger* from, cudaMemcpyKind kind) {
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(to, from, walks_.size() * sizeof(local_search::Ledger), kind, stream_.get()));
  }

  const Neighborhood neighborhood_;
  const local_search::Task task_;
  cuda::Stream stream_;
  Engine engine_;
  cuda::DeviceBuffer<local_search::Ledger> ledgers_;  ///< [search under way]
  cuda::HostBuffer<local_search::Ledger> staged_;
  std::uint64_t seed_ = 0;
  std::vector<Search> walks_;     ///< under way, as the device last said
  std::vector<Search> finished_;  ///< of the restarts before them
  std::int64_t reached_ = 0, step_ = 64;
  double seconds_ = 0;
};

}  // namespace vicinity::lsm
