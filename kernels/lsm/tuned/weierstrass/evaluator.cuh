#pragma once
// Evaluator of the Weierstrass function (kernels/lsm/tuned/generic/search.cuh): a thread draws its neighbour's point, and evaluates it in
// O(100 n). Data layout: solutions in device memory.
#include <cstddef>
#include <cstdint>

#include "core/problems/weierstrass/crowns.hpp"
#include "kernels/lsm/tuned/generic/search.cuh"
#include "kernels/lsm/tuned/weierstrass/draws.cuh"

namespace vicinity::lsm {

template <class Real>
struct CrownsEvaluator : DeviceSolution<Real> {
  static constexpr int most_threads = 512;

  std::int32_t n;
  Real width_of_crown;
  std::uint64_t seed;

  __device__ __forceinline__ void load(const Real* from, std::int32_t size, std::uint64_t of_search, uint4* shared) {
    DeviceSolution<Real>::load(from, size, of_search, shared);
    seed = of_search;
  }
  __device__ __forceinline__ std::int64_t value(std::int64_t f, std::int64_t t, std::int64_t) const {
    Real sum = 0;
    each_coordinate(t, f, [&](std::int32_t, Real coordinate) { sum = plus(sum, weierstrass::of_coordinate(coordinate)); });
    return weierstrass::ordered(sum);
  }
  __device__ __forceinline__ void apply(std::int64_t t, std::int64_t f) {
    if (threadIdx.x == 0) each_coordinate(t, f, [&](std::int32_t k, Real coordinate) { this->solution[k] = coordinate; });
  }

 private:
  /// act(k, coordinate k of neighbour f in iteration t), in order.
  template <class Act>
  __device__ __forceinline__ void each_coordinate(std::int64_t t, std::int64_t f, const Act& act) const {
    Philox4 block = draws(seed, t, f, 0);
    const Real radius = weierstrass::radius<Real>(f, block.word[0], width_of_crown);
    const weierstrass::Face face = weierstrass::face(block.word[1], n);
    for (std::int32_t k = 0; k < n; ++k) {
      if ((2 + k) % 4 == 0) block = draws(seed, t, f, (2 + k) / 4);
      act(k, weierstrass::moved<Real>(this->solution[k], k, word_of(block, 2 + k), radius, face));
    }
  }
};

template <class Real>
class CrownsStorage : public DeviceMemoryOnly {
 public:
  using Neighborhood = local_search::WeierstrassCrowns<Real>;
  using Evaluator = CrownsEvaluator<Real>;

  CrownsStorage(const Neighborhood& neighborhood, std::int32_t blocks, const cuda::Stream&)
      : n_(neighborhood.instance().dimension()),
        width_(neighborhood.width()),
        points_(static_cast<std::size_t>(n_) * static_cast<std::size_t>(blocks)) {}

  [[nodiscard]] static std::size_t elements(const Neighborhood& neighborhood) {
    return static_cast<std::size_t>(neighborhood.instance().dimension());
  }
  [[nodiscard]] static std::size_t bytes_a_block(const Neighborhood& neighborhood) { return sizeof(Real) * elements(neighborhood); }
  [[nodiscard]] Evaluator evaluator() const { return {{points_.data()}, n_, width_, 0}; }

 private:
  std::int32_t n_;
  Real width_;
  cuda::DeviceBuffer<Real> points_;  ///< [block][n]
};

template <class Real>
struct Evaluators<local_search::WeierstrassCrowns<Real>> {
  using Storages = StorageList<CrownsStorage<Real>>;
};

}  // namespace vicinity::lsm
