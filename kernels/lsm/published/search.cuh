#pragma once
// Algorithm 2 of the paper, and its variants. The device evaluates, the host does everything else. An iteration: the solution goes to the
// device, a thread evaluates a neighbour, the values of all neighbours come back, the host takes the best that is not tabu.
//
// Data layout: one value a move on the device and in page-locked memory, one tabu time a move on the host; what an evaluation reads is
// the problem's (kernels/lsm/published/neighbors.cuh). Synchronisation: the host waits for the stream once an iteration. Cost: a host round
// trip, an evaluation, and copying and scanning 4 bytes a neighbour (8 in double precision, and where differences leave 32 bits).
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/lsm/published/run.cuh"

namespace vicinity::lsm {

/// Mapping: a thread a neighbour; neighbours in turns where there are fewer threads. Synchronisation: none, but for the barriers of
/// staging. values[0] is that of move slice.first, less the view's base. Blocks have up to 256 threads, or what a trial shows to be
/// possible.
template <NeighborView View, class Value>
__global__ void values_kernel(const __grid_constant__ View view, Slice slice, Value* values) {
  view.stage();
  const std::int64_t threads = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t f = slice.first + std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; f < slice.last; f += threads)
    values[f - slice.first] = view.value(f);
}

struct GridShape {
  std::int64_t blocks, threads;  ///< threads of a block
};

/// Chooses the shape of the grid in each iteration.
template <class G>
concept GridPolicy = requires(G grid, const G& constant, const LaunchLimits& limits, cudaError_t status, const cuda::Stream& stream) {
  requires std::constructible_from<G, std::int64_t, std::size_t>;  // number of moves, size of a solution
  { grid.next(limits, stream) } -> std::same_as<GridShape>;
  { grid.launched(status, stream) } -> std::same_as<bool>;  // false: it asks for another shape
  grid.finished();                                          // the stream has finished
  grid.forget();                                            // all that was learnt
  { constant.record() } -> std::same_as<Policy>;
};

/// The paper's grid: a thread a neighbour, in blocks of 256, or of as many as the evaluation allows.
class FixedGrid {
 public:
  FixedGrid(std::int64_t moves, std::size_t) : moves_(moves) {}

  [[nodiscard]] GridShape next(const LaunchLimits& limits, const cuda::Stream&) {
    const std::int64_t threads = std::min<std::int64_t>(block_size, limits.block);
    return shape_ = {std::min(divide_up(moves_, threads), limits.grid / threads), threads};
  }
  [[nodiscard]] static bool launched(cudaError_t status, const cuda::Stream&) {
    VICINITY_CUDA_CHECK(status);
    return true;
  }
  void finished() const noexcept {}
  void forget() const noexcept {}
  [[nodiscard]] Policy record() const { return {{"block", shape_.threads}, {"blocks", shape_.blocks}}; }

 private:
  std::int64_t moves_;
  GridShape shape_{};  ///< of the last launch
};

/// HostMethod (kernels/lsm/published/run.cuh).
template <class Neighborhood, MemoryPath Path, GridPolicy Grid>
class PublishedSearch {
 public:
  PublishedSearch(const Neighborhood& neighborhood, const cuda::Stream& stream)
      : stream_(stream),
        moves_(neighborhood.moves()),
        grid_(moves_, neighborhood.start(0).size()),
        neighbors_(neighborhood, stream),
        device_values_(static_cast<std::size_t>(moves_)),
        values_(static_cast<std::size_t>(moves_)),
        until_(static_cast<std::size_t>(moves_)) {}

  void begin(const SearchState<Neighborhood>& state) {
    std::fill(until_.begin(), until_.end(), 0);
    neighbors_.begin(state);
  }
  [[nodiscard]] local_search::Choice choose(const SearchState<Neighborhood>& state, PartTimer& timer) {
    neighbors_.generate(state);
    timer.mark(PartTimer::before_copies, stream_);
    const auto view = neighbors_.upload(state, stream_);
    timer.mark(PartTimer::before_kernels, stream_);
    evaluate(view);
    timer.mark(PartTimer::after_kernels, stream_);
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(values_.data(), device_values_.data(), values_.bytes(), cudaMemcpyDeviceToHost, stream_.get()));
    timer.mark(PartTimer::after_copies, stream_);
    stream_.synchronize();
    grid_.finished();
    return best(state, view.base());
  }
  void moved(const SearchState<Neighborhood>& state, const local_search::Choice& choice) {
    if (state.is_tabu_search())
      until_[static_cast<std::size_t>(choice.move)] =
          static_cast<std::int32_t>(local_search::tabu_until(state.iteration() - 1, state.tenure()));
    neighbors_.moved(state, choice);
  }
  void poison() {
    device_values_.fill(0xA5, stream_);
    grid_.forget();
  }
  [[nodiscard]] Policy policy() const {
    Policy policy = Path::record();
    policy.merge(grid_.record());
    if (shared_bytes_ > 0) policy["shared_bytes"] = static_cast<std::int64_t>(shared_bytes_);
    return policy;
  }

 private:
  using Evaluation = Neighbors<Neighborhood, Path>;
  using View = ViewOf<Evaluation>;
  using Value = ValueOf<Evaluation>;

  void evaluate(const View& view) {
    do {
      const auto [blocks, threads] = grid_.next(neighbors_.limits(), stream_);
      shared_bytes_ = neighbors_.shared_bytes(threads);
      shared_memory_.allow(values_kernel<View, Value>, shared_bytes_);
      values_kernel<<<static_cast<unsigned>(blocks), static_cast<unsigned>(threads), shared_bytes_, stream_.get()>>>(view, Slice{0, moves_},
                                                                                                                     device_values_.data());
    } while (!grid_.launched(cudaGetLastError(), stream_));
  }
  /// Is a value of the moves [first, last) below `bound`? Without branches, so that the compiler compares several at a time.
  [[nodiscard]] bool any_below(std::int64_t first, std::int64_t last, Value bound) const {
    Value any = 0;
    for (std::int64_t move = first; move < last; ++move) any |= static_cast<Value>(values_[static_cast<std::size_t>(move)] < bound);
    return any != 0;
  }
  [[nodiscard]] local_search::Choice best(const SearchState<Neighborhood>& state, std::int64_t base) const {
    constexpr std::int64_t part = 512;
    local_search::Choice best;
    for (std::int64_t first = 0; first < moves_; first += part) {
      const std::int64_t last = std::min(first + part, moves_);
      if (!best.forbidden && !any_below(first, last, static_cast<Value>(best.value - base))) continue;  // tabu or not
      for (std::int64_t move = first; move < last; ++move) {
        const std::int64_t value = base + values_[static_cast<std::size_t>(move)];
        if (!best.forbidden && value >= best.value) continue;
        const std::int64_t until = until_[static_cast<std::size_t>(move)];
        const local_search::Choice choice{value, move, local_search::forbids(until, state.iteration(), value, state.best_value())};
        if (better(choice, best)) best = choice;
      }
    }
    return best;
  }

  const cuda::Stream& stream_;
  std::int64_t moves_;
  Grid grid_;
  Evaluation neighbors_;
  cuda::DeviceBuffer<Value> device_values_;
  cuda::HostBuffer<Value> values_;   ///< [move]
  std::vector<std::int32_t> until_;  ///< [move]: tabu before this iteration
  SharedMemory shared_memory_;
  std::size_t shared_bytes_ = 0;  ///< of a block of the last launch
};

/// Method of the variants that differ from `gpu` in nothing but the memory path.
template <class Neighborhood, class Path>
using FixedGridSearch = PublishedSearch<Neighborhood, Path, FixedGrid>;

}  // namespace vicinity::lsm
