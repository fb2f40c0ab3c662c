#pragma once
// Where a search of the travelling salesman problem lives (kernels/lsm/tuned/place.cuh).
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/problems/moves.hpp"
#include "core/problems/tsp/swap.hpp"
#include "core/util/math.hpp"
#include "kernels/lsm/tsp_distances.cuh"
#include "kernels/lsm/tuned/place.cuh"

namespace vicinity::lsm {

/// O(1) a neighbour: at most eight distances, from a matrix while it fits 1 GiB, else from the coordinates.
struct TspPlace : SolutionPlace<std::int32_t> {
  const double2* at;
  const std::int32_t* matrix;
  std::int32_t n;

  __device__ __forceinline__ std::int64_t value(std::int64_t f, std::int64_t, std::int64_t current) const {
    const auto move = moves::at<2>(n, f);
    return current + tsp::swap_delta(n, solution, move.at[0], move.at[1], [this](std::int32_t i, std::int32_t j) {
             if (matrix != nullptr) return matrix[std::int64_t{i} * n + j];
             const double2 a = at[i], b = at[j];
             return tsp::distance(plus(a.x, -b.x), plus(a.y, -b.y));
           });
  }
  __device__ __forceinline__ void apply(std::int64_t, std::int64_t f) {
    if (threadIdx.x == 0) moves::exchange(solution, moves::at<2>(n, f));
  }
};

class TspResidence : public ThinResidence {
 public:
  using Neighborhood = local_search::TspSwap;
  using Place = TspPlace;

  TspResidence(const Neighborhood& neighborhood, std::int32_t places, const cuda::Stream& stream)
      : at_(points(neighborhood.instance().view())),
        matrix_(at_.size() > largest_matrix ? 0 : at_.size() * at_.size()),
        tours_(at_.size() * static_cast<std::size_t>(places)) {
    if (matrix_.size() == 0) return;
    distances_kernel<><<<static_cast<unsigned>(divide_up(matrix_.size(), std::size_t{256})), 256, 0, stream.get()>>>(
        at_.data(), static_cast<std::int64_t>(at_.size()), matrix_.data());
    VICINITY_CUDA_CHECK(cudaGetLastError());
  }

  [[nodiscard]] static std::size_t elements(const Neighborhood& neighborhood) {
    return static_cast<std::size_t>(neighborhood.instance().size());
  }
  [[nodiscard]] static std::size_t bytes_a_place(const Neighborhood& neighborhood) { return sizeof(std::int32_t) * elements(neighborhood); }
  [[nodiscard]] Place place() const { return {{tours_.data()}, at_.data(), matrix_.data(), static_cast<std::int32_t>(at_.size())}; }

 private:
  static constexpr std::size_t largest_matrix = 16384;

  [[nodiscard]] static cuda::DeviceBuffer<double2> points(const tsp::View& host) {
    std::vector<double2> at(static_cast<std::size_t>(host.n));
    for (std::size_t i = 0; i < at.size(); ++i) at[i] = {host.x[i], host.y[i]};
    return cuda::DeviceBuffer<double2>(at);
  }

  cuda::DeviceBuffer<double2> at_;
  cuda::DeviceBuffer<std::int32_t> matrix_;  ///< [a][b]
  cuda::DeviceBuffer<std::int32_t> tours_;   ///< [place][n]
};

template <class Visit>
[[nodiscard]] auto with_residence(const local_search::TspSwap&, std::size_t, const Visit& visit) {
  return visit.template operator()<TspResidence>();
}

}  // namespace vicinity::lsm
