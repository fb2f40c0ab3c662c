#pragma once
// Neighbours of the Weierstrass function: points of the crowns around the solution. A thread evaluates a neighbour in O(n terms). It draws
// the point itself, or reads the one that the host drew, coordinate by coordinate, those of a warp side by side.
#include <cstddef>
#include <cstdint>

#include "core/problems/weierstrass/crowns.hpp"
#include "kernels/lsm/published/neighbors.cuh"

namespace vicinity::lsm {

template <class Real>
using Ordered = decltype(weierstrass::ordered(Real{}));

/// Points drawn by the threads that evaluate them.
template <class Real, class X>
struct CrownsView {
  X x;
  std::int32_t n;
  Real width;
  std::uint64_t seed;
  std::int64_t t;

  __host__ __device__ static std::int64_t base() { return 0; }
  __device__ void stage() const { x.stage(); }
  __device__ Ordered<Real> value(std::int64_t f) const {
    return weierstrass::ordered(weierstrass::neighbor_value<Real>(x, n, seed, t, f, width));
  }
};

template <class Real, MemoryPath Path>
class Neighbors<local_search::WeierstrassCrowns<Real>, Path> : public StatelessNeighbors<local_search::WeierstrassCrowns<Real>> {
 public:
  using Neighborhood = local_search::WeierstrassCrowns<Real>;

  Neighbors(const Neighborhood& neighborhood, const cuda::Stream&)
      : n_(neighborhood.instance().dimension()), width_(neighborhood.width()), x_(static_cast<std::size_t>(n_), shared_bytes_) {}

  static void generate(const SearchState<Neighborhood>&) {}
  [[nodiscard]] auto upload(const SearchState<Neighborhood>& state, const cuda::Stream& stream) {
    return CrownsView{x_.send(state.solution(), stream), n_, width_, state.seed(), state.iteration()};
  }
  [[nodiscard]] std::size_t shared_bytes(std::int64_t) const noexcept { return shared_bytes_; }

 private:
  std::int32_t n_;
  Real width_;
  std::size_t shared_bytes_ = 0;
  Copied<typename Path::template Solution<Real>> x_;
};

/// Points drawn by the host.
template <class Real>
struct PointsView {
  Global<Real> points;  ///< [coordinate][neighbour]
  std::int64_t count;
  std::int32_t n;

  __host__ __device__ static std::int64_t base() { return 0; }
  __device__ void stage() const {}
  __device__ Ordered<Real> value(std::int64_t f) const {
    Real sum = 0;
    for (std::int32_t k = 0; k < n; ++k) sum = plus(sum, weierstrass::of_coordinate(points[k * count + f]));
    return weierstrass::ordered(sum);
  }
};

template <class Real, MemoryPath Path>
requires Path::solutions_by_host class Neighbors<local_search::WeierstrassCrowns<Real>, Path>
    : public StatelessNeighbors<local_search::WeierstrassCrowns<Real>> {
 public:
  using Neighborhood = local_search::WeierstrassCrowns<Real>;

  Neighbors(const Neighborhood& neighborhood, const cuda::Stream&)
      : neighborhood_(neighborhood),
        points_(static_cast<std::size_t>(neighborhood.moves()) * static_cast<std::size_t>(neighborhood.instance().dimension()),
                shared_bytes_) {}

  void generate(const SearchState<Neighborhood>& state) {
    const std::int64_t count = neighborhood_.moves();
    auto point = state.solution();
    for (std::int64_t f = 0; f < count; ++f) {
      point = state.solution();
      neighborhood_.apply(point, state.seed(), state.iteration(), f);
      for (std::size_t k = 0; k < point.size(); ++k) points_.staged()[static_cast<std::int64_t>(k) * count + f] = point[k];
    }
  }
  [[nodiscard]] auto upload(const SearchState<Neighborhood>&, const cuda::Stream& stream) {
    return PointsView<Real>{points_.send(stream), neighborhood_.moves(), neighborhood_.instance().dimension()};
  }
  [[nodiscard]] std::size_t shared_bytes(std::int64_t) const noexcept { return shared_bytes_; }

 private:
  const Neighborhood& neighborhood_;
  std::size_t shared_bytes_ = 0;
  Copied<Global<Real>> points_;
};

}  // namespace vicinity::lsm
