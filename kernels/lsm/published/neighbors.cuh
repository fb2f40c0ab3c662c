#pragma once
// Neighbours on the device. Neighbors<Neighborhood, Place> owns what their evaluation reads: the instance, copied once, and the solution,
// copied before each iteration, both where Place says (kernels/lsm/published/arrays.cuh). It is made from (neighborhood, stream), and has
//   begin(state), moved(state, choice)   called as those of a method (kernels/lsm/published/run.cuh)
//   generate(state)               what the host generates of the neighbourhood to come, if Place says so
//   upload(state, stream)         copies that and the solution; returns the View for the iteration to come
//   room()                       for how many threads that View has room
//   shared(block)                bytes of shared memory that it takes in a block of so many threads
// View::stage() is called once by all threads of a block. Then View::value(move) is the value of the solution that a move leads to: any
// thread, any moves, in any order, so that any slice of the moves can be evaluated alone. The arithmetic is the contract's own
// (core/problems).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "core/methods/lsm/state.hpp"
#include "core/problems/moves.hpp"
#include "core/problems/qap/exchange.hpp"
#include "core/problems/tsp/swap.hpp"
#include "core/problems/weierstrass/crowns.hpp"
#include "kernels/lsm/published/arrays.cuh"
#include "kernels/lsm/published/moves.cuh"

namespace vicinity::lsm {

using local_search::SearchState;

/// The most threads that can evaluate: of a block, and of the grid.
struct Room {
  std::int64_t block = std::numeric_limits<std::int64_t>::max(), grid = std::numeric_limits<std::int64_t>::max();
};

/// What most neighbourhoods have nothing to do for.
template <class Neighborhood>
struct Bare {
  [[nodiscard]] static Room room() noexcept { return {}; }
  static void begin(const SearchState<Neighborhood>&) {}
  static void moved(const SearchState<Neighborhood>&, const local_search::Choice&) {}
};

template <class Neighborhood, class Place>
class Neighbors;

template <class Qap, class P, class M>
struct QapView {
  Qap qap;
  P p;
  M moves;
  std::int64_t current;

  __device__ void stage() const {
    qap.a.stage();
    qap.b.stage();
    p.stage();
  }
  __device__ std::int64_t value(std::int64_t f) const {
    const auto move = moves[f];
    if constexpr (sizeof move.at / sizeof move.at[0] == 2)
      return current + qap::delta(qap, p, move.at[0], move.at[1]);
    else
      return current + qap::exchange_delta(qap, p, move);
  }
};

/// O(n) a neighbour: K (or two) rows and columns of both matrices.
template <int K, class Place>
class Neighbors<local_search::QapExchange<K>, Place> : public Bare<local_search::QapExchange<K>> {
 public:
  using Neighborhood = local_search::QapExchange<K>;
  using Entry = std::conditional_t<Place::bytes, std::uint8_t, std::int32_t>;
  using Matrix = typename Place::template Inputs<Entry>;

  Neighbors(const Neighborhood& neighborhood, const cuda::Stream&) : Neighbors(neighborhood.instance()) {}

  void generate(const SearchState<Neighborhood>&) { moves_.generate(); }
  [[nodiscard]] auto upload(const SearchState<Neighborhood>& state, const cuda::Stream& stream) {
    const qap::View<Entry, Matrix> qap{a_.reader(), b_.reader(), n_, n_};
    return QapView{qap, p_.send(state.solution(), stream), moves_.send(stream), state.value()};
  }
  [[nodiscard]] std::size_t shared(std::int64_t) const noexcept { return shared_; }

 private:
  explicit Neighbors(const qap::Qap& qap)
      : n_(qap.size()),
        a_(entries(qap, qap.view().a), shared_),
        b_(entries(qap, qap.view().b), shared_),
        p_(static_cast<std::size_t>(n_), shared_),
        moves_(n_) {}
  /// In the type in which the device has them.
  [[nodiscard]] static std::vector<Entry> entries(const qap::Qap& qap, const std::int32_t* of) {
    if (Place::bytes && !qap.bytes()) throw DoesNotFit("needs entries that are bytes");
    const auto n = static_cast<std::size_t>(qap.size());
    std::vector<Entry> entries(n * n);
    std::transform(of, of + n * n, entries.begin(), [](std::int32_t entry) { return static_cast<Entry>(entry); });
    return entries;
  }

  std::int32_t n_;
  std::size_t shared_ = 0;
  Array<Matrix> a_, b_;
  Copied<typename Place::template Solution<std::int32_t>> p_;
  Moves<K, Place::generated> moves_;
};

/// Mapping: a thread an entry of the matrix of distances. Cost: a root an entry, once an instance.
template <class = void>
__global__ void __launch_bounds__(256) distances_kernel(const double2* at, std::int64_t n, std::int32_t* matrix) {
  const std::int64_t entry = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (entry >= n * n) return;
  const double2 a = at[entry / n], b = at[entry % n];
  matrix[entry] = tsp::distance(plus(a.x, -b.x), plus(a.y, -b.y));
}

template <class Matrix, class Coordinates, class Tour, class M>
struct TspView {
  Matrix matrix;
  Coordinates at;
  Tour tour;
  M moves;
  std::int64_t current;
  std::int32_t n;
  bool in_matrix;  ///< distances from the matrix, else from the coordinates; the other array is empty

  __device__ void stage() const {
    matrix.stage();
    at.stage();
    tour.stage();
  }
  __device__ std::int64_t value(std::int64_t f) const {
    const auto move = moves[f];
    const auto d = [this](std::int32_t a, std::int32_t b) -> std::int32_t {
      if (in_matrix) return matrix[std::int64_t{a} * n + b];
      const double2 of_a = at[a], of_b = at[b];
      return tsp::distance(plus(of_a.x, -of_b.x), plus(of_a.y, -of_b.y));
    };
    return current + tsp::swap_delta(n, tour, move.at[0], move.at[1], d);
  }
};

/// O(1) a neighbour: at most eight distances, from a matrix, as in the paper, while it fits 1 GiB, else from the coordinates.
template <class Place>
class Neighbors<local_search::TspSwap, Place> : public Bare<local_search::TspSwap> {
 public:
  using Neighborhood = local_search::TspSwap;

  Neighbors(const Neighborhood& neighborhood, const cuda::Stream& stream)
      : Neighbors(coordinates(neighborhood.instance().view()), stream) {}

  void generate(const SearchState<Neighborhood>&) { moves_.generate(); }
  [[nodiscard]] auto upload(const SearchState<Neighborhood>& state, const cuda::Stream& stream) {
    return TspView{matrix_.reader(),         at_.reader(), tour_.send(state.solution(), stream), moves_.send(stream), state.value(), n_,
                   matrix_.data().size() > 0};
  }
  [[nodiscard]] std::size_t shared(std::int64_t) const noexcept { return shared_; }

 private:
  static constexpr std::size_t largest_matrix = 16384;

  [[nodiscard]] static std::vector<double2> coordinates(const tsp::View& tsp) {
    std::vector<double2> at;
    for (std::int32_t city = 0; city < tsp.n; ++city) at.push_back({tsp.x[city], tsp.y[city]});
    return at;
  }
  Neighbors(const std::vector<double2>& at, const cuda::Stream& stream)
      : n_(static_cast<std::int32_t>(at.size())),
        matrix_(at.size() > largest_matrix ? 0 : at.size() * at.size(), shared_),
        at_(matrix_.data().size() > 0 ? std::span<const double2>() : at, shared_),
        tour_(at.size(), shared_),
        moves_(n_) {
    const std::size_t entries = matrix_.data().size();
    if (entries == 0) return;
    const cuda::DeviceBuffer<double2> device(at);
    distances_kernel<><<<static_cast<unsigned>((entries + 255) / 256), 256, 0, stream.get()>>>(device.data(), n_, matrix_.data().data());
    VICINITY_CUDA_CHECK(cudaGetLastError());
    stream.synchronize();
  }

  std::int32_t n_;
  std::size_t shared_ = 0;
  Array<typename Place::template Inputs<std::int32_t>> matrix_;  ///< [a][b]
  Array<typename Place::template Inputs<double2>> at_;
  Copied<typename Place::template Solution<std::int32_t>> tour_;
  Moves<2, Place::generated> moves_;
};

}  // namespace vicinity::lsm
