#pragma once
// Neighbours of the quadratic assignment problem: the exchange of two facilities, or the rotation of three. A thread evaluates a neighbour
// in O(n): it reads two (three) rows and columns of both matrices. The matrices are 32-bit entries, or bytes where the path asks for them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/problems/qap/exchange.hpp"
#include "kernels/lsm/published/neighbors.cuh"

namespace vicinity::lsm {

/// Differences are summed modulo their range, into which each of them fits.
template <class Difference, class Qap, class P, class M>
struct QapView {
  Qap qap;
  P p;
  M moves;
  std::int64_t current;

  __host__ __device__ std::int64_t base() const { return current; }
  __device__ void stage() const {
    qap.a.stage();
    qap.b.stage();
    p.stage();
  }
  __device__ Difference value(std::int64_t f) const {
    const auto move = moves[f];
    if constexpr (sizeof move.at / sizeof move.at[0] == 2)
      return static_cast<Difference>(qap::delta(qap, p, move.at[0], move.at[1]));
    else
      return static_cast<Difference>(qap::exchange_delta(qap, p, move));
  }
};

template <int K, MemoryPath Path>
class Neighbors<local_search::QapExchange<K>, Path> : public StatelessNeighbors<local_search::QapExchange<K>> {
 public:
  using Neighborhood = local_search::QapExchange<K>;
  using Entry = std::conditional_t<Path::byte_matrices, std::uint8_t, std::int32_t>;
  using Matrix = typename Path::template Inputs<Entry>;
  using Difference = typename Path::Difference;
  using Permutation = typename Path::template Solution<std::int32_t>;

  Neighbors(const Neighborhood& neighborhood, const cuda::Stream&) : Neighbors(neighborhood.instance()) {}

  void generate(const SearchState<Neighborhood>& state) {
    const qap::Permutation& p = state.solution();
    moves_.generate(p, [&p](const moves::Move<K>& move, int t) { return p[static_cast<std::size_t>(move.at[(t + 1) % K])]; });
  }
  [[nodiscard]] auto upload(const SearchState<Neighborhood>& state, const cuda::Stream& stream) {
    using View = qap::View<Entry, Matrix, std::make_unsigned_t<Difference>>;
    const Permutation p = p_.send(state.solution(), stream);
    auto moves = moves_.send(p, stream);
    return QapView<Difference, View, Permutation, decltype(moves)>{{a_.reader(), b_.reader(), n_, n_}, p, moves, state.value()};
  }
  [[nodiscard]] std::size_t shared_bytes(std::int64_t) const noexcept { return shared_bytes_; }

 private:
  explicit Neighbors(const qap::Qap& qap)
      : n_(qap.size()),
        a_(entries(qap, qap.view().a), shared_bytes_),
        b_(entries(qap, qap.view().b), shared_bytes_),
        p_(static_cast<std::size_t>(n_), shared_bytes_),
        moves_(n_) {}
  [[nodiscard]] static std::vector<Entry> entries(const qap::Qap& qap, const std::int32_t* of) {
    if (Path::byte_matrices && !qap.bytes()) throw DoesNotFit("needs entries that are bytes");
    const auto n = static_cast<std::size_t>(qap.size());
    std::vector<Entry> entries(n * n);
    std::transform(of, of + n * n, entries.begin(), [](std::int32_t entry) { return static_cast<Entry>(entry); });
    return entries;
  }

  std::int32_t n_;
  std::size_t shared_bytes_ = 0;
  Array<Matrix> a_, b_;
  Copied<Permutation> p_;
  Moves<K, std::int32_t, Path::solutions_by_host> moves_;
};

}  // namespace vicinity::lsm
