#pragma once
// How a thread comes by its move: by Proposition 2 from the move's number, or from a list that the host made (section 3.1).
#include <cstddef>
#include <cstdint>

#include "core/problems/moves.hpp"
#include "kernels/lsm/published/arrays.cuh"

namespace vicinity::lsm {

/// Moves found from their numbers (section 4, Propositions 1 and 2).
template <int K>
struct Numbered {
  std::int32_t n;

  __device__ moves::Move<K> operator[](std::int64_t f) const { return moves::at<K>(n, f); }
};

/// The moves of a neighbourhood that changes K of n elements, as threads find them.
template <int K, bool generated>
class Moves {
 public:
  explicit Moves(std::int32_t n) : n_(n) {}
  void generate() {}
  [[nodiscard]] Numbered<K> send(const cuda::Stream&) const { return {n_}; }

 private:
  std::int32_t n_;
};

/// The first approach of section 3.1: the host lists them, anew for each iteration.
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
