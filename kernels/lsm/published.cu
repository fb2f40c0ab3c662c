// Implementation `gpu`: Algorithm 2 of the paper. The device evaluates, the host does everything else: each iteration the solution goes to
// the device, the fitnesses of all neighbours come back, and the host chooses among them.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/lsm/implementations.hpp"
#include "kernels/lsm/run.cuh"

namespace vicinity::lsm {
namespace {

/// Mapping: a thread a neighbour; neighbours in turns where there are fewer threads. Synchronisation: none. Cost: an evaluation
/// (kernels/lsm/neighbors.cuh) and a write of 8 bytes, side by side, a neighbour. values[0] is that of move slice.first.
template <class View>
__global__ void __launch_bounds__(block_size) values_kernel(View view, Slice slice, std::int64_t* values) {
  const std::int64_t threads = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t f = slice.first + std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; f < slice.last; f += threads)
    values[f - slice.first] = view.value(f);
}

/// Method of GpuRun (kernels/lsm/run.cuh).
template <class Neighborhood>
class Published {
 public:
  Published(const Neighborhood& neighborhood, const cuda::Stream& stream)
      : stream_(stream),
        moves_(neighborhood.moves()),
        blocks_(blocks_for(neighborhood, std::numeric_limits<std::int32_t>::max())),
        neighbors_(neighborhood, blocks_ * block_size, stream),
        device_values_(static_cast<std::size_t>(moves_)),
        values_(static_cast<std::size_t>(moves_)),
        until_(static_cast<std::size_t>(moves_)) {}

  void begin(const Walk<Neighborhood>& walk) {
    std::fill(until_.begin(), until_.end(), 0);
    neighbors_.begin(walk);
  }
  [[nodiscard]] local_search::Choice choose(const Walk<Neighborhood>& walk) {
    const auto view = neighbors_.upload(walk, stream_);
    values_kernel<<<static_cast<unsigned>(blocks_), block_size, 0, stream_.get()>>>(view, Slice{0, moves_}, device_values_.data());
    VICINITY_CUDA_CHECK(cudaGetLastError());
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(values_.data(), device_values_.data(), values_.bytes(), cudaMemcpyDeviceToHost, stream_.get()));
    stream_.synchronize();
    return best(walk);
  }
  void moved(const Walk<Neighborhood>& walk, const local_search::Choice& choice) {
    if (walk.remembers())
      until_[static_cast<std::size_t>(choice.move)] =
          static_cast<std::int32_t>(local_search::tabu_until(walk.iteration() - 1, walk.tenure()));
    neighbors_.moved(walk, choice);
  }
  void poison() { device_values_.fill(0xA5, stream_); }
  [[nodiscard]] Policy policy() const { return {{"block", block_size}, {"blocks", blocks_}}; }

 private:
  [[nodiscard]] local_search::Choice best(const Walk<Neighborhood>& walk) const {
    local_search::Choice best;
    for (std::int64_t move = 0; move < moves_; ++move) {
      const std::int64_t value = values_[static_cast<std::size_t>(move)], until = until_[static_cast<std::size_t>(move)];
      const local_search::Choice choice{value, move, local_search::forbids(until, walk.iteration(), value, walk.best_value())};
      if (better(choice, best)) best = choice;
    }
    return best;
  }

  const cuda::Stream& stream_;
  std::int64_t moves_, blocks_;
  Neighbors<Neighborhood> neighbors_;
  cuda::DeviceBuffer<std::int64_t> device_values_;
  cuda::HostBuffer<std::int64_t> values_;  ///< [move]
  std::vector<std::int32_t> until_;        ///< [move]: tabu before this iteration
};

}  // namespace

std::unique_ptr<Run> prepare_published(const Case& c, const Instance& instance) { return prepare_gpu<Published>(c, instance); }

}  // namespace vicinity::lsm
