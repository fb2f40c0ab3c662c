#pragma once
// Where a search of the travelling salesman problem lives (kernels/lsm/place.cuh).
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/moves.hpp"
#include "core/neighborhoods/tsp.hpp"
#include "kernels/lsm/neighbors.cuh"
#include "kernels/lsm/place.cuh"

namespace vicinity::lsm {

/// O(1) a neighbour: at most eight distances, from a matrix while it fits 1 GiB, else from the coordinates.
struct TspPlace : SolutionPlace<std::int32_t> {
  tsp::View tsp;
  const std::int32_t* matrix;

  __device__ __forceinline__ std::int64_t value(std::int64_t f, std::int64_t, std::int64_t current) const {
    return Neighbors<local_search::TspSwap>::View{tsp, matrix, solution, current}.value(f);
  }
  __device__ __forceinline__ void apply(std::int64_t, std::int64_t f) {
    if (threadIdx.x == 0) moves::exchange(solution, moves::at<2>(tsp.n, f));
  }
};

class TspResidence : public ThinResidence {
 public:
  using Neighborhood = local_search::TspSwap;
  using Place = TspPlace;

  TspResidence(const Neighborhood& neighborhood, std::int32_t places, const cuda::Stream& stream)
      : TspResidence(neighborhood.instance().view(), elements(neighborhood), places, stream) {}

  [[nodiscard]] static std::size_t elements(const Neighborhood& neighborhood) {
    return static_cast<std::size_t>(neighborhood.instance().size());
  }
  [[nodiscard]] static std::size_t bytes_a_place(const Neighborhood& neighborhood) { return sizeof(std::int32_t) * elements(neighborhood); }
  [[nodiscard]] Place place() const { return {{tours_.data()}, tsp(), matrix_.data()}; }

 private:
  static constexpr std::size_t largest_matrix = 16384;

  TspResidence(const tsp::View& host, std::size_t n, std::int32_t places, const cuda::Stream& stream)
      : x_(std::span<const double>(host.x, n)),
        y_(std::span<const double>(host.y, n)),
        matrix_(n > largest_matrix ? 0 : n * n),
        tours_(n * static_cast<std::size_t>(places)) {
    if (matrix_.size() == 0) return;
    VICINITY_CUDA_CHECK(cudaDeviceSynchronize());  // the coordinates are there
    distances_kernel<><<<static_cast<unsigned>((n * n + 255) / 256), 256, 0, stream.get()>>>(tsp(), matrix_.data());
    VICINITY_CUDA_CHECK(cudaGetLastError());
  }
  [[nodiscard]] tsp::View tsp() const { return {x_.data(), y_.data(), static_cast<std::int32_t>(x_.size())}; }

  cuda::DeviceBuffer<double> x_, y_;
  cuda::DeviceBuffer<std::int32_t> matrix_;  ///< [a][b]
  cuda::DeviceBuffer<std::int32_t> tours_;   ///< [place][n]
};

template <class Visit>
[[nodiscard]] auto with_residence(const local_search::TspSwap&, std::size_t, const Visit& visit) {
  return visit.template operator()<TspResidence>();
}

}  // namespace vicinity::lsm
