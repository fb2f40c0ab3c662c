// Implementation `gpu-thread-control`: Algorithm 3 of the paper (section 4.1, Table 7) on top of `gpu`, its errors mended (docs/errata.md).
// In its first iterations a search tries shapes of the grid: numbers of threads from the power of two nearest to the solution's size on (a
// warp at least), doubled up to the number of moves, which is tried as well; for each, block sizes from 32 on, doubled up to the number of
// threads. Each shape gets 10 iterations, and the least of their times counts. A launch that fails, or would, for want of shared memory,
// ends the row of block sizes there, for all numbers of threads to come. The rest of the search, restarts included, has the best shape, in
// smaller blocks where an iteration has no room for them. A thread takes neighbours in turns where threads are fewer; which move is taken
// depends on none of this.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kernels/lsm/implementations.hpp"
#include "kernels/lsm/published/published.cuh"

namespace vicinity::lsm {
namespace {

class TriedGrid {
 public:
  template <class Neighborhood>
  explicit TriedGrid(const Neighborhood& neighborhood)
      : most_(neighborhood.moves()), first_(std::min(most_, std::max(smallest_block, nearest_power_of_two(neighborhood.start(0).size())))) {
    forget();
  }

  template <class Launch>
  void launch(const Room& room, const Launch& launch, const cuda::Stream& stream) {
    while (!tried_) {
      cudaError_t status = cudaErrorInvalidConfiguration;
      if (shape_.block <= room.block) {
        started_.record(stream);
        launch(blocks(shape_, room), shape_.block);
        status = cudaGetLastError();
      }
      if (status == cudaSuccess) {
        ended_.record(stream);
        return;
      }
      if (!too_much(status) || shape_.block == smallest_block) VICINITY_CUDA_CHECK(status);
      failing_block_ = shape_.block;
      ++failed_;
      next_shape();
    }
    while (best_.block > room.block) best_.block /= 2;
    launch(blocks(best_, room), best_.block);
    VICINITY_CUDA_CHECK(cudaGetLastError());
  }
  void finished() {
    if (tried_) return;
    seconds_ = std::min(seconds_, ended_.seconds_since(started_));
    if (++trial_ < trials) return;
    if (seconds_ < best_seconds_) {
      best_ = shape_;
      best_seconds_ = seconds_;
    }
    ++shapes_;
    next_shape();
  }
  void forget() {
    shape_ = best_ = {first_, smallest_block};
    best_seconds_ = seconds_ = std::numeric_limits<double>::infinity();
    failing_block_ = std::numeric_limits<std::int64_t>::max();
    trial_ = shapes_ = failed_ = 0;
    tried_ = false;
  }
  void add_to(Policy& policy) const {
    policy["block"] = best_.block;
    policy["blocks"] = blocks(best_, {});
    policy["shapes_tried"] = shapes_;
    policy["launches_failed"] = failed_;
    policy["tuned"] = tried_;
  }

 private:
  struct Shape {
    std::int64_t threads, block;
  };
  static constexpr std::int64_t smallest_block = 32, trials = 10;

  /// What a launch says that asks for more than the device has: larger blocks than it takes, or more registers.
  [[nodiscard]] static bool too_much(cudaError_t status) {
    return status == cudaErrorInvalidValue || status == cudaErrorInvalidConfiguration || status == cudaErrorLaunchOutOfResources;
  }
  [[nodiscard]] static std::int64_t nearest_power_of_two(std::size_t x) {
    const std::size_t below = std::bit_floor(x);
    return static_cast<std::int64_t>(x - below < 2 * below - x ? below : 2 * below);
  }
  [[nodiscard]] static std::int64_t blocks(const Shape& shape, const Room& room) {
    return std::min(divide_up(shape.threads, shape.block), room.grid / shape.block);
  }

  void next_shape() {
    trial_ = 0;
    seconds_ = std::numeric_limits<double>::infinity();
    if (2 * shape_.block <= shape_.threads && 2 * shape_.block < failing_block_) {
      shape_.block *= 2;
      return;
    }
    tried_ = shape_.threads == most_;
    shape_ = {2 * shape_.threads <= most_ ? 2 * shape_.threads : most_, smallest_block};
  }

  std::int64_t most_, first_;      ///< threads
  Shape shape_, best_;             ///< tried now, and best so far
  double seconds_, best_seconds_;  ///< the least of each
  std::int64_t failing_block_;     ///< a block of so many threads cannot be launched
  std::int64_t trial_, shapes_, failed_;
  bool tried_;  ///< all shapes
  cuda::Event started_, ended_;
};

template <class Neighborhood, class Place>
using Tried = Published<Neighborhood, Place, TriedGrid>;

}  // namespace

std::unique_ptr<Run> prepare_thread_control(const Case& c, const Instance& instance) { return prepare_gpu<Tried, InGlobal>(c, instance); }

}  // namespace vicinity::lsm
