#pragma once
// Evaluator of the permuted perceptron problem (kernels/lsm/tuned/generic/search.cuh): a warp a neighbour, in O(m K + n), from the products
// S = A V. Data layout: columns of the matrix, products and signs in device memory, a histogram of products in shared memory for each warp.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/problems/moves.hpp"
#include "core/problems/ppp/flip.hpp"
#include "core/util/math.hpp"
#include "kernels/cuda/collective/warp.cuh"
#include "kernels/lsm/tuned/generic/search.cuh"

namespace vicinity::lsm {

/// All products are odd, or all are even, as n is: counter q is that of the product 2q or 2q + 1.
template <int K>
struct PppEvaluator : DeviceSolution<std::int8_t> {
  static constexpr int threads_a_neighbor = 32;
  static constexpr std::int32_t step_rows = 128;  ///< rows that a warp takes at a time, four a lane

  const std::int8_t* a;        ///< [column][row], columns `pitch` apart: whole steps, padded with zeros
  const std::int32_t* target;  ///< [counter]; none for the product 0
  std::int32_t n, pitch;
  std::int32_t unreached;  ///< how often the target asks for numbers that no product can be
  std::int32_t* products;  ///< [block][pitch], and of this block once loaded
  std::uint32_t* histogram;

  [[nodiscard]] static VICINITY_HD std::int32_t counters(std::int32_t n) { return n / 2 + 1; }
  __device__ __forceinline__ void load(const std::int8_t* from, std::int32_t size, std::uint64_t seed, uint4* shared) {
    DeviceSolution::load(from, size, seed, shared);
    products += std::int64_t{blockIdx.x} * pitch;
    for (std::int32_t row = static_cast<std::int32_t>(threadIdx.x); row < pitch; row += static_cast<std::int32_t>(blockDim.x)) {
      std::int32_t sum = 0;
      for (std::int32_t column = 0; column < n; ++column) sum += at(row, column) * from[column];
      products[row] = sum;
    }
    histogram = reinterpret_cast<std::uint32_t*>(shared) + static_cast<std::int32_t>(threadIdx.x / 32) * counters(n);
    for (std::int32_t q = static_cast<std::int32_t>(threadIdx.x % 32); q < counters(n); q += 32) histogram[q] = 0;
  }
  __device__ __forceinline__ std::int64_t value(std::int64_t f, std::int64_t, std::int64_t) const {
    const std::int32_t lane = static_cast<std::int32_t>(threadIdx.x % 32);
    const moves::Move<K> move = moves::at<K>(n, f);
    const std::int8_t* column[K];
    std::int32_t change[K];  // of a product, for an entry of 1: a byte
#pragma unroll
    for (int t = 0; t < K; ++t) {
      column[t] = a + std::int64_t{move.at[t]} * pitch;
      change[t] = -2 * solution[move.at[t]] & 0xFF;
    }
    std::int32_t below = 0;  // sum of the negative products
    for (std::int32_t row = 4 * lane; row < pitch; row += step_rows) {
      const int4 before = *reinterpret_cast<const int4*>(products + row);
      std::int32_t s[4]{before.x, before.y, before.z, before.w};
#pragma unroll
      for (int t = 0; t < K; ++t) {
        const std::int32_t entries = __ldg(reinterpret_cast<const std::int32_t*>(column[t] + row));
#pragma unroll
        for (int r = 0; r < 4; ++r) s[r] = __dp4a(entries, change[t] << 8 * r, s[r]);
      }
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        below += min(s[r], 0);
        if (s[r] > 0) atomicAdd(&histogram[s[r] >> 1], 1u);
      }
    }
    std::int32_t cost = -2 * ppp::sign_weight * below;
    __syncwarp();
    for (std::int32_t q = lane; q < counters(n); q += 32) {
      cost = abs_difference_plus(static_cast<std::int32_t>(histogram[q]), target[q], cost);
      histogram[q] = 0;
    }
    __syncwarp();
    return unreached + cuda::shuffled_sum(cost);
  }
  __device__ __forceinline__ void apply(std::int64_t, std::int64_t f) {
    const moves::Move<K> move = moves::at<K>(n, f);
    std::int32_t twice[K];
#pragma unroll
    for (int t = 0; t < K; ++t) twice[t] = 2 * solution[move.at[t]];
    for (std::int32_t row = static_cast<std::int32_t>(threadIdx.x); row < pitch; row += static_cast<std::int32_t>(blockDim.x))
#pragma unroll
      for (int t = 0; t < K; ++t) products[row] -= at(row, move.at[t]) * twice[t];
    __syncthreads();  // all have read the signs
    if (threadIdx.x == 0)
#pragma unroll
      for (int t = 0; t < K; ++t) solution[move.at[t]] = static_cast<std::int8_t>(-twice[t] / 2);
  }

 private:
  [[nodiscard]] __device__ __forceinline__ std::int32_t at(std::int32_t row, std::int32_t column) const {
    return a[std::int64_t{column} * pitch + row];
  }
};

template <int K>
class PppStorage {
 public:
  using Neighborhood = local_search::PppFlip<K>;
  using Evaluator = PppEvaluator<K>;

  PppStorage(const Neighborhood& neighborhood, std::int32_t blocks, const cuda::Stream&)
      : n_(neighborhood.instance().columns()),
        pitch_(padded(neighborhood.instance().rows())),
        a_(columns(neighborhood.instance().view())),
        target_(targets(neighborhood.instance().view())),
        signs_(elements(neighborhood) * static_cast<std::size_t>(blocks)),
        products_(static_cast<std::size_t>(pitch_) * static_cast<std::size_t>(blocks)) {}

  [[nodiscard]] static std::size_t elements(const Neighborhood& neighborhood) {
    return static_cast<std::size_t>(neighborhood.instance().columns());
  }
  [[nodiscard]] static std::size_t bytes_a_block(const Neighborhood& neighborhood) {
    return elements(neighborhood) + sizeof(std::int32_t) * static_cast<std::size_t>(padded(neighborhood.instance().rows()));
  }
  [[nodiscard]] static std::size_t shared_bytes(const Neighborhood& neighborhood, std::int32_t threads) {
    return static_cast<std::size_t>(threads / 32) * histogram_bytes(neighborhood);
  }
  [[nodiscard]] static std::int64_t most_threads(const Neighborhood& neighborhood, std::size_t most_shared) {
    return static_cast<std::int64_t>(32 * (most_shared / histogram_bytes(neighborhood)));
  }
  [[nodiscard]] Evaluator evaluator() const {
    return {{signs_.data()}, a_.data(), target_.data(), n_, pitch_, unreached_, products_.data(), nullptr};
  }

 private:
  [[nodiscard]] static std::int32_t padded(std::int32_t rows) { return divide_up(rows, Evaluator::step_rows) * Evaluator::step_rows; }
  [[nodiscard]] static std::size_t histogram_bytes(const Neighborhood& neighborhood) {
    return sizeof(std::uint32_t) * static_cast<std::size_t>(Evaluator::counters(neighborhood.instance().columns()));
  }
  [[nodiscard]] cuda::DeviceBuffer<std::int8_t> columns(const ppp::View& host) const {
    std::vector<std::int8_t> all(static_cast<std::size_t>(n_) * static_cast<std::size_t>(pitch_));
    for (std::int64_t column = 0; column < n_; ++column) std::copy_n(host.a + column * host.m, host.m, all.begin() + column * pitch_);
    return cuda::DeviceBuffer<std::int8_t>(std::span<const std::int8_t>(all));
  }
  [[nodiscard]] cuda::DeviceBuffer<std::int32_t> targets(const ppp::View& host) {
    std::vector<std::int32_t> all(static_cast<std::size_t>(Evaluator::counters(n_)));
    for (std::int32_t product = 1; product <= n_; ++product)
      (product % 2 == n_ % 2 ? all[static_cast<std::size_t>(product / 2)] : unreached_) += host.target[product];
    return cuda::DeviceBuffer<std::int32_t>(std::span<const std::int32_t>(all));
  }

  std::int32_t n_, pitch_, unreached_ = 0;
  cuda::DeviceBuffer<std::int8_t> a_;
  cuda::DeviceBuffer<std::int32_t> target_;
  cuda::DeviceBuffer<std::int8_t> signs_;      ///< [block][column]
  cuda::DeviceBuffer<std::int32_t> products_;  ///< [block][pitch]
};

template <int K>
struct Evaluators<local_search::PppFlip<K>> {
  using Storages = StorageList<PppStorage<K>>;
};

}  // namespace vicinity::lsm
