#pragma once
// The search on all cores that suits a neighbourhood, for cpu-openmp and for each rank of mpi-openmp. The QAP, the PPP and the Weierstrass
// function scan every neighbourhood whole (row_search.hpp), the TSP keeps the least swaps of each row (tsp_search.hpp).
#include <cstdint>

#include "cpu_ref/lsm/ppp_rows.hpp"
#include "cpu_ref/lsm/qap_rows.hpp"
#include "cpu_ref/lsm/row_search.hpp"
#include "cpu_ref/lsm/tsp_search.hpp"
#include "cpu_ref/lsm/weierstrass_rows.hpp"

namespace vicinity::lsm {

/// visit.operator()<Method>(), with the SearchMethod for this neighbourhood.
template <int K, class Visit>
auto with_threaded_search(const local_search::QapExchange<K>& neighborhood, const Visit& visit) {
  // An exchange of three is two swaps, and the largest number is no key.
  if (neighborhood.instance().delta_bound() < (std::int64_t{1} << 29))
    return visit.template operator()<RowSearch<QapRows<K, std::int32_t>>>();
  return visit.template operator()<RowSearch<QapRows<K, std::int64_t>>>();
}
template <int K, class Visit>
auto with_threaded_search(const local_search::PppFlip<K>&, const Visit& visit) {
  return visit.template operator()<RowSearch<PppRows<K>>>();
}
template <class Visit>
auto with_threaded_search(const local_search::TspSwap& neighborhood, const Visit& visit) {
  if (neighborhood.instance().integral()) return visit.template operator()<TspSearch<true>>();
  return visit.template operator()<TspSearch<false>>();
}
template <class Real, class Visit>
auto with_threaded_search(const local_search::WeierstrassCrowns<Real>&, const Visit& visit) {
  return visit.template operator()<RowSearch<WeierstrassRows<Real>>>();
}

}  // namespace vicinity::lsm
