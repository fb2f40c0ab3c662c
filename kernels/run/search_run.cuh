#pragma once
// The one driver of searches on a device: batches of searches, slices, budgets, the clock, the trace, interruption.
#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <utility>

#include "core/api/run.hpp"
#include "kernels/cuda/runtime/check.cuh"

namespace vicinity {

/// The searches of a case, some of which are on the device at a time: a batch. What it takes is asynchronous but for wait().
template <class S>
concept DeviceSearches = requires(S& searches, const S& fixed, const Start& start, std::int64_t count, bool whole, double seconds) {
  { fixed.count() } -> std::same_as<std::int64_t>;            // searches of the case
  { fixed.batch_size() } -> std::same_as<std::int64_t>;       // how many of them run at a time, at most count()
  { fixed.most_iterations() } -> std::same_as<std::int64_t>;  // of a search
  searches.reset(start);                                      // the run will begin there; poisons what the device has to write
  // puts searches first .. first + count - 1, just begun, in place of those there were; a third argument, where it takes one, is the
  // budget's flag to stop, for what takes long
  searches.begin(count, count);
  // each search of the batch goes on until it is done or has made `limit` iterations; where ranks are in step, it returns the limit that
  // they agree on, and stopped() says whether one was interrupted, after which nothing is done
  searches.launch(count);
  // waits for that: are all searches of the batch done? Where one iteration may take long, wait(stop), too: what is under way when the
  // flag rises ends early and counts for nothing. Where a slice had better be longer or shorter than so many iterations, slice(count)
  // says so
  { searches.wait() } -> std::same_as<bool>;
  { searches.progress() } -> std::same_as<TracePoint>;  // of the first search of the batch, after wait(); all but the seconds
  { searches.best() } -> std::same_as<Objective>;       // of all searches of the batch, after wait()
  { searches.judge(whole) } -> std::same_as<Outcome>;   // of the searches begun; `whole`: all have come to their end
  { fixed.times(seconds) } -> std::same_as<Times>;      // of a run that took so many seconds on the host's clock
  { fixed.policy() } -> std::same_as<Policy>;
  { fixed.work() } -> std::same_as<Work>;
  { S::first_slice } -> std::convertible_to<std::int64_t>;  // iterations of the first slice, where the budget asks for slices
};

/// Searches 0 .. count()-1, batch by batch. Without a limit in time a batch is one launch; else slices of iterations, whose length adapts
/// to `slice_seconds`, so that limits and interrupts are obeyed soon.
template <DeviceSearches Searches>
class DeviceSearchRun final : public Run {
 public:
  template <class... Arguments>
  explicit DeviceSearchRun(Arguments&&... arguments) : searches_(std::forward<Arguments>(arguments)...), slice_(Searches::first_slice) {
    VICINITY_CUDA_CHECK(cudaDeviceSynchronize());  // the instance is in place
  }

  void reset(const Start& start) override {
    begun_ = finished_ = reached_ = 0;
    seconds_ = 0;
    trace_.clear();
    searches_.reset(start);
  }
  bool execute(const Budget& budget) override {
    const Stopwatch watch;
    reached_target_ = false;
    while (begin_batch(budget.stop) && !slice_is_last(budget, watch)) {
    }
    seconds_ += watch.seconds();
    return finished_ < searches_.count();
  }
  [[nodiscard]] bool reached_target() const override { return reached_target_; }
  [[nodiscard]] Times times() const override { return searches_.times(seconds_); }
  [[nodiscard]] Outcome outcome() override { return searches_.judge(begun_ == 0 || finished_ == searches_.count()); }
  [[nodiscard]] Trace trace() const override { return trace_; }
  [[nodiscard]] Policy policy() const override { return searches_.policy(); }
  [[nodiscard]] Work work() const override { return searches_.work(); }

 private:
  static constexpr bool ranks_in_step = requires(Searches & searches, std::int64_t limit) {
    { searches.launch(limit) } -> std::same_as<std::int64_t>;
  };
  static constexpr double slice_seconds = 0.1, least_slice_seconds = 0.001;  // a shorter one is mostly launch

  /// Begins the next searches where none are under way. Is there anything to do?
  bool begin_batch(const std::atomic<bool>* stop) {
    if (begun_ > finished_) return true;
    const std::int64_t count = std::min(searches_.batch_size(), searches_.count() - finished_);
    if (count == 0) return false;
    if constexpr (requires { searches_.begin(finished_, count, stop); })
      searches_.begin(finished_, count, stop);
    else
      searches_.begin(finished_, count);
    begun_ = finished_ + count;
    reached_ = 0;
    return true;
  }
  /// The batch goes on for a slice, or to its end. Is the budget spent?
  bool slice_is_last(const Budget& budget, const Stopwatch& watch) {
    const bool first = finished_ == 0;
    const bool sliced = budget.seconds || budget.target || budget.stop != nullptr || budget.improvements;
    std::int64_t limit = searches_.most_iterations();
    if (first && budget.iterations) limit = std::min(limit, std::max(reached_, *budget.iterations));
    if (sliced) limit = std::min(limit, reached_ + slice());
    const double before = watch.seconds();
    if constexpr (ranks_in_step)
      limit = searches_.launch(limit);
    else
      searches_.launch(limit);
    VICINITY_CUDA_CHECK(cudaGetLastError());
    const bool done = wait(budget.stop);
    if (sliced) adapt(watch.seconds() - before, std::clamp(budget.seconds.value_or(slice_seconds), least_slice_seconds, slice_seconds));
    reached_ = limit;
    if (done) finished_ = begun_;
    const bool there = first && budget.iterations && (done || reached_ >= *budget.iterations);
    if (first && (sliced || budget.iterations)) {
      trace_.push_back(searches_.progress());
      trace_.back().seconds = seconds_ + watch.seconds();
    }
    reached_target_ = budget.target && searches_.best().reaches(*budget.target);
    if constexpr (ranks_in_step)
      if (searches_.stopped()) return true;
    return there || reached_target_ || (budget.stop != nullptr && *budget.stop) || (budget.seconds && watch.seconds() >= *budget.seconds);
  }
  [[nodiscard]] bool wait(const std::atomic<bool>* stop) {
    if constexpr (requires { searches_.wait(*stop); })
      if (stop != nullptr) return searches_.wait(*stop);
    return searches_.wait();
  }
  [[nodiscard]] std::int64_t slice() const {
    if constexpr (requires { searches_.slice(slice_); })
      return searches_.slice(slice_);
    else
      return slice_;
  }
  void adapt(double took, double wanted) {
    if (took < wanted / 4) slice_ = std::min(2 * slice_, searches_.most_iterations());
    if (took > wanted && slice_ > 1) slice_ /= 2;
  }

  Searches searches_;
  std::int64_t begun_ = 0, finished_ = 0;  ///< searches of this run; those between are the batch
  std::int64_t reached_ = 0;               ///< iterations that the batch may have made
  std::int64_t slice_;                     ///< iterations of a slice
  Trace trace_;
  bool reached_target_ = false;  ///< in the last call
  double seconds_ = 0;           ///< of all calls since reset()
};

}  // namespace vicinity
