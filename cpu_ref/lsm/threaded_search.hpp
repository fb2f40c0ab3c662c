#pragma once
// The search on all cores that suits a neighbourhood, or a slice of it: of cpu-openmp, and of each rank of mpi-openmp. The QAP and the
// Weierstrass function scan every neighbourhood whole (row_search.hpp), the PPP evaluates what bounds leave of it (ppp_search.hpp), the TSP
// keeps the least swaps of each row (tsp_search.hpp).
// They take long to compile: here is their interface, threaded_search.cpp has the templates.
#include <cstdint>
#include <memory>

#include "core/problems/ppp/flip.hpp"
#include "core/problems/qap/exchange.hpp"
#include "core/problems/tsp/swap.hpp"
#include "core/problems/weierstrass/crowns.hpp"
#include "cpu_ref/lsm/run.hpp"

namespace vicinity::lsm {

/// A SearchMethod (run.hpp).
template <local_search::SearchNeighborhood N>
class ThreadedSearch {
 public:
  using Neighborhood = N;

  virtual ~ThreadedSearch() = default;
  virtual void begin(const SearchState<N>& state, const Interruption& interruption) = 0;
  [[nodiscard]] virtual local_search::Choice choose(const SearchState<N>& state, const Interruption& interruption) = 0;
  virtual void moved(const SearchState<N>& state, const local_search::Choice& choice) = 0;
  [[nodiscard]] virtual Policy policy() const = 0;
  [[nodiscard]] virtual Work work(std::int64_t neighborhood_evaluations) const = 0;
};

template <local_search::SearchNeighborhood N>
[[nodiscard]] std::unique_ptr<ThreadedSearch<N>> threaded_search(const N& neighborhood, int threads, const Slice& slice = {});

}  // namespace vicinity::lsm
