// cpu-openmp: all cores, vectorised. One restart runs on as many threads as find enough work; several restarts run one a thread, without
// any synchronisation.
#include <omp.h>

#include "core/methods/lsm/task.hpp"
#include "cpu_ref/lsm/implementations.hpp"
#include "cpu_ref/lsm/run.hpp"
#include "cpu_ref/lsm/threaded_search.hpp"

namespace vicinity::lsm {

std::unique_ptr<Run> prepare_openmp(const Case& c, const Instance& instance) {
  const local_search::Task task = task_of(c);
  const int threads = task.threads > 0 ? static_cast<int>(task.threads) : omp_get_max_threads();
  return with_neighborhood(c, instance, [&](const auto& neighborhood) {
    return with_threaded_search(neighborhood, [&]<class Method>() { return cpu_run<Method>(neighborhood, task, threads); });
  });
}

}  // namespace vicinity::lsm
