// Implementation `gpu-thread-control`: Algorithm 3 of the paper (section 4.1, Table 7) on top of `gpu`, its errors mended (docs/errata.md).
// In its first iterations a search tries shapes of the grid: numbers of threads from the power of two nearest to the solution's size on (a
// warp at least), doubled up to the number of moves, which is tried as well; for each, block sizes from 32 on, doubled up to the number of
// threads. Each shape gets 10 iterations, and the least of their times counts. A launch that fails, or would for lack of shared memory,
// ends the block sizes there, for all later numbers of threads too. The rest of the search, restarts included, has the best shape, in
// smaller blocks where the evaluation of an iteration needs them. A thread takes neighbours in turns where threads are fewer. The moves
// taken depend on none of this.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kernels/lsm/implementations.hpp"
#include "kernels/lsm/published/search.cuh"

namespace vicinity::lsm {
namespace {

class TriedGrid {
 public:
  TriedGrid(std::int64_t moves, std::size_t solution_size)
      : most_(moves), first_(std::min(most_, std::max(smallest_block, nearest_power_of_two(solution_size)))) {
    forget();
  }

  [[nodiscard]] GridShape next(const LaunchLimits& limits, const cuda::Stream& stream) {
    while (!tried_ && shape_.block > limits.block) reject(cudaErrorInvalidConfiguration);
    if (!tried_) {
      started_.record(stream);
      return {blocks(shape_, limits), shape_.block};
    }
    while (best_.block > limits.block) best_.block /= 2;
    return {blocks(best_, limits), best_.block};
  }
  [[nodiscard]] bool launched(cudaError_t status, const cuda::Stream& stream) {
    if (status != cudaSuccess) {
      reject(status);
      return false;
    }
    if (!tried_) ended_.record(stream);
    return true;
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
  [[nodiscard]] Policy record() const {
    return {
        {"block", best_.block}, {"blocks", blocks(best_, {})}, {"shapes_tried", shapes_}, {"launches_failed", failed_}, {"tuned", tried_}};
  }

 private:
  struct Shape {
    std::int64_t threads, block;
  };
  static constexpr std::int64_t smallest_block = 32, trials = 10;

  /// What a launch says that asks for more than the device has: larger blocks than it takes, or more registers.
  [[nodiscard]] static bool asks_too_much(cudaError_t status) {
    return status == cudaErrorInvalidValue || status == cudaErrorInvalidConfiguration || status == cudaErrorLaunchOutOfResources;
  }
  [[nodiscard]] static std::int64_t nearest_power_of_two(std::size_t x) {
    const std::size_t below = std::bit_floor(x);
    return static_cast<std::int64_t>(x - below < 2 * below - x ? below : 2 * below);
  }
  [[nodiscard]] static std::int64_t blocks(const Shape& shape, const LaunchLimits& limits) {
    return std::min(divide_up(shape.threads, shape.block), limits.grid / shape.block);
  }

  /// The shape under trial cannot be launched. Throws if that is an error.
  void reject(cudaError_t status) {
    if (tried_ || !asks_too_much(status) || shape_.block == smallest_block) VICINITY_CUDA_CHECK(status);
    failing_block_ = shape_.block;
    ++failed_;
    next_shape();
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

template <class Neighborhood, class Path>
using TriedGridSearch = PublishedSearch<Neighborhood, Path, TriedGrid>;

}  // namespace

std::unique_ptr<Run> prepare_thread_control(const Case& c, const Instance& instance) {
  return prepare_gpu<TriedGridSearch, GlobalPath>(c, instance);
}

}  // namespace vicinity::lsm
