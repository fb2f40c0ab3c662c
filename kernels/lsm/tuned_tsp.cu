// gpu-tuned for the travelling salesman problem: row minima of the move matrix, on one block or a cluster a search.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "core/math.hpp"
#include "kernels/cuda/launch.cuh"
#include "kernels/lsm/device_run.cuh"
#include "kernels/lsm/tsp_search.cuh"
#include "kernels/lsm/tuned.hpp"

namespace vicinity::lsm {
namespace {

/// Blocks of a search, the most first: at least 64 places each, and no more in all than the device has multiprocessors. Measured on an H100
/// (kernels/lsm/README.md). VICINITY_BLOCKS leaves only that number, for tests.
std::vector<std::int32_t> block_counts(std::int32_t n, std::int64_t restarts, int multiprocessors) {
  const bool clusters = cuda::device_attribute(cudaDevAttrClusterLaunch) != 0;
  std::vector<std::int32_t> counts{1};
  for (std::int32_t blocks = 2; clusters && blocks <= tsp_most_blocks; blocks *= 2)
    if (n > 64 * blocks && blocks * restarts <= multiprocessors) counts.insert(counts.begin(), blocks);
  if (const char* only = std::getenv("VICINITY_BLOCKS"); only != nullptr && *only != '\0') return {std::atoi(only)};
  return counts;
}

/// Engine of DeviceRun.
template <bool Integral>
class TspEngine {
 public:
  using Neighborhood = local_search::TspSwap;
  using Walk = local_search::Walk<Neighborhood>;

  TspEngine(const Neighborhood& neighborhood, const local_search::Task& task, const cuda::Stream& stream)
      : TspEngine(neighborhood, task, stream, neighborhood.instance().view()) {}

  [[nodiscard]] std::int64_t together() const { return together_; }

  void begin(const std::vector<Walk>& walks) {
    count_ = static_cast<unsigned>(walks.size());
    for (std::size_t k = 0; k < walks.size(); ++k)
      std::copy(walks[k].solution().begin(), walks[k].solution().end(), staged_->data() + k * size());
    for (auto* tours : {&tours_, &best_}) copy(tours->data(), staged_->data(), cudaMemcpyHostToDevice);
    until_.fill(0, stream_);
    filters_.fill(0, stream_);
  }
  void launch(local_search::Ledger* ledgers, std::int64_t limit) {
    const std::int32_t copies = resident_ ? 1 : blocks_;
    const auto n = view_.tsp.n;
    const auto grid = [&](std::int32_t items) { return dim3(static_cast<unsigned>(divide_up(n, items)), count_); };
    places_kernel<Integral><<<grid(prepare_threads), prepare_threads, 0, stream_.get()>>>(view_, copies);
    VICINITY_CUDA_CHECK(cudaGetLastError());
    rows_kernel<Integral><<<grid(prepare_threads / 32), prepare_threads, 0, stream_.get()>>>(view_, ledgers, copies);
    VICINITY_CUDA_CHECK(cudaGetLastError());
    VICINITY_CUDA_CHECK(cuda::launch(shape(count_), stream_, kernel(), view_, ledgers, method_, limit));
  }
  void finish(std::vector<Walk::Search>& searches) {
    fetch(tours_, searches, &Walk::Search::current);
    fetch(best_, searches, &Walk::Search::best);
  }
  void poison() {
    until_.fill(0xA5, stream_);
    filters_.fill(0xA5, stream_);
    rows_.fill(0xA5, stream_);
    places_.fill(0xA5, stream_);
    tours_.fill(0xA5, stream_);
    best_.fill(0xA5, stream_);
  }
  [[nodiscard]] Policy policy() const {
    return {{"blocks", blocks_},
            {"threads", tsp_threads<Integral>},
            {"coordinate_bits", Integral ? 16 : 64},
            {"places_in_shared", resident_ ? 1 : 0},
            {"shared_bytes", static_cast<std::int64_t>(shared_)},
            {"together", together_}};
  }

 private:
  /// Tabu times of searches that run together may take this much.
  static constexpr std::int64_t room_for_times = std::int64_t{1} << 30;

  TspEngine(const Neighborhood& neighborhood, const local_search::Task& task, const cuda::Stream& stream, const tsp::View& host)
      : stream_(stream),
        method_(task.method),
        x_(std::span<const double>(host.x, static_cast<std::size_t>(host.n))),
        y_(std::span<const double>(host.y, x_.size())) {
    const std::int32_t n = host.n;
    choose(n, task.restarts);
    const bool remembers = method_ == local_search::Method::tabu;
    const auto times = static_cast<std::int64_t>(sizeof(std::int32_t)) * neighborhood.moves();
    if (remembers) together_ = std::min(together_, std::max<std::int64_t>(1, room_for_times / times));
    together_ = std::min(together_, task.restarts);
    const auto searches = static_cast<std::size_t>(together_), blocks = searches * static_cast<std::size_t>(blocks_);
    tours_ = cuda::DeviceBuffer<std::int32_t>(searches * size());
    best_ = cuda::DeviceBuffer<std::int32_t>(searches * size());
    staged_ = std::make_unique<cuda::HostBuffer<std::int32_t>>(searches * size());
    rows_ = cuda::DeviceBuffer<Row>(searches * size());
    places_ = cuda::DeviceBuffer<Place<Integral>>((resident_ ? searches : blocks) * size());
    until_ = cuda::DeviceBuffer<std::int32_t>(remembers ? searches * static_cast<std::size_t>(neighborhood.moves()) : 0);
    filters_ = cuda::DeviceBuffer<std::uint32_t>(blocks * filter_words);
    view_ = {{x_.data(), y_.data(), n},
             *std::min_element(host.x, host.x + n),
             *std::min_element(host.y, host.y + n),
             tours_.data(),
             best_.data(),
             places_.data(),
             rows_.data(),
             until_.data(),
             filters_.data(),
             neighborhood.moves(),
             local_search::tenure_of(task, neighborhood.moves()),
             blocks_,
             divide_up(n, blocks_)};
  }

  /// Blocks, shared memory, and how many searches the device takes at a time.
  void choose(std::int32_t n, std::int64_t restarts) {
    const std::size_t most = cuda::most_shared();
    const int multiprocessors = cuda::multiprocessors();
    for (const std::int32_t blocks : block_counts(n, restarts, multiprocessors)) {
      blocks_ = blocks;
      const auto bytes = [&](bool resident) { return tsp_shared_bytes<Integral>(n, divide_up(n, blocks), resident); };
      resident_ = bytes(true) <= most;
      shared_ = bytes(resident_);
      if (shared_ > most) continue;
      cuda::allow_shared(kernel(), shared_);
      together_ = blocks == 1 ? multiprocessors : cuda::clusters_at_a_time(shape(1), kernel());
      if (together_ > 0) return;
    }
    throw DoesNotFit(std::to_string(n) + " cities need " + std::to_string(shared_) + " bytes of shared memory a block, this GPU has " +
                     std::to_string(most));
  }
  [[nodiscard]] auto kernel() const { return resident_ ? &tsp_kernel<Integral, true> : &tsp_kernel<Integral, false>; }
  [[nodiscard]] cuda::Shape shape(std::int64_t searches) const {
    return {.blocks = searches * blocks_, .threads = tsp_threads<Integral>, .shared_bytes = shared_, .cluster = blocks_};
  }

  [[nodiscard]] std::size_t size() const { return x_.size(); }
  void copy(std::int32_t* to, const std::int32_t* from, cudaMemcpyKind kind) const {
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(to, from, count_ * size() * sizeof(std::int32_t), kind, stream_.get()));
  }
  /// Waits for the stream.
  void fetch(const cuda::DeviceBuffer<std::int32_t>& from, std::vector<Walk::Search>& searches, tsp::Tour Walk::Search::*member) {
    copy(staged_->data(), from.data(), cudaMemcpyDeviceToHost);
    stream_.synchronize();
    for (std::size_t k = 0; k < searches.size(); ++k)
      std::copy(staged_->data() + k * size(), staged_->data() + (k + 1) * size(), (searches[k].*member).begin());
  }

  const cuda::Stream& stream_;
  const local_search::Method method_;
  cuda::DeviceBuffer<double> x_, y_;
  std::int32_t blocks_ = 1;
  bool resident_ = false;
  std::size_t shared_ = 0;
  std::int64_t together_ = 0;
  unsigned count_ = 0;  ///< searches under way
  cuda::DeviceBuffer<std::int32_t> tours_, best_, until_;
  cuda::DeviceBuffer<std::uint32_t> filters_;
  cuda::DeviceBuffer<Row> rows_;
  cuda::DeviceBuffer<Place<Integral>> places_;
  std::unique_ptr<cuda::HostBuffer<std::int32_t>> staged_;  ///< [search][place]
  TspView<Integral> view_{};
};

}  // namespace

std::unique_ptr<Run> tuned_run(const local_search::TspSwap& neighborhood, const local_search::Task& task) {
  if (neighborhood.instance().integral()) return std::make_unique<DeviceRun<TspEngine<true>>>(neighborhood, task);
  return std::make_unique<DeviceRun<TspEngine<false>>>(neighborhood, task);
}

}  // namespace vicinity::lsm
