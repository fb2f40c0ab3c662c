#pragma once
// Plain evaluation of a slice of a neighbourhood, neighbour by neighbour: begin(solution) after every change of it, then
// evaluate(walk, first, last, values) for moves first..last-1, in any slices.
#include <cstdint>
#include <vector>

#include "core/moves.hpp"
#include "core/neighborhoods/qap.hpp"
#include "cpu_ref/lsm/run.hpp"

namespace vicinity::lsm {

template <class Neighborhood>
class Plain;

/// O(n) a neighbour.
template <int K>
class Plain<local_search::QapExchange<K>> {
 public:
  using Neighborhood = local_search::QapExchange<K>;

  explicit Plain(const Neighborhood& neighborhood) : view_(neighborhood.instance().view()) {}

  static void begin(const qap::Permutation&) {}
  void evaluate(const Walk<Neighborhood>& walk, std::int64_t first, std::int64_t last, std::int64_t* values) const {
    auto move = moves::at<K>(view_.n, first);
    for (std::int64_t f = first; f < last; ++f, move = moves::next(view_.n, move)) {
      if constexpr (K == 2)
        *values++ = walk.value() + qap::delta(view_, walk.solution(), move.at[0], move.at[1]);
      else
        *values++ = walk.value() + qap::exchange_delta(view_, walk.solution(), move);
    }
  }

 private:
  qap::View<std::int32_t> view_;
};

}  // namespace vicinity::lsm
