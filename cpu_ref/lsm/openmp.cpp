// cpu-openmp: all cores, vectorised. One restart runs on as many threads as find enough work; several restarts run one a thread, without
// any synchronisation. The QAP, the PPP and the Weierstrass function scan every neighbourhood whole (row_search.hpp), the TSP keeps the
// least swaps of each row (tsp_search.hpp).
#include <omp.h>

#include <cstdint>

#include "core/methods/lsm/task.hpp"
#include "cpu_ref/lsm/implementations.hpp"
#include "cpu_ref/lsm/ppp_rows.hpp"
#include "cpu_ref/lsm/qap_rows.hpp"
#include "cpu_ref/lsm/row_search.hpp"
#include "cpu_ref/lsm/run.hpp"
#include "cpu_ref/lsm/tsp_search.hpp"
#include "cpu_ref/lsm/weierstrass_rows.hpp"

namespace vicinity::lsm {
namespace {

template <class Method>
std::unique_ptr<Run> run_of(const typename Method::Neighborhood& neighborhood, const local_search::Task& task) {
  return cpu_run<Method>(neighborhood, task, task.threads > 0 ? static_cast<int>(task.threads) : omp_get_max_threads());
}

/// The search that suits an instance.
template <int K>
std::unique_ptr<Run> prepare(const local_search::QapExchange<K>& neighborhood, const local_search::Task& task) {
  // An exchange of three is two swaps, and the largest number is no key.
  if (neighborhood.instance().delta_bound() < (std::int64_t{1} << 29))
    return run_of<RowSearch<QapRows<K, std::int32_t>>>(neighborhood, task);
  return run_of<RowSearch<QapRows<K, std::int64_t>>>(neighborhood, task);
}
template <int K>
std::unique_ptr<Run> prepare(const local_search::PppFlip<K>& neighborhood, const local_search::Task& task) {
  return run_of<RowSearch<PppRows<K>>>(neighborhood, task);
}
std::unique_ptr<Run> prepare(const local_search::TspSwap& neighborhood, const local_search::Task& task) {
  if (neighborhood.instance().integral()) return run_of<TspSearch<true>>(neighborhood, task);
  return run_of<TspSearch<false>>(neighborhood, task);
}
template <class Real>
std::unique_ptr<Run> prepare(const local_search::WeierstrassCrowns<Real>& neighborhood, const local_search::Task& task) {
  return run_of<RowSearch<WeierstrassRows<Real>>>(neighborhood, task);
}

}  // namespace

std::unique_ptr<Run> prepare_openmp(const Case& c, const Instance& instance) {
  const local_search::Task task = task_of(c);
  return with_neighborhood(c, instance, [&](const auto& neighborhood) { return prepare(neighborhood, task); });
}

}  // namespace vicinity::lsm
