#pragma once
// Tours and tabu times in device memory, of searches that lie one after the other in all arrays but the coordinates.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/methods/lsm/state.hpp"
#include "core/problems/moves.hpp"
#include "core/problems/tsp/swap.hpp"
#include "kernels/cuda/runtime/memory.cuh"
#include "kernels/lsm/tuned/tsp/tsp_places.cuh"

namespace vicinity::lsm {

template <bool Integral>
struct TspTours {
  tsp::View tsp;
  double low_x, low_y;  ///< whole coordinates are counted from here
  std::int32_t* tour;   ///< [place]: city
  std::int32_t* best;   ///< [place]: city
  std::int32_t* until;  ///< [move]: tabu before this iteration; null in a hill climbing
  std::int64_t moves, tenure;

  [[nodiscard]] __device__ __forceinline__ Point<Integral> point(std::int32_t city) const {
    if constexpr (Integral)
      return {static_cast<std::int32_t>(tsp.x[city] - low_x), static_cast<std::int32_t>(tsp.y[city] - low_y)};
    else
      return {tsp.x[city], tsp.y[city]};
  }
  [[nodiscard]] __device__ __forceinline__ Place<Integral> place(std::size_t search, std::int32_t p) const {
    const std::int32_t* cities = tour + search * static_cast<std::size_t>(tsp.n);
    const Point<Integral> before = point(cities[wrapped(p - 1, tsp.n)]), own = point(cities[p]),
                          after = point(cities[wrapped(p + 1, tsp.n)]);
    return Place<Integral>::of(own, distance(own.x - before.x, own.y - before.y) + distance(own.x - after.x, own.y - after.y));
  }
  [[nodiscard]] __device__ __forceinline__ std::int32_t* until_of(std::size_t search, std::int64_t move) const {
    return until + search * static_cast<std::size_t>(moves) + move;
  }
  [[nodiscard]] __device__ __forceinline__ std::int32_t* until_of(std::size_t search, std::int32_t a, std::int32_t b) const {
    return until_of(search, moves::index<2>(tsp.n, {{min(a, b), max(a, b)}}));
  }
};

/// Owns what TspTours points to.
template <bool Integral>
class TspMemory {
 public:
  using Neighborhood = local_search::TspSwap;
  using State = local_search::SearchState<Neighborhood>;

  TspMemory(const Neighborhood& neighborhood, const local_search::Task& task, std::int64_t together, const cuda::Stream& stream)
      : stream_(stream) {
    const tsp::View host = neighborhood.instance().view();
    const bool remembers = task.method == local_search::Method::tabu;
    size_ = static_cast<std::size_t>(host.n);
    x_ = cuda::DeviceBuffer<double>(std::span<const double>(host.x, size_));
    y_ = cuda::DeviceBuffer<double>(std::span<const double>(host.y, size_));
    const auto searches = static_cast<std::size_t>(together);
    tours_ = cuda::DeviceBuffer<std::int32_t>(searches * size_);
    best_ = cuda::DeviceBuffer<std::int32_t>(searches * size_);
    staged_ = std::make_unique<cuda::HostBuffer<std::int32_t>>(searches * size_);
    until_ = cuda::DeviceBuffer<std::int32_t>(remembers ? searches * static_cast<std::size_t>(neighborhood.moves()) : 0);
    view_ = {{x_.data(), y_.data(), host.n},
             *std::min_element(host.x, host.x + host.n),
             *std::min_element(host.y, host.y + host.n),
             tours_.data(),
             best_.data(),
             until_.data(),
             neighborhood.moves(),
             local_search::tenure_of(task, neighborhood.moves())};
  }

  [[nodiscard]] const TspTours<Integral>& view() const noexcept { return view_; }

  void begin(const std::vector<State>& states) {
    for (std::size_t k = 0; k < states.size(); ++k)
      std::copy(states[k].solution().begin(), states[k].solution().end(), staged_->data() + k * size_);
    for (auto* tours : {&tours_, &best_}) copy(tours->data(), staged_->data(), states.size(), cudaMemcpyHostToDevice);
    until_.fill(0, stream_);
  }
  /// Waits for the stream.
  void finish(std::vector<State::Result>& searches) {
    fetch(tours_, searches, &State::Result::current);
    fetch(best_, searches, &State::Result::best);
  }
  void poison() {
    for (auto* buffer : {&until_, &tours_, &best_}) buffer->fill(0xA5, stream_);
  }

 private:
  void copy(std::int32_t* to, const std::int32_t* from, std::size_t searches, cudaMemcpyKind kind) const {
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(to, from, searches * size_ * sizeof(std::int32_t), kind, stream_.get()));
  }
  void fetch(const cuda::DeviceBuffer<std::int32_t>& from, std::vector<State::Result>& searches, tsp::Tour State::Result::*member) {
    copy(staged_->data(), from.data(), searches.size(), cudaMemcpyDeviceToHost);
    stream_.synchronize();
    for (std::size_t k = 0; k < searches.size(); ++k)
      std::copy(staged_->data() + k * size_, staged_->data() + (k + 1) * size_, (searches[k].*member).begin());
  }

  const cuda::Stream& stream_;
  std::size_t size_ = 0;
  cuda::DeviceBuffer<double> x_, y_;
  cuda::DeviceBuffer<std::int32_t> tours_, best_, until_;
  std::unique_ptr<cuda::HostBuffer<std::int32_t>> staged_;  ///< [search][place]
  TspTours<Integral> view_{};
};

}  // namespace vicinity::lsm
