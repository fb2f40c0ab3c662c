#pragma once
// Evaluator of the travelling salesman problem (kernels/lsm/tuned/generic/search.cuh): a thread a neighbour, in O(1), at most eight
// distances, from a matrix while it fits 1 GiB, else from the coordinates. Data layout: tours, matrix and coordinates in device memory.
#include <cstddef>
#include <cstdint>

#include "core/problems/moves.hpp"
#include "core/problems/tsp/swap.hpp"
#include "kernels/lsm/tsp_distances.cuh"
#include "kernels/lsm/tuned/generic/search.cuh"

namespace vicinity::lsm {

struct TspEvaluator : DeviceSolution<std::int32_t> {
  const double2* at;
  const std::int32_t* matrix;
  std::int32_t n;

  __device__ __forceinline__ std::int64_t value(std::int64_t f, std::int64_t, std::int64_t current) const {
    const auto move = moves::at<2>(n, f);
    return current + tsp::swap_delta(n, solution, move.at[0], move.at[1], [this](std::int32_t i, std::int32_t j) {
             if (matrix != nullptr) return matrix[std::int64_t{i} * n + j];
             return distance(at[i], at[j]);
           });
  }
  __device__ __forceinline__ void apply(std::int64_t, std::int64_t f) {
    if (threadIdx.x == 0) moves::exchange(solution, moves::at<2>(n, f));
  }
};

class TspStorage : public DeviceMemoryOnly {
 public:
  using Neighborhood = local_search::TspSwap;
  using Evaluator = TspEvaluator;

  TspStorage(const Neighborhood& neighborhood, std::int32_t blocks, const cuda::Stream& stream)
      : at_(coordinates(neighborhood.instance().view())),
        matrix_(distance_entries(at_.size())),
        tours_(at_.size() * static_cast<std::size_t>(blocks)) {
    if (matrix_.size() > 0) fill_distances(at_.data(), at_.size(), matrix_.data(), stream);
  }

  [[nodiscard]] static std::size_t elements(const Neighborhood& neighborhood) {
    return static_cast<std::size_t>(neighborhood.instance().size());
  }
  [[nodiscard]] static std::size_t bytes_a_block(const Neighborhood& neighborhood) { return sizeof(std::int32_t) * elements(neighborhood); }
  [[nodiscard]] Evaluator evaluator() const { return {{tours_.data()}, at_.data(), matrix_.data(), static_cast<std::int32_t>(at_.size())}; }

 private:
  cuda::DeviceBuffer<double2> at_;
  cuda::DeviceBuffer<std::int32_t> matrix_;  ///< [a][b]
  cuda::DeviceBuffer<std::int32_t> tours_;   ///< [block][n]
};

template <>
struct Evaluators<local_search::TspSwap> {
  using Storages = StorageList<TspStorage>;
};

}  // namespace vicinity::lsm
