#pragma once
// Algorithm 2 of the paper, and its variants. The device evaluates, the host does everything else: each iteration the solution goes to the
// device, the fitnesses of all neighbours come back, and the host chooses among them.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/lsm/published/run.cuh"

namespace vicinity::lsm {

/// Mapping: a thread a neighbour; neighbours in turns where there are fewer threads. Synchronisation: none, but for the barriers of
/// staging. Cost: an evaluation (kernels/lsm/published/neighbors.cuh) and a write of 4 or 8 bytes, side by side, a neighbour. values[0] is
/// that of move slice.first. Blocks have up to 256 threads, or what a trial may show to be possible.
template <class View, class Value>
__global__ void values_kernel(const __grid_constant__ View view, Slice slice, Value* values) {
  view.stage();
  const std::int64_t threads = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t f = slice.first + std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; f < slice.last; f += threads)
    values[f - slice.first] = view.value(f);
}

/// The paper's grid: a thread a neighbour, in blocks of 256, or of as many as there is room for.
class FixedGrid {
 public:
  template <class Neighborhood>
  explicit FixedGrid(const Neighborhood& neighborhood) : moves_(neighborhood.moves()) {}

  template <class Launch>
  void launch(const Room& room, const Launch& launch, const cuda::Stream&) {
    block_ = std::min<std::int64_t>(block_size, room.block);
    blocks_ = std::min(divide_up(moves_, block_), room.grid / block_);
    launch(blocks_, block_);
    VICINITY_CUDA_CHECK(cudaGetLastError());
  }
  void finished() const noexcept {}
  void forget() const noexcept {}
  void add_to(Policy& policy) const {
    policy["block"] = block_;
    policy["blocks"] = blocks_;
  }

 private:
  std::int64_t moves_;
  std::int64_t block_ = 0, blocks_ = 0;  ///< of the last launch
};

/// Method of GpuRun (kernels/lsm/published/run.cuh). A Grid is made from (neighborhood) and has
///   launch(room, launch, stream)  calls launch(blocks, threads of a block), and looks after what became of it
///   finished()                    the stream is through
///   forget()                      begins anew
///   add_to(policy)
template <class Neighborhood, class Place, class Grid>
class Published {
 public:
  Published(const Neighborhood& neighborhood, const cuda::Stream& stream)
      : stream_(stream),
        moves_(neighborhood.moves()),
        grid_(neighborhood),
        neighbors_(neighborhood, stream),
        device_values_(static_cast<std::size_t>(moves_)),
        values_(static_cast<std::size_t>(moves_)),
        until_(static_cast<std::size_t>(moves_)) {}

  void begin(const SearchState<Neighborhood>& state) {
    std::fill(until_.begin(), until_.end(), 0);
    neighbors_.begin(state);
  }
  [[nodiscard]] local_search::Choice choose(const SearchState<Neighborhood>& state, PartTimer& parts) {
    neighbors_.generate(state);
    parts.mark(PartTimer::before_copies, stream_);
    const auto view = neighbors_.upload(state, stream_);
    parts.mark(PartTimer::before_kernels, stream_);
    evaluate(view);
    parts.mark(PartTimer::after_kernels, stream_);
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(values_.data(), device_values_.data(), values_.bytes(), cudaMemcpyDeviceToHost, stream_.get()));
    parts.mark(PartTimer::after_copies, stream_);
    stream_.synchronize();
    grid_.finished();
    return best(state);
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
    Policy policy = Place::policy();
    grid_.add_to(policy);
    if (shared_ > 0) policy["shared_bytes"] = static_cast<std::int64_t>(shared_);
    return policy;
  }

 private:
  using View = decltype(std::declval<Neighbors<Neighborhood, Place>&>().upload(std::declval<const SearchState<Neighborhood>&>(),
                                                                               std::declval<const cuda::Stream&>()));
  using Value = decltype(std::declval<const View&>().value(0));

  void evaluate(const View& view) {
    const auto launch = [&](std::int64_t blocks, std::int64_t block) {
      shared_ = neighbors_.shared(block);
      shared_memory_.allow(values_kernel<View, Value>, shared_);
      values_kernel<<<static_cast<unsigned>(blocks), static_cast<unsigned>(block), shared_, stream_.get()>>>(view, Slice{0, moves_},
                                                                                                             device_values_.data());
    };
    grid_.launch(neighbors_.room(), launch, stream_);
  }
  /// Is a value of the moves [first, last) below `bound`? Without branches, so that several are compared at a time.
  [[nodiscard]] bool any_below(std::int64_t first, std::int64_t last, Value bound) const {
    Value any = 0;
    for (std::int64_t move = first; move < last; ++move) any |= static_cast<Value>(values_[static_cast<std::size_t>(move)] < bound);
    return any != 0;
  }
  [[nodiscard]] local_search::Choice best(const SearchState<Neighborhood>& state) const {
    constexpr std::int64_t together = 512;
    local_search::Choice best;
    for (std::int64_t first = 0; first < moves_; first += together) {
      const std::int64_t last = std::min(first + together, moves_);
      if (!best.forbidden && !any_below(first, last, static_cast<Value>(best.value))) continue;  // tabu or not
      for (std::int64_t move = first; move < last; ++move) {
        const std::int64_t value = values_[static_cast<std::size_t>(move)];
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
  Neighbors<Neighborhood, Place> neighbors_;
  cuda::DeviceBuffer<Value> device_values_;
  cuda::HostBuffer<Value> values_;   ///< [move]
  std::vector<std::int32_t> until_;  ///< [move]: tabu before this iteration
  SharedMemory shared_memory_;
  std::size_t shared_ = 0;  ///< bytes a block of the last launch had
};

/// Method of the variants that differ from `gpu` in nothing but their place.
template <class Neighborhood, class Place>
using Placed = Published<Neighborhood, Place, FixedGrid>;

}  // namespace vicinity::lsm
