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

template <int K, MemoryPath Path>
class Neighbors<local_search::QapExchange<K>, Path> : public StatelessNeighbors<local_search::QapExchange<K>> {
 public:
  using Neighborhood = local_search::QapExchange<K>;
  using Entry = std::conditional_t<Path::byte_matrices, std::uint8_t, std::int32_t>;
  using Matrix = typename Path::template Inputs<Entry>;

  Neighbors(const Neighborhood& neighborhood, const cuda::Stream&) : Neighbors(neighborhood.instance()) {}

  void generate_moves(const SearchState<Neighborhood>&) { moves_.generate(); }
  [[nodiscard]] auto upload(const SearchState<Neighborhood>& state, const cuda::Stream& stream) {
    const qap::View<Entry, Matrix> qap{a_.reader(), b_.reader(), n_, n_};
    return QapView{qap, p_.send(state.solution(), stream), moves_.send(stream), state.value()};
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
  Copied<typename Path::template Solution<std::int32_t>> p_;
  Moves<K, Path::moves_by_host> moves_;
};

}  // namespace vicinity::lsm
