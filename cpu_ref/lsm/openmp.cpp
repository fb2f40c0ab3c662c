// All cores, vectorised; several restarts: a restart a thread, which needs no waiting.
#include <omp.h>

#include <cstdint>

#include "core/methods/lsm/task.hpp"
#include "cpu_ref/lsm/methods.hpp"
#include "cpu_ref/lsm/ppp_rows.hpp"
#include "cpu_ref/lsm/qap_rows.hpp"
#include "cpu_ref/lsm/run.hpp"
#include "cpu_ref/lsm/scan.hpp"
#include "cpu_ref/lsm/tsp_minima.hpp"
#include "cpu_ref/lsm/weierstrass_rows.hpp"

namespace vicinity::lsm {
namespace {

template <class Method>
std::unique_ptr<Run> run_of(const typename Method::Neighborhood& neighborhood, const local_search::Task& task) {
  return cpu_run<Method>(neighborhood, task, task.threads > 0 ? static_cast<int>(task.threads) : omp_get_max_threads());
}

/// Which rows suit an instance.
template <int K>
std::unique_ptr<Run> prepare(const local_search::QapExchange<K>& neighborhood, const local_search::Task& task) {
  // An exchange of three is two swaps; the largest number stands for "none".
  if (neighborhood.instance().delta_bound() < (std::int64_t{1} << 29)) return run_of<Scan<QapRows<K, std::int32_t>>>(neighborhood, task);
  return run_of<Scan<QapRows<K, std::int64_t>>>(neighborhood, task);
}
template <int K>
std::unique_ptr<Run> prepare(const local_search::PppFlip<K>& neighborhood, const local_search::Task& task) {
  return run_of<Scan<PppRows<K>>>(neighborhood, task);
}
std::unique_ptr<Run> prepare(const local_search::TspSwap& neighborhood, const local_search::Task& task) {
  if (neighborhood.instance().integral()) return run_of<TspMinima<true>>(neighborhood, task);
  return run_of<TspMinima<false>>(neighborhood, task);
}
template <class Real>
std::unique_ptr<Run> prepare(const local_search::WeierstrassCrowns<Real>& neighborhood, const local_search::Task& task) {
  return run_of<Scan<WeierstrassRows<Real>>>(neighborhood, task);
}

}  // namespace

std::unique_ptr<Run> prepare_openmp(const Case& c, const Instance& instance) {
  const local_search::Task task = task_of(c);
  return with_neighborhood(c, instance, [&](const auto& neighborhood) { return prepare(neighborhood, task); });
}

}  // namespace vicinity::lsm
