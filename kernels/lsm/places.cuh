#pragma once
// Where a search of resident.cuh lives. A Place has
//   Element                       of a solution
//   width                         threads that evaluate a neighbour together, all with its value afterwards: 1, or 32, a warp
//   most_threads                  of a block
//   enter(from, n, seed, room)    the block takes the solution of n elements over, and its shared memory at `room`
//   value(f, t, current)          of the solution that move f leads to in iteration t; the current one has value `current`
//   apply(t, f)                   the block makes the move
//   copy_to(to, n)                the block copies the solution
// Block barriers stand before and after each but value(). Every block that searches has a copy of the solution for itself, and of what is
// kept beside it. A Residence owns the device memory of the places; Residence(neighborhood, places, stream).
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "core/math.hpp"
#include "core/moves.hpp"
#include "core/neighborhoods/ppp.hpp"
#include "core/neighborhoods/qap.hpp"
#include "core/neighborhoods/tsp.hpp"
#include "core/neighborhoods/weierstrass.hpp"
#include "kernels/cuda/memory.cuh"
#include "kernels/lsm/neighbors.cuh"
#include "kernels/lsm/weierstrass_terms.cuh"
#include "kernels/sa/device.cuh"

namespace vicinity::lsm {

/// Copies n elements, a thread of the block one at a time.
template <class To, class From>
__device__ __forceinline__ void copy_by_block(To* to, const From* from, std::int32_t n) {
  for (std::int32_t i = static_cast<std::int32_t>(threadIdx.x); i < n; i += static_cast<std::int32_t>(blockDim.x))
    to[i] = static_cast<To>(from[i]);
}

/// A solution in device memory.
template <class E>
struct SolutionPlace {
  using Element = E;
  static constexpr int width = 1, most_threads = 1024;

  Element* solution;  ///< [block][element], and of this block once entered

  __device__ __forceinline__ void enter(const Element* from, std::int32_t n, std::uint64_t, uint4*) {
    solution += std::int64_t{blockIdx.x} * n;
    copy_by_block(solution, from, n);
  }
  __device__ __forceinline__ void copy_to(Element* to, std::int32_t n) const { copy_by_block(to, solution, n); }
};

/// What the residences of one thread a neighbour and no shared memory have in common.
struct ThinResidence {
  template <class Neighborhood>
  [[nodiscard]] static std::int64_t most_threads(const Neighborhood&, std::size_t) {
    return std::numeric_limits<std::int64_t>::max();
  }
  template <class Neighborhood>
  [[nodiscard]] static std::size_t shared_bytes(const Neighborhood&, std::int32_t) {
    return 0;
  }
};

// --- quadratic assignment ------------------------------------------------------------------------------------------------------------

/// O(K n) a neighbour, once for rows and once for columns unless both matrices are symmetric. `Sum` holds any difference, in modular
/// arithmetic. `shared`: matrices and permutation are in shared memory.
template <int K, class Entry, class Sum, bool shared>
struct QapPlace : SolutionPlace<std::int32_t> {
  const Entry *a, *b;  ///< [n][n]
  std::int32_t n;
  bool symmetric;

  [[nodiscard]] static std::size_t shared_bytes(std::size_t n) { return shared ? n * sizeof(std::int32_t) + 2 * n * n * sizeof(Entry) : 0; }
  __device__ __forceinline__ void enter(const std::int32_t* from, std::int32_t size, std::uint64_t seed, uint4* room) {
    if constexpr (shared) {
      solution = reinterpret_cast<std::int32_t*>(room);
      copy_by_block(solution, from, size);
      auto* entries = reinterpret_cast<Entry*>(solution + n);
      copy_by_block(entries, a, n * n);
      copy_by_block(entries + n * n, b, n * n);
      a = entries;
      b = entries + n * n;
    } else {
      SolutionPlace::enter(from, size, seed, room);
    }
  }
  __device__ __forceinline__ std::int64_t value(std::int64_t f, std::int64_t, std::int64_t current) const {
    const moves::Move<K> move = moves::at<K>(n, f);
    std::int32_t places[K + 1];  // of the facilities; the first follows the last
#pragma unroll
    for (int t = 0; t <= K; ++t) places[t] = solution[move.at[t % K]];
    Sum delta = away(move, places, n, 1);
    delta = symmetric ? 2 * delta : delta + away(move, places, 1, n);
#pragma unroll
    for (int t = 0; t < K; ++t)
#pragma unroll
      for (int u = 0; u < K; ++u)
        delta += entry(a, move.at[t], n, move.at[u]) * (entry(b, places[t + 1], n, places[u + 1]) - entry(b, places[t], n, places[u]));
    return current + static_cast<std::make_signed_t<Sum>>(delta);
  }
  __device__ __forceinline__ void apply(std::int64_t, std::int64_t f) {
    if (threadIdx.x == 0) moves::exchange(solution, moves::at<K>(n, f));
  }

 private:
  [[nodiscard]] static __device__ __forceinline__ Sum entry(const Entry* matrix, std::int32_t i, std::int32_t n, std::int32_t j) {
    return static_cast<Sum>(matrix[std::int64_t{i} * n + j]);
  }
  /// The part of the facilities k that do not move: `along` apart are entries of neighbouring k, `across` those of neighbouring facilities.
  [[nodiscard]] __device__ __forceinline__ Sum away(const moves::Move<K>& move, const std::int32_t (&places)[K + 1], std::int32_t along,
                                                    std::int32_t across) const {
    Sum sum = 0;
    for (std::int32_t k = 0; k < n; ++k) {
      const Entry *of_a = a + std::int64_t{k} * along, *of_b = b + std::int64_t{solution[k]} * along;
      bool moves = false;
      Sum part = 0, before = static_cast<Sum>(of_b[std::int64_t{places[0]} * across]);
      const Sum first = before;
#pragma unroll
      for (int t = 0; t < K; ++t) {
        const Sum after = t + 1 < K ? static_cast<Sum>(of_b[std::int64_t{places[t + 1]} * across]) : first;
        part += static_cast<Sum>(of_a[std::int64_t{move.at[t]} * across]) * (after - before);
        before = after;
        moves |= k == move.at[t];
      }
      if (!moves) sum += part;
    }
    return sum;
  }
};

template <int K, class Entry, class Sum, bool shared>
class QapResidence : public ThinResidence {
 public:
  using Neighborhood = local_search::QapExchange<K>;
  using Place = QapPlace<K, Entry, Sum, shared>;

  QapResidence(const Neighborhood& neighborhood, std::int32_t places, const cuda::Stream&)
      : qap_(neighborhood.instance()),
        a_(placed(qap_.view().a)),
        b_(placed(qap_.view().b)),
        solutions_(shared ? 0 : elements(neighborhood) * static_cast<std::size_t>(places)) {}

  [[nodiscard]] static std::size_t elements(const Neighborhood& neighborhood) {
    return static_cast<std::size_t>(neighborhood.instance().size());
  }
  [[nodiscard]] static std::size_t bytes_a_place(const Neighborhood& neighborhood) { return sizeof(std::int32_t) * elements(neighborhood); }
  [[nodiscard]] static std::size_t shared_bytes(const Neighborhood& neighborhood, std::int32_t) {
    return Place::shared_bytes(elements(neighborhood));
  }
  [[nodiscard]] Place place() const { return {{solutions_.data()}, a_.data(), b_.data(), qap_.size(), qap_.symmetric()}; }

 private:
  [[nodiscard]] cuda::DeviceBuffer<Entry> placed(const std::int32_t* matrix) const {
    const std::vector<Entry> entries(matrix, matrix + std::int64_t{qap_.size()} * qap_.size());
    return cuda::DeviceBuffer<Entry>(std::span<const Entry>(entries));
  }

  const qap::Qap& qap_;
  cuda::DeviceBuffer<Entry> a_, b_;
  cuda::DeviceBuffer<std::int32_t> solutions_;
};

/// visit.operator()<Residence>(), with the smallest types that are exact, in shared memory where there is room.
template <int K, class Visit>
[[nodiscard]] auto with_residence(const local_search::QapExchange<K>& neighborhood, std::size_t most_shared, const Visit& visit) {
  using Bytes = QapResidence<K, std::uint8_t, std::uint32_t, true>;
  using Words = QapResidence<K, std::int32_t, std::int64_t, true>;
  const qap::Qap& qap = neighborhood.instance();
  if (qap.bytes() && qap.narrow() && Bytes::shared_bytes(neighborhood, 0) <= most_shared) return visit.template operator()<Bytes>();
  if (Words::shared_bytes(neighborhood, 0) <= most_shared) return visit.template operator()<Words>();
  return visit.template operator()<QapResidence<K, std::int32_t, std::int64_t, false>>();
}

// --- travelling salesman -------------------------------------------------------------------------------------------------------------

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

// --- Weierstrass function ------------------------------------------------------------------------------------------------------------

/// O(100 n) a neighbour, whose point is drawn by the thread that evaluates it.
template <class Real>
struct CrownsPlace : SolutionPlace<Real> {
  static constexpr int most_threads = 512;

  std::int32_t n;
  Real width_of_crown;
  std::uint64_t seed;

  __device__ __forceinline__ void enter(const Real* from, std::int32_t size, std::uint64_t of_search, uint4* room) {
    SolutionPlace<Real>::enter(from, size, of_search, room);
    seed = of_search;
  }
  __device__ __forceinline__ std::int64_t value(std::int64_t f, std::int64_t t, std::int64_t) const {
    Real sum = 0;
    each_coordinate(t, f, [&](std::int32_t, Real coordinate) { sum = plus(sum, value_of_coordinate(coordinate)); });
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
class CrownsResidence : public ThinResidence {
 public:
  using Neighborhood = local_search::WeierstrassCrowns<Real>;
  using Place = CrownsPlace<Real>;

  CrownsResidence(const Neighborhood& neighborhood, std::int32_t places, const cuda::Stream&)
      : n_(neighborhood.instance().dimension()),
        width_(neighborhood.width()),
        points_(static_cast<std::size_t>(n_) * static_cast<std::size_t>(places)) {}

  [[nodiscard]] static std::size_t elements(const Neighborhood& neighborhood) {
    return static_cast<std::size_t>(neighborhood.instance().dimension());
  }
  [[nodiscard]] static std::size_t bytes_a_place(const Neighborhood& neighborhood) { return sizeof(Real) * elements(neighborhood); }
  [[nodiscard]] Place place() const { return {{points_.data()}, n_, width_, 0}; }

 private:
  std::int32_t n_;
  Real width_;
  cuda::DeviceBuffer<Real> points_;  ///< [place][n]
};

template <class Real, class Visit>
[[nodiscard]] auto with_residence(const local_search::WeierstrassCrowns<Real>&, std::size_t, const Visit& visit) {
  return visit.template operator()<CrownsResidence<Real>>();
}

// --- permuted perceptron -------------------------------------------------------------------------------------------------------------

/// O(m K + n) a neighbour for a warp, from the products S = A V, with a histogram in shared memory for each warp, two counters a word.
template <int K>
struct PppPlace : SolutionPlace<std::int8_t> {
  static constexpr int width = 32;

  ppp::View ppp;
  std::int32_t* products;  ///< [block][row], and of this block once entered
  std::uint32_t* histogram;

  [[nodiscard]] static VICINITY_HD std::int32_t histogram_words(std::int32_t n) { return n / 2 + 1; }
  __device__ __forceinline__ void enter(const std::int8_t* from, std::int32_t n, std::uint64_t seed, uint4* room) {
    SolutionPlace::enter(from, n, seed, room);
    products += std::int64_t{blockIdx.x} * ppp.m;
    for (std::int32_t row = static_cast<std::int32_t>(threadIdx.x); row < ppp.m; row += static_cast<std::int32_t>(blockDim.x)) {
      std::int32_t sum = 0;
      for (std::int32_t column = 0; column < n; ++column) sum += ppp.at(row, column) * from[column];
      products[row] = sum;
    }
    histogram = reinterpret_cast<std::uint32_t*>(room) + static_cast<std::int32_t>(threadIdx.x / 32) * histogram_words(n);
    for (std::int32_t w = static_cast<std::int32_t>(threadIdx.x % 32); w < histogram_words(n); w += 32) histogram[w] = 0;
  }
  __device__ __forceinline__ std::int64_t value(std::int64_t f, std::int64_t, std::int64_t) const {
    const std::int32_t lane = static_cast<std::int32_t>(threadIdx.x % 32);
    const moves::Move<K> move = moves::at<K>(ppp.n, f);
    std::int32_t twice[K], cost = 0;
#pragma unroll
    for (int t = 0; t < K; ++t) twice[t] = 2 * solution[move.at[t]];
    for (std::int32_t row = lane; row < ppp.m; row += 32) {
      std::int32_t s = products[row];
#pragma unroll
      for (int t = 0; t < K; ++t) s -= ppp.at(row, move.at[t]) * twice[t];
      cost += ppp::sign_cost(s);
      if (s > 0) atomicAdd(&histogram[s / 2], s % 2 == 0 ? 1u : 1u << 16);
    }
    __syncwarp();
    for (std::int32_t w = lane; w < histogram_words(ppp.n); w += 32) {
      const std::uint32_t counters = histogram[w];
      histogram[w] = 0;
      const auto surplus = [&](std::uint32_t counter, std::int32_t product) {
        return product > 0 && product <= ppp.n ? abs_difference_plus(static_cast<std::int32_t>(counter), ppp.target[product], 0) : 0;
      };
      cost += surplus(counters & 0xFFFFu, 2 * w) + surplus(counters >> 16, 2 * w + 1);
    }
    __syncwarp();
    return sa::lane_sum<32>(cost);
  }
  __device__ __forceinline__ void apply(std::int64_t, std::int64_t f) {
    const moves::Move<K> move = moves::at<K>(ppp.n, f);
    std::int32_t twice[K];
#pragma unroll
    for (int t = 0; t < K; ++t) twice[t] = 2 * solution[move.at[t]];
    for (std::int32_t row = static_cast<std::int32_t>(threadIdx.x); row < ppp.m; row += static_cast<std::int32_t>(blockDim.x))
#pragma unroll
      for (int t = 0; t < K; ++t) products[row] -= ppp.at(row, move.at[t]) * twice[t];
    __syncthreads();  // all have read the signs
    if (threadIdx.x < K) solution[move.at[threadIdx.x]] = static_cast<std::int8_t>(-solution[move.at[threadIdx.x]]);
  }
};

template <int K>
class PppResidence {
 public:
  using Neighborhood = local_search::PppFlip<K>;
  using Place = PppPlace<K>;

  PppResidence(const Neighborhood& neighborhood, std::int32_t places, const cuda::Stream&)
      : ppp_(neighborhood.instance()),
        a_(std::span<const std::int8_t>(ppp_.view().a, rows() * columns())),
        target_(std::span<const std::int32_t>(ppp_.view().target, columns() + 1)),
        signs_(columns() * static_cast<std::size_t>(places)),
        products_(rows() * static_cast<std::size_t>(places)) {}

  [[nodiscard]] static std::size_t elements(const Neighborhood& neighborhood) {
    return static_cast<std::size_t>(neighborhood.instance().columns());
  }
  [[nodiscard]] static std::size_t bytes_a_place(const Neighborhood& neighborhood) {
    return elements(neighborhood) + sizeof(std::int32_t) * static_cast<std::size_t>(neighborhood.instance().rows());
  }
  [[nodiscard]] static std::size_t shared_bytes(const Neighborhood& neighborhood, std::int32_t threads) {
    return static_cast<std::size_t>(threads / 32) * histogram_bytes(neighborhood);
  }
  [[nodiscard]] static std::int64_t most_threads(const Neighborhood& neighborhood, std::size_t most_shared) {
    return static_cast<std::int64_t>(32 * (most_shared / histogram_bytes(neighborhood)));
  }
  [[nodiscard]] Place place() const {
    return {{signs_.data()}, {a_.data(), target_.data(), ppp_.rows(), ppp_.columns()}, products_.data(), nullptr};
  }

 private:
  [[nodiscard]] static std::size_t histogram_bytes(const Neighborhood& neighborhood) {
    return sizeof(std::uint32_t) * static_cast<std::size_t>(Place::histogram_words(neighborhood.instance().columns()));
  }
  [[nodiscard]] std::size_t rows() const { return static_cast<std::size_t>(ppp_.rows()); }
  [[nodiscard]] std::size_t columns() const { return static_cast<std::size_t>(ppp_.columns()); }

  const ppp::Ppp& ppp_;
  cuda::DeviceBuffer<std::int8_t> a_;
  cuda::DeviceBuffer<std::int32_t> target_;
  cuda::DeviceBuffer<std::int8_t> signs_;      ///< [place][column]
  cuda::DeviceBuffer<std::int32_t> products_;  ///< [place][row]
};

template <int K, class Visit>
[[nodiscard]] auto with_residence(const local_search::PppFlip<K>&, std::size_t, const Visit& visit) {
  return visit.template operator()<PppResidence<K>>();
}

}  // namespace vicinity::lsm
