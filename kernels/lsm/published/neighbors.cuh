#pragma once
// The contract between a problem and the searches that evaluate its neighbours on the device (qap.cuh, ppp.cuh, tsp.cuh, weierstrass.cuh).
//
// Neighbors<Neighborhood, Path> owns what an evaluation reads: the instance, copied once, and the solution, copied before each iteration,
// both by a memory path (kernels/lsm/published/memory_paths.cuh). upload() returns a view of them, which a kernel takes by value. Any
// thread evaluates any move, in any order, with the arithmetic of core/problems. So any slice of the moves can be evaluated alone.
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

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
  view.stage();                                  // by all threads of a block, before any of them evaluates
  { view.value(move) } -> std::signed_integral;  // of the solution that the move leads to
};

template <class N>
concept NeighborEvaluation = requires(N neighbors, const N& constant, const SearchState<typename N::Neighborhood>& state,
                                      const local_search::Choice& choice, const cuda::Stream& stream, std::int64_t threads) {
  requires std::constructible_from<N, const typename N::Neighborhood&, const cuda::Stream&>;
  neighbors.begin(state);                                           // a search begins
  neighbors.generate_moves(state);                                  // on the host, if the path asks for it
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

/// A thread finds its move from the move's number (section 4, Propositions 1 and 2).
template <int K>
struct NumberedMoves {
  std::int32_t n;

  __device__ moves::Move<K> operator[](std::int64_t f) const { return moves::at<K>(n, f); }
};

/// The moves of a neighbourhood that changes K of n elements, as threads find them.
template <int K, bool by_host>
class Moves {
 public:
  explicit Moves(std::int32_t n) : n_(n) {}
  void generate() {}
  [[nodiscard]] NumberedMoves<K> send(const cuda::Stream&) const { return {n_}; }

 private:
  std::int32_t n_;
};

/// The first approach of section 3.1: the host lists the moves, anew in each iteration.
template <int K>
class Moves<K, true> {
 public:
  explicit Moves(std::int32_t n) : n_(n), list_(static_cast<std::size_t>(moves::count<K>(n)), no_shared_) {}
  void generate() {
    auto move = moves::at<K>(n_, 0);
    const std::int64_t count = moves::count<K>(n_);
    for (std::int64_t f = 0; f < count; ++f, move = moves::next(n_, move)) list_.staged()[f] = move;
  }
  [[nodiscard]] Global<moves::Move<K>> send(const cuda::Stream& stream) { return list_.send(stream); }

 private:
  std::int32_t n_;
  std::size_t no_shared_ = 0;
  Copied<Global<moves::Move<K>>> list_;
};

}  // namespace vicinity::lsm
