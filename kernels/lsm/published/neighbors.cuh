#pragma once
// The contract between a problem and the searches that evaluate its neighbours on the device (qap.cuh, ppp.cuh, tsp.cuh, weierstrass.cuh).
//
// Neighbors<Neighborhood, Path> owns what an evaluation reads: the instance, copied once, and the solution, copied before each iteration,
// both by a memory path (kernels/lsm/published/memory_paths.cuh). upload() returns a view of them, which a kernel takes by value. Any
// thread evaluates any move, in any order, with the arithmetic of core/problems. So any slice of the moves can be evaluated alone. Values
// that come back have 4 bytes wherever they fit: changes of the value (QAP, TSP), numbers in the order of single precision (Weierstrass).
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/methods/lsm/state.hpp"
#include "core/problems/moves.hpp"
#include "kernels/lsm/published/memory_paths.cuh"

namespace vicinity::lsm {

using local_search::SearchState;

/// The most threads that can evaluate: of a block, and of the grid.
struct LaunchLimits {
  std::int64_t block = std::numeric_limits<std::int64_t>::max(), grid = std::numeric_limits<std::int64_t>::max();
};

template <class V>
concept NeighborView = std::is_trivially_copyable_v<V> && requires(const V view, std::int64_t move) {
  view.stage();                                   // by all threads of a block, before any of them evaluates
  { view.value(move) } -> std::signed_integral;   // of the solution that the move leads to, less base()
  { view.base() } -> std::same_as<std::int64_t>;  // the same for all moves: what need not come back with each
};

template <class N>
concept NeighborEvaluation = requires(N neighbors, const N& constant, const SearchState<typename N::Neighborhood>& state,
                                      const local_search::Choice& choice, const cuda::Stream& stream, std::int64_t threads) {
  requires std::constructible_from<N, const typename N::Neighborhood&, const cuda::Stream&>;
  neighbors.begin(state);                                           // a search begins
  neighbors.generate(state);                                        // on the host, if the path asks for it
  { neighbors.upload(state, stream) } -> NeighborView;              // asynchronous; for the iteration to come
  { constant.limits() } -> std::same_as<LaunchLimits>;              // of launches with the last view
  { constant.shared_bytes(threads) } -> std::same_as<std::size_t>;  // of a block of so many threads
  neighbors.moved(state, choice);                                   // the state has taken the choice
};

/// Specialised by problem.
template <class Neighborhood, MemoryPath Path>
class Neighbors;

template <NeighborEvaluation N>
using ViewOf =
    decltype(std::declval<N&>().upload(std::declval<const SearchState<typename N::Neighborhood>&>(), std::declval<const cuda::Stream&>()));
template <NeighborEvaluation N>
using ValueOf = decltype(std::declval<const ViewOf<N>&>().value(0));

/// Of evaluations that keep nothing from one iteration to the next, and take any launch.
template <class Neighborhood>
struct StatelessNeighbors {
  [[nodiscard]] static LaunchLimits limits() noexcept { return {}; }
  static void begin(const SearchState<Neighborhood>&) {}
  static void moved(const SearchState<Neighborhood>&, const local_search::Choice&) {}
};

/// The second approach of section 3.1: a thread finds its move from the move's number (section 4, Propositions 1 and 2).
template <int K>
struct NumberedMoves {
  std::int32_t n;

  __device__ moves::Move<K> operator[](std::int64_t f) const { return moves::at<K>(n, f); }
};

/// The first approach: a thread has its neighbour as a whole. Where it differs from the solution is the move. Cost: n reads, those of the
/// threads of a warp side by side.
template <int K, Reader S>
struct NeighborMoves {
  const typename S::Element* neighbors;  ///< [element][neighbour]
  std::int64_t count;
  std::int32_t n;
  S solution;

  __device__ moves::Move<K> operator[](std::int64_t f) const {
    moves::Move<K> move{};
#pragma unroll 8
    for (std::int32_t k = 0; k < n; ++k) {
      if (neighbors[k * count + f] == solution[k]) continue;
      for (int t = 0; t + 1 < K; ++t) move.at[t] = move.at[t + 1];
      move.at[K - 1] = k;
    }
    return move;
  }
};

/// The moves of a neighbourhood that changes K of n elements, as threads find them.
template <int K, class Element, bool by_host>
class Moves {
 public:
  explicit Moves(std::int32_t n) : n_(n) {}
  template <class Changed>
  void generate(const std::vector<Element>&, const Changed&) const noexcept {}
  template <Reader S>
  [[nodiscard]] NumberedMoves<K> send(const S&, const cuda::Stream&) const {
    return {n_};
  }

 private:
  std::int32_t n_;
};

/// The host writes all neighbours anew in each iteration.
template <int K, class Element>
class Moves<K, Element, true> {
 public:
  explicit Moves(std::int32_t n)
      : n_(n), count_(moves::count<K>(n)), neighbors_(static_cast<std::size_t>(n) * static_cast<std::size_t>(count_), no_shared_) {}

  /// changed(move, t): the element that a move puts at its place t.
  template <class Changed>
  void generate(const std::vector<Element>& solution, const Changed& changed) {
    Element* const neighbors = neighbors_.staged();
    for (std::int64_t k = 0; k < n_; ++k) std::fill_n(neighbors + k * count_, count_, solution[static_cast<std::size_t>(k)]);
    auto move = moves::at<K>(n_, 0);
    for (std::int64_t f = 0; f < count_; ++f, move = moves::next(n_, move))
      for (int t = 0; t < K; ++t) neighbors[move.at[t] * count_ + f] = changed(move, t);
  }
  template <Reader S>
  [[nodiscard]] NeighborMoves<K, S> send(const S& solution, const cuda::Stream& stream) {
    return {neighbors_.send(stream).data, count_, n_, solution};
  }

 private:
  std::int32_t n_;
  std::int64_t count_;
  std::size_t no_shared_ = 0;
  Copied<Global<Element>> neighbors_;
};

}  // namespace vicinity::lsm
