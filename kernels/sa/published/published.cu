// Implementation `gpu`: memory, launch policy and launches of the published algorithm.
#include "kernels/sa/published/published.cuh"

#include <algorithm>
#include <cstdint>
#include <memory>

#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/sa/implementations.hpp"
#include "kernels/sa/run.cuh"

namespace vicinity::sa {
namespace {

/// Method of GpuRun (kernels/sa/run.cuh): one chain after another.
template <class T>
class Published {
 public:
  using Types = T;
  using Entry = typename T::Entry;
  using Delta = typename T::Delta;

  Published(const qap::Qap& qap, const DeviceQap<Entry>& matrices, const annealing::Task&)
      : matrices_(matrices), deltas_(static_cast<std::size_t>(annealing::pairs(qap.size()))), first_(3) {
    view_.placed = matrices;
    for (int side = 0; side < T::sides; ++side) {
      b_[side] = cuda::DeviceBuffer<Entry>(static_cast<std::size_t>(matrices.n) * static_cast<std::size_t>(matrices.pitch));
      view_.b[side] = b_[side].data();
      view_.placed.b[side] = b_[side].data();
    }
    view_.deltas = deltas_.data();
    view_.first = first_.data();
    choose_grid();
  }

  void launch(const Chains& chains, std::int64_t first, std::int64_t count, std::int64_t limit, const cuda::Stream& stream) {
    for (std::int64_t chain = first; chain < first + count; ++chain) launch(chains, chain, limit, stream);
  }

  [[nodiscard]] static std::int64_t batch_size() { return 1; }
  [[nodiscard]] Policy policy() const {
    return {{"block", 32 * warps_},
            {"blocks", blocks_},
            {"elements", PublishedPolicy::elements},
            {"shared_bytes", static_cast<std::int64_t>(shared_)},
            {"rows_in_shared", view_.staged}};
  }

 private:
  /// At most a block a multiprocessor, at least sixteen elements a thread (a tile a warp), and within that as many threads as there are
  /// tiles. Rows r and s go to shared memory if they fit a block's.
  void choose_grid() {
    multiprocessors_ = cuda::multiprocessors();
    const std::int32_t columns = divide_up(matrices_.n, 32), tiles = columns * (columns + 1);
    warps_ = std::clamp(divide_up(tiles, multiprocessors_), PublishedPolicy::least_warps, PublishedPolicy::most_warps);
    blocks_ = std::min(multiprocessors_, divide_up(tiles, warps_));

    cudaFuncAttributes kernel{};
    VICINITY_CUDA_CHECK(cudaFuncGetAttributes(&kernel, anneal_published<T>));
    const std::size_t rows = std::size_t{4 * T::sides} * static_cast<std::size_t>(matrices_.pitch) * sizeof(Entry);
    view_.staged = kernel.sharedSizeBytes + rows <= cuda::most_shared();
    shared_ = view_.staged ? rows : 0;
    cuda::allow_shared(anneal_published<T>, shared_);
  }

  void launch(const Chains& chains, std::int64_t chain, std::int64_t limit, const cuda::Stream& stream) {
    const unsigned blocks = static_cast<unsigned>(multiprocessors_ * PublishedPolicy::build_blocks);
    first_.fill(0xFF, stream);  // Key::none
    place_kernel<T><<<blocks, PublishedPolicy::build_block, 0, stream.get()>>>(matrices_, view_, chains.current + chain * matrices_.n);
    deltas_kernel<T><<<blocks, PublishedPolicy::build_block, 0, stream.get()>>>(view_);
    const cuda::Shape shape{.blocks = blocks_, .threads = 32 * warps_, .shared_bytes = shared_, .cooperative = true};
    VICINITY_CUDA_CHECK(cuda::launch(shape, stream, anneal_published<T>, view_, chains, chain, limit));
  }

  DeviceQap<Entry> matrices_;
  cuda::DeviceBuffer<Entry> b_[2];
  cuda::DeviceBuffer<Delta> deltas_;
  cuda::DeviceBuffer<unsigned long long> first_;
  PublishedView<T> view_{};
  int multiprocessors_ = 0, warps_ = 0, blocks_ = 0;
  std::size_t shared_ = 0;
};

}  // namespace

std::unique_ptr<Run> prepare_published(const Case& c, const Instance& instance) { return prepare_gpu<Published>(c, instance); }

}  // namespace vicinity::sa
