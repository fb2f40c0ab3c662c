// Implementation `gpu-reduction` (section 6.7, Table 9): the device evaluates and chooses, and only the choice comes back. Phases of an
// iteration: the host sends the solution, as `gpu` does; a kernel evaluates, and finds the best move of each block; a second one finds the
// best of the blocks, which the host reads. Data layout: tabu times a move on the device. Synchronisation: the host waits for the stream
// once an iteration. Cost: an evaluation and a read of 4 bytes a neighbour, two launches and a host round trip.
//
// And a rank of `mpi-gpu`, several processes with a GPU each: of every neighbourhood it evaluates a slice, with the tabu times of the moves
// in it. What the host reads goes into an all-reduce, and every rank takes the best move of all.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/methods/lsm/slice.hpp"
#include "kernels/cuda/collective/argmin.cuh"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/lsm/choice_key.cuh"
#include "kernels/lsm/implementations.hpp"
#include "kernels/lsm/published/run.cuh"
#include "kernels/lsm/ranks.hpp"

namespace vicinity::lsm {
namespace {

/// What the choice depends on beside the values.
struct TabuMemory {
  std::int32_t* until;      ///< [move]: tabu before this iteration; zero where it never was taken
  std::int64_t t;           ///< the iteration to come
  std::int64_t best_value;  ///< of the search so far
  std::int64_t taken;       ///< the move taken last, whose time is not yet in `until`; -1: none
  std::int32_t taken_until;
};

/// Mapping: each of the first `evaluators` threads of a block takes neighbours in turns, then the block reduces to its best. The thread of
/// the move that was taken last writes its tabu time: no other thread reads it. Synchronisation: a block reduction.
template <NeighborView View>
__global__ void __launch_bounds__(block_size)
    best_kernel(const __grid_constant__ View view, Slice slice, std::int32_t evaluators, TabuMemory memory, ChoiceKey* block_best) {
  __shared__ ChoiceKey slots[block_size / 32];
  view.stage();
  const std::int64_t threads = std::int64_t{gridDim.x} * evaluators, thread = threadIdx.x;
  ChoiceKey best;
  for (std::int64_t f = slice.first + std::int64_t{blockIdx.x} * evaluators + thread; thread < evaluators && f < slice.last; f += threads) {
    std::int32_t until = memory.until[f];
    if (f == memory.taken) memory.until[f] = until = memory.taken_until;
    const std::int64_t value = view.base() + view.value(f);
    cuda::lower(best, key_of({value, f, local_search::forbids(until, memory.t, value, memory.best_value)}));
  }
  const ChoiceKey of_block = cuda::block_argmin(best, slots);
  if (threadIdx.x == 0) block_best[blockIdx.x] = of_block;
}

/// Mapping: one block over the best of all blocks. Cost: launch and a block reduction.
__global__ void __launch_bounds__(block_size) best_of_blocks_kernel(const ChoiceKey* block_best, std::int32_t blocks, ChoiceKey* best) {
  __shared__ ChoiceKey slots[block_size / 32];
  ChoiceKey mine;
  for (std::int32_t b = static_cast<std::int32_t>(threadIdx.x); b < blocks; b += block_size) cuda::lower(mine, block_best[b]);
  const ChoiceKey of_all = cuda::block_argmin(mine, slots);
  if (threadIdx.x == 0) *best = of_all;
}

struct ReductionPolicy {
  std::int64_t blocks = 0, evaluators = 0;  ///< evaluators: threads of a block that evaluate
  std::size_t shared_bytes = 0;

  [[nodiscard]] Policy record() const { return {{"block", block_size}, {"blocks", blocks}, {"evaluators", evaluators}}; }
};

/// HostMethod (kernels/lsm/published/run.cuh).
template <class Neighborhood, class Path>
class Reduction {
 public:
  Reduction(const Neighborhood& neighborhood, const cuda::Stream& stream)
      : Reduction(neighborhood, stream, Slice{0, neighborhood.moves()}) {}
  Reduction(const Neighborhood& neighborhood, const cuda::Stream& stream, const Slice& slice)
      : stream_(stream),
        slice_(slice),
        resident_(resident_blocks(0)),
        neighbors_(neighborhood, stream),
        until_(static_cast<std::size_t>(neighborhood.moves())),
        block_best_(static_cast<std::size_t>(resident_)),
        device_best_(1),
        best_(1) {}

  void begin(const SearchState<Neighborhood>& state) {
    until_.fill(0, stream_);
    taken_ = -1;
    neighbors_.begin(state);
  }
  /// The best of the slice, no move where it has none.
  [[nodiscard]] local_search::Choice choose(const SearchState<Neighborhood>& state, PartTimer& timer) {
    if (slice_.first == slice_.last) return {};
    timer.mark(PartTimer::before_copies, stream_);
    const auto view = neighbors_.upload(state, stream_);
    timer.mark(PartTimer::before_kernels, stream_);
    const TabuMemory memory{until_.data(), state.iteration(), state.best_value(), taken_, taken_until_};
    choose_policy();
    best_kernel<<<static_cast<unsigned>(policy_.blocks), block_size, policy_.shared_bytes, stream_.get()>>>(
        view, slice_, static_cast<std::int32_t>(policy_.evaluators), memory, block_best_.data());
    VICINITY_CUDA_CHECK(cudaGetLastError());
    best_of_blocks_kernel<<<1, block_size, 0, stream_.get()>>>(block_best_.data(), static_cast<std::int32_t>(policy_.blocks),
                                                               device_best_.data());
    VICINITY_CUDA_CHECK(cudaGetLastError());
    timer.mark(PartTimer::after_kernels, stream_);
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(best_.data(), device_best_.data(), best_.bytes(), cudaMemcpyDeviceToHost, stream_.get()));
    timer.mark(PartTimer::after_copies, stream_);
    stream_.synchronize();
    return choice_of(best_[0]);
  }
  void moved(const SearchState<Neighborhood>& state, const local_search::Choice& choice) {
    if (state.is_tabu_search()) {
      taken_ = choice.move;
      taken_until_ = static_cast<std::int32_t>(local_search::tabu_until(state.iteration() - 1, state.tenure()));
    }
    neighbors_.moved(state, choice);
  }
  void poison() {
    until_.fill(0xA5, stream_);
    block_best_.fill(0xA5, stream_);
    device_best_.fill(0xA5, stream_);
  }
  [[nodiscard]] Policy policy() const { return policy_.record(); }

 private:
  using Evaluation = Neighbors<Neighborhood, Path>;
  using View = ViewOf<Evaluation>;

  /// Of the view to come: at most as many blocks as are resident at the same time, since each ends with a reduction.
  void choose_policy() {
    const LaunchLimits limits = neighbors_.limits();
    policy_.evaluators = std::min<std::int64_t>(block_size, limits.block);
    if (const std::size_t shared = neighbors_.shared_bytes(policy_.evaluators); shared != policy_.shared_bytes) {
      shared_memory_.allow(best_kernel<View>, shared);
      resident_ = resident_blocks(shared);
      policy_.shared_bytes = shared;
    }
    policy_.blocks = std::min({divide_up(slice_.last - slice_.first, policy_.evaluators), resident_, limits.grid / block_size});
  }
  [[nodiscard]] static std::int64_t resident_blocks(std::size_t shared) {
    int a_multiprocessor = 0;
    VICINITY_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&a_multiprocessor, best_kernel<View>, block_size, shared));
    return std::int64_t{cuda::multiprocessors()} * a_multiprocessor;
  }

  const cuda::Stream& stream_;
  Slice slice_;
  std::int64_t resident_;   ///< blocks, with the policy's shared memory each
  ReductionPolicy policy_;  ///< of the last launch
  SharedMemory shared_memory_;
  Evaluation neighbors_;
  cuda::DeviceBuffer<std::int32_t> until_;
  cuda::DeviceBuffer<ChoiceKey> block_best_;  ///< [block]
  cuda::DeviceBuffer<ChoiceKey> device_best_;
  cuda::HostBuffer<ChoiceKey> best_;
  std::int64_t taken_ = -1;
  std::int32_t taken_until_ = 0;
};

/// Moves of this rank, of all `moves`.
[[nodiscard]] Slice slice_of(const Team& team, std::int64_t moves) {
  const local_search::Slice slice = local_search::slice_of(team);
  return {slice.first_of(moves), slice.last_of(moves)};
}

/// Restarts one after the other, in step with the other ranks. What ends a call of execute() follows from the choices of all, so that all
/// ranks end it after the same iteration: it takes no limit in seconds, and a flag to stop that rises on all of them in one all-reduce.
template <class Neighborhood, class Path>
class RankSearch final : public Run {
 public:
  RankSearch(const Neighborhood& neighborhood, const local_search::Task& task, Team& team)
      : neighborhood_(neighborhood), task_(task), team_(team), method_(neighborhood_, stream_, slice_of(team, neighborhood.moves())) {
    VICINITY_CUDA_CHECK(cudaDeviceSynchronize());  // the instance is in place
  }

  void reset(const Start& start) override {
    start_ = start;
    finished_.clear();
    state_.reset();
    trace_.clear();
    interrupted_ = reached_ = false;
    seconds_ = 0;
    timer_.restart();
    method_.poison();
    stream_.synchronize();
  }
  bool execute(const Budget& budget) override {
    const Stopwatch watch;
    reached_ = false;
    while (!interrupted_ && begin(watch) && !iteration_is_last(budget, watch)) {
    }
    seconds_ += watch.seconds();
    return interrupted_ || state_ || begun() < task_.restarts;
  }
  [[nodiscard]] bool reached_target() const override { return reached_; }
  [[nodiscard]] Times times() const override { return {{Part::kernel, {seconds_, TimeSource::host}}}; }
  [[nodiscard]] Outcome outcome() override {
    std::vector<Result> all = finished_;
    if (state_) all.push_back(state_->result());
    const bool whole = !state_ && begun() == task_.restarts;
    return local_search::judge(neighborhood_, task_, all, whole || all.empty());
  }
  [[nodiscard]] Trace trace() const override { return trace_; }
  [[nodiscard]] Policy policy() const override { return method_.policy(); }

 private:
  using State = SearchState<Neighborhood>;
  using Result = typename State::Result;

  [[nodiscard]] std::int64_t begun() const { return static_cast<std::int64_t>(finished_.size()) + (state_ ? 1 : 0); }
  /// The next restart, where none is under way. Is there anything to do?
  bool begin(const Stopwatch& watch) {
    if (state_) return true;
    if (begun() == task_.restarts) return false;
    state_.emplace(neighborhood_, task_, start_, begun());
    method_.begin(*state_);
    if (begun() == 1) note(watch);
    return true;
  }
  /// An iteration by all ranks. Is the budget spent?
  bool iteration_is_last(const Budget& budget, const Stopwatch& watch) {
    const bool first = begun() == 1;
    const auto at_limit = [&] { return first && budget.iterations && (state_->done() || state_->iteration() >= *budget.iterations); };
    const std::int64_t before = state_->best_value();
    if (!at_limit() && !take()) {
      interrupted_ = true;
      if (first) note(watch);
      return true;
    }
    const bool done = state_->done();
    reached_ = budget.target && Objective(state_->best_value()).reaches(*budget.target);
    const bool spent = at_limit() || reached_ || (budget.stop != nullptr && *budget.stop);
    if (first && (spent || done || (budget.improvements && state_->best_value() < before))) note(watch);
    if (done) {
      finished_.push_back(state_->result());
      state_.reset();
    }
    return spent;
  }
  /// The best move of all slices. False where a rank was interrupted.
  bool take() {
    timer_.open();
    std::optional<local_search::Choice> mine;
    if (!*team_.stop()) mine = method_.choose(*state_, timer_);
    if (mine && mine->move >= 0) timer_.close();
    const std::optional<local_search::Choice> best = local_search::best_of_all(team_, mine);
    if (!best) return false;
    if (state_->take(*best)) method_.moved(*state_, *best);
    return true;
  }
  void note(const Stopwatch& watch) {
    trace_.push_back(local_search::progress_of(state_->result()));
    trace_.back().seconds = seconds_ + watch.seconds();
  }

  const Neighborhood neighborhood_;
  const local_search::Task task_;
  Team& team_;
  cuda::Stream stream_;
  Reduction<Neighborhood, Path> method_;
  PartTimer timer_;
  Start start_ = 0;
  std::optional<State> state_;  ///< of the restart under way
  std::vector<Result> finished_;
  Trace trace_;
  bool interrupted_ = false;  ///< since reset()
  bool reached_ = false;      ///< the target, in the last call
  double seconds_ = 0;        ///< of all calls since reset()
};

}  // namespace

std::unique_ptr<Run> prepare_reduction(const Case& c, const Instance& instance) { return prepare_gpu<Reduction, GlobalPath>(c, instance); }

std::unique_ptr<Run> prepare_reduction_of_rank(const Case& c, const Instance& instance, Team& team) {
  return with_neighborhood(c, instance, [&, task = task_of(c)]<class N>(const N& neighborhood) -> std::unique_ptr<Run> {
    if constexpr (requires { neighborhood.differences_fit(); })
      if (!neighborhood.differences_fit()) return std::make_unique<RankSearch<N, Wide<GlobalPath>>>(neighborhood, task, team);
    return std::make_unique<RankSearch<N, GlobalPath>>(neighborhood, task, team);
  });
}

}  // namespace vicinity::lsm
