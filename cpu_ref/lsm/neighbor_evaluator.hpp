#pragma once
// The evaluation of the paper's baseline: one neighbour after the other, each from the solution in the natural incremental way.
#include <concepts>
#include <cstdint>
#include <vector>

#include "core/problems/moves.hpp"
#include "core/problems/ppp/flip.hpp"
#include "core/problems/qap/exchange.hpp"
#include "core/problems/tsp/swap.hpp"
#include "core/problems/weierstrass/crowns.hpp"
#include "cpu_ref/lsm/run.hpp"

namespace vicinity::lsm {

/// begin(solution) comes after every change of the solution. evaluate() then writes the values of moves first .. last - 1; the moves may
/// be evaluated in any slices.
template <class E, class Neighborhood>
concept EvaluatesNeighbors = std::constructible_from<E, const Neighborhood&> &&
    requires(E evaluator, const SearchState<Neighborhood>& state, std::int64_t first, std::int64_t last, std::int64_t* values) {
  evaluator.begin(state.solution());
  evaluator.evaluate(state, first, last, values);
};

template <class Neighborhood>
class NeighborEvaluator;

/// O(n) a neighbour.
template <int K>
class NeighborEvaluator<local_search::QapExchange<K>> {
 public:
  using Neighborhood = local_search::QapExchange<K>;

  explicit NeighborEvaluator(const Neighborhood& neighborhood) : view_(neighborhood.instance().view()) {}

  static void begin(const qap::Permutation&) {}
  void evaluate(const SearchState<Neighborhood>& state, std::int64_t first, std::int64_t last, std::int64_t* values) const {
    auto move = moves::at<K>(view_.n, first);
    for (std::int64_t f = first; f < last; ++f, move = moves::next(view_.n, move)) {
      if constexpr (K == 2)
        *values++ = state.value() + qap::delta(view_, state.solution(), move.at[0], move.at[1]);
      else
        *values++ = state.value() + qap::exchange_delta(view_, state.solution(), move);
    }
  }

 private:
  qap::View<std::int32_t> view_;
};

/// O(m K + n) a neighbour.
template <int K>
class NeighborEvaluator<local_search::PppFlip<K>> {
 public:
  using Neighborhood = local_search::PppFlip<K>;

  explicit NeighborEvaluator(const Neighborhood& neighborhood)
      : ppp_(neighborhood.instance()), histogram_(static_cast<std::size_t>(ppp_.columns()) + 1) {}

  void begin(const ppp::Signs& v) { products_ = ppp::products(ppp_, v); }
  void evaluate(const SearchState<Neighborhood>& state, std::int64_t first, std::int64_t last, std::int64_t* values) {
    const ppp::View view = ppp_.view();
    const std::int8_t* v = state.solution().data();
    std::int32_t* histogram = histogram_.data();
    auto move = moves::at<K>(view.n, first);
    for (std::int64_t f = first; f < last; ++f, move = moves::next(view.n, move))
      *values++ = ppp::flipped_cost(view, products_.data(), v, move, histogram);
  }

 private:
  const ppp::Ppp& ppp_;
  std::vector<std::int32_t> products_;
  std::vector<std::int32_t> histogram_;  ///< [product], all zero between calls
};

/// O(1) a neighbour. Distances come from a matrix, as in the paper, while it fits 1 GiB.
template <>
class NeighborEvaluator<local_search::TspSwap> {
 public:
  using Neighborhood = local_search::TspSwap;

  explicit NeighborEvaluator(const Neighborhood& neighborhood) : view_(neighborhood.instance().view()) {
    const auto n = static_cast<std::size_t>(view_.n);
    if (n > 16384) return;
    matrix_.resize(n * n);
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = 0; b < n; ++b)
        matrix_[a * n + b] = tsp::distance(view_, static_cast<std::int32_t>(a), static_cast<std::int32_t>(b));
  }

  static void begin(const tsp::Tour&) {}
  void evaluate(const SearchState<Neighborhood>& state, std::int64_t first, std::int64_t last, std::int64_t* values) const {
    if (matrix_.empty()) {
      evaluate(state, first, last, values, tsp::Distance{view_});
    } else {
      const std::int32_t* matrix = matrix_.data();
      const std::int64_t n = view_.n;
      evaluate(state, first, last, values, [matrix, n](std::int32_t a, std::int32_t b) { return matrix[a * n + b]; });
    }
  }

 private:
  template <class Distance>
  void evaluate(const SearchState<Neighborhood>& state, std::int64_t first, std::int64_t last, std::int64_t* values,
                const Distance& d) const {
    const std::int32_t* tour = state.solution().data();
    auto move = moves::at<2>(view_.n, first);
    for (std::int64_t f = first; f < last; ++f, move = moves::next(view_.n, move))
      *values++ = state.value() + tsp::swap_delta(view_.n, tour, move.at[0], move.at[1], d);
  }

  tsp::View view_;
  std::vector<std::int32_t> matrix_;  ///< [a][b]; empty: from the coordinates
};

/// O(terms n) a neighbour.
template <class Real>
class NeighborEvaluator<local_search::WeierstrassCrowns<Real>> {
 public:
  using Neighborhood = local_search::WeierstrassCrowns<Real>;

  explicit NeighborEvaluator(const Neighborhood& neighborhood) : neighborhood_(neighborhood) {}

  static void begin(const std::vector<Real>&) {}
  void evaluate(const SearchState<Neighborhood>& state, std::int64_t first, std::int64_t last, std::int64_t* values) const {
    const std::int32_t n = neighborhood_.instance().dimension();
    const Real width = neighborhood_.width();
    for (std::int64_t f = first; f < last; ++f)
      *values++ =
          weierstrass::ordered(weierstrass::neighbor_value<Real>(state.solution().data(), n, state.seed(), state.iteration(), f, width));
  }

 private:
  const Neighborhood& neighborhood_;
};

}  // namespace vicinity::lsm
