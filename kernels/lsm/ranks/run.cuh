#pragma once
// A rank's run of searches whose neighbourhood lies on the GPUs of all ranks: restarts one after the other, in step with the other ranks.
//
// A search goes on in slices of iterations, a launch each, in which the host has no part. Before a slice the ranks agree on its length, in
// one all-reduce, which also brings the wishes to pause or to stop: all end a call of execute() after the same slice. Slices take a tenth
// of a second at most, where an iteration does not take longer, so that limits are obeyed soon. Cost: an all-reduce and a launch a slice.
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/api/team.hpp"
#include "core/methods/lsm/result.hpp"
#include "core/methods/lsm/state.hpp"
#include "kernels/cuda/runtime/memory.cuh"
#include "kernels/cuda/runtime/stream.cuh"
#include "kernels/lsm/ranks/mapped_mailbox.cuh"
#include "kernels/lsm/ranks/slices.hpp"

namespace vicinity::lsm {

/// What takes moves on a rank's device; made from (neighborhood, task, mailbox, stream). The caller keeps the instance alive.
template <class E>
concept RankEngine = requires(E& engine, const E& fixed, const local_search::SearchState<typename E::Neighborhood>& state,
                              local_search::SearchProgress* progress, std::int64_t limit, unsigned step,
                              local_search::SearchResult<typename E::Neighborhood::Solution>& result) {
  engine.begin(state);  // puts a search, just begun, in place of the one it had; asynchronous
  // Asynchronous: goes on until the search is done or has taken `limit` moves, with a step of the mailbox for each neighbourhood, of which
  // the first has this number.
  engine.launch(progress, limit, step);
  engine.finish(result);  // copies `current` and `best` to the host, and waits for the stream
  engine.poison();        // poisons what the device has to write; asynchronous
  { fixed.policy() } -> std::same_as<Policy>;
};

template <RankEngine Engine>
class RankRun final : public Run {
 public:
  using Neighborhood = typename Engine::Neighborhood;

  RankRun(const Neighborhood& neighborhood, const local_search::Task& task, const Ranks& ranks)
      : neighborhood_(neighborhood),
        task_(task),
        team_(ranks.team),
        mailbox_(ranks.mailbox),
        engine_(neighborhood_, task_, mailbox_, stream_),
        progress_(1),
        staged_(1) {
    mailbox_.clear();  // waits for the device: the instance is in place
  }

  void reset(const Start& start) override {
    start_ = start;
    finished_.clear();
    current_.reset();
    trace_.clear();
    reached_ = false;
    seconds_ = 0;
    engine_.poison();
    progress_.fill(0xA5, stream_);
    stream_.synchronize();
  }
  bool execute(const Budget& budget) override {
    const Stopwatch watch;
    reached_ = false;
    while (begin(watch) && !slice_is_last(budget, watch)) {
    }
    seconds_ += watch.seconds();
    return current_ || begun() < task_.restarts;
  }
  [[nodiscard]] bool reached_target() const override { return reached_; }
  [[nodiscard]] Times times() const override { return {{Part::kernel, {seconds_, TimeSource::host}}}; }
  [[nodiscard]] Outcome outcome() override {
    std::vector<Result> all = finished_;
    if (current_) all.push_back(*current_);
    const bool whole = !current_ && begun() == task_.restarts;
    return local_search::judge(neighborhood_, task_, all, whole || all.empty());
  }
  [[nodiscard]] Trace trace() const override { return trace_; }
  [[nodiscard]] Policy policy() const override {
    Policy policy = engine_.policy();
    policy[name_of(Exchange::polled_words)] = 1;
    return policy;
  }

 private:
  using State = local_search::SearchState<Neighborhood>;
  using Result = typename State::Result;
  static constexpr std::int64_t first_slice = 16;
  static constexpr double slice_seconds = 0.1;

  [[nodiscard]] std::int64_t begun() const { return static_cast<std::int64_t>(finished_.size()) + (current_ ? 1 : 0); }
  /// The next restart, where none is under way. Is there anything to do?
  bool begin(const Stopwatch& watch) {
    if (current_) return true;
    if (begun() == task_.restarts) return false;
    const State state(neighborhood_, task_, start_, begun());
    current_ = state.result();
    staged_[0] = *current_;
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(progress_.data(), staged_.data(), staged_.bytes(), cudaMemcpyHostToDevice, stream_.get()));
    engine_.begin(state);
    stream_.synchronize();  // staged_ is free again
    if (begun() == 1) note(watch);
    return true;
  }
  /// A slice by all ranks. Is the budget spent?
  bool slice_is_last(const Budget& budget, const Stopwatch& watch) {
    const bool first = begun() == 1;
    const auto at_limit = [&] {
      return first && budget.iterations && (current_->done(task_.limit()) || current_->iterations >= *budget.iterations);
    };
    if (!at_limit() && !go_on(first ? budget.iterations : std::nullopt)) {
      if (first) note(watch);
      return true;
    }
    reached_ = budget.target && Objective(current_->best_value).reaches(*budget.target);
    const bool spent = at_limit() || reached_ || (budget.stop != nullptr && *budget.stop);
    if (first) note(watch);
    if (current_->done(task_.limit())) {
      finished_.push_back(std::move(*current_));
      current_.reset();
    }
    return spent;
  }
  /// By as many iterations as all ranks agree on. False, and nothing is done, where one was interrupted.
  bool go_on(const std::optional<std::int64_t>& iterations) {
    std::optional<Team::Offer> mine;
    if (!*team_.stop()) mine = Team::Offer{slice_, 0, 0};
    const std::optional<Team::Offer> agreed = team_.least(mine);
    if (!agreed) return false;
    std::int64_t limit = std::min(task_.limit(), current_->iterations + agreed->front());
    if (iterations) limit = std::min(limit, *iterations);
    const Stopwatch watch;
    const std::int64_t before = current_->neighborhood_evaluations;
    engine_.launch(progress_.data(), limit, step_);
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(staged_.data(), progress_.data(), staged_.bytes(), cudaMemcpyDeviceToHost, stream_.get()));
    engine_.finish(*current_);
    mailbox_.check();
    static_cast<local_search::SearchProgress&>(*current_) = staged_[0];
    step_ += static_cast<unsigned>(current_->neighborhood_evaluations - before);
    adapt(agreed->front(), watch.seconds());
    return true;
  }
  void adapt(std::int64_t slice, double took) {
    if (took < slice_seconds / 4) slice = std::min(2 * slice, local_search::most_iterations);
    if (took > slice_seconds && slice > 1) slice /= 2;
    slice_ = slice;
  }
  void note(const Stopwatch& watch) {
    trace_.push_back(local_search::progress_of(*current_));
    trace_.back().seconds = seconds_ + watch.seconds();
  }

  const Neighborhood neighborhood_;
  const local_search::Task task_;
  Team& team_;
  MappedMailbox& mailbox_;
  cuda::Stream stream_;
  Engine engine_;
  cuda::DeviceBuffer<local_search::SearchProgress> progress_;
  cuda::HostBuffer<local_search::SearchProgress> staged_;
  Start start_ = 0;
  std::optional<Result> current_;  ///< the restart under way, as the device last said
  std::vector<Result> finished_;
  std::int64_t slice_ = first_slice;  ///< iterations
  unsigned step_ = 1;                 ///< of the mailbox: the next
  Trace trace_;
  bool reached_ = false;  ///< the target, in the last call
  double seconds_ = 0;    ///< of all calls since reset()
};

}  // namespace vicinity::lsm
