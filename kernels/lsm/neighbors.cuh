#pragma once
// Neighbours on the device. Neighbors<Neighborhood> owns what their evaluation reads: the instance, copied once, and the solution, copied
// before each iteration. It is made from (neighborhood, threads, stream), `threads` being the most that evaluate at a time, and has
//   most_threads(neighborhood)   as many as there is room for
//   begin(walk), moved(walk, choice)   called as those of a method (kernels/lsm/run.cuh)
//   upload(walk, stream)         copies the solution; returns the View for the iteration to come
// View::value(move) is the value of the solution that a move leads to: any thread, any moves, in any order, so that any slice of the moves
// can be evaluated alone. The arithmetic is the contract's own (core/problems).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/moves.hpp"
#include "core/neighborhoods/ppp.hpp"
#include "core/neighborhoods/qap.hpp"
#include "core/neighborhoods/tsp.hpp"
#include "core/neighborhoods/weierstrass.hpp"
#include "core/search_walk.hpp"
#include "kernels/cuda/memory.cuh"

namespace vicinity::lsm {

using local_search::Walk;

/// An array that changes on the host between iterations, and its copy in device memory.
template <class T>
class Copied {
 public:
  explicit Copied(std::size_t size) : staged_(size), device_(size) {}

  /// `from` has as many elements; it may change at once, but the stream must be through before the next copy.
  [[nodiscard]] const T* copy(const std::vector<T>& from, const cuda::Stream& stream) {
    std::copy(from.begin(), from.end(), staged_.data());
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(device_.data(), staged_.data(), device_.bytes(), cudaMemcpyHostToDevice, stream.get()));
    return device_.data();
  }

 private:
  cuda::HostBuffer<T> staged_;
  cuda::DeviceBuffer<T> device_;
};

template <class Neighborhood>
class Neighbors;

/// O(n) a neighbour: K (or two) rows and columns of both matrices.
template <int K>
class Neighbors<local_search::QapExchange<K>> {
 public:
  using Neighborhood = local_search::QapExchange<K>;
  struct View {
    qap::View<std::int32_t> qap;
    const std::int32_t* p;
    std::int64_t current;

    __device__ std::int64_t value(std::int64_t f) const {
      const auto move = moves::at<K>(qap.n, f);
      if constexpr (K == 2)
        return current + qap::delta(qap, p, move.at[0], move.at[1]);
      else
        return current + qap::exchange_delta(qap, p, move);
    }
  };

  Neighbors(const Neighborhood& neighborhood, std::int64_t, const cuda::Stream&)
      : Neighbors(neighborhood.instance().view(), static_cast<std::size_t>(neighborhood.instance().size())) {}

  [[nodiscard]] static std::int64_t most_threads(const Neighborhood&) { return std::numeric_limits<std::int64_t>::max(); }
  static void begin(const Walk<Neighborhood>&) {}
  static void moved(const Walk<Neighborhood>&, const local_search::Choice&) {}
  [[nodiscard]] View upload(const Walk<Neighborhood>& walk, const cuda::Stream& stream) {
    return {{a_.data(), b_.data(), n_, n_}, p_.copy(walk.solution(), stream), walk.value()};
  }

 private:
  Neighbors(const qap::View<std::int32_t>& host, std::size_t n)
      : n_(host.n), a_(std::span<const std::int32_t>(host.a, n * n)), b_(std::span<const std::int32_t>(host.b, n * n)), p_(n) {}

  std::int32_t n_;
  cuda::DeviceBuffer<std::int32_t> a_, b_;
  Copied<std::int32_t> p_;
};

/// O(m K + n) a neighbour, from the products S = A V. Each thread has a histogram of its own in device memory, whose counters of one
/// product lie side by side for all threads: clearing and comparing them takes whole lines, counting takes single words.
template <int K>
class Neighbors<local_search::PppFlip<K>> {
 public:
  using Neighborhood = local_search::PppFlip<K>;
  using Counter = std::uint16_t;  // counts at most m <= 20000

  struct Histogram {
    Counter* counters;
    std::int64_t threads;

    VICINITY_HD Counter& operator[](std::int32_t product) const { return counters[product * threads]; }
  };
  struct View {
    ppp::View ppp;
    const std::int8_t* v;
    const std::int32_t* products;
    Counter* histograms;
    std::int64_t threads;

    __device__ std::int64_t value(std::int64_t f) const {
      Histogram histogram{histograms + (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x), threads};
      return ppp::flipped_cost(ppp, products, v, moves::at<K>(ppp.n, f), histogram);
    }
  };

  Neighbors(const Neighborhood& neighborhood, std::int64_t threads, const cuda::Stream& stream)
      : ppp_(neighborhood.instance()),
        threads_(threads),
        a_(std::span<const std::int8_t>(ppp_.view().a, rows() * columns())),
        target_(std::span<const std::int32_t>(ppp_.view().target, columns() + 1)),
        histograms_((columns() + 1) * static_cast<std::size_t>(threads)),
        v_(columns()),
        s_(rows()) {
    histograms_.fill(0, stream);
  }

  /// Histograms may take this much.
  static constexpr std::int64_t room = 256 << 20;
  [[nodiscard]] static std::int64_t most_threads(const Neighborhood& neighborhood) {
    return room / (static_cast<std::int64_t>(sizeof(Counter)) * (neighborhood.instance().columns() + 1));
  }

  void begin(const Walk<Neighborhood>& walk) { products_ = ppp::products(ppp_, walk.solution()); }
  void moved(const Walk<Neighborhood>& walk, const local_search::Choice& choice) {
    const ppp::View view = ppp_.view();
    for (const std::int32_t column : moves::at<K>(view.n, choice.move).at) {
      const std::int32_t sign = walk.solution()[static_cast<std::size_t>(column)];  // as it is now
      for (std::int32_t row = 0; row < view.m; ++row) products_[static_cast<std::size_t>(row)] += 2 * sign * view.at(row, column);
    }
  }
  [[nodiscard]] View upload(const Walk<Neighborhood>& walk, const cuda::Stream& stream) {
    const ppp::View view{a_.data(), target_.data(), ppp_.rows(), ppp_.columns()};
    return {view, v_.copy(walk.solution(), stream), s_.copy(products_, stream), histograms_.data(), threads_};
  }

 private:
  [[nodiscard]] std::size_t rows() const { return static_cast<std::size_t>(ppp_.rows()); }
  [[nodiscard]] std::size_t columns() const { return static_cast<std::size_t>(ppp_.columns()); }

  const ppp::Ppp& ppp_;
  std::int64_t threads_;
  cuda::DeviceBuffer<std::int8_t> a_;
  cuda::DeviceBuffer<std::int32_t> target_;
  cuda::DeviceBuffer<Counter> histograms_;  ///< [product][thread], all zero between neighbours
  Copied<std::int8_t> v_;
  Copied<std::int32_t> s_;
  std::vector<std::int32_t> products_;
};

/// Mapping: a thread an entry of the matrix of distances. Cost: a root an entry, once an instance.
template <class = void>
__global__ void __launch_bounds__(256) distances_kernel(tsp::View tsp, std::int32_t* matrix) {
  const std::int64_t n = tsp.n, entry = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (entry < n * n) matrix[entry] = tsp::distance(tsp, static_cast<std::int32_t>(entry / n), static_cast<std::int32_t>(entry % n));
}

/// O(1) a neighbour: at most eight distances, from a matrix, as in the paper, while it fits 1 GiB, else from the coordinates.
template <>
class Neighbors<local_search::TspSwap> {
 public:
  using Neighborhood = local_search::TspSwap;
  struct View {
    tsp::View tsp;
    const std::int32_t* matrix;  ///< null: from the coordinates
    const std::int32_t* tour;
    std::int64_t current;

    __device__ std::int64_t value(std::int64_t f) const {
      const auto move = moves::at<2>(tsp.n, f);
      const auto d = [this](std::int32_t a, std::int32_t b) {
        return matrix != nullptr ? matrix[std::int64_t{a} * tsp.n + b] : tsp::distance(tsp, a, b);
      };
      return current + tsp::swap_delta(tsp.n, tour, move.at[0], move.at[1], d);
    }
  };

  Neighbors(const Neighborhood& neighborhood, std::int64_t, const cuda::Stream& stream)
      : Neighbors(neighborhood.instance().view(), static_cast<std::size_t>(neighborhood.instance().size()), stream) {}

  [[nodiscard]] static std::int64_t most_threads(const Neighborhood&) { return std::numeric_limits<std::int64_t>::max(); }
  static void begin(const Walk<Neighborhood>&) {}
  static void moved(const Walk<Neighborhood>&, const local_search::Choice&) {}
  [[nodiscard]] View upload(const Walk<Neighborhood>& walk, const cuda::Stream& stream) {
    return {{x_.data(), y_.data(), n_}, matrix_.data(), tour_.copy(walk.solution(), stream), walk.value()};
  }

 private:
  static constexpr std::size_t largest_matrix = 16384;

  Neighbors(const tsp::View& host, std::size_t n, const cuda::Stream& stream)
      : n_(host.n),
        x_(std::span<const double>(host.x, n)),
        y_(std::span<const double>(host.y, n)),
        matrix_(n > largest_matrix ? 0 : n * n),
        tour_(n) {
    if (matrix_.size() == 0) return;
    VICINITY_CUDA_CHECK(cudaDeviceSynchronize());  // the coordinates are there
    distances_kernel<><<<static_cast<unsigned>((n * n + 255) / 256), 256, 0, stream.get()>>>({x_.data(), y_.data(), n_}, matrix_.data());
    VICINITY_CUDA_CHECK(cudaGetLastError());
  }

  std::int32_t n_;
  cuda::DeviceBuffer<double> x_, y_;
  cuda::DeviceBuffer<std::int32_t> matrix_;  ///< [a][b]
  Copied<std::int32_t> tour_;
};

/// O(terms n) a neighbour, whose point is drawn by the thread that evaluates it.
template <class Real>
class Neighbors<local_search::WeierstrassCrowns<Real>> {
 public:
  using Neighborhood = local_search::WeierstrassCrowns<Real>;
  struct View {
    const Real* x;
    std::int32_t n;
    Real width;
    std::uint64_t seed;
    std::int64_t t;

    __device__ std::int64_t value(std::int64_t f) const {
      return weierstrass::ordered(weierstrass::neighbor_value<Real>(x, n, seed, t, f, width));
    }
  };

  Neighbors(const Neighborhood& neighborhood, std::int64_t, const cuda::Stream&)
      : n_(neighborhood.instance().dimension()), width_(neighborhood.width()), x_(static_cast<std::size_t>(n_)) {}

  [[nodiscard]] static std::int64_t most_threads(const Neighborhood&) { return std::numeric_limits<std::int64_t>::max(); }
  static void begin(const Walk<Neighborhood>&) {}
  static void moved(const Walk<Neighborhood>&, const local_search::Choice&) {}
  [[nodiscard]] View upload(const Walk<Neighborhood>& walk, const cuda::Stream& stream) {
    return {x_.copy(walk.solution(), stream), n_, width_, walk.seed(), walk.iteration()};
  }

 private:
  std::int32_t n_;
  Real width_;
  Copied<Real> x_;
};

}  // namespace vicinity::lsm
